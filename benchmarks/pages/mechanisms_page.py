"""Write docs/explanation/which-mechanism.md and its data from the result files."""

from __future__ import annotations

import json

import numpy as np

from benchmarks import machine
from benchmarks.pages.page import Table, fill

PAGE = "explanation/which-mechanism.md"
MATCHED = ("exponential", "tem", "calibrated", "tight")
EQUAL_RISK = (
    "exponential",
    "tem",
    "calibrated",
    "calibrated (plain)",
    "tight",
    "laplace",
    "mahalanobis",
    "vickrey",
    "brr",
    "syntf",
)
RISK = 0.55


def load(name: str) -> dict:
    """One result file."""
    return json.loads((machine.RESULTS / f"{name}.json").read_text())


def mechanisms() -> Table:
    """Every mechanism at several epsilons."""
    header = [
        "mechanism",
        "epsilon",
        "certified",
        "metric",
        "nats, nearest word",
        "nats, any word",
        "stays, mean",
        "stays, 95 %",
        "distance moved",
        "risk, uniform",
        "risk, frequency",
        "audit",
    ]
    rows = [_row(row) for row in load("mechanisms")["rows"]]
    return Table(header, rows, text_columns=(0, 3, 11))


def _row(row: dict) -> list[str]:
    name = _label(row)
    if "refused" in row:
        return [name, f"{row['epsilon']:g}", *["–"] * 9, "rejected"]
    risk = row.get("risk_uniform")
    most = f"≤ {row['risk_uniform_at_most']:.3f}" if risk is None else f"{risk:.3f}"
    often = row.get("risk_frequency")
    low, high = row.get("risk_frequency_between", (None, None))
    bounds = "–" if low is None else f"{low:.2f} to {high:.2f}"
    verdict = row["verdict"]["verdict"]
    if not row["proved"]:  # the claim as published, where it can be audited exactly
        forms = load("published_forms")["forms"]
        verdict = f"{forms[row['mechanism']]['verdict']} (few words)"
    return [
        name,
        f"{row['epsilon']:g}",
        "–" if row["certified"] is None else f"{row['certified']:.3f}",
        row["metric"].partition(" (heights")[0],
        _nats(row, "nats_nearest"),
        _nats(row, "nats_any"),
        f"{row['n_w_mean']:.3f}",
        f"{row['n_w_95']:.3f}",
        f"{row['distance']:.2f}",
        most,
        bounds if often is None else f"{often:.3f}",
        verdict,
    ]


def _label(row: dict) -> str:
    name = f"`{row['mechanism'].split()[0]}`"
    name += ", mammals" if "(mammals)" in row["mechanism"] else ""
    return f"{name}, no β" if "(plain)" in row["mechanism"] else name


def _nats(row: dict, key: str) -> str:
    return f"{row[key]:.1f}" if row["proved"] else "–"


def at_one_promise() -> Table:
    """What is left of the words at one epsilon of the guarantee."""
    header = ["epsilon of the guarantee", *(_label({"mechanism": n}) for n in MATCHED)]
    found = {
        (row["mechanism"], row["epsilon"]): row for row in load("mechanisms")["rows"]
    }
    lines = []
    for epsilon in (1.0, 1.5, 2.0, 2.5, 3.0):
        cells = []
        for name in MATCHED:
            row = found.get((name, epsilon), {})
            stays = row.get("n_w_mean")
            missing = "rejected" if "refused" in row else "–"
            cells.append(missing if stays is None else f"{stays:.3f}")
        lines.append([f"{epsilon:g}", *cells])
    return Table(header, lines)


def at_equal_risk() -> Table:
    """What each mechanism pays for one Bayes risk, between its two settings."""
    header = ["mechanism", "epsilon", "nats, nearest word", "nats, any word"]
    lines = []
    for name in EQUAL_RISK:
        rows = [
            row
            for row in load("mechanisms")["rows"]
            if row["mechanism"] == name and "refused" not in row
        ]
        risks = [row.get("risk_uniform", 1 - row["n_w_mean"]) for row in rows]
        if not min(risks) < RISK < max(risks):
            lines.append([_label(rows[0]), "no such setting", "–", "–"])
            continue
        order = np.argsort(risks)
        keys = ("nats_nearest", "nats_any")
        spent = [[row["epsilon"], *(_certified(row, k) for k in keys)] for row in rows]
        epsilon, near, far = (
            float(np.interp(RISK, np.array(risks)[order], column))
            for column in np.array(spent)[order].T
        )
        lines.append([_label(rows[0]), f"{epsilon:.2f}", f"{near:.0f}", f"{far:.0f}"])
    return Table(header, lines)


def _certified(row: dict, key: str) -> float:
    """A loss in nats by the certificate, where there is one."""
    return row[key] * (row["certified"] or row["epsilon"]) / row["epsilon"]


def permute_and_flip() -> Table:
    """The comparison that keeps permute-and-flip out."""
    header = ["certified epsilon", "law", "rate", "stays, mean", "distance moved"]
    rows = [
        [
            f"{row['epsilon']:g}",
            row["law"].replace("_", "-"),
            f"{row['rate']:.3f}",
            f"{row['n_w_mean']:.4f}",
            f"{row['distance']:.4f}",
        ]
        for row in load("permute_and_flip")["rows"]
        if row["epsilon"] <= 2.5
    ]
    return Table(header, rows, text_columns=(1,))


TABLES = {"one promise": at_one_promise, "equal risk": at_equal_risk}
DATA = {"mechanisms.csv": mechanisms, "permute-and-flip.csv": permute_and_flip}

if __name__ == "__main__":
    fill(PAGE, TABLES, DATA)
