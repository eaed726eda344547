"""Frames of every kind, under the contract of all adapters."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest

from contract.adapters import Adapter, AdapterContract, Refused
from contract.test_adapters import at_path, table_of

pytest.importorskip("narwhals")
pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
from mondegreen import frames  # noqa: E402
from mondegreen.integrations.spec import make_privatizer  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore:ids repeat")  # some records do


def released(frame, job):
    """Release by settings, as another process has them, with the noise of the job."""
    columns = {job.column: job.logical or job.column}
    made = make_privatizer(job.spec, job.privatizer().noise)
    return frames.privatize(
        frame, columns, made, job.id_column, unique_ids=job.unique_ids
    )


def pandas_of(records):
    """Ids and texts as objects, whatever they are."""
    return pd.DataFrame(records or [], columns=[*(records or [{"text": 0}])[0]]).astype(
        object
    )


def by_pandas(records, job):
    found = released(pandas_of(records), job)[job.column]
    return [None if pd.isna(text) else text for text in found]


def pandas_promises(records, job):
    return json.loads(released(pandas_of(records), job).attrs["mondegreen"])


def polars_of(records):
    table = table_of(records) if records else pa.table({"text": pa.array([], "string")})
    return pl.from_arrow(table)


def by_polars(records, job):
    return released(polars_of(records), job)[job.column].to_list()


def by_lazy(records, job):
    frame = polars_of(records).lazy()
    columns = {job.column: job.logical or job.column}
    options = {"unkeyed": None if job.key_path else "write-once"}
    safe = frames.privatize(frame, columns, job.privatizer(), job.id_column, **options)
    return safe.collect(engine="streaming")[job.column].to_list()


def by_table(records, job):
    table = table_of(records) if records else pa.table({"text": pa.array([], "string")})
    return at_path(released(table, job), job.column)


def table_promises(records, job):
    table = released(table_of(records), job)
    return json.loads(table.schema.metadata[b"mondegreen"])


def by_accessor(records, job):
    frames.register("pandas")
    frame = pandas_of(records)
    if {job.column, job.id_column or job.column} - {*frame.columns}:
        raise Refused(f"{job.column} or {job.id_column}")  # as pandas does
    ids = None if job.id_column is None else frame[job.id_column]
    series = frame[job.column].mondegreen
    found = series.privatize(job.privatizer(), ids, column=job.logical)
    return [None if pd.isna(text) else text for text in found]


ADAPTERS = [
    Adapter("pandas", by_pandas, pandas_promises, frozenset({"lists", "paths"})),
    Adapter("polars", by_polars, None, frozenset({"paths"})),
    Adapter("lazy", by_lazy, None, frozenset({"paths", "unique"})),
    Adapter("table", by_table, table_promises),
    Adapter("accessor", by_accessor, None, frozenset({"lists", "paths", "unique"})),
]


class TestFrames(AdapterContract):
    @pytest.fixture(params=ADAPTERS, ids=lambda adapter: adapter.name)
    def adapter(self, request):
        return request.param
