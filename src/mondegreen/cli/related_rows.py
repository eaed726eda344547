"""What a file shows beside its texts, for an attacker who compares rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from mondegreen.cli.score import read_cells, row_pairs

if TYPE_CHECKING:
    from mondegreen.attacks.related_rows import Beside
    from mondegreen.cli.attack import Files
    from mondegreen.io.base import AbstractSource


def iterate_values(source: AbstractSource) -> Iterator[Mapping[str, int]]:
    """Yield a hash of the value of each other column, row by row; none of empty ones.

    Of a list, its values count together.
    """
    from mondegreen.attacks.related_rows import hash_value

    for batch in source.batches():
        for record in source.iterate_other_records(batch):
            yield {
                path: hash_value(tuple(map(str, values)))
                for path, values in source.group_values(record).items()
                if any(value not in (None, "", b"") for value in values)
            }


def iterate_beside_texts(files: Files, path: str) -> Iterator[Beside]:
    """Yield what is beside each text of a file, in the order of its texts."""
    from mondegreen.attacks.related_rows import Beside

    with files.open(path) as source, files.open(path) as again:
        rows = zip(iterate_texts(source), iterate_values(again), strict=False)
        for number, (texts, values) in enumerate(rows, start=1):
            for _ in texts:
                yield Beside(number, values)


def iterate_beside_corpus(files: Files, corpus: Sequence[str]) -> Iterator[Beside]:
    """Yield what is beside each text that is known: rows that are near no other."""
    last = 0
    for path in corpus:
        first = last
        for each in iterate_beside_texts(files, path):
            last = first - each.row
            yield each._replace(row=last)


def iterate_beside_pairs(files: Files) -> Iterator[Beside]:
    """Yield what is beside each release in its file, for texts that have one."""
    from mondegreen.attacks.related_rows import Beside

    release = str(files.release)
    with (
        files.open(files.sample) as mine,
        files.open(release) as theirs,
        files.open(release) as again,
    ):
        rows = zip(row_pairs(mine, theirs), iterate_values(again), strict=False)
        for (number, *texts), values in rows:
            for pair in zip(*texts, strict=True):
                if None not in pair:
                    yield Beside(number, values)


def iterate_texts(source: AbstractSource) -> Iterator[list[str]]:
    """Yield the texts of each row that are there."""
    for row in read_cells(source):
        cells: Iterator[Any] = (
            each
            for cell in row
            for each in (cell if isinstance(cell, list) else [cell])
        )
        yield [each for each in cells if isinstance(each, str)]
