"""Columns of a release that give back what its texts hide."""

from __future__ import annotations

import functools
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from itertools import accumulate, pairwise
from typing import Final, final

from mondegreen.attacks.attack import Attack, count_rows
from mondegreen.attacks.readings import drop_marks, list_readings, squeeze
from mondegreen.attacks.units_elsewhere import HiddenUnit, UnitsElsewhere

FIELD_NAMES: Final = "field names"
"""The names of all fields count as a column of this name."""

OTHER_TEXTS: Final = "the other texts"
"""The releases of the other texts of a row count as a column of this name."""

_MOST: Final = 0.8
_SHORTEST: Final = 3
_RUN: Final = 5
"""So many words of an original in a run are too many for chance."""

_LETTERS: Final = 12
"""An original with fewer letters and digits may be in other text by chance."""

_MOST_KEPT: Final = 1 << 16
"""So many texts and cells are kept by their hashes; of more, those of small hashes."""

_LONG_NAME: Final = (4, 24)
"""The name of a field with fewer words, and fewer signs, is no text."""

_words = re.compile(r"[^\W_]+").findall


@final
class OtherColumns:
    """Looks for original texts in the other columns of a release, row by row.

    A column holds the original of a row if it has four of five of its distinct words or
    more, and half or more of those that the release hides. It also holds it if a run of
    half of its letters is there, with five words and a hidden one: what stands between
    letters does not count. Names of fields are a column, too, and so are the releases
    of other texts of the row. A cell counts too if it is the original of another row,
    as in a column ``previous``; of very many rows, the class compares a part. A column
    gives words back if it has one of the hidden words: a place in the column ``city``,
    for instance. If a row has annotated units, a column also gives words back if it has
    one of these: a number or a date, for instance.

    Parameters
    ----------
    spans : str, optional
        The column that annotates units. Its offsets are no units.

    Examples
    --------
    >>> columns = OtherColumns()
    >>> columns.add(["Ann is in Oslo."], ["[X] is in [Y]."], {"raw": "ann is in oslo"})
    >>> columns.make_attack().details["columns"]
    {'raw': {'originals': 1, 'hidden_words': 1}}
    """

    def __init__(self, spans: str | None = None) -> None:
        self._spans = spans
        self._originals: Counter[str] = Counter()
        self._hidden: Counter[str] = Counter()
        self._seen: Counter[str] = Counter()
        self._doubtful: set[str] = set()  # names with hidden words of a row
        self._unprinted: set[str] = set()
        self._has_columns = False
        self._anywhere = _Anywhere()
        self._units = UnitsElsewhere()
        self.rows = 0

    def add(
        self,
        texts: Sequence[str | None],
        releases: Sequence[str | None],
        others: Mapping[str, str],
        keys: Iterable[str] = (),
        units: Iterable[str] = (),
        values: Mapping[str, object] | None = None,
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
        units : iterable of str
            The annotated units of the texts of the row.
        values : mapping of str to object, optional
            What is no text in the row of the release, such as numbers, by column. Only
            units are looked for in it.
        """
        self.rows += 1
        self._add_other_texts(texts, releases)
        names = [key for key in dict.fromkeys(keys) if _is_long(key)]
        self._has_columns |= bool(others)
        hidden_units = self._units.list_hidden(units, releases)
        if hidden_units:
            for name, value in (values or {}).items():
                self._has_columns = True
                self._seen[name] += 1
                self._hidden[name] += self._shows(name, value, hidden_units)
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
            is_own = any(own.is_in(other) for own in originals)
            self._originals[name] += is_own
            if not is_own:
                self._anywhere.add_cell(name, text)
            is_unit = self._shows(name, text, hidden_units)
            is_word = any(own.gives(other.words) for own in originals)
            self._hidden[name] += is_unit or is_word
            words = _read_name(name)
            if any(own.gives(words) for own in originals):
                (self._unprinted if is_name else self._doubtful).add(name)

    def _shows(self, name: str, value: object, hidden: Sequence[HiddenUnit]) -> bool:
        is_looked_at = bool(hidden) and name != self._spans
        return is_looked_at and self._units.is_shown(name, value, hidden)

    def make_attack(self) -> Attack:
        """Tell how many originals stand in the worst column.

        Returns
        -------
        Attack
            ``columns`` in its details names each column with originals or hidden words,
            and counts their rows. A column whose name may tell hidden words is counted
            under ``FIELD_NAMES``.
        """
        originals = self._merge(self._originals + self._anywhere.count())
        hidden = self._merge(self._hidden + self._units.count_short())
        found = {
            name: {"originals": originals[name], "hidden_words": hidden[name]}
            for name, _ in (hidden + originals).most_common()
        }
        value = float(max(originals.values(), default=0))
        return count_rows(
            "other_columns",
            "looks for the originals in the other columns of the release",
            value,
            self.rows,
            {"columns": found},
        )

    def _add_other_texts(
        self, texts: Sequence[str | None], releases: Sequence[str | None]
    ) -> None:
        """Look for each text in the releases of the others of its row."""
        for text, release in zip(texts, releases, strict=True):
            self._anywhere.add_original(text or "", release or "")
        if len(texts) < 2:
            return
        self._has_columns = True
        # What a text has itself is no copy of another one, such as a standard phrase.
        pairs = [*zip(texts, releases, strict=True)]
        added = [
            _read_all(release or "") - _read_all(text or "") for text, release in pairs
        ]
        counts = Counter(word for words in added for word in words)
        for (text, release), own_words in zip(pairs, added, strict=True):
            others = frozenset(w for w in counts if counts[w] > (w in own_words))
            originals = _read_originals([text], release or "") if others else ()
            if any(own.is_long and own.has_most_words_in(others) for own in originals):
                self._originals[OTHER_TEXTS] += 1
                return

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
class _Anywhere:
    """Finds cells that are an original of any row, by hashes of letters and digits."""

    def __init__(self) -> None:
        self._originals: set[int] = set()
        self._cells: dict[int, Counter[str]] = {}
        self._limit = 1 << 64

    def add_original(self, text: str, release: str) -> None:
        """Add a text, unless its release hides nothing of it."""
        whole = squeeze(text.lower())
        if len(whole) >= _LETTERS and whole != squeeze(release.lower()):
            if (key := _hash(whole)) < self._limit:
                self._originals.add(key)
                self._shorten()

    def add_cell(self, name: str, text: str) -> None:
        """Add a cell of a column."""
        whole = squeeze(text.lower())
        if len(whole) >= _LETTERS and (key := _hash(whole)) < self._limit:
            self._cells.setdefault(key, Counter())[name] += 1
            self._shorten()

    def count(self) -> Counter[str]:
        """Count the cells of each column that are originals, of those that are kept."""
        found: Counter[str] = Counter()
        for key in self._originals & self._cells.keys():
            found += self._cells[key]
        return found

    def _shorten(self) -> None:
        while len(self._originals) + len(self._cells) > _MOST_KEPT:
            self._limit //= 2
            self._originals = {key for key in self._originals if key < self._limit}
            kept = {k: each for k, each in self._cells.items() if k < self._limit}
            self._cells = kept


def _hash(text: str) -> int:
    return int.from_bytes(
        blake2b(text.encode(errors="surrogatepass"), digest_size=8).digest()
    )


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

    @property
    def is_long(self) -> bool:
        """Whether an original is not in other text by chance."""
        return sum(map(len, self._words)) >= _LETTERS

    def gives(self, words: frozenset[str]) -> bool:
        """Whether one of the hidden words is among these."""
        back = self._hidden & words
        return any(len(word) >= _SHORTEST and not word.isdigit() for word in back)

    def is_in(self, other: _Other) -> bool:
        """Whether most of the original is in a text, or half of it in one run."""
        if not self._hidden:
            return False
        if self.has_most_words_in(other.words):
            return True
        return any(map(self._has_run, other.squeezed))

    def has_most_words_in(self, words: frozenset[str]) -> bool:
        """Whether most of the words are among these, and half of the hidden ones."""
        if not self._hidden or 2 * len(self._hidden & words) < len(self._hidden):
            return False
        return len(self._own & words) >= _MOST * len(self._own)

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
