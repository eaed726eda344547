"""What a statistical audit could have seen, and the settings that decide it."""

from __future__ import annotations

from collections.abc import Sequence

from mondegreen.errors import InvalidParameterError
from mondegreen.scores.interval import largest_loss, rarest_event


def check_settings(runs: int, pairs: int, alpha: float) -> None:
    """Refuse settings that no statistical audit can work with.

    Parameters
    ----------
    runs : int
        0, or enough for two halves.
    pairs : int
        At least 1.
    alpha : float
        In (0, 1).
    """
    if runs != 0 and runs < 20:
        raise InvalidParameterError("runs", runs, "0, or at least 20")
    if pairs < 1:
        raise InvalidParameterError("pairs", pairs, "at least 1")
    if not 0 < alpha < 1:
        raise InvalidParameterError("alpha", alpha, "in (0, 1)")


def power_of(runs: int, alpha: float, pairs: int) -> tuple[float, str]:
    """Return the largest loss that could have been certified, and it in words.

    Parameters
    ----------
    runs : int
        Runs of each input, both halves.
    alpha : float
        Level over all pairs.
    pairs : int
        Pairs that share it.
    """
    level = alpha / (2 * max(pairs, 1))
    nats = largest_loss(runs // 2, level)
    rare = rarest_event(runs // 2, level)
    return nats, (
        f"losses up to {nats:.3g} nats could have been certified, and an output that "
        f"one input never has if the other has it in at least {rare:.2g} of its runs; "
        "not rejecting proves nothing about rarer events or other pairs"
    )


def reach(power: str, nats: float, allowed: Sequence[float]) -> str:
    """Return what the power means for these pairs: how many it could have convicted.

    Parameters
    ----------
    power : str
        From :func:`power_of`.
    nats : float
        From :func:`power_of`.
    allowed : sequence of float, nats
        What the claim allows each pair.
    """
    within = sum(loss < nats for loss in allowed)
    text = f"{power}; {within} of {len(allowed)} pairs are allowed less than that"
    if within < len(allowed) / 2:
        text += " (more runs, nearer words or a smaller epsilon would see more)"
    return text
