r"""Privacy and utility in one number: PUC, and its general form."""

from __future__ import annotations

from collections.abc import Sequence

from mondegreen.errors import InvalidParameterError


def composite(
    utilities: Sequence[float],
    privacies: Sequence[float],
    alpha: float,
    scale: float = 100.0,
) -> float:
    r"""Return a weighted mean of mean utility and mean privacy.

    .. math::

        \alpha\, \frac{1}{k} \sum_{i=1}^{k} u_i
        + (1 - \alpha)\, \frac{1}{l} \sum_{j=1}^{l} p_j, \qquad u_i, p_j \in [0, M]

    Parameters
    ----------
    utilities, privacies : sequences of float in [0, scale]
        Brought to one scale, and turned so that larger is better.
    alpha : float in [0, 1]
        Weight of utility.
    scale : float in (0, inf)
        :math:`M`, what a perfect score is.

    Returns
    -------
    float, in [0, scale]

    Raises
    ------
    InvalidParameterError
        If a score is not on the scale, there is none, or ``alpha`` is out of range.

    Notes
    -----
    *Direction.* Larger is better, whatever that means: a mean of two goods hides which
    of them was lost. Report its parts beside it.

    References
    ----------
    .. [1] Meisenbacher et al. LREC-COLING 2024, the general form of PUC.

    Examples
    --------
    >>> composite([0.5, 1.0], [0.25], alpha=0.5, scale=1.0)
    0.5
    """
    if not 0 <= alpha <= 1:
        raise InvalidParameterError("alpha", alpha, "in [0, 1]")
    for name, scores in (("utilities", utilities), ("privacies", privacies)):
        if not scores or not all(0 <= score <= scale for score in scores):
            allowed = f"at least one number, each in [0, {scale:g}]"
            raise InvalidParameterError(name, list(scores), allowed)
    utility = sum(utilities) / len(utilities)
    privacy = sum(privacies) / len(privacies)
    return alpha * utility + (1 - alpha) * privacy


def puc(
    accuracy: float,
    baseline: float,
    *,
    n_w: float,
    s_w: float,
    pp: float,
    cs: float,
    low: float,
    alpha: float,
) -> float:
    r"""Return the privacy-utility composite of the benchmark paper, in percent.

    .. math::

        \mathrm{PUC} = \alpha \cdot 100 \frac{A}{A_0} + (1 - \alpha)
            \frac{(100 - N_w) + S_w + \mathrm{PP} + \mathrm{CS} + (100 - \mathrm{LOW})}
                 {5}

    Parameters
    ----------
    accuracy, baseline : float
        :math:`A` on released text, and :math:`A_0` on the original, in one unit.
    n_w, s_w : float in [0, 100], percent
        Share of runs in which a word stays; distinct outputs in 100 runs.
    pp, cs, low : float in [0, 100], percent
        See :mod:`mondegreen.scores.corpus` and :mod:`mondegreen.scores.similarity`.
    alpha : float in [0, 1]
        Weight of utility.

    Returns
    -------
    float, percent; above 100 only if the accuracy is above the baseline

    Raises
    ------
    InvalidParameterError
        If a score is no percentage, or the baseline is not positive.

    Notes
    -----
    *Direction.* Larger is better, in the view of the paper. Use it to compare with
    published tables only: CS counts as privacy although it measures closeness;
    :math:`N_w`, :math:`S_w` and PP are one quantity counted three times; LOW measures
    vocabulary coverage, not leakage.

    *Differs from the paper.* The printed "B-Acc" reads as a subtraction; it is the
    baseline accuracy. Read so, the formula gives 187 of 189 printed cells for IMDb.

    References
    ----------
    .. [1] Meisenbacher et al. LREC-COLING 2024, Table 9.

    Examples
    --------
    >>> puc(60.0, 80.0, n_w=10, s_w=85, pp=90, cs=40, low=55, alpha=0.5).__round__(2)
    72.5
    """
    if not baseline > 0 or not accuracy >= 0:
        allowed = "an accuracy of at least 0, and a baseline above 0"
        raise InvalidParameterError("accuracy", (accuracy, baseline), allowed)
    parts = [100 - n_w, s_w, pp, cs, 100 - low]
    privacy = composite([0.0], parts, 0.0)
    if not 0 <= alpha <= 1:
        raise InvalidParameterError("alpha", alpha, "in [0, 1]")
    return alpha * 100 * accuracy / baseline + (1 - alpha) * privacy
