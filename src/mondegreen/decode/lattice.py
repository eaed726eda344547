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

from mondegreen.arrays import within
from mondegreen.decode.book import Book, Indices
from mondegreen.decode.tables import Singles, Tables


@final
@dataclass(frozen=True, slots=True)
class Lattice:
    """Places of sentences, by steps; see above.

    ``offsets`` says where steps begin; ``words`` and ``channel``, shape (places, K),
    are candidates and their ln P(y | x), ``-inf`` for what is none. For the places
    behind the first step ``scores``, shape (places, K, K), is ln p(second | first);
    rows are the candidates of the place before.
    """

    tables: Tables
    offsets: Indices
    words: NDArray[np.int32]
    channel: Singles
    scores: Singles

    @classmethod
    def of(
        cls, book: Book, law: Singles, lengths: Indices, seen: NDArray[np.int32]
    ) -> Lattice:
        """Lay out sentences of falling lengths, whose observations are in their order.

        ``law`` is that of the book, or one that allows fewer candidates.
        """
        # A sentence of n words has the steps 0 .. n + 1, so step t has the sentences
        # with n >= t - 1: sizes of shape (steps,), which fall, since lengths do.
        sizes = np.searchsorted(-lengths, -np.arange(-1, lengths[0] + 1), side="right")
        offsets = np.concatenate([[0], np.cumsum(sizes)])
        # For each place: its sentence, its step, and whether a word stands there.
        sentence = within(sizes)
        step = np.repeat(np.arange(len(sizes)), sizes)
        is_word = (step > 0) & (step <= lengths[sentence])
        # The place of a word among all words; it counts at places of words alone.
        row = (np.cumsum(lengths) - lengths)[sentence] + step - 1
        observed = np.full(len(step), book.boundary)
        observed[is_word] = seen[row[is_word]]
        before, after = observed[_before(offsets)], observed[sizes[0] :]
        scores = book.scores(before, after)
        words, channel = book.words[observed], law[observed]
        return cls(book.tables, offsets, words, channel, scores)

    @property
    def lengths(self) -> Indices:
        """How many words the sentences have."""
        sizes = np.diff(self.offsets)
        # Sentence s is in the steps of more than s sentences, n + 2 of them.
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

    def prune(self, count: int) -> Lattice:
        """Keep the candidates that lie on the best paths by pairs of words.

        The value of a candidate is that of the best sentence through it, of all that
        the candidates make: Viterbi's algorithm from both sides.
        """
        if count >= self.words.shape[1]:
            return self
        value = self._best_through()
        # (places, count). Stable: of equal values at the end of the list the same ones
        # stay on every machine. Sorted again: the likeliest input by itself stays
        # first, and comes first among sentences that score the same.
        kept = np.argsort(-value, axis=1, kind="stable")[:, :count]
        kept.sort(axis=1)
        before, after = kept[_before(self.offsets)], kept[self.offsets[1] :]
        size = self.words.shape[1]
        # The place of scores[row, before, after] in one flat array, (rows, count,
        # count).
        cell = (np.arange(len(after))[:, None] * size + before) * size
        cell = cell[:, :, None] + after[:, None, :]
        return Lattice(
            self.tables,
            self.offsets,
            np.take_along_axis(self.words, kept, axis=1),
            np.take_along_axis(self.channel, kept, axis=1),
            self.scores.ravel()[cell],
        )

    def _best_through(self) -> Singles:
        # With e = ln P(y | w) and s = ln p(w | v), both of shape (places, K): F_t(w) =
        # e_t(w) + max_v [F_{t-1}(v) + s_t(v, w)], and B_t(v) = max_w [s_{t+1}(v, w) +
        # e_{t+1}(w) + B_{t+1}(w)].
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
        """Score triples, ln p(w | u, v): places from the third step on, (K, K, K)."""
        second, third = self.offsets[1:3].tolist()
        # Rows are places behind the first step. For w at `row`, v is at the row
        # `before` less `second`, and u before that: pairs (u, v) have the shape (rows,
        # K, K).
        row = np.arange(third, self.offsets[-1]) - second
        first = _before(self.offsets)
        before = first[row]
        places = self.tables.pair_places(
            self.words[first][:, :, None], self.words[second:][:, None, :]
        )
        pairs, scores = places[before - second], self.scores[row]
        # A triple was kept only if both of its pairs were.
        is_likely = np.isfinite(self.channel)
        ends = places[row] < self.tables.pairs
        ends &= is_likely[before][:, :, None] & is_likely[third:][:, None, :]
        # ln p(w | u, v) is that of the back-off, ln gamma(u, v) + ln p(w | v), unless
        # the triple was kept. Axes are (row, u, v, w).
        found = self.tables.pair_backoff[pairs][:, :, :, None] + scores[:, None, :, :]
        goes_on = self.tables.continues[pairs]
        place = np.flatnonzero(goes_on[:, :, :, None] & ends[:, None, :, :])
        word = np.broadcast_to(self.words[third:, None, None], found.shape).reshape(-1)
        pair = np.broadcast_to(pairs[:, :, :, None], found.shape).reshape(-1)
        which, kept = self.tables.find_kept_triples(
            pair.take(place, mode="clip"), word.take(place, mode="clip")
        )
        place = place[which]
        flat = found.reshape(-1)
        flat[place] = np.maximum(flat[place], kept)
        return np.asarray(found)


def _before(offsets: Indices) -> Indices:
    """The place before each place behind the first step."""
    sizes = np.diff(offsets)
    return np.repeat(offsets[:-2], sizes[1:]) + within(sizes[1:])
