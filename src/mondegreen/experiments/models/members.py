"""Classifiers that know their texts by heart, and shadow models of such."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from mondegreen.arrays import Floats
from mondegreen.attacks.learnt import membership
from mondegreen.experiments.bench import Labelled
from mondegreen.experiments.models.classifiers import BagOfNgrams, fitted
from mondegreen.experiments.models.training import Training

Tell = Callable[[Labelled], Floats]
Change = Callable[[Labelled], Labelled]


class Shadows(NamedTuple):
    """Features of members of shadow models, and of others; a model each."""

    members: Sequence[Floats]
    others: Sequence[Floats]


class Ratios(NamedTuple):
    """Confidences, (models, texts), and which texts each model was trained on."""

    confidences: Floats
    chosen: NDArray[np.bool_]


@final
@dataclass(frozen=True)
class Learner:
    """A bag of n-grams that is trained on texts until it knows them.

    ``size`` is the number of words, the unknown one included; ``words`` those of a
    text that are read.
    """

    size: int
    epochs: int
    words: int

    def model(self, texts: Labelled, rng: Generator) -> Tell:
        """Train on texts as they are given; the model tells classes of others."""
        training = Training(self.epochs, rate=1e-2, longest=self.words)
        return fitted(self._built, texts, None, int(rng.integers(1 << 31)), training)

    def _built(self, classes: int) -> BagOfNgrams:
        return BagOfNgrams(self.size, classes, dim=16, buckets=1 << 12)

    def shadows(
        self,
        texts: Labelled,
        asked: Sequence[Labelled],
        models: int,
        change: Change,
        rng: Generator,
    ) -> list[Shadows]:
        """Train shadow models on changed halves of texts, and ask about all of them.

        ``asked`` are the texts in the forms that they are asked in; for each there are
        features.
        """
        found = [Shadows([], []) for _ in asked]
        for _ in range(models):
            order = rng.permutation(len(texts))
            mine, rest = np.array_split(order, 2)
            model = self.model(change(texts.at(mine)), rng)
            for (members, others), form in zip(found, asked, strict=True):
                told = membership.features(model(form), form.labels)
                members.append(told[mine])
                others.append(told[rest])
        return found

    def ratios(
        self,
        texts: Labelled,
        asked: Sequence[Labelled],
        models: int,
        change: Change,
        rng: Generator,
    ) -> list[Ratios]:
        """Train on halves of texts so that each is in half of the models, and ask."""
        chosen = membership.halves(len(texts), models, rng)
        found: list[list[Floats]] = [[] for _ in asked]
        for rows in chosen:
            model = self.model(change(texts.at(np.flatnonzero(rows))), rng)
            for told, form in zip(found, asked, strict=True):
                told.append(membership.confidence(model(form), form.labels))
        return [Ratios(np.stack(each), chosen) for each in found]
