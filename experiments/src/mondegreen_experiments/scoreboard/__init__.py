"""The scoreboard: what tools leave and what texts are still good for, side by side."""
