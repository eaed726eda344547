r"""A reader who fills masks and corrects replaced words with a public language model.

The law of the tool is not known. The reader learns it from other texts of the same
domain and their releases: how frequent words are, how often they are hidden, and under
which mark. At a hidden place with the mark m, between the visible words u, v and x, y,
the score of a word w is

.. math:: \ln p(w \mid u, v) + \ln p(x \mid v, w) + \ln p(y \mid w, x)
          + \ln P(m \mid w) + t \cos(w, z)

with trigrams p, the first of them mixed with the frequencies of the domain, and a rate
P(m | w) that is smoothed by that of the class of w. The last term is there for a
replaced word alone: z is the printed word, and t is the best of a few on the other half
of the texts. Neighbors that are hidden are left out. Names that stand elsewhere in the
same release are tried too. Words that do not fit what a mask shows, such as its length
or a first letter, are left out: see :mod:`mondegreen.attacks.any_tool.shapes`.

The reader is told which words were replaced or deleted, so its share is an upper bound
for this language model.
"""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, islice
from operator import itemgetter
from typing import Any, Final, final

import numpy as np

from mondegreen.arrays import Floats, Weights
from mondegreen.attacks.alignment import GONE
from mondegreen.attacks.any_tool.nearest import NEAREST, NearestWords
from mondegreen.attacks.any_tool.rows import MASKED, MOVED, REPLACED, STANDS, Row
from mondegreen.attacks.any_tool.shapes import (
    Fitting,
    Shape,
    Shown,
    learn_shown,
    read_shape,
)
from mondegreen.attacks.any_tool.survivors import Shares
from mondegreen.attacks.attack import Attack, find_strongest, wilson
from mondegreen.attacks.parts import draw_parts
from mondegreen.attacks.related_rows import RELATED, Beside, RelatedRows
from mondegreen.attacks.sensitive import SIMILAR, word_classes
from mondegreen.attacks.similar_texts import Copied, Level, SimilarTexts
from mondegreen.language.ngrams import NGrams
from mondegreen.space.space import Space
from mondegreen.text.sentences import sentence_ends
from mondegreen.text.tokenizer import canonical, tokenize

CANDIDATES: Final = 2048
"""Words that are ranked at a place: the best ones by the words before it."""

_PLACES: Final = 3000
"""Maximum number of hidden words to guess: about 15 seconds of work."""

_STRENGTHS: Final = (0.0, 6.0, 12.0, 20.0)
"""Weights of likeness that are tried for replaced words, in nats."""

_COPIED: Final = 0.05
"""Chance that a hidden word stands elsewhere in the same release."""

_FREQUENT: Final = 0.2
"""Weight of the word frequencies of the domain beside the language model."""

_OF_WORDS: Final = 1 << 20
"""Signs of visible words begin here; smaller ones are marks of hidden words."""

_BATCH: Final = 4096
_HIDES: Final = 0.5
"""A word is said to be hidden in a known text, if it is hidden as often in releases."""

_STRANGERS: Final = 2000
_UNSEEN: Final = 1e-3
_REPLACEMENT, _NOTHING = "a word", "nothing"

TRIGRAMS: Final = "the words beside them, with trigrams"
"""The name of the first way to guess. Others are ``SIMILAR`` and ``NEAREST``."""


@final
@dataclass(frozen=True, slots=True)
class Guess:
    """One hidden place: how the truth ranks, by each strength of likeness.

    ``ranks`` holds 1 for the best guess, and 0 where the reader cannot name the word.
    ``mark`` is what is printed there.
    """

    row: int  # its index among the rows
    place: int
    mark: str
    ranks: tuple[int, ...]


@final
@dataclass(frozen=True, slots=True)
class _Domain:
    """What other texts and their releases tell: frequencies, and rates of hiding."""

    shares: Floats  # of each word of the vocabulary
    strangers: dict[int, tuple[float, int]]  # share and class of words outside of it
    by_class: Mapping[str, Floats]  # ln P(mark | class)
    by_word: Mapping[str, Mapping[int, float]]  # ln P(mark | word), where it was met
    shown: Shown  # what masks show of their words

    def log_rates(self, mark: str, ids: Weights, classes: Weights) -> Floats:
        rates = self.by_class.get(mark)
        if rates is None:
            return np.zeros(len(ids))
        found = rates[classes]
        met = self.by_word[mark]
        for i, word in enumerate(ids.tolist()):
            if word in met:
                found[i] = met[word]
        return found


@final
class PublicReader:
    """Ranks words at hidden places.

    Parameters
    ----------
    language : NGrams
        A model of PUBLIC text over the words of ``space``.
    space : Space
    rows : sequence of Row
        The releases. What the tool hides is learned from one half of them, drawn at
        random, and used on the other half.
    known : sequence of str
        Other texts of the domain that the attacker has, without releases.
    known_beside : sequence of Beside
        What is beside each of these texts in their file; nothing if not given.
    """

    def __init__(
        self,
        language: NGrams,
        space: Space,
        rows: Sequence[Row],
        known: Sequence[str] = (),
        known_beside: Sequence[Beside] = (),
    ) -> None:
        language.check_space(space)
        self._language, self._space, self._rows = language, space, rows
        self._index = space.index
        self._strangers: dict[str, int] = {}
        self._names_of_strangers: dict[int, str] = {}
        self._fitting = Fitting(space.words)
        names = _list_classes(space.words)
        self._names = sorted(set(names) | {c for row in rows for c in row.classes})
        number = {name: i for i, name in enumerate(self._names)}
        self._number = number
        self._class = np.array([number[name] for name in names], dtype=np.int64)
        self._unigram = np.asarray(language.unigram_log[:-2], dtype=np.float64)
        self.halves = draw_parts(len(rows)).tolist()
        # Words of one half are guessed by what the other half tells.
        self._domains = [
            self._learn([row for i, row in enumerate(rows) if self.halves[i] != half])
            for half in (0, 1)
        ]
        self._units = _unit_vectors(space)
        self._marks: dict[str, int] = {}
        self._known, self._known_beside = known, known_beside
        self._similar: dict[int, tuple[SimilarTexts, list[int]]] = {}

    def _learn(self, rows: Sequence[Row]) -> _Domain:
        """Count the words of one half, and under which mark each is hidden."""
        totals = np.zeros(len(self._names))
        words: Counter[int] = Counter()
        own_class: dict[int, int] = {}
        marks: dict[str, Floats] = {}
        hidden: dict[str, Counter[int]] = {}
        for row in rows:
            for i, (name, fate) in enumerate(zip(row.classes, row.fate, strict=True)):
                number, word = self._number[name], self.get_id(row.words[i])
                totals[number] += 1
                words[word] += 1
                own_class[word] = number
                if fate > MOVED:
                    mark = find_mark(row, i)
                    marks.setdefault(mark, np.zeros(len(totals)))[number] += 1
                    hidden.setdefault(mark, Counter())[word] += 1
        size = self._language.vocab_size
        shares = np.zeros(size)
        every = max(1, words.total())
        for word, count in words.items():
            if word < size:
                shares[word] = count / every
        strangers = {
            word: (count / every, own_class[word])
            for word, count in words.most_common()
            if word > size
        }
        by_class = {
            mark: (counts + _UNSEEN) / (totals + 1) for mark, counts in marks.items()
        }
        by_word = {
            mark: {
                word: float(
                    np.log((hidden[mark][word] + rates[own_class[word]]) / (count + 1))
                )
                for word, count in words.items()
            }
            for mark, rates in by_class.items()
        }
        logs = {mark: np.log(rates) for mark, rates in by_class.items()}
        kept = dict(islice(strangers.items(), _STRANGERS))
        return _Domain(shares, kept, logs, by_word, learn_shown(rows))

    def scores(self, index: int, place: int) -> tuple[Weights, Floats]:
        """Score the words that fit a place of a row: ids, and logarithms.

        Logarithms are right up to a constant of the place.

        Ids above ``vocab_size`` are words outside the vocabulary, which stand in the
        same release or in texts of the other half.
        """
        model, size = self._language, self._language.vocab_size
        row, domain = self._rows[index], self._domains[self.halves[index]]
        mark = find_mark(row, place)
        u, v, x, y = self._visible(row, place)
        share = (
            np.exp(self._forward(u, v)) * (1 - _FREQUENT) + _FREQUENT * domain.shares
        )
        copies = self._copies(row)
        strangers = {
            word: _FREQUENT * each[0] for word, each in domain.strangers.items()
        }
        classes = {word: each[1] for word, each in domain.strangers.items()}
        for word, number in copies.items():
            if word < size:
                share[word] += _COPIED / len(copies)
            elif word > size:
                strangers[word] = strangers.get(word, 0.0) + _COPIED / len(copies)
                classes[word] = number
        forward = np.log(share)
        rates = domain.by_class.get(mark)
        ranked = forward if rates is None else forward + rates[self._class]
        ranked, strangers = self._keep_fitting(index, place, ranked, strangers)
        count = min(CANDIDATES, size)
        found = np.argpartition(-ranked, count - 1)[:count].astype(np.int64)
        found = found[np.isfinite(ranked[found])]
        score, kinds = forward[found], self._class[found]
        if strangers:
            found = np.append(found, np.array([*strangers], dtype=np.int64))
            score = np.append(score, np.log([*strangers.values()]))
            kinds = np.append(kinds, [classes[word] for word in strangers])
        score = score + domain.log_rates(mark, found, kinds)
        capped = np.minimum(found, size)
        if x != GONE:
            if v == GONE:
                score = score + model.pair_log_prob(capped, np.full(len(capped), x))
            else:
                score = score + model.log_prob(v, capped, x)
            if y != GONE and x != model.boundary:
                score = score + model.log_prob(capped, x, y)
        return found, score

    def _keep_fitting(
        self, index: int, place: int, ranked: Floats, strangers: dict[int, float]
    ) -> tuple[Floats, dict[int, float]]:
        """Keep the words that fit what a mask shows, or all if none does."""
        half = self.halves[index]
        shape, shown = self._read_shape(self._rows[index], place, half)
        if shape is None:
            return ranked, strangers
        fits = self._fitting.find(shape, shown)
        others = {
            word: share
            for word, share in strangers.items()
            if shown.has_fit(shape, self._names_of_strangers[word])
        }
        if not others and not fits.any():
            return ranked, strangers
        return np.where(fits, ranked, -np.inf), others

    def _read_shape(
        self, row: Row, place: int, half: int
    ) -> tuple[Shape | None, Shown]:
        """Read the shape of a mask; None if it shows a half nothing of its word."""
        shown = self._domains[half].shown
        shape = read_shape(row, place) if shown.tells else None
        return (shape if shown.tests(shape) else None), shown

    def has_fit(self, index: int, place: int, word: int) -> bool:
        """Tell whether a word fits what the mask at a place shows."""
        shape, shown = self._read_shape(self._rows[index], place, self.halves[index])
        size, names = self._language.vocab_size, self._names_of_strangers
        name = names.get(word, "") if word >= size else self._space.words[word]
        return shown.has_fit(shape, name)

    def _copies(self, row: Row) -> dict[int, int]:
        """Find the telling words in the release of a row, and their class."""
        return {
            self.get_id(row.words[i]): self._number[row.classes[i]]
            for i, fate in enumerate(row.fate)
            if fate <= MOVED and row.classes[i] != "ordinary"
        }

    def get_id(self, word: str) -> int:
        """Number a word; one outside the vocabulary has a number of its own."""
        own = self._index.get(word)
        if own is None and (own := self._strangers.get(word)) is None:
            own = self._language.vocab_size + 1 + len(self._strangers)
            self._strangers[word], self._names_of_strangers[own] = own, word
        return own

    def _visible(self, row: Row, place: int) -> list[int]:
        """List what is seen around a place: two ids before it, and two behind.

        ``GONE`` is a hidden word, or what is behind the end. Sentences end in
        boundaries.
        """
        ends = sentence_ends(row.gaps[1:])
        boundary, size = self._language.boundary, self._language.vocab_size

        def see(i: int) -> int:
            if row.fate[i] != 0:
                return GONE
            return self._index.get(row.words[i], size)

        before: list[int] = []
        i = place - 1
        while len(before) < 2:
            if i < 0 or ends[i]:
                before.append(boundary)
                break
            before.append(see(i))
            i -= 1
        before = [*before, boundary][:2][::-1]
        behind: list[int] = []
        i = place
        while len(behind) < 2:
            if ends[i]:
                behind = [*behind, boundary, GONE][:2]
                break
            i += 1
            behind.append(see(i))
        return before + behind

    def _forward(self, u: int, v: int) -> Floats:
        """Score all words behind two others, as far as these are seen."""
        model = self._language
        if v == GONE:
            return self._unigram.copy()
        size = model.vocab_size
        scores = self._unigram + float(model.unigram_backoff[v])
        own = slice(int(model.pair_starts[v]), int(model.pair_starts[v + 1]))
        _raise_to(scores, model.pair_words[own], model.pair_log[own], size)
        if u == GONE or v == model.boundary:
            return scores
        row = slice(int(model.pair_starts[u]), int(model.pair_starts[u + 1]))
        at = int(row.start + np.searchsorted(model.pair_words[row], v))
        if at < row.stop and int(model.pair_words[at]) == v:
            scores += float(model.pair_backoff[at])
            own = slice(int(model.triple_starts[at]), int(model.triple_starts[at + 1]))
            _raise_to(scores, model.triple_words[own], model.triple_log[own], size)
        return scores

    def compute_expected(
        self, ids: Sequence[int], index: int, place: int
    ) -> list[float]:
        """Tell how often words are expected among all, under the mark at a place."""
        domain, size = self._domains[self.halves[index]], self._language.vocab_size
        rates = domain.by_class.get(find_mark(self._rows[index], place))
        words = sum(len(row.words) for row in self._rows)
        found = []
        for word in ids:
            if word < size:
                share, number = float(domain.shares[word]), int(self._class[word])
            else:
                share, number = domain.strangers.get(word, (0.0, 0))
            rate = 1.0 if rates is None else float(np.exp(rates[number]))
            found.append(words * share * rate)
        return found

    def copy(self, index: int, places: Sequence[int], level: Level) -> Copied:
        """Copy words to places of a row from the most similar known places.

        Known are the texts of the other half with their releases, and ``known``.
        """
        half = self.halves[index]
        known, _ = self._find_known(half)
        return known.copy(self._signs(self._rows[index], half), places, level)

    def learn_level(self, half: int, rights: Mapping[int, Mapping[int, bool]]) -> Level:
        """Learn how similar a place of a half has to be, by the rows of the other one.

        ``rights`` tells whether another guess is right, at some places of rows.
        """
        known, rows = self._find_known(half)
        chosen = [(at, rights[i]) for at, i in enumerate(rows) if i in rights]
        return known.learn_level(
            {at: np.array([*some], dtype=np.int64) for at, some in chosen},
            {at: np.array([*some.values()], dtype=np.bool_) for at, some in chosen},
        )

    def _find_known(self, half: int) -> tuple[SimilarTexts, list[int]]:
        """Find the texts that an attacker on a half knows, and the rows among them."""
        if half not in self._similar:
            rows = [i for i, each in enumerate(self.halves) if each != half]
            signs = [self._signs(self._rows[i], half) for i in rows]
            words = [self._ids(self._rows[i].words) for i in rows]
            for own, seen in self._iterate_known(half):
                words.append(own)
                signs.append(seen)
            self._similar[half] = SimilarTexts(signs, words), rows
        return self._similar[half]

    def _iterate_known(
        self, half: int, *, by_class: bool = False
    ) -> Iterator[tuple[Weights, Weights]]:
        """Yield the words of each known text, and what a release would show of them."""
        for i in range(0, len(self._known), _BATCH):
            batch = tokenize(self._known[i : i + _BATCH])
            own = self._ids([canonical(word) for word in batch.words()])
            classes = word_classes(batch)
            seen = self._expect_signs(own, classes, half)
            if by_class and (mark := self._marks.get(_REPLACEMENT)) is not None:
                seen = np.array(
                    [
                        self._number_mark(_REPLACEMENT, name) if sign == mark else sign
                        for sign, name in zip(seen.tolist(), classes, strict=True)
                    ],
                    dtype=np.int64,
                )
            yield from zip(
                np.split(own, batch.begins[1:-1]),
                np.split(seen, batch.begins[1:-1]),
                strict=True,
            )

    def find_nearest(self, half: int) -> NearestWords | None:
        """Count hidden words of the other half; None if masks show nothing of theirs.

        A mask that shows nothing leaves too many words to choose from in this way.
        """
        if not self._domains[half].shown.tells:
            return None
        found = NearestWords(_OF_WORDS)
        for i, row in enumerate(self._rows):
            if self.halves[i] != half:
                found.add(self._signs(row, half), self._ids(row.words))
        return found

    def guess_nearest(
        self, nearest: NearestWords, index: int, places: Iterable[int]
    ) -> dict[int, int]:
        """Guess the words of the masks of a row that show some of their word."""
        row, half = self._rows[index], self.halves[index]
        signs = self._signs(row, half)
        told = [p for p in places if self._read_shape(row, p, half)[0] is not None]
        guesses = ((place, nearest.guess(signs, place)) for place in told)
        return {place: word for place, word in guesses if word is not None}

    def find_related(
        self, half: int, rights: Mapping[int, Mapping[int, bool]]
    ) -> RelatedRows | None:
        """Find the rows that an attacker on a half knows, by what is beside them.

        ``rights`` tells whether another guess is right, at some places of rows. None if
        nothing is known of what is beside them.
        """
        rows = [i for i, each in enumerate(self.halves) if each != half]
        beside, signs, words, places = list[Beside](), [], [], []
        for i in rows:
            row = self._rows[i]
            if row.beside is None:
                return None
            beside.append(row.beside)
            signs.append(self.list_marks(row, half))
            words.append(self._ids(row.words))
            places.append(list_hidden(row))
        if self._known_beside:
            for own, seen in self._iterate_known(half, by_class=True):
                words.append(own)
                signs.append(seen)
                places.append(np.flatnonzero(seen < _OF_WORDS).tolist())
            beside += self._known_beside
        found = RelatedRows(beside, signs, words, places)
        found.learn({at: rights[i] for at, i in enumerate(rows) if i in rights})
        return found

    def list_marks(self, row: Row, half: int) -> Weights:
        """Number what is seen at each word of a row: the word, a mark or a class.

        A replaced word shows the class of the word that is printed.
        """
        found = self._signs(row, half)
        no_letters = self._marks.get(_REPLACEMENT, -1)
        for i, fate in enumerate(row.fate):
            if fate == REPLACED and found[i] == no_letters:
                name = self._printed_classes[row.released.keys[row.target[i]]]
                found[i] = self._number_mark(_REPLACEMENT, name)
        return found

    def _number_mark(self, mark: str, name: str) -> int:
        return self._marks.setdefault(f"{mark}: {name}", len(self._marks))

    @functools.cached_property
    def _printed_classes(self) -> dict[str, str]:
        """The classes of the words that replace others."""
        words = dict.fromkeys(
            row.released.keys[row.target[i]]
            for row in self._rows
            for i, fate in enumerate(row.fate)
            if fate == REPLACED
        )
        return dict(zip(words, _list_classes(tuple(words)), strict=True))

    def _ids(self, words: Sequence[str]) -> Weights:
        return np.array([*map(self.get_id, words)], dtype=np.int64)

    def _signs(self, row: Row, half: int) -> Weights:
        """Number what an attacker on a half sees at each word: the word, or a mark."""
        return np.array(
            [
                self.get_id(word) + _OF_WORDS
                if fate == STANDS
                else self._number_seen(row, i, half)
                for i, (word, fate) in enumerate(zip(row.words, row.fate, strict=True))
            ],
            dtype=np.int64,
        )

    def _number_seen(self, row: Row, place: int, half: int) -> int:
        """Number a mark, with its shape if that shows something of the word."""
        mark, (shape, _) = find_mark(row, place), self._read_shape(row, place, half)
        if shape is not None:
            return self._number_mark(mark, shape.text)
        return self._marks.setdefault(mark, len(self._marks))

    def _expect_signs(self, ids: Weights, classes: Any, half: int) -> Weights:
        """Number what would be seen at each word of a text without a release."""
        domain, signs = self._domains[half], ids + _OF_WORDS
        if not domain.by_class:
            return signs
        own = np.array([self._number.get(str(name), 0) for name in classes])
        marks = [*domain.by_class]
        rates = np.exp([domain.log_rates(mark, ids, own) for mark in marks])
        best = rates.argmax(axis=0)
        numbers = np.array(
            [self._marks.setdefault(mark, len(self._marks)) for mark in marks]
        )
        return np.where(rates.sum(axis=0) > _HIDES, numbers[best], signs)

    def likeness(self, printed: str, ids: Weights) -> Floats:
        """Compare words with a printed one: cosines, 0 where either has no vector."""
        own = self._index.get(printed)
        found = np.zeros(len(ids))
        if own is None or self._units is None:
            return found
        inside = ids < self._language.vocab_size
        found[inside] = self._units[ids[inside]] @ self._units[own]
        return found

    def guess(self, index: int, place: int) -> Guess:
        """Rank the truth at a hidden place of a row."""
        row = self._rows[index]
        ids, scores = self.scores(index, place)
        mark, truth = find_mark(row, place), self.get_id(row.words[place])
        strengths = _STRENGTHS if mark == _REPLACEMENT else (0.0,)
        if len(strengths) > 1:
            printed = row.released.keys[row.target[place]]
            like = self.likeness(printed, ids)
            scores = np.where(ids == self.get_id(printed), -np.inf, scores)
        else:
            like = np.zeros(len(ids))
        is_truth = ids == truth
        if not is_truth.any():
            rank = 0 if truth >= self._language.vocab_size else len(ids) + 1
            return Guess(index, place, mark, (rank,) * len(strengths))
        ranks = []
        for strength in strengths:
            own = scores + strength * like
            ranks.append(1 + int((own > own[is_truth].max()).sum()))
        return Guess(index, place, mark, tuple(ranks))


def find_mark(row: Row, place: int) -> str:
    """Name what a reader sees at a hidden place; masks without their numbers."""
    if row.fate[place] == MASKED:
        return re.sub(r"[\d_\W]+", " ", row.released.keys[row.target[place]]).strip()
    return _REPLACEMENT if row.fate[place] == REPLACED else _NOTHING


def read_hidden(rows: Sequence[Row], reader: PublicReader, unit: str) -> Attack:
    """Measure which units a reader has: those that stand, and those that it guesses.

    A unit is recovered where each of its words stands in the release or is the first
    guess: of the language model, of the most similar known text, of the nearest visible
    words if masks show something, or of rows that have something in common. ``value``
    is that of the best way; ``by`` holds all of them, and ``column`` what related rows
    have in common most often. At most 3,000 hidden words are guessed, of the first
    rows.
    """
    guesses, used = _guess_all(rows, reader)
    halves = reader.halves
    strength = [
        _strongest(each for each in guesses.values() if halves[each.row] != half)
        for half in (0, 1)
    ]

    ranks = {
        key: each.ranks[strength[halves[each.row]] if len(each.ranks) > 1 else 0]
        for key, each in guesses.items()
    }
    read = {key: rank == 1 for key, rank in ranks.items()}
    guessed = {TRIGRAMS: read, SIMILAR: _copy_words(rows, reader, read)}
    if (nearest := _guess_by_nearest(rows, reader, read)) is not None:
        guessed[NEAREST] = nearest
    column = None
    if (related := _copy_from_related_rows(rows, reader, read)) is not None:
        guessed[RELATED], column = related
    ways = [_count_units(rows[:used], name, own) for name, own in guessed.items()]
    best = find_strongest([way.says for way in ways])
    (way,) = (way for way in ways if way.says is best)
    return Attack(
        "reader",
        f"has what is left; guesses hidden words from {way.says['by']}",
        best["value"],
        best["low"],
        best["high"],
        compute_chance(rows[:used]),
        best["n"],
        f"share of {unit}",
        {
            "texts": used,
            "hidden_words": _rank(np.array([*ranks.values()], dtype=np.int64)),
            "by": [way.says for way in ways],
            **({} if column is None else {"column": column}),
            "by_kind": way.describe_kinds(),
            "riskiest_rows": way.guessed_rows[:20],
        },
    )


@final
@dataclass(frozen=True, slots=True)
class _Way:
    """What a way to guess recovers."""

    says: dict[str, Any]
    kinds: dict[str, Shares]
    guessed_rows: list[dict[str, int]]

    def describe_kinds(self) -> dict[str, dict[str, Any]]:
        found = {}
        for name, shares in sorted(self.kinds.items()):
            low, high = shares.ends()
            ends = {"value": shares.value, "low": low, "high": high}
            found[name] = {**ends, "n": int(shares.total)}
        return found


def _count_units(
    rows: Sequence[Row], name: str, right: Mapping[tuple[int, int], bool]
) -> _Way:
    """Count the units that stand or are guessed right, by kind and by row."""
    shares, kinds = Shares(), dict[str, Shares]()
    guessed_rows: list[dict[str, int]] = []
    for index, row in enumerate(rows):
        hits, of_row = 0, dict[str, list[bool]]()
        for each in row.units:
            is_known = all(
                row.fate[i] <= MOVED or right[index, i]
                for i in range(each.first, each.last)
            )
            of_row.setdefault(each.kind, []).append(is_known)
            hits += is_known
        for kind, known in of_row.items():
            kinds.setdefault(kind, Shares()).add(sum(known), len(known))
        guessed = hits - row.left_count()
        if guessed:
            guessed_rows.append({"row": row.number, "guessed": guessed})
        shares.add(hits, len(row.units))
    low, high = shares.ends()
    guessed_rows.sort(key=lambda each: (-each["guessed"], each["row"]))
    ends = {"value": shares.value, "low": low, "high": high, "n": shares.total}
    return _Way({"by": name, **ends}, kinds, guessed_rows)


def _copy_words(
    rows: Sequence[Row], reader: PublicReader, read: Mapping[tuple[int, int], bool]
) -> dict[tuple[int, int], bool]:
    """Tell where a guess is right that is copied from a text that is similar enough."""
    rights: dict[int, dict[int, bool]] = {}
    for (index, place), is_right in read.items():
        rights.setdefault(index, {})[place] = is_right
    levels = [reader.learn_level(half, rights) for half in (0, 1)]
    found = dict(read)
    for index, some in rights.items():
        copied = reader.copy(index, [*some], levels[reader.halves[index]])
        for i in np.flatnonzero(copied.words >= 0).tolist():
            place, word = [*some][i], int(copied.words[i])
            if reader.has_fit(index, place, word):
                truth = reader.get_id(rows[index].words[place])
                found[index, place] = word == truth
    return found


def _guess_by_nearest(
    rows: Sequence[Row], reader: PublicReader, read: Mapping[tuple[int, int], bool]
) -> dict[tuple[int, int], bool] | None:
    """Tell where a guess by the nearest visible words is right; None without one."""
    nearest = [reader.find_nearest(half) for half in (0, 1)]
    found, is_made = dict(read), False
    for index, group in groupby(read, key=itemgetter(0)):
        known = nearest[reader.halves[index]]
        if known is None:
            continue
        places = [place for _, place in group]
        for place, word in reader.guess_nearest(known, index, places).items():
            found[index, place] = word == reader.get_id(rows[index].words[place])
            is_made = True
    return found if is_made else None


def _copy_from_related_rows(
    rows: Sequence[Row], reader: PublicReader, read: Mapping[tuple[int, int], bool]
) -> tuple[dict[tuple[int, int], bool], str] | None:
    """Tell where a guess is right, with words from rows that have much in common."""
    rights: dict[int, dict[int, bool]] = {}
    for (index, place), is_right in read.items():
        rights.setdefault(index, {})[place] = is_right
    found, columns = dict(read), Counter[str]()
    for half in (0, 1):
        related = reader.find_related(half, rights)
        if related is None or not related.has_votes:
            continue
        for index, some in rights.items():
            beside = rows[index].beside
            if reader.halves[index] != half or beside is None:
                continue
            signs = reader.list_marks(rows[index], half)
            for place, copied in related.copy(beside, signs, [*some]).items():
                if not reader.has_fit(index, place, copied.word):
                    continue
                truth = reader.get_id(rows[index].words[place])
                found[index, place] = copied.word == truth
                columns[copied.column] += found[index, place] and not some[place]
    return (found, columns.most_common(1)[0][0]) if columns else None


def list_hidden(row: Row) -> list[int]:
    """List the hidden words of units."""
    return sorted(
        {
            place
            for each in row.units
            for place in range(each.first, each.last)
            if row.fate[place] > MOVED
        }
    )


def _guess_all(
    rows: Sequence[Row], reader: PublicReader
) -> tuple[dict[tuple[int, int], Guess], int]:
    """Guess the hidden words of units; return how many rows were looked at, too."""
    guesses: dict[tuple[int, int], Guess] = {}
    for index, row in enumerate(rows):
        if len(guesses) >= _PLACES:
            return guesses, index
        for place in list_hidden(row):
            guesses[index, place] = reader.guess(index, place)
    return guesses, len(rows)


def _strongest(guesses: Iterable[Guess]) -> int:
    """Choose how much likeness weighs: what guesses most replaced words right."""
    hits = np.zeros(len(_STRENGTHS))
    for each in guesses:
        if len(each.ranks) > 1:
            hits += np.array(each.ranks) == 1
    return int(hits.argmax())


def _rank(ranks: Weights) -> dict[str, Any]:
    """Say how hidden words rank among all that the reader can name."""
    count = len(ranks)
    if not count:
        return {"n": 0, "top_1": None, "top_10": None, "median_rank": None}
    named = ranks[ranks > 0]
    found: dict[str, Any] = {"n": count, "nameable": len(named)}
    for name, top in (("top_1", 1), ("top_10", 10)):
        hits = int((named <= top).sum())
        low, high = wilson(hits, count)
        found[name] = {"value": hits / count, "low": low, "high": high}
    found["median_rank"] = float(np.median(named)) if len(named) else None
    return found


def compute_chance(rows: Sequence[Row]) -> float | None:
    """Guess the most frequent unit everywhere, without a release."""
    units = Counter(
        " ".join(row.words[unit.first : unit.last])
        for row in rows
        for unit in row.units
    )
    return max(units.values()) / units.total() if units else None


@functools.lru_cache(maxsize=1)  # of many releases the vocabulary is the same
def _list_classes(words: tuple[str, ...]) -> list[str]:
    """Name the class of each word of a vocabulary, or of the first part of it.

    Signs, such as what is left of a row of masks, have no word: they are ordinary.
    """
    batch = tokenize(words)
    counts = np.asarray(batch.counts())
    starts = (np.cumsum(counts) - counts)[counts > 0]
    found = np.full(len(words), "ordinary", dtype=object)
    found[counts > 0] = word_classes(batch)[starts]
    return [*map(str, found)]


def _unit_vectors(space: Space) -> Any:
    """Scale the vectors of a space to length 1; None where it has none."""
    if not space.has_vectors:
        return None
    vectors = np.asarray(space.vectors, dtype=np.float32)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / np.maximum(lengths, 1e-9)


def _raise_to(scores: Floats, words: Any, values: Any, size: int) -> None:
    """Put stored probabilities where they are larger than what is shorter says."""
    inside = words < size
    ids = words[inside]
    scores[ids] = np.maximum(scores[ids], values[inside].astype(np.float64))
