"""The error of a run that ends this run only: the other runs of its recipe go on."""

from __future__ import annotations

from mondegreen.errors import DataError


class EndedError(DataError):
    """A program of others ended early. The recipe goes on, and fails at its end."""
