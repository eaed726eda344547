"""The mechanism whose constraints are all tight: no normaliser, no factor of two."""

from __future__ import annotations

import bisect
import math
import threading
from dataclasses import dataclass
from typing import ClassVar, Final, final

import numpy as np

from mondegreen import __version__
from mondegreen.arrays import Floats, Ids
from mondegreen.errors import InvalidParameterError, SpaceError
from mondegreen.files import home, read_own, write_own
from mondegreen.mechanisms import base
from mondegreen.mechanisms.laws.certificate import log_normalisers
from mondegreen.mechanisms.laws.integer import IntegerLaw
from mondegreen.mechanisms.laws.rows import OwnFloors, Row
from mondegreen.mechanisms.laws.scan import build_scan
from mondegreen.mechanisms.selection.base import SelectionState, prepare_state
from mondegreen.mechanisms.selection.exponential import (
    SMALLEST_WEIGHT,
    ExponentialLaw,
    too_much_rounding,
)
from mondegreen.sampling.integers import TOTAL
from mondegreen.space.distances import Distances, stripes
from mondegreen.space.metric import distances
from mondegreen.space.space import Space

_STEPS: Final = 200
_RESIDUAL: Final = 2.0**-42
"""How far a sum of probabilities may be from 1 before rounding."""

_HEADROOM: Final = 2.0**-40
"""Share of 2**62 left for the remainder, above the residual."""

_SCALE: Final = TOTAL * (1 - _HEADROOM)

_SPARE: Final = 5e-13
"""Nats of the 1e-12 that is charged for exponentials: a tenth of it would do."""

_SMALL: Final = 4096
"""Words of the largest space that is quicker solved than its solution kept."""


@final
@dataclass(frozen=True, slots=True)
class Tight(base.AbstractMechanism):
    r"""Draw from weights that sum to one by themselves, so nothing pays for a sum.

    .. math::

        P(y \mid w) = \mu_y\, e^{-\epsilon \min(d(w, y), g)}, \qquad
        \sum_y \mu_y\, e^{-\epsilon \min(d(w, y), g)} = 1 \text{ for every word } w

    Parameters
    ----------
    epsilon : float in [1e-9, 1e9], per unit of Euclidean distance
        The whole of it is the rate of the law.

    Raises
    ------
    InvalidParameterError
        If ``epsilon`` is out of range; by ``prepare``, if a :math:`\mu_y` would be
        negative: the space is too dense for so small an epsilon. ``calibrated`` works
        at every epsilon.

    Notes
    -----
    *Privacy.* Epsilon-metric privacy for :math:`\min(d, g)`: :math:`\mu_y` does not
    depend on the input, so the ratio of two inputs is that of the exponentials. The
    unknown word takes part in the sums as an output of its own, which is then printed
    as the word nearest to its point: post-processing. Proof: ``docs/proofs/tight.md``.

    *Numerics.* Conjugate gradients; what is left of the sums, and rounding to
    integers, is paid for by a rate a little below epsilon.

    References
    ----------
    .. [1] ElSalamouny, Chatzikokolakis, Palamidessi. "Generalized Differential
       Privacy: Regions of Priors That Admit Robust Optimal Mechanisms." 2014.

    Examples
    --------
    >>> import mondegreen as mg, numpy as np
    >>> space = mg.Space.from_arrays("ab", ["a", "b"], [[0], [1]])
    >>> state = Tight(epsilon=2.0).prepare(space)
    >>> np.exp(state.log_prob(np.array([0], dtype=np.int32))).round(3).tolist()
    [[0.901, 0.099]]
    """

    epsilon: float = base.epsilon_parameter("per unit of Euclidean distance")

    name: ClassVar[str] = "tight"
    is_private: ClassVar[bool] = True
    family: ClassVar[str] = "selection"
    space_metrics: ClassVar[tuple[str, ...]] = ("euclidean", "poincare")
    metric: ClassVar[str] = "Euclidean distance"

    def prepare(self, space: Space) -> SelectionState:
        """Solve for the weights of the words, which takes passes over all pairs."""
        base.check_space(self, space)
        return prepare_state(
            self,
            TightLaw(space, self.epsilon),
            certified=self.epsilon,
            certified_how="proof, for the integer weights that are sampled, which no "
            "normaliser changes from one input to another",
        )


@final
class TightLaw(IntegerLaw):
    r"""Integer laws :math:`P(y \mid w) = \mu_y e^{-c \min(d(w, y), g)}`.

    ``mu`` has the weights of the words and, last, of the unknown word. With
    :math:`T' = T (1 - 2^{-40})`, a row has the integers
    :math:`\lfloor T' \mu_y e^{-cg} \rfloor`, the same in all rows, plus
    :math:`\lfloor T' \mu_y (e^{-cd} - e^{-cg}) \rfloor` for near words, and what is
    left of :math:`T = 2^{62}` goes to the largest. No normaliser differs, so rounding
    adds at most :math:`4/(F - 2)` for two weights of at least :math:`F`,
    :math:`2 c e` for distances with error :math:`e`, and twice the remainder over
    the largest weight.
    """

    falls_with_distance: ClassVar[bool] = False  # a weight may outdo a distance

    factors: Floats
    floors: OwnFloors
    to_unknown: Floats

    def __init__(self, space: Space, epsilon: float) -> None:
        scan, count = build_scan(space), space.vocab_size
        resolution = math.log(TOTAL / count / SMALLEST_WEIGHT)
        cutoff = min(resolution / epsilon, space.geometry.diameter)
        closest = min(space.geometry.closest, cutoff)
        self._most_left = int(TOTAL * 2 * _HEADROOM) + 4 * count
        # F, a lower bound of every weight: first as if no mu were below 1 / V. Where
        # the cutoff was lowered it is 2^14 by choice.
        smallest = TOTAL / count * math.exp(-epsilon * cutoff)
        if epsilon * cutoff >= resolution:
            smallest = SMALLEST_WEIGHT
        error = scan.error(space.geometry.closest, cutoff)
        remainder = 2 * self._most_left * count / TOTAL
        while True:
            # 4 / (F - 2) + 2 c e + 2 R V / T: two weights, two distances, and the
            # remainder R, which the largest weight takes, at least T / V. There is no
            # normaliser to be off.
            kappa = 4 / (smallest - 2) + (2 * epsilon * error + remainder + 1e-12)
            # c d + kappa <= epsilon d for all d of at least `closest`.
            rate = epsilon - kappa / closest if closest else epsilon
            if rate < 0.99 * epsilon:
                raise too_much_rounding(space, epsilon, kappa, cutoff)
            self.mu = _solution(space, rate, cutoff)
            # A mu far below 1 / V breaks the bound. Then a smaller F is charged, which
            # leaves a little less to the rate, and so to this mu. F halves each time.
            least = _SCALE * float(self.mu[:-1].min()) * math.exp(-rate * cutoff)
            if (
                least < SMALLEST_WEIGHT
                or 4 / (least - 2) <= 4 / (smallest - 2) + _SPARE
            ):
                break
            smallest = max(float(SMALLEST_WEIGHT), least / 2)
        super().__init__(space, scan, rate, cutoff)
        self._log_mu, self.factors = np.log(self.mu), _SCALE * self.mu
        # The unknown word as an output is printed as the word nearest to its point.
        gaps = distances(space.metric, space.unknown[None], space.vectors)[0]
        self.printed = int(gaps.argmin())
        points = scan.inputs(np.arange(count + 1, dtype=np.int32))
        self.to_unknown = distances(space.metric, points[-1:], points)[0]
        floor = (_SCALE * self.mu * math.exp(-rate * cutoff)).astype(np.int64)
        # Weights so small that rounding could move a log-ratio by 2e-4 are refused.
        if int(floor[:-1].min()) < min(SMALLEST_WEIGHT, TOTAL // (count + 1)):
            raise _infeasible(space, epsilon, cutoff, float(self.mu.min()))
        floor[self.printed] += floor[-1]
        self.floors = OwnFloors(floor[:-1], np.cumsum(floor[:-1]))

    def check_remainder(self, remainder: int) -> None:
        """Refuse weights that are not those of this space: their sums are not one."""
        if not 0 <= remainder <= self._most_left:
            raise SpaceError(
                "tight: the weights of an input do not sum to one; delete the folder "
                f"{home() / 'tight'}, so that they are solved for again"
            )

    def row(self, point: int, words: Ids, scores: Floats) -> Row:
        """Round the law of one input to integers that sum to 2**62."""
        # Listed words and, last, the unknown word as an output of its own.
        outputs = np.append(words, self.space.vocab_size)
        gaps = np.append(scores, self.to_unknown[point])
        floor = math.exp(-self.rate * self.cutoff)
        shares = np.maximum(np.exp(-self.rate * gaps) - floor, 0.0)
        excess = (self.factors[outputs] * shares).astype(np.int64)
        # No row is divided by its sum: what the floors lose, and how far the solution
        # is from 1, is the remainder. It is below 0, and refused, if the sum is above 1
        # + 2^-40.
        remainder = TOTAL - int(self.floors.total[0]) - int(excess.sum())
        self.check_remainder(remainder)
        excess[np.argmax(excess)] += remainder
        released = np.append(words, np.int32(self.printed)).astype(np.int32)
        return Row(self.floors, released, np.cumsum(excess))

    def log_rows(self, ids: Ids, distances: Floats) -> tuple[Floats, Floats]:
        """Log-probabilities and probabilities in real numbers, from distances."""
        logs = np.minimum(distances, self.cutoff)
        logs *= -self.rate
        logs += self._log_mu[:-1]
        away = np.minimum(self.to_unknown[ids], self.cutoff)
        column = logs[:, self.printed]
        np.logaddexp(column, self._log_mu[-1] - self.rate * away, out=column)
        return logs, np.exp(logs)


def _solution(space: Space, rate: float, cutoff: float) -> Floats:
    """The weights, from the cache folder where a large space has been solved."""
    if space.vocab_size <= _SMALL:
        return solve_tight(space, rate, cutoff)
    name = f"{space.digest}-{rate:.10g}-{cutoff:.10g}-{__version__}.f64"
    path = home() / "tight" / name
    kept = read_own(path) or b""
    if len(kept) == 8 * (space.vocab_size + 1):
        return np.frombuffer(kept, "<f8").astype(np.float64)
    solved = solve_tight(space, rate, cutoff)
    write_own(path, solved.astype("<f8").tobytes())
    return solved


def solve_tight(space: Space, rate: float, cutoff: float) -> Floats:
    r"""Solve :math:`\sum_y \mu_y e^{-c \min(d(w, y), g)} = 1` for all inputs.

    The sum is over all words and the unknown word; inputs at one point share the weight
    of the point. An epsilon that gives weights that are not positive is refused.
    """
    canonical = space.canonical
    heads, counts = np.unique(canonical, return_counts=True)
    # The rows must sum to one for the very distances that laws are made from.
    tiles = Distances(space, build_scan(space).inputs)

    def of_points(values: Floats) -> Floats:
        spread = np.zeros(len(canonical))
        spread[heads] = values
        return spread[canonical]

    # Inputs at one point share its mu equally; `heads` has one input of each point, so
    # the system has as many rows as unknowns.
    share = of_points(1 / counts)

    def kernel(values: Floats) -> Floats:
        return _kernel(tiles, of_points(values) * share, rate, cutoff)[heads]

    # Conjugate gradients, from the solution for words that are far apart.
    solution = np.ones(len(heads))
    residual = 1 - kernel(solution)
    direction, power = residual.copy(), float(residual @ residual)
    # The matrix is symmetric. With a cutoff it need not be positive definite: then a
    # curvature may be 0 or less, and the test behind the loop decides.
    for _ in range(_STEPS):
        if np.abs(residual).max() <= _RESIDUAL:
            break
        image = kernel(direction)
        curvature = float(direction @ image)
        if curvature <= 0:
            break
        solution += power / curvature * direction
        residual -= power / curvature * image
        before, power = power, float(residual @ residual)
        direction = residual + power / before * direction
    # The sum of each row, computed anew: the residual of the loop drifts by rounding.
    is_solved = np.abs(1 - kernel(solution)).max() <= 8 * _RESIDUAL
    if not is_solved or solution.min() <= 0:
        raise _infeasible(space, rate, cutoff, float(solution.min()))
    return of_points(solution) * share


def _kernel(tiles: Distances, values: Floats, rate: float, cutoff: float) -> Floats:
    """The product of the kernel of all inputs with a vector."""
    product, adding = np.zeros(tiles.count), threading.Lock()

    def work(i: int, j: int, table: Floats) -> None:
        rows, columns = table.shape
        left, right = np.zeros(rows), np.zeros(columns)
        for stripe in stripes(rows):
            # (rows of the stripe, columns). A tile above the diagonal is used twice,
            # for K is symmetric: K v for its rows, and K^T v for its columns.
            weights = np.exp(-rate * np.minimum(table[stripe], cutoff))
            left[stripe] = weights @ values[j : j + columns]
            if i != j:
                right += values[i : i + rows][stripe] @ weights
        with adding:
            product[i : i + rows] += left
            product[j : j + columns] += right

    tiles.each(work)
    return product


def _infeasible(
    space: Space, epsilon: float, cutoff: float, least: float
) -> InvalidParameterError:
    r"""Say from which epsilon there certainly is a solution.

    If the sums of a row of the kernel beside its diagonal stay below 1/2, the Neumann
    series of the inverse leaves all weights positive.
    """
    tiles = Distances(space)

    def certainly_works(rate: float) -> bool:
        law = ExponentialLaw(space, rate, cutoff)
        return float(np.exp(log_normalisers(tiles, [law])[0, :-1]).max()) < 1.5

    rates = [epsilon * 1.2**k for k in range(1, 49)]
    first = bisect.bisect_left(rates, True, key=certainly_works)
    hint = ""
    if first < len(rates):
        hint = f"it certainly works from epsilon {rates[first]:.3g}, and "
    return InvalidParameterError(
        "epsilon",
        epsilon,
        f"larger for tight on space {space.name!r}, where a weight would be "
        f"{least:.2g}; {hint}calibrated works at every epsilon",
    )
