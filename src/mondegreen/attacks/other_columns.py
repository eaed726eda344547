"""Columns of a release that give back what its texts hide."""

from __future__ import annotations

import functools
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, pairwise
from typing import Final, final

from mondegreen.attacks.attack import Attack, count_rows
from mondegreen.attacks.readings import drop_marks, list_readings, squeeze

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
        self._seen: Counter[str] = Counter()
        self._doubtful: set[str] = set()  # names with hidden words of a row
        self._unprinted: set[str] = set()
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
        names = [key for key in dict.fromkeys(keys) if _is_long(key)]
        self._has_columns |= bool(others)
        if not others and not names:
            return
        originals = [*_read_originals(texts, " ".join(filter(None, releases)))]
        fields = [_Other(name) for name in names]
        is_name = any(own.is_in(field) for own in originals for field in fields)
        if is_name:
            self._has_columns = True
            self._originals[FIELD_NAMES] += 1
            self._hidden[FIELD_NAMES] += 1
        for name, text in others.items():
            other = _Other(text)
            self._seen[name] += 1
            self._originals[name] += any(own.is_in(other) for own in originals)
            self._hidden[name] += any(own.gives(other.words) for own in originals)
            words = _read_name(name)
            if any(own.gives(words) for own in originals):
                (self._unprinted if is_name else self._doubtful).add(name)

    def make_attack(self) -> Attack:
        """Tell how many originals stand in the worst column.

        Returns
        -------
        Attack
            ``columns`` in its details names each column with originals or hidden words,
            and counts their rows. A column whose name may tell hidden words is counted
            under ``FIELD_NAMES``.
        """
        originals = self._merge(self._originals)
        found = {
            name: {"originals": originals[name], "hidden_words": count}
            for name, count in self._merge(self._hidden).most_common()
            if count or originals[name]
        }
        value = float(max(originals.values(), default=0))
        return count_rows(
            "other_columns",
            "looks for the originals in the other columns of the release",
            value,
            self.rows,
            {"columns": found},
        )

    def _merge(self, counts: Counter[str]) -> Counter[str]:
        """Count columns whose names must not be printed as one; no more than rows."""
        found: Counter[str] = Counter()
        for name, count in counts.items():
            found[name if self._may_print(name) else FIELD_NAMES] += count
        return Counter({name: min(n, self.rows) for name, n in found.items()})

    def _may_print(self, name: str) -> bool:
        """Whether a name has no hidden words, or most rows have it, as in a table."""
        is_common = self._seen[name] > max(1, self.rows // 2)
        return name not in self._unprinted and (is_common or name not in self._doubtful)

    @property
    def has_columns(self) -> bool:
        """Whether the release has other columns with text."""
        return self._has_columns

    def __repr__(self) -> str:
        return f"OtherColumns({self.rows} rows)"


@final
class _Other:
    """A text of a column, or the name of a field."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.words = _read_all(text)

    @functools.cached_property
    def squeezed(self) -> list[str]:
        """The letters and digits of each way to read the text."""
        readings = list_readings(self._text)
        forms = (form for each in readings for form in _list_forms(each))
        return list(dict.fromkeys(squeeze(form) for form in forms))


@final
class _Original:
    """An original in one form, and what its release hides of it."""

    def __init__(self, form: str, shown: frozenset[str]) -> None:
        self._words = _words(form)
        self._own = frozenset(self._words)
        self._hidden = self._own - shown

    def gives(self, words: frozenset[str]) -> bool:
        """Whether one of the hidden words is among these."""
        back = self._hidden & words
        return any(len(word) >= _SHORTEST and not word.isdigit() for word in back)

    def is_in(self, other: _Other) -> bool:
        """Whether most of the original is in a text, or half of it in one run."""
        own, hidden = self._own, self._hidden
        if not hidden:
            return False
        if 2 * len(hidden & other.words) >= len(hidden):
            if len(own & other.words) >= _MOST * len(own):
                return True
        return any(map(self._has_run, other.squeezed))

    def _has_run(self, other: str) -> bool:
        """Whether half of the letters are in squeezed text, with a hidden word."""
        words = self._words
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


def _read_originals(texts: Iterable[str | None], release: str) -> Iterator[_Original]:
    """Make an original of each form of each way to read a text."""
    shown, decoded = _read(release), _read_all(release)
    for text in dict.fromkeys(texts):
        for each in list_readings(text or ""):
            for form in _list_forms(each):
                # What a release shows only decoded is hidden from those who do not.
                yield _Original(form, shown if each == text else decoded)


def _list_forms(text: str) -> list[str]:
    """List a text in small letters, and then without marks and wide letters."""
    small = text.lower()
    if text.isascii():
        return [small]
    # Without marks first: they would make normalising slow.
    wide = unicodedata.normalize("NFKC", drop_marks(text))
    return list(dict.fromkeys([small, drop_marks(wide).lower()]))


def _read(text: str) -> frozenset[str]:
    return frozenset(word for form in _list_forms(text) for word in _words(form))


def _read_all(text: str) -> frozenset[str]:
    return frozenset().union(*map(_read, list_readings(text)))


_read_name = functools.lru_cache(1 << 10)(_read_all)


@functools.lru_cache(1 << 10)
def _is_long(name: str) -> bool:
    words, signs = _LONG_NAME
    return len(name) >= signs or len(_read(name)) >= words
