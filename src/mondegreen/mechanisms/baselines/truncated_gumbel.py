"""Truncated Gumbel noise on a random number of neighbours (no privacy; to compare)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Final, final

import numpy as np

from mondegreen.arrays import Floats, Ids, LogProbs, slices
from mondegreen.errors import InvalidParameterError, LawUnknownError, SpaceError
from mondegreen.guarantee import Guarantee
from mondegreen.mechanisms import base
from mondegreen.space.distances import Distances
from mondegreen.space.space import Space

_BLOCK: Final = 4096
_MOST_WORDS: Final = 512
"""A law takes time in the cube of the number of words."""

_LOST: Final = 2.0**-60
"""Chance of more neighbours than the sampler ever takes."""


@final
@dataclass(frozen=True, slots=True)
class TruncatedGumbel(base.AbstractMechanism):
    r"""Choose among a random number of nearest words by noisy distance.

    With :math:`m` words, :math:`\Delta_0` and :math:`\Delta` the smallest positive and
    the largest distance of two inputs,

    .. math::

        k \sim \mathrm{Poisson}(\ln m) \mid 1 \le k \le m, \qquad
        M(w) = \arg\min_{j \le k}\, d(w, y_j) + G_j, \qquad
        G_j \sim \mathrm{Gumbel}(0, b) \mid -\Delta \le G_j \le \Delta,

    where :math:`y_1, \dots, y_k` are the words nearest to :math:`w`, itself included,
    and

    .. math::

        b = \frac{2 \Delta}{\min(W_0(2 \alpha \Delta), \ln(\alpha \Delta_0))}, \qquad
        \alpha = \frac{1}{3} \left( \epsilon - \frac{2 (1 + \ln m)}{\Delta_0} \right).

    For comparison only. Use ``exponential``: the same noise, over all words.

    Parameters
    ----------
    epsilon : float in [1e-9, 1e9], per unit of Euclidean distance
        What is claimed. Above :math:`(5 + 2 \ln m) / \Delta_0`, where :math:`b` is
        defined.

    Raises
    ------
    InvalidParameterError
        If ``epsilon`` is out of range, or too small for the space.
    SpaceError
        If all words of a space lie at one point.

    Notes
    -----
    *Privacy.* None, and the claimed one is false: which words are candidates depends on
    *ranks* seen from the input. A word of rank 3 from one input and of rank :math:`R`
    from another, close as they may be, loses about :math:`R \ln(R / (e \ln m))` nats.
    Counterexample: ``docs/proofs/truncated_gumbel.md``.

    *Numerics.* Drawn in double precision as if in real numbers; more neighbours than
    have a chance of 2**-60 are never taken. The law is a quadrature.

    *Differs from the paper.* The original was not found; this is the algorithm as
    printed by [2]_, within its range of epsilon. The unknown point counts in
    :math:`\Delta_0` and :math:`\Delta`.

    References
    ----------
    .. [1] Xu, Feyisetan, Aggarwal, Xu, Teissier. "Density-Aware Differentially Private
       Textual Perturbations Using Truncated Gumbel Noise." FLAIRS 2021.
    .. [2] Meisenbacher, Nandakumar, Klymenko, Matthes. "A Comparative Analysis of
       Word-Level Metric Differential Privacy." LREC-COLING 2024, appendix.

    Examples
    --------
    >>> import mondegreen as mg
    >>> space = mg.Space.from_arrays("line", ["cold", "cool", "hot"], [[0], [2], [9]])
    >>> round(TruncatedGumbel(epsilon=1.0).smallest_epsilon(space), 3)
    4.318
    >>> state = TruncatedGumbel(epsilon=9.0).prepare(space)
    >>> np.exp(state.log_prob(np.array([0], dtype=np.int32))).round(3).tolist()
    [[0.828, 0.166, 0.006]]
    """

    epsilon: float = base.epsilon_parameter(
        "per unit of Euclidean distance",
        help="claimed, not kept: loss in nats for two words one unit apart",
    )

    name: ClassVar[str] = "truncated_gumbel"
    family: ClassVar[str] = "selection"
    metric: ClassVar[str] = "Euclidean distance"
    is_private: ClassVar[bool] = False

    def smallest_epsilon(self, space: Space) -> float:
        r""":math:`(5 + 2 \ln m) / \Delta_0`; epsilon must be larger.

        Parameters
        ----------
        space : Space
            Space with distances.

        Returns
        -------
        float, nats per unit of distance
            Lower limit of epsilon, not included.
        """
        if space.geometry.closest == 0:
            raise SpaceError(
                f"space {space.name!r}: all words lie at one point; {self.name} needs "
                "a smallest distance"
            )
        return (5 + 2 * math.log(space.vocab_size)) / space.geometry.closest

    def prepare(self, space: Space) -> TruncatedGumbelState:
        base.check_space(self, space)
        smallest = self.smallest_epsilon(space)
        closest, diameter = space.geometry.closest, space.geometry.diameter
        if not self.epsilon > smallest:
            raise InvalidParameterError(
                "epsilon",
                self.epsilon,
                f"above {math.ceil(smallest * 1e6) / 1e6:.10g} for {self.name} on "
                f"space {space.name!r}: (5 + 2 ln {space.vocab_size}) / "
                f"{closest:.6g}, its smallest distance",
            )
        guarantee = self.promise(
            space,
            certified_how="not proved: the published claim has a counterexample, the "
            "candidates depend on the input; use exponential",
            disclosed=("roughly: an output is among the words nearest to the input",),
            assumptions=("drawn in double precision as if in real numbers",),
        )
        scale = gumbel_scale(self.epsilon, space.vocab_size, closest, diameter)
        return TruncatedGumbelState(space, guarantee, scale)


@final
@dataclass(frozen=True, slots=True)
class TruncatedGumbelState(base.State):
    """Truncated Gumbel prepared for one space; ``scale`` is b, in units of distance."""

    space: Space
    guarantee: Guarantee
    scale: float

    def sample(self, ids: Ids, rng: np.random.Generator) -> Ids:
        """Draw outputs; every token consumes as many doubles of ``rng``, in order."""
        base.check_ids(ids, self.space.vocab_size)
        chances = np.exp(log_poisson(self.space.vocab_size))
        most = int(np.count_nonzero(np.cumsum(chances[::-1]) >= _LOST))
        passed = np.cumsum(chances)
        out = np.empty(len(ids), dtype=np.int32)
        for part in slices(len(ids), _BLOCK):
            block = ids[part]
            draws = rng.random((len(block), most + 1))
            count = np.searchsorted(passed[: most - 1], draws[:, 0], side="right")
            noise = _quantile(draws[:, 1:], self.space.geometry.diameter, self.scale)
            canonical = self.space.canonical[block]
            points, inverse = np.unique(canonical, return_inverse=True)
            near, gaps = self._nearest(points, most)
            scores = gaps[inverse] + noise
            scores[np.arange(most) > count[:, None]] = np.inf
            best = np.argmin(scores, axis=1)
            out[part] = near[inverse, best]
        return out

    def log_prob(self, ids: Ids) -> LogProbs:
        """The law in real numbers, shape (T, V), of spaces of up to 512 words."""
        base.check_ids(ids, self.space.vocab_size)
        size = self.space.vocab_size
        if size > _MOST_WORDS:
            raise LawUnknownError(
                f"the law of {self.guarantee.mechanism} is computed for up to "
                f"{_MOST_WORDS} words; this space has {size}: sample from it"
            )
        points, inverse = np.unique(self.space.canonical[ids], return_inverse=True)
        near, distances = self._nearest(points, size)
        table = np.empty((len(points), size))
        for row, words, gaps in zip(table, near, distances, strict=True):
            row[words] = log_law(gaps, self.space.geometry.diameter, self.scale)
        return table[inverse]

    def _nearest(self, points: Ids, count: int) -> tuple[Ids, Floats]:
        """The nearest words of inputs and their distances, nearest first."""
        near = np.empty((len(points), count), dtype=np.int32)
        distances = np.empty((len(points), count))
        for i, gaps in enumerate(self._to_words(points)):
            some = np.sort(np.argpartition(gaps, count - 1)[:count])
            order = some[np.argsort(gaps[some], kind="stable")]
            near[i], distances[i] = order, gaps[order]
        return near, distances

    def _to_words(self, points: Ids) -> Iterator[Floats]:
        """Yield the distances of each input to all words."""
        space = self.space
        if space.vocab_size <= _MOST_WORDS:  # by formula: equal distances stay equal
            words = np.arange(space.vocab_size, dtype=np.int32)
            yield from base.space_distances(space, points, words)
            return
        distances = Distances(space)
        for part in slices(len(points), 128):
            rows = distances.rows(points[part])
            assert rows is not None  # noqa: S101 - check_space saw to vectors
            yield from rows


def gumbel_scale(epsilon: float, count: int, closest: float, diameter: float) -> float:
    r""":math:`b`, in units of distance; epsilon must be large enough."""
    from scipy.special import lambertw  # not at the top: mechanisms are listed without

    alpha = (epsilon - 2 * (1 + math.log(count)) / closest) / 3
    rate = min(float(lambertw(2 * alpha * diameter).real), math.log(alpha * closest))
    return 2 * diameter / rate


def log_poisson(count: int) -> Floats:
    r"""Log-probabilities of :math:`k = 1..m`, Poisson of mean :math:`\ln m`."""
    from scipy.special import gammaln, logsumexp

    if count == 1:
        return np.zeros(1)
    k = np.arange(1, count + 1)
    log = k * math.log(math.log(count)) - gammaln(k + 1)
    normalised: Floats = log - logsumexp(log)
    return normalised


def log_law(distances: Floats, bound: float, scale: float) -> Floats:
    r"""Log-probabilities of all words, at ascending distances from an input.

    ``bound`` is :math:`\Delta`, no smaller than any distance, ``scale`` is :math:`b`.
    With density :math:`f` and survival function :math:`S` of the noise, the word of
    rank :math:`r` wins with probability

    .. math::

        \int \frac{f(t - d_r)}{S(t - d_r)} \sum_{k \ge r} P(k)\,
             S(t - d_1) \dots S(t - d_k)\, dt.

    The integrand has kinks where a word can first win, :math:`t = d_j - \Delta`;
    between them Gauss-Legendre quadrature of 8 points, on pieces short against
    :math:`b` and :math:`\Delta / m`. All in logarithms: no small probability is lost.
    """
    from scipy.special import logsumexp

    nodes, weights = _nodes(distances, bound, scale)
    x = nodes[:, None] - distances  # noise with which word j arrives at t
    begun = x > -bound
    x = np.maximum(x, -bound)
    total = _log_gap(-bound, bound, scale)
    survival = np.where(begun, _log_gap(x, bound, scale) - total, 0.0)
    density = -x / scale - (np.exp(-x / scale) - math.exp(-bound / scale))
    density = np.where(begun, density - math.log(scale) - total, -np.inf)
    every = log_poisson(len(distances)) + np.cumsum(survival, axis=1)
    more = np.logaddexp.accumulate(every[:, ::-1], axis=1)[:, ::-1]
    wins = density - survival + more + np.log(weights)[:, None]
    log = logsumexp(wins, axis=0)
    law: Floats = log - logsumexp(log)  # off by the error of the quadrature
    return law


def _nodes(distances: Floats, bound: float, scale: float) -> tuple[Floats, Floats]:
    """Nodes and weights of the quadrature over possible winning scores."""
    kinks = np.unique(np.append(distances - bound, distances[0] + bound))
    gauss, weights = np.polynomial.legendre.leggauss(8)
    # A product of m survival functions falls by up to m / bound per unit of distance.
    short = min(scale / 4, 4 * bound / len(distances))
    pieces = np.ceil(np.diff(kinks) / short).astype(int)
    parts = zip(kinks, kinks[1:], pieces, strict=False)
    starts = [np.linspace(a, b, n, endpoint=False) for a, b, n in parts]
    edges = np.concatenate([*starts, kinks[-1:]])
    half = np.diff(edges)[:, None] / 2
    return (edges[:-1, None] + half * (1 + gauss)).ravel(), (half * weights).ravel()


def _log_gap(low: Floats | float, high: float, scale: float) -> Floats:
    r""":math:`\ln (F(h) - F(l)) - \ln F(h)` of the Gumbel law."""
    falls = math.exp(-high / scale) * np.expm1((high - np.asarray(low)) / scale)
    log: Floats = np.log(-np.expm1(-falls))
    return log


def _quantile(draws: Floats, bound: float, scale: float) -> Floats:
    """Turn uniform doubles into Gumbel noise truncated to ``-bound .. bound``."""
    low = math.exp(-math.exp(bound / scale)) if bound < 700 * scale else 0.0
    high = math.exp(-math.exp(-bound / scale))
    with np.errstate(divide="ignore"):
        noise: Floats = -scale * np.log(-np.log(low + (high - low) * draws))
    return np.clip(noise, -bound, bound)
