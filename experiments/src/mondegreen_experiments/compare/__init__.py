"""Mechanisms and policies side by side, on labelled texts of your own."""
