"""Abbreviations with a full stop, behind which no sentence begins: Dr., Tue. and U.S.

What is printed decides this, and the structure: no word of the input does.
"""

from __future__ import annotations

from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from mondegreen.arrays import Codes
from mondegreen.policy.policy import Policy
from mondegreen.policy.shapes import PLACES
from mondegreen.text.print_forms import DOT, STOP

ABBREVIATIONS: Final = frozenset(
    "mr mrs ms dr prof rev hon gen sen gov capt lt col sgt vs approx dept".split()
)
"""Words that hardly ever end a sentence before a full stop."""

CALENDAR: Final = frozenset(
    "Mon Tue Tues Wed Thu Thur Thurs Fri Sat Sun Jan Feb Mar Apr Jun Jul Aug Sep Sept "
    "Oct Nov Dec".split()
)
"""Short names of days and months, as they are printed for such groups."""


@final
class Abbreviations:
    """Finds printed words behind an abbreviation, which begin no sentence.

    An abbreviation is a word of these lists, or one letter that a full stop joins to
    the word in front of it. A full stop and spaces stand behind it, and nothing else.
    """

    def __init__(self, policy: Policy) -> None:
        short = [w in CALENDAR or w.lower() in ABBREVIATIONS for w in policy.words]
        single = [len(word) == 1 and word.isascii() for word in policy.words]
        # One more place stands for all outputs that are no words.
        self._short = np.array([*short, False], dtype=np.bool_)
        self._single = np.array([*single, False], dtype=np.bool_)
        letter = policy.shape_symbol(PLACES["letter"])
        first = int(policy.first[letter])
        self._letters = first, first + int(policy.sizes[letter])

    def find_behind(
        self, codes: Codes, flags: NDArray[np.int16], begins: NDArray[np.int64]
    ) -> NDArray[np.intp]:
        """Return places of words behind an abbreviation.

        ``flags[i]`` are those of the gap behind word i, and ``begins`` says where texts
        begin. What is behind the last word of a text is found too.
        """
        stops = np.flatnonzero(flags & STOP)
        before = codes[stops]
        words = np.minimum(before, len(self._short) - 1).astype(np.intp)
        first, last = self._letters
        is_letter = self._single[words] | (before >= first) & (before < last)
        is_joined = (flags[stops - 1] & DOT) > 0
        is_joined &= ~np.isin(stops, begins)
        found: NDArray[np.intp] = stops[self._short[words] | is_letter & is_joined]
        return found + 1
