"""Texts in parts, drawn at random: an attacker learns from some and attacks the rest.

Not every second text: in a conversation, these are all of one person. What agents say
tells an attacker little about what customers say.
"""

from __future__ import annotations

import numpy as np

from mondegreen.arrays import Weights


def draw_parts(count: int, parts: int = 2) -> Weights:
    """Give each text the number of a part, at random; parts are equally large.

    Parameters
    ----------
    count : int
        How many texts there are.
    parts : int
        How many parts there are, 1 or more. Sizes differ by at most one text.

    Returns
    -------
    ndarray of int64, shape (count,)
        Values from 0 to ``parts - 1``. The same for one count and number of parts.

    Examples
    --------
    >>> draw_parts(5).tolist()
    [1, 0, 0, 0, 1]
    """
    found = np.empty(count, dtype=np.int64)
    order = np.random.default_rng(0).permutation(count)
    found[order] = np.arange(count) % parts
    return found
