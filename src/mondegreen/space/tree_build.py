"""Build word trees: balanced groups, groups of groups, classes, a root."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from mondegreen.errors import InvalidParameterError, SpaceError
from mondegreen.space.geometry import canonical_ids
from mondegreen.space.space import Space
from mondegreen.space.tree import WordTree

_ROUNDS: Final = 5
_SWEEPS: Final = 3
_NEIGHBOURS: Final = 10
_POWER_STEPS: Final = 12
_CANDIDATES: Final = 32
_TILE_BYTES: Final = 64 << 20

Points = NDArray[np.float32]
Labels = NDArray[np.int64]


def balanced_groups(points: Points, count: int) -> Labels:
    r"""Divide points into groups of equal size, but for 1, near each other.

    Minimises :math:`\sum_x \lVert x - c_{g(x)} \rVert^2` locally: halves along
    principal directions; then rounds of centroids and of a stable assignment of points
    to them; then, for every group, the optimal exchange of points with the groups
    around it.

    Parameters
    ----------
    points : float32 array, shape (m, n)
        Distinct or not.
    count : int in 1..m
        Number of groups.

    Returns
    -------
    int64 array, shape (m,), values in ``0..count - 1``

    Notes
    -----
    *Numerics.* No random numbers. Costs are rounded to multiples of :math:`2^{-16}`, so
    that most differences between processors vanish; a tie that they decide may still
    fall otherwise elsewhere.

    References
    ----------
    .. [1] Malinen, Fränti. "Balanced K-Means for Clustering." S+SSPR 2014.
    .. [2] Gale, Shapley. "College Admissions and the Stability of Marriage." American
       Mathematical Monthly, 1962.

    Examples
    --------
    >>> points = np.array([[0], [9], [1], [8]], dtype=np.float32)
    >>> balanced_groups(points, 2).tolist()
    [0, 1, 0, 1]
    """
    if count <= 1:
        return np.zeros(len(points), dtype=np.int64)
    points = np.ascontiguousarray(points, dtype=np.float32)
    labels = _halved(points, count)
    sizes = balanced_sizes(len(points), count)
    for _ in range(_ROUNDS):
        labels = _assigned(points, centroids(points, labels), sizes)
    for _ in range(_SWEEPS):
        if not _exchange(points, labels, count):
            break
    # Named by their first point, so that names do not depend on the way here.
    first = np.full(count, len(points))
    np.minimum.at(first, labels, np.arange(len(points)))
    names: Labels = np.argsort(np.argsort(first, kind="stable"), kind="stable")
    return names[labels]


def balanced_sizes(total: int, count: int) -> Labels:
    """Return ``count`` sizes that sum to ``total`` and differ by at most 1."""
    return total // count + (np.arange(count) < total % count).astype(np.int64)


def centroids(points: Points, labels: Labels) -> Points:
    """Return the mean point of every group, in float32."""
    count = int(labels.max()) + 1
    sums = np.zeros((count, points.shape[1]))
    np.add.at(sums, labels, points)
    means: Points = (sums / np.bincount(labels)[:, None]).astype(np.float32)
    return means


def _halved(points: Points, count: int) -> Labels:
    """Return groups by halving again and again along the first principal direction."""
    labels = np.zeros(len(points), dtype=np.int64)
    pending = [(np.arange(len(points)), count, 0)]
    while pending:
        mine, groups, offset = pending.pop()
        if groups == 1:
            labels[mine] = offset
            continue
        centred = points[mine] - points[mine].mean(axis=0)
        axis = centred[np.argmax((centred**2).sum(axis=1))].astype(np.float64)
        for _ in range(_POWER_STEPS):
            axis = centred.T @ (centred @ axis)
            axis /= np.linalg.norm(axis) or 1.0
        sorted_mine = mine[np.argsort(_rounded(centred @ axis), kind="stable")]
        half = groups // 2
        cut = int(balanced_sizes(len(mine), groups)[:half].sum())
        pending.append((sorted_mine[:cut], half, offset))
        pending.append((sorted_mine[cut:], groups - half, offset + half))
    return labels


def _assigned(points: Points, middles: Points, sizes: Labels) -> Labels:
    """Return a stable assignment: points ask the nearest group that may take them.

    A group keeps the nearest of those that ask, as many as its size; the others ask
    the next. Points that no group among their candidates keeps go where room is left.
    """
    choices, costs = _candidates(points, middles)
    labels = np.full(len(points), -1, dtype=np.int64)
    cost = np.zeros(len(points), dtype=np.int64)
    asked = np.zeros(len(points), dtype=np.int64)
    free = np.arange(len(points))
    while len(free):
        labels[free] = choices[free, asked[free]]
        cost[free] = costs[free, asked[free]]
        asked[free] += 1
        placed = np.flatnonzero(labels >= 0)
        order = placed[np.lexsort((cost[placed], labels[placed]))]
        row = labels[order]
        rank = np.arange(len(row)) - np.searchsorted(row, row)
        refused = order[rank >= sizes[row]]
        labels[refused] = -1
        free = refused[asked[refused] < choices.shape[1]]
    left = np.flatnonzero(labels < 0)
    if len(left):
        room = sizes - np.bincount(labels[labels >= 0], minlength=len(sizes))
        places = np.repeat(np.flatnonzero(room), room[room > 0])
        targets = np.unique(places)
        table = _costs(points[left], middles[targets])[
            :, np.searchsorted(targets, places)
        ]
        rows, columns = linear_sum_assignment(table)
        labels[left[rows]] = places[columns]
    return labels


def _candidates(points: Points, middles: Points) -> tuple[Labels, Labels]:
    """Return the nearest centroids of every point and their costs, nearest first."""
    most = min(_CANDIDATES, len(middles))
    step = max(1, _TILE_BYTES // (8 * len(middles)))
    choices = np.empty((len(points), most), dtype=np.int64)
    costs = np.empty((len(points), most), dtype=np.int64)
    for start in range(0, len(points), step):
        rows = slice(start, start + step)
        table = _costs(points[rows], middles)
        near = np.sort(np.argpartition(table, most - 1, axis=1)[:, :most], axis=1)
        value = np.take_along_axis(table, near, axis=1)
        order = np.argsort(value, axis=1, kind="stable")
        choices[rows] = np.take_along_axis(near, order, axis=1)
        costs[rows] = np.take_along_axis(value, order, axis=1)
    return choices, costs


def _exchange(points: Points, labels: Labels, count: int) -> int:
    """Let every group exchange points with those around it; return how many moved."""
    middles = centroids(points, labels)
    near, _ = _candidates(middles, middles)
    members = [np.flatnonzero(labels == group) for group in range(count)]
    moved = 0
    for group in range(count):
        around = np.union1d([group], near[group, : min(_NEIGHBOURS, count)])
        sizes = [len(members[other]) for other in around]
        mine = np.concatenate([members[other] for other in around])
        table = _costs(points[mine], middles[around])
        _, columns = linear_sum_assignment(np.repeat(table, sizes, axis=1))
        place = np.repeat(around, sizes)[columns]
        moved += int((place != np.repeat(around, sizes)).sum())
        for other in around:
            members[other] = mine[place == other]
            middles[other] = points[members[other]].mean(axis=0)
    for group, mine in enumerate(members):
        labels[mine] = group
    return moved


def _costs(points: Points, middles: Points) -> Labels:
    """Return squared distances less that of the point to 0, in units of 2**-16."""
    return _rounded((middles**2).sum(axis=1) - 2 * (points @ middles.T))


def _rounded(values: NDArray[np.floating]) -> Labels:
    """Return integers, so that what processors round apart is mostly equal."""
    units: Labels = np.rint(values * 65536.0).astype(np.int64)
    return units


LEAF: Final = 22
BRANCH: Final = 16

_JOINED_HEIGHTS: Final = (0.0, 0.03, 0.5, 0.6, 0.9, 1.0)
"""Of words, groups, joined classes, branches, classes and the root."""

_RIDGE: Final = 1e-4
_FIRST_RANK: Final = 10.0
_FEWEST_PAIRS: Final = 20
_DIRECTIONS: Final = 8


def build_tree(
    space: Space,
    *,
    leaf: int = LEAF,
    branch: int = BRANCH,
    classes: Sequence[str] | None = None,
    joined: Collection[str] = (),
    opposites: Sequence[tuple[int, int]] = (),
    frequency: float = 0.0,
    contrast: float = 0.7,
    heights: Sequence[float] | None = None,
    about: dict[str, str] | None = None,
    progress: Callable[[str], object] = lambda stage: None,
) -> WordTree:
    r"""Partition the words of a space: groups, branches, classes, everything.

    Words become points: the centred unit vector; :math:`\lambda` times the
    standardised logarithm of the rank, so that words of a group are about as frequent
    as each other; :math:`\gamma` times the directions in which opposites differ most,
    see :func:`opposites_directions`. Within each class, groups of at least ``leaf``
    words minimise the squared distance to their centroids
    (:func:`mondegreen.space.tree_build.balanced_groups`), and so do branches of groups.

    Parameters
    ----------
    space : Space
        Euclidean, with vectors.
    leaf : int in 1..10000
        Fewest words of a group; none has twice as many or more.
    branch : int in 1..10000
        Fewest groups of a branch, in a class that has so many.
    classes : sequence of str, optional
        A public class per word, such as its part of speech
        (:mod:`mondegreen.space.word_classes`); one of fewer than ``leaf`` words
        joins the
        class whose centroid is nearest.
    joined : collection of str, optional
        Classes that are one node from the level above the groups on, where all other
        groups stay as they are. Function words are few and frequent: a guess that
        knows the class of one is often right. This level is the chance to hide which
        class it was, and costs the words that carry meaning nothing.
    opposites : sequence of (int, int)
        Words that should not share a group, such as antonyms.
    frequency : float in [0, 100]
        :math:`\lambda`. Above 0 only where the words are in falling order of a
        *public* frequency.
    contrast : float in [0, 100]
        :math:`\gamma`.
    heights : sequence of float, optional
        Of the levels; :func:`mondegreen.space.tree.default_heights` if not given.
    about : dict of str to str, optional
        Facts to keep with the tree.
    progress : callable
        Called with the name of each class that is begun.

    Returns
    -------
    WordTree
        Words at one point are one node of level 0, and levels that would repeat the
        one below are left out.

    Raises
    ------
    InvalidParameterError
        If a parameter is out of range.
    SpaceError
        If the space has another metric, or the classes do not fit it.

    Notes
    -----
    *Privacy.* A function of public vectors, public lists and public parameters. The
    tree must be fixed before the private text is seen.

    *Numerics.* No random numbers: the same machine and library versions give the same
    tree. Others may round products apart and break ties elsewhere; so a tree is
    stored, named by its digest, and never made again where it is used.

    References
    ----------
    .. [1] Malinen, Fränti. "Balanced K-Means for Clustering." S+SSPR 2014.

    Examples
    --------
    >>> points = [[1.0, 0.0], [0.9, 0.1], [-1.0, 0.0], [-0.9, 0.2]]
    >>> space = Space.from_arrays("s", ["cat", "dog", "red", "blue"], points)
    >>> tree = build_tree(space, leaf=2)
    >>> [[space.words[i] for i in tree.members(1, node)] for node in range(2)]
    [['cat', 'dog'], ['red', 'blue']]
    """
    _check(space, leaf, branch, classes, frequency, contrast)
    points = _features(space, opposites, frequency, contrast)
    # Words at one point must have one law: they are placed as one.
    point = canonical_ids(space.vectors, np.full(space.dim, np.nan))[:-1]
    kept = np.unique(point)
    names = _merged(classes, points, kept, leaf)
    groups, branches, strata = (np.zeros(space.vocab_size, np.int64) for _ in range(3))
    is_joined = np.isin(names, list(joined))
    made = np.zeros(2, dtype=np.int64)
    for number, name in enumerate(sorted(set(names[kept]))):
        progress(str(name))
        mine = kept[names[kept] == name]
        group = balanced_groups(points[mine], max(1, len(mine) // leaf))
        middles = centroids(points[mine], group)
        over = balanced_groups(middles, max(1, len(middles) // branch))
        groups[mine] = made[0] + group
        branches[mine] = made[1] + over[group]
        strata[mine] = number
        made += (len(middles), int(over.max()) + 1)
    mixed = np.where(is_joined, made[0], groups)
    branches = np.where(is_joined, made[1], branches)
    strata = np.where(is_joined, len(names), strata)
    rows: list[Labels] = [point.astype(np.int64)]
    rows += [row[point] for row in (groups, mixed, branches, strata)]
    rows.append(np.zeros(space.vocab_size, dtype=np.int64))
    tree = WordTree.from_labels(rows, heights, about)
    if heights is None and tree.levels == len(_JOINED_HEIGHTS) - 1:
        return replace(tree, heights=_JOINED_HEIGHTS)
    return tree


def opposites_directions(
    vectors: NDArray[np.floating], pairs: Sequence[tuple[int, int]]
) -> NDArray[np.float64]:
    r"""Return where each word lies along the directions that oppose antonyms most.

    .. math:: \mu = \max_u \; \frac{\mathrm{mean}_{(a, b)} (u \cdot (x_a - x_b))^2}
                                  {\mathrm{mean}_w (u \cdot x_w)^2}

    and the 8 largest stationary values. Antonyms have nearly the same neighbours in a
    space of words. In these directions, the first of which is for English that of good
    and bad, they are apart.

    Parameters
    ----------
    vectors : array, shape (V, n)
        Centred unit vectors.
    pairs : sequence of (int, int)
        Ids of opposites.

    Returns
    -------
    float64 array, shape (V, at most 8), strongest first
        Each of mean 0 and variance proportional to its :math:`\mu`, 1 in sum; all 0
        for fewer than 20 pairs.
    """
    count = min(_DIRECTIONS, vectors.shape[1])
    if len(pairs) < _FEWEST_PAIRS:
        return np.zeros((len(vectors), count))
    from scipy.linalg import eigh

    points = vectors.astype(np.float64)
    index = np.array(pairs, dtype=np.int64)
    gaps = points[index[:, 0]] - points[index[:, 1]]
    spread = points.T @ points / len(points) + _RIDGE * np.eye(points.shape[1])
    values, directions = eigh(gaps.T @ gaps / len(gaps), spread)
    strongest = np.maximum(values[::-1][:count], 0.0)
    along: NDArray[np.float64] = points @ directions[:, ::-1][:, :count]
    weighted: NDArray[np.float64] = _standard(along)
    weighted *= np.sqrt(strongest / (strongest.sum() or 1.0))
    return weighted


def _features(
    space: Space,
    opposites: Sequence[tuple[int, int]],
    frequency: float,
    contrast: float,
) -> Points:
    """Return the points that groups are formed of, float32."""
    vectors = space.vectors.astype(np.float32)
    vectors -= vectors.mean(axis=0)
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit = vectors / np.where(norms > 0, norms, 1)
    columns = [unit]
    if frequency:
        ranks = np.log(np.arange(len(unit)) + _FIRST_RANK)
        columns.append(frequency * _standard(ranks)[:, None])
    if contrast and opposites:
        columns.append(contrast * opposites_directions(unit, opposites))
    return np.hstack(columns).astype(np.float32)


def _merged(
    classes: Sequence[str] | None, points: Points, kept: NDArray[np.integer], leaf: int
) -> NDArray[np.str_]:
    """Return the class of every word, classes that are too small joined to others."""
    names = np.array(["all"] * len(points) if classes is None else list(classes))
    while True:
        counts = Counter(names[kept].tolist())
        few = min(sorted(counts), key=lambda name: counts[name])
        if counts[few] >= leaf or len(counts) == 1:
            return names
        middles = {name: points[names == name].mean(axis=0) for name in sorted(counts)}
        gaps = {
            name: float(np.linalg.norm(middle - middles[few]))
            for name, middle in middles.items()
            if name != few
        }
        nearest = min(gaps, key=lambda name: gaps[name])
        names = np.where(names == few, nearest, names)


def _standard(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return columns with mean 0 and variance 1; constants become 0."""
    centred: NDArray[np.float64] = values - values.mean(axis=0)
    deviation = values.std(axis=0)
    return centred / np.where(deviation > 0, deviation, 1.0)


def _check(
    space: Space,
    leaf: int,
    branch: int,
    classes: Sequence[str] | None,
    frequency: float,
    contrast: float,
) -> None:
    """Refuse parameters out of range."""
    for name, count in (("leaf", leaf), ("branch", branch)):
        if not 1 <= count <= 10_000:
            raise InvalidParameterError(name, count, "in 1..10000")
    for name, weight in (("frequency", frequency), ("contrast", contrast)):
        if not 0 <= weight <= 100:
            raise InvalidParameterError(name, weight, "in [0, 100]")
    if not space.has_vectors or space.metric != "euclidean":
        raise SpaceError(
            f"space {space.name!r}: trees are built from Euclidean vectors"
        )
    if classes is not None and len(classes) != space.vocab_size:
        raise SpaceError(f"{len(classes)} classes for {space.vocab_size} words")
