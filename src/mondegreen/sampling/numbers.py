"""Numbers of batches: each once, in the one process that counts them."""

from __future__ import annotations

import itertools
import os
from typing import Any, final

from mondegreen.errors import InvalidParameterError

__all__ = ["BatchNumbers"]


@final
class BatchNumbers:
    """Counts batches, from 0, in the process that made it.

    A fork has the count of its parent, and a pickle would start again: both would give
    numbers that are taken, so that nobody counts there.

    Parameters
    ----------
    is_counting : bool
        False for a copy.

    Examples
    --------
    >>> import copy
    >>> numbers = BatchNumbers()
    >>> numbers.next(), numbers.next(), numbers.next(7), copy.copy(numbers).next()
    (0, 1, 7, None)
    """

    def __init__(self, *, is_counting: bool = True) -> None:
        self._process = os.getpid() if is_counting else None
        self._count = itertools.count()

    def next(self, given: int | None = None) -> int | None:
        """Return the number that was given, or the next one; None where nobody counts.

        Raises
        ------
        InvalidParameterError
            If what was given is no number of a batch.
        """
        if given is None:
            return next(self._count) if self._process == os.getpid() else None
        if isinstance(given, bool) or not isinstance(given, int) or given < 0:
            raise InvalidParameterError("number", given, "an integer, at least 0")
        return given

    def fresh(self) -> BatchNumbers:
        """Return another count from 0, where this one counts."""
        return BatchNumbers(is_counting=self._process == os.getpid())

    def __reduce__(self) -> tuple[Any, ...]:
        return _uncounted, ()


def _uncounted() -> BatchNumbers:
    return BatchNumbers(is_counting=False)
