"""The selection family: laws as integers, sampled exactly, kept for frequent words."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from typing import Any, Final, Self, final

import numpy as np
from numpy.typing import NDArray

from mondegreen.arrays import Ids, LogProbs, Weights
from mondegreen.guarantee import Guarantee
from mondegreen.mechanisms.base import (
    AbstractMechanism,
    Floats,
    Progress,
    State,
    check_ids,
    no_progress,
)
from mondegreen.mechanisms.laws.base import IntegerRow, SelectionLaw
from mondegreen.mechanisms.laws.certified import (
    CertifiableLaw,
    certificate_of,
    certificates_of,
    has_certificate,
    is_certifiable,
    is_kept,
)
from mondegreen.mechanisms.laws.dense import DenseLaws
from mondegreen.mechanisms.laws.kept import (
    SHARED_NUMBERS,
    KeptRows,
    SharedRows,
    packed,
    unpacked,
)
from mondegreen.mechanisms.laws.truncated import ExponentialLaw
from mondegreen.mechanisms.metrics import discrete_distances
from mondegreen.sampling.integers import TOTAL_BITS, draw_uniform
from mondegreen.space.distances import METRICS
from mondegreen.space.space import Space

_CLAIM: Final = 256
"""Laws that one process claims at a time."""

_PATIENCE: Final = 2.0
"""Seconds to wait for laws that other processes compute, before doing it here."""

_NAP: Final = 0.002


@final
@dataclass(frozen=True, slots=True)
class SelectionState(State):
    """A selection mechanism prepared for one space.

    A law is computed once for each distinct word of a batch and kept for the next
    batches while there is room, frequent words first. So memory is bounded whatever
    the size of the corpus.

    Parameters
    ----------
    space : Space
        Where inputs and outputs live.
    proved : Guarantee
        What one call promises for each word, by proof.
    law : SelectionLaw
        The integer law of every input.
    inputs : int32 array, shape (V + 1,), optional
        The input whose law each input has; by default the lowest at the same point.
    """

    space: Space
    proved: Guarantee
    law: SelectionLaw
    inputs: Ids | None = None
    _kept: KeptRows = field(default_factory=KeptRows)
    _sharing: _Sharing = field(default_factory=lambda: _Sharing())

    @property
    def stated(self) -> Guarantee:
        """What one call promises for each word, without its certificate."""
        return self.proved

    @property
    def guarantee(self) -> Guarantee:  # type: ignore[override]
        """What one call promises for each word, with its certificate.

        The first time that it is asked for, the certificate of a law on a large space
        takes seconds; it is kept for ever after.
        """
        law = self.law
        if not isinstance(law, CertifiableLaw) or not is_certifiable(law):
            return self.stated
        return replace(
            self.stated,
            certified=min(certificate_of(law), self.stated.epsilon),
            certified_how="proof, and a certificate over all pairs of inputs of the "
            "integer law that is sampled",
        )

    @property
    def certificate_takes_long(self) -> bool:
        """Whether ``guarantee`` would first pass over all pairs of a large space."""
        law = self.law
        return (
            isinstance(law, CertifiableLaw)
            and is_kept(law)
            and is_certifiable(law)
            and not has_certificate(law)
        )

    @property
    def certified_bounds(self) -> tuple[float, float]:
        """Bounds of the exact epsilon: at least the rate of a law in the distance."""
        law, claimed = self.law, self.stated.epsilon
        if not isinstance(law, CertifiableLaw):
            known = min(self.stated.certified or claimed, claimed)
            return known, known
        if has_certificate(law) or not is_kept(law):
            exact = min(certificate_of(law), claimed)
            return exact, exact
        return law.rate if law.takes_distances else 0.0, claimed

    def certificate(self, progress: Progress = no_progress) -> float | None:
        """Return the exact epsilon, computing it however long that takes."""
        if isinstance(self.law, CertifiableLaw):
            return certificate_of(self.law, progress)
        return self.stated.certified

    @classmethod
    def certify(cls, states: Sequence[Self], progress: Progress = no_progress) -> None:
        """Compute the certificates of states, and keep them."""
        laws = [each.law for each in states if isinstance(each.law, CertifiableLaw)]
        # One pass over all pairs for those in a distance; the others are quick.
        certificates_of([law for law in laws if law.takes_distances], progress)
        certificates_of([law for law in laws if not law.takes_distances], progress)

    @property
    def takes_distances(self) -> bool:
        """Whether the law is one in the distance of the space."""
        return self.law.takes_distances

    @property
    def falls_with_distance(self) -> bool:
        """Whether a closer word is never less likely."""
        return self.law.falls_with_distance

    @property
    def has_zeros(self) -> bool:
        """Every word has some integer weight."""
        return False

    def log_rows(self, ids: Ids, distances: Floats | None) -> tuple[Floats, Floats]:
        """Return log-probabilities and probabilities, in real numbers where quick."""
        if distances is None or not self.takes_distances:
            return State.log_rows(self, ids, distances)
        return self.law.log_rows(ids, distances)

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
        wanted = _Wanted(draws[order], np.empty(len(ids), dtype=np.int32))
        for point, start, stop in zip(
            distinct.tolist(), bounds, bounds[1:], strict=False
        ):
            wanted.spans[point] = (start, stop)
        self._from_kept(wanted)
        self._from_others(wanted)
        self._from_law(wanted, wanted.most_frequent().tolist())
        out = np.empty_like(wanted.outputs)
        out[order] = wanted.outputs
        return out

    def _from_kept(self, wanted: _Wanted) -> None:
        """Answer what laws at hand can answer."""
        outlined: list[tuple[int, Weights]] = []
        laws = self._dense
        for point, (start, stop) in list(wanted.spans.items()):
            row = self._kept.row(point)
            if row is not None:
                wanted.answer(point, row)
            elif laws is not None and stop - start < laws.blocks:
                outline = self._kept.outline(point)
                if outline is not None:
                    outlined.append((point, outline))
        if laws is not None:
            wanted.answer_outlined(laws, outlined)

    def _from_law(self, wanted: _Wanted, points: Sequence[int]) -> None:
        """Compute laws, answer, and keep them for the next batches."""
        shared = self._sharing.rows
        for point, row in self.law.rows(points):
            if shared is not None:
                shared.publish(point, packed(row))
            draws = wanted.answer(point, row)
            self._kept.offer(point, row, draws)

    def _from_others(self, wanted: _Wanted) -> None:
        """Compute laws that nobody has claimed, and take over those of others."""
        shared = self._sharing.rows
        if shared is None:
            return
        order = wanted.most_frequent()
        while len(mine := shared.claim(order, _CLAIM)):
            self._from_law(wanted, mine.tolist())
        until = time.monotonic() + _PATIENCE
        while wanted.spans:
            is_last = not any(map(shared.is_coming, wanted.spans))
            self._take_over(wanted, shared)
            if is_last or time.monotonic() > until:
                return
            time.sleep(_NAP)

    def _take_over(self, wanted: _Wanted, shared: SharedRows) -> None:
        """Answer what laws that others have handed in can answer, and keep these."""
        for point in wanted.most_frequent().tolist():
            numbers = shared.find(point)
            if numbers is None:
                continue
            if self._dense is None:
                row = unpacked(numbers)
                self._kept.offer(point, row, wanted.answer(point, row))
            else:
                self._kept.offer_outline(point, numbers)
        self._from_kept(wanted)

    @property
    def _dense(self) -> DenseLaws | None:
        """The laws of whose rows outlines can be kept, if there are any."""
        dense = self.law.dense
        return dense if dense is not None and dense.is_reproducible else None

    def share(self, memory: Any, lock: AbstractContextManager[Any]) -> None:
        """Compute laws together with other processes."""
        inputs, numbers = self._shape()
        self._kept.make_room()
        self._sharing.rows = SharedRows(memory, lock, inputs, numbers)

    @property
    def shared_bytes(self) -> int:
        """Memory that processes need to compute laws together."""
        return SharedRows.nbytes(*self._shape())

    def _shape(self) -> tuple[int, int]:
        dense = self.law.dense
        numbers = SHARED_NUMBERS if dense is None else dense.stride
        return self.space.vocab_size + 1, numbers

    def log_prob(self, ids: Ids) -> LogProbs:
        """Return the logarithms of the integer law, shape (T, V)."""
        check_ids(ids, self.space.vocab_size)
        points, inverse = np.unique(self._law_of(ids), return_inverse=True)
        table = np.empty((len(points), self.space.vocab_size))
        for i, (_, row) in enumerate(self.law.rows(points.tolist())):
            table[i] = np.log(row.weights(self.space.vocab_size))
        table -= TOTAL_BITS * math.log(2)
        return table[inverse]

    def distances(self, first: Ids, second: Ids) -> Floats:
        """Return the metric of the guarantee, (first, second)."""
        if self.inputs is not None:  # each input has a law of its own: all are 1 apart
            return discrete_distances(first, second)
        return State.distances(self, first, second)

    def _law_of(self, ids: Ids) -> Ids:
        """Return the inputs whose laws are to be used."""
        inputs = self.space.canonical if self.inputs is None else self.inputs
        return inputs[ids]


def selection_guarantee(mechanism: AbstractMechanism, law: ExponentialLaw) -> Guarantee:
    """Return what the integer law promises, in the metric min(d, cutoff)."""
    space, geometry = law.space, law.space.geometry.to_dict()
    truncated = law.cutoff < space.geometry.diameter
    distance = METRICS[space.metric]
    return mechanism.promise(
        space,
        metric=f"min({distance}, {law.cutoff:.4g})" if truncated else distance,
        scale={key: min(value, law.cutoff) for key, value in geometry.items()},
        certified_how="proof, for the integer weights that are sampled",
        assumptions=("every probability is an integer over 2^62, drawn exactly",),
    )


@final
@dataclass(slots=True)
class _Wanted:
    """Draws that wait for the laws of their inputs.

    Attributes
    ----------
    draws, outputs : arrays, shape (T,)
        Sorted by input.
    spans : dict
        From each input that waits to where its draws are.
    """

    draws: Weights
    outputs: Ids
    spans: dict[int, tuple[int, int]] = field(default_factory=dict)

    def most_frequent(self) -> NDArray[np.int64]:
        """Return what still waits; what is most worth keeping comes first."""
        found = sorted((a - b, point) for point, (a, b) in self.spans.items())
        return np.array([point for _, point in found], dtype=np.int64)

    def answer(self, point: int, row: IntegerRow) -> int:
        """Turn the draws of an input into words; return how many they are."""
        start, stop = self.spans.pop(point)
        self.outputs[start:stop] = row.outputs(self.draws[start:stop])
        return stop - start

    def answer_outlined(
        self, laws: DenseLaws, outlined: Sequence[tuple[int, Weights]]
    ) -> None:
        """Turn the draws of inputs with outlines into words."""
        points, outlines = [p for p, _ in outlined], [o for _, o in outlined]
        bounds = [self.spans.pop(point) for point in points]
        laws.outputs(points, outlines, bounds, self.draws, self.outputs)


@final
class _Sharing:
    """Where a state that is otherwise frozen finds the laws of other processes."""

    __slots__ = ("rows",)

    def __init__(self) -> None:
        self.rows: SharedRows | None = None
