"""Attacks that learn from examples: membership, auditor, authorship."""
