"""Mechanisms that perturb the vector of a word and release a word near it."""
