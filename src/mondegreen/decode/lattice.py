r"""Sentences side by side, with the few words that each place may have held.

Sentences are laid out by steps: all their boundaries, all their first words, ..., the
longest sentence first, so that the sentences that go on are always the first ones. A
step of all sentences is then one operation on arrays, on neighbouring memory.

A sentence of n words has n + 2 places: both its ends are the boundary. The place after
the last word of a shorter sentence is its end.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from mondegreen.decode.tables import Singles, Tables

Indices = NDArray[np.int64]


@final
@dataclass(frozen=True, slots=True)
class Lattice:
    """Places of sentences, by steps; see above.

    ``offsets`` says where steps begin; ``words`` and ``channel``, shape (places, K),
    are candidates and their ln P(y | x), ``-inf`` for what is none. For the places
    behind the first step: ``pairs`` and ``scores``, shape (places, K, K), are the
    numbers of pairs in the tables and ln p(second | first); rows are the candidates of
    the place before.
    """

    tables: Tables
    offsets: Indices
    words: NDArray[np.int32]
    channel: Singles
    pairs: NDArray[np.int32]
    scores: Singles

    @classmethod
    def of(
        cls,
        tables: Tables,
        lengths: Indices,
        words: NDArray[np.int32],
        channel: Singles,
    ) -> Lattice:
        """Lay out sentences of falling lengths; rows of words are in their order."""
        sizes = np.searchsorted(-lengths, -np.arange(-1, lengths[0] + 1), side="right")
        offsets = np.concatenate([[0], np.cumsum(sizes)])
        sentence = _within(sizes)
        step = np.repeat(np.arange(len(sizes)), sizes)
        is_word = (step > 0) & (step <= lengths[sentence])
        row = (np.cumsum(lengths) - lengths)[sentence] + step - 1
        count = words.shape[1]
        own = np.full((len(step), count), tables.end, dtype=np.int32)
        own[is_word] = words[row[is_word]]
        given = np.full((len(step), count), -np.inf, dtype=np.float32)
        given[~is_word, 0] = 0.0
        given[is_word] = channel[row[is_word]]
        before = own[_before(offsets)][:, :, None]
        after = own[sizes[0] :][:, None, :]
        pairs = tables.pair_places(before, after)
        scores = tables.pair_scores(pairs, before, after)
        return cls(tables, offsets, own, given, pairs, scores)

    @property
    def lengths(self) -> Indices:
        """How many words the sentences have."""
        sizes = np.diff(self.offsets)
        return np.searchsorted(-sizes, -np.arange(1, sizes[0] + 1), side="right") - 2

    def steps(self) -> Iterator[tuple[slice, slice, slice]]:
        """For each step: its places, those before them, and its rows of ``pairs``."""
        first = int(self.offsets[1])
        for start, stop, last in zip(
            self.offsets[1:-1].tolist(),
            self.offsets[2:].tolist(),
            self.offsets[:-2].tolist(),
            strict=True,
        ):
            yield (
                slice(start, stop),
                slice(last, last + stop - start),
                slice(start - first, stop - first),
            )

    def pruned(self, count: int) -> Lattice:
        """Keep the candidates that lie on the best paths by pairs of words.

        The value of a candidate is that of the best sentence through it, of all that
        the candidates make: Viterbi's algorithm from both sides.
        """
        if count >= self.words.shape[1]:
            return self
        value = self._best_through()
        kept = np.argpartition(-value, count - 1, axis=1)[:, :count]
        kept.sort(axis=1)
        before, after = kept[_before(self.offsets)], kept[self.offsets[1] :]
        place = np.arange(len(after))[:, None, None]
        both = place, before[:, :, None], after[:, None, :]
        return Lattice(
            self.tables,
            self.offsets,
            np.take_along_axis(self.words, kept, axis=1),
            np.take_along_axis(self.channel, kept, axis=1),
            self.pairs[both],
            self.scores[both],
        )

    def _best_through(self) -> Singles:
        forward, backward = self.channel.copy(), np.zeros_like(self.channel)
        steps = list(self.steps())
        for now, before, row in steps:
            paths = forward[before][:, :, None] + self.scores[row]
            forward[now] += paths.max(axis=1)
        for now, before, row in reversed(steps):
            onward = (self.channel[now] + backward[now])[:, None, :]
            backward[before] = (self.scores[row] + onward).max(axis=2)
        total: Singles = forward + backward
        return total

    def triples(self) -> Singles:
        """ln p(w | u, v) for places from the third step on, shape (places, K, K, K)."""
        first, second, third = self.offsets[:3].tolist()
        row = np.arange(third, self.offsets[-1]) - second
        last = _before(self.offsets)[row] - second
        pairs, scores = self.pairs[last], self.scores[row]
        found = self.tables.pair_backoff[pairs][:, :, :, None] + scores[:, None, :, :]
        # A triple was kept only if both of its pairs were.
        likely = np.isfinite(self.channel)
        now = likely[third:][:, None, None, :] & likely[_before(self.offsets)[row]][
            :, None, :, None
        ]
        asked = self.tables.continues[pairs][:, :, :, None] & now
        asked &= (self.pairs[row] < self.tables.pairs)[:, None, :, :]
        place, u, v, w = np.nonzero(asked)
        kept = self.tables.triple_scores(
            pairs[place, u, v], self.words[third:][place, w]
        )
        found[place, u, v, w] = np.maximum(found[place, u, v, w], kept)
        return found


def _within(sizes: Indices) -> Indices:
    """0, 1, ... for each step anew."""
    return np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)


def _before(offsets: Indices) -> Indices:
    """The place before each place behind the first step."""
    sizes = np.diff(offsets)
    return np.repeat(offsets[:-2], sizes[1:]) + _within(sizes[1:])
