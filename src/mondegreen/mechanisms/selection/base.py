"""The selection family: laws as integers, sampled exactly, kept for frequent words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self, final

import numpy as np

from mondegreen.arrays import Floats, Ids, LogProbs
from mondegreen.guarantee import Guarantee
from mondegreen.mechanisms import base
from mondegreen.mechanisms.laws import certified
from mondegreen.mechanisms.laws.cache import LawCache, Waiting
from mondegreen.mechanisms.laws.integer import IntegerLaw
from mondegreen.sampling.integers import TOTAL_BITS, draw_uniform
from mondegreen.space.metric import METRICS
from mondegreen.space.space import Space


@final
@dataclass(frozen=True, slots=True)
class SelectionState(base.State):
    """A selection mechanism prepared for one space.

    ``proved`` is what one call promises for each word by proof; ``inputs`` tells whose
    law each input has, by default that of the lowest at the same point.
    """

    space: Space
    proved: Guarantee
    law: IntegerLaw
    inputs: Ids | None = None
    has_zeros: ClassVar[bool] = False  # every word has some integer weight
    _cache: LawCache = field(default_factory=LawCache)

    @property
    def stated(self) -> Guarantee:
        return self.proved

    @property
    def guarantee(self) -> Guarantee:  # type: ignore[override]
        """What one call promises for each word, with its certificate.

        The first time that it is asked for, the certificate of a law on a large space
        takes seconds; it is kept for ever after.
        """
        if not certified.is_certifiable(self.law):
            return self.stated
        (found,) = certified.compute_certificates([self.law])
        return replace(
            self.stated,
            certified=min(found, self.stated.epsilon),
            certified_how="proof, and a certificate over all pairs of inputs of the "
            "integer law that is sampled",
        )

    @property
    def certificate_takes_long(self) -> bool:
        law = self.law
        return certified.is_certifiable(law) and not certified.has_certificate(law)

    @property
    def certified_bounds(self) -> tuple[float, float]:
        """Bounds of the exact epsilon: at least the rate of a law in the distance."""
        law, claimed = self.law, self.stated.epsilon
        if law.certify is not None and not certified.has_certificate(law):
            return law.rate if law.takes_distances else 0.0, claimed
        exact = min(self.certificate() or claimed, claimed)
        return exact, exact

    def certificate(self, progress: base.Progress = base.no_progress) -> float | None:
        if self.law.certify is None:
            return self.stated.certified
        return certified.compute_certificates([self.law], progress)[0]

    @classmethod
    def certify(
        cls, states: Sequence[Self], progress: base.Progress = base.no_progress
    ) -> None:
        """Compute the certificates of states: one pass over all pairs for each kind."""
        laws = [state.law for state in states if state.law.certify is not None]
        for kind in dict.fromkeys(map(type, laws)):
            some = [law for law in laws if type(law) is kind]
            certified.compute_certificates(some, progress)

    @property
    def takes_distances(self) -> bool:  # type: ignore[override]
        return self.law.takes_distances

    @property
    def falls_with_distance(self) -> bool:  # type: ignore[override]
        return self.law.falls_with_distance

    def log_rows(self, ids: Ids, distances: Floats | None) -> tuple[Floats, Floats]:
        if distances is None or not self.takes_distances:
            return base.State.log_rows(self, ids, distances)
        return self.law.log_rows(ids, distances)

    def sample(self, ids: Ids, rng: np.random.Generator) -> Ids:
        """Draw an output for each input; see :class:`mondegreen.mechanisms.State`.

        Every token consumes one 64-bit word of ``rng``, in order. A law is computed
        once for each distinct word of a batch and kept for the next batches while
        there is room, frequent words first: memory is bounded whatever the corpus.
        """
        base.check_ids(ids, self.space.vocab_size)
        draws = draw_uniform(rng, len(ids))
        points = self._compute_law(ids)
        order = np.argsort(points, kind="stable")
        waiting = Waiting(points[order], draws[order])
        self._cache.answer(waiting, self.law)
        out = np.empty_like(waiting.outputs)
        out[order] = waiting.outputs
        return out

    @property
    def shared_bytes(self) -> int:
        return self._cache.shared_bytes(self.law)

    def share(self, memory: Any, lock: AbstractContextManager[Any]) -> None:
        self._cache.share(self.law, memory, lock)

    def log_prob(self, ids: Ids) -> LogProbs:
        base.check_ids(ids, self.space.vocab_size)
        points, inverse = np.unique(self._compute_law(ids), return_inverse=True)
        table = np.empty((len(points), self.space.vocab_size))
        for i, (_, row) in enumerate(self.law.rows(points.tolist())):
            table[i] = np.log(row.weights())
        table -= TOTAL_BITS * math.log(2)
        return table[inverse]

    def distances(self, first: Ids, second: Ids) -> Floats:
        if self.inputs is not None:  # each input has a law of its own: all are 1 apart
            return base.discrete_distances(first, second)
        return base.State.distances(self, first, second)

    def _compute_law(self, ids: Ids) -> Ids:
        inputs = self.space.canonical if self.inputs is None else self.inputs
        return inputs[ids]


def prepare_state(
    mechanism: base.AbstractMechanism, law: IntegerLaw, **stated: Any
) -> SelectionState:
    """Prepare a law; unless stated, its promise is in the metric min(d, cutoff)."""
    space, geometry = law.space, law.space.geometry
    metric = METRICS[space.metric]
    if law.cutoff < geometry.diameter:
        metric = f"min({metric}, {law.cutoff:.4g})"
    usual: dict[str, Any] = {
        "metric": metric,
        "scale": {k: min(v, law.cutoff) for k, v in geometry.to_dict().items()},
        "certified_how": "proof, for the integer weights that are sampled",
        "assumptions": ("every probability is an integer over 2^62, drawn exactly",),
    }
    guarantee = mechanism.promise(space, **{**usual, **stated})
    return SelectionState(space, guarantee, law)
