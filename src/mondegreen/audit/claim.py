"""The claim that is audited: an epsilon, a metric, and pairs of inputs to try."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, zip_longest
from typing import Any, Final, Protocol, final

import numpy as np

from mondegreen.arrays import Floats, Ids
from mondegreen.audit.report import AuditReport, Evidence, Verdict
from mondegreen.errors import (
    ConfigurationError,
    InvalidParameterError,
    UnknownNameError,
)
from mondegreen.mechanisms.base import State, discrete_distances, space_distances
from mondegreen.space.metric import METRICS, NORMS
from mondegreen.space.space import Space
from mondegreen.space.store import load_codes

_METRIC_NAMES: Final = (
    "chebyshev",
    "discrete",
    "euclidean",
    "hamming",
    "manhattan",
    "poincare",
)
_TOLERANCE: Final = 1e-9
"""Relative; what doubles cost in a product of epsilon and a distance."""

Distances = Callable[[Ids, Ids], Floats]


class Named(Protocol):
    """What an audit reports of a public set of words: a space, or a policy."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def digest(self) -> str:
        """Its SHA-256, in hex."""

    @property
    def words(self) -> Sequence[str]:
        """The names of its words."""

    @property
    def vocab_size(self) -> int:
        """How many there are."""


@final
@dataclass(frozen=True, slots=True)
class Claim:
    """No output tells two inputs apart by more than ``epsilon`` times their distance.

    ``between(ids, ids)`` has the shape (first, second), where ``V`` is the unknown
    word; exactly 0 between inputs that nothing may tell apart.
    """

    subject: str
    epsilon: float
    metric: str
    between: Distances
    space: Named

    def __post_init__(self) -> None:
        if not 0 < self.epsilon < math.inf:
            name = "epsilon of the claim"
            raise InvalidParameterError(name, self.epsilon, "a positive number")

    def pair(self, first: int, second: int) -> Evidence:
        """Two inputs with what is allowed, before anything was found."""
        distance = float(self.between(np.array([first]), np.array([second]))[0, 0])
        return Evidence(
            ids=(first, second),
            words=(self.word(first), self.word(second)),
            distance=distance,
            allowed=self.epsilon * distance,
        )

    def word(self, id: int) -> str:
        """The name of an input; the unknown word is no word of the space."""
        is_known = id < self.space.vocab_size
        return self.space.words[id] if is_known else "(unknown word)"

    def report(
        self, worst: Evidence | None, otherwise: Verdict, **known: Any
    ) -> AuditReport:
        """Make a report; any excess beyond rounding breaks the claim."""
        broken = worst is not None and worst.excess > _TOLERANCE * worst.allowed
        return AuditReport(
            verdict="broken" if broken else otherwise,
            subject=self.subject,
            claimed=self.epsilon,
            found=0.0 if worst is None else worst.epsilon,
            metric=self.metric,
            space=self.space.name,
            space_digest=self.space.digest,
            worst=worst,
            **known,
        )


def find_claim(state: State, epsilon: float | None, metric: str | None) -> Claim:
    """The claim of a guarantee, or the same in another epsilon or metric."""
    guarantee, space = state.guarantee, state.space
    claimed = float(guarantee.epsilon if epsilon is None else epsilon)
    if metric is None:
        measured: tuple[str, Distances] = guarantee.metric, state.distances
    else:
        measured = metric_named(metric, space)
    return Claim(guarantee.setting, claimed, *measured, space)


def metric_named(name: str, space: Space) -> tuple[str, Distances]:
    """Give a metric that is no guarantee's on a space: its full name, and numbers."""
    if name not in _METRIC_NAMES:
        raise UnknownNameError("metric", name, _METRIC_NAMES)
    if name == "discrete":
        return "discrete distance", discrete_distances
    if name == "hamming":
        return "Hamming distance of codes", load_codes(space).distances
    if name in NORMS and space.metric == "euclidean":
        return NORMS[name], partial(space_distances, space, norm=name)
    if name != space.metric:
        raise ConfigurationError(
            f"the metric of space {space.name!r} is {space.metric}; use that metric, "
            "or build the space again"
        )
    return METRICS[name], partial(space_distances, space)


def choose_pairs(
    claim: Claim,
    count: int,
    rng: np.random.Generator,
    *,
    largest: float = np.inf,
    sample: int = 512,
) -> list[tuple[int, int]]:
    """Choose at most ``count`` pairs of distinct inputs, of all kinds in turn.

    By public geometry alone, among an even ``sample`` of the words and the unknown
    word. Pairs further apart than ``largest`` are left out where others exist: they may
    lose more than an audit could see. ``rng`` chooses among equals.
    """
    vocab_size = claim.space.vocab_size
    some = np.linspace(0, vocab_size - 1, min(sample, vocab_size)).astype(np.int32)
    ids = np.append(np.unique(some), np.int32(vocab_size))
    table = claim.between(ids, ids)
    kinds = _kinds(table, rng)
    within = [[pair for pair in pairs if table[pair] <= largest] for pairs in kinds]
    in_turn = chain.from_iterable(zip_longest(*(within if any(within) else kinds)))
    chosen = dict.fromkeys(
        (int(min(ids[i], ids[j])), int(max(ids[i], ids[j])))
        for i, j in filter(None, in_turn)
    )
    return list(chosen)[:count]


def _kinds(table: Floats, rng: np.random.Generator) -> list[list[tuple[int, int]]]:
    """Places of pairs in a table of distances, a list for each kind, best first.

    The last place is the unknown word.
    """
    words = len(table) - 1
    among = table[:words, :words]
    apart = table.copy()
    np.fill_diagonal(apart, np.inf)
    same = np.argwhere(np.triu(table == 0, 1))
    positive = np.where(apart > 0, apart, np.inf)
    nearest = positive.argmin(axis=1)
    by_distance = np.argsort(positive.min(axis=1)[:words], kind="stable")
    # A hub is close to many: the smallest median distance; a rare word, the last one,
    # to few.
    order = np.argsort(np.median(among, axis=1), kind="stable")
    far = np.argsort(-np.where(np.isinf(among), -1, among).max(axis=1))
    several = rng.permutation(words)
    # Duplicates, near words, hubs, rare words, the unknown word, far words.
    return [
        [(int(i), int(j)) for i, j in same[:64]],
        [(int(i), int(nearest[i])) for i in by_distance],
        [(int(i), int(nearest[i])) for i in order],
        [(int(i), int(nearest[i])) for i in order[::-1]],
        [(int(i), words) for i in np.argsort(table[words, :words])],
        [(int(i), int(j)) for i, j in zip(far, several, strict=True) if i != j],
    ]
