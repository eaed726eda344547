"""Build word trees: balanced groups, families, branches, classes, a root."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from mondegreen.arrays import Floats, Vectors
from mondegreen.errors import InvalidParameterError, SpaceError
from mondegreen.space.geometry import canonical_ids
from mondegreen.space.groups import (
    Labels,
    Points,
    Worth,
    build_balanced_groups,
    centroids,
    share_groups,
)
from mondegreen.space.space import Space
from mondegreen.space.tree import WordTree

# Of words, groups, joined classes, branches, classes and the root; the second of
# trees whose groups form families, which the same level holds.
_JOINED_HEIGHTS: Final = (0.0, 0.03, 0.5, 0.6, 0.9, 1.0)
_FAMILY_HEIGHTS: Final = (0.0, 0.03, 0.28, 0.6, 0.9, 1.0)

Pair = tuple[int, int]

_RIDGE: Final = 1e-4
_FIRST_RANK: Final = 10.0
_FEWEST_PAIRS: Final = 20
_DIRECTIONS: Final = 8


def build_tree(
    space: Space,
    *,
    leaf: int = 22,
    branch: int = 16,
    classes: Sequence[str] | None = None,
    joined: Collection[str] = (),
    opposites: Sequence[Pair] = (),
    frequency: float = 0.0,
    contrast: float = 0.7,
    worth: Worth | None = None,
    family: int = 1,
    about: dict[str, str] | None = None,
    progress: Callable[[str], object] = lambda stage: None,
) -> WordTree:
    r"""Partition the words of a space: groups, branches, classes, everything.

    Words become points: the centred unit vector; ``frequency`` times the standardised
    logarithm of the rank, so that words of a group are about as frequent as each other
    (above 0 only where the words are in falling order of a *public* frequency);
    ``contrast`` times :func:`opposites_directions` of ``opposites``, pairs of ids that
    should not share a group. Within each class, groups of ``leaf`` words to twice as
    many, and branches of at least ``branch`` groups, are
    :func:`~mondegreen.space.groups.build_balanced_groups`.

    ``classes`` gives each word a public class (:mod:`mondegreen.space.word_classes`);
    one of fewer words than a group (a family, if there are any) joins the class whose
    centroid is nearest: its words would ask for more of the root than all others. Those
    named in ``joined`` are one node from the level above the groups on, where all other
    groups stay as they are: function words are few and frequent, so a guess that knows
    the class of one is often right. This level is the chance to hide which class it
    was, and costs the words that carry meaning nothing.

    With ``worth``, for the words of the space and of *public* frequencies, groups then
    swap words until none owns its group
    (:func:`~mondegreen.space.groups.share_groups`);
    this takes the place of ``frequency``. With ``family`` above 1 as many groups of one
    class are a node of the level above the groups, and so are the words of the joined
    classes: a draw from there is as near in meaning as can be, and takes from the
    commonest word of a group the certainty to be guessed. Families share frequent
    words out among them as groups do.

    The tree must be fixed before the private text is seen. There are no random numbers,
    but machines and libraries may round products apart and break ties elsewhere; so a
    tree is stored, named by its digest, and never made again where it is used.

    >>> points = [[1.0, 0.0], [0.9, 0.1], [-1.0, 0.0], [-0.9, 0.2]]
    >>> space = Space.from_arrays("s", ["cat", "dog", "red", "blue"], points)
    >>> tree = build_tree(space, leaf=2)
    >>> [[space.words[i] for i in tree.members(1, node)] for node in range(2)]
    [['cat', 'dog'], ['red', 'blue']]
    """
    for what, count in (("leaf", leaf), ("branch", branch), ("family", family)):
        if not 1 <= count <= 10_000:
            raise InvalidParameterError(what, count, "in 1..10000")
    for what, weight in (("frequency", frequency), ("contrast", contrast)):
        if not 0 <= weight <= 100:
            raise InvalidParameterError(what, weight, "in [0, 100]")
    _check(space, classes)
    points = _features(space, opposites, frequency, contrast)
    # Words at one point must have one law: they are placed as one.
    point = canonical_ids(space.vectors)
    kept = np.unique(point)
    apart = joined if family > 1 else ()
    names = _merge(classes, points, kept, leaf * family, apart)
    groups, families, branches, by_class = np.zeros(
        (4, space.vocab_size), dtype=np.int64
    )
    is_joined = np.isin(names, list(joined))
    made = np.zeros(3, dtype=np.int64)
    for number, name in enumerate(sorted(set(names[kept]))):
        progress(str(name))
        mine = kept[names[kept] == name]
        group, near, over = _levels(
            points[mine], _find_worth(worth, mine), leaf, family, branch
        )
        groups[mine] = made[0] + group
        families[mine] = made[1] + near[group]
        branches[mine] = made[2] + over[near[group]]
        by_class[mine] = number
        made += (len(near), len(over), int(over.max()) + 1)
    mixed = np.where(is_joined, made[1], families)
    branches = np.where(is_joined, made[2], branches)
    by_class = np.where(is_joined, len(names), by_class)
    rows = [row[point] for row in (groups, mixed, branches, by_class)]
    root = np.zeros(space.vocab_size, dtype=np.int64)
    tree = WordTree.from_labels([point, *rows, root], about=about)
    heights = _JOINED_HEIGHTS if family == 1 else _FAMILY_HEIGHTS
    has_all = tree.levels == len(heights) - 1
    return replace(tree, heights=heights) if has_all else tree


def opposites_directions(vectors: Vectors, pairs: Sequence[Pair]) -> Floats:
    r"""Where each word lies along the directions that oppose antonyms most.

    .. math:: \mu = \max_u \; \frac{\mathrm{mean}_{(a, b)} (u \cdot (x_a - x_b))^2}
                                  {\mathrm{mean}_w (u \cdot x_w)^2}

    and the 8 largest stationary values, for centred unit vectors. Antonyms have nearly
    the same neighbours in a space of words; in these directions they are apart. For
    English, the first direction is that of good and bad. Columns, strongest first, have
    mean 0 and variance proportional to their :math:`\mu`, 1 in sum; all are 0 for fewer
    than 20 pairs.
    """
    count = min(_DIRECTIONS, vectors.shape[1])
    if len(pairs) < _FEWEST_PAIRS:
        return np.zeros((len(vectors), count))
    points = vectors.astype(np.float64)
    first, second = np.array(pairs, dtype=np.int64).T
    gaps = points[first] - points[second]
    spread = points.T @ points / len(points) + _RIDGE * np.eye(points.shape[1])
    values, directions = eigh(gaps.T @ gaps / len(gaps), spread)
    strongest = np.maximum(values[::-1][:count], 0.0)
    along: Floats = points @ directions[:, ::-1][:, :count]
    weights: Floats = np.sqrt(strongest / (strongest.sum() or 1.0))
    return _standard(along) * weights


def _levels(
    points: Points, worth: Worth | None, leaf: int, family: int, branch: int
) -> tuple[Labels, Labels, Labels]:
    """The group of every word of a class, the family of these, and their branch."""
    group = build_balanced_groups(points, max(1, len(points) // leaf))
    if worth is not None:
        group = share_groups(points, group, worth)
    middles = centroids(points, group)
    near = np.arange(len(middles))
    if family > 1:
        near = build_balanced_groups(middles, max(1, len(middles) // family))
    if family > 1 and worth is not None:
        often = np.zeros(len(middles))
        np.maximum.at(often, group, worth.frequencies)
        weights = np.bincount(group, worth.weights).astype(np.float64)
        whole = replace(worth, weights=weights, frequencies=often)
        near = share_groups(middles, near, whole)
    upper = centroids(middles, near)
    return group, near, build_balanced_groups(upper, max(1, len(middles) // branch))


def _find_worth(worth: Worth | None, mine: NDArray[np.integer]) -> Worth | None:
    """What some of the words are worth."""
    if worth is None:
        return None
    weights, frequencies = worth.weights[mine], worth.frequencies[mine]
    return replace(worth, weights=weights, frequencies=frequencies)


def _features(
    space: Space, opposites: Sequence[Pair], frequency: float, contrast: float
) -> Points:
    """The points that groups are formed of."""
    vectors = space.vectors.astype(np.float32)
    vectors -= vectors.mean(axis=0)
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit = vectors / np.where(norms > 0, norms, 1)
    columns: list[Vectors] = [unit]
    if frequency:
        ranks = np.log(np.arange(len(unit)) + _FIRST_RANK)
        columns.append(frequency * _standard(ranks)[:, None])
    if contrast and opposites:
        columns.append(contrast * opposites_directions(unit, opposites))
    return np.hstack(columns).astype(np.float32)


def _merge(
    classes: Sequence[str] | None,
    points: Points,
    kept: NDArray[np.integer],
    least: int,
    apart: Collection[str],
) -> NDArray[np.str_]:
    """The class of every word, classes that are too small joined to others.

    Those that stand apart join none, and none joins them.
    """
    names = np.array(["all"] * len(points) if classes is None else list(classes))
    while True:
        counts = Counter(names[kept].tolist())
        free = sorted(set(counts) - set(apart))
        few = min(free, key=lambda name: counts[name], default="")
        if len(free) < 2 or counts[few] >= least:
            return names
        middles = {name: points[names == name].mean(axis=0) for name in free}
        middle = middles.pop(few)
        gaps = {name: np.linalg.norm(each - middle) for name, each in middles.items()}
        names = np.where(names == few, min(gaps, key=gaps.__getitem__), names)


def _standard(values: Floats) -> Floats:
    """Columns with mean 0 and variance 1; constants become 0."""
    deviation = values.std(axis=0)
    found: Floats = values - values.mean(axis=0)
    return found / np.where(deviation > 0, deviation, 1.0)


def _check(space: Space, classes: Sequence[str] | None) -> None:
    if not space.has_vectors or space.metric != "euclidean":
        raise SpaceError(
            f"space {space.name!r}: trees are built from Euclidean vectors"
        )
    if classes is not None and len(classes) != space.vocab_size:
        raise SpaceError(f"{len(classes)} classes for {space.vocab_size} words")
