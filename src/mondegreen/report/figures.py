"""The figures of a study: all of them by name, as elements of a page, and as files."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final, TypeAlias

from mondegreen.errors import InvalidParameterError
from mondegreen.io.target import Target
from mondegreen.report.chart import Chart, Fan, Histograms
from mondegreen.report.charts import AGAINST, curve_charts, frontier, styles
from mondegreen.report.distributions import (
    neighbour_fan,
    stay_histograms,
    support_histograms,
)
from mondegreen.report.markup import to_bytes
from mondegreen.report.study import Study
from mondegreen.report.svg.element import svg

Figure: TypeAlias = Chart | Histograms | Fan

FORMATS: Final = ("png", "svg")
"""Formats of figures as files."""


def figures(study: Study) -> list[Figure]:
    """Return every figure of a study, in the order of the page.

    Figures of which nothing is known are left out.
    """
    return list(_figures(study))


def _figures(study: Study) -> Iterator[Figure]:
    first = frontier(study)
    if first is not None:
        yield first
    for against in AGAINST:
        yield from curve_charts(study, against)
    numbers = styles(study)
    for name, curve in study.curves().items():
        for make in (stay_histograms, support_histograms):
            found = make(study, curve, numbers[name], curve_key(name, numbers))
            if found is not None:
                yield found
    last = neighbour_fan(study)
    if last is not None:
        yield last


def curve_key(name: str, numbers: dict[str, int]) -> str:
    """Return what names a curve in identifiers and files; unique in a study.

    Examples
    --------
    >>> curve_key("vickrey (t = 0.5)", {"tem": 0, "vickrey (t = 0.5)": 1})
    '2-vickrey-t-0-5'
    """
    plain = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:40].strip("-")
    return f"{numbers[name] + 1}-{plain}" if plain else f"{numbers[name] + 1}"


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
        PNG needs the extra ``report`` (matplotlib).
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
    OptionalDependencyError
        If matplotlib is needed and absent; nothing is written then.
    DataError
        If a file exists already, or cannot be written.
    """
    if format not in FORMATS:
        raise InvalidParameterError("format", format, " or ".join(FORMATS))
    if format == "png":
        from mondegreen.report.png import png
        from mondegreen.scores.picture import check_plotting

        check_plotting("a figure as PNG")
    where = Path(folder)
    where.mkdir(parents=True, exist_ok=True)
    written = []
    for figure in figures(study):
        if format == "png":
            data = png(figure)
        else:
            data = to_bytes(svg(figure, is_file=True) + "\n")
        path = where / f"{figure.key}.{format}"
        save(path, data, force=force)
        written.append(path)
    return written


def save(path: str | Path, data: bytes, *, force: bool) -> None:
    """Write a file whole or not at all.

    Raises
    ------
    DataError
        If it exists and may not be replaced, or cannot be written.
    """
    target = Target(str(path), force=force)
    with contextlib.closing(target):
        target.open()
        target.write(data)
        target.commit()
