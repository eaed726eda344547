"""The symbols of a policy as numbers: all that a mechanism sees of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from mondegreen.arrays import Ids
from mondegreen.errors import InvalidParameterError
from mondegreen.policy.numbers import Near


@final
@dataclass(frozen=True, slots=True)
class Alphabet:
    """Symbols ``0..m-1``: first the ordinary words, each one symbol, then the groups.

    Parameters
    ----------
    name, digest : str
        Of the policy; the digest is SHA-256 in hex.
    ordinary : int
        Number of ordinary words. Symbol ``i < ordinary`` is an ordinary word.
    groups : int
        Number of groups of sensitive words, at least 1.
    hides_among : int or None
        Words of the smallest group of words: all that may be printed for it. Formats
        of numbers and dates do not count, and can be smaller.
    small_formats : tuple of (str, int)
        Formats that hide, and are smaller: an example of each, and its words.
    near : Near, optional
        The mechanism of amounts, whose cells are the last of the groups.

    Examples
    --------
    >>> alphabet = Alphabet("tiny", "0" * 64, ordinary=3, groups=2)
    >>> alphabet.size, alphabet.is_group(np.array([2, 3])).tolist()
    (5, [False, True])
    """

    name: str
    digest: str
    ordinary: int
    groups: int
    hides_among: int | None = None
    small_formats: tuple[tuple[str, int], ...] = ()
    near: Near | None = None

    def __post_init__(self) -> None:
        if self.ordinary < 0 or self.groups < 1:
            given = f"{self.ordinary} ordinary words, {self.groups} groups"
            raise InvalidParameterError("alphabet", given, "at least one group")
        if self.near is not None and self.near.grid.cells > self.groups:
            given = f"{self.near.grid.cells} cells, {self.groups} groups"
            raise InvalidParameterError("alphabet", given, "cells that are groups")

    @property
    def size(self) -> int:
        """Number of symbols, m."""
        return self.ordinary + self.groups

    @property
    def cells(self) -> range:
        """Symbols of the cells of amounts, which are leaves as all others are."""
        count = 0 if self.near is None else self.near.grid.cells
        return range(self.size - count, self.size)

    def is_group(self, symbols: Ids) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
        """Tell which symbols are groups of sensitive words."""
        return np.asarray(symbols >= self.ordinary)
