"""The audit of any callable ``word -> word``, and of noise that it repeats."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np
from scipy.special import bdtrc

from mondegreen.audit.claim import Claim, metric_named
from mondegreen.audit.pairs import choose_pairs
from mondegreen.audit.report import AuditReport, Evidence, Finding
from mondegreen.audit.statistical import (
    check_settings,
    measure_pairs,
    power_nats,
    statistical_report,
    strongest,
)
from mondegreen.audit.target import UNKNOWN_WORDS, Target
from mondegreen.errors import InvalidParameterError
from mondegreen.space.space import Space
from mondegreen.wording import amount

Progress = Callable[[str, float], object]

_DRAWS: Final = 200
"""Questions that are asked twice to see whether noise repeats."""


def audit_target(
    target: str,
    space: Space,
    epsilon: float,
    *,
    metric: str | None = None,
    unknown: Sequence[str] = UNKNOWN_WORDS,
    workers: bool = False,
    runs: int = 4000,
    pairs: int = 16,
    alpha: float = 1e-3,
    seed: int | None = None,
    python: str | None = None,
    timeout: float = 600.0,
    progress: Progress = lambda what, share: None,
) -> AuditReport:
    """Audit any callable ``word -> word``, ``module:function``, in its own process.

    Options are those of :func:`mondegreen.audit.run.audit_state`; the callable knows
    the words of ``space``, the noise is its own, ``seed`` chooses pairs.
    Words in ``unknown`` are taken to be at distance 0 of each other: nothing may tell
    them apart. ``workers`` says that the target is run in forked workers, so that noise
    they share counts. ``python`` is the interpreter of the environment in which the
    target is installed, ``timeout`` for its import, and for each 500 calls.

    Outputs are strings; one that is no word of the space counts like any other, and so
    does an exception. Half of ``alpha`` is for pairs, half for repeated noise.
    """
    check_settings(runs, pairs, alpha)
    if runs == 0:
        raise InvalidParameterError("runs", runs, "at least 20 for a target")
    claim = Claim(
        target, float(epsilon), *metric_named(metric or space.metric, space), space
    )
    level = alpha / 2
    reach = power_nats(runs, level, pairs) / claim.epsilon
    strangers = _unknown_pairs([w for w in unknown if w not in space.index], space)
    known = max(1, pairs - len(strangers))
    rng = np.random.default_rng(seed)
    chosen = choose_pairs(claim, 2 * known, rng, largest=reach)
    among = [pair for pair in chosen if space.vocab_size not in pair][:known]
    compared = [*(claim.pair(*pair) for pair in among), *strangers]
    with Target(target, python, timeout) as sampler:
        found = measure_pairs(
            sampler,
            compared,
            runs,
            level,
            lambda share: progress("calling the target", share),
        )
    asked = list(dict.fromkeys(word for pair in compared for word in pair.words))
    with Target(target, python, timeout) as one, Target(target, python, timeout) as two:
        findings = repeats(one, two, asked, level, workers=workers)
    drawn = f"{amount(runs, 'call')} for each input"
    report = statistical_report(claim, found, drawn, runs, alpha, level=level)
    return report.with_findings(*findings, *_other_group(found))


def _unknown_pairs(words: Sequence[str], space: Space) -> list[Evidence]:
    """Return all pairs of words that a target does not know: nothing is allowed."""
    ids = (space.vocab_size, space.vocab_size)
    return [
        Evidence(ids=ids, words=(a, b), distance=0.0, allowed=0.0)
        for i, a in enumerate(words)
        for b in words[i + 1 :]
    ]


def _other_group(found: Sequence[Evidence]) -> list[Finding]:
    """Return what breaks the claim besides the worst pair: known or unknown words."""
    worst = strongest(found)
    if worst is None or worst.excess <= 0:
        return []
    is_unknown = worst.ids[0] == worst.ids[1]
    others = [each for each in found if (each.ids[0] == each.ids[1]) != is_unknown]
    second = strongest(others)
    if second is None or second.excess <= 0:
        return []
    return [
        Finding("known words" if is_unknown else "unknown words", True, str(second))
    ]


def repeats(
    one: Target, two: Target, words: Sequence[str], alpha: float, *, workers: bool
) -> list[Finding]:
    """Look for noise that repeats: in two fresh processes, and in forked workers.

    ``alpha`` is the chance that independent noise is reported; half for processes, half
    for workers. Repetition between workers breaks the claim only where the target is
    run that way, ``workers``; otherwise it is a warning.
    """
    asked = [words[i % len(words)] for i in range(_DRAWS)]
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

    All three are outputs for the same inputs in the same order. The sign test: where
    noise is independent, the outputs of ``other`` and ``control`` for one input have
    one law, whatever ``base`` drew. So at each of the :math:`n` places where just one
    of them agrees with ``base``, it is ``other`` with probability 1/2, and the chance
    that this happens :math:`k` times or more is
    :math:`2^{-n} \sum_{j \ge k} \binom{n}{j}`, exactly. A mechanism that is hardly
    random at these inputs, and so repeats itself innocently, passes it.

    >>> round(math.exp(chance_of_agreement("abcd", "abcd", "bbdd")), 2)  # n = k = 2
    0.25
    """
    places = list(zip(base, other, control, strict=True))
    only_other = sum(a == b != c for a, b, c in places)
    only_control = sum(a == c != b for a, b, c in places)
    return math.log(bdtrc(only_other - 1, only_other + only_control, 0.5))


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
