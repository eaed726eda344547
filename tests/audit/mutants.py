"""The must-detect list: broken mechanisms beside their sound versions.

``benchmarks/measure/mutants.py`` writes the table of the documentation from it.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from line_law import line_law
from plane_law import plane_law
from reference import WithLaw
from scipy import special
from symbol_mutants import (
    Shown,
    even_numbers,
    first_more_often,
    louder,
    louder_sampler,
    make_biased,
    make_strange_word,
    one_group_rarer,
    one_never,
    quieter_sampler,
    shown_sampler,
    symbol_audit,
)

import mondegreen as mg
from mechanisms.laws import distances
from mondegreen.audit.report import AuditReport
from mondegreen.audit.run import audit_state
from mondegreen.audit.target import audit_target
from mondegreen.errors import LawUnknownError
from mondegreen.mechanisms.noise.mahalanobis import regularize_covariance
from mondegreen.sampling.laplace import multivariate_laplace, uniform_direction
from mondegreen.space.space import Space
from spaces import make_space

HERE = Path(__file__).parent
RUNS = 100_000
TARGET_RUNS = 4_000
ALPHA = 1e-3
"""False-alarm rate of one audit, sound or not."""


@dataclass(frozen=True)
class Mutant:
    """A mistake, and the audits of the broken and of the sound version."""

    name: str
    mistake: str
    broken: Callable[[int], AuditReport]
    sound: Callable[[int], AuditReport]


# Closed laws, as tables


@dataclass(frozen=True)
class TableState:
    """A law given as a table of logarithms, under a guarantee of its own."""

    space: Space
    guarantee: Any
    table: Any

    def sample(self, ids, rng):
        cumulative = np.cumsum(np.exp(self.table[ids]), axis=1)
        draws = rng.random((len(ids), 1)) * cumulative[:, -1:]
        return (cumulative <= draws).sum(axis=1).astype(np.int32)

    def log_prob(self, ids):
        return self.table[ids]


def crowd():
    rng = np.random.default_rng(1)
    near = rng.normal(size=(24, 2)) * 0.3
    return make_space(np.concatenate([near, rng.normal(size=(12, 2)) * 4]))


def table_audit(weights, epsilon=2.0):
    """Audit a table of weights; its claim is Euclidean."""
    space = crowd()
    guarantee = mg.mechanism("exponential", epsilon=epsilon).prepare(space).guarantee
    d = distances(space)[:, :-1]
    with np.errstate(divide="ignore"):
        log = np.log(weights(d, epsilon))
    log -= special.logsumexp(log, axis=1, keepdims=True)
    state = TableState(space, guarantee, log)

    def audit(seed):
        options = {"runs": 20_000, "alpha": ALPHA, "seed": seed}
        return audit_state(state, metric="euclidean", **options)

    return audit


GAMMA = 1.5


def plain(d, epsilon):
    return np.exp(-epsilon / 2 * d)


def truncated(d, epsilon):
    return np.exp(-epsilon / 2 * np.minimum(d, GAMMA))


def nearest_only(d, epsilon):
    rank = np.argsort(np.argsort(d, axis=1), axis=1)
    return np.where(rank < 8, plain(d, epsilon), 0.0)


def bottom_by_ratio(d, epsilon):
    near = d <= GAMMA
    size = near.sum(axis=1, keepdims=True)
    count = d.shape[1]
    bottom = np.exp(-epsilon / 2 * GAMMA) * count / np.maximum(size, 1)
    tail = bottom / np.maximum(count - size, 1)
    return np.where(near, plain(d, epsilon), tail)


def input_on_failure(d, epsilon):
    law = truncated(d, epsilon)
    law /= law.sum(axis=1, keepdims=True)
    far = d > GAMMA
    lost = np.where(far, law, 0).sum(axis=1)
    law = np.where(far, 0.0, law)
    law[np.arange(len(law)), np.argmin(d, axis=1)] += lost
    return law


def squared(d, epsilon):
    return np.exp(-epsilon / 2 * d**2)


def float32_softmax(d, epsilon):
    scores = (-30 * epsilon / 2 * d).astype(np.float32)
    return np.exp(scores - scores.max(axis=1, keepdims=True)).astype(np.float64)


def steep(d, epsilon):
    return np.exp(-30 * epsilon / 2 * d)


def float64_uniform(d, epsilon):
    """What a cumulative sum and a uniform of 53 bits can return at all."""
    law = steep(d, epsilon)
    edges = np.cumsum(law / law.sum(axis=1, keepdims=True), axis=1)
    edges[:, -1] = 1.0
    grid = np.floor(edges * 2.0**53)
    return np.maximum(np.diff(grid, axis=1, prepend=0.0), 0.0)


# Noise


@dataclass(frozen=True)
class NoiseTwin:
    """A noise mechanism with another law of noise under the same claim."""

    space: Space
    guarantee: Any
    inner: Any
    draw: Callable[..., Any]

    def sample(self, ids, rng):
        points = self.draw(rng, (len(ids), self.space.dim)) + self.space.points(ids)
        uniforms = rng.random((len(ids), self.inner.uniforms))
        return self.inner.decode(points, self.inner.search, uniforms)

    def log_prob(self, ids):
        raise LawUnknownError("noise")

    def distances(self, first, second):
        return self.inner.distances(first, second)


def noise_audit(name, space, epsilon, draw, law=None, **parameters):
    """Audit noise by its outputs, or against a law; draw None is the sound one."""
    inner = mg.mechanism(name, epsilon=epsilon, **parameters).prepare(space)
    draw = inner.draw_noise if draw is None else draw
    state = NoiseTwin(space, inner.guarantee, inner, draw)
    method = "statistical" if law is None else "exact"
    if law is not None:
        state = WithLaw(state, law(inner))

    def audit(seed):
        return audit_state(state, method=method, runs=RUNS, alpha=ALPHA, seed=seed)

    return audit


def gaussian(rng, shape):
    return rng.standard_normal(shape) * np.sqrt(shape[1] + 1)


def ball(rng, shape):
    inside = rng.random((shape[0], 1)) ** (1 / shape[1])
    return multivariate_laplace(rng, 1.0, shape) * inside


def gamma_short(rng, shape):
    radius = rng.gamma(shape[1] - 1, 1.0, size=(shape[0], 1))
    return uniform_direction(rng, shape) * radius


def renormalised(space, epsilon, share):
    root = np.linalg.cholesky(regularize_covariance(space, share))

    def draw(rng, shape):
        u = uniform_direction(rng, shape) @ root.T
        u /= np.linalg.norm(u, axis=1, keepdims=True)
        return u * rng.gamma(shape[1], 1 / epsilon, size=(shape[0], 1))

    return draw


LINE = make_space([0.0, 1.0, 6.0, -5.0])
CLOSE = make_space([-0.2, 0.0, 0.2, 3.0, -3.0])
RING = make_space(
    [[0, 0]] + [[0.2 * np.cos(t), 0.2 * np.sin(t)] for t in np.arange(6) * np.pi / 3]
)
ELONGATED = make_space(np.random.default_rng(2).normal(size=(12, 2)) * [6.0, 0.4])


def mechanism_audit(name, space, epsilon, law=None, **options):
    state = mg.mechanism(name, epsilon=epsilon).prepare(space)
    method = "statistical" if law is None else "exact"
    if law is not None:
        state = WithLaw(state, law(state))

    def audit(seed):
        common = {"method": method, "runs": RUNS, "alpha": ALPHA, "seed": seed}
        return audit_state(state, **common, **options)

    return audit


# Callables


def target_space():
    import audit_targets

    words = list(audit_targets.POINTS)
    points = [[x] for x in audit_targets.POINTS.values()]
    return Space.from_arrays("line", words, points)


def target_audit(name, **options):
    def audit(seed):
        with contextlib.chdir(HERE):
            return audit_target(
                f"audit_targets:{name}",
                target_space(),
                1.0,
                runs=TARGET_RUNS,
                alpha=ALPHA,
                seed=seed,
                **options,
            )

    return audit


# Policies: mutants share the audits of their sound versions, which run once for a seed.

URR, KRR = (functools.cache(symbol_audit(name)) for name in ("urr", "krr"))
URR_PRINTED, KRR_PRINTED = (
    functools.cache(symbol_audit(name, method="statistical")) for name in ("urr", "krr")
)

MUTANTS = [
    Mutant(
        "literal Vickrey",
        "the input is taken out of its own neighbours",
        mechanism_audit("vickrey_literal", LINE, 1.0, line_law),
        mechanism_audit("vickrey", LINE, 1.0, line_law),
    ),
    Mutant(
        "literal Vickrey, outputs only",
        "the same, from its outputs",
        mechanism_audit("vickrey_literal", LINE, 1.0),
        mechanism_audit("vickrey", LINE, 1.0),
    ),
    Mutant(
        "candidates that depend on the input",
        "only the 8 nearest words can be drawn",
        table_audit(nearest_only),
        table_audit(plain),
    ),
    Mutant(
        "wrong bottom weight in TEM",
        "the weight of far words is V over the near ones, not V less the near ones",
        table_audit(bottom_by_ratio),
        table_audit(truncated),
    ),
    Mutant(
        "input returned on failure",
        "where a far word was drawn, the input is released",
        table_audit(input_on_failure),
        table_audit(truncated),
    ),
    Mutant(
        "squared distances",
        "scores are squared, the claim is not",
        table_audit(squared),
        table_audit(plain),
    ),
    Mutant(
        "lost tails, float32",
        "a float32 softmax underflows to zero",
        table_audit(float32_softmax, 60.0 / 30),
        table_audit(plain, 60.0 / 30),
    ),
    Mutant(
        "lost tails, 53 bits",
        "a cumulative sum with a uniform of 53 bits",
        table_audit(float64_uniform),
        table_audit(plain),
    ),
    Mutant(
        "re-normalised Mahalanobis direction",
        "the direction is brought back to unit length after the linear map",
        noise_audit(
            "mahalanobis",
            ELONGATED,
            0.3,
            renormalised(ELONGATED, 0.3, 0.9),
            lambda_=0.9,
        ),
        noise_audit("mahalanobis", ELONGATED, 0.3, None, lambda_=0.9),
    ),
    Mutant(
        "Gaussian instead of Laplace",
        "normal noise of the same variance",
        noise_audit("laplace", LINE, 1.0, gaussian),
        noise_audit("laplace", LINE, 1.0, None),
    ),
    Mutant(
        "ball instead of sphere",
        "the direction is a point inside of the ball",
        noise_audit("laplace", CLOSE, 1.0, ball),
        noise_audit("laplace", CLOSE, 1.0, None),
    ),
    Mutant(
        "Gamma(n - 1)",
        "the radius has one degree of freedom too few",
        noise_audit("laplace", RING, 1.0, gamma_short),
        noise_audit("laplace", RING, 1.0, None),
    ),
    Mutant(
        "Gamma(n - 1), against its law",
        "the same, by comparing outputs with the law that is claimed",
        noise_audit("laplace", RING, 1.0, gamma_short, plane_law),
        noise_audit("laplace", RING, 1.0, None, plane_law),
    ),
    Mutant(
        "epsilon doubled",
        "half the noise under the same claim",
        mechanism_audit("laplace", LINE, 2.0, line_law, claim=1.0),
        mechanism_audit("laplace", LINE, 1.0, line_law, claim=1.0),
    ),
    Mutant(
        "epsilon doubled, outputs only",
        "the same, from its outputs",
        mechanism_audit("laplace", LINE, 2.0, claim=1.0),
        mechanism_audit("laplace", LINE, 1.0, claim=1.0),
    ),
    Mutant(
        "fixed seed",
        "the generator is seeded with a constant",
        target_audit("fixed_seed"),
        target_audit("sound"),
    ),
    Mutant(
        "noise reused across workers",
        "forked workers inherit one generator",
        target_audit("shared_by_workers", workers=True),
        target_audit("sound", workers=True),
    ),
    Mutant(
        "unknown words verbatim",
        "words outside of the vocabulary pass unchanged",
        target_audit("unknown_verbatim"),
        target_audit("sound"),
    ),
    Mutant(
        "urr: noise too small",
        "half of the strays, under the guarantee of all",
        symbol_audit("urr", louder),
        URR,
    ),
    Mutant(
        "krr: noise too small",
        "the same",
        symbol_audit("krr", louder),
        KRR,
    ),
    Mutant(
        "urr: noise too small, outputs only",
        "the same, from what is printed",
        symbol_audit("urr", louder, method="statistical"),
        URR_PRINTED,
    ),
    Mutant(
        "urr: a sampler of another law",
        "half of the strays are sampled, and all are stated",
        symbol_audit("urr", louder_sampler),
        URR,
    ),
    Mutant(
        "krr: wrong stray probability, outputs only",
        "a fiftieth more strays are sampled than are stated",
        symbol_audit("krr", quieter_sampler, method="statistical"),
        KRR_PRINTED,
    ),
    Mutant(
        "urr: strays that avoid a group, outputs only",
        "words never stray to the last format",
        symbol_audit("urr", one_group_rarer, method="statistical"),
        URR_PRINTED,
    ),
    Mutant(
        "urr: an ordinary word that never hides",
        "one ordinary word is always printed, so that others hide no longer behind it",
        symbol_audit("urr", Shown),
        URR,
    ),
    Mutant(
        "urr: an ordinary word that is never sampled anew",
        "the same in the sampler alone",
        symbol_audit("urr", shown_sampler),
        URR,
    ),
    Mutant(
        "a group that is not uniform",
        "the first word of a group is printed twice as often",
        symbol_audit("urr", policy=make_biased(first_more_often)),
        URR,
    ),
    Mutant(
        "a word of a group that is never printed",
        "the word before it is printed in its place",
        symbol_audit("krr", policy=make_biased(one_never)),
        KRR,
    ),
    Mutant(
        "numbers that are not uniform",
        "long numbers always end in an even digit",
        symbol_audit("urr", policy=make_biased(even_numbers)),
        URR,
    ),
    Mutant(
        "a word that hides in another group",
        "the lookup gives one word of a group the symbol of another group",
        symbol_audit("urr", policy=make_strange_word()),
        URR,
    ),
]


def evidence_of(report):
    """Return in one line what convicts."""
    breaking = [str(finding) for finding in report.findings if finding.is_break]
    worst = report.worst
    if worst is not None and worst.excess > 1e-9 * worst.allowed:
        loss = "infinite" if np.isinf(worst.loss) else f"{worst.loss:.3g} nats"
        text = f"{loss} where {worst.allowed:.3g} are allowed"
        if worst.counts:
            seen = f"{worst.counts[0]:,} and {worst.counts[1]:,} of {worst.runs:,} runs"
            text = f"at least {text} ({seen})"
        return "; ".join([text, *breaking])
    return "; ".join(breaking)
