"""Word trees: structure, ultrametric, bytes, balanced groups, saved with a space."""

from __future__ import annotations

import itertools
import json
import pickle

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import mondegreen as mg
from mondegreen.cli.main import cli
from mondegreen.errors import (
    InvalidParameterError,
    SpaceError,
    SpaceIntegrityError,
)
from mondegreen.space import store
from mondegreen.space.groups import balance_sizes, build_balanced_groups, centroids
from mondegreen.space.space import Space
from mondegreen.space.store import load_space, load_tree, save_space, with_tree
from mondegreen.space.tree import WordTree, default_heights
from mondegreen.space.tree_build import build_tree, opposites_directions

LABELS = [range(6), [0, 0, 1, 1, 2, 2], [0, 0, 0, 0, 1, 1], [0] * 6]


def cloud(count=60, dim=5, seed=0):
    points = np.random.default_rng(seed).normal(size=(count, dim)).astype(np.float32)
    return Space.from_arrays("cloud", [f"w{i}" for i in range(count)], points)


# Structure


def test_nodes_members_and_sizes():
    tree = WordTree.from_labels([[2, 0, 1, 3], [1, 0, 0, 1], [0] * 4])
    assert tree.levels == 2
    assert tree.nodes[:, :-1].tolist() == [[2, 0, 1, 3], [1, 0, 0, 1], [0] * 4]
    assert tree.nodes[:, -1].tolist() == [-1, -1, 0]
    assert tree.members(1, 0).tolist() == [1, 2]
    assert tree.sizes(1).tolist() == [2, 2]


def test_levels_that_repeat_are_left_out():
    rows = [range(4), range(4), [0, 0, 1, 1], [0, 0, 1, 1], [0] * 4, [0] * 4]
    assert WordTree.from_labels(rows) == WordTree.from_labels(
        [rows[0], rows[2], rows[4]]
    )


@settings(max_examples=60, deadline=None, derandomize=True)
@given(data=st.data(), size=st.integers(1, 8))
def test_the_distance_is_an_ultrametric(data, size):
    rows = [list(range(size))]
    for _ in range(3):
        over = data.draw(st.lists(st.integers(0, 3), min_size=16, max_size=16))
        rows.append([over[label] for label in rows[-1]])
    tree = WordTree.from_labels([*rows, [0] * size])
    ids = np.arange(size + 1)
    d = tree.distances(ids, ids)
    assert (d == d.T).all()
    assert (np.diag(d) == 0).all()
    assert (d[~np.eye(size + 1, dtype=bool)] > 0).all()
    for x, y, z in itertools.product(ids, repeat=3):
        assert d[x, z] <= max(d[x, y], d[y, z])


@pytest.mark.parametrize("levels", range(1, 8))
def test_default_heights_are_heights(levels):
    heights = default_heights(levels)
    assert len(heights) == levels + 1
    assert heights[0] == 0
    assert heights[-1] == 1
    assert (np.diff(heights) > 0).all()


def array(*values):
    return np.array(values, dtype=np.int32)


@pytest.mark.parametrize(
    ("order", "bounds", "heights"),
    [
        (array(0, 0), (array(0, 1, 2), array(0, 2)), (0.0, 1.0)),
        (array(0, 2), (array(0, 1, 2), array(0, 2)), (0.0, 1.0)),
        (array(0, -1), (array(0, 1, 2), array(0, 2)), (0.0, 1.0)),
        (array(0, 1), (array(0, 2),), (0.0,)),
        (array(0, 1), (array(0, 1, 2), array(0, 1)), (0.0, 1.0)),
        (array(0, 1, 2), (array(0, 2, 3), array(0, 1, 3), array(0, 3)), (0, 0.5, 1.0)),
        (array(0, 1), (array(0, 1, 2), array(0, 2)), (0.0, 0.5)),
        (array(0, 1), (array(0, 1, 2), array(0, 2)), (0.5, 1.0)),
        (array(0, 1), (array(0, 1, 2), array(0, 2)), (0.0, 0.5, 1.0)),
        (array(0, 1), (array(0, 1, 2), array(0, 1, 2), array(0, 2)), (0.0, 0.0, 1.0)),
    ],
)
def test_what_is_no_tree_is_refused(order, bounds, heights):
    with pytest.raises((SpaceError, InvalidParameterError)):
        WordTree(order, bounds, heights)


# Bytes


def test_bytes_and_pickles_are_read_back():
    tree = WordTree.from_labels(LABELS, about={"by": "hand"})
    for other in (
        WordTree.from_bytes(tree.to_bytes()),
        pickle.loads(pickle.dumps(tree)),
    ):
        assert other == tree
        assert other.about == {"by": "hand"}
        assert other.heights == tree.heights
    assert tree != WordTree.from_labels(LABELS, heights=(0, 0.1, 0.2, 1))


def test_more_than_65536_words_fit():
    words = np.arange(70_000)
    tree = WordTree.from_labels([words, words // 16, words * 0])
    assert WordTree.from_bytes(tree.to_bytes()) == tree


def test_damaged_bytes_are_refused():
    data = WordTree.from_labels(LABELS).to_bytes()
    for broken in (b"", data[:-1], data + b"\0", data[1:], data.replace(b"/1", b"/9")):
        with pytest.raises(SpaceIntegrityError):
            WordTree.from_bytes(broken)
    head, _, body = data.partition(b"\n")
    with pytest.raises(SpaceIntegrityError):
        WordTree.from_bytes(head + b"\n" + body[:2] + body[:2] + body[4:])


# With a space


def test_a_tree_is_saved_with_its_space_and_is_part_of_its_digest(tmp_path):
    space = cloud(12)
    tree = build_tree(space, leaf=3)
    treed = with_tree(space, tree)
    assert treed.digest != space.digest
    save_space(treed, tmp_path / "t.safetensors")
    loaded = load_space(tmp_path / "t.safetensors")
    assert loaded.tree == tree == load_tree(loaded)
    assert loaded.digest == treed.digest
    assert pickle.loads(pickle.dumps(treed)).tree == tree
    assert pickle.loads(pickle.dumps(loaded)).tree == tree
    assert load_tree(space) is None


def test_a_changed_tree_in_a_file_is_noticed(tmp_path):
    space = cloud(12)
    path = tmp_path / "t.safetensors"
    save_space(with_tree(space, build_tree(space, leaf=3)), path)
    data = bytearray(path.read_bytes())
    at = data.index(b"mondegreen-tree/1")
    at = data.index(b"\n", at) + 1
    data[at : at + 2], data[at + 2 : at + 4] = data[at + 2 : at + 4], data[at : at + 2]
    path.write_bytes(data)
    with pytest.raises(SpaceIntegrityError):
        load_space(path)


def test_a_tree_of_other_words_is_refused():
    with pytest.raises(SpaceError, match="other words"):
        with_tree(cloud(5), WordTree.from_labels(LABELS))


def test_the_tree_of_the_package_is_checked_against_its_digest(monkeypatch):
    space = mg.load_space()
    assert load_tree(space).vocab_size == space.vocab_size
    ((digest, trees),) = store._BUNDLED_TREES.items()
    other = dict.fromkeys(trees, "0" * 64)
    monkeypatch.setattr(store, "_BUNDLED_TREES", {digest: other})
    with pytest.raises(SpaceIntegrityError, match="the tree has another digest"):
        load_tree(space)


# Building


@settings(max_examples=40, deadline=None, derandomize=True)
@given(count=st.integers(1, 40), groups=st.integers(1, 12), seed=st.integers(0, 99))
def test_groups_are_balanced(count, groups, seed):
    groups = min(groups, count)
    points = np.random.default_rng(seed).normal(size=(count, 3)).round(1)
    labels = build_balanced_groups(points.astype(np.float32), groups)
    sizes = np.bincount(labels, minlength=groups)
    assert sorted(sizes.tolist()) == sorted(balance_sizes(count, groups).tolist())


def test_groups_are_near_each_other():
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(40, 20)) * 3
    points = np.repeat(centres, 8, axis=0) + rng.normal(size=(320, 20)) * 0.3
    order = rng.permutation(320)
    labels = build_balanced_groups(points[order].astype(np.float32), 40)
    true = (np.arange(320) // 8)[order]
    assert len(set(zip(labels.tolist(), true.tolist(), strict=True))) == 40
    spread = points[order] - centroids(points[order].astype(np.float32), labels)[labels]
    assert np.square(spread).sum(axis=1).mean() < 20 * 0.3**2


def test_a_build_repeats_itself():
    assert build_tree(cloud(200), leaf=4) == build_tree(cloud(200), leaf=4)


@pytest.mark.parametrize("leaf", [1, 3, 7, 100])
def test_no_group_is_smaller_than_a_leaf(leaf):
    tree = build_tree(cloud(90), leaf=leaf, branch=3)
    sizes = tree.sizes(1) if leaf > 1 else tree.sizes(0)
    assert sizes.min() >= min(leaf, 90)
    assert sizes.max() < max(2 * leaf, 91 if leaf == 100 else 0)


def test_words_at_one_point_are_one_node():
    points = [[0.0, 1], [1, 0], [0, 1], [2, 2], [1, 0]]
    space = Space.from_arrays("s", list("abcde"), points)
    tree = build_tree(space, leaf=2)
    assert tree.nodes[0, 0] == tree.nodes[0, 2]
    assert tree.nodes[0, 1] == tree.nodes[0, 4]
    assert len(tree.sizes(0)) == 3


def test_groups_keep_the_classes_and_small_classes_join_the_nearest():
    space = cloud(60)
    classes = ["noun"] * 30 + ["verb"] * 28 + ["article"] * 2
    tree = build_tree(space, leaf=4, branch=2, classes=classes)
    nouns = {int(node) for node in tree.nodes[1, :30]}
    verbs = {int(node) for node in tree.nodes[1, 30:58]}
    assert not nouns & verbs
    assert {int(node) for node in tree.nodes[1, 58:60]} <= nouns | verbs
    assert len(tree.sizes(tree.levels - 1)) == 2


def test_joined_classes_are_one_node_above_their_groups_and_others_stay():
    space = cloud(60)
    classes = ["noun"] * 30 + ["verb"] * 10 + ["article"] * 10 + ["pronoun"] * 10
    tree = build_tree(
        space, leaf=5, branch=2, classes=classes, joined=["article", "pronoun"]
    )
    groups, mixed, branches, strata = tree.nodes[1:5, :60]
    assert tree.levels == 5
    assert tree.heights == (0, 0.03, 0.5, 0.6, 0.9, 1)
    assert {len({int(n) for n in row[40:]}) for row in (mixed, branches, strata)} == {1}
    assert len({int(node) for node in groups[40:]}) == 4
    assert not set(mixed[40:].tolist()) & set(mixed[:40].tolist())
    first = [tree.members(1, int(node)).tolist() for node in groups[:40]]
    assert first == [tree.members(2, int(node)).tolist() for node in mixed[:40]]
    assert len({int(node) for node in strata}) == 3
    plain = build_tree(space, leaf=5, branch=2, classes=classes)
    assert plain.levels == 4


def test_frequency_makes_groups_alike_in_rank():
    space = cloud(240)

    def spread(weight):
        tree = build_tree(space, leaf=8, frequency=weight)
        ranks = np.log(np.arange(240) + 10.0)
        groups = range(len(tree.sizes(1)))
        return np.mean([ranks[tree.members(1, group)].std() for group in groups])

    assert spread(5.0) < 0.5 * spread(0.0)


def test_opposites_are_told_apart_by_a_direction_that_others_share():
    rng = np.random.default_rng(0)
    base = np.repeat(rng.normal(size=(50, 10)), 2, axis=0)
    sign = np.tile([1.0, -1.0], 50)
    points = base + 0.3 * sign[:, None] * np.eye(10)[0]
    space = Space.from_arrays("s", [f"w{i}" for i in range(100)], points)
    pairs = [(2 * i, 2 * i + 1) for i in range(30)]
    unit = points - points.mean(axis=0)
    unit /= np.linalg.norm(unit, axis=1, keepdims=True)
    along = opposites_directions(unit.astype(np.float32), pairs)[:, 0]
    assert abs(np.corrcoef(along, unit[:, 0])[0, 1]) > 0.9
    assert (np.sign(along[60::2] - along[61::2]) == np.sign(along[0] - along[1])).all()

    def together(contrast):
        tree = build_tree(space, leaf=5, opposites=pairs, contrast=contrast)
        return (tree.nodes[1, 0:100:2] == tree.nodes[1, 1:100:2]).mean()

    assert together(20.0) < 0.5 * together(0.0)
    assert not opposites_directions(unit.astype(np.float32), pairs[:3]).any()


@pytest.mark.parametrize(
    "values",
    [
        {"leaf": 0},
        {"branch": 0},
        {"frequency": -1.0},
        {"contrast": 1e3},
        {"leaf": 10**5},
    ],
    ids=str,
)
def test_settings_out_of_range_are_refused(values):
    with pytest.raises(InvalidParameterError):
        build_tree(cloud(5), **values)


def test_other_spaces_and_classes_are_refused():
    ball = Space.from_arrays("b", ["a", "b"], [[0.0], [0.5]], metric="poincare")
    with pytest.raises(SpaceError, match="Euclidean"):
        build_tree(ball)
    with pytest.raises(SpaceError, match="classes"):
        build_tree(cloud(5), classes=["noun"])


# The commands


def run(*arguments):
    return CliRunner().invoke(cli, [str(argument) for argument in arguments])


def test_the_command_builds_saves_and_shows_a_branch(tmp_path):
    source, output = tmp_path / "s.safetensors", tmp_path / "t.safetensors"
    save_space(cloud(50), source)
    pairs = tmp_path / "pairs.txt"
    pairs.write_text("w1 w2\nw3 unheard\n")
    done = run(
        *("space", "tree", source, "-o", output, "--leaf", 5, "--branch", 2),
        *("--opposites", pairs, "--quiet", "--json"),
    )
    assert done.exit_code == 0, done.output
    facts = json.loads(done.stdout)
    assert facts["nodes"].startswith("50 > 10 > ")
    assert facts["tree"] == load_space(output).tree.digest
    assert run("space", "tree", source, "-o", output).exit_code == 3
    shown = run("space", "info", output, "--branch", "w7", "--json")
    assert shown.exit_code == 0, shown.output
    (group, *_) = [v for k, v in json.loads(shown.stdout).items() if k[:5] == "level"]
    assert "w7" in group.split()
    assert len(group.split()) == 5
    assert run("space", "info", output, "--branch", "nowhere").exit_code == 3
    assert run("space", "info", source, "--branch", "w7").exit_code == 3


@pytest.mark.parametrize(
    ("listed", "said"),
    [(b"one two\n\nthree\n", "line 3: two words"), (b"one two\nol\xe9 no\n", "row 2")],
)
def test_a_pair_that_is_none_is_an_error(tmp_path, listed, said):
    source, pairs = tmp_path / "s.safetensors", tmp_path / "pairs.txt"
    save_space(cloud(50), source)
    pairs.write_bytes(listed)
    done = run(
        *("space", "tree", source, "-o", tmp_path / "t.safetensors"),
        *("--opposites", pairs),
    )
    assert done.exit_code == 3
    assert f"pairs.txt, {said}" in done.stderr
