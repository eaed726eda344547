"""Data frames of pandas, polars and Modin, and Arrow tables."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Final, final

import pyarrow as pa

from mondegreen.errors import (
    ConfigurationError,
    InvalidParameterError,
    MissingColumnError,
)
from mondegreen.integrations.spec import (
    Given,
    Unkeyed,
    check_ids,
    check_lazy,
    check_names,
    import_needed,
    make_privatizer,
    name_columns,
    state_promise,
)
from mondegreen.passes import METADATA_KEY
from mondegreen.privatizer.arrow import count_ids, record_ids_in
from mondegreen.privatizer.containers import (
    check_index,
    keep_used_labels,
    keep_used_values,
    name_logical_column,
    wrap_like,
)
from mondegreen.privatizer.privatizer import Privatizer
from mondegreen.sampling.records import SeenIds, record_ids
from mondegreen.text.columns import find_paths, widen
from mondegreen.text.dictionaries import compact_chunks
from mondegreen.wording import amount, describe_repeated_ids

_ROWS: Final = 4096
"""Rows of a table that are privatized together, which bounds the memory for words."""

_FRAMES: Final = "a frame of pandas, polars or Modin, or a table or batch of pyarrow"


def privatize(
    frame: Any,
    columns: Sequence[Hashable] | Mapping[Any, str],
    privatizer: Given,
    id_column: Hashable | None = None,
    *,
    drop: Sequence[Hashable] = (),
    unkeyed: Unkeyed | None = None,
    unique_ids: bool = False,
) -> Any:
    """Privatize text columns of a data frame; all other columns are passed on.

    Parameters
    ----------
    frame : data frame
        Of pandas, polars or Modin, ``pyarrow.Table`` or ``RecordBatch``, or a
        ``polars.LazyFrame``.
    columns : sequence of names, or mapping of names to str
        Columns of text. A mapping gives each its logical name for keyed noise, as
        :meth:`mondegreen.Privatizer.arrow` has it. In Arrow tables a column may hold
        lists of texts, and ``msg.body`` is a field of a struct.
    privatizer : Privatizer or mapping
        Or its settings: a :class:`mondegreen.Settings`, a mapping of settings by
        their names, or what ``Privatizer.to_dict`` returns.
    id_column : name, optional
        Column with a stable identifier per row, of strings or integers; for keyed
        noise, and for no other. An index is no column: call ``reset_index`` first.
    drop : sequence of names
        Columns to leave out of the result.
    unkeyed : {"write-once"}, optional
        A lazy frame draws again whenever it is collected, and every draw discloses
        more. Without a key it is rejected, unless you promise to write the result once.
    unique_ids : bool
        Reject an id that occurs twice. Not possible for a lazy frame. Without it, an
        id that repeats is a warning, but for a lazy frame.

    Returns
    -------
    data frame
        Of the same kind, with rows, index, types and nulls as they were. A category
        column has the categories of the release. Other category columns, dictionaries
        and indexes keep only the values that a row has. An ``Enum`` becomes ``String``.
        The guarantee of each column is added to ``attrs["mondegreen"]`` of pandas, and
        to the metadata of an Arrow schema; what else they held is dropped, since it may
        be text. Frames of polars and Modin have no room for it: see :func:`promises`.

    Raises
    ------
    MissingColumnError, ConfigurationError
        If a column is absent, named twice, or holds anything but text; if ids are
        no ids, or the noise has no use for them; if a level of the index has the name
        of a column that is privatized or dropped; or if a lazy frame would draw again.

    Examples
    --------
    >>> import mondegreen as mg
    >>> import pyarrow as pa
    >>> p = mg.Privatizer(mg.mechanism("tree", epsilon=10.0))
    >>> table = pa.table({"id": [1, 2], "text": ["I met Ann.", None]})
    >>> safe = privatize(table, ["text"], p)
    >>> safe["id"].to_pylist(), safe["text"].null_count, list(safe.schema.metadata)
    ([1, 2], 1, [b'mondegreen'])
    """
    names, made = name_columns(columns), make_privatizer(privatizer)
    both = [name for name in drop if name in names or isinstance(drop, str)]
    if both:
        raise InvalidParameterError("drop", drop, "a sequence of other columns")
    if isinstance(frame, pa.Table | pa.RecordBatch):
        check_ids(made, id_column)
        released = _in_arrow(frame, names, made, id_column, unique_ids=unique_ids)
        if id_column is not None:
            _warn_of_repeated_ids(id_column, *count_ids(frame, id_column))
        return released.drop_columns(_present(released.column_names, drop))
    opened, is_lazy = _open(frame)
    check_names(opened.collect_schema())
    used = [*names, *([] if id_column is None else [id_column])]
    _present(opened.collect_schema(), [*used, *drop])
    if not is_lazy:
        check_ids(made, id_column)
        if opened.implementation.is_pandas_like():
            check_index(frame, [*names, *drop])
        seen = SeenIds() if unique_ids else None
        released = _in_frame(opened, names, made, id_column, seen)
        if id_column is not None:
            ids = opened.get_column(id_column)
            _warn_of_repeated_ids(id_column, ids.n_unique(), len(ids))
        native = _keep_used_axes(released.drop(list(drop)).to_native())
        return _state(native, frame, names, made)
    check_lazy(made, "a lazy frame", id_column, unkeyed)
    if unique_ids:
        raise ConfigurationError("unique_ids= cannot be checked in a lazy frame")
    return _in_lazy(frame, names, made, id_column).drop(list(drop))


def promises(
    columns: Sequence[str], privatizer: Given, earlier: str | bytes | None = None
) -> str:
    """Write the guarantee of each column as JSON, for where a frame has no room.

    Parameters
    ----------
    columns : sequence of str
        The columns that were privatized.
    privatizer : Privatizer or mapping
        By this.
    earlier : str or bytes, optional
        What the data said of earlier passes; the new ones are added to it.

    Returns
    -------
    str
        JSON, as written into the metadata of files.

    Examples
    --------
    >>> import mondegreen as mg
    >>> p = mg.Privatizer(mg.mechanism("tree", epsilon=10.0))
    >>> notes = {"mondegreen": promises(["text"], p)}  # write_parquet(metadata=notes)
    """
    return state_promise(name_columns(columns), make_privatizer(privatizer), earlier)


def register(*libraries: str) -> None:
    """Add ``.mondegreen`` to the frames and series of pandas and polars.

    ``df.mondegreen.privatize(columns, privatizer, id_column)`` is :func:`privatize`,
    ``series.mondegreen.privatize(privatizer, ids)`` does the same to one column.
    Nothing is added by an import alone: it would have to load both libraries, or
    depend on which of them was loaded first.

    Parameters
    ----------
    *libraries : {"pandas", "polars"}
        Those that are loaded already, if none is named.
    """
    known = {"pandas": _to_pandas, "polars": _to_polars}
    for name in libraries:
        if name not in known:
            raise InvalidParameterError("library", name, "pandas or polars")
    chosen = libraries or [name for name in known if name in sys.modules]
    if not chosen:
        raise ConfigurationError(
            "import pandas or polars first, or name one of them with library="
        )
    for name in chosen:
        known[name]()


def _warn_of_repeated_ids(id_column: Hashable, distinct: int, rows: int) -> None:
    """Warn of ids that repeat; the warning names the column, and no id."""
    if distinct < rows:
        warnings.warn(
            describe_repeated_ids(id_column, distinct, amount(rows, "row")),
            stacklevel=3,
        )


@final
class FrameAccessor:
    """What ``df.mondegreen`` is."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame

    def privatize(
        self,
        columns: Sequence[Hashable] | Mapping[Any, str],
        privatizer: Given,
        id_column: Hashable | None = None,
        **options: Any,
    ) -> Any:
        """Do as :func:`mondegreen.frames.privatize`."""
        return privatize(self._frame, columns, privatizer, id_column, **options)


@final
class SeriesAccessor:
    """What ``series.mondegreen`` is."""

    def __init__(self, series: Any) -> None:
        self._series = series

    def privatize(
        self, privatizer: Given, ids: Any = None, *, column: str | None = None
    ) -> Any:
        """Privatize a series of text; its name is the logical column if none is given.

        ``ids`` is one identifier per text, for keyed noise.
        """
        logical = column or name_logical_column(self._series)
        made = make_privatizer(privatizer)
        check_ids(made, ids)
        released = wrap_like(made, self._series, ids, logical)
        return _state(released, self._series, {logical: logical}, made)


def _to_pandas() -> None:
    import pandas
    from pandas.api import extensions

    if getattr(pandas.DataFrame, METADATA_KEY, None) is not FrameAccessor:
        extensions.register_dataframe_accessor(METADATA_KEY)(FrameAccessor)
        extensions.register_series_accessor(METADATA_KEY)(SeriesAccessor)


def _to_polars() -> None:
    import polars
    from polars import api

    if getattr(polars.DataFrame, METADATA_KEY, None) is not FrameAccessor:
        api.register_dataframe_namespace(METADATA_KEY)(FrameAccessor)
        api.register_lazyframe_namespace(METADATA_KEY)(FrameAccessor)
        api.register_series_namespace(METADATA_KEY)(SeriesAccessor)


def _present(available: Any, needed: Sequence[Any]) -> list[Any]:
    """Return the columns that are needed; all must be there."""
    names = list(available)
    for name in needed:
        if name not in names:
            raise MissingColumnError("the frame", name, map(str, names))
    return list(needed)


def _open(frame: Any) -> tuple[Any, bool]:
    """Open a frame by narwhals, of lazy ones only those of polars; say if it is one."""
    nw = import_needed("narwhals")
    try:
        opened = nw.from_native(frame)
        is_lazy = isinstance(opened, nw.LazyFrame)
        if not is_lazy or opened.implementation.is_polars():
            return opened, is_lazy
    except nw.exceptions.DuplicateError:
        allowed = "a frame whose columns have names of their own"
        given = "two columns of one name"
        raise InvalidParameterError("frame", given, allowed) from None
    except TypeError:
        pass
    raise InvalidParameterError("frame", type(frame).__name__, _FRAMES)


def _in_frame(
    frame: Any,
    names: dict[Any, str],
    privatizer: Privatizer,
    id_column: Any,
    seen: SeenIds | None,
) -> Any:
    """Privatize columns of a frame of narwhals, one series after another."""
    nw = import_needed("narwhals")
    ids = None if id_column is None else frame.get_column(id_column).to_list()
    records = record_ids(ids, len(frame), seen)
    for name, logical in names.items():
        texts = frame.get_column(name).to_native()
        released = wrap_like(privatizer, texts, records, logical)
        series = nw.from_native(released, series_only=True)
        frame = frame.with_columns(series.alias(name))
    for name in frame.columns:
        given = frame.get_column(name).to_native()
        if name not in names and (used := keep_used_values(given)) is not given:
            series = nw.from_native(used, series_only=True)
            frame = frame.with_columns(series.alias(name))
    return frame


def _keep_used_axes(native: Any) -> Any:
    """Remove what no row has from the index of pandas; polars has none."""
    for axis, index in enumerate(getattr(native, "axes", ())):
        native = native.set_axis(keep_used_labels(index), axis=axis)
    return native


def _in_lazy(
    frame: Any, names: dict[Any, str], privatizer: Privatizer, id_column: Any
) -> Any:
    """Privatize columns of a lazy frame, some rows at a time where it streams.

    Not by an expression: one that is said to go row by row may be moved or merged, and
    is asked once for a constant.
    """
    nw = import_needed("narwhals")

    def release(batch: Any) -> Any:
        opened = nw.from_native(batch, eager_only=True)
        return _in_frame(opened, names, privatizer, id_column, None).to_native()

    schema = release(frame.clear().collect()).schema
    return frame.map_batches(release, schema=schema, streamable=True)


def _state(
    released: Any, given: Any, names: Mapping[Any, str], privatizer: Privatizer
) -> Any:
    """Put the guarantee into the ``attrs`` of pandas, after earlier ones."""
    pandas = sys.modules.get("pandas")  # Modin lets nobody write its ``attrs``
    if pandas is not None and isinstance(given, pandas.DataFrame | pandas.Series):
        shown = [name if isinstance(name, str) else names[name] for name in names]
        earlier = given.attrs.get(METADATA_KEY)
        released.attrs = {METADATA_KEY: state_promise(shown, privatizer, earlier)}
    return released


def _in_arrow(
    table: pa.Table | pa.RecordBatch,
    names: dict[str, str],
    privatizer: Privatizer,
    id_column: Any,
    *,
    unique_ids: bool,
) -> Any:
    """Privatize columns of a table, some rows at a time, or of a batch."""
    options: Any = {"id_column": id_column, "metadata": True}
    if isinstance(table, pa.RecordBatch):
        return privatizer.arrow(table, names, unique_ids=unique_ids, **options)
    if not table.num_rows:
        empty = pa.RecordBatch.from_pylist([], schema=table.schema)
        return pa.Table.from_batches([privatizer.arrow(empty, names, **options)])
    seen, released = SeenIds(), []
    for batch in table.to_batches(max_chunksize=_ROWS):
        if unique_ids:
            seen.add(None if id_column is None else record_ids_in(batch, id_column))
        released.append(privatizer.arrow(batch, names, **options))
    schema = released[0].schema
    if any(each.schema != schema for each in released):  # a dictionary was full
        for name in names:
            index, *steps = find_paths(list(schema), name)[0]
            schema = schema.set(index, widen(schema.field(index), tuple(steps)))
    made = pa.Table.from_batches([each.cast(schema) for each in released])
    return _share_dictionaries(made, table, names)


def _share_dictionaries(
    made: pa.Table, given: pa.Table, names: Mapping[str, str]
) -> pa.Table:
    """Give all batches one dictionary, so that ordered values stay in their order."""
    for index, field in enumerate(made.schema):
        if field.name not in names and pa.types.is_dictionary(field.type):
            made = made.set_column(index, field, compact_chunks(given.column(index)))
    return made
