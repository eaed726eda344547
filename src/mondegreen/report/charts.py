"""The charts of a study: which scores are drawn, against what, and how to read them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, final

from mondegreen.report.chart import Axis, Chart, Ends, Line, Point, Unit
from mondegreen.report.study import Study, score_of

if TYPE_CHECKING:
    from mondegreen.calibration.score_bounds import ScoreBounds


@final
@dataclass(frozen=True, slots=True)
class _Score:
    """A score that has a curve."""

    name: str
    title: str
    says: str
    label: str
    unit: Unit
    is_log: bool = False


_CURVES: Final = (
    _Score(
        "n_w_sample",
        "Words of a text that stay",
        "Of the words of a text like the sample, so many come out unchanged.",
        "share of running words",
        "share",
    ),
    _Score(
        "n_w_mean",
        "Words of the vocabulary that stay",
        "The chance that a word comes out as itself (N_w), averaged over the "
        "vocabulary, where rare words count as much as frequent ones.",
        "mean of N_w",
        "share",
    ),
    _Score(
        "n_w_95",
        "The most exposed words",
        "For 95% of the vocabulary the chance to stay is at most this; the other "
        "5% are more exposed.",
        "95th percentile of N_w",
        "share",
    ),
    _Score(
        "s_w_05",
        "Likely outputs of the most exposed words",
        "S_w is the size of the smallest set of outputs that holds nearly all of the "
        "probability. 95% of the vocabulary have at least this many likely outputs.",
        "5th percentile of S_w, words",
        "number",
        True,
    ),
    _Score(
        "bayes_risk_sample",
        "Best guess wrong: word frequencies known",
        "An adversary who knows the mechanism and how frequent words are sees one "
        "output and names the likeliest input. This is how often that name is wrong "
        "(Bayes risk); nobody with this knowledge is wrong less often.",
        "Bayes risk",
        "share",
    ),
    _Score(
        "bayes_risk_uniform",
        "Best guess wrong: all words alike",
        "The same adversary, for whom every word of the vocabulary is as likely as "
        "any other beforehand.",
        "Bayes risk",
        "share",
    ),
    _Score(
        "utility_loss_share_sample",
        "What a reader loses",
        "Expected distance between a word of the sample and what it becomes, as a "
        "share of the distance to a word drawn blindly. 0%: nothing changed. 100%: "
        "no better than words out of a hat.",
        "utility loss, share of a blind draw",
        "share",
    ),
    _Score(
        "utility_loss_share_uniform",
        "What a reader loses, all words alike",
        "The same for a text in which every word of the vocabulary is as frequent as "
        "any other.",
        "utility loss, share of a blind draw",
        "share",
    ),
    _Score(
        "certified_epsilon",
        "Certified epsilon: what is really spent",
        "What the law that is really sampled spends, computed over all pairs of words "
        "and rounded up; for laws that are not known, what the proof allows. In nats "
        "per unit of the mechanism's own metric: compare only curves of one metric.",
        "nats per unit of distance",
        "number",
        True,
    ),
    _Score(
        "near_loss",
        "The promise for near words",
        "The most by which an output can move the odds between a word and its nearest "
        "neighbour: 1 nat is a factor of 2.7, 3 nats of 20, 7 nats of 1,100.",
        "nats",
        "nats",
        True,
    ),
    _Score(
        "worst_loss",
        "The promise for any two words",
        "The most by which an output can move the odds between any two words of the "
        "vocabulary, however unlike. Nats of different mechanisms mean the same.",
        "nats",
        "nats",
        True,
    ),
)

_PRIOR_RISK: Final = {
    "bayes_risk_sample": "prior_risk_sample",
    "bayes_risk_uniform": "prior_risk_uniform",
}

AGAINST: Final = {
    "epsilon": "nominal epsilon",
    "worst_loss": "worst loss",
    "bayes_risk": "Bayes risk",
}
"""What curves are drawn against, and what the page calls it."""


def styles(study: Study) -> dict[str, int]:
    """Return a number for each curve of a study, which tells colour and marker."""
    return {name: place for place, name in enumerate(study.curves())}


def main_prior(study: Study) -> str:
    """Return the prior to read first: that of the sample, where it was measured."""
    known = any(
        score_of(each, "bayes_risk_sample") is not None
        for curve in study.curves().values()
        for each in curve
    )
    return "sample" if known else "uniform"


def curve_charts(study: Study, against: str = "epsilon") -> list[Chart]:
    """Return a chart for each score of which something is known.

    Parameters
    ----------
    study : Study
    against : str
        One of :data:`AGAINST`.
    """
    name = against
    if against == "bayes_risk":
        name = f"bayes_risk_{main_prior(study)}"
    charts = []
    for score in _CURVES:
        if score.name != name:
            chart = _curve_chart(study, score, name, f"{score.name}-by-{against}")
            charts += [chart] if chart is not None else []
    return charts


def frontier(study: Study) -> Chart | None:
    """Return Bayes risk against utility loss; None where neither is known."""
    prior = main_prior(study)
    risk = f"bayes_risk_{prior}"
    for name, label, unit in _losses(prior):
        lines, missing = _lines(study, _reader(name), _reader(risk))
        if lines:
            across = Axis.around(label, unit, _values(lines, "x"), from_zero=True)
            return _frontier(across, lines, missing, _limits(study, risk))
    return None


def _frontier(
    across: Axis,
    lines: tuple[Line, ...],
    missing: tuple[str, ...],
    limits: tuple[tuple[str, float], ...],
) -> Chart:
    """Return the chart of the frontier."""
    return Chart(
        key="frontier",
        title="Privacy against usefulness",
        says="Each curve is one mechanism, each point one epsilon. Higher: the best "
        "guess is wrong more often. Further left: less is lost. Of two points, one "
        "that is higher and not further right is better by these two measures, "
        "whatever the epsilons are.",
        x=across,
        y=Axis.around(
            "Bayes risk", "share", [*_values(lines, "y"), *(y for _, y in limits)]
        ),
        lines=lines,
        reference=limits,
        missing=missing,
        corner="more private, more useful",
    )


def _losses(prior: str) -> tuple[tuple[str, str, Unit], ...]:
    """Return the utility losses that could be drawn, best first."""
    return (
        (
            f"utility_loss_share_{prior}",
            "utility loss, share of a blind draw",
            "share",
        ),
        (f"utility_loss_{prior}", "utility loss, unit of distance", "number"),
    )


def _curve_chart(study: Study, score: _Score, by: str, key: str) -> Chart | None:
    """Return the chart of one score."""
    above = 0.0 if score.is_log else None
    lines, missing = _lines(study, _reader(by), _reader(score.name, above))
    if not lines:
        return None
    limits = _limits(study, score.name)
    values = [*_values(lines, "y"), *(value for _, value in limits)]
    return Chart(
        key=key,
        title=score.title,
        says=score.says,
        x=_across(by, lines),
        y=Axis.around(score.label, score.unit, values, is_log=score.is_log),
        lines=lines,
        reference=limits,
        missing=missing,
    )


def _across(by: str, lines: Sequence[Line]) -> Axis:
    """Return the axis that a score is drawn against."""
    values = _values(lines, "x")
    if by == "epsilon":
        label = "nominal epsilon, each mechanism in its own metric"
        return Axis.around(label, "number", values, is_log=True)
    if by == "worst_loss":
        label = "worst loss between any two words, nats"
        return Axis.around(label, "nats", values, is_log=True)
    return Axis.around("Bayes risk", "share", values)


Reader = Callable[["ScoreBounds"], Ends | None]


def _reader(name: str, above: float | None = None) -> Reader:
    """Return what reads a score; values that a logarithm cannot show are unknown."""
    if name == "epsilon":
        return lambda measurement: (measurement.epsilon, measurement.epsilon)
    if name == "worst_loss":
        above = 0.0

    def read(measurement: ScoreBounds) -> Ends | None:
        ends = score_of(measurement, name)
        return (
            None if ends is None or (above is not None and ends[0] <= above) else ends
        )

    return read


def _lines(
    study: Study, x: Reader, y: Reader
) -> tuple[tuple[Line, ...], tuple[str, ...]]:
    """Return the lines of what is known, and the names of mechanisms without one."""
    numbers = styles(study)
    lines, missing = [], []
    for name, curve in study.curves().items():
        points = []
        for measurement in curve:
            across, up = x(measurement), y(measurement)
            if across is not None and up is not None:
                chosen = study.is_chosen(measurement)
                points.append(Point(measurement.epsilon, across, up, chosen))
        if points:
            lines.append(Line(name, numbers[name], tuple(points)))
        else:
            missing.append(name)
    return tuple(lines), tuple(missing)


def _values(lines: Iterable[Line], axis: str) -> list[float]:
    """Return all ends along one axis."""
    return [
        end for line in lines for point in line.points for end in getattr(point, axis)
    ]


def _limits(study: Study, name: str) -> tuple[tuple[str, float], ...]:
    """Return the risk before any output is seen, which no mechanism can exceed."""
    for curve in study.curves().values():
        for measurement in curve:
            ends = score_of(measurement, _PRIOR_RISK.get(name, ""))
            if ends is not None:
                return (("before any output is seen", ends[1]),)
    return ()
