"""Charts as SVG, drawn from their description."""
