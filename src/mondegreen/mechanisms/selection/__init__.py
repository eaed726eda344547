"""Mechanisms that draw the output from a law over all words, given in closed form."""
