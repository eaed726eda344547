r"""An attacker who copies hidden words from rows that have something in common.

Several rows of one person have the same id, and in many files they stand next to each
other. A code, a place or a second text of the same row may go with the hidden word. An
attacker who knows some of the rows copies their words to the others. Rows are related
in four ways:

- they have the same value in a column,
- they are near each other in the file,
- their other texts have rare words or groups in common,
- they have several values, or words of other texts, in common.

The known rows that are related to a row vote for a word, by what is seen at the hidden
place: its sign (such as the group), and the signs beside it. In the last two ways, a
row with the share s of what this row has, weighted by :math:`\ln(N / n)` of each value
or sign that n of N rows have, has :math:`s^4` votes. In the file, the row at the
distance d has 1/d votes.

How often each vote is right is learnt from known rows, each read by means of the
others. Votes count by way, by signs, by the share of the first word and by the number
of votes for it. They are used if they are better, by three standard errors, than
another guess and than the votes of all known rows, related or not. At each place the
most reliable vote is taken.

Values are kept as hashes. They are compared, never printed.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import islice
from typing import Any, Final, NamedTuple, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from mondegreen.arrays import Weights

RELATED: Final = "rows that have something in common"
"""The name of this way to guess hidden words."""

ROW_ORDER: Final = "the order of rows"
OTHER_TEXTS: Final = "the other texts"
SEVERAL: Final = "several columns"
"""What rows have in common, where it is no column."""

_COLUMN: Final = "column "
_ALL: Final = "all rows"

_NEIGHBORS: Final = 4
"""Known rows on each side of a row that are near it, and how far away they may be."""
_FARTHEST: Final = 16

_COLUMNS: Final = 64
"""Columns that are compared at most: those in which most values occur again."""

_RELATED: Final = 64
"""Known rows with one value that vote, at equal distances."""

_CLOSEST: Final = 8
"""Known rows that vote, of those with several values or signs in common."""

_LEARNT: Final = 500
_PLACES: Final = 32
"""Known rows that show how often a vote is right, and places of each."""

_ENOUGH: Final = 20
"""So many votes of a kind tell how reliable they are; of fewer, smaller ones do too."""

_SIZES: Final = range(-4, 5)
_SURE: Final = 3.0
_SHARES: Final = (0.4, 0.6, 0.8, 0.95)

_Key: TypeAlias = tuple[int, ...]
_Tally: TypeAlias = Mapping[_Key, Mapping[int, float]]
_Kind: TypeAlias = tuple[str, int, int, int]


class Beside(NamedTuple):
    """What a release shows beside a text: its place in the file, and other columns.

    Parameters
    ----------
    row : int
        The number of the row in the file that is attacked, from 1. Other rows, such as
        those of a corpus, have numbers below 0.
    values : mapping of str to int
        A hash of the value of each column.
    signs : frozenset of int
        What the other texts of the row show, such as their words.
    """

    row: int
    values: Mapping[str, int]
    signs: frozenset[int] = frozenset()


def hash_value(values: Hashable) -> int:
    """Hash a value of a column, or the words of a text.

    >>> hash_value("a") == hash_value("a"), hash_value("a") == hash_value("b")
    (True, False)
    """
    data = str(values).encode(errors="surrogatepass")
    return int.from_bytes(blake2b(data, digest_size=8).digest())


def add_signs(beside: Iterable[Beside], signs: Iterable[Iterable[int]]) -> list[Beside]:
    """Add to each text what the other texts of its row show.

    Parameters
    ----------
    beside : iterable of Beside
        One for each text. The texts of one row have the same number.
    signs : iterable of iterable of int
        What each text shows.
    """
    listed, shown = list(beside), [frozenset(each) for each in signs]
    rows: dict[int, list[int]] = {}
    for i, each in enumerate(listed):
        rows.setdefault(each.row, []).append(i)
    return [
        each._replace(
            signs=frozenset().union(*(shown[j] for j in rows[each.row] if j != i))
        )
        for i, each in enumerate(listed)
    ]


class Copied(NamedTuple):
    """A word that related rows vote for, how reliable it is, and what they share."""

    word: int
    chance: float
    column: str


@final
class _Votes:
    """The words of some related rows, by what is seen at their places."""

    def __init__(self, tallies: Iterable[tuple[_Tally, float]]) -> None:
        self._counts: dict[_Key, dict[int, float]] = {}
        for tally, weight in tallies:
            for key, words in tally.items():
                own = self._counts.setdefault(key, {})
                for word, count in words.items():
                    own[word] = own.get(word, 0.0) + weight * count
        self._ranked: dict[_Key, tuple[list[tuple[int, float]], float]] = {}

    def find_first(
        self, key: _Key, without: Sequence[_Tally]
    ) -> tuple[int, float, float] | None:
        """Find the word with most votes, its votes and those of all words."""
        if (counts := self._counts.get(key)) is None:
            return None
        if key not in self._ranked:
            ranked = sorted(counts.items(), key=lambda each: (-each[1], each[0]))
            self._ranked[key] = ranked, sum(counts.values())
        ranked, total = self._ranked[key]
        less: dict[int, float] = {}
        for tally in without:
            for word, count in tally.get(key, {}).items():
                less[word] = less.get(word, 0) + count
        # Of equal words the first one: what is left out must not decide between them.
        best = (0, 0.0)
        for word, count in ranked:
            votes = count - less.get(word, 0)
            if votes > best[1] or (votes == best[1] and word < best[0]):
                best = word, votes
            if word not in less:
                break
        return (*best, total - sum(less.values())) if best[1] > 0 else None


@final
@dataclass(slots=True)
class _Record:
    """How often votes of one kind are right, and how often two other guesses are."""

    votes: int = 0
    right: int = 0
    better: list[int] = field(default_factory=lambda: [0, 0])
    worse: list[int] = field(default_factory=lambda: [0, 0])

    def add(self, is_right: bool, others: Sequence[bool]) -> None:
        """Add a vote, and whether the other guesses are right."""
        self.votes += 1
        self.right += is_right
        for i, other in enumerate(others):
            self.better[i] += is_right and not other
            self.worse[i] += other and not is_right

    @property
    def is_better(self) -> bool:
        """Whether they are better than each of the other guesses, beyond chance."""
        return all(
            more - less > _SURE * math.sqrt(more + less)
            for more, less in zip(self.better, self.worse, strict=True)
        )

    @property
    def chance(self) -> float:
        """How often they are right, a little less for few votes."""
        return self.right / (self.votes + 2)


@final
@dataclass(slots=True)
class _Index:
    """Which known rows have each sign, and how much a sign says."""

    rows: dict[int, Weights] = field(default_factory=dict)
    count: int = 0

    @classmethod
    def of(cls, signs: Sequence[Iterable[int]]) -> _Index:
        listed: dict[int, list[int]] = {}
        for i, own in enumerate(signs):
            for sign in own:
                listed.setdefault(sign, []).append(i)
        arrays = {sign: np.array(rows) for sign, rows in listed.items()}
        return cls(arrays, len(signs))

    def find_closest(
        self, signs: Iterable[int], without: Sequence[int]
    ) -> list[tuple[int, float]]:
        """Find the rows with most in common, and their votes."""
        scores, every = np.zeros(self.count), 0.0
        unseen = math.log(self.count + 1)
        for sign in signs:
            rows = self.rows.get(sign)
            weight = unseen if rows is None else math.log(self.count / len(rows))
            every += weight
            if rows is not None:
                scores[rows] += weight
        scores[list(without)] = 0.0
        if every <= 0:
            return []
        best = np.argsort(-scores, kind="stable")[:_CLOSEST].tolist()
        return [(i, (scores[i] / every) ** 4) for i in best if scores[i] > 0]


@final
class RelatedRows:
    """Known rows, and which words they hide.

    Parameters
    ----------
    beside : sequence of Beside
        What is beside each known text.
    signs : sequence of int array, shape (words,)
        What is seen at each word of a known text, 0 or more.
    words : sequence of int array, shape (words,)
        The words themselves.
    places : sequence of sequence of int
        The places of each known text that its release hides.

    Examples
    --------
    >>> beside = [Beside(row, {"id": row // 4}) for row in range(1, 41)]
    >>> words = [np.array([7, row // 4]) for row in range(1, 41)]
    >>> known = RelatedRows(beside, [np.array([1, 0])] * 40, words, [[1]] * 40)
    >>> known.learn({text: {1: False} for text in range(40)})
    >>> known.copy(Beside(50, {"id": 5}), np.array([1, 0]), [1])
    {1: Copied(word=5, chance=0.9512195121951219, column='id')}
    """

    def __init__(
        self,
        beside: Sequence[Beside],
        signs: Sequence[Any],
        words: Sequence[Any],
        places: Sequence[Sequence[int]],
    ) -> None:
        self._beside, self._signs, self._places = beside, signs, places
        self._tallies = [*map(_tally, signs, words, places)]
        self._words = words
        self._rows: dict[int, list[int]] = {}
        for i, each in enumerate(beside):
            self._rows.setdefault(each.row, []).append(i)
        self._order = sorted(row for row in self._rows if row > 0)
        self._columns = _list_columns(beside)
        self._votes: dict[tuple[str, int], _Votes] = {}
        self._indices: dict[str, _Index] = {}
        has_texts = any(each.signs for each in beside)
        if has_texts:
            self._indices[OTHER_TEXTS] = _Index.of([each.signs for each in beside])
        if len(self._columns) + has_texts > 1:
            self._indices[SEVERAL] = _Index.of([*map(self._list_signs, beside)])
        self._records: dict[_Kind, _Record] = {}
        common = Counter(name for each in beside for name in each.values)
        self._printed = {n for n, count in common.items() if 2 * count > len(beside)}

    def choose_texts(self) -> list[int]:
        """Choose known texts to learn from, at equal distances: 500 or so."""
        return [*range(0, len(self._beside), max(1, len(self._beside) // _LEARNT))]

    def learn(
        self,
        rights: Mapping[int, Mapping[int, bool]],
        seen: Mapping[int, NDArray[np.integer[Any]]] | None = None,
    ) -> None:
        """Learn how often votes are right, by known texts.

        Parameters
        ----------
        rights : mapping of int to mapping of int to bool
            Of some known texts: whether another guess is right, at hidden places.
        seen : mapping of int to int array, optional
            What is seen at each word of these texts, if it is not what their signs are,
            because of noise.
        """
        chosen = {
            text: dict(islice(some.items(), 0, None, max(1, len(some) // _PLACES)))
            for text, some in rights.items()
        }
        signs = self._signs if seen is None else seen
        common = self._read_by_all(chosen, signs)
        records: dict[_Kind, _Record] = {}
        for text, some in chosen.items():
            for place, kind, word, _ in self._iterate_votes(
                self._beside[text], signs[text], [*some], self._sources
            ):
                own = records.setdefault(kind, _Record())
                is_right = word == int(self._words[text][place])
                own.add(is_right, (some[place], common[text, place]))
        pooled = {kind: _pool(records, kind) for kind in _list_kinds(records)}
        self._records = {kind: own for kind, own in pooled.items() if own.is_better}

    def _read_by_all(
        self,
        places: Mapping[int, Iterable[int]],
        signs: Mapping[int, Any] | Sequence[Any],
    ) -> dict[tuple[int, int], bool]:
        """Tell where a guess is right that all known rows vote for, related or not."""
        records: dict[_Kind, _Record] = {}
        votes: dict[tuple[int, int], list[tuple[_Kind, bool]]] = {}
        for text, some in places.items():
            for place, kind, word, _ in self._iterate_votes(
                self._beside[text], signs[text], [*some], [_ALL]
            ):
                is_right = word == int(self._words[text][place])
                records.setdefault(kind, _Record()).add(is_right, ())
                votes.setdefault((text, place), []).append((kind, is_right))
        every = ((text, place) for text, some in places.items() for place in some)
        best = {
            at: max(own, key=lambda vote: records[vote[0]].chance)
            for at, own in votes.items()
        }
        return {at: at in best and best[at][1] for at in every}

    @property
    def has_votes(self) -> bool:
        """Whether any vote is better than another guess."""
        return bool(self._records)

    def copy(
        self, beside: Beside, signs: Any, places: Sequence[int]
    ) -> dict[int, Copied]:
        """Copy words to the places of a text where related rows have reliable votes.

        Parameters
        ----------
        beside : Beside
        signs : int array, shape (words,)
            What the release shows at each word.
        places : sequence of int
            Where a word is hidden.
        """
        sources = {kind[0] for kind in self._records}
        found: dict[int, Copied] = {}
        used = [source for source in self._sources if source in sources]
        for place, kind, word, source in self._iterate_votes(
            beside, signs, places, used
        ):
            if (own := self._records.get(kind)) is None:
                continue
            if place not in found or found[place].chance < own.chance:
                found[place] = Copied(word, own.chance, self._say(source))
        return found

    @property
    def _sources(self) -> list[str]:
        return [*map(_of_column, self._columns), ROW_ORDER, *self._indices]

    def _say(self, source: str) -> str:
        """Name what rows have in common; a column only if most rows have it."""
        if not source.startswith(_COLUMN):
            return source
        name = source.removeprefix(_COLUMN)
        return name if name in self._printed else SEVERAL

    def _list_signs(self, beside: Beside) -> list[int]:
        values = beside.values
        own = [
            hash_value((name, values[name])) for name in self._columns if name in values
        ]
        return [*own, *beside.signs]

    def _iterate_votes(
        self,
        beside: Beside,
        signs: Any,
        places: Sequence[int],
        sources: Iterable[str],
    ) -> Iterator[tuple[int, _Kind, int, str]]:
        """Yield the word that each source votes for, at each place, by each key."""
        keys = [(place, _list_keys(signs, place)) for place in places]
        for source in sources:
            votes, without = self._find_votes(source, beside)
            if votes is None:
                continue
            for place, each in keys:
                for level, key in enumerate(each):
                    if (first := votes.find_first(key, without)) is not None:
                        word, count, total = first
                        share = bisect_left(_SHARES, count / total)
                        size = math.floor(math.log2(count) + 1e-9)
                        size = max(_SIZES.start, min(_SIZES.stop - 1, size))
                        yield place, (source, level, share, size), word, source

    def _find_votes(
        self, source: str, beside: Beside
    ) -> tuple[_Votes | None, Sequence[_Tally]]:
        """Find the votes of a source for a row, and those of this row among them."""
        own = self._rows.get(beside.row, [])
        if source.startswith(_COLUMN) or source == _ALL:
            chosen = self._list_equal(source, beside)
            if not chosen or set(own).issuperset(chosen):
                return None, ()
            if (votes := self._votes.get((source, chosen[0]))) is None:
                votes = _Votes((self._tallies[i], 1.0) for i in chosen)
                self._votes[source, chosen[0]] = votes
            return votes, [self._tallies[i] for i in own if i in chosen]
        if source == ROW_ORDER:
            related = self._find_neighbors(beside.row)
        elif source == OTHER_TEXTS:
            related = self._indices[source].find_closest(beside.signs, own)
        else:
            signs = self._list_signs(beside)
            related = self._indices[source].find_closest(signs, own)
        if not related:
            return None, ()
        return _Votes((self._tallies[i], weight) for i, weight in related), ()

    def _list_equal(self, source: str, beside: Beside) -> Sequence[int]:
        """List the known texts with the same value in a column, or all of them."""
        if source == _ALL:
            return range(len(self._tallies))
        name = source.removeprefix(_COLUMN)
        value = beside.values.get(name)
        return () if value is None else self._columns[name].get(value, ())

    def _find_neighbors(self, row: int) -> list[tuple[int, float]]:
        if row <= 0:
            return []
        at = bisect_left(self._order, row)
        near = self._order[max(0, at - _NEIGHBORS) : at + _NEIGHBORS + 1]
        return [
            (text, 1 / abs(each - row))
            for each in near
            if 0 < abs(each - row) <= _FARTHEST
            for text in self._rows[each]
        ]


def _list_kinds(records: Iterable[_Kind]) -> list[_Kind]:
    return [
        (*kind, size)
        for kind in dict.fromkeys(each[:3] for each in records)
        for size in _SIZES
    ]


def _pool(records: Mapping[_Kind, _Record], kind: _Kind) -> _Record:
    """Join the record of one kind with those of smaller votes, if it has few."""
    found, size = _Record(), kind[3]
    while found.votes < _ENOUGH and size in _SIZES:
        if (own := records.get((*kind[:3], size))) is not None:
            found.votes += own.votes
            found.right += own.right
            for i in range(2):
                found.better[i] += own.better[i]
                found.worse[i] += own.worse[i]
        size -= 1
    return found


def _of_column(name: str) -> str:
    return _COLUMN + name


def _list_columns(beside: Sequence[Beside]) -> dict[str, dict[int, list[int]]]:
    """List the known texts with each value, of columns in which values occur again."""
    columns: dict[str, dict[int, list[int]]] = {}
    for i, each in enumerate(beside):
        for name, value in each.values.items():
            columns.setdefault(name, {}).setdefault(value, []).append(i)
    found = {}
    for name, rows in columns.items():
        again = {value: own for value, own in rows.items() if len(own) > 1}
        # One value everywhere tells nothing.
        if again and len(rows) > 1:
            found[name] = {
                value: own[:: max(1, len(own) // _RELATED)]
                for value, own in rows.items()
            }
    ranked = sorted(found, key=lambda name: -sum(map(len, found[name].values())))
    return {name: found[name] for name in ranked[:_COLUMNS]}


def _list_keys(signs: Any, place: int) -> list[_Key]:
    """List what is seen at a hidden place: from its sign to nothing at all."""
    own = int(signs[place])
    before = int(signs[place - 1]) if place else -1
    behind = int(signs[place + 1]) if place + 1 < len(signs) else -1
    return [(0, own), (1, own, before), (2, own, behind), (3, before), (4,)]


def _tally(signs: Any, words: Any, places: Sequence[int]) -> _Tally:
    """Count the hidden words of a text, by what is seen at their places."""
    found: dict[_Key, dict[int, float]] = {}
    for place in places:
        word = int(words[place])
        for key in _list_keys(signs, place):
            own = found.setdefault(key, {})
            own[word] = own.get(word, 0.0) + 1
    return found
