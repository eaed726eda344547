"""Adapters: mondegreen where the data is. None holds an algorithm."""
