"""What a file shows beside its texts, for an attacker who compares rows."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mondegreen.cli.score import read_cells, row_pairs

if TYPE_CHECKING:
    from mondegreen.attacks.related_rows import Beside
    from mondegreen.cli.attack import Files
    from mondegreen.io.base import AbstractSource

_find_words = re.compile(r"\w+").findall


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


def read_beside_corpus(
    files: Files, corpus: Sequence[str], known: Sequence[str], *, with_words: bool
) -> list[Beside]:
    """Read what is beside each known text; nothing of a stream, which is read once."""
    from mondegreen.attacks.related_rows import Beside

    if not all(map(can_read_again, corpus)):
        return [Beside(-i, {}) for i, _ in enumerate(known, start=1)]
    return [*iterate_beside_corpus(files, corpus, with_words=with_words)]


def read_beside_sample(files: Files, texts: Sequence[str]) -> list[Beside]:
    """Read what is beside the first texts of SAMPLE; of a stream, their order."""
    from mondegreen.attacks.related_rows import Beside

    if not can_read_again(files.sample):
        return [Beside(i, {}) for i, _ in enumerate(texts, start=1)]
    return [*islice(iterate_beside_texts(files, files.sample), len(texts))]


def can_read_again(path: str) -> bool:
    """Whether a path is a file, and no stream."""
    return path != "-" and Path(path).is_file()


def iterate_beside_texts(
    files: Files, path: str, *, with_words: bool = False
) -> Iterator[Beside]:
    """Yield what is beside each text of a file, in the order of its texts.

    ``with_words`` adds the words of the other texts of each row.
    """
    from mondegreen.attacks.related_rows import Beside

    with files.open(path) as source, files.open(path) as again:
        rows = zip(iterate_texts(source), iterate_values(again), strict=False)
        for number, (texts, values) in enumerate(rows, start=1):
            for signs in iterate_signs(texts if with_words else [""] * len(texts)):
                yield Beside(number, values, signs)


def iterate_beside_corpus(
    files: Files, corpus: Sequence[str], *, with_words: bool = False
) -> Iterator[Beside]:
    """Yield what is beside each text that is known: rows that are near no other."""
    last = 0
    for path in corpus:
        first = last
        for each in iterate_beside_texts(files, path, with_words=with_words):
            last = first - each.row
            yield each._replace(row=last)


def iterate_signs(texts: Sequence[str | None]) -> Iterator[frozenset[int]]:
    """Yield, for each text of a row, hashes of the words of the others."""
    if len(texts) < 2:
        yield from (frozenset() for _ in texts)
        return
    words = [frozenset(map(_hash_word, _words(each or ""))) for each in texts]
    for i in range(len(texts)):
        others = (each for j, each in enumerate(words) if j != i)
        yield frozenset().union(*others)


def _words(text: str) -> list[str]:
    return _find_words(text.lower())


@functools.lru_cache(1 << 14)
def _hash_word(word: str) -> int:
    from mondegreen.attacks.related_rows import hash_value

    return hash_value(word)


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
