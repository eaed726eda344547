"""Rows of a known law as float64, from distances where it is a law in a distance."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol, final

import numpy as np
from numpy.typing import NDArray

from mondegreen.arrays import Ids
from mondegreen.mechanisms.base import State
from mondegreen.mechanisms.laws.truncated import ExponentialLaw
from mondegreen.mechanisms.selection.base import SelectionState
from mondegreen.mechanisms.selection.tight import TightLaw
from mondegreen.space.distances import METRICS, distances
from mondegreen.space.space import Space

Floats = NDArray[np.float64]


class Kernel(Protocol):
    """The law of some inputs, as logarithms and as probabilities."""

    @property
    def vocab_size(self) -> int:
        """Number of outputs."""

    @property
    def falls_with_distance(self) -> bool:
        """Whether a closer word is never less likely."""

    @property
    def has_zeros(self) -> bool:
        """Whether an output may be impossible."""

    def rows(self, ids: Ids, gaps: Floats | None) -> tuple[Floats, Floats]:
        """Return log-probabilities (0 at zeros) and probabilities, (rows, V) each."""


@final
class Gaps:
    """Distances from inputs to all words of a space, block by block.

    Parameters
    ----------
    space : Space
        In its own metric; a space of codes alone has no distances.
    """

    def __init__(self, space: Space) -> None:
        self.space = space
        self._is_euclidean = space.has_vectors and space.metric == "euclidean"
        if self._is_euclidean:
            # Words as (y, |y|^2, 1): with (-2x, 1, |x|^2) the product is |x - y|^2.
            # Seen from the centroid, norms and their rounding are smallest.
            self._words = np.ones((space.vocab_size, space.dim + 2))
            words = self._words[:, :-2]
            np.subtract(space.vectors, space.unknown, out=words)
            self._words[:, -2] = np.einsum("ij,ij->i", words, words)
            canonical = space.canonical
            self._has_duplicates = bool((canonical != np.arange(len(canonical))).any())

    def stripes(self, ids: Ids, size: int) -> Iterator[tuple[Ids, Floats | None]]:
        """Yield some inputs at a time with their distances to all words."""
        squared = self._squared(ids) if self._is_euclidean else None
        for start in range(0, len(ids), size):
            part = slice(start, start + size)
            yield ids[part], self._finished(ids[part], squared, part)

    def rows(self, ids: Ids) -> Floats | None:
        """Return distances of inputs (rows) to words, 0 exactly at one point."""
        return next(self.stripes(ids, len(ids)))[1]

    def _squared(self, ids: Ids) -> Floats:
        """Return squared distances, up to rounding."""
        points = self.space.points(ids) - self.space.unknown
        queries = np.ones((len(ids), self.space.dim + 2))
        queries[:, :-2] = -2 * points
        queries[:, -1] = np.einsum("ij,ij->i", points, points)
        return np.asarray(queries @ self._words.T)

    def _finished(self, ids: Ids, squared: Floats | None, part: slice) -> Floats | None:
        """Return distances, from squared ones where there are any; overwrites them."""
        if squared is None:
            if not self.space.has_vectors or self.space.metric not in METRICS:
                return None
            points = self.space.points(ids)
            return distances(self.space.metric, points, self.space.vectors)
        table = squared[part]
        np.maximum(table, 0.0, out=table)
        np.sqrt(table, out=table)
        self._set_zeros(table, ids)
        return table

    def _set_zeros(self, table: Floats, ids: Ids) -> None:
        """Put a word at the very point of the input at distance 0 exactly."""
        if self._has_duplicates:
            canonical = self.space.canonical
            table[canonical[ids][:, None] == canonical[:-1]] = 0.0
        else:
            words = np.flatnonzero(ids < self.space.vocab_size)
            table[words, ids[words]] = 0.0


def kernel_of(state: State, gaps: Gaps) -> Kernel:
    """Return the quickest way to the law of a state.

    Raises
    ------
    LawUnknownError
        If its law has no closed form.
    """
    if isinstance(state, SelectionState) and state.inputs is None:
        if isinstance(state.law, ExponentialLaw):
            return _Exponential(state.law)
        if isinstance(state.law, TightLaw):
            return _Tight(state.law, gaps)
    return _Closed(state)


@final
class _Exponential:
    """exp(-c min(d, g)) over its sum."""

    falls_with_distance, has_zeros = True, False

    def __init__(self, law: ExponentialLaw) -> None:
        self._law = law
        self.vocab_size = law.space.vocab_size

    def rows(self, ids: Ids, gaps: Floats | None) -> tuple[Floats, Floats]:
        assert gaps is not None  # noqa: S101 - these laws are laws in a distance
        logs = np.minimum(gaps, self._law.cutoff)
        logs *= -self._law.rate
        probabilities = np.exp(logs)
        sums = probabilities.sum(axis=1, keepdims=True)
        probabilities /= sums
        logs -= np.log(sums)
        return logs, probabilities


@final
class _Tight:
    """mu_y exp(-c min(d, g)); the unknown word as an output is printed as another."""

    falls_with_distance, has_zeros = False, False

    def __init__(self, law: TightLaw, gaps: Gaps) -> None:
        self._law, self._space = law, law.space
        self.vocab_size = law.space.vocab_size
        self._log_mu = np.log(law.mu)
        unknown = np.array([self.vocab_size], dtype=np.int32)
        row = gaps.rows(unknown)
        assert row is not None  # noqa: S101 - this law is a law in a distance
        self._printed = int(row[0].argmin())

    def rows(self, ids: Ids, gaps: Floats | None) -> tuple[Floats, Floats]:
        assert gaps is not None  # noqa: S101 - this law is a law in a distance
        law, space = self._law, self._space
        logs = np.minimum(gaps, law.cutoff)
        logs *= -law.rate
        logs += self._log_mu[:-1]
        away = distances(space.metric, space.unknown[None], space.points(ids))[0]
        extra = self._log_mu[-1] - law.rate * np.minimum(away, law.cutoff)
        logs[:, self._printed] = np.logaddexp(logs[:, self._printed], extra)
        return logs, np.exp(logs)


@final
class _Closed:
    """Any law that the state itself can tell."""

    falls_with_distance, has_zeros = False, True

    def __init__(self, state: State) -> None:
        self._state = state
        self.vocab_size = state.space.vocab_size

    def rows(self, ids: Ids, gaps: Floats | None) -> tuple[Floats, Floats]:
        logs = self._state.log_prob(ids)
        probabilities = np.exp(logs)
        logs[probabilities == 0] = 0.0
        return logs, probabilities
