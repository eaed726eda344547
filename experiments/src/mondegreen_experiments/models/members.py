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
from mondegreen_experiments.bench import Labelled
from mondegreen_experiments.models.classifiers import BagOfNgrams, fitted
from mondegreen_experiments.models.training import Training

Tell = Callable[[Labelled], Floats]
"""What a model says of texts, (texts, classes)."""

Change = Callable[[Labelled], Labelled]
"""What changes texts before a model learns from them."""


class Adversary(NamedTuple):
    """What shadow models taught: Shokri's attack, and the likelihood ratio.

    ``members`` and ``others`` are features, of each shadow model, of texts that it was
    trained on and not; ``confidences``, (models, texts), are those of models that
    ``chosen`` says were trained on which of the texts that are asked about.
    """

    members: Sequence[Floats]
    others: Sequence[Floats]
    confidences: Floats
    chosen: NDArray[np.bool_]

    def scores(self, told: Floats, texts: Labelled, seed: int) -> dict[str, Floats]:
        """Score texts by what the target says of them: the larger, the likelier in."""
        features = membership.features(told, texts.labels)
        confidence = membership.confidence(told, texts.labels)
        return {
            "shadow": membership.by_shadow_models(
                self.members, self.others, features, seed
            ),
            "ratio": membership.by_likelihood_ratio(
                self.confidences, self.chosen, confidence
            ),
        }


@final
@dataclass(frozen=True)
class Learner:
    """A bag of n-grams that is trained on texts until it knows them.

    Parameters
    ----------
    size : int
        Number of words, the unknown one included.
    words : int
        Words of a text that are read.
    models, shadows : int
        Models that an adversary trains for the likelihood ratio, an even number, and
        for Shokri's attack.
    sparse : int
        1 to update only the vectors of the words of a batch (lazy Adam), which is much
        faster where there are many words; else 0.
    """

    size: int
    words: int
    epochs: int
    models: int
    shadows: int
    sparse: int = 0

    def model(self, texts: Labelled, rng: Generator) -> Tell:
        """Train on texts as they are given; the model tells classes of others."""
        training = Training(self.epochs, rate=1e-2, longest=self.words)
        return fitted(self._built, texts, None, int(rng.integers(1 << 31)), training)

    def _built(self, classes: int) -> BagOfNgrams:
        return BagOfNgrams(
            self.size, classes, dim=16, buckets=1 << 12, sparse=bool(self.sparse)
        )

    def adversaries(
        self,
        pool: Sequence[Labelled],
        apart: Sequence[Labelled],
        change: Change,
        rng: Generator,
    ) -> list[Adversary]:
        """Train on changed texts, and ask; an adversary for each form that is asked in.

        ``pool`` are texts that the target may have learned from, in each form, clear
        texts first; ``apart`` others in the same forms.
        """
        features: list[tuple[list[Floats], list[Floats]]] = [([], []) for _ in apart]
        for _ in range(self.shadows):
            mine, rest = np.array_split(rng.permutation(len(apart[0])), 2)
            model = self.model(change(apart[0].at(mine)), rng)
            for (members, others), form in zip(features, apart, strict=True):
                told = membership.features(model(form), form.labels)
                members.append(told[mine])
                others.append(told[rest])
        chosen = membership.halves(len(pool[0]), self.models, rng)
        confidences: list[list[Floats]] = [[] for _ in pool]
        for rows in chosen:
            model = self.model(change(pool[0].at(np.flatnonzero(rows))), rng)
            for each, form in zip(confidences, pool, strict=True):
                each.append(membership.confidence(model(form), form.labels))
        return [
            Adversary(*learned, np.stack(each), chosen)
            for learned, each in zip(features, confidences, strict=True)
        ]
