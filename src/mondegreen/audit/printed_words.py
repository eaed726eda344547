"""Statistical audits of printed words: what texts of one word become."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, combinations, pairwise, zip_longest
from typing import ClassVar, Final, final

import numpy as np
from numpy.typing import NDArray

from mondegreen.arrays import Weights
from mondegreen.audit.report import Evidence, Finding
from mondegreen.audit.statistical import (
    Counts,
    Covered,
    Input,
    cover_all,
    describe_excess,
    find_excess,
)
from mondegreen.audit.target import UNKNOWN_WORDS
from mondegreen.errors import MondegreenError
from mondegreen.mechanisms.symbols.response import ResponseState
from mondegreen.policy.lookup import PolicyLookup
from mondegreen.policy.policy import Policy
from mondegreen.policy.printing import PolicyPrinter
from mondegreen.policy.scope import PlaceScope
from mondegreen.privatizer.release import draw
from mondegreen.sampling.noise import Batch, NoiseSource
from mondegreen.wording import amount

_LINES: Final = 10_000
"""Lines of one text, each the same word."""

_TRIED: Final = 400
"""Public words of each kind that pairs are chosen from."""

_INVENTED: Final = (*UNKNOWN_WORDS[:2], "Qzmeisenbacher", "Vrondelfrix")
"""Unknown words, and unknown names."""


@final
class DrawnNoise:
    """Hands out one generator, so that a seed repeats an audit."""

    is_secret: ClassVar[bool] = False

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng

    def describe(self) -> str:
        return "a generator of the audit"

    def streams(self, batch: Batch) -> Iterator[tuple[range, np.random.Generator]]:
        yield range(len(batch.texts)), self._rng


@final
class PrintedWords:
    """Counts what is printed for a word, on the way that every text goes.

    A text holds the same word on each of its lines, so that each line is one run.
    """

    def __init__(
        self, state: ResponseState, policy: Policy, noise: NoiseSource
    ) -> None:
        self._state, self._policy, self._noise = state, policy, noise
        self._lookup, self._printer = PolicyLookup(policy), PolicyPrinter(policy)
        self._outputs: dict[str, int] = {}  # in the order they were seen
        self._names: list[str] = []
        self.drawn: dict[Input, list[Counts]] = {}
        """Counts of the symbols of all runs of each input, in their order."""

    def counts(self, given: Input, runs: int) -> Counts:
        found = np.zeros(len(self._outputs), dtype=np.int64)
        symbols = np.zeros(self._policy.alphabet.size, dtype=np.int64)
        for start in range(0, runs, _LINES):
            printed, codes = self._print(given[1], min(_LINES, runs - start))
            places = [
                self._outputs.setdefault(each, len(self._outputs)) for each in printed
            ]
            found = np.pad(found, (0, len(self._outputs) - len(found)))
            found += np.bincount(places, minlength=len(found))
            own = np.searchsorted(self._policy.first, codes, side="right") - 1
            symbols += np.bincount(own, minlength=len(symbols))
        self.drawn.setdefault(given, []).append(symbols)
        return found

    def name(self, output: int) -> str:
        if len(self._names) < len(self._outputs):
            self._names = list(self._outputs)
        return self._names[output]

    def find_symbol(self, word: str) -> int | None:
        """The symbol of a word on a line of its own; None for what is no such word.

        A guarantee compares texts of one structure, so a part of the word must not be
        structure.
        """
        batch = self._lookup.cut(["\n".join([word] * 3)])
        symbols = set(self._lookup.codes(batch).tolist())
        is_one = batch.words() == [word] * 3 and len(symbols) == 1
        return symbols.pop() if is_one else None

    def shows_group(self, outputs: int) -> NDArray[np.bool_]:
        """Tell which of the first outputs are printed for sensitive words."""
        batch = self._lookup.cut(list(self._outputs)[:outputs])
        symbols = self._lookup.print_codes(batch)
        found = np.zeros(outputs, dtype=np.bool_)
        begins = np.cumsum([0, *batch.counts()])[:-1]
        has_word = np.array(batch.counts()) > 0
        found[has_word] = self._policy.alphabet.is_group(symbols[begins[has_word]])
        return found

    def _print(self, word: str, lines: int) -> tuple[list[str], Weights]:
        batch = Batch(0, b"", ["\n".join([word] * lines)])
        scope = PlaceScope(self._policy)
        tokens, codes = draw(self._state, self._lookup, self._noise, batch, scope)
        (text,) = self._printer.join(tokens, codes)
        printed = (text or "").split("\n")
        if len(printed) != lines or len(codes) != lines:
            raise MondegreenError("a text was printed with another number of lines")
        return printed, codes.astype(np.int64)


def choose_words(
    printed: PrintedWords, policy: Policy, rng: np.random.Generator
) -> Iterator[tuple[tuple[int, int], tuple[str, str]]]:
    """Choose pairs of public words and their symbols, of all kinds in turn.

    Words of one group, the smallest groups first; numbers of one format; unknown
    words; then words of two groups, numbers and words, ordinary words.
    """
    first, sizes = policy.first.tolist(), policy.sizes.tolist()
    ends = [
        (policy.print(first[symbol]), policy.print(first[symbol] + sizes[symbol] - 1))
        for symbol in range(len(policy.ordinary), policy.alphabet.size)
    ]
    groups, formats = ends[: len(policy.groups)], ends[len(policy.groups) :]
    order = np.argsort(sizes[len(policy.ordinary) :][: len(groups)], kind="stable")
    smallest = [groups[i] for i in order.tolist()]
    members = [one for one, _ in groups]
    numbers = [one for one, _ in formats]
    ordinary = list(policy.words[: len(policy.ordinary)])
    for some in (members, numbers, formats, ordinary):
        rng.shuffle(some)
    kinds: list[Iterable[tuple[str, str]]] = [
        smallest,
        formats,
        combinations(_INVENTED, 2),
        pairwise(members),
        zip(members, numbers, strict=False),
        zip(ordinary, members, strict=False),
        pairwise(ordinary[:_TRIED]),
    ]
    for two in dict.fromkeys(filter(None, chain.from_iterable(zip_longest(*kinds)))):
        one, other = (printed.find_symbol(word) for word in two)
        if one is not None and other is not None:
            yield (one, other), two


def find_lookup_break(policy: Policy) -> Finding | None:
    """Look up all words of groups, as printed and in small letters, each by itself."""
    lookup, first, wrong = PolicyLookup(policy), len(policy.ordinary), []
    for symbol, group in enumerate(policy.groups, start=first):
        spelled = [*group.words, *map(str.lower, group.words)]
        batch = lookup.cut(spelled)
        texts = np.repeat(np.arange(len(spelled)), batch.counts())
        others = np.unique(texts[lookup.codes(batch) != symbol])
        wrong += [spelled[i] for i in others.tolist()]
    if not wrong:
        return None
    more = f" and {amount(len(wrong) - 1, 'other')}" if len(wrong) > 1 else ""
    return Finding("lookup", True, f"{wrong[0]!r}{more}: not of the group they hide in")


def cover_groups(
    printed: PrintedWords, policy: Policy, *, with_ordinary: bool
) -> Covered:
    """Say which outputs of a pair the claim covers: all, or those of groups alone."""

    def covered(pair: Evidence, outputs: int) -> NDArray[np.bool_]:
        is_sensitive = min(pair.ids) >= len(policy.ordinary)
        if with_ordinary or is_sensitive:
            return cover_all(pair, outputs)
        return printed.shows_group(outputs)

    return covered


def compare_symbols(
    printed: PrintedWords, state: ResponseState, names: Sequence[str], alpha: float
) -> list[Finding]:
    """Compare the symbols of all words that were printed with the law of each."""
    found = []
    for (symbol, word), parts in printed.drawn.items():
        law = np.exp(state.log_prob(np.array([symbol], dtype=np.int32))[0])
        excess = find_excess(parts, law, alpha / len(printed.drawn))
        if excess is not None:
            text = f"{word!r} gives {describe_excess(excess, names.__getitem__)}"
            found.append(Finding("printed words", True, text))
    return found
