"""Columns of a release that give back what its texts hide."""

from __future__ import annotations

import functools
import html
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate, pairwise
from typing import Final, final
from urllib.parse import unquote

from mondegreen.attacks.attack import Attack, count_rows

FIELD_NAMES: Final = "field names"
"""The names of all fields count as a column of this name."""

_MOST: Final = 0.8
_SHORTEST: Final = 3
_RUN: Final = 5
"""So many words of an original in a run are too many for chance."""

_LETTERS: Final = 12
"""An original with fewer letters and digits may be in other text by chance."""

_LONG_NAME: Final = (4, 24)
"""The name of a field with fewer words, and fewer signs, is no text."""

_words = re.compile(r"[^\W_]+").findall


@final
class OtherColumns:
    """Looks for original texts in the other columns of a release, row by row.

    A column holds the original of a row if it has four of five of its distinct words or
    more, and half or more of those that the release hides. It also holds it if a run of
    half of its letters is there, with five words and a hidden one: what stands between
    letters does not count. Names of fields are a column, too. A column gives words back
    if it has one of the hidden words: a place in the column ``city``, for instance.

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
        keys: Iterable[str] = (),
    ) -> None:
        """Look at one row.

        Parameters
        ----------
        texts, releases : sequence of str or None
            The texts of the row and their releases.
        others : mapping of str to str
            The other texts of the row of the release, by column.
        keys : iterable of str
            The names of all fields of the row of the release.
        """
        self.rows += 1
        names = [key for key in keys if _is_long(key)]
        self._has_columns |= bool(others)
        if not others and not names:
            return
        shown = _read(" ".join(filter(None, releases)))
        originals = [_Original(text, shown) for text in texts if text]
        is_name = any(own.is_in(key) for own in originals for key in names)
        if is_name:
            self._has_columns = True
            self._originals[FIELD_NAMES] += 1
            self._hidden[FIELD_NAMES] += 1
        for name, text in others.items():
            words = _read_all(text)
            gives = any(own.gives(words) for own in originals)
            holds = any(own.is_in(text, words) for own in originals)
            if is_name and any(own.gives(_read(name)) for own in originals):
                continue  # the name of this column must not be printed
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


@final
class _Original:
    """An original, and what its release hides of it."""

    def __init__(self, text: str, shown: frozenset[str]) -> None:
        self._text = text
        self._own = _read(text)
        self._hidden = self._own - shown

    def gives(self, words: frozenset[str]) -> bool:
        """Whether one of the hidden words is among these."""
        back = self._hidden & words
        return any(len(word) >= _SHORTEST and not word.isdigit() for word in back)

    def is_in(self, text: str, words: frozenset[str] | None = None) -> bool:
        """Whether most of the original is in a text, or half of it in one run."""
        words = _read_all(text) if words is None else words
        own, hidden = self._own, self._hidden
        if not hidden:
            return False
        if 2 * len(hidden & words) >= len(hidden):
            if len(own & words) >= _MOST * len(own):
                return True
        return any(self._has_run(_squeeze(each)) for each in _decode(text))

    def _has_run(self, other: str) -> bool:
        """Whether half of the letters are in squeezed text, with a hidden word."""
        words = _words(self._text.lower())
        mine = "".join(words)
        least = (len(mine) + 1) // 2
        quarter = len(mine) // 4
        if len(mine) < _LETTERS or len(other) < least:
            return False
        # Whatever run has half of the letters, it has one of these quarters.
        for first in range(0, 4 * quarter, quarter):
            at = other.find(mine[first : first + quarter])
            if at < 0:
                continue
            before = _count_equal(mine[:first][::-1], other[:at][::-1])
            behind = _count_equal(mine[first:], other[at:])
            start, end = first - before, first + behind
            if end - start >= least and self._is_telling(words, start, end):
                return True
        return False

    def _is_telling(self, words: Sequence[str], start: int, end: int) -> bool:
        """Whether a run has five words, or all, and one that the release hides."""
        ends = accumulate(map(len, words), initial=0)
        inside = [
            word
            for word, (first, last) in zip(words, pairwise(ends), strict=True)
            if start <= first and last <= end
        ]
        is_long = len(inside) >= min(_RUN, len(words))
        return is_long and self.gives(frozenset(inside))


def _count_equal(mine: str, other: str) -> int:
    """Count the letters with which both begin."""
    pairs = zip(mine, other, strict=False)
    return next(
        (i for i, (a, b) in enumerate(pairs) if a != b), min(len(mine), len(other))
    )


def _decode(text: str) -> list[str]:
    """List a text, and what it is behind percent signs and entities of HTML."""
    if "%" not in text and "&" not in text:
        return [text]
    other = html.unescape(unquote(text, errors="ignore"))
    return [text] if other == text else [text, other]


def _squeeze(text: str) -> str:
    return "".join(_words(text.lower()))


def _read(text: str) -> frozenset[str]:
    return frozenset(_words(text.lower()))


def _read_all(text: str) -> frozenset[str]:
    return frozenset().union(*map(_read, _decode(text)))


@functools.lru_cache(1 << 10)
def _is_long(name: str) -> bool:
    words, signs = _LONG_NAME
    return len(name) >= signs or len(_read(name)) >= words
