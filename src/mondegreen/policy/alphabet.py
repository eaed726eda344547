"""The symbols of a policy as numbers: all that a mechanism sees of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from mondegreen.arrays import Ids
from mondegreen.errors import InvalidParameterError


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
        Known words of the smallest group of words.

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

    def __post_init__(self) -> None:
        if self.ordinary < 0 or self.groups < 1:
            given = f"{self.ordinary} ordinary words, {self.groups} groups"
            raise InvalidParameterError("alphabet", given, "at least one group")

    @property
    def size(self) -> int:
        """Number of symbols, m."""
        return self.ordinary + self.groups

    def is_group(self, symbols: Ids) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
        """Tell which symbols are groups of sensitive words."""
        return np.asarray(symbols >= self.ordinary)
