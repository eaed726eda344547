"""Groups that no frequent word owns: the swaps, and the trees of the package."""

from __future__ import annotations

import numpy as np
import pytest

import mondegreen as mg
from mondegreen.cli.options import collect_parameters
from mondegreen.language.store import load_language
from mondegreen.space.groups import Worth, _Groups, build_balanced_groups, share_groups
from mondegreen.space.store import load_tree
from mondegreen.space.tree_build import build_tree
from mondegreen.space.word_classes import CLOSED_CLASSES, FUNCTION_CLASSES

CAP = 0.42  # 0.4 where it was built, with the counts themselves
OLD, NEW = "d6538cb1373f", "e60f5a811bca"


def cloud(count=120, dim=6, seed=3):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(count, dim)).astype(np.float32)
    often = 1 / (np.arange(count) + 1.0) ** 1.2
    often /= often.sum()
    return points, often


def value(points, labels, worth):
    """The worth of all groups, as its docstring says."""
    total = 0.0
    for group in np.unique(labels):
        some = labels == group
        x, f = points[some].astype(np.float64), worth.frequencies[some]
        kept = (worth.weights[some][:, None] * x).sum(axis=0) @ x.sum(axis=0) / len(x)
        wall = max(0.0, f.max() - worth.cap * f.sum())
        total += kept - worth.price * f.max() - 100 * wall
    return total


def shares(labels, often):
    """The largest share of the frequency of its group that any word has."""
    return (often / np.bincount(labels, often)[labels]).max()


@pytest.mark.parametrize("cap", [1.0, 0.5])
def test_a_swap_gains_what_it_says(cap):
    points, often = cloud(20)
    rng = np.random.default_rng(0)
    worth = Worth(rng.random(20), often, 0.7, cap)
    labels = np.arange(20) % 2
    groups = _Groups(points.astype(np.float64), labels, worth)
    gains = groups._gains(0, 1)
    before = value(points, labels, worth)
    for i, x in enumerate(groups.members[0]):
        for j, y in enumerate(groups.members[1]):
            other = labels.copy()
            other[[x, y]] = other[[y, x]]
            after = value(points, other, worth)
            assert gains[i, j] == pytest.approx(after - before, abs=1e-9)


def test_groups_are_worth_more_and_keep_their_sizes():
    points, often = cloud()
    labels = build_balanced_groups(points, 8)
    worth = Worth(often, often, 1.0, 0.5)
    found = share_groups(points, labels, worth)
    assert value(points, found, worth) > value(points, labels, worth)
    assert (np.bincount(found) == np.bincount(labels)).all()
    assert (found == share_groups(points, labels, worth)).all()


def test_the_cap_holds_where_it_can():
    points, often = cloud()
    labels = np.arange(120) // 15  # the frequent ones together
    alone = np.argsort(-often)[np.arange(120) % 8 * 15 + np.arange(120) // 8]
    owned = np.empty(120, dtype=np.int64)
    owned[alone] = np.arange(120) // 15
    assert shares(owned, often) > 0.6
    found = share_groups(points, owned, Worth(often, often, 0.0, 0.45))
    assert shares(found, often) <= 0.455  # the wall is high, and no more
    assert shares(labels, often) <= 0.45  # so it could be had


def test_families_stand_between_groups_and_branches():
    points, often = cloud(240)
    space = mg.Space.from_arrays("cloud", [f"w{i}" for i in range(240)], points)
    classes = ["noun"] * 120 + ["verb"] * 96 + ["determiner"] * 24
    worth = Worth(often, often, 1.0, 0.5)
    tree = build_tree(
        space,
        leaf=6,
        family=4,
        branch=8,
        classes=classes,
        joined=("determiner",),
        worth=worth,
    )
    assert tree.heights == (0.0, 0.03, 0.28, 0.6, 0.9, 1.0)
    families = tree.nodes[2, :-1]
    assert len(set(families[216:])) == 1  # the joined class is one node
    assert set(tree.sizes(2).tolist()) == {24}
    assert (tree.sizes(1) == 6).all()


def test_a_class_smaller_than_a_family_joins_another_that_is_not_joined():
    points, _ = cloud(120)
    space = mg.Space.from_arrays("cloud", [f"w{i}" for i in range(120)], points)
    classes = ["noun"] * 60 + ["verb"] * 48 + ["interjection"] * 6 + ["pronoun"] * 6
    given = {"classes": classes, "joined": ("pronoun",), "leaf": 6, "branch": 8}
    by_family = build_tree(space, family=4, **given)
    assert sorted(by_family.sizes(by_family.levels - 1).tolist())[0] == 6
    assert len(by_family.sizes(by_family.levels - 1)) == 3
    by_group = build_tree(space, **given)
    assert len(by_group.sizes(by_group.levels - 1)) == 4


# The trees of the package


def often_in_public_text(space):
    """Half of what the embedded language model has, half of what the order says."""
    text = np.exp(load_language().unigram_log[: space.vocab_size].astype(np.float64))
    ranks = 1 / (np.arange(space.vocab_size) + 10.0)
    return text / text.sum() / 2 + ranks / ranks.sum() / 2


def content_shares(digest):
    space = mg.load_space()
    group = load_tree(space, digest).nodes[1, :-1]
    often = often_in_public_text(space)
    found = often / np.bincount(group, often)[group]
    words = np.array(space.words)
    content = [CLOSED_CLASSES.get(w) not in FUNCTION_CLASSES for w in space.words]
    return dict(zip(words[content].tolist(), found[content].tolist(), strict=True))


def test_no_word_of_content_owns_its_group():
    assert max(content_shares(NEW).values()) <= CAP


def test_words_of_content_owned_groups_of_the_first_tree():
    found = content_shares(OLD)
    assert max(found.values()) > CAP


@pytest.mark.parametrize("digest", [OLD, NEW])
def test_a_tree_of_the_package_is_chosen_by_its_digest(digest):
    state = mg.mechanism("tree", epsilon=10.0, tree=digest).prepare(mg.load_space())
    assert state.tree.digest.startswith(digest)
    assert digest in state.guarantee.metric


def test_a_release_repeats_where_its_tree_is_named_and_where_it_is_the_default():
    default = load_tree(mg.load_space()).digest
    other = next(each for each in (OLD, NEW) if not default.startswith(each))
    noise = mg.KeyedNoise(bytes(range(32)))
    text = "it was a cold and dark night, and nobody was on the road to the old house"

    def release(**given):
        mechanism = mg.mechanism("tree", epsilon=10.0, **given)
        return mg.Privatizer(mechanism, noise=noise)(text, id="7").text

    assert release() == release(tree=default) == release(tree=default[:12])
    assert release() != release(tree=other)


def test_a_tree_is_named_on_the_command_line():
    for digest in (OLD, NEW):
        assert collect_parameters((f"tree={digest}",)) == {"tree": digest}


def test_a_tree_that_the_package_lacks_is_refused():
    with pytest.raises(mg.errors.UnknownNameError, match=OLD):
        mg.mechanism("tree", epsilon=1.0, tree="abcdef12").prepare(mg.load_space())
    for wrong in ("", "xyz", "D6538CB1373F"):
        with pytest.raises(mg.errors.InvalidParameterError, match="hexadecimal"):
            mg.mechanism("tree", epsilon=1.0, tree=wrong)
