"""Experiments that several papers make alike."""
