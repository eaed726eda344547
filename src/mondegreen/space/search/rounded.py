"""The words of exhaustive search, through 8-bit products and a bound."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from mondegreen.arrays import Ids, Vectors, slices
from mondegreen.errors import MondegreenError
from mondegreen.space.search.torch import check_points, import_torch, single_threads

Floats32 = NDArray[np.float32]
Tensor: TypeAlias = Any  # a torch.Tensor; torch is optional
_Found: TypeAlias = tuple[Any, Any]  # scores and ids

GROUP: Final = 16
"""Words of about one length that share a scale and a bound."""

_ALIGN: Final = 16
_SEED: Final = 300
_CELL: Final = 32  # groups fill whole cells, and bounds are looked through by cell
_ROWS: Final = 512  # points searched together
# Words multiplied, and groups compared, at once: what fits into the cache.
_SLAB: Final = 2048
_PAIRS: Final = 64
_FAR: Final = 1e18
_SCORES: Final = 1 << 23  # held at once where every word is compared
_MAX_K: Final = 8  # for more, the threshold is so low that nothing is gained
_MAX_GROUPS: Final = 64  # that a point has to be compared with; for more, search all


@final
@dataclass(frozen=True, slots=True)
class Words8:
    r"""Words in groups, farthest last, each group rounded on one scale.

    Words are taken from their centre c, which makes them shorter and changes no
    distance. Then they are rotated by one public matrix: a few wide coordinates, as
    embeddings have, would else make the steps coarse for all the others.
    Below, y stands for a word after both.
    """

    integers: NDArray[np.int8]  # (G * GROUP, n rounded up): y / s, padded with zeros
    scale: Floats32  # (G,): s, the scale of each group
    # (G, 3): the largest |y - rounded y|, |y| and -|y|^2 / 2 of each group, rounded up
    terms: Floats32
    vectors: Floats32  # (G, GROUP, n): the words as they are
    shift: Floats32  # (G, GROUP): minus half their squares; -inf only fills a group
    ids: Ids  # (G, GROUP)
    centre: Floats32
    rotation: Floats32  # brings points, less the centre, to the rotated coordinates
    longest: float  # at least the length of every word as it is

    @classmethod
    def of(cls, vectors: Vectors) -> Words8:
        """Round the words of a space."""
        count, dim = vectors.shape
        centre = vectors.mean(axis=0, dtype=np.float64).astype(np.float32)
        squares, apart = np.empty(count), np.empty(count)
        step = 1 << 12
        for span in slices(count, step):
            wide = vectors[span].astype(np.float64)
            squares[span] = np.einsum("ij,ij->i", wide, wide)
            wide -= centre
            apart[span] = np.einsum("ij,ij->i", wide, wide)
        # Whole cells, so that bounds are looked through in blocks of one shape.
        groups = -(-count // (GROUP * _CELL)) * _CELL
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
        for span in slices(groups, step):
            ids = made.ids[span]
            wide = vectors[ids].astype(np.float64)
            made.vectors[span] = wide
            rotated = (wide - centre) @ rotation
            scale = np.abs(rotated).max(axis=(1, 2)) / 127
            scale[scale == 0] = 1.0
            # The scale that is used is the one in single precision.
            scale = scale.astype(np.float32).astype(np.float64)
            steps = np.clip(np.rint(rotated / scale[:, None, None]), -127, 127)
            error = rotated - steps * scale[:, None, None]
            rows = slice(span.start * GROUP, span.stop * GROUP)
            made.integers[rows, :dim] = steps.reshape(-1, dim)
            made.scale[span] = scale
            lengths = apart[ids]
            errors = np.sqrt(np.einsum("gwi,gwi->gw", error, error).max(axis=1))
            longest = np.sqrt(lengths.max(axis=1))
            terms = np.stack([errors, longest, -lengths.min(axis=1) / 2], axis=1)
            made.terms[span] = terms + np.abs(terms) * 2.0**-20
        return made


def product_rounding(dim: int) -> float:
    r"""What float32 may add to a product, relative to the product of lengths.

    A sum of n products is off by at most :math:`\gamma_n = n u / (1 - n u)` times the
    product of the lengths, :math:`u = 2^{-24}`. Twice that, and some more for the few
    other operations on the way.
    """
    return 2 * (dim + 8) * 2.0**-24


def rotation_rounding(dim: int) -> float:
    r"""What float32 may move a rotated point, relative to its length.

    Each coordinate is a product with a vector of length 1, and there are n:
    :math:`\sqrt n\, \gamma_{n+1}`. The norms and sums of a bound add a few
    :math:`\gamma_n` more.
    """
    return (math.sqrt(dim) + 8) * product_rounding(dim)


@final
class CertifiedSearch:
    r"""Search with 8-bit products, made exact by a bound on their rounding.

    The score of a word is :math:`x \cdot y - \lVert y \rVert^2 / 2`, for a point and a
    word taken from the centre of the words. With both rounded to 8 bits,
    :math:`\hat x` and :math:`\hat y`, by Cauchy-Schwarz

    .. math::

        x \cdot y \le \hat x \cdot \hat y
            + \lVert \hat x \rVert \lVert y - \hat y \rVert
            + \lVert x - \hat x \rVert \lVert y \rVert.

    Words lie in groups of about equal length; a group has one scale, and one upper
    bound of its scores. Groups with the highest bounds are compared in float32; then
    every group whose bound reaches the k-th best score found. The error of that
    comparison and of the bound itself is bounded by the worst case and added, so what
    is left out cannot be among the k nearest words: this is exhaustive search, to
    within the rounding of float32 in the last comparison.

    For the errors of inner products see Higham: "Accuracy and Stability of Numerical
    Algorithms", SIAM 2002, section 3.1.
    """

    def __init__(self, vectors: Vectors) -> None:
        self._torch = import_torch("the fast decoder")
        words = Words8.of(vectors)
        tensor = self._torch.from_numpy
        self._count, self._dim = vectors.shape
        self._integers = tensor(words.integers)
        self._scale = tensor(words.scale)[:, None]
        self._terms = tensor(words.terms)
        self._words = tensor(words.vectors)
        self._shift = tensor(words.shift)
        self._ids = tensor(words.ids)
        self._centre = tensor(words.centre)
        self._rotation = tensor(words.rotation)
        self._longest = words.longest
        self._check_products()

    def nearest(self, points: Vectors, k: int) -> Ids:
        narrow = check_points(self._torch, points)
        k = min(k, self._count)
        out = np.empty((len(points), k), dtype=np.int32)

        def search(start: int) -> None:
            block = self._torch.from_numpy(narrow[start : start + _ROWS])
            out[start : start + _ROWS] = self._block(block, k).numpy()

        starts = range(0, len(points), _ROWS)
        threads = min(self._torch.get_num_threads(), len(starts))
        if threads > 1:
            with single_threads(self._torch, threads) as pool:
                list(pool.map(search, starts))
        else:
            list(map(search, starts))
        return out

    def describe(self) -> str:
        return (
            "int8 products (torch) with a proved bound on their rounding, and float32 "
            "comparison of every word that the bound admits: the words of exhaustive "
            "search; sees the noisy point only"
        )

    def _block(self, x: Tensor, k: int) -> Tensor:
        """The ids for a few points."""
        torch = self._torch
        length = torch.linalg.vector_norm(x, dim=1)
        few = len(self._scale) <= _MAX_GROUPS
        # Squares of points beyond 1e19 overflow; their scores do not.
        if few or k > _MAX_K or not bool((length < _FAR).all()):
            return self._all(x, k)
        bounds, unit = self._bounds(x - self._centre)
        cells, rows = len(bounds), len(x)
        peaks = bounds.amax(dim=1)
        columns = torch.arange(rows)
        # The best groups of the best cells: k distinct groups for every point.
        cell = peaks.topk(min(k, cells), dim=0).indices
        member = bounds[cell, :, columns].argmax(dim=2)
        bounds[cell, member, columns] = -torch.inf
        leaders = (cell * _CELL + member).t()
        own = columns.repeat_interleave(leaders.shape[1])
        scores, ids = self._compare(leaders.reshape(-1), own, x, k)
        scores, ids = scores.view(rows, -1), ids.view(rows, -1)
        # The k-th best score of some words is at most the k-th best of all, so a word
        # that scores less is not among the k nearest.
        kth = scores.topk(k, dim=1).values[:, -1]
        # The score from the centre, less what float32 may have added to it: no word is
        # longer than the longest one, and the centre is not either.
        # With x' = x - c and y' = y - c, x' . y' - |y'|^2 / 2 is x . y - |y|^2 / 2 - x
        # . c + |c|^2 / 2.
        kth += (self._centre @ self._centre) / 2 - x @ self._centre
        slack = 2 * product_rounding(self._dim) * self._longest
        kth -= slack * (length + self._longest)
        floor = kth / unit
        h, column = (peaks >= floor).nonzero(as_tuple=True)
        reached = bounds[h, :, column] >= floor[column, None]
        where, member = reached.nonzero(as_tuple=True)
        if len(where) > _MAX_GROUPS * rows:
            return self._all(x, k)
        column = column[where]
        more = self._compare(h[where] * _CELL + member, column, x, k)
        return self._merge((scores, ids), more, column, k)

    def _bounds(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Bounds of all groups for points less the centre, and their units.

        The unit of a point is the step to which it is rounded; bounds are counted in
        it, (cells, _CELL, rows).
        """
        torch = self._torch
        rows = len(x)
        rotated = x @ self._rotation
        # x^ = unit * steps, shape (rows, n); `error` bounds |x - x^|, rotation
        # included.
        unit = rotated.abs().amax(dim=1) / 127
        unit[unit == 0] = 1.0
        steps = (rotated / unit[:, None]).round_()
        error = torch.linalg.vector_norm(rotated - steps * unit[:, None], dim=1)
        error += rotation_rounding(self._dim) * torch.linalg.vector_norm(x, dim=1)
        integers = torch.zeros(rows, self._integers.shape[1], dtype=torch.int8)
        integers[:, : self._dim] = steps
        norms = torch.linalg.vector_norm(steps, dim=1)
        known = torch.stack([norms, error / unit, 1 / unit])
        peaks = torch.empty(len(self._scale), rows, dtype=torch.int32)
        products = torch.empty(_SLAB, rows, dtype=torch.int32)
        for start in range(0, len(self._integers), _SLAB):
            slab = self._integers[start : start + _SLAB]
            product = products[: len(slab)]
            # (words of the slab, rows), exact: |sum| <= 127^2 n < 2^31 for n < 133,000.
            torch._int_mm(slab, integers.t(), out=product)
            first = start // GROUP
            best = peaks[first : first + len(slab) // GROUP]
            torch.amax(product.view(-1, GROUP, rows), dim=1, out=best)
        # Of a group, in units of the point: max (steps_y . steps_x) scale + |steps_x|
        # max |y - y^| + (error / unit) max |y| + max (-|y|^2 / 2) / unit. Each maximum
        # alone, so the sum is an upper bound of every score.
        bounds = torch.addmm(peaks.float().mul_(self._scale), self._terms, known)
        return bounds.view(-1, _CELL, rows), unit

    def _compare(self, groups: Tensor, rows: Tensor, x: Tensor, k: int) -> _Found:
        """The best scores of each group with the point of its row, and their ids."""
        torch = self._torch
        width = min(k, GROUP)
        scores = torch.empty(len(groups), width)
        ids = torch.empty(len(groups), width, dtype=torch.int32)
        room = torch.empty(min(_PAIRS, len(groups)), *self._words.shape[1:])
        for span in slices(len(groups), _PAIRS):
            group = groups[span]
            words = torch.index_select(self._words, 0, group, out=room[: len(group)])
            point = x.index_select(0, rows[span])
            score = torch.bmm(point[:, None, :], words.transpose(1, 2))[:, 0]
            score += self._shift.index_select(0, group)
            scores[span], place = _top(score, width)
            ids[span] = self._ids.index_select(0, group).gather(1, place)
        return scores, ids

    def _merge(self, first: _Found, more: _Found, rows: Tensor, k: int) -> Tensor:
        """The ids of the k best of what two comparisons found."""
        torch, (scores, ids) = self._torch, first
        if len(rows):
            order = torch.argsort(rows, stable=True)
            rows = rows[order]
            counts = torch.bincount(rows, minlength=len(scores))
            place = torch.arange(len(rows)) - (counts.cumsum(0) - counts)[rows]
            shape = (len(counts), int(counts.max()), more[0].shape[1])
            others = torch.full(shape, -torch.inf)
            other_ids = torch.zeros(shape, dtype=torch.int32)
            others[rows, place], other_ids[rows, place] = more[0][order], more[1][order]
            scores = torch.cat([scores, others.flatten(1)], dim=1)
            ids = torch.cat([ids, other_ids.flatten(1)], dim=1)
        return ids.gather(1, _top(scores, k)[1])

    def _all(self, x: Tensor, k: int) -> Tensor:
        """The ids after comparing every word."""
        columns = self._words.view(-1, self._dim).t()
        ids, shift = self._ids.view(-1), self._shift.view(-1)
        step = max(1, _SCORES // len(ids))
        scores = (self._torch.addmm(shift, rows, columns) for rows in x.split(step))
        return self._torch.cat([ids[s.topk(k, dim=1).indices] for s in scores])

    def _check_products(self) -> None:
        """Refuse arithmetic that saturates, as some processors do in 16 bits."""
        torch = self._torch
        largest = torch.full((GROUP, self._integers.shape[1]), 127, dtype=torch.int8)
        for other in (largest, -largest):
            expected = 127 * int(other[0, 0]) * largest.shape[1]
            if not bool((torch._int_mm(largest, other.t()) == expected).all()):
                raise MondegreenError(
                    "8-bit products overflow on this machine; use decoder exact"
                )


def _top(scores: Tensor, k: int) -> _Found:
    """The k largest of each row and their places."""
    found = scores.max(dim=1, keepdim=True) if k == 1 else scores.topk(k, dim=1)
    return found.values, found.indices
