"""Choosing epsilon and t of Vickrey together: Algorithm 2 of its paper, made safe.

The printed algorithm doubles epsilon at t = 0 until the utility loss fits the budget,
and then looks for the t with the largest inference error at that one epsilon. There
hardly any t > 0 fits, since the loss grows with t. Here every t has its own epsilon,
the smallest that fits, and the best of these pairs is taken. The paper is Xu, Aggarwal,
Feyisetan, Teissier, "On a Utilitarian Approach to Privacy Preserving Text Generation",
PrivateNLP 2021.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from mondegreen.calibration.score_bounds import ScoreBounds
from mondegreen.calibration.search import Calibration
from mondegreen.calibration.targets import Target

T_GRID: Final = (0.0, 0.25, 0.5, 0.75, 1.0)
"""Weights of the second neighbour that are tried."""

Solve = Callable[[float, bool], Calibration]


def calibrate_vickrey(
    solve: Solve, targets: Sequence[Target], prior: str
) -> tuple[float, Calibration]:
    """Find the t and its epsilon that keep all targets and are preferred.

    For each t a rough search for the epsilon that keeps the targets; the t whose
    setting is preferred (:func:`preference`); and a thorough search for that t alone.
    Where this ends without a setting, the next t is taken. ``solve(t, is_thorough)``
    searches epsilon at one t; ``prior`` is that of the inference error.

    Differs from the paper besides what the module says: the doubling ends, since for
    t > 0 the loss has a floor that no epsilon gets below; losses are compared at the
    upper end of their interval; prior and loss come from PUBLIC text, since what is
    tuned on private text tells about it. The numbers of the setting that is returned
    are drawn anew, after the choice.
    """
    found = [(t, solve(t, False)) for t in T_GRID]
    found.sort(key=lambda each: preference(each[1].chosen, targets, prior))
    tried: list[ScoreBounds] = []
    for t, rough in found:
        if rough.chosen is None:
            break
        calibration = solve(t, True)
        tried += calibration.tried
        if calibration.chosen is not None:
            return t, calibration
    t, calibration = found[0]
    problem = calibration.problem or "no value of t has a setting that is sure to fit"
    return t, Calibration(tuple(targets), None, tried or calibration.tried, problem)


def preference(
    setting: ScoreBounds | None, targets: Sequence[Target], prior: str
) -> tuple[float, float]:
    """Sort key of settings that keep the same targets, the best first.

    Under a budget of utility, that of the larger inference error, at its lower end,
    as in the paper. Under targets of privacy, that of the smaller utility loss, at its
    upper end.
    """
    if setting is None:
        return 1.0, 0.0
    if any(target.is_about_use for target in targets):
        error = setting.scores.get(f"inference_error_{prior}", (0.0, 0.0))
        return 0.0, -error[0]
    loss = setting.scores.get(f"utility_loss_share_{prior}", (0.0, 1.0))
    return 0.0, loss[1]
