"""Adapters: mondegreen where the data is. One file each; none holds an algorithm."""
