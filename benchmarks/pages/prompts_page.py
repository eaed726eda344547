"""Write the tables of docs/explanation/private-prompts.md from the result file."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from benchmarks import machine
from benchmarks.pages.page import Table, fill

PAGE = "explanation/private-prompts.md"
SHOWN = "10"
# What one reader, who wrote the prompts, says of what is read at epsilon 10 and at 14:
# the numbers of those that ask the same, and of those that ask something near it.
JUDGED = {"10": ((), (3, 7, 14)), "14": ((2,), (3, 7, 11, 14))}
JUDGED_DIGEST = "baadf60d7d357dee"


def found() -> dict[str, Any]:
    """The results of the last run."""
    result: dict[str, Any] = json.loads(
        (machine.RESULTS / "private_prompts.json").read_text("utf-8")
    )
    return result


def judged() -> str:
    """A digest of what was judged: other releases are to be judged anew."""
    shown = [[each[f"sentence {e}"] for e in JUDGED] for each in found()["prompts"]]
    return hashlib.sha256(json.dumps(shown).encode()).hexdigest()[:16]


def verdict(number: int, epsilon: str) -> str:
    """Whether a prompt, read at that epsilon, asks the same."""
    same, near = JUDGED[epsilon]
    return "yes" if number in same else "nearly" if number in near else "no"


def prompts() -> Table:
    """The prompts, what is read of their release, and which ask the same."""
    if judged() != JUDGED_DIGEST:
        raise ValueError(f"other releases than those that were judged: {judged()}")
    rows = [
        [each["prompt"], each[f"sentence {SHOWN}"], verdict(i, SHOWN)]
        for i, each in enumerate(found()["prompts"])
    ]
    return Table(["prompt", "what the model gets", "asks the same"], rows, (1, 2))


def all_prompts() -> Table:
    """The same, as drawn too, and at another epsilon."""
    header, rows = ["prompt"], [[each["prompt"]] for each in found()["prompts"]]
    for epsilon in JUDGED:
        header += [f"raw, {epsilon}", f"read, {epsilon}", f"asks the same, {epsilon}"]
        for i, each in enumerate(found()["prompts"]):
            releases = each[f"none {epsilon}"], each[f"sentence {epsilon}"]
            rows[i] += [*releases, verdict(i, epsilon)]
    return Table(header, rows)


def verdicts() -> str:
    """How many of the prompts ask the same."""
    total = len(found()["prompts"])
    said = [
        f"at {epsilon}, {len(same)} of {total} ask the same and {len(near)} nearly the "
        "same"
        for epsilon, (same, near) in JUDGED.items()
    ]
    return (
        f"With `--read sentence`, by epsilon: {'; '.join(said)}. No raw release asks "
        "the same.\n"
    )


def insurance() -> Table:
    """What private questions about insurance find: same passage / right field."""
    cells: dict[str, dict[str, str]] = {}
    for each in found()["insurance"]:
        if each.get("epsilon") in (12.0, 1.5):
            continue
        asked, read = "original question", "none"
        if each["mechanism"]:
            asked, read = f"`{each['mechanism']}` {each['epsilon']:g}", each["read"]
        shares = f"{each['same']:.2f} / {each['field']:.2f}"
        cells.setdefault(asked, {})[read] = shares
    columns = {
        "none": "raw",
        "sentence": "read",
        "sentence, in-domain model": "read, in-domain model",
    }
    rows = [[k, *(row.get(c, "–") for c in columns)] for k, row in cells.items()]
    return Table(["question", *columns.values()], rows)


def diseases() -> str:
    """The same of questions about diseases, in a sentence."""
    shares = {
        f"`{each['mechanism']}` {each['epsilon']:g}": each["same"]
        for each in found()["diseases"]
        if each["mechanism"]
    }
    shown = ("`tree` 10", "`calibrated` 2", "`calibrated` 3")
    said = ", ".join(f"{name}: {shares[name]:.2f}" for name in shown)
    count = found()["passages"]["diseases"]
    return (
        f"We also searched {count:,} questions about diseases. This share of the raw "
        f"releases finds the same question as the original: {said}.\n"
    )


TABLES = {
    "prompts": prompts,
    "verdicts": verdicts,
    "insurance": insurance,
    "diseases": diseases,
}

DATA = {"private-prompts.csv": all_prompts}

if __name__ == "__main__":
    fill(PAGE, TABLES, DATA)
