r"""Exact laws of noise mechanisms in one dimension: intervals and quadrature.

On a line :math:`p_Z(z) = \frac{\epsilon}{2} e^{-\epsilon |z|}` and the words whose
nearest point is :math:`y` form an interval. The Poincaré ball of one dimension is a
line too, with the coordinate :math:`2 \operatorname{artanh} x`.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mondegreen.mechanisms.base import State

Floats = NDArray[np.float64]

_WIDEST: Final = 600.0
"""Nats of the space: beyond, products of doubles would underflow to zero."""

_NODES: Final = (24, 12)
"""Gauss-Legendre nodes of a piece; the second number estimates the error."""


def line_law(state: State) -> Floats:
    """Return the exact law of a noise mechanism on a line, logarithms, (V + 1, V).

    Of ``laplace``, ``mahalanobis``, ``hyperbolic``, ``vickrey`` or
    ``vickrey_literal``; the law is that of the formulas in real numbers.
    """
    space, name = state.space, state.guarantee.mechanism
    known = ("laplace", "mahalanobis", "hyperbolic", "vickrey", "vickrey_literal")
    assert name in known
    assert space.dim == 1
    assert (space.canonical[:-1] == np.arange(space.vocab_size)).all()
    starts = space.points(np.arange(space.vocab_size + 1, dtype=np.int32))[:, 0]
    if space.metric == "poincare":
        starts = 2 * np.arctanh(starts)
    points, epsilon = starts[:-1], float(state.guarantee.epsilon)
    if not name.startswith("vickrey"):
        return interval_law(points, starts, epsilon)
    t, excludes = state.guarantee.parameters["t"], name == "vickrey_literal"
    assert epsilon * float(np.ptp(points)) < _WIDEST
    fine, rough = (
        quadrature_law(points, starts, epsilon, t, excludes, nodes) for nodes in _NODES
    )
    possible = np.isfinite(fine) | np.isfinite(rough)
    assert np.abs(fine[possible] - rough[possible]).max(initial=0.0) < 1e-6
    return fine


def interval_law(points: Floats, starts: Floats, epsilon: float) -> Floats:
    """Return ln P(y), points in any order, for each start; tails keep their digits."""
    order = np.argsort(points)
    middles = (points[order][1:] + points[order][:-1]) / 2
    low = epsilon * (np.concatenate([[-np.inf], middles]) - starts[:, None])
    high = epsilon * (np.concatenate([middles, [np.inf]]) - starts[:, None])
    with np.errstate(over="ignore", invalid="ignore"):
        # Beyond the start the mass is (e^-a - e^-b) / 2, in logarithms.
        beyond = -low + np.log1p(-np.exp(low - high)) - np.log(2)
        before = high + np.log1p(-np.exp(low - high)) - np.log(2)
        around = np.log1p(-(np.exp(-np.abs(low)) + np.exp(-np.abs(high))) / 2)
    law = np.where(low >= 0, beyond, np.where(high <= 0, before, around))
    table = np.empty_like(law)
    table[:, order] = law
    return table


def quadrature_law(
    points: Floats, starts: Floats, epsilon: float, t: Any, excludes: bool, nodes: int
) -> Floats:
    """Return ln P(y) of Vickrey for each start, by quadrature between all kinks."""
    if not excludes:
        at, weights = _nodes(points, starts, epsilon, t, nodes)
        kernel, words = _kernel(points, at, t)
        return _integrate(at, weights, kernel, words, len(points), starts, epsilon)
    law = np.full((len(starts), len(points)), -np.inf)
    for i, start in enumerate(starts):
        others = np.flatnonzero(np.arange(len(points)) != i)
        own = points[others]
        at, weights = _nodes(own, starts[i : i + 1], epsilon, t, nodes)
        kernel, words = _kernel(own, at, t)
        law[i, others] = _integrate(
            at, weights, kernel, words, len(own), np.array([start]), epsilon
        )[0]
    return law


def _nodes(
    points: Floats, starts: Floats, epsilon: float, t: Any, nodes: int
) -> tuple[Floats, Floats]:
    """Return nodes and weights on pieces in which density and kernel are smooth."""
    line = np.sort(points)
    k = len(t) if isinstance(t, (tuple, list)) else 2
    middles = [
        (line[j:] + line[: len(line) - j]) / 2 for j in range(1, min(k, len(line)))
    ]
    middles += [(line[k:] + line[:-k]) / 2] if len(line) > k else []
    low, high = min(line[0], starts.min()), max(line[-1], starts.max())
    steps = np.arange(46) / epsilon
    edges = np.unique(
        np.concatenate([*middles, line, starts, low - steps, high + steps])
    )
    pieces = np.maximum(1, np.ceil(np.diff(edges) * epsilon)).astype(int)
    fine = np.concatenate(
        [
            np.linspace(a, b, n, endpoint=False)
            for a, b, n in zip(edges[:-1], edges[1:], pieces, strict=True)
        ]
        + [edges[-1:]]
    )
    gauss, weights = np.polynomial.legendre.leggauss(nodes)
    half = np.diff(fine)[:, None] / 2
    return (fine[:-1, None] + half * (1 + gauss)).ravel(), (half * weights).ravel()


def _kernel(points: Floats, at: Floats, t: Any) -> tuple[Floats, NDArray[np.intp]]:
    """Return the chances of the nearest words at each node, and which they are."""
    k = min(len(t) if isinstance(t, (tuple, list)) else 2, len(points))
    order = np.argsort(points)
    line = points[order]
    window = min(2 * k, len(line))
    first = np.clip(np.searchsorted(line, at) - k, 0, len(line) - window)
    near = first[:, None] + np.arange(window)
    gaps = np.abs(line[near] - at[:, None])
    best = np.argsort(gaps, axis=1, kind="stable")[:, :k]
    r = np.take_along_axis(gaps, best, axis=1)
    words = order[np.take_along_axis(near, best, axis=1)]
    if isinstance(t, (tuple, list)):
        scores = -np.array(t[:k], dtype=float) * r
        weights = np.exp(scores - scores.max(axis=1, keepdims=True))
        return weights / weights.sum(axis=1, keepdims=True), words
    if k == 1:
        return np.ones((len(at), 1)), words
    total = t * r[:, 0] + (1 - t) * r[:, 1]
    second = np.divide(
        t * r[:, 0], total, out=np.full(len(r), float(t)), where=total > 0
    )
    return np.stack([1 - second, second], axis=1), words


def _integrate(
    at: Floats,
    weights: Floats,
    kernel: Floats,
    words: NDArray[np.intp],
    count: int,
    starts: Floats,
    epsilon: float,
) -> Floats:
    """Return ln of the sum over nodes of weight, kernel and density."""
    table = np.empty((len(starts), count))
    for row, start in zip(table, starts, strict=True):
        density = weights * np.exp(-epsilon * np.abs(at - start)) * (epsilon / 2)
        mass = np.bincount(
            words.ravel(), (density[:, None] * kernel).ravel(), minlength=count
        )
        with np.errstate(divide="ignore"):
            row[:] = np.log(mass)
    return table
