"""Attacks on a release that any tool made: they need no mechanism and no epsilon."""
