"""The audit of any callable ``word -> word``."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from mondegreen.audit.distances import metric_named
from mondegreen.audit.pairs import choose_pairs
from mondegreen.audit.power import check_settings, power_of, reach
from mondegreen.audit.repeats import repeats
from mondegreen.audit.report import AuditReport, Evidence, Finding
from mondegreen.audit.statistical import (
    Comparison,
    comparison_of,
    measure_pairs,
    strongest,
)
from mondegreen.audit.target import UNKNOWN_WORDS, started
from mondegreen.errors import InvalidParameterError
from mondegreen.space.space import Space
from mondegreen.wording import amount

Progress = Callable[[str, float], object]


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
    """Audit any callable ``word -> word`` against a claim on a space.

    Parameters
    ----------
    target : str
        ``module:function``; runs in a process of its own.
    space : Space
        Words that the callable knows, and distances between them.
    epsilon : float
        Of the claim.
    metric : {"euclidean", "poincare", "hamming", "discrete"}, optional
        Of the claim; by default that of the space.
    unknown : sequence of str
        Words that it does not know. They are taken to be at distance 0 of each other:
        nothing may tell them apart. Empty, to leave them out.
    workers : bool
        Whether the target is run in forked workers, so that noise they share counts.
    runs, pairs, alpha, seed, progress
        As for :func:`audit_mechanism`; the noise is that of the target, ``seed``
        chooses pairs.
    python : str, optional
        Interpreter of the environment in which the target is installed.
    timeout : float, seconds
        For the import, and for each request of at most 500 calls.

    Notes
    -----
    Outputs are strings; one that is no word of the space counts like any other, and
    so does an exception. Levels: ``alpha / 2`` for pairs, ``alpha / 2`` for repeated
    noise.
    """
    check_settings(runs, pairs, alpha)
    if runs == 0:
        raise InvalidParameterError("runs", runs, "at least 20 for a target")
    if not 0 < epsilon < math.inf:
        raise InvalidParameterError("epsilon", epsilon, "a positive number")
    stated = metric_named(metric or space.metric, space)
    rng = np.random.default_rng(seed)
    strangers = [word for word in unknown if word not in space.index]
    known = max(1, pairs - len(strangers) * (len(strangers) - 1) // 2)
    largest = power_of(runs, alpha / 2, pairs)[0] / epsilon
    chosen = [
        pair
        for pair in choose_pairs(
            stated, space.vocab_size, 2 * known, rng, largest=largest
        )
        if space.vocab_size not in pair
    ][:known]
    compared = [comparison_of(space, stated, pair, words=True) for pair in chosen]
    compared += [
        Comparison(a, b, (space.vocab_size,) * 2, (a, b), 0.0)
        for i, a in enumerate(strangers)
        for b in strangers[i + 1 :]
    ]
    with started(target, python, timeout) as sampler:
        found = measure_pairs(
            sampler,
            compared,
            epsilon,
            runs,
            alpha / 2,
            lambda share: progress("calling the target", share),
        )
    worst = strongest(found)
    asked = list(dict.fromkeys(word for pair in compared for word in pair.words))
    findings = repeats(
        target, asked, alpha / 2, workers=workers, python=python, timeout=timeout
    )
    nats, power = power_of(runs, alpha / 2, len(compared))
    power = reach(power, nats, [pair.allowed(epsilon) for pair in compared])
    report = AuditReport(
        verdict="broken" if worst is not None and worst.excess > 0 else "not rejected",
        subject=target,
        claimed=float(epsilon),
        found=0.0 if worst is None else worst.epsilon,
        found_is="lower bound",
        metric=stated.name,
        space=space.name,
        space_digest=space.digest,
        method=f"statistical: {amount(len(compared), 'pair')}, "
        f"{amount(runs, 'call')} for each input, false-alarm rate {alpha:g}",
        pairs=len(compared),
        power=power,
        runs=runs,
        alpha=alpha,
        power_nats=nats,
        worst=worst,
    )
    return report.with_findings(*findings, *_other_group(found, worst))


def _other_group(found: Sequence[Evidence], worst: Evidence | None) -> list[Finding]:
    """Return what breaks the claim besides the worst pair: known or unknown words."""
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
