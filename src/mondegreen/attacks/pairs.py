"""The words of texts and what was released for them, as integers, side by side."""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from mondegreen.arrays import Floats, Ids, Weights
from mondegreen.attacks.attack import by_texts
from mondegreen.attacks.outputs import pass_over
from mondegreen.errors import ConfigurationError
from mondegreen.mechanisms.base import State
from mondegreen.mechanisms.symbols.response import ResponseState
from mondegreen.policy.lookup import PolicyLookup
from mondegreen.scores.interval import Ends
from mondegreen.text.lookup import Lookup
from mondegreen.text.print_forms import as_released
from mondegreen.text.sentences import find_ends
from mondegreen.text.tokenizer import APOSTROPHES, TokenizedBatch, canonical

_LEAST: Final = 0.5
"""Share of the texts that must be aligned, or else their words are not compared."""

_GENITIVES: Final = {sign + s for sign in APOSTROPHES for s in "sS"}

_NATS: Final = 0.25
_SHARE: Final = 0.05
_DEVIATIONS: Final = 6.0
"""How far released words may be from what a law expects of them."""


@final
@dataclass(frozen=True, slots=True, repr=False)
class Pairs:
    """Texts with their released words, one for each word, as ids.

    ``inputs`` and ``released`` are flat, shape (words,); ``starts`` says where each
    text begins, and ends with the number of words. ``ends`` tells where a sentence
    ends. ``structures`` and ``shapes`` number what passes unchanged of each original
    and of each release: equal where that is equal. Where ``released`` is None, the two
    cannot be compared word by word. ``texts_alike`` numbers the originals: equal where
    all words are equal.
    """

    inputs: Ids
    starts: Weights
    ends: NDArray[np.bool_]
    structures: Weights
    released: Ids | None = None
    shapes: Weights = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    printed: Ids | None = None  # words of a release that were not drawn, but decoded
    left_out: int = 0  # texts whose release has other words or signs
    chosen: NDArray[np.bool_] | None = None  # which of the given texts are here
    texts_alike: Weights = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    @property
    def texts(self) -> int:
        return len(self.starts) - 1

    @property
    def counts(self) -> Weights:
        """Words of each text."""
        return np.asarray(np.diff(self.starts), dtype=np.int64)

    @property
    def outputs(self) -> Ids:
        """Released words; ConfigurationError where they are not at hand."""
        if self.released is None:
            raise ConfigurationError(
                "the words of RELEASE do not match the words of SAMPLE. Give the "
                "sampled words (--read none), in the order of SAMPLE, with "
                "--structure keep"
            )
        return self.released

    def interval(self, hits: Floats | NDArray[np.bool_]) -> Ends:
        """Bound the mean of a number for each word, by texts, 95 %.

        Parameters
        ----------
        hits : array, shape (words,)
            A number, or whether the attack succeeded, for each word.

        Returns
        -------
        tuple of two float
            Ends of the interval.
        """
        owners = np.repeat(np.arange(self.texts), self.counts)
        sums: Floats = np.bincount(owners, hits, self.texts).astype(np.float64)
        return by_texts(sums, self.counts)

    def as_printed(self) -> Pairs:
        """Take released words for what they are: printed, and not what was drawn.

        Returns
        -------
        Pairs
            A copy whose released words are those that are printed.
        """
        return replace(self, released=None, printed=self.released)

    def sample(self, state: State, rng: np.random.Generator) -> Pairs:
        """Draw a release.

        Parameters
        ----------
        state : State
            The law.
        rng : numpy.random.Generator
            Source of noise.

        Returns
        -------
        Pairs
            A copy with released words.
        """
        released = state.sample(self.inputs, rng)
        return replace(self, released=released, shapes=self.structures)

    def some(self, words: int) -> Pairs:
        """Take texts at equal distances, of about so many words in all.

        Parameters
        ----------
        words : int
            How many words, about.

        Returns
        -------
        Pairs
            Whole texts.
        """
        return self.every(max(1, round(len(self.inputs) / words)))

    def every(self, step: int, first: int = 0) -> Pairs:
        """Take every so many texts, from one of the first on.

        Parameters
        ----------
        step : int
            Distance between two texts that are taken.
        first : int
            Number of the first text.

        Returns
        -------
        Pairs
            Whole texts.
        """
        chosen = np.zeros(self.texts, dtype=np.bool_)
        chosen[first::step] = True
        words = np.repeat(chosen, self.counts)
        shapes = self.shapes[chosen] if len(self.shapes) else self.shapes
        return replace(
            self,
            inputs=self.inputs[words],
            starts=np.append(0, np.cumsum(self.counts[chosen])),
            ends=self.ends[words],
            structures=self.structures[chosen],
            released=None if self.released is None else self.released[words],
            shapes=shapes,
            texts_alike=self.find_alike()[chosen],
        )

    def join(self, rows: Sequence[int]) -> Pairs:
        """Join the texts of each row to one.

        Parameters
        ----------
        rows : sequence of int, shape (texts,)
            The row of each text; those of a row follow each other.

        Returns
        -------
        Pairs
            The same words, in as many texts as there are rows.
        """
        numbers = np.asarray(rows, dtype=np.int64)
        begins = np.flatnonzero(np.diff(numbers, prepend=-1))
        pieces = np.split(np.arange(self.texts), begins[1:])

        def number(values: Weights, known: dict[tuple[int, ...], int]) -> Weights:
            keys = [tuple(values[piece].tolist()) for piece in pieces]
            found = [known.setdefault(key, len(known)) for key in keys]
            return np.array(found, dtype=np.int64)

        structures: dict[tuple[int, ...], int] = {}
        return replace(
            self,
            starts=np.append(self.starts[begins], self.starts[-1]),
            structures=number(self.structures, structures),
            shapes=number(self.shapes, structures) if len(self.shapes) else self.shapes,
            texts_alike=number(self.find_alike(), {}),
            chosen=None,
        )

    def find_alike(self) -> Weights:
        """Number the originals, those with equal words alike.

        Returns
        -------
        int64 array, shape (texts,)
            ``texts_alike``; without them, no two originals are equal.
        """
        return self.texts_alike if len(self.texts_alike) else np.arange(self.texts)

    def frequencies(self, size: int) -> Weights:
        """Count the inputs, shape (size,).

        Parameters
        ----------
        size : int
            Number of inputs, the unknown word included.

        Returns
        -------
        int64 array, shape (size,)
            Counts.
        """
        return np.bincount(self.inputs, minlength=size)

    def __repr__(self) -> str:
        return f"Pairs(texts={self.texts}, words={len(self.inputs)})"


def build_pairs(
    texts: Sequence[str],
    lookup: Lookup | PolicyLookup,
    releases: Sequence[str] | None = None,
) -> Pairs:
    """Read texts and, if they are at hand, their releases; errors quote no text.

    A release is aligned with its text if it has the same structure and known words. The
    words of other texts are left out; where these are most, so are all words. With the
    lookup of a policy all numbers are symbols, of inputs and of outputs.

    Parameters
    ----------
    texts : sequence of str
    lookup : Lookup
        Of the space of the mechanism.
    releases : sequence of str, optional
        In the order of the texts; see :meth:`Pairs.sample` otherwise.

    Returns
    -------
    Pairs

    Examples
    --------
    >>> from mondegreen.space.space import Space
    >>> space = Space.from_arrays("line", ["cold", "cool", "warm"], [[0], [1], [3]])
    >>> pairs = build_pairs(["Cold or warm?"], Lookup(space), ["cold cool warm?"])
    >>> pairs.inputs.tolist(), pairs.released.tolist()
    ([0, 3, 2], [0, 1, 2])
    """
    batch = lookup.cut(texts)
    known: dict[tuple[str, ...], int] = {}
    if releases is None:
        return _read(batch, lookup, known)
    printed = lookup.cut(releases).parts
    if isinstance(lookup, PolicyLookup):
        other, read = TokenizedBatch(printed), lookup.print_codes
    else:
        other = TokenizedBatch([parts and as_released(parts) for parts in printed])
        read = lookup.codes
    structures, shapes = _count_pairs(batch, known), _count_pairs(other, known)
    fits = structures == shapes
    if isinstance(lookup, Lookup):
        fits &= _are_known(other, lookup)
    if fits.mean() < _LEAST:
        found = _read(batch, lookup, known)
        return replace(found, shapes=shapes, left_out=len(fits))
    chosen = _read(_some(batch, fits), lookup, known)
    return replace(
        chosen,
        released=read(_some(other, fits)),
        shapes=shapes[fits],
        left_out=int((~fits).sum()),
        chosen=fits,
    )


def _are_known(batch: TokenizedBatch, lookup: Lookup) -> NDArray[np.bool_]:
    """Tell which texts have words of the space alone."""
    counts = np.array(batch.counts(), dtype=np.int64)
    owners = np.repeat(np.arange(len(counts)), counts)
    unknown = lookup.codes(batch) == lookup.vocab_size
    return np.asarray(np.bincount(owners[unknown], minlength=len(counts)) == 0)


def _read(
    batch: TokenizedBatch,
    lookup: Lookup | PolicyLookup,
    known: dict[tuple[str, ...], int],
) -> Pairs:
    counts = np.array(batch.counts(), dtype=np.int64)
    starts = np.append(0, np.cumsum(counts))
    return Pairs(
        lookup.codes(batch),
        starts,
        find_ends(batch),
        _count_pairs(batch, known),
        texts_alike=_number_texts(batch),
    )


def _number_texts(batch: TokenizedBatch) -> Weights:
    """Number texts, those with equal words alike."""
    known: dict[tuple[str, ...], int] = {}
    keys = [tuple(map(canonical, (parts or ())[1::2])) for parts in batch.parts]
    return np.array([known.setdefault(key, len(known)) for key in keys], dtype=np.int64)


def _count_pairs(batch: TokenizedBatch, known: dict[tuple[str, ...], int]) -> Weights:
    """Number the structures of texts, equal ones alike."""
    keys = [tuple(map(_plain, parts[::2])) if parts else () for parts in batch.parts]
    return np.array([known.setdefault(key, len(known)) for key in keys], dtype=np.int64)


def _plain(gap: str) -> str:
    """Write a gap as a release has it: words never touch, and some have no 's."""
    return (gap[2:] if gap[:2] in _GENITIVES else gap) or " "


def _some(batch: TokenizedBatch, chosen: NDArray[np.bool_]) -> TokenizedBatch:
    pairs = zip(batch.parts, chosen.tolist(), strict=True)
    return TokenizedBatch([parts for parts, is_in in pairs if is_in])


def looks_drawn(state: State, pairs: Pairs) -> bool:
    r"""Compare released words with what a closed law expects of them.

    By the mean of :math:`\ln P(y \mid x)` and the share of words that stay: False where
    either is farther from its expectation than chance explains, six deviations, and
    than matters, 0.25 nats or 0.05. So are the words of a release that was decoded, or
    drawn with another epsilon. Of randomized response over symbols the share that stays
    says all.
    """
    inputs, outputs = pairs.inputs, pairs.outputs
    if isinstance(state, ResponseState):
        cells = state.alphabet.cells  # an amount rarely keeps its cell
        is_kept = (inputs < cells.start) | (inputs >= cells.stop)
        inputs, outputs = inputs[is_kept], outputs[is_kept]
        chances = state.response.kept_by(inputs)
        spread = math.sqrt(float(chances @ (1 - chances))) / max(1, len(inputs))
        gap = abs(float((inputs == outputs).mean() - chances.mean()))
        return gap <= _SHARE + _DEVIATIONS * spread
    order = np.argsort(inputs, kind="stable")
    distinct, counts = np.unique(inputs, return_counts=True)
    edges = np.append(0, np.cumsum(counts))
    sums, lock = np.zeros(5), threading.Lock()

    def add(block: Ids, logs: Floats, law: Floats) -> None:
        means = np.einsum("ij,ij->i", law, logs)
        squares = np.einsum("ij,ij->i", law, logs**2)
        first = int(np.searchsorted(distinct, block[0]))
        many = counts[first : first + len(block)]
        mine = order[edges[first] : edges[first + len(block)]]
        rows = np.repeat(np.arange(len(block)), many)
        stay = np.zeros(len(block))
        known = np.flatnonzero(block < state.output_count)
        stay[known] = law[known, block[known]]
        seen = logs[rows, outputs[mine]].sum() - many @ means
        kept = np.count_nonzero(inputs[mine] == outputs[mine]) - many @ stay
        spread = many @ np.maximum(squares - means**2, 0.0)
        with lock:
            sums[:] += seen, spread, kept, many @ (stay * (1 - stay)), many.sum()

    pass_over(state, distinct.astype(np.int32), add)
    gap, spread, kept, of_stay, words = sums.tolist()
    likely = abs(gap) / words <= _NATS + _DEVIATIONS * np.sqrt(spread) / words
    return bool(
        likely and abs(kept) / words <= _SHARE + _DEVIATIONS * np.sqrt(of_stay) / words
    )
