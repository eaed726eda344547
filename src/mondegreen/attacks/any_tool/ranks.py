"""Surrogates that are numbered in the order of the alphabet."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

import numpy as np

from mondegreen.arrays import Floats

_NUMBERS: Final = 3000
"""Numbers in a row at most: about a second of work."""

_FEWEST: Final = 5
_BEYOND: Final = 5
"""Numbers that may be in use before the first and behind the last printed one."""

_LEFT_OUT: Final = 10.0
"""What a printed number or a known word costs that is left out, besides its count."""

_split = re.compile(r"(\D*)([0-9]{1,9})(\D*)").fullmatch


def split_number(surrogate: str) -> tuple[str, int] | None:
    """Split a surrogate into what is around its number, and the number.

    >>> split_number("person_12"), split_number("rome")
    (('person_|', 12), None)
    """
    found = _split(surrogate)
    return (f"{found[1]}|{found[3]}", int(found[2])) if found else None


def match_ranks(numbers: Mapping[int, int], words: Mapping[str, float]) -> list[str]:
    r"""Find the words behind numbers that follow the order of the alphabet.

    The attacker does not know all words, so some numbers stand for none of the known
    ones. Words and numbers are matched in order, so that the sum of

    .. math:: -\left( \sqrt{n_i} - \sqrt{m_w} \right)^2

    is largest: the number i is printed :math:`n_i` times, and the word w is expected
    :math:`m_w` times. A printed number without a word adds :math:`-n_i \ln 2 - 10`,
    since each place is in either half of the texts. A word without a number adds
    :math:`-m_w \ln 2 - 10`.

    Parameters
    ----------
    numbers : mapping of int to int
        How often each number is printed.
    words : mapping of str to float
        How often each known word is expected.

    Returns
    -------
    list of str
        One for each of ``numbers``, in their order; empty where there is none.

    Examples
    --------
    >>> numbers = {4: 9, 0: 2, 1: 5, 2: 1, 3: 3}
    >>> match_ranks(numbers, {"al": 2, "bo": 5, "di": 3, "ed": 9})
    ['ed', 'al', 'bo', '', 'di']
    """
    if len(numbers) < _FEWEST or not words:
        return [""] * len(numbers)
    first, names = max(0, min(numbers) - _BEYOND), sorted(words)
    size = max(numbers) - first + 1 + _BEYOND
    if max(size, len(names)) > _NUMBERS:
        return [""] * len(numbers)
    printed = np.zeros(size)
    for number, count in numbers.items():
        printed[number - first] = count
    found = _align(printed, np.array([words[name] for name in names]))
    return [names[at] if at >= 0 else "" for at in (found[i - first] for i in numbers)]


def _align(printed: Floats, expected: Floats) -> list[int]:
    """Align two sequences of counts in order; -1 where a count has no counterpart."""
    own, other = np.sqrt(printed), np.sqrt(expected)
    alone = -np.log(2) * printed - _LEFT_OUT * (printed > 0)
    left_out = np.append(0.0, np.cumsum(-np.log(2) * expected - _LEFT_OUT))
    best = left_out.copy()
    came = np.zeros((len(own) + 1, len(other) + 1), dtype=np.int8)
    for i, root in enumerate(own.tolist()):
        skipped = best + alone[i]
        matched = np.append(-np.inf, best[:-1] - (root - other) ** 2)
        above = np.maximum(skipped, matched)
        level = above - left_out
        highest = np.maximum.accumulate(level)
        came[i + 1] = np.where(highest > level, 2, matched >= skipped)
        best = highest + left_out
    i, j, found = len(own), len(other), [-1] * len(own)
    while i:
        step = came[i, j]
        if step == 2:
            j -= 1
            continue
        i -= 1
        if step == 1:
            j -= 1
            found[i] = j
    return found
