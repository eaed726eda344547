"""Broken versions of randomized response over a small policy, for the must-detect list.

A twin has the guarantee of the sound version, and another law, another sampler, other
members of its groups, or another lookup.
"""

from __future__ import annotations

from itertools import product

import numpy as np

import mondegreen as mg
from mondegreen.audit.run import audit_state
from mondegreen.mechanisms.symbols.response import Response, ResponseState
from mondegreen.policy.lexicon import Lexicon
from mondegreen.policy.policy import Policy
from mondegreen.sampling.integers import TOTAL

RUNS = 4_000

EPSILON = 2.0
CITIES = tuple(
    f"{a}{b}ton" for a, b in product("bcdfgk", ["ar", "el", "in", "om", "us"])
)
DRUGS = tuple(
    f"{a}{b}xil" for a, b in product("bcdfgk", ["ar", "el", "in", "om", "us"])
)
WORDS = "the and of house sun green walk to in we was good day rain tree".split()


def make_policy(**options):
    """Make a policy of few words: two groups of 30, and the formats of all policies."""
    none = {"capital": {}, "upper": {}, "unprinted": {}, "counted": {}}
    lexicon = Lexicon(
        header={"name": "small"},
        digest="0" * 64,
        ordinary=tuple(WORDS),
        cased=frozenset(),
        start=frozenset(),
        words={("place", "s"): CITIES, ("health", "s"): DRUGS},
        **none,
    )
    return Policy(lexicon, "small", hide_among=20, **options)


SMALL = make_policy()


def prepare(name, epsilon=EPSILON, policy=SMALL):
    return mg.mechanism(name, epsilon=epsilon).prepare(policy.alphabet)


def symbol_audit(name, change=None, policy=SMALL, **options):
    """Audit a mechanism whose law or sampler ``change`` replaces, or none."""
    state = prepare(name, policy=policy)
    if change is not None:
        response = change(state.response)
        state = ResponseState(policy.alphabet, response, state.guarantee)

    def audit(seed):
        common = {"runs": RUNS, "alpha": 1e-3, "seed": seed}
        return audit_state(state, policy=policy, **common, **options)

    return audit


class Twin:
    """A response that states one law, and draws by another."""

    def __init__(self, stated, drawn):
        self.weights, self.sample = stated.weights, drawn.sample
        self.stray = drawn.stray


def louder(response):
    """Half of the strays, in law and sampler."""
    return Response(response.first, response.count, response.stray // 2)


def louder_sampler(response):
    """Half of the strays in the sampler alone."""
    return Twin(response, louder(response))


def quieter_sampler(response):
    """A fiftieth more strays in the sampler alone: less loss, and another law."""
    more = response.stray + response.stray // 50
    return Twin(response, Response(response.first, response.count, more))


def one_group_rarer(response):
    """Strays that never are of the last format, in the sampler alone."""

    class Rarer:
        weights, stray = response.weights, response.stray

        @staticmethod
        def sample(ids, rng):
            found = response.sample(ids, rng)
            last = response.first + response.count - 1
            found[(found == last) & (ids != last)] = last - 1
            return found

    return Rarer()


class Shown:
    """A response under which one ordinary word never hides."""

    word = WORDS.index("sun")

    def __init__(self, response):
        self._response, self.stray = response, response.stray

    def weights(self, ids, size):
        law = self._response.weights(ids, size)
        mine = ids == self.word
        law[mine] = 0
        law[mine, self.word] = TOTAL
        return law

    def sample(self, ids, rng):
        found = self._response.sample(ids, rng)
        found[ids == self.word] = self.word
        return found


def shown_sampler(response):
    """The same in the sampler alone."""
    return Twin(response, Shown(response))


def make_biased(change):
    """Make a policy whose members are drawn by another law."""
    policy = make_policy()
    honest = policy.draw_members

    def draw_members(symbols, rng):
        return change(policy, symbols, honest(symbols, rng), rng)

    policy.draw_members = draw_members
    return policy


def first_more_often(policy, symbols, codes, rng):
    """The first word of a group comes twice as often."""
    first = policy.first[symbols]
    is_first = rng.random(len(codes)) < 1 / policy.sizes[symbols]
    return np.where(is_first & (symbols < policy.shape_symbol(0)), first, codes)


def one_never(policy, symbols, codes, rng):
    """The second word of each group never comes; the first does for it."""
    second = policy.first[symbols] + 1
    return codes - ((codes == second) & (policy.sizes[symbols] > 2))


def even_numbers(policy, symbols, codes, rng):
    """Long numbers always end in an even digit."""
    is_long = policy.sizes[symbols] > 10_000
    return codes - (codes - policy.first[symbols]) % 2 * is_long


def make_strange_word():
    """Make a policy in which one word hides in another group than its list says."""
    policy = make_policy()
    policy.symbols[CITIES[3]] = policy.symbols[DRUGS[0]]
    return policy
