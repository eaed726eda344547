"""Figures as data: what they are made of, and those of a study."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias, final

from mondegreen.report.study import Study, find_score
from mondegreen.scores.definitions import COLUMNS, Unit
from mondegreen.scores.interval import Interval
from mondegreen.wording import figure

if TYPE_CHECKING:
    from mondegreen.calibration.score_bounds import ScoreBounds
    from mondegreen.scores.word import WordScores


Ends: TypeAlias = tuple[float, float]
"""The ends of an interval; equal where a value is exact."""


@final
@dataclass(frozen=True, slots=True)
class Axis:
    """What an axis shows; a share is written in per cent, and starts at 0.

    A logarithmic one ``from_zero`` starts at 1.
    """

    label: str
    unit: Unit = "number"
    is_log: bool = False
    from_zero: bool = False


@final
@dataclass(frozen=True, slots=True)
class Point:
    """One place of a curve: the ends of what is known of each coordinate.

    Where all points of a curve have an ``estimate`` of y, it is drawn through these.
    """

    x: Ends
    y: Ends
    epsilon: float | None = None
    is_chosen: bool = False
    estimate: float | None = None


@final
@dataclass(frozen=True, slots=True)
class Line:
    """A curve; ``style`` numbers its colour, dash and marker.

    Where a ``dash`` is numbered by itself, the curve is part of a fan of one colour,
    and has no markers.
    """

    name: str
    style: int
    points: tuple[Point, ...]
    dash: int | None = None

    @classmethod
    def exact(cls, name: str, style: int, places: Sequence[Ends]) -> Line:
        """Make a curve of places that are known exactly."""
        return cls(name, style, tuple(Point((x, x), (y, y)) for x, y in places))


@final
@dataclass(frozen=True, slots=True)
class Chart:
    """Curves over two axes; ``key`` names files and identifiers.

    ``limit`` is a value of y that nothing can exceed, with its name, ``corner`` what
    the upper left corner means, ``missing`` names curves with too little data.
    """

    key: str
    title: str
    says: str
    x: Axis
    y: Axis
    lines: tuple[Line, ...]
    limit: tuple[str, float] | None = None
    missing: tuple[str, ...] = ()
    corner: str = ""


@final
@dataclass(frozen=True, slots=True)
class Bar:
    """A named value, drawn with its interval if it has one."""

    name: str
    value: float
    ends: Ends
    style: int = 0


@final
@dataclass(frozen=True, slots=True)
class Bars:
    """Bars from zero, one above the other."""

    title: str
    says: str
    x: Axis
    bars: tuple[Bar, ...]


Figure: TypeAlias = Chart | Bars


_EPSILON: Final = Axis("nominal epsilon, each in its own metric", is_log=True)
_LOSS: Final = Axis("worst loss between any two words, nats", "nats", is_log=True)
_RISK: Final = Axis("Bayes risk", "share")
AGAINST: Final = {
    "epsilon": ("nominal epsilon", _EPSILON),
    "worst_loss": ("worst loss", _LOSS),
    "bayes_risk": ("Bayes risk", _RISK),
}
"""What curves are drawn against, what the page calls it, and its axis."""

PERCENTILES: Final = (0, 5, 25, 50, 75, 95, 100)
"""Of the vocabulary, whose scores are drawn."""


def figures(study: Study) -> list[Chart]:
    """List what is known of a study as figures, in the order of the page."""
    first, last = frontier(study), neighbour_chart(study)
    curves = [chart for against in AGAINST for chart in curve_charts(study, against)]
    spread = [each for name in study.curves() for each in spreads(study, name)]
    return [*([first] if first else []), *curves, *spread, *([last] if last else [])]


def main_prior(study: Study) -> str:
    """Choose the prior to read first: that of the sample, where it was measured."""
    return "sample" if study.has("bayes_risk_sample") else "uniform"


def curve_charts(study: Study, against: str = "epsilon") -> list[Chart]:
    """Describe a chart for each score with data."""
    by = f"bayes_risk_{main_prior(study)}" if against == "bayes_risk" else against
    charts = []
    for score in COLUMNS.values():
        axes = AGAINST[against][1], Axis(score.axis, score.unit, score.is_log)
        lines, missing = _lines(study, by, score.name)
        if lines and score.name != by:
            charts.append(
                Chart(
                    f"{score.name}-by-{against}", score.title, score.says, *axes,
                    lines, _limit(study, score.name), missing,
                )
            )  # fmt: skip
    return charts


def frontier(study: Study) -> Chart | None:
    """Describe Bayes risk against utility loss; None where neither is known."""
    prior = main_prior(study)
    risk = f"bayes_risk_{prior}"
    across = Axis("utility loss, share of a blind draw", "share")
    lines, missing = _lines(study, f"utility_loss_share_{prior}", risk)
    if not lines:
        across = Axis("utility loss, unit of distance", from_zero=True)
        lines, missing = _lines(study, f"utility_loss_{prior}", risk)
    if not lines:
        return None
    return Chart(
        key="frontier",
        title="Privacy against usefulness",
        says="Each curve is a mechanism, and each point is an epsilon. At a higher "
        "point, the best guess is wrong more often. At a point further left, words "
        "move less. If one point is higher than another and not further right, it is "
        "better by these two measures, whatever the epsilons are.",
        x=across,
        y=_RISK,
        lines=lines,
        limit=_limit(study, risk),
        missing=missing,
        corner="more private, more useful",
    )


def _find_known(setting: ScoreBounds, name: str) -> Ends | None:
    """Look up a score; what its logarithmic axis cannot show is not known."""
    ends = find_score(setting, name)
    is_log = name in COLUMNS and COLUMNS[name].is_log
    return None if ends is None or (is_log and ends[0] <= 0) else ends


def _lines(study: Study, x: str, y: str) -> tuple[tuple[Line, ...], tuple[str, ...]]:
    """Collect the curves of what is known, and the names of mechanisms without one."""
    lines, missing = [], []
    for style, (name, curve) in enumerate(study.curves().items()):
        points = tuple(
            Point(across, up, setting.epsilon, study.is_chosen(setting))
            for setting in curve
            if (across := _find_known(setting, x)) and (up := _find_known(setting, y))
        )
        if points:
            lines.append(Line(name, style, points))
        else:
            missing.append(name)
    return tuple(lines), tuple(missing)


def _limit(study: Study, name: str) -> tuple[str, float] | None:
    """Find the risk before any output is seen, which no mechanism can exceed."""
    prior = name.replace("bayes_risk", "prior_risk")
    found = (find_score(each, prior) for each in study.settings if prior != name)
    high = next((ends[1] for ends in found if ends), None)
    return None if high is None else ("before any output is seen", high)


def spreads(study: Study, name: str) -> list[Chart]:
    """Describe how N_w and S_w of a mechanism are spread over the vocabulary."""
    style = list(study.curves()).index(name)
    charts = []
    for score, title, says, axis in (
        (
            "n_w",
            "How likely words are to stay",
            "Each band contains the share of words that its name says. The words at "
            "its upper edge are the most likely to stay.",
            Axis("probability to stay, N_w", "share"),
        ),
        (
            "s_w",
            "How many outputs are likely",
            "Each band contains the share of words that its name says. The words at "
            "its lower edge have the fewest likely outputs.",
            Axis("likely outputs, S_w, words", is_log=True, from_zero=True),
        ),
    ):
        rows = [
            (each.epsilon, [found[at] for at in PERCENTILES], study.is_chosen(each))
            for each in study.curves()[name]
            if (found := getattr(each, score)) and all(map(math.isfinite, found))
        ]
        if rows:
            key, lines = curve_key(name, style), _fan(PERCENTILES, rows, style)
            chart = Chart(f"{score}-{key}", title, says, _EPSILON, axis, lines)
            charts.append(chart)
    return charts


def neighbour_chart(study: Study) -> Chart | None:
    """Describe the distances to the k-th nearest words; None where not known."""
    known = study.neighbours
    if known is None or not known["k"]:
        return None
    pairs = zip(known["k"], known["distances"], strict=True)
    return Chart(
        key="neighbours",
        title="How far the k-th nearest word is",
        says="For half of the words, the k-th nearest word is below the solid line. "
        "Each band contains the share of words that its name says.",
        x=Axis("k", is_log=True),
        y=Axis("distance", from_zero=True),
        lines=_fan(known["percentiles"], [(k, row, False) for k, row in pairs]),
    )


def _fan(
    percentiles: Sequence[float],
    rows: Sequence[tuple[float, Sequence[float], bool]],
    style: int = 0,
) -> tuple[Line, ...]:
    """Nest percentiles of the words around the median.

    Each row has a place, the percentiles there, and whether it is the chosen one.
    """
    lines = []
    for place in range((len(percentiles) + 1) // 2):
        low, high = percentiles[place], percentiles[-1 - place]
        points = tuple(
            Point((x, x), (row[place], row[-1 - place]), None, low == high and ringed)
            for x, row, ringed in rows
        )
        name = f"the middle {high - low:g}% of the words"
        name = "all words" if high - low == 100 else name
        name = "the median word" if high == low else name
        dash = 0 if low == high else place + 1
        lines.append(Line(name, style, points, dash))
    return tuple(lines)


def word_bars(scores: WordScores, word: str, setting: str) -> Bars:
    """Describe the most likely outputs of a word, and what all others hold together.

    The bar of the word itself has another colour than those of other words.
    """
    bars = []
    for output in scores.outputs:
        known = output.probability
        if isinstance(known, Interval):
            value, ends = known.estimate or 0.0, (known.low, known.high)
        else:
            value, ends = known, (known, known)
        is_word = scores.is_known and output.word == word
        bars.append(Bar(output.word, value, ends, 1 if is_word else 0))
    rest = max(0.0, 1 - sum(bar.value for bar in bars))
    return Bars(
        f"What happens to {word}",
        f"The most likely outputs under {setting}, and all others together.",
        Axis(f"probability of the output; {setting}", "share"),
        (*bars, Bar("all other words", rest, (rest, rest), 6)),
    )


def curve_key(name: str, style: int) -> str:
    """Name a curve in identifiers and files, uniquely in a study.

    >>> curve_key("vickrey (t = 0.5)", 1)
    '2-vickrey-t-0-5'
    """
    short = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:40].strip("-")
    return f"{style + 1}-{short}" if short else f"{style + 1}"


def format_number(value: float, unit: Unit = "number") -> str:
    """Write a number to three digits.

    >>> format_number(0.6214, "share"), format_number(33860.0), format_number(0.00021)
    ('62.1%', '33,860', '0.00021')
    """
    if unit == "share":
        # What is nearly certain must not look certain.
        nearly = 0.9995 <= value < 1
        return ">99.9%" if nearly else f"{figure(value, 'percent')}%"
    return figure(value, "count" if 999.5 <= abs(value) < 1e9 else "number")


def in_words(ends: Ends, unit: Unit = "number") -> str:
    """Write an interval, or one number where it is exact.

    >>> in_words((0.25, 0.31), "share"), in_words((12.0, 12.0))
    ('25–31%', '12')
    """
    low, high = (format_number(end, unit) for end in ends)
    if low == high:
        return low
    return f"{low.removesuffix('%') if unit == 'share' else low}–{high}"


def at_most(value: float) -> str:
    """Write a number to three digits, rounded up: what is said to be a bound is one.

    >>> at_most(7.131), at_most(1253.2), at_most(20.0)
    ('7.14', '1,260', '20')
    """
    if value <= 0:
        return "0"
    unit = 10.0 ** (math.floor(math.log10(value)) - 2)
    return format_number(math.ceil(value / unit * (1 - 1e-12)) * unit)


def exactly(epsilon: float) -> str:
    """Write an epsilon as it has to be typed, but for digits after the sixth."""
    return figure(epsilon, digits=6)
