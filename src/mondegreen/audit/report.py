"""What an audit found: the verdict, the worst pair, and how much it could have seen."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass, replace
from typing import Any, Final, Literal, final

from mondegreen.wording import amount

Verdict = Literal["holds", "broken", "not rejected"]
"""``holds`` is exact or certified; ``not rejected`` proves nothing."""

_SHOWN: Final = 8
"""Outputs of an event that are listed by name."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    r"""One pair of inputs, one event, and what they say about epsilon.

    Parameters
    ----------
    ids : (int, int)
        The inputs :math:`w, w'`; ``V`` or more stands for an unknown word.
    words : (str, str)
        The same as words: the space is public.
    distance : float
        :math:`d(w, w')` in the metric of the claim.
    loss : float, nats
        :math:`\ln P(E \mid w) / P(E \mid w')`: exact, or a lower confidence bound.
    allowed : float, nats
        Epsilon times the distance.
    event : tuple of str
        Outputs in :math:`E`, the first few.
    outputs : int
        How many outputs are in it.
    counts : (int, int) or None
        How often fresh runs fell into it, where the audit is statistical.
    runs : int or None
        Fresh runs of each input.
    """

    ids: tuple[int, int]
    words: tuple[str, str]
    distance: float
    loss: float
    allowed: float
    event: tuple[str, ...]
    outputs: int
    counts: tuple[int, int] | None = None
    runs: int | None = None

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
        names = ", ".join(repr(word) for word in self.event[:_SHOWN])
        more = f" and {self.outputs - _SHOWN:,} more" if self.outputs > _SHOWN else ""
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
    """Something besides the largest ratio.

    Parameters
    ----------
    kind : str
        Short name, such as ``fixed seed``.
    is_break : bool
        Whether it breaks the claim, or is a warning.
    text : str
        What was seen.
    """

    kind: str
    is_break: bool
    text: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.text}"


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class AuditReport:
    """The result of an audit.

    Parameters
    ----------
    verdict : {"holds", "broken", "not rejected"}
        ``holds``: every pair and output was computed, or a certificate says so.
        ``broken``: one violation was found; it is proof, up to ``alpha`` where the
        audit is statistical. ``not rejected``: none was found, which proves nothing;
        see ``power``.
    subject : str
        What was audited.
    claimed : float
        Epsilon of the claim, nats per unit of ``metric``.
    found : float
        Epsilon as found; infinite where an output is impossible for one input only.
    found_is : {"exact", "lower bound", "upper bound"}
        Which side ``found`` is on.
    metric : str
        Of the claim.
    space, space_digest : str
        Where it was audited. On other words the result may be another.
    method : str
        How.
    pairs : int
        Pairs of inputs that were compared.
    runs : int or None
        Runs of each input in all, where outputs were drawn.
    alpha : float or None
        Chance that a sound mechanism is called broken, over all pairs and events.
    power : str
        What the audit could have seen, in words.
    power_nats : float or None
        The largest loss that could have been certified; None where it is exact.
    worst : Evidence or None
        The pair with the largest loss per unit of distance; where outputs were
        counted, the pair whose certified loss exceeds what is allowed by most.
    findings : tuple of Finding
        What else was seen.

    Examples
    --------
    >>> import mondegreen as mg
    >>> from mondegreen.audit.run import audit_mechanism
    >>> space = mg.Space.from_arrays("line", ["a", "b", "c"], [[0], [1], [3]])
    >>> report = audit_mechanism(mg.mechanism("tem", epsilon=2.0), space, runs=0)
    >>> report.verdict, report.found_is, report.found <= 2.0
    ('holds', 'exact', True)
    """

    verdict: Verdict
    subject: str
    claimed: float
    found: float
    found_is: Literal["exact", "lower bound", "upper bound"]
    metric: str
    space: str
    space_digest: str
    method: str
    pairs: int
    power: str
    runs: int | None = None
    alpha: float | None = None
    power_nats: float | None = None
    worst: Evidence | None = None
    findings: tuple[Finding, ...] = ()

    @property
    def is_broken(self) -> bool:
        """Whether a violation was found."""
        return self.verdict == "broken"

    def with_findings(self, *findings: Finding) -> AuditReport:
        """Return the report with more findings; one that breaks decides the verdict."""
        broken = any(finding.is_break for finding in findings)
        return replace(
            self,
            findings=self.findings + findings,
            verdict="broken" if broken else self.verdict,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values; an infinite number becomes the string ``inf``."""
        values = asdict(self)
        if self.worst is not None:
            values["worst"].update(excess=self.worst.excess, epsilon=self.worst.epsilon)
        plain: dict[str, Any] = _json_values(values)
        return plain

    def to_json(self) -> str:
        """Return one line of JSON."""
        return json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False)

    def __str__(self) -> str:
        bound = {"exact": "", "lower bound": "at least ", "upper bound": "at most "}
        lines = [
            ("subject", self.subject),
            (
                "claim",
                f"epsilon {self.claimed:.6g} per unit of d = {self.metric}, on "
                f"{self.space} ({self.space_digest[:12]})",
            ),
            ("found", f"epsilon {bound[self.found_is]}{_number(self.found)}"),
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
    """Return a value in which no number is infinite, and no list a tuple."""
    if isinstance(value, dict):
        return {key: _json_values(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_json_values(each) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


def _number(value: float) -> str:
    return "infinity" if math.isinf(value) else f"{value:.6g}"


def _nats(value: float) -> str:
    return "an infinite loss" if math.isinf(value) else amount(f"{value:.4g}", "nat")
