"""All mechanisms at equal success of a reader: the headline of the reproductions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from benchmarks.pages.page import Table
from benchmarks.pages.reproductions_rows import NO_NOISE, READER, Row, at, load, ours
from mondegreen.wording import figure

NAME: Final = "benchmark-equal"
ABSENT: Final = "Not measured yet.\n"
EPSILON: Final = "epsilon"
READ: Final = "accuracy_read"
"""The same after each released word was replaced by its most likely input."""

FEW: Final = 4
"""Mechanisms that a sentence names."""

Groups = dict[str, dict[str, dict[float, Row]]]
"""Measures at a point, by the texts, the mechanism and the level."""

_OURS: Final = frozenset(("tree", "urr", "calibrated"))
"""Mechanisms that no paper of this page has."""


def equal_reader(rows: Sequence[Row]) -> str:
    """A table for each kind of texts: mechanisms by levels, the best ones first."""
    row = _row(rows)
    if row is None:
        return ABSENT
    y = _measure(row)
    parts = [
        "The columns are for settings at which a reader recovers that share of the "
        f"words{_missing(row)}: `{y}` with its 95 % interval; the same (`read`) after "
        "each released word was replaced by its most likely input, which costs no "
        "privacy; and epsilon, whose unit differs between mechanisms. Other measures "
        "and other senses of equal: "
        "[reproductions-equal.csv](data/reproductions-equal.csv).\n"
    ]
    for group, laws in _groups(row).items():
        levels = _levels(laws)
        ranked = sorted(laws, key=lambda law: -_value(laws[law].get(_main(levels)), y))
        lines = [
            [law, *(cell for level in levels for cell in _cells(laws[law], level, y))]
            for law in ranked
        ]
        shares = [f"{level:.0%}" for level in levels]
        header = [
            group or "mechanism",
            *(f"{name}, {each}" for each in shares for name in (y, "read", EPSILON)),
        ]
        parts += [str(Table(header, lines)), _without(row, group)]
    return "\n".join(parts)


def _missing(row: Row) -> str:
    """Which mechanisms reach no level."""
    laws = {law for group in _groups(row).values() for law in group}
    every = {str(e["point"]["law"]) for e in row["points"] if _is_of_reader(e["point"])}
    absent = sorted(every - laws)
    return f" ({', '.join(absent)}: at no epsilon)" if absent else ""


def equal_sentence(rows: Sequence[Row]) -> str:
    """Which mechanism keeps most where a reader recovers equally much."""
    row = _row(rows)
    if row is None:
        return ""
    y = _measure(row)
    best = [*_best(_groups(row), y), *_best(_groups(row), READ)]
    close = [each for each in best if len(each[-1]) > FEW]
    said = [
        f"{_named(laws)}{_whose(laws)} ({f'{group}, ' if group else ''}"
        f"{level:.0%} of the words"
        f"{'' if name == y else ', decoded word by word'})"
        for name, group, level, laws in best
        if len(laws) <= FEW
    ]
    groups = [group or "the texts" for group in _groups(row)]
    levels = sorted({level for _, _, level, _ in best})
    return (
        "We also compared mechanisms at equal success of a reader "
        f"({_named([f'{each:.0%}' for each in levels])} of the words): by the "
        f"{y} of releases, as they are or decoded word by word, on "
        f"{_named(groups, 'and')}. In {len(close)} of {len(best)} comparisons, "
        f"at least {FEW} mechanisms tie with the best."
        f"{_elsewhere(said)}"
    )


def _elsewhere(said: Sequence[str]) -> str:
    return f" Elsewhere, the best is {'; '.join(said)}." if said else ""


def _whose(laws: Sequence[str]) -> str:
    """Say of mechanisms of this project that they are."""
    return ", which is ours" if _OURS.issuperset(laws) else ""


def _named(best: Sequence[str], word: str = "or") -> str:
    return f" {word} ".join(filter(None, [", ".join(best[:-1]), best[-1]]))


def every() -> Table:
    """What was measured at each point, for programs."""
    row = _row(load())
    if row is None:
        return Table(["law"], [])
    names = list(dict.fromkeys(n for each in row["points"] for n in each["point"]))
    y = _measure(row)
    measures = dict.fromkeys(n for each in row["points"] for n in each["measures"])
    header = [*names, *measures, f"{y}, low", f"{y}, high"]
    lines = [
        [
            *(str(each["point"].get(name, "–")) for name in names),
            *(_number(each["measures"].get(name), "value") for name in measures),
            *(_number(each["measures"].get(y), end) for end in ("low", "high")),
        ]
        for each in row["points"]
    ]
    return Table(header, lines)


def _best(groups: Groups, y: str) -> Iterator[tuple[str, str, float, list[str]]]:
    """The best mechanism at each level, with those that reach into its interval."""
    for group, laws in groups.items():
        for level in _levels(laws):
            there = {law: each[level] for law, each in laws.items() if level in each}
            known = {law: found[y] for law, found in there.items() if y in found}
            if known:
                first = max(known.values(), key=lambda mean: float(mean["value"]))
                best = [law for law in known if known[law]["high"] >= first["low"]]
                yield y, group, level, sorted(best, key=lambda law: -_mean(known[law]))


def _mean(of: Row) -> float:
    return float(of["value"])


def _row(rows: Sequence[Row]) -> Row | None:
    return next((row for row in rows if row["recipe"] == NAME and _groups(row)), None)


def _measure(row: Row) -> str:
    """What is compared: what is drawn, or accuracy where nothing is."""
    return str(row["axes"][2]) if row["axes"] else "accuracy"


def _groups(row: Row) -> Groups:
    """What was measured at equal success of the reader."""
    groups: Groups = {}
    for each in row["points"]:
        point = each["point"]
        if _measure(row) in each["measures"] and _is_of_reader(point):
            laws = groups.setdefault(_group(row, point), {})
            found = laws.setdefault(str(point["law"]), {})
            found[float(point["level"])] = each["measures"]
    return groups


def _group(row: Row, point: Row) -> str:
    """Which texts, and all else that is neither mechanism nor level nor its sense."""
    apart = ("law", "level", "by")
    points = [
        {name: value for name, value in each.items() if name not in apart}
        for each in (point, *(each["point"] for each in row["points"]))
    ]
    found = at(points[0], points[1:]).rpartition("=")[2]
    return "" if found == "–" else found


def _is_of_reader(point: Row) -> bool:
    return "level" in point and READER in str(point.get("by"))


def _without(row: Row, group: str) -> str:
    """What is measured without noise, on the same texts."""
    found = [
        each["measures"][_measure(row)]
        for each in row["points"]
        if each["point"].get("law") == NO_NOISE
        and _group(row, each["point"]) == group
        and _measure(row) in each["measures"]
    ]
    return f"Without noise: {ours(found[0])}.\n" if found else ""


def _levels(laws: dict[str, dict[float, Row]]) -> list[float]:
    return sorted({level for found in laws.values() for level in found})


def _main(levels: Sequence[float]) -> float:
    """The level of which the summary speaks: in the middle, or more private."""
    return levels[(len(levels) - 1) // 2]


def _value(measures: Row | None, y: str) -> float:
    return float("-inf") if measures is None else float(measures[y]["value"])


def _cells(found: dict[float, Row], level: float, y: str) -> Iterator[str]:
    known = found.get(level, {})
    yield from (ours(known[name]) if name in known else "–" for name in (y, READ))
    yield figure(known[EPSILON]["value"]) if EPSILON in known else "–"


def _number(mean: Row | None, key: str) -> str:
    return "–" if mean is None else f"{mean[key]:.6g}"
