"""Two files as pairs of texts: the originals and their release, row by row."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice, zip_longest
from typing import Any, Final

from mondegreen.errors import SourceError
from mondegreen.io.base import AbstractSource
from mondegreen.wording import amount

_ROWS: Final = 1024

Pairs = tuple[list[str | None], list[str | None]]


def text_pairs(
    original: AbstractSource,
    release: AbstractSource,
    advance: Callable[[], object] = lambda: None,
) -> Iterator[Pairs]:
    """Yield chunks of texts and their releases, in constant memory.

    Every text column of a row gives one pair, and a list of texts one for each item.
    A list of another length than that of its original counts as withheld.

    Parameters
    ----------
    original, release : AbstractSource
        Opened with the same columns; read once, to their ends.
    advance : callable
        Called after each chunk.

    Raises
    ------
    SourceError
        If one file has more rows than the other, or a text stands where the original
        has none. No text is quoted.
    """
    rows = zip_longest(_rows(original), _rows(release))
    number = 0
    while chunk := list(islice(rows, _ROWS)):
        texts: list[str | None] = []
        released: list[str | None] = []
        for mine, theirs in chunk:
            number += 1
            if mine is None or theirs is None:
                _refuse_counts(original, release)
            for cell, other in zip(mine, theirs, strict=True):
                left, right = _aligned(cell, other)
                if any(
                    text is None and found is not None
                    for text, found in zip(left, right, strict=True)
                ):
                    problem = "a text where the original has none"
                    hint = "are the two files in one order?"
                    raise SourceError(release.name, problem, row=number, hint=hint)
                texts += left
                released += right
        advance()
        yield texts, released


def _rows(source: AbstractSource) -> Iterator[list[Any]]:
    """Yield the values of the text columns of each row."""
    for batch in source.batches():
        columns = [batch.column(name).to_pylist() for name in source.text_columns]
        yield from map(list, zip(*columns, strict=True))


def _aligned(cell: Any, other: Any) -> Pairs:
    """Return the texts of one cell and their releases."""
    if not isinstance(cell, list):
        if isinstance(other, list):
            return [cell], [None]
        return [cell], [other]
    if not isinstance(other, list) or len(other) != len(cell):
        return cell, [None] * len(cell)
    return cell, other


def _refuse_counts(original: AbstractSource, release: AbstractSource) -> None:
    """Say which file ends first; the other is not read to its end."""
    shorter, longer = sorted((original, release), key=lambda source: source.rows_read)
    raise SourceError(
        shorter.name,
        f"it ends after {amount(shorter.rows_read, 'row')}; {longer.name} has more",
        hint="a release has the rows of its original, in their order",
    )
