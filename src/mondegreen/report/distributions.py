"""Charts over the vocabulary: histograms of N_w and S_w, and neighbour distances."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from mondegreen.report.chart import Axis, Fan, Histograms, Panel, exactly
from mondegreen.report.study import Study

if TYPE_CHECKING:
    from mondegreen.calibration.score_bounds import ScoreBounds


_BINS: Final = 20

_HEIGHTS: Final = (
    "The height is the share of the vocabulary; in every panel the highest bar, "
    "whose share is written above, fills it."
)


def stay_histograms(
    study: Study, curve: Sequence[ScoreBounds], style: int, key: str
) -> Histograms | None:
    """Return how N_w is spread over the vocabulary, for each epsilon."""
    edges = tuple(place / _BINS for place in range(_BINS + 1))
    panels = _panels(study, curve, edges, "n_w")
    if not panels:
        return None
    return Histograms(
        key=f"n_w-{key}",
        title="How likely words are to stay",
        says="To the left are words that nearly always change, to the right words "
        f"that nearly always stay. {_HEIGHTS}",
        x=Axis("chance to stay, N_w", "share", False, 0.0, 1.0),
        edges=edges,
        panels=panels,
        style=style,
    )


def support_histograms(
    study: Study, curve: Sequence[ScoreBounds], style: int, key: str
) -> Histograms | None:
    """Return how S_w is spread over the vocabulary, for each epsilon."""
    top = max(study.vocab_size, 2)
    edges = tuple(top ** (place / _BINS) for place in range(_BINS + 1))
    panels = _panels(study, curve, edges, "s_w")
    if not panels:
        return None
    return Histograms(
        key=f"s_w-{key}",
        title="How many outputs are likely",
        says="To the left are words with few likely outputs, to the right words that "
        f"may become nearly any word. {_HEIGHTS}",
        x=Axis("likely outputs, S_w, words", "number", True, 1.0, float(top)),
        edges=edges,
        panels=panels,
        style=style,
    )


def neighbour_fan(study: Study) -> Fan | None:
    """Return the distances to the k-th nearest words; None where not known."""
    known = study.neighbours
    if known is None or not known.k:
        return None
    values = [value for row in known.distances for value in row]
    return Fan(
        key="neighbours",
        title="How far the k-th nearest word is",
        says="Half of the words have their k-th nearest word within the middle line; "
        f"the bands hold the middle {_spans(known.percentiles)} of the words.",
        x=Axis.around("k", "number", known.k, is_log=True),
        y=Axis.around("distance", "number", values, from_zero=True),
        at=tuple(map(float, known.k)),
        percentiles=known.percentiles,
        rows=known.distances,
    )


def _spans(percentiles: Sequence[float]) -> str:
    """Return how much of the words nested bands hold, from the outside."""
    pairs = zip(percentiles, reversed(percentiles), strict=True)
    return " and ".join(f"{high - low:g}%" for low, high in pairs if high > low)


def _panels(
    study: Study, curve: Sequence[ScoreBounds], edges: tuple[float, ...], name: str
) -> tuple[Panel, ...]:
    """Return a histogram of each measurement that knows the percentiles."""
    found = []
    for measurement in curve:
        shares = binned(getattr(measurement, name) or (), edges)
        if shares:
            title = f"ε = {exactly(measurement.epsilon)}"
            found.append(Panel(title, shares, study.is_chosen(measurement)))
    return tuple(found)


def binned(percentiles: Sequence[float], edges: Sequence[float]) -> tuple[float, ...]:
    """Return the share of words in each bin, from percentiles.

    Between two percentiles the words are taken as spread evenly, which they are up to
    the share between the two.

    Parameters
    ----------
    percentiles : sequence of float
        Rising, at even steps from 0 to 100; nothing is returned for fewer than two,
        or if one is not a finite number.
    edges : sequence of float
        Rising. What lies outside is counted in the first or last bin.

    Examples
    --------
    >>> binned([0.0, 0.5, 0.5, 0.5, 1.0], [0.0, 0.5, 1.0])
    (0.25, 0.75)
    """
    usable = all(value is not None and math.isfinite(value) for value in percentiles)
    if len(percentiles) < 2 or not usable:
        return ()
    shares = [0.0] * (len(edges) - 1)
    each = 1 / (len(percentiles) - 1)
    last = len(shares) - 1
    for low, high in pairwise(percentiles):
        for place in range(len(shares)):
            start = -math.inf if place == 0 else edges[place]
            stop = math.inf if place == last else edges[place + 1]
            if high > low:
                shares[place] += each * max(
                    0.0, (min(high, stop) - max(low, start)) / (high - low)
                )
            elif start <= low < stop:
                shares[place] += each
    return tuple(shares)
