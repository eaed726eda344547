"""What the code of the comparative benchmark ran where it is not what it printed."""

from __future__ import annotations

import functools
import math
from dataclasses import replace
from typing import Final, final

import numpy as np
from scipy.special import lambertw

from mondegreen.arrays import Ids, Vectors
from mondegreen.mechanisms.base import State
from mondegreen.mechanisms.baselines.truncated_gumbel import TruncatedGumbel
from mondegreen.mechanisms.noise.base import NoiseState
from mondegreen.space.space import Space
from mondegreen_experiments.releases import prepared

GUMBEL: Final = "Gumbel as run"
ONE_CELL: Final = "CMP, 1 of 100 cells"
_CELLS: Final = 100


@functools.lru_cache(maxsize=1)  # with laws it has computed, for the seeds of a point
def state_of(law: str, epsilon: float, space: Space) -> State:
    """A mechanism by its name in the papers, or one of the two that were run."""
    if law == GUMBEL:
        return _gumbel(epsilon, space)
    if law == ONE_CELL:
        exact = prepared("CMP", epsilon, space)
        assert isinstance(exact, NoiseState)  # noqa: S101 - for the type
        return replace(exact, search=_one_cell(space))
    return prepared(law, epsilon, space)


def _gumbel(epsilon: float, space: Space) -> State:
    r"""Truncated Gumbel noise of the scale that the code finds at any epsilon.

    Below :math:`(5 + 2 \ln m) / \Delta_0` the logarithm of the formula does not exist,
    and Lambert's function has complex values. The code goes on with the real part of
    the latter, :math:`b = 2 \Delta / \Re W_0(2 \alpha \Delta)`, which hardly depends on
    epsilon: :math:`\alpha` is :math:`(\epsilon - 2 (1 + \ln m) / \Delta_0) / 3`.
    """
    closest, diameter = space.geometry.closest, space.geometry.diameter
    alpha = (epsilon - 2 * (1 + math.log(space.vocab_size)) / closest) / 3
    scale = 2 * diameter / float(lambertw(2 * alpha * diameter).real)
    allowed = TruncatedGumbel(epsilon=1.0).smallest_epsilon(space) * 1.01
    return replace(TruncatedGumbel(epsilon=allowed).prepare(space), scale=scale)


@functools.lru_cache(maxsize=2)
def _one_cell(space: Space) -> _OneCell:
    return _OneCell(space.vectors, _CELLS)


@final
class _OneCell:
    """A search among the words of the nearest of some cells of the vectors alone.

    The code asks its index for more (``probe``), but not by the name of that setting
    (``nprobe``), so that one cell is what it visits. It sees noisy points only: privacy
    is not touched.
    """

    def __init__(self, vectors: Vectors, cells: int) -> None:
        import faiss

        count, dim = vectors.shape
        cells = min(cells, count)
        table = np.ascontiguousarray(vectors, dtype=np.float32)
        self._cells = faiss.IndexFlatL2(dim)
        self._index = faiss.IndexIVFFlat(self._cells, dim, cells)
        self._index.train(table)
        self._index.add(table)

    def nearest(self, points: Vectors, k: int) -> Ids:
        _, ids = self._index.search(np.asarray(points, dtype=np.float32), k)
        found: Ids = ids.astype(np.int32)
        return found

    def describe(self) -> str:
        return "1 of 100 cells of an index (faiss)"
