"""A sampler that adds no noise never holds, however rarely its law changes a word."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

import mondegreen as mg
from commands import run_command
from mondegreen.audit import exact
from mondegreen.audit.exact import smallest_difference
from mondegreen.audit.kept_words import plan_kept_words
from mondegreen.audit.run import audit_mechanism
from mondegreen.mechanisms import (
    AbstractMechanism,
    State,
    check_ids,
    discrete_distances,
    epsilon_parameter,
)
from mondegreen.scores.interval import lower_bound
from mondegreen.space.binarize import with_codes
from spaces import make_cloud


@dataclass(frozen=True, slots=True)
class CoinState(State):
    """The state of the page on own mechanisms; ``noise`` is the share that is drawn."""

    space: mg.Space
    guarantee: mg.Guarantee
    noise: float

    def log_prob(self, ids):
        check_ids(ids, self.space.vocab_size)
        table = np.zeros((len(ids), self.space.vocab_size))
        known = np.flatnonzero(ids < self.space.vocab_size)
        table[known, ids[known]] = self.guarantee.epsilon
        return table - np.log(np.exp(table).sum(axis=1, keepdims=True))

    def sample(self, ids, rng):
        size = self.space.vocab_size
        other = rng.integers(0, size, len(ids), dtype=np.int32)
        replaced = size / (np.expm1(self.guarantee.epsilon) + size)
        stays = (ids < size) & (rng.random(len(ids)) >= replaced * self.noise)
        return np.where(stays, ids, other).astype(np.int32)

    def distances(self, first, second):
        return discrete_distances(first, second)


@dataclass(frozen=True, slots=True)
class Coin(AbstractMechanism):
    """Release the word itself, or any other word."""

    epsilon: float = epsilon_parameter("nats", help="loss for any two words")

    name: ClassVar[str] = "coin"
    family: ClassVar[str] = "selection"
    metric: ClassVar[str] = "discrete distance"
    is_private: ClassVar[bool] = True
    noise: ClassVar[float] = 1.0

    def prepare(self, space):
        scale = dict.fromkeys(("closest", "nearest", "mean", "diameter"), 1.0)
        guarantee = self.promise(space, scale=scale, certified_how="proof: two values")
        return CoinState(space, guarantee, self.noise)


class NoNoise(Coin):
    """Release the word itself, under the law of a coin."""

    __slots__ = ()
    noise: ClassVar[float] = 0.0


class HalfNoise(Coin):
    """Replace half as many words as the law does."""

    __slots__ = ()
    noise: ClassVar[float] = 0.5


SPACE = make_cloud(100, 3)


@pytest.mark.parametrize("runs", [20, 20_000])
@pytest.mark.parametrize("epsilon", [2.0, 12.0, 16.0])
def test_a_sampler_without_noise_is_rejected_and_the_sound_one_holds(epsilon, runs):
    options = {"seed": 0, "runs": runs}
    broken = audit_mechanism(NoNoise(epsilon), SPACE, **options)
    assert broken.verdict == "broken"
    assert any("words were changed" in each.text for each in broken.findings)
    for seed in range(5):
        sound = audit_mechanism(Coin(epsilon), SPACE, seed=seed, runs=runs)
        assert sound.verdict == "holds", sound
    assert "fewer than" in sound.power


def test_a_sampler_with_half_of_the_noise_is_rejected_where_the_page_says_so():
    report = audit_mechanism(HalfNoise(10.0), SPACE, seed=0)
    assert report.verdict == "broken"


@pytest.mark.parametrize("kind", [Coin, NoNoise])
def test_a_law_that_keeps_nearly_every_word_is_not_tested(kind):
    report = audit_mechanism(kind(25.0), SPACE, seed=0)
    assert (report.verdict, report.is_failed) == ("not tested", True)
    assert not report.is_broken
    assert "too few to reject a sampler that changes none" in report.power


def test_the_fewest_changed_words_are_those_of_the_bound():
    table = exact.build_table(Coin(12.0).prepare(SPACE))
    kept = plan_kept_words(table, SPACE.vocab_size, 20_000, 0.0005)
    share = 99 / (np.exp(12.0) + 99)
    assert kept.changed == pytest.approx(share, rel=1e-9)
    assert kept.draws % SPACE.vocab_size == 0
    assert 15 < kept.draws * share < 16  # twice ln(1 / 0.0005)
    assert not kept.is_blind
    bounds = [
        lower_bound(kept.draws - n, kept.draws, 0.0005) > 1 - share
        for n in (kept.fewest - 1, kept.fewest)
    ]
    assert bounds == [True, False]


def test_the_smallest_difference_is_where_the_bound_passes_a_half():
    least, half = smallest_difference(20_000, 0.001), 10_000
    hits = round((least + 0.5) * half)
    assert lower_bound(hits, half, 0.001) > 0.5 >= lower_bound(hits - 1, half, 0.001)


def test_a_certificate_without_a_law_needs_outputs_that_could_break_it():
    space = with_codes(make_cloud(20, 6), bits=32)
    mechanism = mg.mechanism("brr", epsilon=9.0)
    report = audit_mechanism(mechanism, space, runs=40, pairs=2, seed=0)
    assert report.verdict == "not tested"
    assert "would not be found" in report.power
    small = mg.mechanism("brr", epsilon=0.1)
    assert audit_mechanism(small, space, runs=4000, seed=0).verdict == "holds"


def test_the_command_fails_where_the_sampler_is_not_tested():
    done = run_command(
        "audit", *"-m exponential -e 400 --words 20 --seed 0".split(), expect=4
    )
    assert done.stdout.startswith("NOT TESTED")
