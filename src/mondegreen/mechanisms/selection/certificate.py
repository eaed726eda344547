r"""The exact epsilon of exponential laws over a whole vocabulary.

For :math:`P(y \mid w) = e^{-c\, d_g(w, y)} / Z_w` with the metric
:math:`d_g = \min(d, g)`, no output separates two words :math:`w, w'` better than one
of them itself, since :math:`d_g(w', y) - d_g(w, y) \le d_g(w, w')` with equality at
:math:`y = w`. Hence the largest log-ratio per unit of distance is

.. math:: c + \max_{w \ne w'} \frac{|\ln Z_w - \ln Z_{w'}|}{d_g(w, w')}.

For the unknown word, which is no output, this is a bound in one direction and exact in
the other. This holds in any metric: Euclidean, and hyperbolic in the Poincaré ball.
What rounding to integers may add, and the errors of distances here, are counted on top,
so the certificate is never below the epsilon of the law that is sampled.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mondegreen.mechanisms.selection.law import ExponentialLaw
from mondegreen.space.pairs import PairTiles, stripes

__all__ = ["exact_epsilons", "log_normalisers"]

_MARGIN: Final = 1e-9
"""Relative rounding up, above the error of the float64 sums (below 1e-12)."""

Progress = Callable[[float], object]
Floats = NDArray[np.float64]


def exact_epsilons(
    laws: Sequence[ExponentialLaw], progress: Progress = lambda share: None
) -> list[float]:
    r"""Return the certificate of each law, per unit of its own metric, rounded up.

    Parameters
    ----------
    laws : sequence of ExponentialLaw
        On one space. Many laws at once share the distances, which cost most.
    progress : callable
        Called with the share that is done, from 0 to 1.

    Returns
    -------
    list of float
        Nats per unit of ``min(d, cutoff)``. Where all inputs lie at one point, the
        rate, since there is nothing to tell apart.

    Notes
    -----
    *Numerics.* Distances and normalisers in float64, over tiles of pairs; each pair
    is computed once. Memory is a few tiles a thread, whatever the vocabulary. Where
    :math:`\min(d, g)` is off by at most :math:`e`, and :math:`d` by a share
    :math:`\rho`, each ln Z is off by at most :math:`c e`, and the quotient by the
    factor :math:`1 + \rho`: near the edge of the Poincaré ball that counts.
    """
    space = laws[0].space
    if space.geometry.closest == 0:
        return [law.rate for law in laws]
    tiles = PairTiles(space)
    log_sums = log_normalisers(tiles, laws, lambda share: progress(share / 2))
    steepest = _steepest(tiles, laws, log_sums, lambda s: progress(0.5 + s / 2))
    return [
        float((law.rate + slope) * (1 + _MARGIN))
        for law, slope in zip(laws, steepest, strict=True)
    ]


def log_normalisers(
    tiles: PairTiles,
    laws: Sequence[ExponentialLaw],
    progress: Progress = lambda share: None,
) -> Floats:
    """Return ln Z of every input under every law, shape (laws, V + 1)."""
    sums = np.zeros((len(laws), tiles.count))
    outputs = tiles.count - 1  # the unknown word is no output
    adding = threading.Lock()

    def work(i: int, j: int, table: Floats) -> None:
        rows, columns = table.shape
        row_sums = np.zeros((len(laws), rows))
        column_sums = np.zeros((len(laws), columns))
        for stripe in stripes(rows):
            for k, law in enumerate(laws):
                weights = -law.rate * law.metric(table[stripe])
                np.exp(weights, out=weights)
                row_sums[k, stripe] = weights[:, : outputs - j].sum(axis=1)
                if i != j:
                    column_sums[k] += weights.sum(axis=0)
        with adding:
            sums[:, i : i + rows] += row_sums
            sums[:, j : j + columns] += column_sums

    tiles.each(work, progress)
    return np.log(sums)


def _steepest(
    tiles: PairTiles,
    laws: Sequence[ExponentialLaw],
    log_sums: Floats,
    progress: Progress,
) -> Floats:
    """Return the largest change of ln Z per unit of distance under every law."""
    parts: list[Floats] = []
    charges = [law.kappa + 2 * law.rate * tiles.error(law.cutoff) for law in laws]

    def work(i: int, j: int, table: Floats) -> None:
        best = np.zeros(len(laws))
        if i == j or tiles.has_duplicates:
            table[table == 0] = np.inf  # one point, one law
        for stripe in stripes(len(table)):
            apart = np.isfinite(table[stripe])
            for k, law in enumerate(laws):
                left = log_sums[k, i : i + len(table)][stripe, None]
                slope = np.abs(left - log_sums[k, j : j + table.shape[1]])
                slope += charges[k]
                slope /= law.metric(table[stripe])
                best[k] = max(best[k], slope.max(initial=0.0, where=apart))
        parts.append(best)

    tiles.each(work, progress)
    steepest: Floats = np.max(parts, axis=0) * (1 + tiles.relative_error)
    return steepest
