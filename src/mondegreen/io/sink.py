"""Where releases go: the format of the source, whole or not at all."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import final

import pyarrow as pa

from mondegreen.errors import DataError, InvalidParameterError
from mondegreen.io.source import AbstractByteSource, AbstractSource, format_of
from mondegreen.io.target import Target, is_same_file


class AbstractSink(ABC):
    """Takes the batches of a source, privatized; a context manager.

    Leaving the ``with`` block without ``commit``, by whatever exception, removes what
    was written and leaves an old file untouched.
    """

    def __init__(self, target: Target, source: AbstractSource) -> None:
        self.target, self.source = target, source
        self.rows_written = 0

    @abstractmethod
    def start(self) -> None:
        """Prepare for writing, once the target is open."""

    @abstractmethod
    def put(self, batch: pa.RecordBatch) -> None:
        """Write one batch."""

    @abstractmethod
    def finish(self, metadata: Mapping[str, str]) -> None:
        """Write what follows the last batch."""

    @abstractmethod
    def abandon(self) -> None:
        """Let go of a file that will not be committed; raises nothing."""

    def write(self, batch: pa.RecordBatch) -> None:
        """Write a batch of the source whose text columns have been replaced.

        Raises
        ------
        DataError
            If it cannot be written, or is not made like a batch of the source.
        BrokenPipeError
            If standard output is closed.
        """
        self.put(batch)
        self.rows_written += batch.num_rows

    def commit(self, metadata: Mapping[str, str] | None = None) -> None:
        """Finish the file and give it its name.

        Parameters
        ----------
        metadata : mapping of str to str, optional
            Goes into the metadata of a Parquet file; other formats have no place.

        Raises
        ------
        DataError
            If it cannot be written, or has not as many rows as the source gave.
        """
        if self.rows_written != self.source.rows_read:
            raise DataError(
                f"{self.target.name}: {self.rows_written} rows were released of "
                f"{self.source.rows_read} read; nothing is kept"
            )
        self.finish(metadata or {})
        self.target.commit()

    def __enter__(self) -> AbstractSink:
        try:
            self.target.open()
            self.start()
        except BaseException:
            self.target.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self.abandon()
        finally:
            self.target.close()


@final
class ByteSink(AbstractSink):
    """Writes bytes that the source makes of batches."""

    def __init__(self, target: Target, source: AbstractByteSource) -> None:
        super().__init__(target, source)
        self._bytes = source
        self._has_begun = False

    def start(self) -> None:
        """Do nothing: what precedes the first record is not read yet."""

    def _begin(self) -> None:
        if not self._has_begun:
            self._has_begun = True
            if prologue := self._bytes.prologue:
                self.target.write(prologue)

    def put(self, batch: pa.RecordBatch) -> None:
        """Write the bytes of one batch."""
        self._begin()
        self.target.write(self._bytes.encode(batch))

    def finish(self, metadata: Mapping[str, str]) -> None:
        """Write the epilogue; these formats have no place for metadata."""
        self._begin()
        if epilogue := self._bytes.epilogue:
            self.target.write(epilogue)

    def abandon(self) -> None:
        """Do nothing: bytes are held by the target only."""


def open_sink(
    path: str | Path,
    source: AbstractSource,
    *,
    force: bool = False,
    in_place: bool = False,
) -> AbstractSink:
    """Return a sink of the format of the source; nothing is created before ``with``.

    Parameters
    ----------
    path : str or Path
        A file, or ``-`` for standard output.
    source : AbstractSource
        Where the batches come from.
    force : bool
        Whether a file that exists may be replaced.
    in_place : bool
        Whether it is the file of the source, which is then replaced when all of it
        has been read: the original is gone, which ``force`` alone does not allow.

    Raises
    ------
    InvalidParameterError
        If the name promises another format than that of the source, or the output is
        the input, by whatever name, and ``in_place`` does not say so.
    DataError
        If the file exists and ``force`` is false, or its folder does not exist.

    Examples
    --------
    >>> with open_source("in.csv") as source:  # doctest: +SKIP
    ...     with open_sink("out.csv", source) as sink:
    ...         for batch in source.batches():
    ...             sink.write(privatizer.arrow(batch, source.text_columns))
    ...         sink.commit({"mondegreen": privatizer.guarantee.to_json()})
    """
    path = str(path)
    promised = None if path == "-" else format_of(path)
    if promised not in (None, source.format, format_of(source.path)):
        raise InvalidParameterError(
            "output", path, f"a name that fits its format, {source.format}"
        )
    if is_same_file(source.path, path) != in_place:
        wanted = "the input itself" if in_place else "another file than the input"
        hint = "" if in_place else " (--in-place replaces the original by its release)"
        raise InvalidParameterError("output", path, wanted + hint)
    if in_place and Path(path).stat().st_nlink > 1:
        wanted = "a file with one name: the original would stay under its other links"
        raise InvalidParameterError("output", path, wanted)
    target = Target(path, force=force or in_place)
    if isinstance(source, AbstractByteSource):
        return ByteSink(target, source)
    from mondegreen.io.table_sink import ParquetSink
    from mondegreen.io.tables import ParquetSource

    if isinstance(source, ParquetSource):
        return ParquetSink(target, source)
    raise InvalidParameterError("source", type(source).__name__, "from open_source")
