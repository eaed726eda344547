"""Verbs that make and show public things: spaces, and language models."""
