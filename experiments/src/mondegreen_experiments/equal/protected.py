"""How much a mechanism protects, in each sense, and the epsilon for a given much."""

from __future__ import annotations

import functools
import math
import threading
from collections.abc import Mapping
from typing import Final, TypeAlias

import numpy as np

from mondegreen.arrays import Floats, Ids
from mondegreen.attacks.adversary import ALONE, build_readers
from mondegreen.attacks.outputs import IMPOSSIBLE, has_closed_law, pass_over
from mondegreen.attacks.reader import Reader
from mondegreen.errors import InvalidParameterError
from mondegreen.mechanisms.base import State
from mondegreen.space.space import Space
from mondegreen_experiments.bench import Labelled
from mondegreen_experiments.equal.kinds import Kind, ends_of
from mondegreen_experiments.equal.levels import Curve, Reached
from mondegreen_experiments.recipe import Measured
from mondegreen_experiments.releases import prepared, released

Level: TypeAlias = tuple[str, float]
"""A sense of protection, and how much of it."""

Readers: TypeAlias = tuple[State, Mapping[str, Reader]]
"""A mechanism at an epsilon, and the attackers on its releases, by what they know."""

NOMINAL: Final = "nominal epsilon"
CERTIFIED: Final = "certified loss"
SINGLE: Final = "single words guessed"
READER: Final = "words a reader recovers"

TOLERANCE: Final = {CERTIFIED: 0.05, SINGLE: 0.01, READER: 0.01}
"""How near to a level is near enough: nats, and shares of words."""

_SEED: Final = 1640
_OF_NOISE: Final = 6.0
_GUESSES: Final = (1.0, 10.0, 100.0, 1e3, 1e4)


def worst_loss(state: State) -> tuple[float, str]:
    r"""How many nats an output tells any two words apart by, at most, and how known.

    .. math:: \max_{y, w, w'} \ln P(y \mid w) - \ln P(y \mid w')

    over all inputs, the unknown word among them: epsilon in the sense of local privacy.
    Of a closed law it is computed over all pairs; of another it is what is proved,
    epsilon times the largest distance; infinite where nothing is.
    """
    if has_closed_law(state):
        return _exact_loss(state), "exact, over all pairs of words"
    if not state.stated.is_proved:
        return math.inf, "none: nothing is proved of it"
    bound = state.certified_bounds[1] * state.stated.scale["diameter"]
    return bound, "proved bound: epsilon times the largest distance"


def _exact_loss(state: State) -> float:
    size = state.space.vocab_size
    most, least = np.full(size, -np.inf), np.full(size, np.inf)
    lock = threading.Lock()

    def look(ids: Ids, logs: Floats, law: Floats) -> None:
        high, low = logs.max(axis=0), logs.min(axis=0)
        with lock:
            np.maximum(most, high, out=most)
            np.minimum(least, low, out=least)

    pass_over(state, np.arange(size + 1, dtype=np.int32), look)
    return math.inf if least.min() <= IMPOSSIBLE else float((most - least).max())


@functools.lru_cache(maxsize=16)
def readers_at(kind: Kind, law: str, epsilon: float) -> Readers:
    """Prepare a mechanism and its readers; the last ones are kept."""
    state = prepared(law, epsilon, kind.space)
    return state, build_readers(state, kind.language)


def recovered(
    kind: Kind, law: str, epsilon: float, texts: Labelled, seed: int
) -> Measured:
    """The share of the words that adversaries recover, of the first ``read`` texts.

    :data:`SINGLE` is the Bayes adversary that sees each output alone and knows how
    frequent words are in public text. :data:`READER` is the strongest of three: that
    one, one that reads whole texts by public trigrams, and one that takes words as they
    are. ``by chance`` is a guess of the word that is most frequent in public text.
    """
    state, readers = readers_at(kind, law, epsilon)
    some = texts.at(slice(kind.read))
    outputs = released(some, state, np.random.default_rng(seed)).flat
    ends, inputs = ends_of(some), some.flat
    shares = {
        knows: float((each.guesses(outputs, ends) == inputs).mean())
        for knows, each in readers.items()
    }
    by_chance = float((inputs == kind.language.frequencies().argmax()).mean())
    return {
        SINGLE: shares[ALONE],
        READER: max(shares.values()),
        "by chance": by_chance,
    }


@functools.lru_cache(maxsize=64)
def epsilons_for(
    kind: Kind, law: str, levels: tuple[Level, ...]
) -> Mapping[Level, Reached | str]:
    """The epsilon of a mechanism for each level, or why there is none.

    By ``valid`` texts, or by the law itself: never by a text that figures come from.
    All levels together, so that none depends on which is asked for first.
    """
    start = _start(law, kind.space)
    losses = Curve(lambda epsilon: _losses(kind.space, law, epsilon), start)
    shares = Curve(lambda epsilon: _shares(kind, law, epsilon), start)
    curves = {CERTIFIED: losses, SINGLE: shares, READER: shares}
    found: dict[Level, Reached | str] = {}
    for sense, level in levels:
        if sense == NOMINAL:
            is_there = _prepared(law, level, kind.space) is not None
            absent = "not reached: the mechanism has no such epsilon on this space"
            found[sense, level] = Reached(level, level) if is_there else absent
        else:
            found[sense, level] = curves[sense].reach(sense, level, TOLERANCE[sense])
    return found


def _prepared(law: str, epsilon: float, space: Space) -> State | None:
    try:
        return prepared(law, epsilon, space)
    except InvalidParameterError:  # such as truncated Gumbel, at a small epsilon
        return None


@functools.lru_cache(maxsize=1024)
def _losses(space: Space, law: str, epsilon: float) -> Measured | None:
    state = _prepared(law, epsilon, space)
    return None if state is None else {CERTIFIED: worst_loss(state)[0]}


def _shares(kind: Kind, law: str, epsilon: float) -> Measured | None:
    if _prepared(law, epsilon, kind.space) is None:
        return None
    return recovered(kind, law, epsilon, kind.valid, _SEED)


def _start(law: str, space: Space) -> float:
    """Where to look first: near words are then likelier than all others together.

    Noise that is decoded to the nearest word needs some six times as much.
    """
    for guess in _GUESSES:
        if (state := _prepared(law, guess, space)) is not None:
            typical = math.log(space.vocab_size) / state.stated.scale["mean"]
            return typical * (1.0 if has_closed_law(state) else _OF_NOISE)
    return 1.0
