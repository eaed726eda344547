"""Scores of one prepared mechanism, before it is said which setting it was."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

ETA: Final = 0.05
"""The mass that :math:`S_w` leaves out."""

PERCENTILES: Final = (50, 75, 90, 95, 99)
"""Percentages of the vocabulary for which a bound of a word's score is measured."""

Ends = tuple[float, float]
"""The lower and the upper end of what is known of a score."""

Floats = NDArray[np.float64]
Progress = Callable[[float], object]


@final
@dataclass(frozen=True, slots=True)
class Effort:
    """How much is drawn where not everything can be looked at.

    Parameters
    ----------
    rows : int
        Inputs, of each prior, whose law is looked at where the law is closed.
    words : int
        Words that are run where it is not.
    runs : int
        Outputs of each of these words.
    draws : int
        Pairs of input and output for each prior.
    """

    rows: int
    words: int
    runs: int
    draws: int


FULL: Final = Effort(rows=2048, words=1024, runs=64, draws=50_000)
QUICK: Final = Effort(rows=384, words=192, runs=32, draws=2_000)
ROUGH: Final = Effort(rows=96, words=96, runs=12, draws=500)
"""To find where to look; nothing that is reported rests on it."""

ROUGH_SUPPORT: Final = Effort(rows=96, words=96, runs=64, draws=500)
"""The same for :math:`S_w`: few runs cannot show that there are many outputs."""


@final
@dataclass(frozen=True, slots=True)
class Found:
    """Scores of one prepared mechanism, however they were found.

    Parameters
    ----------
    is_exact : bool
        Whether the law is closed and every input was looked at.
    scores, n_w, s_w, worst
        As in :class:`mondegreen.calibration.measurement.Measurement`.
    """

    is_exact: bool
    scores: dict[str, Ends] = field(default_factory=dict)
    n_w: tuple[float, ...] = ()
    s_w: tuple[float, ...] | None = None
    worst: tuple[tuple[str, float], ...] = ()


def hundred(values: Floats, *, round_up: bool) -> tuple[float, ...]:
    """Return the percentiles from 0 to 100, each a value that occurs."""
    places = np.arange(101) * (len(values) - 1) / 100
    nearest = np.ceil(places) if round_up else np.floor(places)
    return tuple(np.sort(values)[nearest.astype(int)].tolist())


def worst_words(
    words: Sequence[str], ids: NDArray[np.integer], stay: Floats
) -> tuple[tuple[str, float], ...]:
    """Return up to 12 words with the largest chance to stay, the largest first."""
    distinct, first = np.unique(ids, return_index=True)
    order = np.argsort(-stay[first], kind="stable")[:12]
    return tuple((words[distinct[i]], float(stay[first[i]])) for i in order)
