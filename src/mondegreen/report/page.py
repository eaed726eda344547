"""The report of a study: one self-contained page, and its figures as files."""

from __future__ import annotations

import base64
import functools
import json
import math
import re
import unicodedata
from importlib import resources
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from mondegreen.io.target import Target
from mondegreen.report.charts import inline, picture, swatch
from mondegreen.report.figures import (
    AGAINST,
    Chart,
    Ends,
    at_most,
    curve_charts,
    exactly,
    figures,
    frontier,
    in_words,
    main_prior,
    neighbour_chart,
    spreads,
    written,
)
from mondegreen.report.study import (
    SampleRelease,
    Study,
    command_line,
    curve_name,
    python_lines,
    score_of,
)
from mondegreen.report.svg import check_drawing, plain, theme
from mondegreen.scores.definitions import COLUMNS, Column
from mondegreen.wording import amount

if TYPE_CHECKING:
    from jinja2 import Template
    from markupsafe import Markup

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
    Target(str(path), force=force).write_all(report_html(study).encode())


def write_figures(
    study: Study, folder: str | Path, format: str = "svg", *, force: bool = False
) -> list[Path]:
    """Write every figure of a study to a file of its own, "svg" or "png".

    The folder is made if it does not exist; a file that exists is replaced only by
    ``force``. Nothing is written if a figure cannot be drawn.
    """
    drawn = {each.key: picture(each, format) for each in figures(study)}
    where = Path(folder)
    where.mkdir(parents=True, exist_ok=True)
    for key, data in drawn.items():
        Target(str(where / f"{key}.{format}"), force=force).write_all(data)
    return [where / f"{key}.{format}" for key in drawn]


def report_html(study: Study) -> str:
    """Write the report of a study as HTML; whatever texts hold, they stay text."""
    check_drawing("a report")
    curves, prior = study.curves(), main_prior(study)
    metrics: dict[str, list[str]] = {}
    for name, curve in curves.items():
        metrics.setdefault(curve[0].metric, []).append(name)
    charts = {against: curve_charts(study, against) for against in AGAINST}
    chosen = study.chosen
    data = json.dumps(study.to_dict(), ensure_ascii=True).encode()
    return _template().render(
        study=study,
        style=_style(),
        curves=curves,
        prior=prior,
        prior_name=_PRIORS[prior],
        tiles=None if chosen is None else _tiles(chosen, prior),
        command=chosen and (study.command or command_line(chosen, study.space)),
        python="" if chosen is None else python_lines(study, chosen),
        frontier=frontier(study),
        sentences=_sentences(study),
        metrics=metrics,
        sampled=[
            name
            for name, curve in curves.items()
            if not all(each.is_exact for each in curve)
        ],
        groups=[(key, AGAINST[key], found) for key, found in charts.items() if found],
        words=_words(study),
        columns=_columns(study, prior),
        neighbours=neighbour_chart(study),
        data=base64.b64encode(data).decode(),
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
    for each in (at_most, amount, exactly, written):
        page.filters[each.__name__] = each
    page.filters |= {
        "name": curve_name,
        "symbols": _with_symbols,
        "odds": odds,
        "marked": marked,
        "cell": _cell,
    }
    page.globals |= {
        "numbers_of": _numbers,
        "swatch": lambda *style: Markup(swatch(*style)),  # noqa: S704 - drawn here
        "drawn": _drawn,
    }
    return page.from_string(_file("page.html"))


def _file(name: str) -> str:
    return resources.files("mondegreen.report").joinpath(name).read_text("utf-8")


def _style() -> Markup:
    """Write the style sheet: colours for light and dark, and the rest."""
    from markupsafe import Markup

    hidden = "".join(
        f"main:has(#against-{other}:checked) .by-{against}{{display:none}}"
        for against in AGAINST
        for other in AGAINST
        if other != against
    )
    return Markup(f"{theme()}\n{_file('page.css')}{hidden}")  # noqa: S704 - ours


def _drawn(figure: Chart, is_wide: bool) -> Markup:
    """Draw a figure; one that fills the page also for narrow screens."""
    from markupsafe import Markup

    drawings = [inline(figure, *_NARROW, "narrow")]
    if is_wide:
        drawings.append(inline(figure, *_WIDE, "for-wide"))
    return Markup("".join(drawings))  # noqa: S704 - its texts are escaped


def _with_symbols(text: str) -> Markup:
    """Write N_w and S_w with real subscripts."""
    from markupsafe import Markup, escape

    shown = re.sub(r"\b([NS])_w\b", r"\1<sub>w</sub>", str(escape(plain(text))))
    return Markup(shown)  # noqa: S704 - escaped before


def _tiles(chosen: ScoreBounds, prior: str) -> dict[str, Any]:
    """Collect the few numbers to read first, as far as they are known."""
    stay = score_of(chosen, f"n_w_{prior}") or score_of(chosen, "n_w_mean")
    support = score_of(chosen, "s_w_05")
    loss = score_of(chosen, f"utility_loss_share_{prior}")
    near, worst = (score_of(chosen, f"{pair}_loss") for pair in ("near", "worst"))
    return {
        "stay": _of_hundred(stay),
        "risk": _of_hundred(score_of(chosen, f"bayes_risk_{prior}")),
        "before": _of_hundred(score_of(chosen, f"prior_risk_{prior}")),
        "support": support and written(support[0]),
        "loss": loss and in_words(loss, "share"),
        "near": near and worst and near[1],
        "worst": worst and worst[1],
    }


def _of_hundred(ends: Ends | None) -> str | None:
    return None if ends is None else in_words((100 * ends[0], 100 * ends[1]))


def odds(nats: float) -> Markup:
    """Write the factor that so many nats are at most.

    >>> str(odds(3.0)), str(odds(30.0))
    ('20.1', '10<sup>14</sup>')
    """
    from markupsafe import Markup

    if nats < math.log(1e5):
        return Markup(at_most(math.exp(nats)))  # noqa: S704 - digits
    power = math.ceil(nats / math.log(10) - 1e-9)
    return Markup("10<sup>{}</sup>").format(power)


def _sentences(study: Study) -> list[tuple[str, list[tuple[str, list[Any]]]]]:
    """Arrange releases by sentence and curve, by rising epsilon."""
    # A setting may be both measured and chosen: it is shown once.
    known = {(curve_name(each), each.epsilon): each for each in study.releases}
    order = list(dict.fromkeys(map(curve_name, study.releases)))

    def place(release: SampleRelease) -> tuple[int, float]:
        return order.index(curve_name(release)), release.epsilon

    releases = sorted(known.values(), key=place)
    return [
        (
            sentence,
            [
                (
                    name,
                    [(each, each.texts[at]) for each in rows if at < len(each.texts)],
                )
                for name, group in groupby(releases, curve_name)
                if (rows := list(group))
            ],
        )
        for at, sentence in enumerate(study.sentences if releases else ())
    ]


def marked(release: str, original: str) -> Markup:
    """Write a release with its unchanged words marked.

    Words are compared place by place, without case and punctuation. Where the two have
    unequal numbers of words, which word is which is not known, and none is marked.

    >>> str(marked("i saw ann.", "I met Ann."))
    '<bdi><mark>i</mark> saw <mark>ann.</mark></bdi>'
    """
    from markupsafe import Markup

    before, after = plain(original).split(), plain(release).split()
    if len(before) != len(after):
        return Markup("<bdi>{}</bdi>").format(plain(release))
    mark = Markup("<mark>{}</mark>")
    shown = (
        mark.format(new) if _bare(old) == _bare(new) else new
        for old, new in zip(before, after, strict=True)
    )
    return Markup("<bdi>{}</bdi>").format(Markup(" ").join(shown))


def _bare(text: str) -> str:
    """Drop case and punctuation; keep all, if nothing would be left."""
    kept = "".join(char for char in text if unicodedata.category(char)[0] not in "PSZC")
    return (kept or text).casefold()


def _words(study: Study) -> list[tuple[str, list[Chart], list[ScoreBounds], bool]]:
    """Collect the charts and the most exposed words of each mechanism."""
    curves = study.curves()
    opened = (
        next(iter(curves), "") if study.chosen is None else curve_name(study.chosen)
    )
    found = [
        (
            name,
            spreads(study, name),
            [m for m in curve if m.worst],
            name == opened,
        )
        for name, curve in curves.items()
    ]
    return [each for each in found if each[1] or each[2]]


def _columns(study: Study, prior: str) -> list[Column]:
    """List the scores that some setting has, those of one prior only."""
    other = "uniform" if prior == "sample" else "sample"
    settings = [each for curve in study.curves().values() for each in curve]
    return [
        score
        for score in COLUMNS.values()
        if not score.name.endswith(other)
        and any(score_of(each, score.name) is not None for each in settings)
    ]


def _cell(setting: ScoreBounds, score: Column) -> str | Markup:
    from markupsafe import Markup

    ends = score_of(setting, score.name)
    return (
        Markup('<span title="not known">–</span>')
        if ends is None
        else in_words(ends, score.unit)
    )


def _numbers(chart: Chart) -> tuple[list[str], list[list[str]], int]:
    """Make the table behind a chart: head, rows, and how many cells name a row."""
    points = [(line, point) for line in chart.lines for point in line.points]
    # A curve against epsilon has that as its x.
    has_epsilon = any(point.epsilon is not None for _, point in points)
    has_x = not (has_epsilon and chart.key.endswith("-by-epsilon"))
    head = [
        "mechanism" if has_epsilon else "words",
        *(["ε"] if has_epsilon else []),
        *([chart.x.label] if has_x else []),
        chart.y.label,
    ]
    rows = [
        [
            line.name,
            *([exactly(point.epsilon)] if point.epsilon is not None else []),
            *([in_words(point.x, chart.x.unit)] if has_x else []),
            in_words(point.y, chart.y.unit),
        ]
        for line, point in points
    ]
    if chart.limit is not None:
        name, value = chart.limit
        rows.append([name, *[""] * (len(head) - 2), written(value, chart.y.unit)])
    return head, rows, 2
