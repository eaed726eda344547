"""The audit of a mechanism on a policy: the integers, the sampler, printed words."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import chain
from typing import Any, Final, final

import numpy as np

from mondegreen.audit import statistical
from mondegreen.audit.claim import Claim
from mondegreen.audit.printed_words import (
    DrawnNoise,
    PrintedWords,
    choose_words,
    compare_symbols,
    cover_groups,
    find_lookup_break,
)
from mondegreen.audit.report import AuditReport, Evidence, Finding
from mondegreen.audit.symbol_draws import (
    POOL,
    digit_findings,
    member_findings,
    stray_findings,
)
from mondegreen.audit.symbol_law import (
    SymbolLaw,
    describe_probes,
    find_near_break,
    probe_sampler,
    read_law,
)
from mondegreen.errors import ConfigurationError, LawUnknownError
from mondegreen.mechanisms.base import discrete_distances
from mondegreen.mechanisms.symbols.response import ResponseState
from mondegreen.policy.policy import Policy
from mondegreen.policy.shown import PolicyView
from mondegreen.sampling.integers import TOTAL_BITS
from mondegreen.sampling.noise import NoiseSource, OSNoise
from mondegreen.wording import amount

_OF_PAIRS: Final = 1 / 3
"""Share of alpha for the losses of pairs. Four other tests have a sixth each."""

_LISTED: Final = 3
"""Findings of one kind that a report lists."""

_NUMBERS: Final = 4000
"""Numbers of each format that are printed at most, since printing takes long."""


@final
@dataclass(frozen=True, slots=True)
class SymbolNames:
    """The symbols of a policy by names, for reports: an ordinary word is its own."""

    policy: Policy
    words: tuple[str, ...]

    @classmethod
    def of(cls, policy: Policy) -> SymbolNames:
        """Name all symbols of a policy."""
        view, ordinary = PolicyView(policy), len(policy.ordinary)
        groups = range(ordinary, policy.alphabet.size)
        named = [view.describe(symbol) for symbol in groups]
        kinds = (
            f"format {each.group}" if each.class_name == "format" else each.group
            for each in named
        )
        return cls(policy, (*policy.words[:ordinary], *kinds))

    @property
    def name(self) -> str:
        return f"policy {self.policy.name}"

    @property
    def digest(self) -> str:
        return self.policy.digest

    @property
    def vocab_size(self) -> int:
        return len(self.words)


@final
@dataclass(frozen=True)
class PolicyAudit:
    """The methods of one audit on a policy; parameters as of ``audit_state``."""

    state: ResponseState
    policy: Policy
    names: SymbolNames
    claim: Claim
    with_ordinary: bool
    runs: int
    pairs: int
    alpha: float
    noise: NoiseSource
    rng: np.random.Generator
    progress: Any

    def exact(self) -> AuditReport:
        """Compare the integers of all inputs, and the sampler with them."""
        law = self._law
        first = len(self.policy.ordinary)
        worst = law.worst(first, with_ordinary=self.with_ordinary)
        size = self.policy.alphabet.size
        outputs = f"all {size:,} outputs"
        if not self.with_ordinary:
            outputs += ", ordinary outputs for sensitive words alone"
        probes = probe_sampler(self.state, partial(self.progress, "trying draws"))
        report = self.claim.report(
            worst
            and replace(
                self.claim.pair(worst.first, worst.second),
                loss=worst.loss,
                event=(self.names.words[worst.output],),
                outputs=1,
            ),
            "holds",
            found_is="exact",
            method=f"exact (integers over 2^{TOTAL_BITS}): every pair of {size:,} "
            f"symbols, {outputs}; the sampler at the ends of {probes.count:,} ranges "
            "of draws",
            pairs=size * (size - 1) // 2,
            power="every violation of the law that is audited would be seen; all "
            f"{sum(len(group.words) for group in self.policy.groups):,} words of "
            "groups were looked up: those of one group are one symbol, so that their "
            "laws are the same",
        )
        near = self.state.alphabet.near
        found = (
            *describe_probes(probes, self.names.words),
            self._certificate_break(),
            None if near is None else find_near_break(near),
            find_lookup_break(self.policy),
        )
        return report.with_findings(*filter(None, found))

    def _certificate_break(self) -> Finding | None:
        """Compare the exact epsilon of the guarantee with the integers."""
        guarantee = self.state.guarantee
        with_ordinary = not guarantee.conditions
        worst = self._law.worst(len(self.policy.ordinary), with_ordinary=with_ordinary)
        certified = guarantee.certified
        if worst is None or certified is None or worst.loss <= certified:
            return None
        text = f"{worst.loss:.6g} nats are lost, and {certified:.6g} are certified"
        return Finding("certificate", True, text)

    @cached_property
    def _law(self) -> SymbolLaw:
        return read_law(self.state, partial(self.progress, "comparing all pairs"))

    def with_draws(self, report: AuditReport) -> AuditReport:
        """Add to an exact report what draws show; they are of texts as released."""
        if not self.runs:
            return replace(report, power=f"{report.power}; nothing was drawn")
        drawn = self.statistical()
        worst, findings = drawn.worst, list(drawn.findings)
        if worst is not None and drawn.is_broken and worst.excess > 0:
            findings.insert(0, Finding("printed words", True, str(worst)))
        power = f"{report.power}; besides, {drawn.method}"
        return replace(
            report,
            runs=self.runs,
            alpha=self.alpha,
            power=power + ("" if findings else ", show no difference"),
        ).with_findings(*findings)

    def statistical(self) -> AuditReport:
        """Count what is printed for pairs of words, and compare draws with the law."""
        if not self.runs:
            raise LawUnknownError("a statistical audit draws outputs: allow --runs")
        runs, level = self.runs, self.alpha * _OF_PAIRS
        printed = PrintedWords(self.state, self.policy, self.noise)
        chosen = self._choose_pairs(printed, level)
        covered = cover_groups(printed, self.policy, with_ordinary=self.with_ordinary)
        found = statistical.measure_pairs(
            printed,
            chosen,
            runs,
            level,
            partial(self.progress, "printing words"),
            covered,
        )
        self.progress("drawing members", 0.0)
        names, rng = self.names.words, self.rng
        half = level / 2
        findings = (
            compare_symbols(printed, self.state, names, half),
            stray_findings(self.state, self._law, names, runs, rng, half),
            member_findings(self.policy, names, runs, rng, half),
            digit_findings(self.policy, names, min(runs, _NUMBERS), rng, half),
        )
        drawn = (
            f"{amount(runs, 'printed word')} for each, {POOL * runs:,} symbols for "
            f"strays, {amount(runs, 'member')} or more of each group and format"
        )
        report = statistical.pair_report(
            self.claim, found, drawn, runs, self.alpha, level
        )
        return report.with_findings(*chain.from_iterable(map(_shorten, findings)))

    def _choose_pairs(self, printed: PrintedWords, level: float) -> list[Evidence]:
        """Pairs of printed words that such an audit could convict, if there are any."""
        reach = statistical.power_nats(self.runs, level, self.pairs)
        within: list[Evidence] = []
        beyond: list[Evidence] = []
        for symbols, words in choose_words(printed, self.policy, self.rng):
            if not self.with_ordinary and max(symbols) < len(self.policy.ordinary):
                continue  # the claim is not about two ordinary words
            pair = replace(self.claim.pair(*symbols), words=words)
            (within if pair.allowed <= reach else beyond).append(pair)
            if len(within) == self.pairs:
                break
        return (within or beyond)[: self.pairs]


def _shorten(findings: list[Finding]) -> list[Finding]:
    """Keep the first findings of a kind, and say how many more there are."""
    more = len(findings) - _LISTED
    if more <= 0:
        return findings
    kept = findings[:_LISTED]
    text = f"{kept[-1].text}; and {more:,} more of this kind"
    return [*kept[:-1], replace(kept[-1], text=text)]


def audit_policy(
    state: ResponseState,
    policy: Policy,
    *,
    claim: float | None,
    metric: str | None,
    method: str,
    runs: int,
    pairs: int,
    alpha: float,
    seed: int | None,
    progress: Any,
) -> AuditReport:
    """Audit a mechanism that is prepared for a policy, on the words of the policy.

    Parameters are those of :func:`mondegreen.audit.run.audit_state`. The claim of
    ``metric="discrete"`` is that every two symbols are protected, ordinary ones too.
    """
    if metric not in (None, "discrete"):
        raise ConfigurationError(
            f"--metric {metric} is for mechanisms on a space; a policy has the metric "
            "of its guarantee, or discrete"
        )
    guarantee = state.guarantee
    names = SymbolNames.of(policy)
    stated = guarantee.metric if metric is None else "discrete distance of symbols"
    epsilon = float(guarantee.epsilon if claim is None else claim)
    rng = np.random.default_rng(seed)
    audit = PolicyAudit(
        state,
        policy,
        names,
        Claim(guarantee.setting, epsilon, stated, discrete_distances, names),
        metric == "discrete" or not guarantee.conditions,
        runs,
        pairs,
        alpha,
        OSNoise() if seed is None else DrawnNoise(rng),
        rng,
        progress,
    )
    if method == "statistical":
        return audit.statistical()
    return audit.with_draws(audit.exact())
