"""The audit of a mechanism of this package."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final, Literal

import numpy as np

from mondegreen.audit.distances import ClaimMetric, metric_named, metric_of
from mondegreen.audit.exact import LawTable, table_of
from mondegreen.audit.line import line_table
from mondegreen.audit.methods import Audit
from mondegreen.audit.plane import plane_table
from mondegreen.audit.power import check_settings
from mondegreen.audit.report import AuditReport
from mondegreen.errors import InvalidParameterError, LawUnknownError
from mondegreen.mechanisms.base import AbstractMechanism, State
from mondegreen.sampling.noise import Batch, OSNoise
from mondegreen.space.space import Space

Method = Literal["auto", "exact", "statistical"]
Progress = Callable[[str, float], object]

_LARGEST_ERROR: Final = 1e-6
"""Nats that quadrature may be off in an audit that calls itself exact."""


def audit_mechanism(
    mechanism: AbstractMechanism,
    space: Space,
    *,
    claim: float | None = None,
    metric: str | None = None,
    method: Method = "auto",
    runs: int = 20_000,
    pairs: int = 16,
    alpha: float = 1e-3,
    seed: int | None = None,
    progress: Progress = lambda what, share: None,
) -> AuditReport:
    """Audit a mechanism of this package on a space.

    Parameters
    ----------
    mechanism : AbstractMechanism
        Private or not.
    space : Space
        Where; see :func:`subspace` for a part of it.
    claim : float, optional
        Epsilon to audit; by default that of the guarantee.
    metric : {"euclidean", "poincare", "hamming", "discrete"}, optional
        Metric of the claim; by default that of the guarantee.
    method : {"auto", "exact", "statistical"}
        ``auto`` is exact where that is possible.
    runs : int
        Runs of each input. With 0, nothing is drawn: only exact methods are used.
    pairs : int
        Pairs of inputs of a statistical audit.
    alpha : float
        Chance that a sound mechanism is called broken.
    seed : int, optional
        Repeats the audit; by default the noise is that of a release.
    progress : callable
        Called with what is done and its share.

    Raises
    ------
    LawUnknownError
        If no exact method applies, and ``method`` is ``exact`` or ``runs`` is 0.

    Notes
    -----
    The exact methods, in this order: the closed law, all pairs and outputs, on up to
    4,096 words; intervals or quadrature for noise in one dimension; polar quadrature
    for noise in two; on larger spaces the certificate of the guarantee, and the law
    of some pairs besides. Then ``runs`` outputs tell whether the sampler follows the
    law. Where no law is known the audit is statistical, and a certificate decides
    what it leaves open.

    Examples
    --------
    >>> import mondegreen as mg
    >>> space = mg.Space.from_arrays("line", ["a", "b", "c"], [[0], [1], [3]])
    >>> sound, twin = mg.mechanism("laplace", epsilon=1.0), mg.mechanism(
    ...     "laplace", epsilon=2.0
    ... )
    >>> audit_mechanism(sound, space, seed=0).verdict
    'holds'
    >>> report = audit_mechanism(twin, space, claim=1.0, seed=0)
    >>> report.verdict, round(report.found, 6)
    ('broken', 2.0)
    """
    return audit_state(
        mechanism.prepare(space),
        claim=claim,
        metric=metric_named(metric, space) if metric else None,
        method=method,
        runs=runs,
        pairs=pairs,
        alpha=alpha,
        seed=seed,
        progress=progress,
    )


def audit_state(
    state: State,
    *,
    claim: float | None = None,
    metric: ClaimMetric | None = None,
    method: Method = "auto",
    runs: int = 20_000,
    pairs: int = 16,
    alpha: float = 1e-3,
    seed: int | None = None,
    progress: Progress = lambda what, share: None,
) -> AuditReport:
    """Audit a prepared mechanism; see :func:`audit_mechanism`.

    Parameters
    ----------
    state : State
        Anything that keeps the contract: ``space``, ``guarantee``, ``sample`` and
        ``log_prob``.
    claim, method, runs, pairs, alpha, seed, progress
        As for :func:`audit_mechanism`.
    metric : ClaimMetric, optional
        Of the claim; by default that of the guarantee.
    """
    check_settings(runs, pairs, alpha)
    stated = metric_of(state) if metric is None else metric
    epsilon = float(state.guarantee.epsilon if claim is None else claim)
    if not 0 < epsilon < math.inf:
        raise InvalidParameterError("claim", epsilon, "a positive number")
    rng = _rng(seed)
    audit = Audit(state, stated, epsilon, runs, pairs, alpha, rng, progress)
    if method == "statistical":
        return audit.statistical()
    table = _table(state)
    if table is not None:
        return audit.exact(table)
    certified = audit.certificate() if metric is None else None
    try:
        return audit.in_part(certified)
    except LawUnknownError:
        if certified is None and method == "exact":
            raise
    if certified is None:
        return audit.statistical()
    is_drawn = runs > 0 and method == "auto"
    return audit.by_certificate(certified, audit.statistical() if is_drawn else None)


def _table(state: State) -> LawTable | None:
    """Return the exact law, however it can be had, or None."""
    for law in (table_of, line_table, plane_table):
        try:
            table = law(state)
        except LawUnknownError:
            continue
        if table.error <= _LARGEST_ERROR:  # not so where it is no number
            return table
    return None


def _rng(seed: int | None) -> np.random.Generator:
    """Return seeded noise, or the noise that a release has."""
    if seed is not None:
        return np.random.default_rng(seed)
    ((_, rng),) = OSNoise().streams(Batch(0, b"", ["audit"]))
    return rng
