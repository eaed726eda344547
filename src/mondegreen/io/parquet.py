"""Parquet: text is read wherever it lies, and replaced there; the rest stays."""

from __future__ import annotations

import base64
import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from mondegreen import errors
from mondegreen.io.base import (
    AbstractSink,
    AbstractSource,
    Metadata,
    Request,
    id_in_text,
)
from mondegreen.io.stream import BATCH_ROWS
from mondegreen.io.target import Gate, Target
from mondegreen.passes import METADATA_KEY, find_stated, for_pandas
from mondegreen.text import columns as nested
from mondegreen.text.dictionaries import compact, find_used, holds_dictionary

BATCH_BYTES: Final = 4 << 20
"""About the data in one batch, all columns together."""

ROW_GROUP_BYTES: Final = 16 << 20
"""About the data in one row group of the output; it is held in memory."""

_PROBE_ROWS: Final = 64

_READ_BYTES: Final = 1 << 20
_MAX_FOOTER: Final = 1 << 28
_MAX_ITEMS: Final = 1 << 20
_MAGIC: Final = b"PAR1"
_TAIL: Final = 8

# What a file says of its codec, and what the writer calls it.
_WRITTEN: Final = {
    "UNCOMPRESSED": "NONE",
    **{name: name for name in ("GZIP", "BROTLI", "ZSTD", "LZ4")},
}


@final
class ParquetSource(AbstractSource):
    """Row groups of a Parquet file, in batches of bounded size.

    In a batch a text column is ``string`` or ``list<string>``, whatever its type in
    the file. Text inside a struct (``msg.body``) is a column of its own at the end,
    with that name, and null in its struct; so is an id that is no string. The sink
    undoes all this.
    """

    def __init__(self, request: Request, metadata: Metadata) -> None:
        path, id_column = request.path, request.id_column
        if path == "-":
            allowed = "csv, jsonl, tsv or txt for standard input"
            raise errors.InvalidParameterError("format", "parquet", allowed)
        super().__init__(request, path, _open(path))
        try:
            schema = self.file.schema_arrow
            self.total = Path(path).stat().st_size
            # not of the schema alone: polars writes notes beside it
            self.earlier = find_stated(self.file.metadata.metadata)
            self.paths = [self._find_text(schema, each) for each in request.columns]
            self._id: nested.Steps = ()
            if id_column is not None:
                self._id = self._find(schema, id_column)
                self._name_id(schema, id_column)
            dropped = {self._find_whole(schema, each) for each in request.drop}
            self.kept = [i for i in range(len(schema)) if i not in dropped]
            self.schema = _output_schema(schema, self.paths, metadata, self.kept)
        except BaseException:
            self.close()
            raise

    @property
    def position(self) -> int:
        """About how many bytes have been read, by the rows."""
        rows: int = self.file.metadata.num_rows
        return self.rows_read * (self.total or 0) // max(rows, 1)

    def sink(self, target: Target) -> ParquetSink:
        return ParquetSink(target, self)

    def find_used(self, place: int) -> NDArray[np.bool_] | None:
        """Find the values of a column's dictionary that some row of the file has.

        None where row groups have different dictionaries, or the file is damaged:
        reading it says so.
        """
        name = self.file.schema_arrow.names[place]
        found: NDArray[np.bool_] | None = None
        values = None
        options = {"batch_size": BATCH_ROWS, "use_threads": False}
        try:
            for batch in self.file.iter_batches(columns=[name], **options):
                array = batch.column(name)
                array.validate(full=True)
                used = find_used(array)
                if found is None:
                    values, found = array.dictionary, used
                if not array.dictionary.equals(values):
                    return None
                found |= used
        except (pa.ArrowException, KeyError, OSError):
            return None
        return found

    def _find(self, schema: pa.Schema, column: str) -> nested.Steps:
        found = nested.find_paths(list(schema), column)
        if not found:
            raise errors.MissingColumnError(self.name, column, schema.names)
        if len(found) > 1:
            problem = f"there are {len(found)} columns named {column!r}"
            raise errors.SourceError(self.name, problem)
        return found[0]

    def _find_whole(self, schema: pa.Schema, column: str) -> int:
        """Find a column that is dropped; a field of a struct is none."""
        top, *steps = self._find(schema, column)
        if steps:
            raise errors.MissingColumnError(self.name, column, schema.names)
        return top

    def _find_text(self, schema: pa.Schema, column: str) -> nested.Steps:
        found = self._find(schema, column)
        name, kind = schema.names[found[0]], schema.field(found[0]).type
        if nested.view_type(kind, found[1:]) is None:
            problem = f"column {column!r} is no text; column {name!r} is of type {kind}"
            hint = "text is a string, a list of strings or a map to strings"
            raise errors.SourceError(self.name, problem, hint=hint)
        return found

    def _name_id(self, schema: pa.Schema, name: str) -> None:
        """Name the column of ids; refuse one in a column of text, or around one."""
        steps = self._id
        for column, text in zip(self.text_columns, self.paths, strict=True):
            shorter = min(len(steps), len(text))
            if steps[:shorter] == text[:shorter]:
                raise id_in_text(name, column)
        if len(steps) > 1 or schema.field(steps[0]).type != pa.string():
            name = self._free_name(f"{name} (id)", schema.names)
        self.id_column = name

    def _free_name(self, name: str, taken: Sequence[str]) -> str:
        """Lengthen a name until no column has it."""
        while name in (*taken, *self.text_columns):
            name += "'"
        return name

    def read(self) -> Iterator[pa.RecordBatch]:
        """Yield the batches of each row group."""
        try:
            yield from map(self._show, self._batches())
            return
        except errors.MondegreenError:
            raise
        except Exception:  # noqa: S110  (whatever Arrow makes of a damaged file)
            pass
        # outside the handler: what the error holds is not passed on
        row = self.rows_read + 1
        raise errors.SourceError(self.name, "the file is damaged here", row=row)

    def _batches(self) -> Iterator[pa.RecordBatch]:
        for group in range(self.file.num_row_groups):
            if self.file.metadata.row_group(group).num_rows:
                yield from self._group(group, self._batch_rows(group))

    def _batch_rows(self, group: int) -> int:
        """Count the rows that make about ``BATCH_BYTES``.

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

    def _show(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Make the batch that the mechanism sees."""
        for column in batch.columns:  # Arrow itself does not look for wild indices
            column.validate(full=pa.types.is_dictionary(column.type))
        arrays, names = list(batch.columns), list(batch.schema.names)
        for column, (top, *steps) in zip(self.text_columns, self.paths, strict=True):
            text = nested.view(arrays[top], tuple(steps))
            self._check_utf8(text)
            if nested.has_more_than_text(arrays[top].type, tuple(steps)):
                arrays[top] = nested.rebuild(arrays[top], tuple(steps), None)
                if names[top] == column:  # a map, of which the keys stay here
                    names[top] = self._free_name(f"{column} (keys)", names)
                arrays.append(text)
                names.append(column)
            else:
                arrays[top] = text
        if self.id_column is not None:
            ids = self._ids(batch.column(self._id[0]))
            if self.id_column not in names:
                arrays.append(ids)
                names.append(self.id_column)
        return pa.RecordBatch.from_arrays(arrays, names=names)

    def _ids(self, array: pa.Array) -> pa.StringArray:
        """Read the record ids as strings; each row must have one."""
        try:
            for step in self._id[1:]:
                array = pc.struct_field(array, [step])
            ids = array.cast(pa.string()) if nested.is_id(array.type) else None
        except pa.ArrowException:
            ids = None
        if ids is None:
            what = f"the id column has type {array.type}, which does not name a record"
            hint = "ids are strings or integers"
            raise errors.SourceError(self.name, what, hint=hint)
        self._check_utf8(ids)
        empty = pc.index(ids.fill_null(""), "").as_py()
        if empty >= 0:
            row = self.rows_read + 1 + empty
            raise errors.SourceError(self.name, "no value in the id column", row=row)
        return ids

    def _check_utf8(self, text: pa.Array) -> None:
        """Refuse broken text: Arrow takes strings from Parquet without looking."""
        if not _is_valid(text):
            bad = next(i for i in range(len(text)) if not _is_valid(text.slice(i, 1)))
            hint = "write the file again, with text in UTF-8"
            row = self.rows_read + 1 + bad
            raise errors.DecodeError(self.name, row=row, hint=hint)


def _is_valid(text: pa.Array) -> bool:
    try:
        text.validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


def _output_schema(
    schema: pa.Schema,
    paths: list[nested.Steps],
    metadata: Metadata,
    kept: Sequence[int],
) -> pa.Schema:
    """Make the schema to write; the promise of an earlier release is the sink's."""
    for steps in paths:
        field = nested.widen(schema.field(steps[0]), steps[1:])
        schema = schema.set(steps[0], field)
    fields = [schema.field(place) for place in kept]
    if metadata == "drop":
        return pa.schema([nested.bare(field) for field in fields])
    notes = dict(schema.metadata or {})
    notes.pop(METADATA_KEY.encode(), None)
    if len(kept) < len(schema):
        notes.pop(b"pandas", None)  # it describes every column, also a dropped one
    return pa.schema(fields, notes or None)


def _open(path: str) -> pq.ParquetFile:
    """Open a file that may be damaged.

    What its last bytes say of the footer is checked first. Arrow's own errors may
    quote bytes of the file, so that none of them is passed on.
    """
    size = _footer_size(path)
    problem = "the footer of this Parquet file is damaged"
    try:
        file = pq.ParquetFile(
            path,
            buffer_size=_READ_BYTES,
            pre_buffer=False,
            # nothing in a footer is longer, or has more items, than it has bytes
            thrift_string_size_limit=max(size, _READ_BYTES),
            thrift_container_size_limit=_MAX_ITEMS,
            page_checksum_verification=True,
        )
        hidden = {"show_field_metadata": False, "show_schema_metadata": False}
        file.schema_arrow.to_string(**hidden)  # fails where a name is no UTF-8
        return file
    except OSError as error:
        if error.strerror or error.errno:
            problem = f"cannot be opened: {error.strerror or 'unknown error'}"
    except Exception:  # noqa: S110  (whatever Arrow makes of it)
        pass
    raise errors.SourceError(path, problem)


def _footer_size(path: str) -> int:
    """Read how long the footer is, in bytes, if there is room for it."""
    try:
        with Path(path).open("rb", buffering=0) as file:
            found = os.fstat(file.fileno())
            if not stat.S_ISREG(found.st_mode):
                hint = "save it first; Parquet is read from its end"
                raise errors.SourceError(path, "is not a regular file", hint=hint)
            head = file.read(len(_MAGIC))
            file.seek(max(found.st_size - _TAIL, 0))
            tail = file.read(_TAIL)
    except OSError as error:
        reason = error.strerror or "unknown error"
        raise errors.SourceError(path, f"cannot be opened: {reason}") from None
    if b"PARE" in (head, tail[4:]):
        raise errors.SourceError(path, "an encrypted Parquet file; decrypt it first")
    size = int.from_bytes(tail[:4], "little")
    largest = min(found.st_size - len(_MAGIC) - _TAIL, _MAX_FOOTER)
    if head != _MAGIC or tail[4:] != _MAGIC or not 0 < size <= largest:
        raise errors.SourceError(path, "not a Parquet file, or a truncated one")
    return size


@final
class ParquetSink(AbstractSink):
    """Writes a Parquet file with the schema, metadata and codecs of its source.

    Bytes of Parquet would be lost on a terminal, and may steer it: none gets any.
    """

    source: ParquetSource

    def __init__(self, target: Target, source: ParquetSource) -> None:
        super().__init__(target, source)
        self._held: list[pa.RecordBatch] = []
        self._held_bytes = 0
        self._gate = Gate(target)
        self._writer: Any = None  # waits for the first rows, see `_codecs`
        self._used: dict[int, NDArray[np.bool_] | None] | None = None

    def put(self, batch: pa.RecordBatch) -> None:
        """Hold a batch until there is enough for a row group."""
        self.target.refuse_terminal("Parquet")
        restored = self._restore(batch)
        self._held.append(restored)
        self._held_bytes += restored.nbytes
        if self._held_bytes >= ROW_GROUP_BYTES:
            self._flush()

    def _restore(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Give the batch the types of the file, text back in its structs."""
        source, schema = self.source, self.source.schema
        arrays = {place: batch.column(place) for place in source.kept}
        texts = zip(source.text_columns, source.paths, strict=True)
        for column, (top, *steps) in texts:
            text = batch.column(column)
            kind = schema.field(source.kept.index(top)).type
            if nested.has_more_than_text(kind, tuple(steps)):
                arrays[top] = nested.rebuild(arrays[top], tuple(steps), text).cast(kind)
            else:
                arrays[top] = nested.restore(text, kind)
        used = self._find_used()
        compacted = [compact(each, used.get(at)) for at, each in arrays.items()]
        return pa.RecordBatch.from_arrays(compacted, schema=schema)

    def _find_used(self) -> dict[int, NDArray[np.bool_] | None]:
        """Find once what rows have of ordered dictionaries.

        All row groups share these: a reader of several dictionaries loses the order.
        """
        if self._used is None:
            schema, texts = self.source.schema, {top for top, *_ in self.source.paths}
            kinds = zip(self.source.kept, schema.types, strict=True)
            self._used = {
                place: self.source.find_used(place)
                for place, kind in kinds
                if place not in texts and pa.types.is_dictionary(kind) and kind.ordered
            }
        return self._used

    def _flush(self) -> None:
        table = pa.Table.from_batches(self._held, self.source.schema)
        self._held, self._held_bytes = [], 0
        try:
            if self._writer is None:
                self._writer = pq.ParquetWriter(
                    self._gate,
                    table.schema,
                    compression=_codecs(self.source.file.metadata),
                    store_schema=False,  # `finish` stores it, with all metadata
                )
            for group in _share_dictionaries(table) if table.num_rows else ():
                self._writer.write_table(group, row_group_size=group.num_rows)
        except OSError as error:
            raise self.target.failure(error) from None

    def finish(self, metadata: Mapping[str, str]) -> None:
        """Write the last row group, the metadata and the footer.

        Arrow's reader takes its own types and metadata from ``ARROW:schema`` alone,
        which its writer would store before the first row, when a release does not
        know all of it.
        """
        self._flush()
        schema = self.source.schema
        if METADATA_KEY in metadata:
            shown = for_pandas(metadata[METADATA_KEY], schema.metadata)
            metadata = {**metadata, **shown}
        merged = {**(schema.metadata or {}), **metadata}
        stored = schema.with_metadata(merged or None).serialize()
        try:
            self._writer.add_key_value_metadata(
                {**metadata, "ARROW:schema": base64.b64encode(stored).decode()}
            )
            self._writer.close()
        except OSError as error:
            raise self.target.failure(error) from None

    def __exit__(self, *about: object) -> None:
        """Keep the writer from a footer: what lacks one is not read as a release."""
        try:
            if self._writer is not None and self._writer.is_open:
                self._gate.is_open = False
                self._writer.close()
        finally:
            super().__exit__(*about)


def _share_dictionaries(table: pa.Table) -> list[pa.Table]:
    """Give each column one dictionary, and return a table for each row group.

    The writer stores texts again for a second dictionary. No reader takes more values
    in a row group than an index counts. Then each batch is a row group.
    """
    if not any(map(holds_dictionary, table.schema.types)):
        return [table]
    try:
        return [table.unify_dictionaries()]
    except pa.ArrowException:
        return [pa.Table.from_batches([batch]) for batch in table.to_batches()]


def _codecs(metadata: pq.FileMetaData) -> str | dict[str, str]:
    """Name the compression of each column, as the first row group with rows has it.

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
