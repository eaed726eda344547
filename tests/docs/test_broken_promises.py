"""Counter-examples of docs/explanation/broken-promises.md: each design, and its repair.

The designs are written here in their simplest form; no code of others is used.
"""

import math
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

import mondegreen as mg
from mondegreen.attacks import find_exposed_places
from mondegreen.mechanisms import mechanism_class
from mondegreen.policy.lookup import PolicyLookup
from mondegreen.policy.policy import load_policy
from mondegreen.sampling.noise import Batch, OSNoise
from mondegreen.text.tokenizer import tokenize

EPSILON = 1.0


def codes_of(text):
    """Look up the symbols of the words of a text under the default policy."""
    return PolicyLookup(load_policy("sensitive")).codes(tokenize([text])).tolist()


def worst_loss(laws):
    """The largest loss between two rows of a table of laws, in nats."""
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(laws)
        losses = logs[:, None, :] - logs[None, :, :]
    return np.nanmax(np.where(np.isnan(losses), 0, losses))


def loss_per_distance(laws, points):
    """The largest loss of two inputs, over their distance."""
    found = 0.0
    for i, x in enumerate(points):
        for j, other in enumerate(points):
            if i != j:
                loss = np.log(laws[i] / laws[j]).max()
                found = max(found, loss / abs(x - other))
    return found


def exponential(points, power, epsilon=EPSILON):
    """Weights of a distance to some power, as a table of laws."""
    far = np.abs(points[:, None] - points[None, :])
    weights = np.exp(-epsilon * far**power)
    return weights / weights.sum(axis=1, keepdims=True)


def test_a_range_around_the_true_amount_excludes_neighbors():
    outputs = np.arange(80, 140)

    def around(amount):
        inside = (outputs >= 0.9 * amount) & (outputs <= 1.1 * amount)
        return inside / inside.sum()

    laws = np.array([around(110), around(111)])
    assert laws[1][outputs == 122] > 0
    assert laws[0][outputs == 122] == 0
    assert worst_loss(laws) == math.inf

    def public_range(amount):  # ranges of 20, fixed beforehand: randomized response
        own = outputs // 20 == amount // 20
        return np.where(own, math.e, 1) / np.where(own, math.e, 1).sum()

    laws = np.array([public_range(amount) for amount in range(80, 140)])
    assert worst_loss(laws) <= EPSILON + 1e-9


def test_a_split_by_the_private_corpus_changes_with_one_word():
    vocabulary = np.array(["flu", "cold", "cough"])
    far = exponential(np.array([0.0, 1.0, 2.0]), 1)

    def law(corpus, word):
        """Words of the more frequent half stay; others are drawn."""
        frequent = {w for w, _ in Counter(corpus).most_common(1)}
        index = int(np.flatnonzero(vocabulary == word)[0])
        return np.eye(3)[index] if word in frequent else far[index]

    before = ["flu", "flu", "flu", "cold", "cold", "cold", "cold"]
    after = ["flu", "flu", "flu", "cold", "cold", "flu", "flu"]
    laws = np.array([law(before, "flu"), law(after, "flu")])
    assert worst_loss(laws) == math.inf  # the law of one word tells of the others
    # Here such a split has no proof, and the symbol of a word is the same everywhere.
    assert not mechanism_class("santext_plus").is_private
    first = [codes_of(" ".join(corpus))[0] for corpus in (before, after)]
    assert first[0] == first[1]


def test_a_budget_from_the_text_breaks_the_larger_bound():
    points = np.linspace(0, 1, 21)
    budgets = np.where(np.arange(21) % 2, 0.1, 10.0)  # every other word is important
    laws = np.array([exponential(points, 1, each)[i] for i, each in enumerate(budgets)])
    # The larger budget allows 2 * 10 a unit; normalization has its factor of two.
    assert loss_per_distance(laws, points) > 2 * budgets.max()
    one = exponential(points, 1, budgets.max())
    assert loss_per_distance(one, points) <= 2 * budgets.max() + 1e-9


def test_noise_that_workers_share_cancels():
    state = np.random.default_rng(7).bit_generator.state
    secrets, released = [37.0, 52.0], []
    for secret in secrets:  # each worker starts from a copy
        worker = np.random.default_rng()
        worker.bit_generator.state = state
        released.append(secret + worker.laplace(scale=100))
    assert released[1] - released[0] == pytest.approx(secrets[1] - secrets[0])
    noise = OSNoise()
    drawn = []
    for _ in range(2):
        ((_, rng),) = noise.streams(Batch(None, b"", ["one text"]))
        drawn.append(rng.laplace(scale=100))
    assert drawn[0] != drawn[1]


def test_drawing_until_it_looks_good_excludes_outputs():
    points = np.arange(6.0)
    law = exponential(points, 1)
    near = np.abs(points[:, None] - points[None, :]) <= 2  # looks at the original
    accepted = law * near / (law * near).sum(axis=1, keepdims=True)
    assert worst_loss(law) < math.inf
    assert worst_loss(accepted) == math.inf
    public = np.isin(points, [1, 2, 3, 4])  # looks at the output alone
    judged = law * public / (law * public).sum(axis=1, keepdims=True)
    kept = judged[:, public]
    assert worst_loss(kept) < math.inf


def test_a_choice_of_places_tells_what_was_written():
    # The word is hidden among both, by a fair coin, where its context gives it away.
    hidden = np.array([0.5, 0.5])
    gives_away = {"take": True, "feed": False}  # a private neighbor decides
    # Outputs: the two words, with a mark or without.
    marked = {
        word: np.concatenate([hidden, [0, 0]] if easy else [[0, 0], hidden])
        for word, easy in gives_away.items()
    }
    assert worst_loss(np.array([marked["take"], marked["feed"]])) == math.inf
    # A policy gives the word one symbol, whatever stands beside it.
    places = [codes_of(f"I {word} kitten daily.")[2] for word in gives_away]
    assert places[0] == places[1]


def test_acting_on_exposed_places_alone_tells_words_of_one_group_apart():
    privatizer = mg.Privatizer(mg.mechanism("urr", epsilon=12.0))
    texts = [f"He is the vice {word} now." for word in ("president", "senator")]
    first, second = (codes_of(text)[4] for text in texts)
    assert first == second  # one group: the policy promises a loss of 0
    laws = []
    for text in texts:
        is_exposed = bool(find_exposed_places(text, privatizer))
        # Outputs of the tool: a mark, or a word of the group.
        laws.append([1, 0] if is_exposed else [0, 1])
    assert worst_loss(np.array(laws)) == math.inf
    # The certificate by itself changes nothing: both words have one law.
    inputs = np.array([first, second], np.int32)
    own = np.exp(privatizer.state.log_prob(inputs))
    assert worst_loss(own) == 0


def test_a_squared_distance_has_no_bound_per_unit():
    claimed = 2 * EPSILON
    found = []
    for reach in (3.0, 10.0, 20.0):
        points = np.array([0.0, 1.0, reach])
        assert loss_per_distance(exponential(points, 1), points) <= claimed + 1e-9
        squared = loss_per_distance(exponential(points, 2), points)
        assert squared > claimed
        # The repair that keeps squares: 2 D for points within a diameter of D, twice.
        assert squared <= 4 * reach * EPSILON
        found.append(squared)
    assert all(small < large for small, large in pairwise(found))
