"""Vickrey by one search for all its settings: noisy points, and the words near them.

The noise of Vickrey does not depend on ``t``, and given a noisy point the chance of
each output is known. So one search serves every ``t``, every number of neighbours and
the printed form, and outputs are counted by their chances instead of being drawn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, final

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from mondegreen.arrays import Floats, Ids, slices
from mondegreen.errors import InvalidParameterError
from mondegreen.mechanisms import mechanism
from mondegreen.mechanisms.base import AbstractMechanism
from mondegreen.mechanisms.noise.vickrey import (
    Vickrey,
    choose_neighbour,
    nearest_words,
)
from mondegreen.scores.held_out import measure_crossed_errors, table_of_runs
from mondegreen.space.space import Space

_ROWS: Final = 256
"""Points whose products with all words are kept at a time: 35 MB at 33,860 words."""

_CACHED: Final = 8
"""Of these so many as stay in the cache of a processor, 1 MB."""

NOISES: Final[Mapping[str, Mapping[str, Any]]] = {
    "Laplace": {},
    "Mahalanobis": {"lambda_": 0.2},
}


@final
@dataclass(frozen=True, slots=True)
class Choice:
    """How one of the words near a noisy point is chosen.

    ``t`` is that of :class:`~mondegreen.mechanisms.noise.vickrey.Vickrey`: a number, or
    a rate for each neighbour. ``is_printed`` leaves the input out, as the paper's
    algorithms do, so that no epsilon holds.
    """

    t: float | tuple[float, ...] = 0.0
    is_printed: bool = False

    def mechanism(self, noise: str, epsilon: float) -> AbstractMechanism:
        """Name the mechanism that chooses so: what it promises is known by it."""
        if self.is_printed:
            return mechanism("vickrey_literal", epsilon=epsilon, t=self.t)
        return mechanism("vickrey", epsilon=epsilon, t=self.t, **NOISES[noise])


SETTINGS: Final[Mapping[str, tuple[str, Choice]]] = {
    "Laplace": ("Laplace", Choice()),
    "Mahalanobis": ("Mahalanobis", Choice()),
    **{f"t={t:g}": ("Laplace", Choice(t)) for t in (0.25, 0.5, 0.75, 1.0)},
    "t=0.5 on Mahalanobis": ("Mahalanobis", Choice(0.5)),
    # Rates so large that all nearer words are out: the last of them is always taken.
    **{
        f"neighbor {k}": ("Laplace", Choice((1e6,) * (k - 1) + (0.0,)))
        for k in (2, 3, 4, 5)
    },
    **{
        f"printed, t={t:g}": ("Laplace", Choice(t, is_printed=True))
        for t in (0.0, 0.25, 0.5, 0.75, 1.0)
    },
}
"""Noise and choice by the name of a curve; one number is the weight of the second."""


@final
@dataclass(frozen=True, slots=True)
class Neighbours:
    """Noisy points of inputs, ``(points,)``, as words near them, ``(points, k)``.

    The points of each input are in both halves of them, so that what an adversary
    learns from one half is asked on the other.
    """

    inputs: Ids
    words: Ids
    distances: Floats
    size: int

    @classmethod
    def of(
        cls,
        space: Space,
        noise: str,
        epsilon: float,
        inputs: Ids,
        rng: Generator,
        k: int = 5,
    ) -> Neighbours:
        """Add noise to each input, and find the k words nearest to the point.

        A choice needs as many as it has neighbours; a printed one needs three.
        """
        state = Vickrey(epsilon=epsilon, **NOISES[noise]).prepare(space)
        found = [
            nearest_words(space, state.search, points, k)
            for points, _ in state.noisy(inputs, rng)
        ]
        words, distances = map(np.concatenate, zip(*found, strict=True))
        return cls(inputs, words, distances, space.vocab_size)

    @classmethod
    def at_each(
        cls,
        space: Space,
        noise: str,
        epsilons: Sequence[float],
        inputs: Ids,
        rng: Generator,
        k: int = 2,
    ) -> dict[float, Neighbours]:
        r"""Do so at several epsilons, with one direction and radius for all of them.

        Noise at epsilon is noise at 1 divided by epsilon. So the products of noise and
        vectors, which take nearly all of the time, are computed once:

        .. math::

            |x + z / \epsilon - v|^2 - |z / \epsilon|^2
                = |x - v|^2 - 2 z \cdot (v - x) / \epsilon

        At each epsilon the law is that of :meth:`of`; between epsilons outputs depend
        on each other, which makes the steps of a curve less random.
        """
        state = Vickrey(epsilon=1.0, **NOISES[noise]).prepare(space)
        order = np.argsort(inputs, kind="stable")  # words alike share their distances
        found = {
            epsilon: (
                np.empty((len(inputs), k), dtype=np.int32),
                np.empty((len(inputs), k)),
            )
            for epsilon in epsilons
        }
        vectors = space.vectors.astype(np.float32)
        for part in slices(len(inputs), _ROWS):
            rows = order[part]
            points = space.points(inputs[rows])
            drawn = state.draw_noise(rng, points.shape)
            along = drawn.astype(np.float32) @ vectors.T
            far = _squared_distances(space, vectors, inputs[rows])
            for epsilon, (words, distances) in found.items():
                near = _nearest(far, along, epsilon, k)
                gaps = points + drawn / epsilon
                gaps = space.vectors[near] - gaps[:, None, :]
                exact = np.sqrt(np.einsum("tkn,tkn->tk", gaps, gaps))
                ranks = np.argsort(exact, axis=1, kind="stable")
                words[rows] = np.take_along_axis(near, ranks, axis=1)
                distances[rows] = np.take_along_axis(exact, ranks, axis=1)
        return {
            epsilon: cls(inputs, words, distances, space.vocab_size)
            for epsilon, (words, distances) in found.items()
        }

    def chances(self, choice: Choice) -> tuple[Ids, Floats]:
        """Give the words that may be released for each point, and their chances."""
        words, distances = (
            self._others() if choice.is_printed else (self.words, self.distances)
        )
        count = len(choice.t) if isinstance(choice.t, tuple) else 2
        law = Vickrey(epsilon=1.0, t=choice.t).chances(distances[:, :count])
        return words[:, :count], law

    def _others(self) -> tuple[Ids, Floats]:
        """The two words nearest to each point that are not its input."""
        is_other = self.words != self.inputs[:, None]
        order = np.argsort(~is_other, axis=1, kind="stable")[:, :2]
        rows = np.arange(len(order))[:, None]
        return self.words[rows, order], self.distances[rows, order]

    def about(self, words: NDArray[np.bool_]) -> Neighbours:
        """The noisy points of some words, ``(V,)``, alone."""
        rows = words[self.inputs]
        own = self.inputs[rows], self.words[rows], self.distances[rows]
        return Neighbours(*own, self.size)

    def released(self, choice: Choice, rng: Generator) -> Ids:
        """Draw the word that is released for each point."""
        words, law = self.chances(choice)
        return choose_neighbour(words, law, rng.random((len(words), 1)))

    def alike(self, choice: Choice, classes: NDArray[Any]) -> Floats:
        """Tell, for each point, the chance of an output of the class of its input."""
        words, law = self.chances(choice)
        same = classes[words] == classes[self.inputs][:, None]
        found: Floats = (same * law).sum(axis=1)
        return found

    def errors(
        self, choice: Choice, prior: Floats | None = None
    ) -> tuple[float, float]:
        """Compute :math:`E_M` and the error of the best guess, each half by the other.

        Runs that are few teach little: where it errs less to take an output at face
        value, the best guess is that.

        ``prior`` is that of the inputs, ``(V,)``, which have as many points each; all
        are as likely if not given.
        """
        halves = np.array_split(np.arange(len(self.inputs)), 2)
        first, second = (np.unique(self.inputs[half]) for half in halves)
        if not np.array_equal(first, second):
            raise InvalidParameterError("inputs", "others", "the same in both halves")
        words, law = self.chances(choice)
        if prior is not None:
            law = law * prior[self.inputs][:, None]
        tables = [
            table_of_runs(
                np.repeat(self.inputs[half], words.shape[1]),
                words[half].ravel(),
                law[half].ravel(),
                self.size,
            )
            for half in halves
        ]
        inference, bayes = measure_crossed_errors(*tables)
        stays = float(np.mean([table.diagonal().sum() for table in tables]))
        return inference, min(bayes, 1 - stays)


def _squared_distances(
    space: Space, vectors: NDArray[np.float32], inputs: Ids
) -> NDArray[np.float32]:
    """Squared distances of inputs to all words, but for a number of each input."""
    some, inverse = np.unique(inputs, return_inverse=True)
    products = space.points(some).astype(np.float32) @ vectors.T
    table: NDArray[np.float32] = (vectors**2).sum(axis=1) - 2 * products
    return table[inverse]


def _nearest(
    far: NDArray[np.float32], along: NDArray[np.float32], epsilon: float, k: int
) -> NDArray[np.intp]:
    """The k words nearest to each noisy point, in any order."""
    found = np.empty((len(far), k), dtype=np.intp)
    for part in slices(len(far), _CACHED):
        table = along[part] * np.float32(-2 / epsilon)
        table += far[part]
        rows = np.arange(len(table))
        for column in found[part].T:
            column[:] = table.argmin(axis=1)
            table[rows, column] = np.inf
    return found
