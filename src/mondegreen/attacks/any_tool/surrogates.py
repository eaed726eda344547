r"""Consistent surrogates: equal originals with equal replacements are a cipher.

Where a tool prints one surrogate z for every occurrence of a word, all contexts of z
tell about one word, and so does how often z is printed. An attacker on one half of the
texts knows what words the other half has, not what is printed for them. Each surrogate
z gets another word, so that the sum of

.. math:: n_z \ln p_w + \ln P(c_z \mid c_w)
          + a \sum_{i : z_i = z} \ln \max(P(w \mid i) / p_w, 1/20)

is largest: :math:`n_z` occurrences, the share :math:`p_w` of w among the words of the
other half that are hidden so, the classes :math:`c` of both by the shipped lexicon, and
the posterior of the reader in up to 12 contexts. The weight a is 0, 0.3 or 1. More ways
are tried: the words in the same rows, as in :mod:`mondegreen.attacks.cooccurrence`,
hashes of words without a secret, and numbers in the order of the alphabet. The way is
taken that is best on the other half.

Where surrogates are consistent within a row alone, or not at all, the attacker takes
the word with the largest sum of scores at the places of a surrogate, less the number of
occurrences that is expected of the word: a surrogate that is seen once is no frequent
word.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final, final

import numpy as np

from mondegreen.arrays import Floats, Weights
from mondegreen.attacks.any_tool.hashes import find_hashed
from mondegreen.attacks.any_tool.ranks import match_ranks, split_number
from mondegreen.attacks.any_tool.reader import PublicReader
from mondegreen.attacks.any_tool.rows import MASKED, REPLACED, Row
from mondegreen.attacks.any_tool.survivors import Shares
from mondegreen.attacks.attack import Attack
from mondegreen.attacks.cooccurrence import KNOWN, PRINTED, Places, match_words
from mondegreen.attacks.linked import UNSEEN, WORST, assign_words
from mondegreen.attacks.sensitive import word_classes
from mondegreen.policy.lexicon import load_lexicon
from mondegreen.text.tokenizer import tokenize

_PLACES: Final = 1500
"""Places whose contexts the reader scores: about 10 seconds of work."""

_CONTEXTS: Final = 12
"""Contexts of one surrogate that the reader scores."""

_WEIGHTS: Final = (0.0, 0.3, 1.0)
_ELSE: Final = 1
"""Which of these weights is used where another way tells nothing."""

_CONSISTENT: Final = 0.5


@final
@dataclass(frozen=True, slots=True)
class _Place:
    row: int  # index among the rows
    at: int
    word: str
    kind: str  # class of the word
    surrogate: str


def solve_surrogates(rows: Sequence[Row], reader: PublicReader) -> Attack | None:
    """Test whether surrogates are consistent, and solve them.

    ``value`` is the share of replaced words that are recovered. Details: ``in_rows``
    and ``across_rows`` are the shares of pairs of equal words with equal surrogates,
    with the share among unequal words as ``chance``. None where no word has a
    surrogate: masks without a number are none.
    """
    places = list(_places(rows))
    if not places:
        return None
    within = _consistency(places, by_row=True)
    across = _consistency(places, by_row=False)
    scope = "none"
    if _is_consistent(across):
        scope = "all rows"
        shares = _solve_all(places, reader)
    else:
        if _is_consistent(within):
            scope = "a row"
        shares = _solve_each(places, reader, in_rows=scope == "a row")
    low, high = shares.ends()
    frequent = Counter(place.word for place in places).most_common(1)[0][1]
    return Attack(
        "surrogates",
        "solves surrogates as a cipher, by their frequency, up to 12 contexts, the "
        "words in the same rows, hashes, or ranks",
        shares.value,
        low,
        high,
        frequent / len(places),
        int(shares.total),
        "share of replaced words",
        {"consistent_in": scope, "in_rows": within, "across_rows": across},
    )


def _places(rows: Sequence[Row]) -> Iterator[_Place]:
    for index, row in enumerate(rows):
        for at, fate in enumerate(row.fate):
            if fate not in (REPLACED, MASKED):
                continue
            printed = row.released.keys[row.target[at]]
            # <PERSON_1> stands for somebody; <PERSON> and *** for anybody.
            if fate == REPLACED or any(map(str.isdigit, printed)):
                yield _Place(index, at, row.words[at], row.classes[at], printed)


def _consistency(places: Sequence[_Place], *, by_row: bool) -> dict[str, Any]:
    """Compare pairs of equal words with pairs of unequal ones."""
    words: dict[Hashable, Counter[str]] = defaultdict(Counter)
    printed: dict[Hashable, Counter[str]] = defaultdict(Counter)
    for place in places:
        scope = place.row if by_row else 0
        words[scope, place.word][place.surrogate] += 1
        printed[scope][place.surrogate] += 1
    shares = Shares()
    for counts in words.values():
        pairs = _pairs(counts.total())
        if pairs:
            shares.add(sum(map(_pairs, counts.values())), pairs)
    equal, same = shares.total, sum(shares.hits)
    every = sum(_pairs(each.total()) for each in printed.values())
    alike = sum(sum(map(_pairs, each.values())) for each in printed.values())
    low, high = shares.ends()
    chance = (alike - same) / (every - equal) if every > equal else None
    return {
        "value": shares.value,
        "low": low,
        "high": high,
        "chance": chance,
        "pairs": equal,
    }


def _pairs(count: int) -> int:
    return count * (count - 1) // 2


def _is_consistent(found: dict[str, Any]) -> bool:
    """Whether equal words have equal surrogates, well above chance."""
    if found["value"] is None:
        return False
    return bool(
        found["value"] > _CONSISTENT and found["low"] > 2 * (found["chance"] or 0.0)
    )


def _solve_all(places: Sequence[_Place], reader: PublicReader) -> Shares:
    """Solve surrogates of all rows, one half of the rows after the other."""
    kinds = _classify({place.surrogate for place in places})
    every = Counter(place.surrogate for place in places)
    solved = [surrogate for surrogate, _ in every.most_common(PRINTED)]
    halves = [_Half(places, half, solved, kinds, reader) for half in (0, 1)]
    found = [half.solve_each_way() for half in halves]
    right = [
        [half.count_right(guess) for guess in guesses]
        for half, guesses in zip(halves, found, strict=True)
    ]
    shares = Shares()
    for surrogate in solved:
        hits = count = 0
        for own, other in ((0, 1), (1, 0)):
            if surrogate not in halves[own].words:
                continue
            # The way that is best on the other half.
            best = int(np.argmax([sum(each.values()) for each in right[other]]))
            hits += right[own][best].get(surrogate, 0)
            count += halves[own].words[surrogate].total()
        shares.add(hits, count)
    return shares


def _classify(surrogates: set[str]) -> Mapping[str, str]:
    """Name the class of each surrogate: that of its first word."""
    texts = sorted(surrogates)
    batch = tokenize(texts)
    classes = word_classes(batch).tolist()
    starts = batch.begins.tolist()
    return {
        text: classes[starts[i]] if starts[i] < starts[i + 1] else ""
        for i, text in enumerate(texts)
    }


@final
class _Half:
    """The surrogates of one half of the rows, and the words that may be behind them.

    What is known is what the other half says: how often each word is hidden so, and
    which classes of surrogates stand for which classes of words.
    """

    def __init__(
        self,
        places: Sequence[_Place],
        half: int,
        solved: Sequence[str],
        kinds: Mapping[str, str],
        reader: PublicReader,
    ) -> None:
        own = [place for place in places if reader.halves[place.row] == half]
        known = [place for place in places if reader.halves[place.row] != half]
        self._reader = reader
        self.words: dict[str, Counter[str]] = {}
        groups: dict[str, list[_Place]] = {name: [] for name in solved}
        for place in own:
            if place.surrogate in groups:
                groups[place.surrogate].append(place)
                self.words.setdefault(place.surrogate, Counter())[place.word] += 1
        self._groups = {name: some for name, some in groups.items() if some}
        counts = Counter(place.word for place in known)
        self._candidates = [word for word, _ in counts.most_common(KNOWN)]
        self._prior = np.array([counts[word] for word in self._candidates], dtype=float)
        self._unseen = UNSEEN / max(1, counts.total())
        self._prior /= max(1, counts.total())
        self._kinds = self._compare_kinds(known, kinds)
        self._contexts = self._read_contexts()
        self._ranked = self._compare_stems(own, known)
        self._places = self._number([*self._groups], own, lambda place: place.surrogate)
        self._known = self._number(self._candidates, known, lambda place: place.word)

    @staticmethod
    def _compare_stems(
        own: Sequence[_Place], known: Sequence[_Place]
    ) -> list[tuple[dict[int, str], Counter[int], dict[str, float]]]:
        """List the numbered surrogates of each kind, and how often words are expected.

        Known is which words of the other half have a number of that kind, not which.
        """
        names: dict[str, dict[int, str]] = defaultdict(dict)
        printed: dict[str, Counter[int]] = defaultdict(Counter)
        words: dict[str, Counter[str]] = defaultdict(Counter)
        for place in own:
            if (split := split_number(place.surrogate)) is not None:
                names[split[0]][split[1]] = place.surrogate
                printed[split[0]][split[1]] += 1
        for place in known:
            if (split := split_number(place.surrogate)) is not None:
                words[split[0]][place.word] += 1
        ratio = len(own) / max(1, len(known))
        return [
            (names[stem], printed[stem], {w: n * ratio for w, n in words[stem].items()})
            for stem in names
        ]

    def _match_ranks(self) -> dict[str, str]:
        """Find the words of numbered surrogates by the order of the alphabet."""
        return {
            names[number]: word
            for names, printed, words in self._ranked
            for number, word in zip(printed, match_ranks(printed, words), strict=True)
            if word and names[number] in self._groups
        }

    @staticmethod
    def _number(
        names: Sequence[str], places: Sequence[_Place], get: Callable[[_Place], str]
    ) -> Places:
        """Number the surrogates or words of places."""
        numbers = {name: i for i, name in enumerate(names)}
        return Places(
            np.array([place.row for place in places], dtype=np.int64),
            np.array([numbers.get(get(each), -1) for each in places], dtype=np.int64),
        )

    def _compare_kinds(
        self, known: Sequence[_Place], kinds: Mapping[str, str]
    ) -> Floats:
        """Score each word by its class and that of each surrogate, smoothed."""
        of_word = {place.word: place.kind for place in known}
        pairs: Counter[tuple[str, str]] = Counter()
        totals: Counter[str] = Counter()
        for place in known:
            pairs[kinds[place.surrogate], place.kind] += 1
            totals[place.kind] += 1
        number = len(set(kinds.values()))
        scores = np.zeros((len(self._groups), len(self._candidates)))
        own = [of_word[word] for word in self._candidates]
        for row, name in enumerate(self._groups):
            kind = kinds[name]
            rates = {
                each: np.log((pairs[kind, each] + 1 / number) / (totals[each] + 1))
                for each in set(own)
            }
            scores[row] = [rates[each] for each in own]
        return scores

    def _read_contexts(self) -> Floats:
        """Sum what the reader makes of the contexts of each surrogate."""
        scores = np.zeros((len(self._groups), len(self._candidates)))
        ids = {self._reader.get_id(w): i for i, w in enumerate(self._candidates)}
        each = max(1, min(_CONTEXTS, _PLACES // (2 * max(1, len(self._groups)))))
        for row, some in enumerate(self._groups.values()):
            for place in some[:each]:
                found, logs = self._reader.scores(place.row, place.at)
                shares = np.exp(logs - np.logaddexp.reduce(logs))
                chances = np.zeros(len(self._candidates))
                for word, share in zip(found.tolist(), shares.tolist(), strict=True):
                    if word in ids:
                        chances[ids[word]] = share
                ratios = chances / self._prior
                scores[row] += np.log(np.maximum(ratios, WORST)) * len(some) / each
        return scores

    def solve_each_way(self) -> list[dict[str, str]]:
        """Guess the words of surrogates in all ways, always in the same order."""
        found = [self._solve(weight) for weight in _WEIGHTS]
        others = self._match(), self._find_hashed(), self._match_ranks()
        return [*found, *(found[_ELSE] | other for other in others)]

    def _match(self) -> dict[str, str]:
        """Find the words of surrogates by the words in the same rows."""
        if not self._candidates or not self._groups:
            return {}
        groups = tuple(np.zeros(size, dtype=np.int64) for size in self._kinds.shape)
        found = match_words(
            self._places, self._known, (groups[0], groups[1]), self._kinds
        )
        return self._name(found)

    def _find_hashed(self) -> dict[str, str]:
        """Find words by their hashes: known ones, and those of the public list."""
        lists = load_lexicon().words.values()
        public = (word for words in lists for word in words)
        return find_hashed(self._groups, chain(self._candidates, public))

    def _solve(self, weight: float) -> dict[str, str]:
        """Give each surrogate another word, by counts and contexts."""
        if not self._candidates or not self._groups:
            return {}
        sizes = np.array([len(some) for some in self._groups.values()])
        gains = sizes[:, None] * np.log(self._prior) + self._kinds
        gains += weight * self._contexts
        found = assign_words(gains, sizes * np.log(self._unseen))
        return self._name(found)

    def _name(self, words: Weights) -> dict[str, str]:
        """Name the words that are found, by surrogate; below 0 none is."""
        return {
            name: self._candidates[word]
            for name, word in zip(self._groups, words.tolist(), strict=True)
            if word >= 0
        }

    def count_right(self, guesses: Mapping[str, str]) -> dict[str, int]:
        """Count the places of each surrogate whose word is guessed."""
        return {name: self.words[name][word] for name, word in guesses.items()}


def _solve_each(
    places: Sequence[_Place], reader: PublicReader, *, in_rows: bool
) -> Shares:
    """Solve the surrogates of each row apart, or each place if none are alike."""
    groups: dict[Hashable, list[_Place]] = defaultdict(list)
    used = places[:_PLACES]
    for number, place in enumerate(used):
        groups[(place.row, place.surrogate) if in_rows else number].append(place)
    shares = Shares()
    for group in sorted(groups.values(), key=len, reverse=True):
        word = _solve(group, reader, len(used) / len(places))
        hits = sum(reader.get_id(place.word) == word for place in group)
        shares.add(hits, len(group))
    return shares


def _solve(group: Sequence[_Place], reader: PublicReader, share: float) -> int:
    """Find the word that fits all contexts of a surrogate best; -1 if none does.

    The count uses a ``share`` of all places, so it expects that many occurrences.
    """
    totals: dict[int, float] = defaultdict(float)
    some = group[:_CONTEXTS]
    for place in some:
        ids, scores = reader.scores(place.row, place.at)
        scores = scores - np.logaddexp.reduce(scores)
        least = float(scores.min())
        for word, score in zip(ids.tolist(), scores.tolist(), strict=True):
            totals[word] += score - least
    own = {reader.get_id(place.surrogate) for place in some}
    first = group[0]
    expected = reader.compute_expected([*totals], first.row, first.at)
    # As many contexts as are scored count as much as so many occurrences.
    weight = share * len(some) / len(group) if len(group) > 1 else 0.0
    best, found = -np.inf, -1
    for (word, total), times in zip(totals.items(), expected, strict=True):
        score = total - weight * times
        if word not in own and score > best:
            best, found = score, word
    return found
