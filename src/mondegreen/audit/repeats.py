"""Noise that repeats: in two fresh processes, and in forked workers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from mondegreen.audit.report import Finding
from mondegreen.audit.target import started

_DRAWS: Final = 200


def repeats(
    name: str,
    words: Sequence[str],
    alpha: float,
    *,
    workers: bool = False,
    python: str | None = None,
    timeout: float = 600.0,
) -> list[Finding]:
    """Look for noise that repeats: in two fresh processes, and in forked workers.

    Parameters
    ----------
    name : str
        ``module:function``.
    words : sequence of str
        Inputs.
    alpha : float
        Chance that independent noise is reported; half for processes, half for workers.
    workers : bool
        Whether repetition between forked workers breaks the claim, because the target
        is run that way; otherwise it is a warning.
    python : str, optional
        Interpreter of another environment.
    timeout : float, seconds
        For the import and each request.

    Notes
    -----
    A mechanism that is hardly random at these inputs repeats itself innocently; see
    :func:`chance_of_agreement` for how that is told apart.
    """
    asked = [words[i % len(words)] for i in range(_DRAWS)]
    with started(name, python, timeout) as one, started(name, python, timeout) as two:
        first, second = one.sequence(asked), two.sequence(asked)
        control = one.sequence(asked)
        third, fourth = two.forked(asked)
    level = math.log(alpha / 2)
    chance = chance_of_agreement(first, second, control)
    if chance < level:
        text = (
            f"two fresh processes {_agreed(first, second, control, chance)}; whoever "
            "knows the seed can undo the noise"
        )
        return [Finding("fixed seed", True, text)]
    if third is None or fourth is None:
        return []
    chance = chance_of_agreement(third, fourth, control)
    if chance < level:
        text = (
            f"two forked workers {_agreed(third, fourth, control, chance)}: the noise "
            "of one is that of the other"
        )
        return [Finding("noise shared by workers", workers, text)]
    return []


def chance_of_agreement(
    base: Sequence[str], other: Sequence[str], control: Sequence[str]
) -> float:
    r"""Return ln of the chance that ``other`` agrees so often with ``base``.

    Parameters
    ----------
    base, other, control : sequence of str
        Outputs for the same inputs in the same order.

    Notes
    -----
    The sign test. Where noise is independent, the outputs of ``other`` and ``control``
    for one input have one law, whatever ``base`` drew. So at each of the :math:`n`
    places where just one of them agrees with ``base``, it is ``other`` with
    probability 1/2, and the chance that this happens :math:`k` times or more is
    :math:`2^{-n} \sum_{j \ge k} \binom{n}{j}`, exactly.

    Examples
    --------
    >>> round(math.exp(chance_of_agreement("abcd", "abcd", "bbdd")), 2)  # n = k = 2
    0.25
    """
    places = list(zip(base, other, control, strict=True))
    only_other = sum(a == b != c for a, b, c in places)
    only_control = sum(a == c != b for a, b, c in places)
    n = only_other + only_control
    ways = sum(math.comb(n, k) for k in range(only_other, n + 1))
    return math.log(ways) - n * math.log(2)


def _agreed(
    base: Sequence[str], other: Sequence[str], control: Sequence[str], chance: float
) -> str:
    """Say how often they agreed, and how unlikely that is."""
    same, usual = (
        sum(a == b for a, b in zip(base, each, strict=True))
        for each in (other, control)
    )
    return (
        f"agreed in {same} of {len(base)} outputs, where independent runs agreed in "
        f"{usual} (chance about 10^{chance / math.log(10):.0f})"
    )
