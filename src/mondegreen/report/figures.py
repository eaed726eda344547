"""Figures as data: what they are made of, and those of a study."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final, TypeAlias, final

from mondegreen.report.numbers import Ends, exactly
from mondegreen.report.study import Study, score_of
from mondegreen.scores.definitions import COLUMNS, Unit
from mondegreen.scores.interval import Interval

if TYPE_CHECKING:
    from mondegreen.calibration.score_bounds import ScoreBounds
    from mondegreen.scores.word import WordScores


@final
@dataclass(frozen=True, slots=True)
class Axis:
    """What an axis shows; a share is written in per cent, and starts at 0."""

    label: str
    unit: Unit = "number"
    is_log: bool = False
    from_zero: bool = False


@final
@dataclass(frozen=True, slots=True)
class Point:
    """One place of a curve: the ends of what is known of each coordinate."""

    x: Ends
    y: Ends
    epsilon: float | None = None
    is_chosen: bool = False


@final
@dataclass(frozen=True, slots=True)
class Line:
    """A curve; ``style`` numbers its colour, dash and marker."""

    name: str
    style: int
    points: tuple[Point, ...]

    @classmethod
    def exact(cls, name: str, style: int, places: Sequence[Ends]) -> Line:
        """Make a curve of places that are known exactly."""
        return cls(name, style, tuple(Point((x, x), (y, y)) for x, y in places))


@final
@dataclass(frozen=True, slots=True)
class Chart:
    """Curves over two axes; ``key`` names files and identifiers.

    ``limit`` is a value of y that nothing can exceed, with its name, ``corner`` what
    the upper left corner means, ``missing`` names curves of which too little is known.
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
class Row:
    """One histogram: the share of words in each bin."""

    title: str
    shares: tuple[float, ...]
    is_chosen: bool = False


@final
@dataclass(frozen=True, slots=True)
class Histograms:
    """Histograms over the same bins, one above the other."""

    key: str
    title: str
    says: str
    x: Axis
    edges: tuple[float, ...]
    rows: tuple[Row, ...]
    style: int


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


Figure: TypeAlias = Chart | Histograms | Bars
Reader: TypeAlias = Callable[["ScoreBounds"], Ends | None]


AGAINST: Final = {
    "epsilon": "nominal epsilon",
    "worst_loss": "worst loss",
    "bayes_risk": "Bayes risk",
}
"""What curves are drawn against, and what the page calls it."""

_ACROSS: Final = {
    "epsilon": Axis("nominal epsilon, each in its own metric", is_log=True),
    "worst_loss": Axis("worst loss between any two words, nats", "nats", is_log=True),
    "bayes_risk": Axis("Bayes risk", "share"),
}
_BINS: Final = 20


def figures(study: Study) -> list[Chart | Histograms]:
    """List what is known of a study as figures, in the order of the page."""
    first, last = frontier(study), neighbour_chart(study)
    curves = [chart for against in AGAINST for chart in curve_charts(study, against)]
    spread = [each for name in study.curves() for each in histograms(study, name)]
    return [*([first] if first else []), *curves, *spread, *([last] if last else [])]


def main_prior(study: Study) -> str:
    """Choose the prior to read first: that of the sample, where it was measured."""
    settings = (each for curve in study.curves().values() for each in curve)
    known = any(score_of(each, "bayes_risk_sample") is not None for each in settings)
    return "sample" if known else "uniform"


def curve_charts(study: Study, against: str = "epsilon") -> list[Chart]:
    """Describe a chart for each score of which something is known."""
    by = f"bayes_risk_{main_prior(study)}" if against == "bayes_risk" else against
    charts = []
    for score in COLUMNS.values():
        axes = _ACROSS[against], Axis(score.axis, score.unit, score.is_log)
        lines, missing = _lines(study, _reader(by), _reader(score.name))
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
    share = Axis("utility loss, share of a blind draw", "share")
    distance = Axis("utility loss, unit of distance", from_zero=True)
    for loss, across in (
        (f"utility_loss_share_{prior}", share),
        (f"utility_loss_{prior}", distance),
    ):
        lines, missing = _lines(study, _reader(loss), _reader(risk))
        if lines:
            return Chart(
                key="frontier",
                title="Privacy against usefulness",
                says="Each curve is one mechanism, each point one epsilon. Higher: the "
                "best guess is wrong more often. Further left: less is lost. Of two "
                "points, one that is higher and not further right is better by these "
                "two measures, whatever the epsilons are.",
                x=across,
                y=Axis("Bayes risk", "share"),
                lines=lines,
                limit=_limit(study, risk),
                missing=missing,
                corner="more private, more useful",
            )
    return None


def _reader(name: str) -> Reader:
    """Make what reads a score; what its logarithmic axis cannot show is not known."""
    if name == "epsilon":
        return lambda setting: (setting.epsilon, setting.epsilon)
    is_log = name in COLUMNS and COLUMNS[name].is_log

    def read(setting: ScoreBounds) -> Ends | None:
        ends = score_of(setting, name)
        return None if ends is None or (is_log and ends[0] <= 0) else ends

    return read


def _lines(
    study: Study, x: Reader, y: Reader
) -> tuple[tuple[Line, ...], tuple[str, ...]]:
    """Collect the curves of what is known, and the names of mechanisms without one."""
    lines, missing = [], []
    for style, (name, curve) in enumerate(study.curves().items()):
        points = tuple(
            Point(across, up, setting.epsilon, study.is_chosen(setting))
            for setting in curve
            if (across := x(setting)) is not None and (up := y(setting)) is not None
        )
        if points:
            lines.append(Line(name, style, points))
        else:
            missing.append(name)
    return tuple(lines), tuple(missing)


def _limit(study: Study, name: str) -> tuple[str, float] | None:
    """Find the risk before any output is seen, which no mechanism can exceed."""
    prior = name.removeprefix("bayes_risk_")
    for curve in study.curves().values():
        for setting in curve:
            ends = score_of(setting, f"prior_risk_{prior}")
            if ends is not None:
                return "before any output is seen", ends[1]
    return None


def histograms(study: Study, name: str) -> Iterator[Histograms]:
    """Describe how N_w and S_w are spread over the vocabulary, for each epsilon."""
    numbers = list(study.curves())
    curve, style = study.curves()[name], numbers.index(name)
    key = curve_key(name, style)
    top = float(max(study.vocab_size, 2))
    heights = (
        "The height is the share of the vocabulary; in every row the highest bar, "
        "whose share is written beside it, fills it."
    )
    for score, title, says, axis, edges in (
        (
            "n_w",
            "How likely words are to stay",
            "To the left are words that nearly always change, to the right words that "
            "nearly always stay.",
            Axis("chance to stay, N_w", "share"),
            tuple(place / _BINS for place in range(_BINS + 1)),
        ),
        (
            "s_w",
            "How many outputs are likely",
            "To the left are words with few likely outputs, to the right words that "
            "may become nearly any word.",
            Axis("likely outputs, S_w, words", is_log=True),
            tuple(top ** (place / _BINS) for place in range(_BINS + 1)),
        ),
    ):
        rows = tuple(
            Row(f"ε = {exactly(setting.epsilon)}", shares, study.is_chosen(setting))
            for setting in curve
            if (shares := binned(getattr(setting, score) or (), edges))
        )
        if rows:
            about = f"{score}-{key}", title, f"{says} {heights}"
            yield Histograms(*about, axis, edges, rows, style)


def neighbour_chart(study: Study) -> Chart | None:
    """Describe the distances to the k-th nearest words; None where not known."""
    known = study.neighbours
    if known is None or not known.k:
        return None
    count = len(known.percentiles)
    lines = []
    for place in range((count + 1) // 2):
        low, high = known.percentiles[place], known.percentiles[-1 - place]
        points = tuple(
            Point((k, k), (row[place], row[-1 - place]))
            for k, row in zip(known.k, known.distances, strict=True)
        )
        name = "the median word" if low == high else f"{high - low:g}% of the words"
        lines.append(Line(name, place, points))
    return Chart(
        key="neighbours",
        title="How far the k-th nearest word is",
        says="Half of the words have their k-th nearest word within the middle line; "
        "each band holds the share of the words in the middle that its name tells.",
        x=Axis("k", is_log=True),
        y=Axis("distance", from_zero=True),
        lines=tuple(lines),
    )


def word_bars(scores: WordScores, word: str, setting: str) -> Bars:
    """Describe the likeliest outputs of a word, and what all others hold together.

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
        f"What becomes of {word}",
        f"The likeliest outputs under {setting}, and all others together.",
        Axis(f"probability of the output; {setting}", "share"),
        (*bars, Bar("all other words", rest, (rest, rest), 6)),
    )


def binned(percentiles: Sequence[float], edges: Sequence[float]) -> tuple[float, ...]:
    """Count the share of words in each bin, from percentiles at even steps.

    Between two percentiles the words are taken as spread evenly, which they are up to
    the share between the two. What lies outside of all bins is counted in the first or
    the last. Nothing is counted if a percentile is not a finite number.

    >>> binned([0.0, 0.5, 0.5, 0.5, 1.0], [0.0, 0.5, 1.0])
    (0.25, 0.75)
    """
    if len(percentiles) < 2 or not all(map(math.isfinite, percentiles)):
        return ()
    bounds = [-math.inf, *edges[1:-1], math.inf]
    shares = [0.0] * (len(edges) - 1)
    each = 1 / (len(percentiles) - 1)
    for low, high in pairwise(percentiles):
        for place, (start, stop) in enumerate(pairwise(bounds)):
            if high > low:
                within = max(0.0, min(high, stop) - max(low, start))
                shares[place] += each * within / (high - low)
            elif start <= low < stop:
                shares[place] += each
    return tuple(shares)


def curve_key(name: str, style: int) -> str:
    """Name a curve in identifiers and files, uniquely in a study.

    >>> curve_key("vickrey (t = 0.5)", 1)
    '2-vickrey-t-0-5'
    """
    short = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:40].strip("-")
    return f"{style + 1}-{short}" if short else f"{style + 1}"
