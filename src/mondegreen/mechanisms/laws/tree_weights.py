"""Integers for the levels of the shipped tree, at common values of epsilon."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Final

from mondegreen.errors import SpaceIntegrityError
from mondegreen.mechanisms.laws.tree import TreeLaw
from mondegreen.sampling.integers import TOTAL
from mondegreen.space.tree import WordTree

_FOLDER: Final = Path(__file__).parents[2] / "space" / "data" / "trees"


def shipped_weights(tree: WordTree, epsilon: float) -> tuple[int, ...] | None:
    """Return the integers that ship with a tree for one epsilon, if there are any.

    They were found by :func:`mondegreen.mechanisms.laws.tree.weights_within`,
    once for all machines, and spare the import of scipy. They are certified here in
    rational arithmetic, like any others.

    Raises
    ------
    SpaceIntegrityError
        If the file of the package was changed: they lose more than they should.
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
    """Return the integers by epsilon; none for a tree that does not ship."""
    path = _path(digest)
    if not path.exists():
        return {}
    content = json.loads(path.read_bytes())
    if content["tree"] != digest:
        return {}
    return {float(key): tuple(row) for key, row in content["weights"].items()}
