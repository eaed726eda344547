"""Experiments of the papers, as recipes: what they claim, measured again."""
