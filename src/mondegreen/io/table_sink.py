"""Parquet releases: text columns are replaced, the rest stays what it is."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import IO, final

import pyarrow as pa
import pyarrow.parquet as pq

from mondegreen.errors import DataError
from mondegreen.io.sink import AbstractSink
from mondegreen.io.tables import ParquetSource
from mondegreen.io.target import Target
from mondegreen.text import columns as nested

ROW_GROUP_BYTES = 16 << 20
"""About the data in one row group of the output; it is held in memory."""

# What a file says of its codec, and what the writer calls it.
_WRITTEN = {name: name for name in ("GZIP", "BROTLI", "ZSTD", "LZ4")}
_WRITTEN["UNCOMPRESSED"] = "NONE"


@final
class ParquetSink(AbstractSink):
    """Writes a Parquet file with the schema, metadata and codecs of its source.

    Bytes of Parquet would be lost on a terminal, and may steer it: none gets any.
    """

    def __init__(self, target: Target, source: ParquetSource) -> None:
        super().__init__(target, source)
        self._parquet = source
        self._held: list[pa.RecordBatch] = []
        self._held_bytes = 0
        self._writer: pq.ParquetWriter | None = None

    def start(self) -> None:
        """Begin the file; the writer waits for the first rows, see ``_codecs``."""
        if self.target.file.isatty():
            raise DataError(
                f"{self.target.name}: is a terminal, and Parquet is binary; name a "
                "file with --output, or send it through a pipe"
            )
        self._gate = _Gate(self.target.file)

    def _begin(self) -> pq.ParquetWriter:
        """Return the writer."""
        if self._writer is None:
            self._writer = pq.ParquetWriter(
                self._gate,
                self._parquet.schema,
                compression=_codecs(self._parquet.file.metadata),
                store_schema=False,  # `finish` stores it, when the metadata is known
            )
        return self._writer

    def put(self, batch: pa.RecordBatch) -> None:
        """Hold a batch until there is enough for a row group."""
        restored = self._restored(batch)
        self._held.append(restored)
        self._held_bytes += restored.nbytes
        if self._held_bytes >= ROW_GROUP_BYTES:
            self._flush()

    def _restored(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return the batch with the types of the file, text back in its structs."""
        source, schema = self._parquet, self._parquet.schema
        arrays = list(batch.columns[: len(schema)])
        for column, steps in zip(source.text_columns, source.paths, strict=True):
            text = batch.column(batch.schema.get_field_index(column))
            array = arrays[steps[0]]
            if len(steps) == 1:
                arrays[steps[0]] = nested.restore(text, schema.field(steps[0]).type)
            else:
                array = nested.rebuild(array, steps[1:], text)
                arrays[steps[0]] = array.cast(schema.field(steps[0]).type)
        return pa.RecordBatch.from_arrays(arrays, schema=schema)

    def _flush(self) -> None:
        if not self._held:
            return
        table = pa.Table.from_batches(self._held, self._parquet.schema)
        self._held, self._held_bytes = [], 0
        try:
            writer = self._begin()
            writer.write_table(table, row_group_size=max(table.num_rows, 1))
        except OSError as error:
            raise self.target.failure(error) from None

    def finish(self, metadata: Mapping[str, str]) -> None:
        """Write the last row group, the metadata and the footer."""
        self._flush()
        try:
            writer = self._begin()
            writer.add_key_value_metadata(
                {**metadata, **_stored_schema(self._parquet.schema, metadata)}
            )
            writer.close()
        except OSError as error:
            raise self.target.failure(error) from None

    def abandon(self) -> None:
        """Keep the writer from a footer: what lacks one is not read as a release."""
        if self._writer is not None and self._writer.is_open:
            self._gate.is_open = False
            self._writer.close()


def _stored_schema(schema: pa.Schema, metadata: Mapping[str, str]) -> dict[str, str]:
    """Return the entry from which Arrow reads its own types and metadata back.

    Arrow's reader takes the metadata from here alone, and its writer stores it
    before the first row, when a release does not know all of it.
    """
    merged = {**(schema.metadata or {}), **metadata}
    serialized = schema.with_metadata(merged or None).serialize()
    return {"ARROW:schema": base64.b64encode(serialized).decode()}


class _Gate:
    """A file that lets bytes through until it is shut; pyarrow writes to it."""

    closed = False

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.is_open = True

    def write(self, data: bytes) -> None:
        if self.is_open:
            self._file.write(data)

    def flush(self) -> None:
        if self.is_open:
            self._file.flush()

    def close(self) -> None:
        """Do nothing: the target closes its file."""


def _codecs(metadata: pq.FileMetaData) -> str | dict[str, str]:
    """Return the compression of each column, as the first row group with rows has it.

    Looking at a column of a damaged footer can abort the process, where reading it
    raises: so this is for when rows of that row group have been read.
    """
    groups = map(metadata.row_group, range(metadata.num_row_groups))
    group = next((each for each in groups if each.num_rows), None)
    if group is None:
        return "snappy"
    columns = [group.column(index) for index in range(group.num_columns)]
    try:
        return {
            column.path_in_schema: _WRITTEN.get(column.compression, "SNAPPY")
            for column in columns
        }
    except ValueError:  # a path that is no UTF-8
        return "snappy"
