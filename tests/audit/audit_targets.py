"""Callables ``word -> word`` that audits are tried on, sound and not."""

from __future__ import annotations

import math
import os
import random

POINTS = {"a": 0.0, "b": 1.0, "c": 1.5, "d": 4.0, "e": -2.0}
EPSILON = 1.0

_SEEDED = random.Random(42)
_AT_IMPORT = random.Random(os.urandom(16))
_FRESH = random.SystemRandom()


def _draw(rng, word, epsilon=EPSILON):
    """The exponential mechanism; unknown words lie at the centroid."""
    at = POINTS.get(word, sum(POINTS.values()) / len(POINTS))
    weights = [math.exp(-epsilon / 2 * abs(at - x)) for x in POINTS.values()]
    return rng.choices(list(POINTS), weights)[0]


def sound(word):
    return _draw(_FRESH, word)


def fixed_seed(word):
    return _draw(_SEEDED, word)


def shared_by_workers(word):
    return _draw(_AT_IMPORT, word)


def unknown_verbatim(word):
    return _draw(_FRESH, word) if word in POINTS else word


def unknown_raises(word):
    if word not in POINTS:
        raise KeyError(word)
    return _draw(_FRESH, word)


def unknown_length(word):
    return _draw(_FRESH, word) if word in POINTS else "x" * len(word)


def too_much(word):
    return _draw(_FRESH, word, 6 * EPSILON)


def constant(word):
    return "a"


def hangs(word):
    import time

    time.sleep(60)


def dies(word):
    os._exit(3)
