"""The plots of docs/explanation/speed.md, from the results of growth.py."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from mondegreen.report.figures import Axis, Chart, Line

__all__ = ["CHAIN", "charts"]

CHAIN: Final = ("glove-10k", "glove-34k", "w2v-102k", "w2v-400k")
_DIMENSIONS: Final = ("w2v-34k-50d", "w2v-34k-100d", "w2v-34k-300d")
_PLOTTED: Final = (
    "laplace",
    "vickrey",
    "mahalanobis",
    "tem",
    "exponential",
    "syntf",
    "calibrated",
    "tree",
)
_SEARCH: Final = "search alone"
_WARM: Final = "words_per_second"

Lines = dict[str, list[tuple[float, float]]]


def charts(growth: dict[str, Any]) -> dict[str, Chart]:
    """Plots by file name; one without measurements is left out."""
    rate = "words a second"
    vocabulary = "words of the vocabulary"
    higher = "Higher is faster; both axes are logarithmic."
    lower = "Lower is better; both axes are logarithmic."
    drawn = (
        (
            "vocabulary",
            "Speed by vocabulary",
            higher,
            _by_space(growth, CHAIN, "words", _WARM) | _search(growth, CHAIN, "words"),
            (vocabulary, rate),
        ),
        (
            "dimension",
            "Speed by dimension",
            higher,
            _by_space(growth, _DIMENSIONS, "dim", _WARM)
            | _search(growth, _DIMENSIONS, "dim"),
            ("dimensions of the vectors", rate),
        ),
        (
            "batch",
            "Speed by batch",
            higher,
            _details(growth, "batch"),
            ("words of a batch", rate),
        ),
        (
            "length",
            "Speed by length of text",
            higher,
            _details(growth, "length"),
            ("words of a text", rate),
        ),
        (
            "first-word",
            "Time to the first word",
            lower,
            _by_space(growth, CHAIN, "words", "first_word_seconds"),
            (vocabulary, "seconds from start to first word"),
        ),
        (
            "memory",
            "Memory by vocabulary",
            lower,
            _by_space(growth, CHAIN, "words", "peak_mib"),
            (vocabulary, "peak memory, MiB"),
        ),
    )
    return {
        f"speed-{name}.svg": Chart(
            f"speed-{name}",
            title,
            says,
            *(Axis(label, is_log=True) for label in labels),
            tuple(_line(name, places) for name, places in lines.items()),
        )
        for name, title, says, lines, labels in drawn
        if lines
    }


def _line(name: str, places: list[tuple[float, float]]) -> Line:
    """One curve; a mechanism looks alike in every plot."""
    return Line.exact(name, (*_PLOTTED, "brr", _SEARCH).index(name), sorted(places))


def _by_space(
    growth: dict[str, Any], spaces: Sequence[str], axis: str, key: str
) -> Lines:
    """Return a line for each mechanism, over a property of the spaces."""
    lines: Lines = {}
    for name in _PLOTTED:
        for space in spaces:
            value = growth["points"].get(f"{name}|{space}|default", {}).get(key)
            if value is not None:
                lines.setdefault(name, []).append(
                    (growth["spaces"][space][axis], value)
                )
    return lines


def _search(growth: dict[str, Any], spaces: Sequence[str], axis: str) -> Lines:
    """Return the line of exact search: medians over the processes that measured it."""
    line = []
    for space in spaces:
        found = sorted(
            point["search_alone_per_second"]
            for key, point in growth["points"].items()
            if key.endswith(f"|{space}|default") and "search_alone_per_second" in point
        )
        if found:
            line.append((growth["spaces"][space][axis], found[len(found) // 2]))
    return {_SEARCH: line} if line else {}


def _details(growth: dict[str, Any], key: str) -> Lines:
    """Return a line for each mechanism on the embedded space."""
    lines: Lines = {}
    for name in (*_PLOTTED, "brr"):
        rates = growth["points"].get(f"{name}|glove-34k|default", {}).get(key, {})
        if rates:
            lines[name] = [(float(place), rate) for place, rate in rates.items()]
    return lines
