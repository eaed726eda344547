"""Names of array shapes, and work on large arrays in blocks and threads.

Lengths are V words, n dimensions, T tokens.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

Ids: TypeAlias = NDArray[np.int32]
"""``(T,)`` word ids: ``0..V-1`` are words, ``V`` is the unknown word."""

Vectors: TypeAlias = NDArray[np.floating[Any]]
"""``(rows, n)`` coordinates in a space, in its unit of length."""

Floats: TypeAlias = NDArray[np.float64]
"""Numbers in double precision, of any shape."""

LogProbs: TypeAlias = NDArray[np.float64]
"""``(T, V)`` natural logarithms of probabilities."""

Weights: TypeAlias = NDArray[np.int64]
"""Integer weights; a probability is a weight over the sum of its row."""

Codes: TypeAlias = NDArray[np.int32] | NDArray[np.int64]
"""``(T,)`` numbers of what is printed; 64 bits where numbers with many digits are."""

Result = TypeVar("Result")


def rows_within(nbytes: int, width: int) -> int:
    """Return how many float64 rows of a width to compute together: a power of two.

    Products of such shapes are the quickest, and rows that are asked for by powers of
    two then come in whole blocks.

    >>> rows_within(1 << 20, 1000), rows_within(1, 1000)
    (128, 1)
    """
    return 1 << ((nbytes // (8 * width)) or 1).bit_length() - 1


def slices(count: int, size: int) -> Iterator[slice]:
    """Cut ``count`` rows into slices of at most ``size``, so that memory is bounded.

    >>> list(slices(5, 2))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    return (slice(i, min(i + size, count)) for i in range(0, count, size))


def within(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Number the items of runs of some lengths, each from 0.

    >>> within(np.array([2, 0, 3])).tolist()
    [0, 1, 0, 1, 2]
    """
    before = np.cumsum(lengths) - lengths
    return np.arange(int(lengths.sum())) - np.repeat(before, lengths)


def in_blocks(
    work: Callable[[Any], Result],
    items: Any,
    size: int,
    progress: Callable[[float], object] = lambda share: None,
) -> Iterator[Result]:
    """Yield the results of blocks of items, in order, from one thread per core.

    ``items`` is an array or a sequence; ``progress`` is told the share that is done.

    >>> list(in_blocks(sum, [1, 2, 3], 2))
    [3, 3]
    """
    from concurrent.futures import ThreadPoolExecutor  # not where nothing is computed

    blocks = [items[part] for part in slices(len(items), size)]
    pool = ThreadPoolExecutor(os.cpu_count())
    try:
        for done, result in enumerate(pool.map(work, blocks), start=1):
            yield result
            progress(done / len(blocks))
    finally:  # an interrupt must not wait for blocks that have not begun
        pool.shutdown(cancel_futures=True)
