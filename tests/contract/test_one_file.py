"""A mechanism that nobody has seen works everywhere: one file and one registry line.

It gives what the contract demands and nothing besides; whatever else the library asks
of a state has an answer in :class:`mondegreen.mechanisms.base.State`.
"""

from __future__ import annotations

import sys
import types
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from click.testing import CliRunner

import mondegreen as mg
from mondegreen.audit.run import audit_state
from mondegreen.calibration.evaluate import Evaluator
from mondegreen.cli.main import cli
from mondegreen.mechanisms.base import (
    AbstractMechanism,
    State,
    check_space,
    discrete_distances,
    epsilon_parameter,
)
from mondegreen.scores.word import score_word
from mondegreen.space.store import save_space

WORDS = ["red", "green", "blue", "cat", "dog"]


@dataclass(frozen=True, slots=True)
class Newcomer(AbstractMechanism):
    """Keep a word with a fixed chance, else draw any."""

    epsilon: float = epsilon_parameter("nats")

    name: ClassVar[str] = "newcomer"
    is_private: ClassVar[bool] = True
    family: ClassVar[str] = "selection"
    metric: ClassVar[str] = "discrete distance"

    def prepare(self, space):
        check_space(self, space)
        scale = dict.fromkeys(("closest", "nearest", "mean", "diameter"), 1.0)
        promise = self.promise(space, scale=scale, certified_how="proof")
        return NewcomerState(space, promise)


@dataclass(frozen=True, slots=True)
class NewcomerState(State):
    space: mg.Space
    guarantee: object

    def _law(self, ids):
        size = self.space.vocab_size
        keep = np.expm1(self.guarantee.epsilon)
        table = np.full((len(ids), size), 1.0)
        words = np.flatnonzero(ids < size)
        table[words, ids[words]] += keep
        return table / table.sum(axis=1, keepdims=True)

    def sample(self, ids, rng):
        ends = np.cumsum(self._law(ids), axis=1)
        drawn = (ends <= rng.random((len(ids), 1))).sum(axis=1)
        return np.minimum(drawn, self.space.vocab_size - 1).astype(np.int32)

    def log_prob(self, ids):
        return np.log(self._law(ids))

    def distances(self, first, second):
        return discrete_distances(first, second)


@pytest.fixture
def space(monkeypatch, tmp_path):
    module = types.ModuleType("mondegreen.mechanisms.newcomer")
    module.Newcomer = Newcomer
    monkeypatch.setitem(sys.modules, module.__name__, module)
    registry = sys.modules["mondegreen.mechanisms"]._REGISTRY
    monkeypatch.setitem(registry, "newcomer", ("newcomer", "Newcomer"))
    monkeypatch.setenv("MONDEGREEN_HOME", str(tmp_path / "home"))
    points = [[0, 0], [0, 1], [1, 0], [9, 9], [9, 8]]
    made = mg.Space.from_arrays("five", WORDS, points)
    path = tmp_path / "five.safetensors"
    save_space(made, path)
    return mg.load_space(path)


def test_it_privatizes_audits_and_scores(space):
    mechanism = mg.mechanism("newcomer", epsilon=3.0)
    release = mg.Privatizer(mechanism, space)("A red cat, a blue dog.")
    assert len(release.text.split()) == 6
    state = mechanism.prepare(space)
    # By default one sound mechanism in a thousand is called broken.
    assert audit_state(state, alpha=1e-9).verdict == "holds"
    twin = mg.mechanism("newcomer", epsilon=6.0).prepare(space)
    assert audit_state(twin, claim=3.0).verdict == "broken"
    scores = score_word(state, 0, np.random.default_rng(0))
    assert scores.stay == pytest.approx(np.exp(3) / (np.exp(3) + 4))
    assert state.certificate() is None  # it states none


def test_it_is_measured(space):
    mechanism = mg.mechanism("newcomer", epsilon=3.0)
    (found,) = Evaluator(space, {"uniform": np.full(6, 1 / 6)}).measure([mechanism])
    assert found.scores["worst_loss"] == (3.0, 3.0)
    assert "certified_epsilon" not in found.scores  # its author claims it
    assert found.is_exact


def test_the_command_line_takes_it(space, tmp_path):
    (tmp_path / "in.txt").write_text("red cat\nblue dog\n")
    common = ["-m", "newcomer", "-e", "3", "--space", str(space.path)]
    files = [str(tmp_path / "in.txt"), "-o", str(tmp_path / "out.txt")]
    for arguments in (["privatize", *files], ["explain", "red"]):
        done = CliRunner().invoke(cli, [*arguments, *common])
        assert done.exit_code == 0, done.output
    released = (tmp_path / "out.txt").read_text().split()
    assert len(released) == 4
    assert set(released) <= set(WORDS)
