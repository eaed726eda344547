"""What reproductions.json holds, as rows and as words for its page."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from benchmarks import machine
from benchmarks.pages.page import Table
from mondegreen.wording import figure
from mondegreen_experiments.cells import every_cell
from mondegreen_experiments.papers import NAMES
from mondegreen_experiments.recipe import point_key
from mondegreen_experiments.result import (
    APART,
    FAILS,
    HOLDS,
    NEAR,
    NO_TEST,
    NUMBERS,
    ONE_RUN,
    SEEDS,
    UNTOLD,
)

RESULT: Final = machine.RESULTS / "reproductions.json"
ROOMS: Final = {
    "cmp": ("CMP", "Feyisetan et al. 2020"),
    "vickrey": ("Vickrey", "Xu et al. 2021"),
    "tem": ("TEM", "Silva Carvalho et al. 2023, its poster"),
    "brr": ("BRR", "Silva Carvalho et al. 2021"),
    "benchmark": ("Comparative benchmark", "Meisenbacher et al. 2024"),
    "across": ("Across the papers", "experiments of several"),
}
"""Papers by the rooms of their recipes: a short name, and who wrote when."""

OURS: Final = "Ours"
"""Where a claim stands that no paper makes: a check of our own."""

NO_NOISE: Final = "none"
"""The law of a point where texts stay as they are."""

READER: Final = "reader"
"""What is said of a point at which the success of a reader is what is equal."""

OF_INTERVALS: Final = (NEAR, NO_TEST, ONE_RUN, SEEDS)
"""Why a verdict is not told by what was measured itself."""

Row = dict[str, Any]


def load() -> list[Row]:
    """A result for each recipe that was measured, at the larger scale that was."""
    stored = json.loads(RESULT.read_text("utf-8"))["results"]
    by_scale = sorted(stored, key=lambda row: row["scale"] == "full")
    larger = {row["recipe"]: row for row in by_scale}
    return [larger[name] for name in NAMES if name in larger]


def absent(rows: Sequence[Row]) -> list[str]:
    """Names of the recipes that were not measured."""
    return [name for name in NAMES if name not in {row["recipe"] for row in rows}]


def room(row: Row) -> str:
    """Where a result belongs."""
    return str(row["recipe"].partition("-")[0])


def claims(rows: Sequence[Row], of: str | None = None) -> list[Row]:
    """What papers claim, or one of them; checks of our own are left out."""
    return [
        claim
        for row in rows
        for claim in row["claims"]
        if not claim["where"].startswith(OURS)
        if of is None or of == paper(row, claim["where"])
    ]


def compared(rows: Sequence[Row], of: str | None = None) -> list[Row]:
    """Numbers of all papers, or of one, that stand beside a number of ours."""
    return [
        number
        for row in rows
        for number in row["published"]
        if number["ours"] is not None
        if of is None or of == paper(row, number["where"])
    ]


def paper(row: Row, where: str) -> str:
    """Which paper is meant: of experiments across papers, ``where`` begins with it.

    >>> paper({"recipe": "across-accuracy"}, "TEM, figure 2")
    'tem'
    """
    begins = where.partition(",")[0]
    named = {short: key for key, (short, _) in ROOMS.items()}
    return named.get(begins, room(row))


def counts(rows: Sequence[Row], key: str) -> dict[str, int]:
    """How many claims or numbers have each verdict, and how many are counted apart."""
    found = [row[key] for row in rows]
    return {verdict: found.count(verdict) for verdict in (HOLDS, FAILS, UNTOLD, APART)}


def is_aside(claim: Row) -> bool:
    """Whether a claim cannot be told here for a reason other than our interval."""
    return claim["verdict"] == UNTOLD and claim["why"] not in OF_INTERVALS


_ALLOWED: Final = re.compile(
    r"(?:falls|rises|more|below(?: it)?|smaller one) by (?:more than )?"
    r"(?P<step>[\d.]+)(?P<share> % of the largest)?"
)
"""Where the test of a claim says by how much a step may go the other way."""


def allowance(row: Row, claim: Row) -> float | None:
    """By how much a step may go the other way, in units of the margin."""
    found = _ALLOWED.search(claim["how"])
    if found is None:
        return None
    if found["share"]:  # of S_w alone
        largest = max(each["measures"]["s_w"]["value"] for each in row["points"])
        return float(found["step"]) / 100 * float(largest)
    return float(found["step"])


def is_within(row: Row, claim: Row) -> bool:
    """Whether a claim might not hold if its test allowed no step back.

    A test adds the allowance to the smallest step. So a margin up to the allowance does
    not exclude that some step is flat, or goes back.
    """
    allowed = allowance(row, claim)
    if claim["verdict"] != HOLDS or claim["margin"] is None or allowed is None:
        return False
    return float(claim["margin"]["low"]) <= allowed


def sides(known: Sequence[Row]) -> tuple[int, int, int]:
    """How many claims have an interval above 0, below 0, and with 0 in it or none."""
    found = [claim["margin"] for claim in known]
    above, below = (
        sum(mean is not None and sign * mean[end] > 0 for mean in found)
        for sign, end in ((1, "low"), (-1, "high"))
    )
    return above, below, len(found) - above - below


def cited(row: Row, claim: Row) -> str:
    """What a claim is cited by, which stays if its words change."""
    return f"{row['recipe']}/{claim['name']}"


def ours(mean: Row) -> str:
    """A mean with its interval, in short."""
    value, low, high = (figure(mean[key]) for key in ("value", "low", "high"))
    return value if low == high else f"{value} ({low} to {high})"


def at(point: Row, points: Sequence[Row]) -> str:
    """Where a number stands, by what tells it from the other points.

    >>> at({"law": "CMP", "epsilon": 5}, [{"law": "CMP", "epsilon": 1}])
    'epsilon=5'
    """
    names = [name for each in points for name in each if name in point]
    fixed = {n for n in names if all(n in p and p[n] == point[n] for p in points)}
    told = {
        name: value if isinstance(value := point[name], str) else f"{value:g}"
        for name in dict.fromkeys([*names, *point])
        if name not in fixed
    }
    if told.get("law") == NO_NOISE:  # an epsilon of 0 would be all noise
        told = {**told, "law": "no noise"}
        told.pop("epsilon", None)
    return point_key(told) or "–"


def texts(row: Row) -> Iterator[tuple[str, str, str]]:
    """Where, what, and the words that were found there."""
    points = [each["point"] for each in row["points"]]
    for each in row["points"]:
        for name, text in each["texts"].items():
            yield at(each["point"], points), name, text


def runs(row: Row) -> int:
    """How many runs a result is made of."""
    most = [
        max((mean["runs"] for mean in each["measures"].values()), default=1)
        for each in row["points"]
    ]
    return sum(most)


def numbers() -> Table:
    """Every published number that was measured again, beside ours."""
    header = (
        "experiment", "scale", "where", "point", "measure", "paper", "source",
        "tolerance", "ours", "low", "high", "runs", "verdict", "why",
    )  # fmt: skip
    lines = [
        [
            row["recipe"],
            row["scale"],
            each["where"],
            point_key(each["point"]),
            each["measure"],
            f"{each['paper']:.10g}",
            each["source"],
            f"{each['tolerance']:g}",
            *(f"{each['ours'][key]:.6g}" for key in ("value", "low", "high")),
            str(each["ours"]["runs"]),
            NUMBERS.get(each["agrees"], each["agrees"]),
            each["why"],
        ]
        for row in load()
        for each in row["published"]
        if each["ours"] is not None
    ]
    return Table(header, lines)


def judged() -> Table:
    """Every claim: the paper's numbers, by how much its test is passed, and why."""
    header = (
        "id", "of", "experiment", "scale", "where", "claim", "test", "paper's numbers",
        "source", "paper's margin", "our margin", "low", "high", "runs", "verdict",
        "why",
    )  # fmt: skip
    lines = [
        [
            cited(row, each) if each["name"] else "",
            "us" if each["where"].startswith(OURS) else "the paper",
            row["recipe"],
            row["scale"],
            each["where"],
            each["claim"],
            each["how"],
            "; ".join(map(_printed, each["printed"])),
            each["source"] if each["printed"] else "",
            "" if each["printed"] == [] else f"{each['printed_margin']:g}",
            *(
                "" if each["margin"] is None else f"{each['margin'][key]:.6g}"
                for key in ("value", "low", "high", "runs")
            ),
            each["verdict"],
            each["why"],
        ]
        for row in load()
        for each in row["claims"]
    ]
    return Table(header, lines)


def cells() -> Table:
    """Every number of the papers that we have, and where it comes from."""
    header = ["paper", "where", "at", "measure", "value", "source", "note"]
    lines = [
        [
            ROOMS[cell.paper][1],
            cell.where,
            point_key(cell.at),
            cell.measure,
            f"{cell.value:.10g}",
            cell.source,
            cell.note,
        ]
        for cell in every_cell()
    ]
    return Table(header, lines)


def _printed(cell: Row) -> str:
    values = ", ".join(f"{k} = {v:.10g}" for k, v in cell["measures"].items())
    return f"{point_key(cell['point'])}: {values}"
