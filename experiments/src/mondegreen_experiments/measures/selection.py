"""Choosing t and epsilon of Vickrey under a budget of loss: as printed, and safely."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, final

from numpy.typing import NDArray

from mondegreen.arrays import Floats
from mondegreen.calibration.plan import T_GRID, calibrate_vickrey
from mondegreen.calibration.score_bounds import ScoreBounds
from mondegreen.calibration.search import Attempt, Calibration, calibrate
from mondegreen.calibration.targets import Target
from mondegreen.scores.interval import bound_mean
from mondegreen_experiments.measures.neighbours import Choice, Neighbours

LOOK: Final = 0
FIGURES: Final = -1

_PRIOR: Final = "same"  # all words alike
_START: Final = 20.0
_TOLERANCE: Final = 0.2  # of epsilon, relative

Runs: TypeAlias = Callable[[float, int, int], Neighbours]
"""From epsilon, a number that fixes the randomness, and runs a word, to these runs."""


@final
@dataclass(frozen=True)
class Chooser:
    """Chooses on runs of its own, so that figures can be taken on others.

    Attributes
    ----------
    runs : callable
        Gives runs of all words: :data:`LOOK` to find where to look, numbers from 1 on
        to check, :data:`FIGURES` for the figures.
    classes : array, shape (V,)
        The loss is the chance of an output of another class.
    looks, checks : int
        Runs of each word.
    within : (float, float)
        The first epsilon of the printed loop, and the last one that is tried.
    is_printed : bool
        Whether the form of Vickrey is the printed one, without the input.
    """

    runs: Runs
    classes: NDArray[Any]
    looks: int
    checks: int
    within: tuple[float, float]
    is_printed: bool = False

    def losses(self, near: Neighbours, t: float) -> Floats:
        """The chance, for each point, of an output of another class."""
        return 1 - near.alike(Choice(t, self.is_printed), self.classes)

    def figures(self, t: float, epsilon: float) -> dict[str, float]:
        """Measure a choice on runs that it did not see."""
        near = self.runs(epsilon, FIGURES, self.checks)
        e_m, e_bayes = near.errors(Choice(t, self.is_printed))
        loss = float(self.losses(near, t).mean())
        return {"e_m": e_m, "e_bayes": e_bayes, "l_m": loss}

    def printed(self, budget: float) -> tuple[float, float] | None:
        """Choose t and epsilon as the paper prints it: one epsilon for all t."""

        def loss(t: float, epsilon: float) -> float:
            near = self.runs(epsilon, LOOK, self.looks)
            return float(self.losses(near, t).mean())

        def error(t: float, epsilon: float) -> float:
            near = self.runs(epsilon, LOOK, self.looks)
            return near.errors(Choice(t, self.is_printed))[0]

        return printed_selection(loss, error, budget, T_GRID, self.within)

    def safe(self, budget: float) -> tuple[float, float] | None:
        """Choose as the package does: for each t the smallest epsilon that fits."""
        targets = [Target("utility_loss", budget, prior=_PRIOR)]

        def solve(t: float, is_thorough: bool) -> Calibration:
            def measure(epsilon: float, attempt: Attempt) -> ScoreBounds:
                is_rough = attempt.is_rough or not is_thorough
                runs = self.looks if is_rough else self.checks
                near = self.runs(epsilon, attempt.number, runs)
                return self._bounds(near, t, epsilon, attempt)

            return calibrate(measure, targets, _START, _TOLERANCE)

        t, found = calibrate_vickrey(solve, targets, _PRIOR)
        return None if found.chosen is None else (t, found.chosen.epsilon)

    def _bounds(
        self, near: Neighbours, t: float, epsilon: float, attempt: Attempt
    ) -> ScoreBounds:
        """The loss with its interval; and the error, where it is no look."""
        ends = bound_mean(self.losses(near, t), 0.0, 1.0, attempt.confidence).ends
        scores = {f"utility_loss_share_{_PRIOR}": ends}
        if not attempt.is_rough:
            error = near.errors(Choice(t))[0]
            scores[f"inference_error_{_PRIOR}"] = error, error
        made = Choice(t).mechanism("Laplace", epsilon)
        return ScoreBounds(
            made.name, {"t": t}, epsilon, made.metric, False, scores, (), None, ()
        )


def printed_selection(
    loss: Callable[[float, float], float],
    error: Callable[[float, float], float],
    budget: float,
    ts: Sequence[float],
    within: tuple[float, float],
) -> tuple[float, float] | None:
    """Choose t and epsilon by Algorithm 2 of Xu et al. 2021, as it is printed.

    Epsilon is doubled at t = 0 until the loss fits the budget; then the t of largest
    error is taken whose loss fits at that very epsilon. ``loss`` and ``error`` are
    asked at (t, epsilon); ``within`` holds the first epsilon and the last one to try,
    which the paper does not have: None where its loop would go on.

    >>> printed_selection(lambda t, e: t + 3 / e, lambda t, e: t, 0.5, (0, 1), (1, 64))
    (0, 8)
    """
    epsilon, last = within
    while loss(0.0, epsilon) > budget:
        epsilon *= 2
        if epsilon > last:
            return None
    fitting = [t for t in ts if loss(t, epsilon) <= budget]
    return max(fitting, key=lambda t: error(t, epsilon)), epsilon
