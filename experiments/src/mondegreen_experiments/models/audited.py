"""Language models that learned from users, some of a set and not others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from mondegreen.arrays import Ids
from mondegreen_experiments.bench import Labelled
from mondegreen_experiments.models.next_word import next_word_ranks
from mondegreen_experiments.models.training import Training

Ranks = Callable[[Labelled], list[Ids]]
"""From users to the ranks of their words under a model, one array each."""

Change = Callable[[Labelled], Labelled]
"""What changes texts before a model learns from them, or is asked about them."""


@final
@dataclass(frozen=True)
class Audited:
    """A model, the users that it may have learned from, and those that it did.

    ``learned`` holds their texts as the model saw them.
    """

    ranks: Ranks
    users: Labelled
    member: NDArray[np.bool_]
    learned: Labelled


@final
@dataclass(frozen=True, eq=False)
class Auditing:
    """How models that are audited are trained.

    Parameters
    ----------
    place : int32 array, shape (words,)
        The place of each word among the ``known`` that a model tells; ``known`` for
        the others, which get no ranks.
    users : int
        Users that a model learns from, of twice as many.
    dim : int
        Size of the model's vectors and of its state.
    """

    place: Ids
    known: int
    users: int
    dim: int
    training: Training

    def model(self, texts: Labelled, change: Change, rng: Generator) -> Audited:
        """Draw users, change the texts of half of them, and train on these."""
        users = texts.drawn(2 * self.users, rng)
        member = rng.permutation(np.arange(len(users)) % 2 == 0)
        learned = change(users.at(np.flatnonzero(member)))
        told = next_word_ranks(
            [self.place[each] for each in learned.words],
            self.known + 1,
            int(rng.integers(1 << 31)),
            self.training,
            self.dim,
        )

        def ranks(asked: Labelled) -> list[Ids]:
            words = [self.place[each] for each in asked.words]
            return [
                found[own[1:] < self.known]
                for found, own in zip(told(words), words, strict=True)
            ]

        return Audited(ranks, users, member, learned)

    def shadows(
        self, texts: Labelled, models: int, change: Change, ask: Change, rng: Generator
    ) -> tuple[Sequence[Ids], Sequence[Ids]]:
        """Ranks of members of shadow models, and of others."""
        found: tuple[list[Ids], list[Ids]] = ([], [])
        for _ in range(models):
            model = self.model(texts, change, rng)
            for ranks, member in zip(
                model.ranks(ask(model.users)), model.member, strict=True
            ):
                found[0 if member else 1].append(ranks)
        return found


def most_frequent(texts: Labelled, size: int, known: int) -> Ids:
    """The place of each of ``size`` words among the ``known`` most frequent ones.

    It has one place more, for the unknown word; ``known`` stands for all others.
    """
    counts = np.bincount(texts.flat, minlength=size + 1)[:size]
    place = np.full(size + 1, known, dtype=np.int32)
    most = np.argsort(-counts, kind="stable")[:known]
    place[most] = np.arange(len(most))
    return place
