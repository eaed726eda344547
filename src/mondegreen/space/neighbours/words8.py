r"""Public vectors as 8-bit integers, with what rounding may have cost."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from mondegreen.arrays import Ids, Vectors

__all__ = ["GROUP", "Words8", "product_rounding", "rotation_rounding"]

GROUP: Final = 16
"""Words of about one length that share a scale and a bound."""

_ALIGN: Final = 16
_CELLS: Final = 32
_SEED: Final = 300


@final
@dataclass(frozen=True, slots=True)
class Words8:
    r"""Words in groups, farthest last, each group rounded on one scale.

    Words are taken from their centre c, which makes them shorter and changes no
    distance. Then they are rotated by one public matrix: a few wide coordinates, as
    embeddings have, would else make the steps coarse for all the others.
    Below, y stands for a word after both.

    Parameters
    ----------
    integers : int8 array, shape (G * GROUP, n rounded up)
        :math:`\hat y / s_g`, padded with zeros.
    scale : float32 array, shape (G,)
        :math:`s_g`.
    terms : float32 array, shape (G, 3)
        Largest :math:`\lVert y - \hat y \rVert`, :math:`\lVert y \rVert` and
        :math:`-\lVert y \rVert^2 / 2` of each group, rounded up.
    vectors : float32 array, shape (G, GROUP, n)
        The words as they are.
    shift : float32 array, shape (G, GROUP)
        Minus half of their squared lengths; minus infinity for what only fills a group.
    ids : int32 array, shape (G, GROUP)
        Which words they are.
    centre : float32 array, shape (n,)
        The point c.
    rotation : float32 array, shape (n, n)
        Brings points, less the centre, to the rotated coordinates.
    longest : float
        At least the length of every word as it is.
    """

    integers: NDArray[np.int8]
    scale: NDArray[np.float32]
    terms: NDArray[np.float32]
    vectors: NDArray[np.float32]
    shift: NDArray[np.float32]
    ids: Ids
    centre: NDArray[np.float32]
    rotation: NDArray[np.float32]
    longest: float

    @classmethod
    def of(cls, vectors: Vectors) -> Words8:
        """Round the words of a space."""
        count, dim = vectors.shape
        centre = vectors.mean(axis=0, dtype=np.float64).astype(np.float32)
        squares, apart = np.empty(count), np.empty(count)
        step = 1 << 12
        for start in range(0, count, step):
            span = slice(start, start + step)
            wide = vectors[span].astype(np.float64)
            squares[span] = np.einsum("ij,ij->i", wide, wide)
            wide -= centre
            apart[span] = np.einsum("ij,ij->i", wide, wide)
        # Whole cells, so that bounds are looked through in blocks of one shape.
        groups = -(-count // (GROUP * _CELLS)) * _CELLS
        order = np.argsort(apart, kind="stable")
        order = np.append(order, np.full(groups * GROUP - count, order[-1]))
        normal = np.random.default_rng(_SEED).standard_normal((dim, dim))
        rotation = np.linalg.qr(normal).Q
        made = cls(
            integers=np.zeros((groups * GROUP, -(-dim // _ALIGN) * _ALIGN), np.int8),
            scale=np.empty(groups, np.float32),
            terms=np.empty((groups, 3), np.float32),
            vectors=np.empty((groups, GROUP, dim), np.float32),
            shift=(-squares[order] / 2).astype(np.float32).reshape(groups, GROUP),
            ids=order.astype(np.int32).reshape(groups, GROUP),
            centre=centre,
            rotation=rotation.astype(np.float32),
            longest=float(np.sqrt(squares.max()) * (1 + 2.0**-20)),
        )
        made.shift.reshape(-1)[count:] = -np.inf
        step = 128  # blocks that stay in the cache
        for start in range(0, groups, step):
            made._fill(slice(start, start + step), vectors, apart, rotation)
        return made

    def _fill(
        self, span: slice, vectors: Vectors, apart: Vectors, rotation: Vectors
    ) -> None:
        """Round a few groups."""
        ids = self.ids[span]
        wide = vectors[ids].astype(np.float64)
        self.vectors[span] = wide
        rotated = (wide - self.centre) @ rotation
        scale = np.abs(rotated).max(axis=(1, 2)) / 127
        scale[scale == 0] = 1.0
        # The scale that is used is the one in single precision.
        scale = scale.astype(np.float32).astype(np.float64)
        steps = np.clip(np.rint(rotated / scale[:, None, None]), -127, 127)
        error = rotated - steps * scale[:, None, None]
        rows = slice(span.start * GROUP, (span.start + len(ids)) * GROUP)
        self.integers[rows, : wide.shape[2]] = steps.reshape(-1, wide.shape[2])
        self.scale[span] = scale
        lengths = apart[ids]
        terms = np.stack(
            [
                np.sqrt(np.einsum("gwi,gwi->gw", error, error).max(axis=1)),
                np.sqrt(lengths.max(axis=1)),
                -lengths.min(axis=1) / 2,
            ],
            axis=1,
        )
        self.terms[span] = terms + np.abs(terms) * 2.0**-20


def product_rounding(dim: int) -> float:
    r"""Return what float32 may add to a product, relative to the product of lengths.

    A sum of n products is off by at most :math:`\gamma_n = n u / (1 - n u)` times the
    product of the lengths, :math:`u = 2^{-24}`. Twice that, and some more for the few
    other operations on the way.
    """
    return 2 * (dim + 8) * 2.0**-24


def rotation_rounding(dim: int) -> float:
    r"""Return what float32 may move a rotated point, relative to its length.

    Each coordinate is a product with a vector of length 1, and there are n:
    :math:`\sqrt n\, \gamma_{n+1}`. The norms and sums of a bound add a few
    :math:`\gamma_n` more.
    """
    return (math.sqrt(dim) + 8) * product_rounding(dim)
