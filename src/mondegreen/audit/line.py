r"""Exact laws of noise mechanisms in one dimension: intervals and quadrature.

On a line :math:`p_Z(z) = \frac{\epsilon}{2} e^{-\epsilon |z|}` and the words whose
nearest point is :math:`y` form an interval. The Poincaré ball of one dimension is a
line too, with the coordinate :math:`2 \operatorname{artanh} x`.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mondegreen.audit.exact import LawTable
from mondegreen.errors import LawUnknownError
from mondegreen.mechanisms.base import State
from mondegreen.space.space import Space

Floats = NDArray[np.float64]

_LARGEST: Final = {"nearest": 4096, "vickrey": 1024, "vickrey_literal": 256}
_WIDEST: Final = 600.0
"""Nats of the space: beyond, products of doubles would underflow to zero."""

_NODES: Final = (24, 12)
"""Gauss-Legendre nodes of a piece; the second number estimates the error."""


def line_table(state: State) -> LawTable:
    """Return the exact law of a noise mechanism on a space of one dimension.

    Parameters
    ----------
    state : State
        Of ``laplace``, ``mahalanobis``, ``hyperbolic``, ``vickrey`` or
        ``vickrey_literal``.

    Raises
    ------
    LawUnknownError
        If it is another mechanism, or the space has more dimensions, duplicates where
        they matter, or too many words.

    Notes
    -----
    Words at one point are one output: which of them is released does not depend on
    the input. The law is that of the formulas in real numbers; whether the sampler
    follows it is a matter of counting its outputs.
    """
    space, name = state.space, state.guarantee.mechanism
    kind = name if name in _LARGEST else "nearest"
    known = ("laplace", "mahalanobis", "hyperbolic", "vickrey", "vickrey_literal")
    if name not in known or space.dim != 1 or space.vocab_size > _LARGEST[kind]:
        raise LawUnknownError(f"no interval law for {name} on this space")
    points, starts, columns, names = _coordinates(space)
    epsilon = float(state.guarantee.epsilon)
    ids = np.arange(space.vocab_size + 1, dtype=np.int32)
    if kind == "nearest":
        log_law = interval_law(points, starts, epsilon)
        return LawTable(ids, log_law, names, "intervals", columns=columns)
    t = state.guarantee.parameters["t"]
    if len(points) != space.vocab_size:
        raise LawUnknownError(f"no quadrature for {name} where words share a point")
    if epsilon * float(np.ptp(points)) > _WIDEST:
        raise LawUnknownError(f"no quadrature for {name}: the space is too wide")
    excludes = kind == "vickrey_literal"
    fine, rough = (
        quadrature_law(points, starts, epsilon, t, excludes, nodes) for nodes in _NODES
    )
    possible = np.isfinite(fine) | np.isfinite(rough)
    error = float(np.abs(fine[possible] - rough[possible]).max(initial=0.0)) + 1e-13
    how = f"quadrature on a line, error below {error:.1g} nats"
    return LawTable(ids, fine, names, how, error=error, columns=columns)


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


def _coordinates(space: Space) -> tuple[Floats, Floats, NDArray[np.int32], list[str]]:
    """Return distinct points, all inputs, the point of every word, and names."""
    ids = np.arange(space.vocab_size + 1, dtype=np.int32)
    starts = space.points(space.canonical[ids])[:, 0].astype(np.float64)
    if space.metric == "poincare":
        starts = 2 * np.arctanh(starts)
    heads, columns = np.unique(space.canonical[:-1], return_inverse=True)
    names = [space.words[head] for head in heads]
    return starts[heads], starts, columns.astype(np.int32), names


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
