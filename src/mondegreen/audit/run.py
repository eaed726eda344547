"""The audit of a mechanism of this package: exact, by certificate, statistical."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, Literal, final

import numpy as np

from mondegreen.audit import exact, statistical
from mondegreen.audit.claim import Claim, choose_pairs, find_claim
from mondegreen.audit.exact import LawTable, build_table, worst_pair
from mondegreen.audit.kept_words import KeptWords, plan_kept_words
from mondegreen.audit.policy import audit_policy
from mondegreen.audit.report import AuditReport, Evidence
from mondegreen.audit.statistical import StateSampler
from mondegreen.errors import ConfigurationError, LawUnknownError
from mondegreen.mechanisms.base import AbstractMechanism, State
from mondegreen.mechanisms.symbols.response import ResponseState
from mondegreen.policy.policy import Policy
from mondegreen.sampling.noise import Batch, OSNoise
from mondegreen.settings import SYMBOL_MECHANISMS
from mondegreen.space.space import Space
from mondegreen.wording import amount

Progress = Callable[[str, float], object]

_SOME_PAIRS: Final = 2000
_SOME_BYTES: Final = 1 << 27
_TRIED: Final = 8
"""Inputs whose outputs are compared with the law."""


def audit_mechanism(
    mechanism: AbstractMechanism, space: Space | Policy, **options: Any
) -> AuditReport:
    """Audit a mechanism on a space, or ``urr`` or ``krr`` on a policy.

    On a policy, exact means: the integers of every pair of symbols and every output
    that the guarantee covers, the certificate, and the sampler at the first and last
    draw of outputs. Words of one group are one symbol. Draws are words that are
    printed for texts of one word, replaced words, and members of groups and formats,
    which must be uniform.

    Parameters
    ----------
    mechanism : AbstractMechanism
    space : Space or Policy
        A policy is what :func:`mondegreen.policy.policy.load_policy` returns.
    **options
        Those of :func:`audit_state`. On a policy, the metric ``discrete`` claims that
        ordinary words are protected, too.

    Returns
    -------
    AuditReport

    Raises
    ------
    LawUnknownError, InvalidParameterError
        As :func:`audit_state` does.
    ConfigurationError
        If the mechanism or the metric does not go with a policy.

    Examples
    --------
    >>> import mondegreen as mg
    >>> space = mg.Space.from_arrays("line", ["a", "b", "c"], [[0], [1], [3]])
    >>> sound, twin = (mg.mechanism("tem", epsilon=e) for e in (1.0, 2.0))
    >>> audit_mechanism(sound, space, seed=0).verdict
    'holds'
    >>> report = audit_mechanism(twin, space, claim=1.0, seed=0)
    >>> report.verdict, round(report.found, 3), report.found_is
    ('broken', 1.754, 'exact')
    >>> from mondegreen.policy.policy import load_policy
    >>> policy = load_policy("sensitive")
    >>> default = audit_mechanism(mg.mechanism("urr", epsilon=12.0), policy, runs=0)
    >>> default.verdict, round(default.found, 3), default.found_is
    ('holds', 12.0, 'exact')
    """
    if isinstance(space, Policy):
        if mechanism.name not in SYMBOL_MECHANISMS:
            raise ConfigurationError(
                f"{mechanism.name} works on a space, not on a policy: give a space, or "
                "use urr or krr"
            )
        symbols: Any = space.alphabet
        return audit_state(mechanism.prepare(symbols), policy=space, **options)
    return audit_state(mechanism.prepare(space), **options)


def audit_state(
    state: State,
    *,
    policy: Policy | None = None,
    claim: float | None = None,
    metric: str | None = None,
    method: Literal["auto", "exact", "statistical"] = "auto",
    runs: int = 20_000,
    pairs: int = 16,
    alpha: float = 1e-3,
    seed: int | None = None,
    progress: Progress = lambda what, share: None,
) -> AuditReport:
    """Audit a prepared mechanism, private or not.

    Exact is, in this order: the closed law, all pairs and outputs, on up to 4,096
    words; on larger spaces the certificate of the guarantee, and the law of some pairs
    besides. Then outputs tell whether the sampler follows the law. Where no law is
    known the audit is statistical, and a certificate decides what it leaves open.

    Parameters
    ----------
    state : State
    policy : Policy, optional
        The policy whose symbols ``urr`` or ``krr`` was prepared for.
    claim : float, optional
        Epsilon to audit, by default that of the guarantee.
    metric : str, optional
        "euclidean", "manhattan", "chebyshev", "poincare", "hamming" or "discrete"; by
        default that of the guarantee.
    method : {"auto", "exact", "statistical"}
    runs : int
        Outputs drawn for each input; with 0 only exact methods are used.
    pairs : int
        Pairs of inputs of a statistical audit.
    alpha : float
        The chance that a sound mechanism is called broken.
    seed : int, optional
        Repeats the audit; by default the noise is that of a release.
    progress : callable
        Told what is done, and its share.

    Returns
    -------
    AuditReport

    Raises
    ------
    LawUnknownError
        If no law is known and there are 0 runs, or the method is "exact".
    InvalidParameterError
        If a number is out of range.
    ConfigurationError
        If the state was prepared for another policy than ``policy``.

    Examples
    --------
    >>> import mondegreen as mg
    >>> space = mg.Space.from_arrays("line", ["a", "b", "c"], [[0], [1], [3]])
    >>> state = mg.mechanism("tem", epsilon=1.0).prepare(space)
    >>> audit_state(state, method="exact", runs=0).verdict
    'holds'
    """
    statistical.check_settings(runs, pairs, alpha)
    if isinstance(state, ResponseState):
        return audit_policy(
            state,
            _check_policy(state, policy),
            claim=claim,
            metric=metric,
            method=method,
            runs=runs,
            pairs=pairs,
            alpha=alpha,
            seed=seed,
            progress=progress,
        )
    if seed is None:
        ((_, rng),) = OSNoise().streams(Batch(0, b"", ["audit"]))
    else:
        rng = np.random.default_rng(seed)
    stated = find_claim(state, claim, metric)
    audit = _Audit(state, stated, runs, pairs, alpha, rng, progress)
    if method == "statistical":
        return audit.statistical()
    try:
        return audit.exact(build_table(state))
    except LawUnknownError:  # no closed law, or too many words: a part of it
        certified = audit.certificate() if metric is None else None
    try:
        return audit.in_part(certified)
    except LawUnknownError:
        if certified is None and method == "exact":
            raise
    if certified is None:
        return audit.statistical()
    return audit.by_drawn_certificate(certified)


def _check_policy(state: ResponseState, policy: Policy | None) -> Policy:
    """Refuse another policy than that of the state: its words are audited, too."""
    if policy is None or policy.alphabet != state.alphabet:
        raise ConfigurationError(
            f"{state.guarantee.mechanism} was prepared for the symbols of a policy: "
            "pass policy=load_policy(...), that policy"
        )
    return policy


@final
@dataclass(frozen=True, slots=True)
class _Audit:
    """The methods of one audit; see :func:`audit_state`."""

    state: State
    claim: Claim
    runs: int
    pairs: int
    alpha: float
    rng: np.random.Generator
    progress: Progress

    def exact(self, table: LawTable) -> AuditReport:
        """Compare all pairs and outputs, and the sampler with its law."""
        rows, outputs = table.log_law.shape
        pairs = rows * (rows - 1) // 2
        progress = partial(self.progress, "comparing all pairs")
        report = self.claim.report(
            worst_pair(table, self.claim, progress=progress),
            "holds",
            found_is="exact",
            method=f"exact (closed law): {amount(pairs, 'pair')} of inputs, "
            + amount(outputs, "output"),
            pairs=pairs,
            power="every violation of the law that is audited would be seen",
        )
        return self._with_outputs(report, table)

    def certificate(self) -> float | None:
        """The certificate of the guarantee, if it covers the claim."""
        certified = self.state.guarantee.certified
        if certified is None or certified > self.claim.epsilon * (1 + 1e-9):
            return None
        return certified

    def in_part(self, certified: float | None) -> AuditReport:
        """Compare all outputs of some pairs, and the sampler with its law."""
        table, rows = self._some_law()
        report = self.claim.report(
            worst_pair(table, self.claim, rows),
            "not rejected",
            found_is="lower bound",
            method=f"exact (closed law) for {amount(len(rows), 'chosen pair')} of "
            f"inputs and all {self.state.space.vocab_size:,} outputs",
            pairs=len(rows),
            power="every output of these pairs was compared exactly; other pairs were "
            "not, and no certificate covers the claim",
        )
        if certified is not None:
            report = self.by_certificate(certified, report)
        return self._with_outputs(report, table)

    def by_certificate(
        self, certified: float, besides: AuditReport | None
    ) -> AuditReport:
        """Report a certificate that covers the claim; a break ``besides`` stands."""
        if besides is not None and besides.is_broken:
            return besides
        method = f"certificate: {self.state.guarantee.certified_how}"
        size = self.state.space.vocab_size
        known: dict[str, Any] = {
            "found_is": "upper bound",
            "method": f"{method}; besides, {besides.method}" if besides else method,
            "pairs": size * (size + 1) // 2,
            "power": "the certificate covers all pairs and outputs of the law",
        }
        report = besides or self.claim.report(None, "holds", **known)
        return replace(report, verdict="holds", found=certified, **known)

    def by_drawn_certificate(self, certified: float) -> AuditReport:
        """Report a certificate, beside outputs that could show a lack of noise."""
        if not self.runs:
            return self.by_certificate(certified, None)
        besides, found = self._measure_pairs()
        report = self.by_certificate(certified, besides)
        nats = statistical.power_nats(self.runs, self.alpha, len(found))
        size = self.state.space.vocab_size
        if any(pair.allowed < nats for pair in found if max(pair.ids) < size):
            return report
        return report.without_sampler(
            f"{amount(self.runs, 'run')} of each input certify at most {nats:.3g} "
            "nats, and each pair of words is allowed more: a sampler that returns its "
            "input would not be found (more --runs or a smaller --epsilon would show "
            "it)"
        )

    def statistical(self) -> AuditReport:
        """Compare outputs of some pairs."""
        return self._measure_pairs()[0]

    def _measure_pairs(self) -> tuple[AuditReport, list[Evidence]]:
        claim = self.claim
        if not self.runs:
            raise LawUnknownError(
                f"{self.state.guarantee.mechanism} has no law that can be audited "
                "exactly on this space; allow --runs, or use fewer words"
            )
        runs, alpha = self.runs, self.alpha
        reach = statistical.power_nats(runs, alpha, self.pairs) / claim.epsilon
        chosen = choose_pairs(claim, self.pairs, self.rng, largest=reach)
        found = statistical.measure_pairs(
            StateSampler(self.state, self.rng),
            [claim.pair(*pair) for pair in chosen],
            runs,
            alpha,
            partial(self.progress, "drawing outputs"),
        )
        drawn = f"{amount(runs, 'run')} of each input"
        report = statistical.pair_report(claim, found, drawn, runs, alpha, alpha)
        return report, found

    def _some_law(self) -> tuple[LawTable, list[tuple[int, int]]]:
        """The law of inputs that make telling pairs, and the pairs of rows."""
        size = self.state.space.vocab_size
        most = min(exact.LARGEST_TABLE, max(2, _SOME_BYTES // (8 * size)))
        place: dict[int, int] = {}
        rows: list[tuple[int, int]] = []
        # Pairs come in the order of their kinds: none of them is crowded out.
        for pair in choose_pairs(self.claim, _SOME_PAIRS, self.rng, sample=1024):
            if len(place.keys() | pair) <= most:
                for word in pair:
                    place.setdefault(word, len(place))
                rows.append((place[pair[0]], place[pair[1]]))
        return build_table(self.state, np.array(list(place), dtype=np.int32)), rows

    def _with_outputs(self, report: AuditReport, table: LawTable) -> AuditReport:
        """The report, which also says whether outputs follow the law."""
        if not self.runs:
            said = "nothing was drawn, so that the sampler is not tested"
            return replace(report, power=f"{report.power}; {said}")
        rows = len(table.ids)
        even = np.linspace(0, rows - 1, min(_TRIED, rows)).astype(int)
        unknown = np.flatnonzero(table.ids == self.state.space.vocab_size)
        tried = np.union1d(even, unknown).tolist()
        self.progress("drawing outputs", 0.0)
        sampler, level = StateSampler(self.state, self.rng), self.alpha / 2
        findings = exact.sampler_findings(
            sampler, table, tried, self.claim, self.runs, level
        )
        least = exact.smallest_difference(self.runs, level / len(tried))
        size = self.state.space.vocab_size
        kept = plan_kept_words(table, size, self.runs, level)
        if kept is not None:
            findings += kept.find(self.state, self.rng)
        power = (
            f"{report.power}; {amount(self.runs, 'output')} of each of {len(tried)} "
            f"inputs were compared with it, which shows outputs that are too frequent "
            f"by {least:.2g} or more"
        )
        report = replace(
            report,
            runs=self.runs,
            alpha=self.alpha,
            power=power + ("" if findings else ", and show no difference"),
        ).with_findings(*findings)
        return report if kept is None else _judge_sampler(report, kept)


def _judge_sampler(report: AuditReport, kept: KeptWords) -> AuditReport:
    """Say which samplers the draws reject; none holds that may return its input."""
    if not kept.is_blind:
        return replace(report, power=f"{report.power}; {kept.describe()}")
    advice = " (a smaller --epsilon would show it)"
    return report.without_sampler(kept.describe() + advice)
