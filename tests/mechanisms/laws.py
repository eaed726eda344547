"""Checkers of laws: each returns a p-value, or by how much a bound is broken.

The same functions pass the true mechanisms and must reject their weakened twins, so
that a test which passes is known to have teeth. A p-value is compared with
:data:`ALPHA`, the false-alarm rate of one test; seeds are fixed and nothing is
retried. Closed forms are written here from the mathematics, not from ``src``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy import integrate, special, stats

from mondegreen.space.space import Space

__all__ = [
    "ALPHA",
    "all_inputs",
    "bound_violation",
    "counts",
    "direction_p_value",
    "distances",
    "flip_probability",
    "g_test",
    "input_points",
    "line_law",
    "noise_p_value",
    "norm_lengths",
    "norm_noise_p_value",
    "plane_law",
    "projection_p_value",
    "ray_law",
    "statistical_violation",
    "table_violation",
    "truncated_law",
    "two_words_p_value",
    "vickrey_line_law",
]

ALPHA: Final = 1e-6
"""False-alarm rate of one statistical test."""

Array = NDArray[np.float64]
Draw = Callable[[np.random.Generator, tuple[int, int]], Array]
Sample = Callable[[NDArray[np.int32], np.random.Generator], NDArray[np.int32]]


# Goodness of fit


def g_test(observed: Array | NDArray[np.int64], law: Array) -> float:
    """p-value of counts under a law; 0 where the impossible was seen."""
    observed, law = np.asarray(observed, dtype=float), np.asarray(law, dtype=float)
    if (observed[law <= 0] > 0).any():
        return 0.0
    expected = observed.sum() * law / law.sum()
    rare = expected < 20  # pooled, so that the chi-square approximation holds
    pool, pooled = float(expected[rare].sum()), float(observed[rare].sum())
    observed, expected = observed[~rare], expected[~rare]
    found = []
    if pool >= 20:
        observed, expected = np.append(observed, pooled), np.append(expected, pool)
    elif pool > 0:  # the pool itself is rare: an exact tail instead
        found.append(float(stats.poisson.sf(pooled - 1, pool)))
    if len(observed) > 1:
        seen = observed > 0
        g = float((observed[seen] * np.log(observed[seen] / expected[seen])).sum())
        g = 2 * (g + float(expected.sum() - observed.sum()))
        found.append(float(stats.chi2.sf(max(g, 0), len(observed) - 1)))
    return min(1.0, len(found) * min(found)) if found else 1.0


def counts(
    sample: Sample, word: int, vocab_size: int, size: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """How often each word is drawn for one input."""
    ids = np.full(size, word, dtype=np.int32)
    return np.bincount(sample(ids, rng), minlength=vocab_size)


# The multivariate Laplace law


def projection_p_value(directions: Array, axis: Array) -> float:
    """KS of ``u . axis`` for u uniform on the sphere; n = 1 is a fair sign."""
    n = directions.shape[1]
    along = directions @ (axis / np.linalg.norm(axis))
    if n == 1:
        return float(stats.binomtest(int((along > 0).sum()), len(along), 0.5).pvalue)
    half = 0.5 * (n - 1)
    law = stats.beta(half, half, loc=-1, scale=2)
    return float(stats.kstest(along, law.cdf).pvalue)


def direction_p_value(directions: Array) -> float:
    """Is it uniform on the sphere? Mean 0, covariance I/n, laws of projections."""
    rows, n = directions.shape
    if not np.allclose(np.linalg.norm(directions, axis=1), 1, atol=1e-9):
        return 0.0
    mean = directions.sum(axis=0) / np.sqrt(rows / n)  # standard normal, nearly
    found = [float(stats.chi2.sf(mean @ mean, n))]
    axes = [np.eye(n)[0], np.eye(n)[-1], np.ones(n), np.eye(n)[: n // 2 + 1].sum(0)]
    found += [projection_p_value(directions, axis) for axis in axes]
    if n > 1:
        # n u_i u_j has mean I and variance n/(n+2), 2(n-1)/(n+2) on the diagonal.
        covariance = directions.T @ directions * (n / rows) - np.eye(n)
        spread = np.full((n, n), n / (n + 2))
        np.fill_diagonal(spread, 2 * (n - 1) / (n + 2))
        largest = np.abs(covariance / np.sqrt(spread / rows)).max()
        found.append(min(1.0, n * (n + 1) * float(stats.norm.sf(largest))))
    return min(1.0, len(found) * min(found))


def noise_p_value(
    draw: Draw, epsilon: float, n: int, rows: int, rng: np.random.Generator
) -> float:
    """Is the law prop. to exp(-epsilon |z|)? Radius Gamma(n, 1/eps), direction free."""
    z = draw(rng, (rows, n))
    radius = np.linalg.norm(z, axis=1)
    law = stats.gamma(n, scale=1 / epsilon)
    gaps = [float(stats.kstest(radius, law.cdf).pvalue)]
    gaps.append(direction_p_value(z / radius[:, None]))
    # The direction does not depend on the radius.
    far = radius > law.median()
    if far.sum() > 100:
        u = z[far] / radius[far, None]
        gaps.append(projection_p_value(u, np.ones(n)))
    return min(1.0, len(gaps) * min(gaps))


def norm_lengths(norm: str, z: Array) -> Array:
    """Lengths of vectors in the Manhattan or Chebyshev norm."""
    size = np.abs(z)
    return size.sum(axis=-1) if norm == "manhattan" else size.max(axis=-1)


def norm_noise_p_value(
    norm: str,
    draw: Draw,
    epsilon: float,
    n: int,
    rows: int,
    rng: np.random.Generator,
) -> float:
    """Is the law prop. to exp(-epsilon |z|) in the norm? Length, direction, marginals.

    The length is Gamma(n, 1/epsilon), whatever the direction; signs are fair.
    """
    z = draw(rng, (rows, n))
    length = norm_lengths(norm, z)
    law = stats.gamma(n, scale=1 / epsilon)
    found = [float(stats.kstest(length, law.cdf).pvalue)]
    signs = np.sign(z).sum(axis=0) / np.sqrt(rows)
    found.append(float(stats.chi2.sf(signs @ signs, n)))
    far = length > law.median()
    parts = [slice(None), far, ~far] if 100 < far.sum() < rows - 100 else []
    for some in parts:  # else the length has no such law
        u = np.abs(z[some]) / length[some, None]
        found.append(_norm_direction_p_value(norm, u))

    def marginal(t: Array) -> Array:
        return _norm_marginal(norm, t, n, epsilon)

    found += [float(stats.kstest(z[:, i], marginal).pvalue) for i in (0, n - 1)]
    return min(1.0, len(found) * min(found))


def _norm_direction_p_value(norm: str, u: Array) -> float:
    """Sizes of coordinates at length 1: a flat Dirichlet, or a point of a face."""
    n = u.shape[1]
    if n == 1:
        return float(np.allclose(u, 1))
    if norm == "manhattan":
        half = n // 2
        one = stats.kstest(u[:, 0], stats.beta(1, n - 1).cdf).pvalue
        some = stats.kstest(u[:, :half].sum(axis=1), stats.beta(half, n - half).cdf)
        return min(1.0, 2 * float(min(one, some.pvalue)))
    face = u.argmax(axis=1)
    faces = stats.chisquare(np.bincount(face, minlength=n)).pvalue
    inside = u[np.arange(len(u)), (face + 1) % n]
    return min(1.0, 2 * float(min(faces, stats.kstest(inside, "uniform").pvalue)))


def _norm_marginal(norm: str, t: Array, n: int, epsilon: float) -> Array:
    """P(z_i <= t)."""
    x = epsilon * np.abs(t)
    if norm == "manhattan":
        above = np.exp(-x)
    else:  # the mean of (1 - t / g)+ over g ~ Gamma(n + 1)
        above = special.gammaincc(n + 1, x) - x / n * special.gammaincc(n, x)
    return np.where(t > 0, 1 - above / 2, above / 2)


def flip_probability(epsilon: float, n: int, distance: float) -> float:
    """P(the other word | w) for two words at a distance, by the Bessel marginal."""

    def density(t: float) -> float:
        x = epsilon * t
        log = (
            np.log(epsilon / np.sqrt(np.pi))
            - n / 2 * np.log(2)
            - special.gammaln((n + 1) / 2)
            + n / 2 * np.log(x)
            + np.log(special.kve(n / 2, x))
            - x
        )
        return float(np.exp(log))

    far = distance / 2 + 60 * (np.sqrt(n) + 1) / epsilon
    edges = np.linspace(distance / 2, far, 61)
    return sum(integrate.quad(density, a, b)[0] for a, b in pairwise(edges))


def two_words_p_value(
    sample: Sample,
    epsilon: float,
    n: int,
    distance: float,
    size: int,
    rng: np.random.Generator,
) -> float:
    """Does ``sample`` flip two words as often as the closed form says?"""
    flips = int(counts(sample, 0, 2, size, rng)[1])
    p = flip_probability(epsilon, n, distance)
    return float(stats.binomtest(flips, size, p).pvalue)


# Exact laws of noise mechanisms on the line and in the plane


def ray_law(points: Array, start: Array, steps: Array, n: int, epsilon: float) -> Array:
    """P(y) of ``start + r * step``, r Gamma(n, 1/epsilon), steps equally likely.

    Along a ray a (convex) cell is an interval of r: half-planes are linear in r.
    """
    gaps = points[None, :, :] - points[:, None, :]  # from y to y'
    squares = ((points - start) ** 2).sum(axis=1)
    right = (squares[None, :] - squares[:, None]) / 2
    law = np.zeros(len(points))
    for step in steps:
        slope = gaps @ step
        with np.errstate(divide="ignore", invalid="ignore"):
            edge = right / slope
        high = np.where(slope > 0, edge, np.inf).min(axis=1)
        low = np.where(slope < 0, edge, 0.0).max(axis=1)
        high[((slope == 0) & (right < 0)).any(axis=1)] = 0.0
        low, high = np.maximum(low, 0), np.maximum(high, 0)
        mass = special.gammainc(n, epsilon * high) - special.gammainc(n, epsilon * low)
        law += np.maximum(mass, 0)
    return law / len(steps)


def line_law(points: Sequence[float], start: float, epsilon: float) -> Array:
    """P(y) of laplace on a line of distinct points: cells are intervals."""
    x = np.asarray(points, dtype=float)
    order = np.argsort(x)
    edges = np.concatenate([[-np.inf], (x[order][1:] + x[order][:-1]) / 2, [np.inf]])
    cdf = stats.laplace(loc=start, scale=1 / epsilon).cdf(edges)
    law = np.empty(len(x))
    law[order] = np.diff(cdf)
    return law


def plane_law(
    points: Array, start: Array, root: Array, epsilon: float, angles: int = 4000
) -> Array:
    """P(y) in the plane for noise ``root @ z``, z multivariate Laplace."""
    theta = (np.arange(angles) + 0.5) * 2 * np.pi / angles
    steps = np.stack([np.cos(theta), np.sin(theta)], axis=1) @ root.T
    return ray_law(points, start, steps, 2, epsilon)


def vickrey_line_law(
    points: Sequence[float], start: float, epsilon: float, t: float | tuple[float, ...]
) -> Array:
    """P(y) of Vickrey on a line, by quadrature between all kinks of the kernel."""
    x = np.asarray(points, dtype=float)
    middles = ((x[:, None] + x[None, :]) / 2).ravel()
    span = 45 / epsilon
    edges = np.unique(np.concatenate([middles, x, [start, start - span, start + span]]))
    edges = np.unique(
        np.concatenate(
            [edges, np.linspace(start - span, start + span, 200)]
        )  # so that segments are short against 1/epsilon
    )
    nodes, gauss = np.polynomial.legendre.leggauss(12)
    law = np.zeros(len(x))
    for a, b in pairwise(edges):
        at = (a + b) / 2 + (b - a) / 2 * nodes
        density = epsilon / 2 * np.exp(-epsilon * np.abs(at - start))
        gaps = np.abs(at[:, None] - x)
        order = np.argsort(gaps, axis=1, kind="stable")
        r = np.take_along_axis(gaps, order, axis=1)
        if isinstance(t, tuple):
            kernel = np.exp(-np.array(t) * r[:, : len(t)])
            kernel /= kernel.sum(axis=1, keepdims=True)
        else:
            first = (1 - t) * r[:, 1] / (t * r[:, 0] + (1 - t) * r[:, 1])
            kernel = np.stack([first, 1 - first], axis=1)
        mass = (b - a) / 2 * (gauss * density)[:, None] * kernel
        np.add.at(law, order[:, : kernel.shape[1]], mass)
    return law


# Selection mechanisms


def all_inputs(space: Space) -> NDArray[np.int32]:
    """Every input, the unknown word last."""
    return np.arange(space.vocab_size + 1, dtype=np.int32)


def input_points(space: Space) -> Array:
    """Coordinates of all inputs, the unknown point last; not by ``space.points``."""
    return np.concatenate([space.vectors.astype(np.float64), space.unknown[None]])


def distances(space: Space) -> Array:
    """Euclidean distances of all inputs, (V + 1, V + 1), from differences."""
    points = input_points(space)
    return np.sqrt(((points[:, None, :] - points[None, :, :]) ** 2).sum(axis=2))


def truncated_law(space: Space, rate: float, cutoff: float) -> Array:
    """log P(y | w), real numbers: rows are inputs, columns words."""
    scores = -rate * np.minimum(distances(space)[:, :-1], cutoff)
    table: Array = scores - special.logsumexp(scores, axis=1, keepdims=True)
    return table


def table_violation(log_table: Array, metric: Array, epsilon: float) -> float:
    """Largest |ln P(y|w) - ln P(y|w')| beyond epsilon * metric; inf at a zero.

    The slack is what logarithms of doubles cost: 1e-12, relative and absolute.
    """
    if not np.isfinite(log_table).all():
        return float("inf")
    worst = -np.inf
    for row, gaps in zip(log_table, metric, strict=True):
        ratio = np.abs(log_table - row).max(axis=1)
        worst = max(worst, float((ratio - epsilon * gaps * (1 + 1e-12)).max()))
    return worst - 1e-12


def bound_violation(state: Any, epsilon: float) -> float:
    """By how much a state breaks the bound of its own metric for ``epsilon``."""
    metric = np.minimum(distances(state.space), state.guarantee.scale["diameter"])
    return table_violation(state.log_prob(all_inputs(state.space)), metric, epsilon)


# Any mechanism, from its outputs alone


def statistical_violation(
    sample: Sample,
    order: NDArray[np.int64],
    pair: tuple[int, int],
    loss: float,
    size: int,
    rng: np.random.Generator,
) -> float:
    """Lower confidence bound of a log-ratio of two inputs, less what is allowed.

    Events are the initial and final segments of ``order``; one half of the draws
    chooses, the other half gives Clopper-Pearson bounds at level ALPHA / 2 each.
    """
    size //= 2
    ids = [np.full(size, word, dtype=np.int32) for word in pair]
    rank = np.argsort(order)
    seen = [[rank[sample(i, rng)] for i in ids] for _ in range(2)]
    best, event = -np.inf, (0, 1, False)
    for a, b in ((0, 1), (1, 0)):
        for cut in range(1, len(order)):
            for above in (False, True):
                p, q = ((x >= cut) == above for x in (seen[0][a], seen[0][b]))
                low = stats.beta.ppf(0.01, p.sum(), size - p.sum() + 1)
                high = stats.beta.ppf(0.99, q.sum() + 1, size - q.sum())
                score = np.log(low / high) if low > 0 else -np.inf
                if score > best:
                    best, event = score, (a, cut, above)
    a, cut, above = event
    p, q = ((seen[1][i] >= cut) == above for i in (a, 1 - a))
    low = stats.beta.ppf(ALPHA / 2, p.sum(), size - p.sum() + 1)
    high = stats.beta.isf(ALPHA / 2, q.sum() + 1, size - q.sum())
    return float(np.log(low / high) - loss)
