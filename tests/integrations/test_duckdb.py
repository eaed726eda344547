"""A function of SQL: noise for every row, whatever the engine makes of the query."""

from __future__ import annotations

import json
import threading

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import mondegreen as mg
from contract.adapters import Adapter, AdapterContract, Refused
from contract.test_adapters import table_of
from mondegreen.errors import ConfigurationError
from mondegreen.integrations.duckdb import register

duckdb = pytest.importorskip("duckdb")

SPACE = mg.Space.from_arrays("three", ["aa", "bb", "cc"], [[0.0], [1.0], [2.0]])
PRIVATIZER = mg.Privatizer(mg.mechanism("tem", epsilon=1.0), SPACE)
KEYED = PRIVATIZER.with_noise(mg.KeyedNoise(bytes(range(32))))
CANARY = "zyxwoldemorth"
LONG = "aa bb cc " * 60


@pytest.fixture
def con():
    with duckdb.connect() as made:
        register(made, PRIVATIZER)
        register(made, KEYED, "keyed", keyed=True, column="text")
        yield made


def rows(con, query):
    return con.sql(query).fetchall()


def test_a_constant_over_300_rows_has_300_releases(con):
    query = f"SELECT count(DISTINCT privatize('{LONG}')) FROM range(300)"
    assert rows(con, query) == [(300,)]
    query = f"SELECT privatize('{LONG}'), privatize('{LONG}')"
    assert len(set(rows(con, query)[0])) == 2


def test_nulls_and_empty_texts_stay_and_only_they(con):
    query = "SELECT privatize(t) FROM (VALUES (NULL), (''), ('aa')) AS s(t)"
    (null,), (empty,), (text,) = rows(con, query)
    assert (null, empty) == (None, "")
    assert text in SPACE.words
    assert rows(con, "SELECT privatize(NULL)") == [(None,)]
    assert rows(con, "SELECT privatize(i::VARCHAR) FROM range(0) AS s(i)") == []


@pytest.mark.slow("20,000 rows by several threads")
def test_threads_share_no_noise_and_keep_rows(con):
    def thread(column):
        return pa.array([threading.get_ident()] * len(column), pa.int64())

    con.create_function("thread", thread, ["BIGINT"], "BIGINT", type="arrow")
    con.execute("SET threads = 4")
    text, tables = "aa bb cc " * 20, []
    # A thread takes 122,880 rows of a table at once; small tables have threads each.
    for k in range(4):
        numbers = f"range({5_000 * k}, {5_000 * (k + 1)}) s(i)"
        con.execute(f"CREATE TABLE raw{k} AS SELECT i, '{text}' AS t FROM {numbers}")
        tables.append(f"SELECT i, privatize(t) AS t, keyed(t, i::VARCHAR) AS k, "
                      f"thread(i) AS by_thread FROM raw{k}")  # fmt: skip
    con.execute(f"CREATE TABLE safe AS {' UNION ALL '.join(tables)}")
    counts = "count(DISTINCT t), count(DISTINCT i), count(DISTINCT by_thread) > 1"
    assert rows(con, f"SELECT {counts} FROM safe") == [(20_000, 20_000, True)]
    for i, found in rows(con, "SELECT i, k FROM safe WHERE i % 4000 = 7"):
        assert found == KEYED(text, id=i).text


def test_a_filter_on_the_release_sees_no_text_and_draws_no_second_time(con):
    con.execute(f"CREATE TABLE raw AS SELECT '{CANARY}' AS t FROM range(300)")
    released = "(SELECT privatize(t) AS t FROM raw)"
    for query in (
        f"SELECT t FROM {released} WHERE t = 'aa'",
        f"SELECT t FROM {released} GROUP BY t HAVING t = 'aa'",
    ):
        found = rows(con, query)
        assert found
        assert set(found) == {("aa",)}
    assert rows(con, f"SELECT t FROM {released} WHERE t = '{CANARY}'") == []


def test_what_the_page_says_of_views_is_so(con):
    con.execute(f"CREATE VIEW v AS SELECT privatize('{LONG}') AS t")
    assert rows(con, "FROM v") != rows(con, "FROM v")
    con.execute(f"CREATE VIEW k AS SELECT keyed('{LONG}', '7') AS t")
    assert rows(con, "FROM k") == rows(con, "FROM k") == [(KEYED(LONG, id=7).text,)]


def test_a_materialized_subquery_draws_once_however_often_it_is_named(con):
    both = f"(SELECT privatize('{LONG}') AS t) SELECT a.t = b.t FROM s a, s b"
    assert rows(con, f"WITH s AS MATERIALIZED {both}") == [(True,)]
    assert rows(con, f"WITH s AS NOT MATERIALIZED {both}") == [(False,)]


def test_a_cursor_knows_the_function(con):
    assert rows(con.cursor(), "SELECT privatize('aa') IS NOT NULL") == [(True,)]


@pytest.mark.parametrize(
    "query",
    [
        f"SELECT strict('{CANARY}')",
        f"SELECT strict('{CANARY}') FROM range(5000)",
        f"SELECT keyed('{CANARY}', NULL)",
        f"SELECT keyed('{CANARY}', '')",
    ],
)
def test_errors_stop_the_query_and_hold_no_text(con, query):
    settings = {"unknown": "fail"}
    register(con, mg.Privatizer(PRIVATIZER.mechanism, SPACE, **settings), "strict")
    with pytest.raises(duckdb.Error) as caught:
        rows(con, query)
    assert CANARY not in f"{caught.value!r}{caught.value.__context__!r}"
    assert "ids must be" in str(caught.value) or "outside" in str(caught.value)


def test_a_key_and_ids_go_together(con):
    for privatizer, keyed in ((PRIVATIZER, True), (KEYED, False)):
        with pytest.raises(ConfigurationError, match="keyed=True needs"):
            register(con, privatizer, "other", keyed, column="text")
    with pytest.raises(ConfigurationError, match="Privatizer"):
        register(con, CANARY, "other")


def test_a_keyed_function_has_no_column_that_another_has_by_default(con):
    for column in (None, ""):
        with pytest.raises(ConfigurationError, match="needs column="):
            register(con, KEYED, "other", keyed=True, column=column)
    with pytest.raises(duckdb.Error, match="other"):
        rows(con, "SELECT other('aa', '7')")


def test_two_columns_of_one_name_would_repeat_each_other(con):
    register(con, KEYED, "of_title", keyed=True, column="title")
    ((one, two, title),) = rows(
        con,
        f"SELECT keyed('{LONG}', '7'), keyed('{LONG}', '7'), of_title('{LONG}', '7')",
    )
    assert one == two
    assert title == KEYED(LONG, id=7, column="title").text != one


def test_the_guarantee_is_a_second_function_and_goes_into_a_file(con, tmp_path):
    path = tmp_path / "safe.parquet"
    stated = "privatize_guarantee('note', NULL)"
    ((once,),) = rows(con, f"SELECT {stated}")
    assert mg.Guarantee.from_dict(json.loads(once)[0]["guarantee"]) == (
        PRIVATIZER.guarantee
    )
    if int(duckdb.__version__.partition(".")[0]) < 2:  # takes no expression
        stated = "'" + once.replace("'", "''") + "'"
    con.execute(
        f"COPY (SELECT privatize('aa') AS note) TO '{path}' "
        f"(FORMAT parquet, KV_METADATA {{mondegreen: {stated}}})"
    )
    assert pq.read_metadata(path).metadata[b"mondegreen"].decode() == once
    query = (
        "SELECT privatize_guarantee('title', decode(value)) FROM "
        f"parquet_kv_metadata('{path}') WHERE decode(key) = 'mondegreen'"
    )
    ((again,),) = rows(con, query)
    assert [each["column"] for each in json.loads(again)] == ["note", "title"]


# The contract


def released(records, job, query):
    """Run a query over the table ``records``."""
    with duckdb.connect() as con:
        register(
            con,
            job.privatizer(),
            keyed=job.key_path is not None,
            column=job.logical or job.column,
        )
        con.register("records", table_of(records))
        try:
            return con.sql(query).fetchall()
        except duckdb.Error as error:
            raise Refused(str(error)) from None


def by_sql(records, job):
    text = f'"{job.column}"'
    call = f"privatize({text})"
    if job.key_path is not None:
        ids = f'"{job.id_column}"' if job.id_column else "NULL"
        call = f"privatize({text}, {ids}::VARCHAR)"
    if not records:
        return released([{job.column: ""}], job, f"SELECT {call} FROM records LIMIT 0")
    return [text for (text,) in released(records, job, f"SELECT {call} FROM records")]


def promises(records, job):
    query = f"SELECT privatize_guarantee('{job.column}', NULL)"
    return json.loads(released(records, job, query)[0][0])


class TestDuckDB(AdapterContract):
    @pytest.fixture
    def adapter(self):
        lacks = frozenset({"lists", "paths", "unique", "types"})
        return Adapter("duckdb", by_sql, promises, lacks)
