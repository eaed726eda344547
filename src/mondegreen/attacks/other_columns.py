"""Columns of a release that give back what its texts hide."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final, final

from mondegreen.attacks.attack import Attack, count_rows

_MOST: Final = 0.8
_SHORTEST: Final = 3

_words = re.compile(r"[^\W_]+").findall


@final
class OtherColumns:
    """Looks for original texts in the other columns of a release, row by row.

    A column holds the original of a row if it has four of five of its distinct words or
    more, and half or more of those that the release hides. It gives words back if it
    has one of the hidden words: a place in the column ``city``, for instance.

    Examples
    --------
    >>> columns = OtherColumns()
    >>> columns.add(["Ann is in Oslo."], ["[X] is in [Y]."], {"raw": "ann is in oslo"})
    >>> columns.make_attack().details["columns"]
    {'raw': {'originals': 1, 'hidden_words': 1}}
    """

    def __init__(self) -> None:
        self._originals: Counter[str] = Counter()
        self._hidden: Counter[str] = Counter()
        self._has_columns = False
        self.rows = 0

    def add(
        self,
        texts: Sequence[str | None],
        releases: Sequence[str | None],
        others: Mapping[str, str],
    ) -> None:
        """Look at one row.

        Parameters
        ----------
        texts, releases : sequence of str or None
            The texts of the row and their releases.
        others : mapping of str to str
            The other texts of the row of the release, by column.
        """
        self.rows += 1
        self._has_columns |= bool(others)
        if not others:
            return
        shown = _read(" ".join(filter(None, releases)))
        originals = [_read(text) for text in texts if text]
        for name, text in others.items():
            words = _read(text)
            holds = gives = False
            for own in originals:
                hidden = own - shown
                back = hidden & words
                gives |= any(
                    len(word) >= _SHORTEST and not word.isdigit() for word in back
                )
                is_hidden = bool(hidden) and 2 * len(back) >= len(hidden)
                holds |= is_hidden and len(own & words) >= _MOST * len(own)
            self._originals[name] += holds
            self._hidden[name] += gives

    def make_attack(self) -> Attack:
        """Tell how many originals stand in the worst column.

        Returns
        -------
        Attack
            ``columns`` in its details names each column with originals or hidden words,
            and counts their rows.
        """
        found = {
            name: {"originals": self._originals[name], "hidden_words": count}
            for name, count in self._hidden.most_common()
            if count or self._originals[name]
        }
        value = float(max(self._originals.values(), default=0))
        return count_rows(
            "other_columns",
            "looks for the originals in the other columns of the release",
            value,
            self.rows,
            {"columns": found},
        )

    @property
    def has_columns(self) -> bool:
        """Whether the release has other columns with text."""
        return self._has_columns

    def __repr__(self) -> str:
        return f"OtherColumns({self.rows} rows)"


def _read(text: str) -> frozenset[str]:
    return frozenset(_words(text.lower()))
