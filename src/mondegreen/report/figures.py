"""The figures of a study: which scores are drawn, against what, and how to read them."""

from __future__ import annotations

import contextlib
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias, final

from mondegreen.io.target import Target
from mondegreen.report.charts import Axis, Chart, Histograms, Line, Point, Row, picture
from mondegreen.report.numbers import Ends, Unit, exactly
from mondegreen.report.study import Study, score_of

if TYPE_CHECKING:
    from mondegreen.calibration.measurement import Measurement

Reader: TypeAlias = Callable[["Measurement"], Ends | None]


@final
@dataclass(frozen=True, slots=True)
class Score:
    """A score that has curves, and a column of the table of all settings."""

    name: str
    title: str
    says: str
    label: str
    column: str
    unit: Unit = "share"
    is_log: bool = False


SCORES: Final = (
    Score(
        "n_w_sample",
        "Words of a text that stay",
        "Of the words of a text like the sample, so many come out unchanged.",
        "share of running words",
        "words of a text that stay",
    ),
    Score(
        "n_w_mean",
        "Words of the vocabulary that stay",
        "The chance that a word comes out as itself (N_w), averaged over the "
        "vocabulary, where rare words count as much as frequent ones.",
        "mean of N_w",
        "N_w, mean",
    ),
    Score(
        "n_w_95",
        "The most exposed words",
        "For 95% of the vocabulary the chance to stay is at most this; the other "
        "5% are more exposed.",
        "95th percentile of N_w",
        "N_w, 95th percentile",
    ),
    Score(
        "s_w_05",
        "Likely outputs of the most exposed words",
        "S_w is the size of the smallest set of outputs that holds nearly all of the "
        "probability. 95% of the vocabulary have at least this many likely outputs.",
        "5th percentile of S_w, words",
        "S_w, 5th percentile",
        "number",
        is_log=True,
    ),
    Score(
        "bayes_risk_sample",
        "Best guess wrong: word frequencies known",
        "An adversary who knows the mechanism and how frequent words are sees one "
        "output and names the likeliest input. This is how often that name is wrong "
        "(Bayes risk); nobody with this knowledge is wrong less often.",
        "Bayes risk",
        "Bayes risk",
    ),
    Score(
        "bayes_risk_uniform",
        "Best guess wrong: all words alike",
        "The same adversary, for whom every word of the vocabulary is as likely as "
        "any other beforehand.",
        "Bayes risk",
        "Bayes risk",
    ),
    Score(
        "utility_loss_share_sample",
        "What a reader loses",
        "Expected distance between a word of the sample and what it becomes, as a "
        "share of the distance to a word drawn blindly. 0%: nothing changed. 100%: "
        "no better than words out of a hat.",
        "utility loss, share of a blind draw",
        "utility loss",
    ),
    Score(
        "utility_loss_share_uniform",
        "What a reader loses, all words alike",
        "The same for a text in which every word of the vocabulary is as frequent as "
        "any other.",
        "utility loss, share of a blind draw",
        "utility loss",
    ),
    Score(
        "certified_epsilon",
        "Certified epsilon: what is really spent",
        "What the mechanism as it is really sampled spends, computed over all pairs "
        "of words and rounded up; where its probabilities are not known, what the "
        "proof allows. In nats per unit of the mechanism's own metric: compare only "
        "curves of one metric.",
        "nats per unit of distance",
        "certified ε",
        "number",
        is_log=True,
    ),
    Score(
        "near_loss",
        "The promise for near words",
        "The most by which an output can move the odds between a word and its nearest "
        "neighbour: 1 nat is a factor of 2.7, 3 nats of 20, 7 nats of 1,100.",
        "nats",
        "nats, near words",
        "nats",
        is_log=True,
    ),
    Score(
        "worst_loss",
        "The promise for any two words",
        "The most by which an output can move the odds between any two words of the "
        "vocabulary, however unlike. Nats of different mechanisms mean the same.",
        "nats",
        "nats, any two words",
        "nats",
        is_log=True,
    ),
)

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
    """List the figures of a study, in the order of the page, as far as they are known."""
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
    for score in SCORES:
        axes = _ACROSS[against], Axis(score.label, score.unit, score.is_log)
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
    is_log = any(score.is_log for score in SCORES if score.name == name)

    def read(setting: Measurement) -> Ends | None:
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


def write_figures(
    study: Study, folder: str | Path, format: str = "svg", *, force: bool = False
) -> list[Path]:
    """Write every figure of a study to a file of its own.

    Parameters
    ----------
    study : Study
    folder : path
        Made if it does not exist.
    format : {"png", "svg"}
    force : bool
        Whether files that exist may be replaced.

    Returns
    -------
    list of Path
        What was written, each file whole.

    Raises
    ------
    InvalidParameterError
        If there is no such format.
    MissingExtraError
        If the extra ``report`` is not installed; nothing is written then.
    DataError
        If a file exists already, or cannot be written.
    """
    drawn = {each.key: picture(each, format) for each in figures(study)}
    where = Path(folder)
    where.mkdir(parents=True, exist_ok=True)
    return [
        save(where / f"{key}.{format}", data, force=force)
        for key, data in drawn.items()
    ]


def save(path: str | Path, data: bytes, *, force: bool) -> Path:
    """Write a file whole or not at all; one that exists is replaced only by force."""
    target = Target(str(path), force=force)
    with contextlib.closing(target):
        target.open()
        target.write(data)
        target.commit()
    return Path(path)
