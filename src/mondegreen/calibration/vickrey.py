r"""Choosing epsilon and t of Vickrey together (Vickrey paper, Algorithm 2, made safe).

The printed algorithm doubles epsilon at t = 0 until the utility loss fits the budget,
and then looks for the t with the largest inference error at that one epsilon. There
hardly any t > 0 fits, since the loss grows with t. Here every t has its own epsilon,
the smallest that fits, and the best of these pairs is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from mondegreen.calibration.measurement import Measurement
from mondegreen.calibration.search import Calibration
from mondegreen.calibration.targets import Target

T_GRID: Final = (0.0, 0.25, 0.5, 0.75, 1.0)
"""Weights of the second neighbour that are tried."""

Solve = Callable[[float, bool], Calibration]


def calibrate_vickrey(
    solve: Solve, targets: Sequence[Target], prior: str, ts: Sequence[float] = T_GRID
) -> tuple[float, Calibration]:
    r"""Return the t and the epsilon of it that keep all targets and are best by far.

    For each t in a rough search, the epsilon that keeps the targets; the t whose
    setting is preferred (:func:`preference`); and a thorough search for that t alone.
    Where this ends without a setting, the next t is taken.

    Parameters
    ----------
    solve : callable ``(t, is_thorough) -> Calibration``
        Searches epsilon at one t.
    targets : sequence of Target
        A utility budget, as in the paper, or targets of privacy.
    prior : str
        Of the inference error that is compared.
    ts : sequence of float in [0, 1]
        Values of t to try.

    Notes
    -----
    *Differs from the paper.* Besides what the module says: the doubling ends, since
    for t > 0 the loss has a floor that no epsilon gets below; losses are compared at
    the upper end of their interval; prior and loss come from PUBLIC text, since what
    is tuned on private text tells about it. The numbers of the setting that is
    returned are drawn anew, after the choice.

    References
    ----------
    .. [1] Xu, Aggarwal, Feyisetan, Teissier. "On a Utilitarian Approach to Privacy
       Preserving Text Generation." PrivateNLP 2021, Algorithm 2.
    """
    found = [(t, solve(t, False)) for t in ts]
    found.sort(key=lambda each: preference(each[1].chosen, targets, prior))
    tried: list[Measurement] = []
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
    setting: Measurement | None, targets: Sequence[Target], prior: str
) -> tuple[float, float]:
    """Return a key that sorts settings which keep the same targets, the best first.

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
