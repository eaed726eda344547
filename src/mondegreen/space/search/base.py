"""The protocol of nearest-word search."""

from __future__ import annotations

from typing import Protocol

from mondegreen.arrays import Ids, Vectors


class NeighbourSearch(Protocol):
    """Finds words near points. It never sees which word a point came from."""

    def nearest(self, points: Vectors, k: int) -> Ids:
        """Return the ids of the ``k`` nearest words, nearest first, (rows, k)."""

    def describe(self) -> str:
        """Return one sentence for the guarantee."""
