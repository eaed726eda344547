"""Mechanisms that flip bits of a code and release a word whose code is near."""
