"""The scores of a word as a picture: its likeliest outputs, and what the rest holds."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any, Final

from mondegreen.errors import InvalidParameterError, MissingExtraError
from mondegreen.scores.interval import Interval
from mondegreen.scores.word import WordScores

FORMATS: Final = ("png", "svg")
"""Formats of pictures, by the suffix of the file."""


def picture_format(path: str) -> str:
    """Return the format that the name of a file tells.

    Raises
    ------
    InvalidParameterError
        If it is none of :data:`FORMATS`.

    Examples
    --------
    >>> picture_format("word.SVG")
    'svg'
    """
    suffix = Path(path).suffix.lower().removeprefix(".")
    if suffix not in FORMATS:
        raise InvalidParameterError("--plot", path, "a file named .png or .svg")
    return suffix


def check_plotting(what: str = "--plot") -> None:
    """Refuse to go on without matplotlib; ``what`` names what needs it.

    Raises
    ------
    MissingExtraError
        If it is not installed.
    """
    try:
        import matplotlib.figure  # noqa: F401 - only whether it can be
    except ImportError:
        raise MissingExtraError(what, "report") from None


def word_picture(scores: WordScores, word: str, subtitle: str, format: str) -> bytes:
    """Draw the likeliest outputs of a word, with intervals where they are estimates.

    Parameters
    ----------
    scores : WordScores
        What is drawn.
    word : str
        The input, for the title; its own bar has another colour.
    subtitle : str
        Mechanism and space.
    format : str
        One of :data:`FORMATS`.

    Raises
    ------
    MissingExtraError
        If matplotlib is not installed.
    """
    check_plotting()
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 1.6 + 0.3 * (len(scores.outputs) + 1)))
    FigureCanvasAgg(figure)
    _draw(figure.add_subplot(), scores, word)
    figure.suptitle(f"{_literal(word)}\n{_literal(subtitle)}", fontsize=10)
    figure.tight_layout()
    target = io.BytesIO()
    figure.savefig(target, format=format, metadata=_undated(format))
    return target.getvalue()


def _draw(axes: Any, scores: WordScores, word: str) -> None:
    """Draw one bar for each output, and one for all the others together."""
    middles = [_middle(output.probability) for output in scores.outputs]
    rest = max(0.0, 1 - sum(middles))
    names = [_literal(output.word) for output in scores.outputs]
    colours = [
        "tab:red" if scores.is_known and output.word == word else "tab:blue"
        for output in scores.outputs
    ]
    places = list(range(len(names) + 1))
    axes.barh(places, [*middles, rest], color=[*colours, "tab:gray"])
    for place, output in enumerate(scores.outputs):
        if isinstance(output.probability, Interval):
            interval = output.probability
            axes.plot([interval.low, interval.high], [place, place], color="black")
    axes.set_yticks(places, [*names, "all other words"])
    axes.invert_yaxis()
    axes.set_xlim(0, 1)
    axes.set_xlabel("probability of the output (red: the word itself)")


def _middle(value: float | Interval) -> float:
    return (value.estimate or 0.0) if isinstance(value, Interval) else value


def _literal(text: str) -> str:
    """Return a text in which a dollar sign starts no formula."""
    return text.replace("$", r"\$")


def _undated(format: str) -> dict[str, None]:
    """Leave out the date, so that the same numbers give the same file."""
    return {"Date": None} if format == "svg" else {}
