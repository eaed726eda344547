"""What makers of tools print themselves, and the same counted in our releases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, final

from mondegreen.attacks.any_tool.rows import STANDS, Row
from mondegreen.attacks.any_tool.spans import Annotation
from mondegreen.attacks.attack import wilson

REDACTOR: Final = "llm-redactor's prompts"
PRESIDIO: Final = "Presidio's texts"


@final
@dataclass(frozen=True, slots=True)
class Printed:
    """A share that a maker prints for a kind of annotation; ``all`` is that of all."""

    kind: str
    value: float


LLM_REDACTOR: Final = (
    Printed("email", 0.000),
    Printed("phone", 0.000),
    Printed("ip_address", 0.000),
    Printed("ssn", 0.000),
    Printed("hostname", 0.000),
    Printed("address", 0.060),
    Printed("person", 0.123),
    Printed("org_name", 0.259),
    Printed("employee_id", 0.798),
    Printed("implicit", 0.114),
)
"""llm-redactor (Agyemang and others, 2026), paper/paper.tex, "Option B exact leak rate
by annotation kind (WL1)", and WL3 of "Exact leak rate per option per workload"."""

PRESIDIO_RESEARCH: Final = (
    Printed("CREDIT_CARD", 29 / 136),
    Printed("DATE_TIME", 20 / 219),
    Printed("EMAIL_ADDRESS", 0 / 49),
    Printed("IBAN_CODE", 1 / 21),
    Printed("IP_ADDRESS", 0 / 22),
    Printed("PERSON", 206 / 1369),
    Printed("PHONE_NUMBER", 148 / 350),
    Printed("US_SSN", 0 / 80),
)
"""presidio-research, notebooks/experiment_20221213-145441.json: words of each kind that
were given no kind at all, by its confusion matrix."""


def count_verbatim(
    spans: Sequence[Sequence[Annotation]],
    texts: Sequence[str],
    releases: Sequence[str],
) -> dict[str, float]:
    """Count annotations whose text is anywhere in the release, as llm-redactor does."""
    counts: dict[str, list[int]] = {}
    for some, text, release in zip(spans, texts, releases, strict=True):
        for start, end, kind in some:
            tally = counts.setdefault(kind, [0, 0])
            tally[0] += text[start:end] in release
            tally[1] += 1
    return _write("verbatim", counts)


def count_words(rows: Sequence[Row]) -> dict[str, float]:
    """Count words of annotations that stand in the release, as presidio-research does.

    There a word counts that is given no kind; here one that is printed.
    """
    counts: dict[str, list[int]] = {}
    for row in rows:
        for unit in row.units:
            tally = counts.setdefault(unit.kind, [0, 0])
            tally[0] += sum(row.fate[i] == STANDS for i in range(unit.first, unit.last))
            tally[1] += unit.last - unit.first
    return _write("words", counts)


def _write(measure: str, counts: Mapping[str, Sequence[int]]) -> dict[str, float]:
    """Name a share of each kind, its interval and its number."""
    found: dict[str, float] = {}
    for kind, (hits, count) in counts.items():
        low, high = wilson(hits, count)
        name = f"{measure} {kind}"
        found |= {name: hits / count, f"{name} low": low, f"{name} high": high}
        found[f"{name} n"] = count
    return found
