"""The scores of a word as a picture: its likeliest outputs, and what the rest holds."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any, Final

from mondegreen.errors import InvalidParameterError, OptionalDependencyError
from mondegreen.scores.interval import Interval
from mondegreen.scores.word import WordScores

FORMATS: Final = ("png", "svg")


def picture_format(path: str) -> str:
    """The format that the name of a file tells."""
    suffix = Path(path).suffix.lower().removeprefix(".")
    if suffix not in FORMATS:
        raise InvalidParameterError("--plot", path, "a file named .png or .svg")
    return suffix


def check_plotting(what: str = "--plot") -> None:
    """Refuse to go on without matplotlib; ``what`` names what needs it."""
    try:
        import matplotlib.figure  # noqa: F401 - only whether it can be
    except ImportError:
        raise OptionalDependencyError("matplotlib", "report", feature=what) from None


def word_picture(scores: WordScores, word: str, subtitle: str, format: str) -> bytes:
    """Draw the likeliest outputs of a word, with intervals where they are estimates."""
    check_plotting()
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 1.6 + 0.3 * (len(scores.outputs) + 1)))
    FigureCanvasAgg(figure)
    _draw(figure.add_subplot(), scores, word)
    figure.suptitle(f"{_literal(word)}\n{_literal(subtitle)}", fontsize=10)
    figure.tight_layout()
    target = io.BytesIO()
    # Without the date the same numbers give the same file.
    undated = {"Date": None} if format == "svg" else {}
    figure.savefig(target, format=format, metadata=undated)
    return target.getvalue()


def _draw(axes: Any, scores: WordScores, word: str) -> None:
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
