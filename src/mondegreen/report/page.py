"""The report of a study: one self-contained page, and its figures as files."""

from __future__ import annotations

import base64
import functools
import json
import math
import re
import unicodedata
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from mondegreen.io.target import Target
from mondegreen.report import figures
from mondegreen.report.charts import inline, picture, swatch
from mondegreen.report.figures import AGAINST, Chart, Ends, format_number, in_words
from mondegreen.report.study import (
    SampleRelease,
    Study,
    command_line,
    curve_name,
    find_score,
    python_lines,
)
from mondegreen.report.svg import check_drawing, escape_plain, plain, theme
from mondegreen.scores.definitions import COLUMNS, Column
from mondegreen.wording import amount

if TYPE_CHECKING:
    from jinja2 import Template

    from mondegreen.calibration.score_bounds import ScoreBounds

_PRIORS: Final = {
    "sample": "the word frequencies of the sample, smoothed by one",
    "uniform": "equal frequencies of all words",
}
_WIDE, _NARROW = (660, 420), (340, 290)
"""Sizes of drawings, so that their letters are as large as those around them."""


def write_report(study: Study, path: str | Path, *, force: bool = False) -> None:
    """Write the report of a study: one HTML file, whole or not at all.

    It needs nothing else. A file that exists is replaced only by ``force``.
    """
    data = report_html(study).encode()
    Target(str(path), force=force).write_whole(data)


def write_figures(
    study: Study, folder: str | Path, format: str = "svg", *, force: bool = False
) -> list[Path]:
    """Write every figure of a study to a file of its own, "svg" or "png".

    The folder is made if it does not exist; a file that exists is replaced only by
    ``force``. Nothing is written if a figure cannot be drawn.
    """
    pictures = {each.key: picture(each, format) for each in figures.figures(study)}
    Path(folder).mkdir(parents=True, exist_ok=True)
    paths = [Path(folder, f"{key}.{format}") for key in pictures]
    for path, data in zip(paths, pictures.values(), strict=True):
        Target(str(path), force=force).write_whole(data)
    return paths


def report_html(study: Study) -> str:
    """Write the report of a study as HTML; whatever texts hold, they stay text."""
    check_drawing("a report")
    curves, prior, chosen = study.curves(), figures.main_prior(study), study.chosen
    metrics: dict[str, list[str]] = {}
    for name, curve in curves.items():
        metrics.setdefault(curve[0].metric, []).append(name)
    sampled = {curve_name(each) for each in study.settings if not each.is_exact}
    charts = {against: figures.curve_charts(study, against) for against in AGAINST}
    other = "uniform" if prior == "sample" else "sample"
    shown: dict[str, Any] = {}
    if chosen is not None:
        shown["tiles"] = _tiles(chosen, prior)
        shown["command"] = study.command or command_line(chosen, study.space)
        shown["python"] = python_lines(study, chosen)
    return _template().render(
        **shown,
        study=study,
        curves=curves,
        prior=prior,
        prior_name=_PRIORS[prior],
        frontier=figures.frontier(study),
        sentences=_sentences(study),
        metrics=metrics,
        sampled=[name for name in curves if name in sampled],
        groups=[(key, AGAINST[key][0], each) for key, each in charts.items() if each],
        words=_words(study),
        columns=[
            score
            for score in COLUMNS.values()
            if not score.name.endswith(other) and study.has(score.name)
        ],
        neighbours=figures.neighbour_chart(study),
        data=base64.b64encode(json.dumps(study.to_dict()).encode()).decode(),
    )


@functools.cache
def _template() -> Template:
    from jinja2 import Environment, StrictUndefined
    from markupsafe import Markup

    page = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: value if isinstance(value, Markup) else plain(value),
    )
    for each in (figures.at_most, amount, figures.exactly, format_number):
        page.filters[each.__name__] = each
    page.filters["name"] = curve_name
    page.globals["numbers_of"] = _numbers

    # What these make is HTML: drawn here, or escaped.
    def html(function: Callable[..., str]) -> Callable[..., Markup]:
        return lambda *given: Markup(function(*given))  # noqa: S704

    made: tuple[Any, ...] = (symbols, odds, mark, cell, style, swatch, draw)
    for function in made:
        name = function.__name__
        page.filters[name] = page.globals[name] = html(function)
    return page.from_string(_file("page.html"))


def _file(name: str) -> str:
    return resources.files("mondegreen.report").joinpath(name).read_text("utf-8")


def style() -> str:
    """Write the style sheet: colours for light and dark, and the rest."""
    hidden = "".join(
        f"main:has(#against-{other}:checked) .by-{against}{{display:none}}"
        for against in AGAINST
        for other in AGAINST
        if other != against
    )
    return f"{theme()}\n{_file('page.css')}{hidden}"


def draw(figure: Chart, is_wide: bool) -> str:
    """Draw a figure; one that fills the page also for narrow screens."""
    narrow = inline(figure, *_NARROW, "narrow")
    return narrow + inline(figure, *_WIDE, "for-wide") if is_wide else narrow


def symbols(text: str) -> str:
    return re.sub(r"\b([NS])_w\b", r"\1<sub>w</sub>", escape_plain(text))


def _tiles(chosen: ScoreBounds, prior: str) -> dict[str, Any]:
    """Collect the few numbers to read first, as far as they are known."""
    stay = find_score(chosen, f"n_w_{prior}") or find_score(chosen, "n_w_mean")
    support = find_score(chosen, "s_w_05")
    loss = find_score(chosen, f"utility_loss_share_{prior}")
    near, worst = (find_score(chosen, f"{pair}_loss") for pair in ("near", "worst"))
    return {
        "stay": _of_hundred(stay),
        "risk": _of_hundred(find_score(chosen, f"bayes_risk_{prior}")),
        "before": _of_hundred(find_score(chosen, f"prior_risk_{prior}")),
        "support": support and format_number(support[0]),
        "loss": loss and in_words(loss, "share"),
        "near": near and worst and near[1],
        "worst": worst and worst[1],
    }


def _of_hundred(ends: Ends | None) -> str | None:
    return None if ends is None else in_words((100 * ends[0], 100 * ends[1]))


def odds(nats: float) -> str:
    """Write the factor that so many nats are at most, as HTML.

    >>> odds(3.0), odds(30.0)
    ('20.1', '10<sup>14</sup>')
    """
    if nats < math.log(1e5):
        return figures.at_most(math.exp(nats))
    return f"10<sup>{math.ceil(nats / math.log(10) - 1e-9)}</sup>"


def _sentences(study: Study) -> list[tuple[str, dict[str, list[Any]]]]:
    """Arrange releases by sentence and curve, by rising epsilon."""
    # A setting may be both measured and chosen: it is shown once.
    releases: dict[str, dict[float, SampleRelease]] = {}
    for each in study.releases:
        releases.setdefault(curve_name(each), {})[each.epsilon] = each
    found = []
    for at, sentence in enumerate(study.sentences if releases else ()):
        shown = {
            name: [
                (each, each.texts[at])
                for _, each in sorted(rows.items())
                if at < len(each.texts)
            ]
            for name, rows in releases.items()
        }
        found.append((sentence, shown))
    return found


def mark(release: str, original: str) -> str:
    """Write a release as HTML, with its unchanged words marked.

    Words are compared place by place, without case and punctuation. Where the two have
    unequal numbers of words, which word is which is not known, and none is marked.

    >>> mark("i saw ann.", "I met Ann.")
    '<bdi><mark>i</mark> saw <mark>ann.</mark></bdi>'
    """
    before, after = plain(original).split(), plain(release).split()
    if len(before) != len(after):
        return f"<bdi>{escape_plain(release)}</bdi>"
    shown = (
        f"<mark>{escape_plain(new)}</mark>"
        if _bare(old) == _bare(new)
        else escape_plain(new)
        for old, new in zip(before, after, strict=True)
    )
    return f"<bdi>{' '.join(shown)}</bdi>"


def _bare(text: str) -> str:
    """Drop case and punctuation; keep all, if nothing would be left."""
    kept = "".join(char for char in text if unicodedata.category(char)[0] not in "PSZC")
    return (kept or text).casefold()


def _words(study: Study) -> list[tuple[str, list[Chart], list[ScoreBounds], bool]]:
    """Collect the charts and the most exposed words of each mechanism."""
    # That of the chosen setting is open, or else the first.
    first = next(iter(study.curves()), "")
    opened = curve_name(study.chosen) if study.chosen else first
    found = []
    for name, curve in study.curves().items():
        charts, exposed = figures.spreads(study, name), [m for m in curve if m.worst]
        if charts or exposed:
            found.append((name, charts, exposed, name == opened))
    return found


def cell(setting: ScoreBounds, score: Column) -> str:
    ends = find_score(setting, score.name)
    unknown = '<span title="not known">–</span>'
    return unknown if ends is None else in_words(ends, score.unit)


def _numbers(chart: Chart) -> tuple[list[str], list[list[str]], int]:
    """Make the table behind a chart: head, rows, and how many cells name a row."""
    points = [point for line in chart.lines for point in line.points]
    has_epsilon = any(point.epsilon is not None for point in points)
    names = [line.name for line in chart.lines for _ in line.points]
    head, columns = ["mechanism" if has_epsilon else "words"], [names]
    if has_epsilon:
        head.append("ε")
        columns.append([figures.exactly(point.epsilon or 0) for point in points])
    # A curve against epsilon has that as its x.
    if not (has_epsilon and chart.key.endswith("-by-epsilon")):
        head.append(chart.x.label)
        columns.append([in_words(point.x, chart.x.unit) for point in points])
    head.append(chart.y.label)
    columns.append([in_words(point.y, chart.y.unit) for point in points])
    rows = list(map(list, zip(*columns, strict=True)))
    if chart.limit is not None:
        name, value = chart.limit
        rows.append(
            [name, *[""] * (len(columns) - 2), format_number(value, chart.y.unit)]
        )
    return head, rows, 2
