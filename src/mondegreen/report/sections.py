"""The parts of the page below the answer: explanations, figures, and tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from mondegreen.report.answer import odds
from mondegreen.report.chart import Unit, exactly, in_words, written
from mondegreen.report.charts import (
    AGAINST,
    curve_charts,
    frontier,
    main_prior,
    styles,
)
from mondegreen.report.distributions import (
    neighbour_fan,
    stay_histograms,
    support_histograms,
)
from mondegreen.report.figure import figure_element
from mondegreen.report.figures import curve_key
from mondegreen.report.markup import escaped, table, word
from mondegreen.report.study import Study, curve_name, score_of
from mondegreen.report.svg.element import swatch

if TYPE_CHECKING:
    from mondegreen.calibration.score_bounds import ScoreBounds


_PRIORS: Final = {
    "sample": "the word frequencies of the sample, smoothed by one",
    "uniform": "equal frequencies of all words",
}


def tradeoff(study: Study) -> str:
    """Return the frontier, and how to read the page."""
    chart = frontier(study)
    drawn = figure_element(chart, is_wide=True) if chart is not None else _nothing()
    prior = _PRIORS[main_prior(study)]
    return (
        '<section id="frontier"><h2>What privacy costs</h2>'
        "<p>Privacy here is how often the best possible guess of a single word is "
        "wrong; cost is how far words move in meaning. Both are averages under "
        f"{prior}.</p>{drawn}</section>"
    )


def reading(study: Study) -> str:
    """Return what the words of the page mean."""
    sampled = [
        name
        for name, curve in study.curves().items()
        if not all(each.is_exact for each in curve)
    ]
    exact = "All laws of this page are known, and their scores computed."
    if sampled:
        exact = (
            f"Sampled, not computed: {escaped(', '.join(sampled))}. More samples would "
            "narrow their intervals."
        )
    if study.is_quick:
        exact += " This was a quick run, whose intervals are wide."
    metrics: dict[str, list[str]] = {}
    for name, curve in study.curves().items():
        metrics.setdefault(curve[0].metric, []).append(name)
    listed = "; ".join(
        f"{escaped(metric)}: {escaped(', '.join(names))}"
        for metric, names in metrics.items()
    )
    return (
        '<section id="reading"><h2>How to read this page</h2><div class="columns">'
        '<div class="card"><h3>Epsilon has a unit</h3><p>Epsilon is privacy lost, in '
        "nats, per unit of distance between two words; smaller is more private. The "
        "unit is the distance of the mechanism’s own metric. The same epsilon of two "
        "metrics is two different promises, and even within one metric two mechanisms "
        "use up their promise differently. So do not compare mechanisms at equal "
        "epsilon; compare them at equal Bayes risk or equal worst loss.</p>"
        f'<p class="hint">Metrics here. {listed}.</p></div>'
        '<div class="card"><h3>A promise is not a score</h3><p><strong>Certified '
        "epsilon, worst loss</strong> hold against everyone, whatever they know. "
        "<strong>Words that stay, likely outputs, Bayes risk</strong> say how one law "
        "behaves towards one kind of observer. They are easier to imagine, and they "
        "promise nothing. Choose by both.</p></div>"
        f'<div class="card"><h3>Computed, or estimated</h3><p>{exact}</p>'
        "<p>Where only an interval is known, both of its ends are shown: two numbers, "
        "a band, or a box. Each holds the true value with 95% confidence; nothing "
        "between its ends is likelier than the rest.</p>"
        "<p>Nats are logarithms of odds: 1 nat multiplies odds by up to 2.7, 3 nats "
        "by 20, 7 nats by 1,100.</p></div>"
        "</div></section>"
    )


_COLUMNS: Final[tuple[tuple[str, Unit, str], ...]] = (
    ("n_w_sample", "share", "words of a text that stay"),
    ("n_w_mean", "share", "N<sub>w</sub>, mean"),
    ("n_w_95", "share", "N<sub>w</sub>, 95th percentile"),
    ("s_w_05", "number", "S<sub>w</sub>, 5th percentile"),
    ("bayes_risk_sample", "share", "Bayes risk"),
    ("bayes_risk_uniform", "share", "Bayes risk"),
    ("utility_loss_share_sample", "share", "utility loss"),
    ("utility_loss_share_uniform", "share", "utility loss"),
    ("certified_epsilon", "number", "certified ε"),
    ("near_loss", "nats", "nats, near words"),
    ("worst_loss", "nats", "nats, any two words"),
)


def all_settings(study: Study) -> str:
    """Return one row for each setting, with every score that any of them has."""
    curves_of = study.curves()
    other = "uniform" if main_prior(study) == "sample" else "sample"
    known = [
        column
        for column in _COLUMNS
        if not column[0].endswith(other)
        and any(
            score_of(each, column[0]) is not None
            for curve in curves_of.values()
            for each in curve
        )
    ]
    head = "".join(
        f'<th scope="col">{name}</th>'
        for name in ("mechanism", "ε", *(title for _, _, title in known))
    )
    numbers = styles(study)
    bodies = "".join(
        _body(study, name, numbers[name], curve, known)
        for name, curve in curves_of.items()
    )
    return (
        '<section id="all"><h2>All settings</h2>'
        "<p>Unchanged words, N<sub>w</sub> and S<sub>w</sub> describe words; Bayes "
        "risk and utility loss a guesser and a reader, under "
        f"{_PRIORS[main_prior(study)]}; nats are what is promised.</p>"
        '<div class="card scroll" role="region" tabindex="0" aria-label="All settings">'
        '<table class="settings"><caption>Every measured setting. Two numbers are '
        "the ends of an interval.</caption>"
        f"<thead><tr>{head}</tr></thead>{bodies}</table></div>"
        "</section>"
    )


def _body(
    study: Study,
    name: str,
    style: int,
    curve: Sequence[ScoreBounds],
    columns: Sequence[tuple[str, Unit, str]],
) -> str:
    """Return the rows of one mechanism."""
    rows = []
    for place, measurement in enumerate(curve):
        chosen = study.is_chosen(measurement)
        first = ""
        if place == 0:
            first = (
                f'<th scope="rowgroup" class="curve" rowspan="{len(curve)}">'
                f"{swatch(style)} {escaped(name)}</th>"
            )
        pick = '<span class="pick">chosen</span>' if chosen else ""
        cells = "".join(
            f"<td>{_cell(measurement, score, unit)}</td>" for score, unit, _ in columns
        )
        kind = ' class="chosen"' if chosen else ""
        rows.append(
            f'<tr{kind}>{first}<th scope="row">{exactly(measurement.epsilon)}{pick}'
            f"</th>{cells}</tr>"
        )
    return f"<tbody>{''.join(rows)}</tbody>"


def _cell(measurement: ScoreBounds, score: str, unit: Unit) -> str:
    ends = score_of(measurement, score)
    if ends is None:
        return '<span title="not known">–</span>'
    return in_words(ends, unit)


def curves(study: Study) -> str:
    """Return the curves, drawn against each of several things in turn."""
    groups, labels = [], []
    for place, (against, name) in enumerate(AGAINST.items()):
        charts = curve_charts(study, against)
        if not charts:
            continue
        checked = " checked" if place == 0 else ""
        labels.append(
            f'<input type="radio" name="against" id="against-{against}"{checked}>'
            f'<label for="against-{against}">{name}</label>'
        )
        drawn = "".join(map(figure_element, charts))
        groups.append(
            f'<div class="grid by-{against}" role="group" '
            f'aria-label="Curves against {name}">{drawn}</div>'
        )
    if not groups:
        return f'<section id="curves"><h2>Curves</h2>{_nothing()}</section>'
    return (
        '<section id="curves"><h2>From private to useful</h2>'
        "<p>Nominal epsilons of different mechanisms are not comparable: against "
        "epsilon, read one curve at a time. To compare mechanisms, draw the curves "
        "against what is promised (worst loss) or against what the best guess "
        "achieves (Bayes risk), and compare at one place of the axis.</p>"
        f"<fieldset><legend>Draw against</legend>{''.join(labels)}</fieldset>"
        f"{''.join(groups)}</section>"
    )


def words(study: Study) -> str:
    """Return how scores are spread over the vocabulary, and the worst words by name."""
    numbers = styles(study)
    names = list(study.curves())
    opened = names[:1]
    if study.chosen is not None:
        opened = [curve_name(study.chosen)]
    groups = "".join(
        _group(study, name, curve, numbers, is_open=name in opened)
        for name, curve in study.curves().items()
    )
    return (
        '<section id="words"><h2>Word by word</h2>'
        "<p>An average hides who is exposed. N<sub>w</sub> is the chance that a word "
        "comes out unchanged, S<sub>w</sub> the size of the smallest set of outputs "
        f"that holds {written(1 - study.eta, 'share')} of the probability. Words far "
        "from all others stay longest.</p>"
        f"{groups or _nothing()}</section>"
    )


def _group(
    study: Study,
    name: str,
    curve: Sequence[ScoreBounds],
    numbers: dict[str, int],
    *,
    is_open: bool,
) -> str:
    """Return the histograms and the worst words of one mechanism."""
    key = curve_key(name, numbers)
    drawn = [
        figure_element(found)
        for make in (stay_histograms, support_histograms)
        if (found := make(study, curve, numbers[name], key)) is not None
    ]
    rows = [[exactly(each.epsilon), _worst(each.worst)] for each in curve if each.worst]
    if rows:
        listed = table(
            "The words likeliest to stay, with their chance", ["ε", "words"], rows
        )
        drawn.append(f'<div class="card text worst">{listed}</div>')
    if not drawn:
        return ""
    state = " open" if is_open else ""
    return (
        f'<details class="group"{state}>'
        f"<summary>{escaped(name)}</summary>"
        f'<div class="grid">{"".join(drawn)}</div></details>'
    )


def _worst(worst: Sequence[tuple[str, float]]) -> str:
    return ", ".join(
        f'<span class="pair">{word(name)} '
        f"<small>{written(chance, 'share')}</small></span>"
        for name, chance in worst
    )


def space_section(study: Study) -> str:
    """Return how far apart the words of the space are."""
    fan = neighbour_fan(study)
    scale = study.scale
    said = ""
    if scale:
        said = (
            "<p>The median word has its nearest other word at distance "
            f"{written(scale['nearest'])}. Two words drawn at random are "
            f"{written(scale['mean'])} apart, the two farthest "
            f"{written(scale['diameter'])}. At ε = 1 that is odds of up to "
            f"{odds(scale['nearest'])}, {odds(scale['mean'])} and "
            f"{odds(scale['diameter'])}.</p>"
        )
    drawn = figure_element(fan, is_wide=True) if fan is not None else _nothing()
    known = study.neighbours
    if known is not None and known.words < known.vocab_size:
        drawn += (
            f'<p class="note-line">From {known.words:,} words drawn at random to all '
            f"{known.vocab_size:,}.</p>"
        )
    return (
        '<section id="distances"><h2>Distances of the space</h2>'
        "<p>Epsilon is multiplied by distances, so it means nothing without them. "
        "Where a curve is flat, a mechanism that reaches the first neighbours reaches "
        f"hundreds of them.</p>{said}{drawn}</section>"
    )


def limits(study: Study) -> str:
    """Return what the page does not say."""
    sampled = ""
    if study.sample is not None:
        sampled = (
            "<li>The frequencies come from a sample that must be public: a choice made "
            "on private text tells about that text.</li>"
        )
    return (
        '<section id="limits" class="card"><h2>What these numbers do not say</h2><ul>'
        "<li>They are about one word. Losses of the words of a text add up: for 20 "
        "changed words, 20 times the nats.</li>"
        "<li>The guesser of the Bayes risk sees one output word and no context. Who "
        "reads the sentence around it guesses better; the promise in nats holds for "
        "that reader, too.</li>"
        "<li>The number of words and the punctuation of a text are not hidden.</li>"
        "<li>Utility loss is a distance of vectors. Whether a text still serves its "
        "purpose, only that purpose can tell: try it.</li>"
        f"{sampled}</ul></section>"
    )


def _nothing() -> str:
    return '<p class="note-line">Nothing is known that could be drawn here.</p>'
