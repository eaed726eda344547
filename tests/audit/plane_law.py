r"""Exact laws of noise mechanisms in two dimensions: quadrature over Voronoi cells.

In the plane :math:`P(|z| > r) = Q(r) = (1 + \epsilon r) e^{-\epsilon r}`, whatever the
direction. Integrating over a cell in polar coordinates around the input leaves one
integral per edge,

.. math::

    P(y \mid w) = \frac{1}{2\pi} \sum_{\text{edges}}
        \int_{\theta_0}^{\theta_1} (1 - Q(r(\theta)))\, d\theta,

signed by the side from which the edge is seen. With :math:`h` the distance of the line
and :math:`r = h \cosh u`, :math:`d\theta = du / \cosh u`, which is smooth however near
the edge passes by.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from mondegreen.mechanisms.base import State
from mondegreen.mechanisms.noise.mahalanobis import regularize_covariance

Floats = NDArray[np.float64]

_PIECE: Final = 0.5
_NODES: Final = (16, 10)


def plane_law(state: State) -> Floats:
    """Return the exact law of laplace or mahalanobis in the plane, (V + 1, V).

    The error is below the difference of two orders of the quadrature, which by far
    exceeds that of the higher one.
    """
    space, name = state.space, state.guarantee.mechanism
    assert name in ("laplace", "mahalanobis")
    assert space.dim == 2
    assert (space.canonical[:-1] == np.arange(space.vocab_size)).all()
    starts = space.points(np.arange(space.vocab_size + 1, dtype=np.int32))
    epsilon = float(state.guarantee.epsilon)
    white = np.eye(2)
    if name == "mahalanobis":
        share = float(state.guarantee.parameters["lambda_"])
        white = np.linalg.inv(np.linalg.cholesky(regularize_covariance(space, share)))
    reach = 130 / epsilon / float(np.linalg.svd(white)[1].min())
    cells = [cell @ white.T for cell in voronoi_cells(starts[:-1], reach)]
    fine, rough = (
        cell_law(cells, starts @ white.T, epsilon, nodes) for nodes in _NODES
    )
    assert float(np.abs(fine - rough).max()) < 1e-6  # not so where masses underflow
    return fine


def voronoi_cells(points: Floats, reach: float) -> list[Floats]:
    """Return the corners of each cell, anticlockwise, within a box around all.

    Parameters
    ----------
    points : float64 array, shape (count, 2)
        Distinct.
    reach : float
        How far the box goes beyond the points; further out is no mass to speak of.
    """
    low, high = points.min(axis=0), points.max(axis=0)
    margin = reach + 2 * float((high - low).max())
    (x0, y0), (x1, y1) = low - margin, high + margin
    box = np.array([[x0, y0], [x1, y0], [x1, y1], [x0, y1]])
    cells = []
    for i, own in enumerate(points):
        cell = box
        order = np.argsort(((points - own) ** 2).sum(axis=1))
        for j in order:
            if j != i:
                normal = points[j] - own
                cell = _clip(cell, normal, float(normal @ (points[j] + own)) / 2)
        cells.append(cell)
    return cells


def cell_law(cells: list[Floats], starts: Floats, epsilon: float, nodes: int) -> Floats:
    """Return ln P(cell) for each start, (starts, cells)."""
    owner = np.repeat(np.arange(len(cells)), [len(cell) for cell in cells])
    tails = np.concatenate(cells)
    heads = np.concatenate([np.roll(cell, -1, axis=0) for cell in cells])
    table = np.empty((len(starts), len(cells)))
    for row, start in zip(table, starts, strict=True):
        row[:] = _row(tails - start, heads - start, owner, len(cells), epsilon, nodes)
    return table


def _row(
    tails: Floats,
    heads: Floats,
    owner: NDArray[np.intp],
    count: int,
    epsilon: float,
    nodes: int,
) -> Floats:
    """Return ln P(cell) of all cells, seen from the origin."""
    along = heads - tails
    length = np.linalg.norm(along, axis=1)
    seen = length > 0
    length[~seen] = 1.0
    along = along / length[:, None]
    side = along[:, 0] * tails[:, 1] - along[:, 1] * tails[:, 0]
    height = np.abs(side)
    seen &= height > 1e-300
    height[~seen] = 1.0
    low = np.arcsinh(np.einsum("ij,ij->i", tails, along) / height)
    high = np.arcsinh(np.einsum("ij,ij->i", heads, along) / height)
    # Anticlockwise, the origin inside is on the left of every edge.
    sign = np.where(side < 0, 1.0, -1.0) * seen
    angle = sign * (np.arctan(np.sinh(high)) - np.arctan(np.sinh(low)))
    turns = np.bincount(owner, angle, minlength=count) / (2 * np.pi)
    turns[np.abs(turns) < 1e-9] = 0.0  # outside; what is left is rounding
    turns[np.abs(turns - 1) < 1e-9] = 1.0
    # Masses are scaled by the largest term of each cell, so that none underflows.
    between = np.clip(0.0, np.minimum(low, high), np.maximum(low, high))
    nearest = np.full(count, np.inf)
    np.minimum.at(nearest, owner, height * np.cosh(between))
    shift = np.where(turns > 0, 0.0, epsilon * nearest)
    pieces = max(1, int(np.ceil(np.abs(high - low).max() / _PIECE)))
    gauss, weights = np.polynomial.legendre.leggauss(nodes)
    grid = ((np.arange(pieces)[:, None] + (1 + gauss) / 2) / pieces).ravel()
    weight = np.tile(weights, pieces) / (2 * pieces)
    u = low[:, None] + (high - low)[:, None] * grid
    with np.errstate(over="ignore"):
        r = epsilon * height[:, None] * np.cosh(u)
        beyond = (
            (1 + r) * np.exp(np.minimum(shift[owner][:, None] - r, 0.0)) / np.cosh(u)
        )
    edge = sign * (high - low) * (beyond @ weight) / (2 * np.pi)
    mass = turns - np.bincount(owner, edge, minlength=count)
    with np.errstate(divide="ignore", invalid="ignore"):
        law: Floats = np.log(np.maximum(mass, 0.0)) - shift
    return law


def _clip(cell: Floats, normal: Floats, limit: float) -> Floats:
    """Keep the part of a convex polygon where ``normal . x <= limit``."""
    value = cell @ normal - limit
    if (value <= 0).all():
        return cell
    after, values = np.roll(cell, -1, axis=0), np.roll(value, -1)
    corners = []
    for point, next_point, here, there in zip(cell, after, value, values, strict=True):
        if here <= 0:
            corners.append(point)
        if (here < 0 < there) or (there < 0 < here):
            corners.append(point + (next_point - point) * (here / (here - there)))
    return np.array(corners).reshape(-1, 2)
