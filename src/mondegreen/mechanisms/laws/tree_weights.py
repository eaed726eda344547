"""Weights of the levels of a tree: those that keep most, and those that ship."""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mondegreen.errors import SpaceIntegrityError
from mondegreen.mechanisms.laws.tree import TreeLaw, children_of
from mondegreen.sampling.integers import TOTAL
from mondegreen.space.tree import WordTree

_FOLDER: Final = Path(__file__).parents[2] / "space" / "data" / "trees"

_MARGIN: Final = 1e-12
"""Taken off limits, so that a certificate that is rounded up stays within them."""

_LEAST_MIX: Final = 2.0**-54
_STEP: Final = 32
_BISECTIONS: Final = 200

Floats = NDArray[np.float64]


def weights_of(probabilities: Sequence[float]) -> tuple[int, ...]:
    """Integers for probabilities of levels; what rounding leaves goes up.

    More weight on the root makes any two laws more alike.
    """
    lower = [int(share * TOTAL) for share in probabilities[:-1]]
    while sum(lower) >= TOTAL:  # shares that sum to 1, but for rounding
        lower[lower.index(max(lower))] -= sum(lower) - TOTAL + 1
    return (*lower, TOTAL - sum(lower))


def weights_within(tree: WordTree, limits: Sequence[float]) -> tuple[int, ...]:
    r"""The weights that keep most of a word within limits of its loss.

    .. math:: \max_p \; -\sum_l p_l\, \overline{\ln n_l} \quad \text{such that} \quad
              F_0(w) \le e^{c_m} F_m(w) \text{ for all } w, m,
              \qquad \sum_l p_l = 1, \; p \ge 0

    a linear program in one variable per level. Its solution is made safe for the
    integers: as much is moved to the root as their exact certificate asks for.

    ``limits`` are :math:`c_1` to :math:`c_D`, in nats, not decreasing: no loss of
    ``TreeLaw(tree, weights)`` is above them.
    """
    limits = [limit * (1 - _MARGIN) for limit in limits]
    sizes, meets = _profiles(tree)
    shares = _solved(tree, sizes, meets, limits)

    def within(mix: float) -> bool:
        p = shares * (1 - mix)
        p[-1] += mix
        return _excess(p, sizes, meets, limits) <= 0

    mix = 0.0
    if not within(0.0):
        low, high = -64.0 * math.log(2), 0.0  # logarithms: it may be tiny
        for _ in range(_BISECTIONS):
            middle = (low + high) / 2
            low, high = (low, middle) if within(math.exp(middle)) else (middle, high)
        mix = min(1.0, math.exp(high))
    while True:
        mixed = shares * (1 - mix)
        weights = weights_of([*mixed[:-1].tolist(), 0.0])
        losses = TreeLaw(tree, weights).losses()
        if mix == 1 or all(x <= c for x, c in zip(losses, limits, strict=True)):
            return weights
        mix = min(1.0, max(mix, _LEAST_MIX) * _STEP)  # a round takes 25 ms


def scale_of(tree: WordTree, heights: tuple[float, ...]) -> dict[str, float]:
    """The distances that give epsilon its meaning."""
    sizes, count = tree.sizes_by_word(), tree.vocab_size
    met = np.array(heights)[(sizes > 1).argmax(axis=0)]
    new = np.diff(sizes, axis=0)  # words met first at each level
    total = float((np.array(heights[1:])[:, None] * new).sum())
    occurring = [h for h, row in zip(heights[1:], new, strict=True) if h and row.any()]
    return {
        "closest": min([*occurring, 1.0]),  # the unknown word is 1 away
        "nearest": float(np.median(met)) if count > 1 else 0.0,
        "mean": total / (count * (count - 1)) if count > 1 else 0.0,
        "diameter": 1.0,
    }


def _solved(
    tree: WordTree, sizes: Floats, meets: NDArray[np.bool_], limits: Sequence[float]
) -> Floats:
    """Solve the linear program in floating point."""
    from scipy.optimize import linprog

    levels, count = tree.levels, tree.vocab_size
    per_word = count / sizes  # (profiles, levels + 1), scaled to be near 1
    rows = []
    for level, limit in enumerate(limits, start=1):
        row = per_word * math.exp(-limit)
        row[:, level:] -= per_word[:, level:]
        rows.append(row[meets[:, level - 1]])
    table = np.unique(np.vstack(rows), axis=0)
    logs = np.array(
        [
            float((size * np.log(size)).sum()) / count
            for size in map(tree.sizes, range(levels + 1))
        ]
    )
    # No word may have a part of its own below a level that allows no loss.
    frozen = max([m for m, c in enumerate(limits, start=1) if c == 0], default=0)
    bounds = [(0, 0) if level < frozen else (0, 1) for level in range(levels + 1)]
    solved = linprog(
        logs,
        A_ub=table if len(table) else None,
        b_ub=np.zeros(len(table)) if len(table) else None,
        A_eq=np.ones((1, levels + 1)),
        b_eq=[1.0],
        bounds=bounds,
        method="highs",
    )
    found = np.eye(levels + 1)[-1]
    if solved.status == 0:  # else only the root: safe, and of no use
        found = np.clip(solved.x, 0.0, None)
    total: Floats = found / found.sum()
    return total


def _excess(
    p: Floats, sizes: Floats, meets: NDArray[np.bool_], limits: Sequence[float]
) -> float:
    """By how much the losses exceed the limits, in floating point."""
    parts = p / sizes
    worst = -math.inf
    for level, limit in enumerate(limits, start=1):
        rows = parts[meets[:, level - 1]]
        if not len(rows):
            continue
        above = rows[:, level:].sum(axis=1)
        below = rows[:, :level].sum(axis=1)
        with np.errstate(divide="ignore"):
            losses = np.log1p(np.where(below > 0, below / above, 0.0))
        worst = max(worst, float(losses.max()) - limit)
    return worst


def _profiles(tree: WordTree) -> tuple[Floats, NDArray[np.bool_]]:
    """The distinct sizes of the nodes of a word, and where it meets others."""
    nodes, rows = tree.nodes[:, :-1], tree.sizes_by_word()
    meets = [
        children_of(tree, level)[nodes[level]] > 1
        for level in range(1, tree.levels + 1)
    ]
    table = np.unique(np.stack([*rows, *meets], axis=1), axis=0)
    split = tree.levels + 1
    return table[:, :split].astype(np.float64), table[:, split:].astype(bool)


def shipped_weights(tree: WordTree, epsilon: float) -> tuple[int, ...] | None:
    """The integers that ship with a tree for one epsilon, if there are any.

    They were found by :func:`weights_within`, once for all machines, and spare the
    import of scipy. They are certified here in rational arithmetic, like any others.
    """
    found = _read(tree.digest).get(float(epsilon))
    if found is None:
        return None
    limits = [epsilon * height for height in tree.heights[1:]]
    if len(found) == tree.levels + 1 and sum(found) == TOTAL and min(found) >= 0:
        losses = TreeLaw(tree, found).losses()
        if all(x <= most for x, most in zip(losses, limits, strict=True)):
            return found
    raise SpaceIntegrityError(
        f"{_path(tree.digest)}: these integers lose more than epsilon {epsilon:g}; "
        "install the package again"
    )


def _path(digest: str) -> Path:
    return _FOLDER / f"{digest[:12]}.weights.json"


@functools.lru_cache(maxsize=4)
def _read(digest: str) -> dict[float, tuple[int, ...]]:
    """The integers by epsilon; none for a tree that does not ship."""
    path = _path(digest)
    if not path.exists():
        return {}
    content = json.loads(path.read_bytes())
    if content["tree"] != digest:
        return {}
    return {float(key): tuple(row) for key, row in content["weights"].items()}
