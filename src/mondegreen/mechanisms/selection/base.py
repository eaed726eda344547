"""The selection family: laws as integers, sampled exactly, kept for frequent words."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Final, final

import numpy as np

from mondegreen.arrays import Ids, LogProbs
from mondegreen.guarantee import Guarantee
from mondegreen.mechanisms.base import AbstractMechanism, check_ids
from mondegreen.mechanisms.selection.certified import certificate_of, is_certifiable
from mondegreen.mechanisms.selection.law import ExponentialLaw
from mondegreen.mechanisms.selection.row import IntegerRow, SelectionLaw
from mondegreen.sampling.integers import TOTAL_BITS, draw_uniform
from mondegreen.space.metric import METRICS
from mondegreen.space.space import Space

__all__ = ["SelectionState", "selection_guarantee"]

_KEPT_BYTES: Final = 256 << 20


@final
@dataclass(frozen=True, slots=True)
class SelectionState:
    """A selection mechanism prepared for one space.

    A law is computed once for each distinct word of a batch and kept for the next
    batches while there is room, frequent words first. So memory is bounded whatever
    the size of the corpus.

    Parameters
    ----------
    space : Space
        Where inputs and outputs live.
    stated : Guarantee
        What one call promises for each word, by proof.
    law : SelectionLaw
        The integer law of every input.
    inputs : int32 array, shape (V + 1,), optional
        The input whose law each input has; by default the lowest at the same point.
    """

    space: Space
    stated: Guarantee
    law: SelectionLaw
    inputs: Ids | None = None
    _kept: _KeptRows = field(default_factory=lambda: _KeptRows(_KEPT_BYTES))

    @property
    def guarantee(self) -> Guarantee:
        """What one call promises for each word, with its certificate.

        The first time that it is asked for, the certificate of a law on a large space
        takes seconds; it is kept for ever after.
        """
        law = self.law
        if (
            not isinstance(law, ExponentialLaw)
            or self.space.metric != "euclidean"  # the only one certificates know
            or not is_certifiable(law)
        ):
            return self.stated
        return replace(
            self.stated,
            certified=min(certificate_of(law), self.stated.epsilon),
            certified_how="proof, and a certificate over all pairs of inputs of the "
            "integer law that is sampled",
        )

    def sample(self, ids: Ids, rng: np.random.Generator) -> Ids:
        """Draw an output for each input; see :class:`mondegreen.mechanisms.State`.

        Every token consumes one 64-bit word of ``rng``, in order.
        """
        check_ids(ids, self.space.vocab_size)
        draws = draw_uniform(rng, len(ids))
        points = self._law_of(ids)
        order = np.argsort(points, kind="stable")
        distinct, starts = np.unique(points[order], return_index=True)
        bounds = [*starts.tolist(), len(ids)]
        sorted_draws = draws[order]
        outputs = np.empty(len(ids), dtype=np.int32)
        missing: list[tuple[int, int, int]] = []
        for point, start, stop in zip(
            distinct.tolist(), bounds, bounds[1:], strict=False
        ):
            row = self._kept.get(point)
            if row is None:
                missing.append((start - stop, point, start))
            else:
                outputs[start:stop] = row.outputs(sorted_draws[start:stop])
        missing.sort()  # most frequent first: they are the ones worth keeping
        rows = self.law.rows([point for _, point, _ in missing])
        for (count, point, start), (_, row) in zip(missing, rows, strict=True):
            stop = start - count
            outputs[start:stop] = row.outputs(sorted_draws[start:stop])
            self._kept.offer(point, row)
        out = np.empty_like(outputs)
        out[order] = outputs
        return out

    def log_prob(self, ids: Ids) -> LogProbs:
        """Return the logarithms of the integer law, shape (T, V)."""
        check_ids(ids, self.space.vocab_size)
        points, inverse = np.unique(self._law_of(ids), return_inverse=True)
        table = np.empty((len(points), self.space.vocab_size))
        for i, (_, row) in enumerate(self.law.rows(points.tolist())):
            table[i] = np.log(row.weights(self.space.vocab_size))
        table -= TOTAL_BITS * math.log(2)
        return table[inverse]

    def _law_of(self, ids: Ids) -> Ids:
        """Return the inputs whose laws are to be used."""
        inputs = self.space.canonical if self.inputs is None else self.inputs
        return inputs[ids]


def selection_guarantee(mechanism: AbstractMechanism, law: ExponentialLaw) -> Guarantee:
    """Return what the integer law promises, in the metric min(d, cutoff)."""
    space, geometry = law.space, law.space.geometry.to_dict()
    truncated = law.cutoff < space.geometry.diameter
    distance = METRICS[space.metric]
    parameters = mechanism.to_dict()["parameters"]
    return Guarantee(
        mechanism=mechanism.name,
        parameters=parameters,
        epsilon=parameters["epsilon"],
        metric=f"min({distance}, {law.cutoff:.4g})" if truncated else distance,
        scale={key: min(value, law.cutoff) for key, value in geometry.items()},
        space=space.name,
        space_digest=space.digest,
        certified_how="proof, for the integer weights that are sampled",
        proof=f"docs/proofs/{mechanism.name}.md",
        assumptions=("every probability is an integer over 2^62, drawn exactly",),
    )


@final
class _KeptRows:
    """Laws that are kept, up to a number of bytes; none is ever thrown out."""

    __slots__ = ("_free", "_rows")

    def __init__(self, limit: int) -> None:
        self._free = limit
        self._rows: dict[int, IntegerRow] = {}

    def get(self, point: int) -> IntegerRow | None:
        return self._rows.get(point)

    def offer(self, point: int, row: IntegerRow) -> None:
        if row.nbytes <= self._free:
            self._free -= row.nbytes
            self._rows[point] = row
