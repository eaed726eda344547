"""What an audit found: the verdict, the worst pair, and how much it could have seen."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, final

from mondegreen.wording import amount

Verdict = Literal["holds", "broken", "not rejected", "not tested"]
"""``holds`` is exact or certified; ``not rejected`` proves nothing.

``not tested``: the law holds, but the draws cannot tell a sampler without noise.
"""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """One pair of inputs, one event, and what they say about epsilon."""

    ids: tuple[int, int]  # V stands for an unknown word
    words: tuple[str, str]  # the same as words: the space is public
    distance: float  # in the metric of the claim
    # ln P(E | w) / P(E | w') in nats: exact, or a lower confidence bound.
    loss: float = 0.0
    allowed: float  # epsilon times the distance, in nats
    event: tuple[str, ...] = ()  # the first few outputs in E
    outputs: int = 0  # how many outputs are in it
    counts: tuple[int, int] | None = None  # how many fresh runs fell into it
    runs: int | None = None  # fresh runs of each input

    @property
    def inputs(self) -> tuple[tuple[int, str], tuple[int, str]]:
        """The two inputs, each as its id and its word."""
        return (self.ids[0], self.words[0]), (self.ids[1], self.words[1])

    @property
    def excess(self) -> float:
        """Loss beyond what is allowed, in nats; positive where the claim is broken."""
        return self.loss - self.allowed

    @property
    def epsilon(self) -> float:
        """The least epsilon this allows: loss over distance, infinite at distance 0."""
        if self.loss <= 0:
            return 0.0
        return self.loss / self.distance if self.distance > 0 else math.inf

    def __str__(self) -> str:
        pair = f"{self.words[0]!r} and {self.words[1]!r}, {self.distance:.4g} apart"
        if self.counts is not None and self.loss <= 0:
            return f"{pair}: no loss was certified, allowed {_nats(self.allowed)}"
        names = ", ".join(map(repr, self.event))
        unnamed = self.outputs - len(self.event)
        more = f" and {unnamed:,} more" if unnamed > 0 else ""
        seen = ""
        if self.counts is not None:
            first, second = self.counts
            runs = amount(self.runs or 0, "run")
            seen = f"; seen {first:,} and {second:,} times in {runs}"
        return (
            f"{pair}: {'at least ' if seen else ''}{_nats(self.loss)}, allowed "
            f"{_nats(self.allowed)}, for the output {names}{more}{seen}"
        )


@final
@dataclass(frozen=True, slots=True)
class Finding:
    """A break or a warning besides the largest ratio, such as a fixed seed."""

    kind: str
    is_break: bool
    text: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.text}"


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class AuditReport:
    """The result of an audit.

    Attributes
    ----------
    verdict : str
        ``holds``, ``broken``, ``not rejected`` or ``not tested``.
    subject : str
        Mechanism or target.
    claimed : float, nats per unit of distance
        Epsilon that is claimed.
    found : float, nats per unit of distance
        Epsilon that was found.
    found_is : str
        ``exact``, ``lower bound`` or ``upper bound``.
    metric, space, space_digest : str
        What the claim is about.
    method : str
        How it was audited.
    pairs : int
        Number of pairs of inputs.
    power : str
        What a test of this size would have found.
    runs : int or None
        Draws per input, for statistical tests.
    alpha : float or None
        Chance of a false alarm.
    power_nats : float or None
        Largest loss that a test of this size could have certified.
    worst : Evidence or None
        The worst pair, and its output.
    findings : tuple of Finding
        What else was noticed.
    """

    # holds: every pair and output was computed, or a certificate says so. broken: one
    # violation was found; it is proof, up to alpha where the audit is statistical.
    # not rejected: none was found, which proves nothing; see power. not tested: the
    # law holds, but a sampler that returns its input would not have been found.
    verdict: Verdict
    subject: str  # what was audited
    claimed: float  # epsilon, nats per unit of the metric
    found: float  # infinite where an output is impossible for one input only
    found_is: Literal["exact", "lower bound", "upper bound"]
    metric: str  # of the claim
    space: str  # on other words the result may be another
    space_digest: str
    method: str
    pairs: int  # that were compared
    power: str  # what the audit could have seen, in words
    runs: int | None = None  # of each input in all, where outputs were drawn
    alpha: float | None = None  # chance that a sound mechanism is called broken
    power_nats: float | None = None  # the largest loss it could have certified
    # The largest loss per unit of distance; where outputs were counted, the certified
    # loss that exceeds what is allowed by most.
    worst: Evidence | None = None
    findings: tuple[Finding, ...] = ()

    @property
    def is_broken(self) -> bool:
        return self.verdict == "broken"

    @property
    def is_failed(self) -> bool:
        """Whether the claim is broken, or its sampler could not be tested."""
        return self.verdict in ("broken", "not tested")

    def without_sampler(self, why: str) -> AuditReport:
        """Say that the sampler was not tested; what was broken stays broken.

        Parameters
        ----------
        why : str
            What the draws could not see.

        Returns
        -------
        AuditReport
            A copy.
        """
        verdict: Verdict = "not tested" if self.verdict == "holds" else self.verdict
        return replace(self, verdict=verdict, power=f"{self.power}; {why}")

    def with_findings(self, *findings: Finding) -> AuditReport:
        """Add findings; one that breaks the claim decides the verdict.

        Parameters
        ----------
        *findings : Finding
            Findings to add.

        Returns
        -------
        AuditReport
            A copy.
        """
        broken = any(finding.is_break for finding in findings)
        return replace(
            self,
            findings=self.findings + findings,
            verdict="broken" if broken else self.verdict,
        )

    def to_dict(self) -> dict[str, Any]:
        """Give JSON values; an infinite number becomes the string ``inf``.

        Returns
        -------
        dict of str to JSON values
            One entry per attribute.
        """
        values = asdict(self)
        if self.worst is not None:
            values["worst"].update(excess=self.worst.excess, epsilon=self.worst.epsilon)
        return _json_values(values)  # type: ignore[no-any-return]

    def __str__(self) -> str:
        bound = {"exact": "", "lower bound": "at least ", "upper bound": "at most "}
        found = f"epsilon {bound[self.found_is]}{self.found:.6g}"
        if math.isinf(self.found):
            found = "infinite: no epsilon holds"
        lines = [
            ("subject", self.subject),
            (
                "claim",
                f"epsilon {self.claimed:.6g} per unit of d = {self.metric}, on "
                f"{self.space} ({self.space_digest[:12]})",
            ),
            ("found", found),
            *([("worst pair", str(self.worst))] if self.worst is not None else []),
            *(
                ("finding" if finding.is_break else "warning", str(finding))
                for finding in self.findings
            ),
            ("method", self.method),
            ("power", self.power),
        ]
        body = "\n".join(f"  {key:<10} {text}" for key, text in lines)
        return f"{self.verdict.upper()}\n{body}"


def _json_values(value: Any) -> Any:
    """The same value, in which no number is infinite and no list a tuple."""
    if isinstance(value, dict):
        return {key: _json_values(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_json_values(each) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


def _nats(value: float) -> str:
    return "an infinite loss" if math.isinf(value) else amount(f"{value:.4g}", "nat")
