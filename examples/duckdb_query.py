"""Privatize in SQL, into a Parquet file that says so: mondegreen[duckdb]."""

import tempfile
from pathlib import Path

import duckdb

import mondegreen as mg
from mondegreen.integrations.duckdb import register

reviews = Path(__file__).with_name("reviews.csv")
with tempfile.TemporaryDirectory() as folder, duckdb.connect() as con:
    register(con, mg.Privatizer(mg.mechanism("urr", epsilon=12.0)))
    # Into a table, once: a view would draw again whenever somebody looks at it.
    con.execute(
        f"CREATE TABLE safe AS SELECT id, privatize(review) AS review FROM '{reviews}'"
    )
    con.sql("FROM safe LIMIT 3").show(max_width=88)
    con.execute(
        f"COPY safe TO '{folder}/safe.parquet' (FORMAT parquet, "
        "KV_METADATA {mondegreen: privatize_guarantee('review', NULL)})"
    )
    keys = f"SELECT decode(key) FROM parquet_kv_metadata('{folder}/safe.parquet')"
    print(con.sql(keys).fetchall())
