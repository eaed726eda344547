"""What was measured of mechanisms, as a page to read, figures, and numbers."""
