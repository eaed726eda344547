"""Mechanisms over the symbols of a policy: randomized response."""
