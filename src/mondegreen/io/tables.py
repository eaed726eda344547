"""Parquet files as batches, with their text wherever it lies."""

from __future__ import annotations

from collections.abc import Iterator
from typing import final

import pyarrow as pa

from mondegreen.errors import (
    DecodeError,
    InvalidParameterError,
    MondegreenError,
    SourceError,
)
from mondegreen.io.footer import open_parquet
from mondegreen.io.source import AbstractSource, Metadata, id_in_text, missing_column
from mondegreen.io.stream import BATCH_ROWS
from mondegreen.passes import METADATA_KEY
from mondegreen.text import columns as nested
from mondegreen.text.columns import bare

BATCH_BYTES = 4 << 20
"""About the data in one batch, all columns together."""

_PROBE_ROWS = 64
_PROMISE = METADATA_KEY.encode()


@final
class ParquetSource(AbstractSource):
    """Row groups of a Parquet file, in batches of bounded size.

    In a batch a text column is ``string`` or ``list<string>``, whatever its type in
    the file. Text inside a struct (``msg.body``) is a column of its own at the end,
    with that name, and null in its struct; so is an id that is no string. The sink
    undoes all this.
    """

    unit = "rows"

    def __init__(
        self,
        path: str,
        columns: tuple[str, ...],
        id_column: str | None,
        metadata: Metadata = "drop",
    ) -> None:
        if path == "-":
            raise InvalidParameterError(
                "format", "parquet", "csv, jsonl, tsv or txt for standard input"
            )
        self.path = self.name = path
        self.format = "parquet"
        self.text_columns = columns
        self.notes = []
        self.file = open_parquet(path)
        try:
            schema = self.file.schema_arrow
            self.total = self.file.metadata.num_rows
            self.earlier = (schema.metadata or {}).get(_PROMISE)
            self.paths = [self._find(schema, column) for column in columns]
            for column, steps in zip(columns, self.paths, strict=True):
                self._check_text(schema, column, steps)
            self._id: nested.Steps | None = None
            if id_column is not None:
                self._id = self._find(schema, id_column)
                self._check_id(self._id, id_column)
                self.id_column = self._id_name(schema, id_column)
            self.schema = _output_schema(schema, self.paths, metadata)
        except BaseException:
            self.file.close()
            raise

    @property
    def position(self) -> int:
        """Rows read so far."""
        return self.rows_read

    def close(self) -> None:
        """Close the file."""
        self.file.close()

    def _find(self, schema: pa.Schema, column: str) -> nested.Steps:
        found = nested.find_paths(list(schema), column)
        if not found:
            raise missing_column(self.name, column, schema.names)
        if len(found) > 1:
            raise SourceError(
                self.name, f"there are {len(found)} columns named {column!r}"
            )
        return found[0]

    def _check_text(self, schema: pa.Schema, column: str, steps: nested.Steps) -> None:
        kind = schema.field(steps[0]).type
        if nested.view_type(kind, steps[1:]) is None:
            raise SourceError(
                self.name,
                f"column {column!r} is no text; column {schema.names[steps[0]]!r} "
                f"is of type {kind}",
                hint="text is a string or a list of strings",
            )

    def _check_id(self, steps: nested.Steps, id_column: str) -> None:
        """Refuse an id that is in a column of text, or around one."""
        for column, text in zip(self.text_columns, self.paths, strict=True):
            shorter = min(len(steps), len(text))
            if steps[:shorter] == text[:shorter]:
                raise id_in_text(id_column, column)

    def _id_name(self, schema: pa.Schema, id_column: str) -> str:
        """Return the column of a batch that holds the ids as strings."""
        steps = self._id or ()
        if len(steps) == 1 and schema.field(steps[0]).type == pa.string():
            return id_column
        name = f"{id_column} (id)"
        while name in schema.names:
            name += "'"
        return name

    def read(self) -> Iterator[pa.RecordBatch]:
        """Yield the batches of each row group."""
        batches = self._batches()
        while True:
            try:
                batch = next(batches, None)
                shown = None if batch is None else self._shown(batch)
            except MondegreenError:
                raise
            except Exception:  # whatever Arrow makes of a damaged file
                batch = False
            if batch is None:
                return
            if batch is False:
                raise SourceError(
                    self.name, "the file is damaged here", row=self.rows_read + 1
                )
            yield shown

    def _batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the batches as they are in the file."""
        for group in range(self.file.num_row_groups):
            if self.file.metadata.row_group(group).num_rows:
                yield from self._group(group, self._batch_rows(group))

    def _batch_rows(self, group: int) -> int:
        """Return how many rows make about ``BATCH_BYTES``.

        The statistics count a text that repeats once, so some rows are weighed too.
        """
        statistics = self.file.metadata.row_group(group)
        weight = statistics.total_byte_size / statistics.num_rows
        probe = next(self._group(group, _PROBE_ROWS))
        weight = max(weight, probe.nbytes / probe.num_rows)
        return int(min(max(BATCH_BYTES // max(weight, 1), 1), BATCH_ROWS))

    def _group(self, group: int, rows: int) -> Iterator[pa.RecordBatch]:
        # A positive buffer size makes pyarrow read pages instead of whole column
        # chunks; one thread, since the mechanism uses the cores.
        return self.file.iter_batches(  # type: ignore[no-any-return]
            batch_size=rows, row_groups=[group], use_threads=False
        )

    def _shown(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return the batch as the mechanism sees it."""
        for column in batch.columns:  # Arrow itself does not look for wild indices
            column.validate(full=pa.types.is_dictionary(column.type))
        arrays = list(batch.columns)
        names = list(batch.schema.names)
        for column, steps in zip(self.text_columns, self.paths, strict=True):
            text = nested.view(arrays[steps[0]], steps[1:])
            self._check_utf8(text)
            if len(steps) == 1:
                arrays[steps[0]] = text
            else:
                arrays[steps[0]] = nested.rebuild(arrays[steps[0]], steps[1:], None)
                arrays.append(text)
                names.append(column)
        if self._id is not None and self.id_column is not None:
            ids = self._ids(batch.column(self._id[0]))
            if self.id_column not in names:
                arrays.append(ids)
                names.append(self.id_column)
        return pa.RecordBatch.from_arrays(arrays, names=names)

    def _ids(self, array: pa.Array) -> pa.StringArray:
        """Return the record ids as strings; each row must have one."""
        try:
            for step in (self._id or ())[1:]:
                array = pa.compute.struct_field(array, [step])
            ids = array.cast(pa.string()) if nested.is_id(array.type) else None
        except pa.ArrowException:
            ids = None
        if ids is None:
            raise SourceError(
                self.name,
                f"the id column has type {array.type}, which does not name a record",
                hint="ids are strings or integers",
            )
        self._check_utf8(ids)
        if ids.null_count:
            row = self.rows_read + 1 + pa.compute.index(ids.is_null(), True).as_py()
            raise SourceError(self.name, "no value in the id column", row=row)
        return ids

    def _check_utf8(self, text: pa.Array) -> None:
        """Refuse broken text: Arrow takes strings from Parquet without looking."""
        if not _is_valid(text):
            bad = next(i for i in range(len(text)) if not _is_valid(text.slice(i, 1)))
            raise DecodeError(self.name, row=self.rows_read + 1 + bad)


def _is_valid(text: pa.Array) -> bool:
    try:
        text.validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


def _output_schema(
    schema: pa.Schema, paths: list[nested.Steps], metadata: Metadata
) -> pa.Schema:
    """Return the schema to write; the promise of an earlier release is the sink's."""
    for steps in paths:
        field = nested.widened(schema.field(steps[0]), steps[1:])
        schema = schema.set(steps[0], field)
    if metadata == "drop":
        return pa.schema([bare(field) for field in schema])
    kept = dict(schema.metadata or {})
    kept.pop(_PROMISE, None)
    return schema.with_metadata(kept or None)
