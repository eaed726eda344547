"""The tree mechanism against brute force: all pairs, all outputs, rational numbers."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mondegreen as mg
from mechanisms.laws import ALPHA, all_inputs, counts, g_test
from mondegreen.audit.claim import find_claim
from mondegreen.audit.exact import build_table, worst_pair
from mondegreen.errors import ConfigurationError, InvalidParameterError, SpaceError
from mondegreen.mechanisms.laws import tree as tree_laws
from mondegreen.mechanisms.laws.tree import (
    TreeLaw,
    compute_weights,
    load_shipped_weights,
    weights_within,
)
from mondegreen.mechanisms.selection import tree as tree_module
from mondegreen.mechanisms.selection.tree import Tree, TreeState
from mondegreen.sampling.integers import TOTAL
from mondegreen.space import store
from mondegreen.space.space import Space
from mondegreen.space.store import with_tree
from mondegreen.space.tree import WordTree
from mondegreen.space.tree_build import build_tree

hard = settings(max_examples=120, deadline=None, derandomize=True)


@st.composite
def hierarchies(draw, most=9):
    """Labels of up to four levels, words first, of any shape."""
    size = draw(st.integers(1, most))
    rows = [[draw(st.integers(0, max(0, size - 1))) for _ in range(size)]]
    for _ in range(draw(st.integers(0, 3))):
        over = [draw(st.integers(0, 3)) for _ in range(16)]
        rows.append([over[label] for label in rows[-1]])
    return [*rows, [0] * size]


def space_with(tree):
    """A space whose words stand in the leaves of a tree."""
    points = [[float(node), 0.0] for node in tree.nodes[0, :-1]]
    names = [f"w{i}" for i in range(tree.vocab_size)]
    return with_tree(Space.from_arrays("s", names, points), tree)


def meeting(tree, v, w):
    """The level where two inputs meet, from the nodes as sets of words."""
    if v == w:
        return 0
    if tree.vocab_size in (v, w):
        return tree.levels
    for level in range(tree.levels + 1):
        for node in range(len(tree.bounds[level]) - 1):
            if {v, w} <= set(tree.members(level, node).tolist()):
                return level
    raise AssertionError


def exact_law(tree, weights, own=None):
    """2**62 P(y | w), from the definition: rows are inputs, columns words."""
    size = tree.vocab_size
    law = [[Fraction(0)] * size for _ in range(size)]
    child = tree.nodes[tree.levels - 1, :-1].tolist()
    for level in range(tree.levels + 1):
        for node in range(len(tree.bounds[level]) - 1):
            members = tree.members(level, node).tolist()
            for word in members:
                weight = (own or {}).get(child[word], weights)[level]
                for output in members:
                    law[word][output] += Fraction(weight, len(members))
    return [*law, [Fraction(sum(weights), size)] * size]


def exact_ratios(tree, law):
    """The largest ratio of two inputs that meet at each level from 1 to D."""
    found = [Fraction(1)] * tree.levels
    for v in range(len(law)):
        for w in range(len(law)):
            level = meeting(tree, v, w)
            ratio = max(a / b for a, b in zip(law[v], law[w], strict=True))
            if level:
                found[level - 1] = max(found[level - 1], ratio)
            else:
                assert ratio == 1
    return tuple(found)


def some_weights(levels, seed):
    """Weights of sum 2**62, some of them 0 or tiny."""
    rng = np.random.default_rng(seed)
    parts = rng.choice([0, 1, 10**6, 10**17, 10**18], size=levels).tolist()
    return (
        (*parts, TOTAL - sum(parts))
        if sum(parts) < TOTAL
        else some_weights(levels, seed + 99)
    )


EVEN = [range(8), [0, 0, 1, 1, 2, 2, 3, 3], [0, 0, 0, 0, 1, 1, 1, 1], [0] * 8]
UNEVEN = [range(9), [0, 0, 0, 0, 0, 1, 1, 2, 2], [0] * 7 + [1] * 2, [0] * 9]


@hard
@given(labels=hierarchies(), seed=st.integers(0, 10**6))
def test_the_certificate_is_the_largest_ratio_over_all_pairs_and_outputs(labels, seed):
    tree = WordTree.from_labels(labels)
    weights = some_weights(tree.levels, seed)
    assert TreeLaw(tree, weights).ratios() == exact_ratios(
        tree, exact_law(tree, weights)
    )


def some_own(tree, seed):
    """Weights of some children of the root, by node."""
    rng = np.random.default_rng(seed)
    nodes = range(len(tree.bounds[tree.levels - 1]) - 1) if tree.levels > 1 else ()
    return {
        node: some_weights(tree.levels, seed + 7 * node)
        for node in nodes
        if rng.random() < 0.6
    }


@hard
@given(labels=hierarchies(), seed=st.integers(0, 10**6))
def test_the_certificate_of_classes_is_the_largest_ratio_too(labels, seed):
    tree = WordTree.from_labels(labels)
    weights, own = some_weights(tree.levels, seed), some_own(tree, seed)
    expected = exact_ratios(tree, exact_law(tree, weights, own))
    assert TreeLaw(tree, weights, own).ratios() == expected


def test_a_class_that_rarely_reaches_the_root_is_not_hidden_by_the_others():
    tree = WordTree.from_labels(EVEN)
    weights = compute_weights((0.1, 0.2, 0.2, 0.5))
    quiet = {1: compute_weights((0.0, 0.0, 0.999, 0.001))}
    alike = TreeLaw(tree, weights).ratios()[-1]
    assert TreeLaw(tree, weights, quiet).ratios()[-1] > 100 * alike


@hard
@given(labels=hierarchies(), seed=st.integers(0, 10**6))
def test_the_table_is_the_law(labels, seed):
    tree = WordTree.from_labels(labels)
    weights, own = some_weights(tree.levels, seed), some_own(tree, seed)
    law = TreeLaw(tree, weights, own)
    for word, row in enumerate(exact_law(tree, weights, own)):
        assert sum(row) == TOTAL
        found = law.probabilities(word)
        np.testing.assert_allclose(found, [float(p / TOTAL) for p in row], rtol=1e-12)


@hard
@given(
    labels=hierarchies(),
    epsilon=st.floats(-9, 6).map(lambda x: 10.0**x),
    shares=st.lists(st.floats(0, 1), min_size=12, max_size=12).map(sorted),
)
def test_the_promise_holds_on_all_pairs_and_outputs(labels, epsilon, shares):
    tree = WordTree.from_labels(labels)
    odds = tuple(epsilon * share for share in shares[: tree.levels - 1])
    for mechanism in (Tree(epsilon), Tree(epsilon, losses=odds)):
        state = mechanism.prepare(space_with(tree))
        ids = all_inputs(state.space)
        promise = state.guarantee
        gaps = state.distances(ids, ids)
        law = exact_law(tree, state.law.weights)
        for v in ids:
            for w in ids:
                level = meeting(tree, v, w)
                assert gaps[v, w] == state.heights[level]
                allowed = promise.certified * state.heights[level]
                ratio = max(a / b for a, b in zip(law[v], law[w], strict=True))
                assert math.log(ratio) <= allowed * (1 + 1e-12) + 1e-15
        assert promise.certified <= promise.epsilon == epsilon
        assert promise.scale["diameter"] == 1.0


def breaks(tree, weights, claimed):
    """Whether laws that meet at some level differ by more nats than is claimed."""
    ratios = exact_ratios(tree, exact_law(tree, weights))
    return any(math.log(r) > c for r, c in zip(ratios, claimed, strict=True))


@pytest.mark.parametrize("labels", [EVEN, UNEVEN], ids=["even", "uneven"])
def test_weakened_twins_are_rejected(labels):
    tree = WordTree.from_labels(labels)
    limits = (0.3, 1.5, 3.0)
    weights = weights_within(tree, limits)
    assert not breaks(tree, weights, limits)
    louder = weights_within(tree, [2 * limit for limit in limits])
    assert breaks(tree, louder, limits)
    less = (
        weights[0] + weights[-1] // 2,
        *weights[1:-1],
        weights[-1] - weights[-1] // 2,
    )
    assert breaks(tree, less, limits)


def test_sizes_taken_as_equal_when_they_are_not_are_rejected():
    tree = WordTree.from_labels(UNEVEN)
    mean = WordTree.from_labels([range(9), [0, 0, 0, 1, 1, 1, 2, 2, 2], [0] * 9])
    limits = (0.2, 3.0)
    weights = weights_within(mean, limits)
    assert not breaks(mean, weights, limits)
    flat = WordTree.from_labels([UNEVEN[0], UNEVEN[1], UNEVEN[3]])
    assert breaks(flat, weights, limits)
    assert not breaks(tree, weights_within(tree, (0.2, 1.0, 3.0)), (0.2, 1.0, 3.0))


def test_the_exact_audit_finds_the_certificate_and_rejects_the_twin():
    state = Tree(2.0, losses=(0.2, 1.0)).prepare(
        space_with(WordTree.from_labels(UNEVEN))
    )
    evidence = worst_pair(build_table(state), find_claim(state, 2.0, None))
    assert evidence.loss <= evidence.allowed
    twin = Tree(4.0, losses=(0.4, 2.0)).prepare(state.space)
    worst = worst_pair(build_table(twin), find_claim(state, 2.0, None))
    assert worst.loss > worst.allowed


# What is sampled


def states_of(weights, labels, own=None):
    tree = WordTree.from_labels(labels)
    mechanism = Tree(1e3, level_probabilities=tuple(w / sum(weights) for w in weights))
    space = space_with(tree)
    stated = mechanism.prepare(space).guarantee
    law = TreeLaw(tree, weights, own or {})
    return TreeState(space, law, tree.heights, stated), exact_law(tree, weights, own)


@pytest.mark.parametrize("own", [{}, {1: (0, 4, 0, 7)}, {0: (3, 0, 7, 1)}], ids=str)
@pytest.mark.parametrize("labels", [EVEN, UNEVEN], ids=["even", "uneven"])
def test_every_integer_is_dealt_as_the_law_says(labels, own, monkeypatch):
    """All integers of a small range, once each: counts are weights, exactly."""
    unit = 2520  # every size of a node divides it
    weights = (1 * unit, 5 * unit, 2 * unit, 3 * unit)
    own = {node: tuple(unit * part for part in row) for node, row in own.items()}
    total = sum(weights)
    monkeypatch.setattr(tree_module, "draw_uniform", lambda rng, size: np.arange(size))
    monkeypatch.setattr(tree_module, "_BLOCK", total)
    state, law = states_of(weights, labels, own)
    for word in all_inputs(state.space).tolist():
        drawn = state.sample(np.full(total, word, dtype=np.int32), None)
        seen = np.bincount(drawn, minlength=state.space.vocab_size)
        if word < state.space.vocab_size:
            assert seen.tolist() == law[word]
    twin = (2 * unit, 4 * unit, 2 * unit, 3 * unit)
    assert exact_law(state.tree, twin)[0] != law[0]


def test_places_that_cannot_be_dealt_evenly_are_draw_again_without_bias():
    weights = (2, 1, 1, TOTAL - 4)  # lower levels have fewer places than words
    state, _ = states_of(weights, UNEVEN)
    levels = np.zeros(20_000, dtype=np.int64) + 1
    rng = np.random.default_rng(0)
    for word in (0, 8, 9):
        ids = np.full(len(levels), word, dtype=np.int32)
        drawn = state._draw_again(ids, levels, rng)
        members = set(range(5)) if word == 0 else {7, 8} if word == 8 else set(range(9))
        expected = np.array([i in members for i in range(9)], dtype=float)
        seen = np.bincount(drawn, minlength=9)
        assert g_test(seen, expected / expected.sum()) > ALPHA
    edge = np.array([TOTAL - 1, 0, 1, 2, 3, 4], dtype=np.int64)
    rows, rest = state._levels(np.zeros(len(edge), dtype=np.int32), edge)
    assert rows.tolist() == [3, 0, 0, 1, 2, 3]
    assert rest.tolist() == [TOTAL - 5, 0, 1, 0, 0, 0]


def test_outputs_of_a_class_follow_its_own_law():
    space = space_with(WordTree.from_labels(EVEN))
    shares = (0.1, 0.6, 0.1, 0.2)
    calm = Tree(9.0, level_probabilities=shares).prepare(space)
    state = Tree(
        9.0, level_probabilities=shares, of_class={"w4": (0.0, 0.0, 0.5, 0.5)}
    ).prepare(space)
    law, other = (np.exp(each.log_prob(all_inputs(space))) for each in (state, calm))
    np.testing.assert_array_equal(law[:4], other[:4])
    for word in (0, 4, 7, 8):
        seen = counts(state.sample, word, 8, 200_000, np.random.default_rng(word))
        assert g_test(seen, law[word]) > ALPHA
        if word in (4, 7):
            assert g_test(seen, other[word]) < ALPHA


@pytest.mark.parametrize("labels", [EVEN, UNEVEN], ids=["even", "uneven"])
def test_outputs_follow_the_law_and_not_that_of_a_twin(labels):
    space = space_with(WordTree.from_labels(labels))
    size = space.vocab_size
    state = Tree(3.0, losses=(0.5, 1.5)).prepare(space)
    twin = Tree(2.5, losses=(0.5, 1.5)).prepare(space)
    law = np.exp(state.log_prob(all_inputs(space)))
    for word in (0, size - 1, size):
        seen = counts(state.sample, word, size, 200_000, np.random.default_rng(word))
        assert g_test(seen, law[word]) > ALPHA
        if word < size:
            other = counts(twin.sample, word, size, 200_000, np.random.default_rng(1))
            assert g_test(other, law[word]) < ALPHA


def test_the_unknown_word_is_uniform_and_as_far_as_any():
    state = Tree(3.0).prepare(space_with(WordTree.from_labels(UNEVEN)))
    law = np.exp(state.log_prob(np.array([9], dtype=np.int32)))
    np.testing.assert_allclose(law, 1 / 9)
    assert (state.distances(np.array([9]), np.arange(9)) == 1).all()


# Parameters


def test_three_ways_to_say_the_same():
    space = space_with(WordTree.from_labels(EVEN))
    by_height = Tree(5.0).prepare(space)
    heights = by_height.tree.heights
    by_odds = Tree(5.0, losses=tuple(5.0 * h for h in heights[1:-1])).prepare(space)
    by_chance = Tree(
        5.0, level_probabilities=tuple(w / TOTAL for w in by_height.law.weights)
    ).prepare(space)
    assert by_odds.law == by_height.law
    ids = all_inputs(space)
    np.testing.assert_allclose(
        by_chance.log_prob(ids), by_height.log_prob(ids), atol=1e-12
    )
    losses = by_chance.law.losses()
    np.testing.assert_allclose(losses, by_height.law.losses(), atol=1e-12)
    for h, loss in zip(by_chance.heights[1:], losses, strict=True):
        assert loss <= 5.0 * h


def test_equal_sizes_and_tight_odds_give_the_closed_form():
    """F_l = F_0 exp(-c_l): what odds mean where no size differs."""
    tree = WordTree.from_labels([range(8), EVEN[1], [0] * 8])
    limits = np.array([2.0, 3.0])
    found = np.array(weights_within(tree, limits)) / TOTAL
    parts = np.exp(-np.array([0.0, *limits, np.inf]))
    shares = np.array([1, 2, 8]) * (parts[:-1] - parts[1:])
    np.testing.assert_allclose(found, shares / shares.sum(), rtol=1e-6)


def test_odds_of_zero_give_one_law():
    state = Tree(4.0, losses=(0.0, 2.0)).prepare(
        space_with(WordTree.from_labels(UNEVEN))
    )
    law = exact_law(state.tree, state.law.weights)
    assert law[0] == law[4]
    assert law[5] == law[6]
    assert law[0] != law[5]
    assert state.law.losses()[0] == 0


def test_probabilities_that_lose_more_than_epsilon_are_refused():
    space = space_with(WordTree.from_labels(EVEN))
    chances = (0.0, 0.9, 0.0, 0.1)
    lost = Tree(10.0, level_probabilities=chances).prepare(space).law.losses()[-1]
    assert lost == pytest.approx(math.log((0.9 / 2 + 0.1 / 8) / (0.1 / 8)))
    assert Tree(lost + 1e-9, level_probabilities=chances).prepare(space)
    with pytest.raises(InvalidParameterError, match="probabilities must be such that"):
        Tree(lost - 1e-9, level_probabilities=chances).prepare(space)


@pytest.mark.parametrize("own", [None, {"w0": (0.0, 0.5, 0.1, 0.4)}])
def test_given_chances_are_certified_for_what_the_law_loses(own):
    space = space_with(WordTree.from_labels(EVEN))
    chances = (0.0, 0.9, 0.0, 0.1)
    state = Tree(10.0, level_probabilities=chances, of_class=own).prepare(space)
    losses, guarantee = state.law.losses(), state.guarantee
    assert guarantee.epsilon == 10.0
    assert losses[-1] <= guarantee.certified <= losses[-1] * (1 + 1e-12)
    assert guarantee.certified < 4
    law, points = state.log_prob(all_inputs(space)), all_inputs(space)
    loss = np.abs(law[:, None] - law[None]).max(axis=2)
    assert loss.max() == pytest.approx(guarantee.certified, rel=1e-9)
    assert (loss <= guarantee.certified * state.distances(points, points) + 1e-9).all()
    assert f"{losses[-1]:.6g}-local" in guarantee.equivalents[0]


def test_chances_that_tell_nothing_apart_are_certified_for_nothing():
    space = space_with(WordTree.from_labels(EVEN))
    state = Tree(10.0, level_probabilities=(0.0, 0.0, 0.0, 1.0)).prepare(space)
    assert state.guarantee.certified == 0.0
    assert state.heights == state.tree.heights


@pytest.mark.parametrize(
    "values",
    [
        {"losses": (1.0, 0.5)},
        {"losses": (0.5, 9.0)},
        {"losses": 0.5},
        {"losses": (True, 1.0)},
        {"level_probabilities": (0.5, 0.4)},
        {"level_probabilities": (0.5, 0.5, 0.0)},
        {"level_probabilities": (1.5, -0.5)},
        {"losses": (0.1,), "level_probabilities": (0.5, 0.5)},
        {"of_class": {"a": (0.5, 0.5)}},
        {"level_probabilities": (0.5, 0.5), "of_class": {"a": (0.5, 0.4)}},
        {"level_probabilities": (0.5, 0.5), "of_class": {"a": 1.0}},
        {"level_probabilities": (0.5, 0.5), "of_class": ["a"]},
    ],
    ids=str,
)
def test_parameters_out_of_range_are_refused(values):
    with pytest.raises(InvalidParameterError):
        Tree(2.0, **values)


@pytest.mark.parametrize(
    "values", [{"losses": (1.0,)}, {"level_probabilities": (0.5, 0.5)}]
)
def test_as_many_numbers_as_levels_are_needed(values):
    with pytest.raises(InvalidParameterError, match="numbers for this tree"):
        Tree(2.0, **values).prepare(space_with(WordTree.from_labels(EVEN)))


@pytest.mark.parametrize("word", ["w9", "w5"])
def test_classes_are_named_by_one_known_word_each(word):
    space = space_with(WordTree.from_labels(EVEN))
    shares = (0.1, 0.2, 0.3, 0.4)
    own = {"w4": shares, word: shares}
    with pytest.raises(InvalidParameterError, match="of_class must be"):
        Tree(9.0, level_probabilities=shares, of_class=own).prepare(space)


@pytest.mark.parametrize(
    "values",
    [
        {"losses": [0.1, 0.2]},
        {"level_probabilities": [0.25] * 4},
        {"level_probabilities": [0.25] * 4, "of_class": {"w1": [0.0, 0.5, 0.25, 0.25]}},
    ],
)
def test_lists_from_json_are_tuples(values):
    mechanism = mg.mechanism("tree", epsilon=9.0, **values)
    again = json.loads(json.dumps(mechanism.to_dict()))["parameters"]
    assert mg.mechanism("tree", **again) == mechanism


@pytest.mark.parametrize(
    "shares", [(1 / 3, 1 / 3, 1 / 3), (1.0, 0.0), (0.7, 0.3 + 1e-10)]
)
def test_integers_of_probabilities_sum_to_all(shares):
    weights = compute_weights(shares)
    assert sum(weights) == TOTAL
    assert weights[-1] >= 1


# Spaces


def test_the_default_space_has_its_tree():
    space = mg.load_space()
    state = Tree(10.0).prepare(space)
    assert state.tree.vocab_size == space.vocab_size
    assert len(state.tree.to_bytes()) < 500_000
    assert state.tree.digest in " ".join(state.guarantee.assumptions)
    assert state.law.losses()[-1] <= 10.0
    assert state.tree.sizes(1).min() >= 22
    days = [space.get_id(word) for word in ("monday", "tuesday", "friday")]
    assert len(set(state.tree.nodes[1, days].tolist())) == 1
    good, bad = space.get_id("good"), space.get_id("bad")
    assert state.tree.nodes[1, good] != state.tree.nodes[1, bad]


@pytest.mark.slow("other epsilons", but="10")
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.5, 10, 20.0])
def test_shipped_integers_are_those_of_the_linear_program(epsilon):
    space = mg.load_space()
    state = Tree(epsilon).prepare(space)
    limits = [epsilon * height for height in state.tree.heights[1:]]
    assert load_shipped_weights(state.tree, epsilon) == state.law.weights
    found = np.array(weights_within(state.tree, limits), dtype=float)
    np.testing.assert_allclose(found, state.law.weights, atol=TOTAL * 1e-6)


def test_shipped_integers_that_were_changed_are_refused(monkeypatch):
    tree = mg.load_space()
    tree = Tree(10.0).prepare(tree).tree
    louder = load_shipped_weights(tree, 10.5)
    monkeypatch.setattr(tree_laws, "_read", lambda digest: {10.0: louder})
    with pytest.raises(SpaceError, match="lose more than epsilon 10"):
        Tree(10.0).prepare(mg.load_space())


@pytest.mark.slow("a process")
def test_the_default_path_imports_neither_scipy_nor_faiss():
    script = (
        "import sys, mondegreen as mg\n"
        "mg.Privatizer(mg.mechanism('tree', epsilon=10), mg.load_space())('we met')\n"
        "print(sorted({'scipy', 'faiss'} & set(sys.modules)))"
    )
    run = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert run.stdout.strip() == "[]"


def test_a_state_has_a_digest_of_all_that_decides_a_draw():
    space = space_with(WordTree.from_labels(EVEN))
    other = space_with(WordTree.from_labels(UNEVEN))
    chances = (0.1, 0.2, 0.3, 0.4)
    states = [
        Tree(5.0).prepare(space),
        Tree(5.0).prepare(other),
        Tree(5.5).prepare(space),
        Tree(9.0, level_probabilities=chances).prepare(space),
        Tree(9.0, level_probabilities=chances, of_class={"w0": chances}).prepare(space),
        Tree(9.0, level_probabilities=chances, of_class={"w8": chances}).prepare(other),
    ]
    digests = [state.digests["law"] for state in states]
    assert len(set(digests)) == len(digests)
    again = Tree(5.0).prepare(space)
    assert again.digests["law"] == digests[0]
    assert len(digests[0]) == 64


def test_a_large_space_without_a_tree_says_how_to_get_one(monkeypatch):
    monkeypatch.setattr(store, "_SMALL", 1)
    space = Space.from_arrays("s", ["a", "b"], [[0.0], [1.0]])
    with pytest.raises(SpaceError, match="mondegreen space tree"):
        Tree(1.0).prepare(space)


def test_a_keyed_release_depends_on_the_tree():
    first, second = (
        mg.Privatizer(Tree(2.0), space_with(WordTree.from_labels(labels)))
        for labels in (UNEVEN, [range(9), [0] * 9])
    )
    assert first._scope("") != second._scope("")


# Keyed noise knows some parameters by other names.


@pytest.mark.parametrize(
    ("parameters", "digest"),
    [
        ({"losses": (0.0,)}, "ad3bdfb0e42cd3f7"),
        ({"level_probabilities": (0.25, 0.5, 0.25)}, "20b8c3e22eece292"),
        ({}, "3d52a047ab3bcd4e"),
    ],
)
def test_the_digest_of_keyed_noise_stays_what_it_was(parameters, digest):
    vectors = np.random.default_rng(0).normal(size=(8, 3)).astype(np.float32)
    space = Space.from_arrays("s", [f"w{i}" for i in range(8)], vectors)
    space = with_tree(space, build_tree(space, leaf=4))
    mechanism = mg.mechanism("tree", epsilon=9.0, **parameters)
    scope = mg.Privatizer(mechanism, space, noise=mg.Seeded(1))._scope("text")
    assert scope.hex().startswith(digest)


@pytest.mark.parametrize("name", ["odds", "probabilities"])
def test_a_name_of_the_digest_is_no_parameter(name):
    with pytest.raises(ConfigurationError, match=f"no parameter {name}"):
        mg.mechanism("tree", epsilon=9.0, **{name: (0.1,)})
