"""Balanced groups of points: equal in size, but for 1, and near each other.

And the exchange between groups after which no frequent point owns the one it is in.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, final

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from mondegreen.arrays import Floats, Vectors, slices

_ROUNDS: Final = 5
_SWEEPS: Final = 3
_NEIGHBOURS: Final = 10
_POWER_STEPS: Final = 12
_CANDIDATES: Final = 32
_TILE_BYTES: Final = 64 << 20
_AROUND: Final = 16
_PASSES: Final = 12
_SETTLED: Final = 0.01
_MOST_SWAPS: Final = 64
_WALL: Final = 100.0
_UNITS: Final = 2.0**40

Points = NDArray[np.float32]
Labels = NDArray[np.int64]


def build_balanced_groups(points: Points, count: int) -> Labels:
    r"""Divide points into groups of equal size, but for 1; their numbers, shape (m,).

    Minimises :math:`\sum_x \lVert x - c_{g(x)} \rVert^2` locally: halves along
    principal directions; then rounds of centroids and of a stable assignment of points
    to them (Gale, Shapley 1962); then, for every group, the optimal exchange of points
    with the groups around it (after Malinen, Fränti: "Balanced K-Means for
    Clustering", S+SSPR 2014).

    No random numbers. Costs are rounded to multiples of :math:`2^{-16}`, so that most
    differences between processors vanish.

    >>> points = np.array([[0], [9], [1], [8]], dtype=np.float32)
    >>> build_balanced_groups(points, 2).tolist()
    [0, 1, 0, 1]
    """
    if count <= 1:
        return np.zeros(len(points), dtype=np.int64)
    points = np.ascontiguousarray(points, dtype=np.float32)
    labels = _halve(points, count)
    sizes = balance_sizes(len(points), count)
    for _ in range(_ROUNDS):
        labels = _assign(points, centroids(points, labels), sizes)
    for _ in range(_SWEEPS):
        if not _exchange(points, labels, count):
            break
    # Named by their first point, so that names do not depend on the way here.
    first = np.full(count, len(points))
    np.minimum.at(first, labels, np.arange(len(points)))
    names: Labels = np.argsort(np.argsort(first, kind="stable"), kind="stable")
    return names[labels]


@final
@dataclass(frozen=True, slots=True)
class Worth:
    r"""What points are worth beside each other, and what a frequent one costs.

    A group :math:`G` of :math:`n` points is worth

    .. math::

        \frac{1}{n} \sum_{x \in G} w_x\, x \cdot \sum_{x \in G} x
        \;-\; \lambda \max_{x \in G} f_x
        \;-\; 100 \max\Big(0, \max_{x \in G} f_x - \kappa \sum_{x \in G} f_x\Big).

    The first term is what a uniform draw from the group keeps of the meaning of its
    words; the second how often the best guess of one is right; the third, the wall,
    is 0 where no point has more than the share ``cap`` of the frequency of its group.

    Attributes
    ----------
    weights, frequencies : float64 array, shape (m,)
        How much every point counts in what is kept; how frequent it is. Of like scale:
        both sum to about 1 over all points of all classes.
    price, cap : float
        :math:`\lambda \ge 0` and :math:`\kappa` in (0, 1].
    """

    weights: Floats
    frequencies: Floats
    price: float = 1.0
    cap: float = 1.0


def share_groups(points: Points, labels: Labels, worth: Worth) -> Labels:
    """Swap points between near groups while that makes the groups worth more.

    Each group meets the 16 around it, in order; two groups swap the two points that
    gain most, again and again. Sizes stay. Local search, without random numbers; gains
    are rounded, so that most differences between processors vanish.

    >>> points = np.array([[0], [1], [2], [9], [10], [11]], dtype=np.float32)
    >>> often = np.array([0.4, 0.4, 0.05, 0.05, 0.05, 0.05])
    >>> worth = Worth(np.zeros(6), often)
    >>> share_groups(points, np.array([0, 1, 0, 1, 1, 0]), worth).tolist()
    [1, 1, 0, 0, 1, 0]
    """
    groups = _Groups(points.astype(np.float64), labels, worth)
    near, _ = _candidates(groups.middles(), groups.middles(), _AROUND + 1)
    changed = np.ones(len(groups.members), dtype=bool)
    for _ in range(_PASSES):
        before, changed = changed, np.zeros(len(changed), dtype=bool)
        moved = 0
        for first, row in enumerate(near.tolist()):
            for second in row:
                if second != first and (before[[first, second]].any()):
                    swaps = groups.swap(first, second)
                    moved += swaps
                    changed[[first, second]] |= swaps > 0
        if moved <= _SETTLED * len(changed):
            break
        near, _ = _candidates(groups.middles(), groups.middles(), _AROUND + 1)
    found = np.empty(len(points), dtype=np.int64)
    for number, mine in enumerate(groups.members):
        found[mine] = number
    return found


@final
class _Groups:
    """Groups that swap points: their members, sums and weighted sums."""

    def __init__(self, points: Floats, labels: Labels, worth: Worth) -> None:
        self.points, self.worth = points, worth
        self.members = [np.flatnonzero(labels == g) for g in range(labels.max() + 1)]
        self.weighted = worth.weights[:, None] * points
        # The plain sum and the weighted sum of each group.
        self.sums = np.array(
            [
                (points[mine].sum(axis=0), self.weighted[mine].sum(axis=0))
                for mine in self.members
            ]
        )
        self.squares = (points**2).sum(axis=1) * worth.weights

    def middles(self) -> Points:
        sizes = np.array([len(mine) for mine in self.members])
        found: Points = (self.sums[:, 0] / sizes[:, None]).astype(np.float32)
        return found

    def swap(self, first: int, second: int) -> int:
        """Swap points of two groups, best first, while it pays; how many."""
        mine, theirs = self.members[first], self.members[second]
        for moved in range(_MOST_SWAPS):
            gains = np.rint(self._gains(first, second) * _UNITS)
            i, j = divmod(int(gains.argmax()), len(theirs))
            if gains[i, j] <= 0:
                return moved
            x, y = mine[i], theirs[j]
            mine[i], theirs[j] = y, x
            change = np.array(
                [self.points[y] - self.points[x], self.weighted[y] - self.weighted[x]]
            )
            self.sums[first] += change
            self.sums[second] -= change
        return _MOST_SWAPS

    def _gains(self, first: int, second: int) -> Floats:
        """What swapping each pair gains, shape (points of first, of second)."""
        mine, theirs = self.members[first], self.members[second]
        # A group with the plain sum A and the weighted sum B keeps B . A / n. If y
        # takes the place of x, with f = w_y y - w_x x, that grows by [B . (y - x) + A .
        # f + f . (y - x)] / n. The last product is w_x |x|^2 + w_y |y|^2 - (w_x + w_y)
        # x . y: `alone`, the same for both groups. `there - here` is the rest, of y
        # less of x, and the other way round in the second group. All have the shape
        # (mine, theirs).
        both = self.worth.weights[mine][:, None] + self.worth.weights[theirs]
        cross = both * (self.points[mine] @ self.points[theirs].T)
        alone = self.squares[mine][:, None] + self.squares[theirs] - cross
        gain = self._costs(mine, theirs) + self._costs(theirs, mine).T
        for group, sign in ((first, 1.0), (second, -1.0)):
            plain, weighted = self.sums[group]
            here, there = (
                self.weighted[some] @ plain + self.points[some] @ weighted
                for some in (mine, theirs)
            )
            size = len(self.members[group])
            gain += (sign * (there - here[:, None]) + alone) / size
        return gain

    def _costs(self, mine: Labels, theirs: Labels) -> Floats:
        """What a group saves where each of its points makes way for each of others."""
        worth = self.worth
        inside, coming = worth.frequencies[mine], worth.frequencies[theirs]
        order = np.argsort(-inside, kind="stable")
        # The largest frequency of the group without each of its points, (mine,).
        most = np.full(len(inside), inside[order[0]])
        most[order[0]] = inside[order[1]] if len(inside) > 1 else 0.0
        largest = np.maximum(most[:, None], coming)
        total = inside.sum() - inside[:, None] + coming
        # The wall, 0 where no point has more than the share `cap`: now, and after.
        before = max(0.0, inside[order[0]] - worth.cap * inside.sum())
        after = np.maximum(0.0, largest - worth.cap * total)
        saved: Floats = worth.price * (inside[order[0]] - largest)
        saved += _WALL * (before - after)
        return saved


def balance_sizes(total: int, count: int) -> Labels:
    """Sizes that sum to ``total`` and differ by at most 1."""
    return total // count + (np.arange(count) < total % count).astype(np.int64)


def centroids(points: Points, labels: Labels) -> Points:
    """The mean point of every group, in float32."""
    count = int(labels.max()) + 1
    sums = np.zeros((count, points.shape[1]))
    np.add.at(sums, labels, points)
    means: Points = (sums / np.bincount(labels)[:, None]).astype(np.float32)
    return means


def _halve(points: Points, count: int) -> Labels:
    """Groups by halving again and again along the first principal direction."""
    labels = np.zeros(len(points), dtype=np.int64)
    pending = [(np.arange(len(points)), count, 0)]
    while pending:
        mine, groups, offset = pending.pop()
        if groups == 1:
            labels[mine] = offset
            continue
        centred = points[mine] - points[mine].mean(axis=0)
        # Power iteration on the covariance, from the farthest point: no random start.
        axis = centred[np.argmax((centred**2).sum(axis=1))].astype(np.float64)
        for _ in range(_POWER_STEPS):
            axis = centred.T @ (centred @ axis)
            axis /= np.linalg.norm(axis) or 1.0
        sorted_mine = mine[np.argsort(_round(centred @ axis), kind="stable")]
        half = groups // 2
        cut = int(balance_sizes(len(mine), groups)[:half].sum())
        pending.append((sorted_mine[:cut], half, offset))
        pending.append((sorted_mine[cut:], groups - half, offset + half))
    return labels


def _assign(points: Points, middles: Points, sizes: Labels) -> Labels:
    """A stable assignment: points ask the nearest group that may take them.

    A group keeps the nearest of those that ask, as many as its size; the others ask
    the next. Points that no group among their candidates keeps go where room is left.
    """
    choices, costs = _candidates(points, middles)
    labels = np.full(len(points), -1, dtype=np.int64)
    cost, asked = np.zeros((2, len(points)), dtype=np.int64)
    free = np.arange(len(points))
    while len(free):
        labels[free] = choices[free, asked[free]]
        cost[free] = costs[free, asked[free]]
        asked[free] += 1
        placed = np.flatnonzero(labels >= 0)
        order = placed[np.lexsort((cost[placed], labels[placed]))]
        row = labels[order]
        rank = np.arange(len(row)) - np.searchsorted(row, row)
        # Each round a point asks the next group of its list, and never one again, so
        # this ends. Where lists suffice no point and group prefer each other to what
        # they have: the assignment is stable.
        refused = order[rank >= sizes[row]]
        labels[refused] = -1
        free = refused[asked[refused] < choices.shape[1]]
    left = np.flatnonzero(labels < 0)
    if len(left):
        room = sizes - np.bincount(labels[labels >= 0], minlength=len(sizes))
        places = np.repeat(np.flatnonzero(room), room[room > 0])
        targets = np.unique(places)
        table = _costs(points[left], middles[targets])
        table = table[:, np.searchsorted(targets, places)]
        rows, columns = linear_sum_assignment(table)
        labels[left[rows]] = places[columns]
    return labels


def _candidates(
    points: Points, middles: Points, most: int = _CANDIDATES
) -> tuple[Labels, Labels]:
    """The nearest centroids of every point and their costs, nearest first."""
    most = min(most, len(middles))
    step = max(1, _TILE_BYTES // (8 * len(middles)))
    choices, costs = np.empty((2, len(points), most), dtype=np.int64)
    for rows in slices(len(points), step):
        table = _costs(points[rows], middles)
        near = np.sort(np.argpartition(table, most - 1, axis=1)[:, :most], axis=1)
        value = np.take_along_axis(table, near, axis=1)
        order = np.argsort(value, axis=1, kind="stable")
        choices[rows] = np.take_along_axis(near, order, axis=1)
        costs[rows] = np.take_along_axis(value, order, axis=1)
    return choices, costs


def _exchange(points: Points, labels: Labels, count: int) -> int:
    """Let every group exchange points with those around it; how many moved."""
    middles = centroids(points, labels)
    near, _ = _candidates(middles, middles)
    members = [np.flatnonzero(labels == group) for group in range(count)]
    moved = 0
    for group in range(count):
        around = np.union1d([group], near[group, : min(_NEIGHBOURS, count)])
        sizes = [len(members[other]) for other in around]
        mine = np.concatenate([members[other] for other in around])
        table = _costs(points[mine], middles[around])
        # A column for each place in a group: sizes stay, and as all points may stay
        # too, the optimum costs no more than now.
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
    """Squared distances less that of the point to 0, in units of 2**-16."""
    return _round((middles**2).sum(axis=1) - 2 * (points @ middles.T))


def _round(values: Vectors) -> Labels:
    """Integers, so that what processors round apart is mostly equal."""
    units: Labels = np.rint(values * 65536.0).astype(np.int64)
    return units
