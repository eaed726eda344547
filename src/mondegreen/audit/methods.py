"""The methods of an audit: exact, by certificate and part of the law, statistical."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final, final

import numpy as np

from mondegreen.audit.distances import ClaimMetric
from mondegreen.audit.exact import LARGEST_TABLE, LawTable, table_of, worst_pair
from mondegreen.audit.pairs import choose_pairs
from mondegreen.audit.power import power_of, reach
from mondegreen.audit.report import AuditReport, Evidence, Verdict
from mondegreen.audit.sampled_law import law_findings
from mondegreen.audit.sampler import StateSampler
from mondegreen.audit.statistical import comparison_of, measure_pairs, strongest
from mondegreen.errors import LawUnknownError
from mondegreen.mechanisms.base import State
from mondegreen.wording import amount

Progress = Callable[[str, float], object]
_Rows = list[tuple[int, int]]

_TOLERANCE: Final = 1e-9
"""Relative; what doubles cost in a product of epsilon and a distance."""

_SOME_PAIRS: Final = 2000
_SOME_BYTES: Final = 1 << 27
_TRIED: Final = 8
"""Inputs whose outputs are compared with the law."""


@final
@dataclass(frozen=True, slots=True)
class Audit:
    """One audit of a prepared mechanism; see :func:`mondegreen.audit.run.audit_state`.

    Parameters
    ----------
    state : State
        Prepared.
    metric : ClaimMetric
        Of the claim.
    epsilon : float
        Of the claim.
    runs, pairs, alpha
        As for :func:`mondegreen.audit.run.audit_mechanism`.
    rng : numpy.random.Generator
        Chooses pairs and draws outputs.
    progress : callable
        Called with what is done and its share.
    """

    state: State
    metric: ClaimMetric
    epsilon: float
    runs: int
    pairs: int
    alpha: float
    rng: np.random.Generator
    progress: Progress

    def exact(self, table: LawTable) -> AuditReport:
        """Compare all pairs and outputs, and the sampler with its law."""
        worst = worst_pair(
            table,
            self.metric,
            self.epsilon,
            self.state.space,
            progress=lambda share: self.progress("comparing all pairs", share),
        )
        rows, outputs = table.log_law.shape
        pairs = rows * (rows - 1) // 2
        method = f"exact ({table.how}): {amount(pairs, 'pair')} of inputs, " + amount(
            outputs, "output"
        )
        report = self._report("holds", worst, method, pairs)
        return self._with_outputs(report, table)

    def certificate(self) -> float | None:
        """Return the certificate of the guarantee, if it covers the claim."""
        certified = self.state.guarantee.certified
        if certified is None or certified > self.epsilon * (1 + _TOLERANCE):
            return None
        return certified

    def in_part(self, certified: float | None) -> AuditReport:
        """Compare all outputs of some pairs, and the sampler with its law.

        Parameters
        ----------
        certified : float or None
            A certificate that covers the claim.

        Raises
        ------
        LawUnknownError
            If the law of an input is not known.
        """
        table, rows = self._some_law()
        worst = worst_pair(table, self.metric, self.epsilon, self.state.space, rows)
        method = (
            f"exact (closed law) for {amount(len(rows), 'chosen pair')} of inputs and "
            f"all {self.state.space.vocab_size:,} outputs"
        )
        report = replace(
            self._report("not rejected", worst, method, len(rows)),
            found_is="lower bound",
            power="every output of these pairs was compared exactly; other pairs were "
            "not, and no certificate covers the claim",
        )
        if certified is not None:
            report = self.by_certificate(certified, report)
        return self._with_outputs(report, table)

    def by_certificate(
        self, certified: float, besides: AuditReport | None = None
    ) -> AuditReport:
        """Return what a certificate that covers the claim says of all pairs.

        Parameters
        ----------
        certified : float
            From :meth:`certificate`.
        besides : AuditReport, optional
            What else was looked at; a violation that was found there stands.
        """
        if besides is not None and besides.is_broken:
            return besides
        method = f"certificate: {self.state.guarantee.certified_how}"
        size = self.state.space.vocab_size
        report = besides or self._report("holds", None, "nothing", 0)
        return replace(
            report,
            verdict="holds",
            found=certified,
            found_is="upper bound",
            method=f"{method}; besides, {report.method}" if besides else method,
            pairs=size * (size + 1) // 2,
            power="the certificate covers all pairs and outputs of the law",
        )

    def statistical(self) -> AuditReport:
        """Compare outputs of some pairs."""
        if not self.runs:
            raise LawUnknownError(
                f"{self.state.guarantee.mechanism} has no law that can be audited "
                "exactly on this space; allow --runs, or take fewer words or dimensions"
            )
        space = self.state.space
        nats, _ = power_of(self.runs, self.alpha, self.pairs)
        chosen = choose_pairs(
            self.metric,
            space.vocab_size,
            self.pairs,
            self.rng,
            largest=nats / self.epsilon,
        )
        compared = [comparison_of(space, self.metric, pair) for pair in chosen]
        found = measure_pairs(
            StateSampler(self.state, self.rng),
            compared,
            self.epsilon,
            self.runs,
            self.alpha,
            lambda share: self.progress("drawing outputs", share),
        )
        nats, power = power_of(self.runs, self.alpha, len(compared))
        allowed = [pair.allowed(self.epsilon) for pair in compared]
        method = (
            f"statistical: {amount(len(compared), 'pair')}, "
            f"{amount(self.runs, 'run')} of each input, "
            f"false-alarm rate {self.alpha:g}"
        )
        return replace(
            self._report("not rejected", strongest(found), method, len(compared)),
            found_is="lower bound",
            power=reach(power, nats, allowed),
            power_nats=nats,
            runs=self.runs,
            alpha=self.alpha,
        )

    def _some_law(self) -> tuple[LawTable, _Rows]:
        """Return the law of inputs that make telling pairs, and the pairs of rows."""
        size = self.state.space.vocab_size
        most = min(LARGEST_TABLE, max(2, _SOME_BYTES // (8 * size)))
        place: dict[int, int] = {}
        rows: _Rows = []
        # Pairs come in the order of their kinds: none of them is crowded out.
        for pair in choose_pairs(self.metric, size, _SOME_PAIRS, self.rng, sample=1024):
            if len(place.keys() | pair) <= most:
                for word in pair:
                    place.setdefault(word, len(place))
                rows.append((place[pair[0]], place[pair[1]]))
        return table_of(self.state, np.array(list(place), dtype=np.int32)), rows

    def _with_outputs(self, report: AuditReport, table: LawTable) -> AuditReport:
        """Return a report that also says whether outputs follow the law."""
        if not self.runs:
            return replace(report, power=f"{report.power}; nothing was drawn")
        rows = len(table.ids)
        even = np.linspace(0, rows - 1, min(_TRIED, rows)).astype(int)
        unknown = np.flatnonzero(table.ids == self.state.space.vocab_size)
        inputs = np.union1d(even, unknown)
        self.progress("drawing outputs", 0.0)
        findings = law_findings(
            StateSampler(self.state, self.rng),
            table,
            self.state.space,
            inputs.tolist(),
            self.runs,
            self.alpha,
        )
        power = (
            f"{report.power}; {amount(self.runs, 'output')} of each of {len(inputs)} "
            "inputs were compared with it"
        )
        return replace(
            report,
            runs=self.runs,
            alpha=self.alpha,
            power=power + ("" if findings else " and show no difference"),
        ).with_findings(*findings)

    def _report(
        self, otherwise: Verdict, worst: Evidence | None, method: str, pairs: int
    ) -> AuditReport:
        """Return a report; any excess beyond rounding breaks the claim."""
        guarantee = self.state.guarantee
        broken = worst is not None and worst.excess > _TOLERANCE * worst.allowed
        return AuditReport(
            verdict="broken" if broken else otherwise,
            subject=guarantee.setting,
            claimed=self.epsilon,
            found=0.0 if worst is None else worst.epsilon,
            found_is="exact",
            metric=self.metric.name,
            space=guarantee.space,
            space_digest=guarantee.space_digest,
            method=method,
            pairs=pairs,
            power="every violation of the law that is audited would be seen",
            worst=worst,
        )
