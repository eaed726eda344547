"""Adapters: mondegreen where the data is. A file or room each; none holds an algorithm."""
