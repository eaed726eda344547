"""Artifacts for devices: the same law in a browser, bit for bit."""
