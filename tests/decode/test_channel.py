"""The likely inputs of outputs, against the whole table of a law."""

import numpy as np
import pytest

import mondegreen as mg
from mondegreen.decode import channel as module
from mondegreen.decode.channel import build_channel, load_channel
from mondegreen.language.store import load_language
from mondegreen.space.store import with_tree
from mondegreen.space.tree_build import build_tree

COUNT = 7


@pytest.fixture(scope="module")
def words():
    rng = np.random.default_rng(8)
    space = mg.Space.from_arrays(
        "s", [f"w{i}" for i in range(120)], rng.normal(size=(120, 5))
    )
    return with_tree(space, build_tree(space, leaf=6))


@pytest.fixture(scope="module")
def prior():
    shares = np.random.default_rng(9).dirichlet(np.full(121, 0.3)) + 1e-6
    return shares / shares.sum()


TREES = [
    mg.mechanism("tree", epsilon=5.0),
    mg.mechanism("tree", epsilon=12.0),
]


@pytest.mark.parametrize(
    "mechanism",
    [
        *TREES,
        mg.mechanism("exponential", epsilon=3.0),
        mg.mechanism("tem", epsilon=4.0),
    ],
    ids=lambda m: f"{m.name}-{m.epsilon:g}",
)
def test_it_holds_the_likeliest_inputs(words, prior, mechanism):
    state = mechanism.prepare(words)
    found = build_channel(state, prior, COUNT)
    law = np.exp(state.log_prob(np.arange(121, dtype=np.int32)))
    assert found.how.startswith("exact")
    for output in range(120):
        row = found.observation[output]
        likely, logs = found.candidates[row], found.log_law[row]
        posterior = prior * law[:, output]
        assert len(set(likely.tolist())) == COUNT
        assert posterior[likely] == pytest.approx(np.sort(posterior)[::-1][:COUNT])
        constant = logs - np.log(law[likely, output])
        assert constant == pytest.approx(constant[0], abs=1e-4)


def test_classes_of_a_tree_have_their_own_laws(words, prior):
    from mondegreen.space.store import load_tree

    top = load_tree(words).levels
    shares, own = [0.0] * (top + 1), [0.0] * (top + 1)
    shares[1], shares[-1], own[0], own[-1] = 0.8, 0.2, 0.5, 0.5
    mechanism = mg.mechanism(
        "tree", epsilon=12.0, level_probabilities=shares, of_class={"w3": own}
    )
    test_it_holds_the_likeliest_inputs(words, prior, mechanism)


def test_a_law_that_is_not_known_is_drawn(words, prior):
    state = mg.mechanism("laplace", epsilon=6.0).prepare(words)
    found = build_channel(state, prior, COUNT)
    assert "draws" in found.how
    ids = np.random.default_rng(10).choice(121, 20_000, p=prior).astype(np.int32)
    drawn = state.sample(ids, np.random.default_rng(11))
    guess = found.candidates[found.observation[drawn], 0]
    best_blind = prior.max()
    assert np.mean(guess == ids) > best_blind + 0.05
    # No guess by the same draws as those that it is judged on does much better.
    table = np.zeros((120, 121))
    np.add.at(table, (drawn, ids), 1)
    assert np.mean(guess == ids) > table.max(axis=1).sum() / len(ids) - 0.03


def test_what_took_long_is_kept_and_a_broken_file_is_made_again(tmp_path, monkeypatch):
    monkeypatch.setenv("MONDEGREEN_HOME", str(tmp_path / "home"))
    language = load_language()
    space = mg.load_space()
    state = mg.mechanism("tree", epsilon=10.0).prepare(space)
    prior = language.frequencies()
    assert prior.sum() == pytest.approx(1, abs=1e-6)
    assert prior.min() > 0
    calls = []
    monkeypatch.setattr(type(state), "channel", lambda *given: None)
    monkeypatch.setattr(
        module, "_compute_channel", lambda *given: calls.append(1) or _three(space)
    )
    first = load_channel(state, language, 3)
    again = load_channel(state, language, 3)
    assert len(calls) == 1
    assert (first.candidates == again.candidates).all()
    (path,) = (tmp_path / "home" / "channels").iterdir()
    path.write_bytes(path.read_bytes()[:100])
    load_channel(state, language, 3)
    assert len(calls) == 2


def _three(space):
    from mondegreen.mechanisms.channel import Channel

    observation = np.arange(space.vocab_size, dtype=np.int32)
    candidates = np.tile(np.arange(3, dtype=np.int32), (space.vocab_size, 1))
    return Channel(observation, candidates, np.zeros(candidates.shape), "exact")
