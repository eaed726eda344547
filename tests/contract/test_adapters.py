"""The adapters there are, under the contract of all adapters."""

from __future__ import annotations

import copy
import csv
import io
import json
import multiprocessing
import os
import pickle
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import mondegreen as mg
from contract.adapters import Adapter, AdapterContract, Refused
from mondegreen.cli.main import cli


def values(records, name):
    """Return a column of records, as the libraries of tables do."""
    if any(name not in record for record in records):
        raise Refused(f"no column {name}")
    return [record[name] for record in records]


def asked(records, job):
    """Return texts, ids and options, as a caller of Python has them."""
    options = {"column": job.logical or job.column}
    ids = None if job.id_column is None else values(records, job.id_column)
    return values(records, job.column), ids, options


def shown(releases):
    return [None if release is None else release.text for release in releases]


def by_batch(records, job, made=lambda privatizer: privatizer):
    texts, ids, options = asked(records, job)
    privatizer = made(job.privatizer())
    return shown(privatizer.batch(texts, ids, unique_ids=job.unique_ids, **options))


def by_stream(records, job):
    texts, ids, options = asked(records, job)
    options["unique_ids"] = job.unique_ids
    named = None if ids is None else iter(ids)
    return shown(job.privatizer().stream(iter(texts), named, **options))


def by_call(records, job):
    texts, ids, options = asked(records, job)
    named = [None] * len(texts) if ids is None else ids
    privatizer = job.privatizer()
    found = [
        None if text is None else privatizer(text, id=record, **options)
        for text, record in zip(texts, named, strict=True)
    ]
    return shown(found)


def by_one_line(records, job):
    texts, ids, options = asked(records, job)
    spec = job.spec
    return mg.privatize(
        texts,
        **spec["parameters"],
        epsilon=spec["epsilon"],
        mechanism=spec["mechanism"],
        space=Path(spec["space"]),
        unknown=spec["unknown"],
        ids=ids,
        noise=job.privatizer().noise,
        **options,
    )


def by_fork(records, job):
    """Ask two children of one parent at once: a copy must not repeat the other."""
    privatizer = job.privatizer()
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe(duplex=False)

    def work():
        try:
            answer = by_batch(records, job, lambda _: privatizer)
        except Exception as error:
            answer = error
        theirs.send(answer)

    child = context.Process(target=work)
    child.start()
    found = ours.recv()
    child.join()
    if isinstance(found, Exception):
        raise found
    return found


def table_of(records):
    """Return records as Arrow has them; what has no common type is no column."""
    names = list(dict.fromkeys(name for record in records for name in record))
    try:
        return pa.table({n: [record[n] for record in records] for n in names})
    except pa.ArrowInvalid:
        raise Refused("no table") from None


def at_path(table, path):
    """Return the values at a path of a table of records."""
    head, _, rest = path.partition(".")
    found = table.column(head).to_pylist() if head in table.column_names else []
    for name in filter(None, rest.split(".")):
        found = [
            [item and item[name] for item in one]
            if isinstance(one, list)
            else one and one[name]
            for one in found
        ]
    return found


def by_arrow(records, job):
    table = pa.Table.from_batches(arrow_batches(records, job))
    return at_path(table, job.column)


def arrow_batches(records, job):
    columns = {job.column: job.logical or job.column}
    options = {"id_column": job.id_column, "unique_ids": job.unique_ids}
    privatizer = job.privatizer()
    batches = table_of(records or [{"text": None}]).to_batches()
    if not records:
        batches = [pa.record_batch({"text": pa.array([], pa.string())})]
    return [
        privatizer.arrow(batch, columns, metadata=True, **options) for batch in batches
    ]


def arrow_promises(records, job):
    (batch,) = arrow_batches(records, job)
    return json.loads(batch.schema.metadata[b"mondegreen"])


def by_column(records, job):
    texts, ids, options = asked(records, job)
    try:
        array = pa.array(texts, pa.string() if not texts else None)
        ids = None if ids is None else pa.array(ids)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        raise Refused("no array") from None
    middle = len(array) // 2
    chunks = pa.chunked_array([array[:middle], array[middle:]], type=array.type)
    released = job.privatizer().column(
        chunks, ids, unique_ids=job.unique_ids, **options
    )
    assert released.type == chunks.type
    assert released.num_chunks == chunks.num_chunks
    return released.to_pylist()


# The command line


def jsonl(records):
    return "".join(json.dumps(record) + "\n" for record in records).encode()


def delimited(records):
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerows([list(records[0]), *(list(r.values()) for r in records)])
    return out.getvalue().encode()


def parquet(records):
    sink = io.BytesIO()
    pq.write_table(table_of(records), sink, row_group_size=1000)
    return sink.getvalue()


def lines(records):
    return "".join(f"{record['text']}\n" for record in records).encode()


WRITTEN = {"csv": delimited, "jsonl": jsonl, "parquet": parquet, "txt": lines}


def read(path, column):
    """Return the values of a column of a released file."""
    format = path.suffix[1:]
    if format == "txt":
        return path.read_bytes().decode().split("\n")[:-1]
    if format == "csv":
        with path.open(newline="") as stream:
            return [row[column] for row in csv.DictReader(stream)]
    if format == "parquet":
        return at_path(pq.read_table(path), column)
    found = []
    for line in path.read_text("utf-8").splitlines():
        value = json.loads(line)
        for name in column.split("."):
            value = (
                [item[name] for item in value]
                if isinstance(value, list)
                else value[name]
            )
        found.append(value)
    return found


def run_command(records, job, format, folder, jobs=1):
    """Release a file; return its path."""
    given, output = folder / f"in.{format}", folder / f"out.{format}"
    given.write_bytes(WRITTEN[format](records))
    output.unlink(missing_ok=True)
    law = job.spec["parameters"]
    arguments = [
        *("privatize", str(given), "-o", str(output), "-q", "-j", str(jobs)),
        *("-m", job.spec["mechanism"], "-e", str(job.spec["epsilon"])),
        *("--space", job.spec["space"], "--unknown", job.spec["unknown"]),
        *("-c", job.column, "--read", job.spec["read"]),
    ]
    arguments += [x for k, v in law.items() for x in ("--set", f"{k}={json.dumps(v)}")]
    arguments += ["--key-file", str(job.key_path)] if job.key_path else []
    arguments += ["--id", job.id_column] if job.id_column else []
    arguments += ["--as", f"{job.column}={job.logical}"] if job.logical else []
    arguments += ["--unique-ids"] if job.unique_ids else []
    done = CliRunner().invoke(cli, arguments)
    if done.exit_code:
        assert not output.exists()
        raise Refused(f"{done.output}{done.stderr}{done.exception!r}")
    return output


def by_command(format, **options):
    def run(records, job):
        folder = Path(job.spec["space"]).parent
        return read(run_command(records, job, format, folder, **options), job.column)

    return run


def parquet_promises(records, job):
    folder = Path(job.spec["space"]).parent
    metadata = pq.read_schema(run_command(records, job, "parquet", folder)).metadata
    found = json.loads(metadata[b"mondegreen"])
    # One guarantee of the whole file, until the command line lists them by column.
    whole = {"column": job.column, "guarantee": found}
    return [whole] if isinstance(found, dict) else found


PLAIN = frozenset({"lists", "paths"})
FORKS = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
ADAPTERS = [
    Adapter("call", by_call, lacks=PLAIN | {"unique"}),
    Adapter("batch", by_batch, lacks=PLAIN),
    Adapter("stream", by_stream, lacks=PLAIN),
    Adapter("one line", by_one_line, lacks=PLAIN | {"unique"}),
    Adapter("arrow", by_arrow, arrow_promises),
    Adapter("column", by_column, lacks=frozenset({"paths"})),
    Adapter(
        "pickled",
        lambda r, j: by_batch(r, j, lambda p: pickle.loads(pickle.dumps(p))),
        lacks=PLAIN,
    ),
    Adapter("copied", lambda r, j: by_batch(r, j, copy.deepcopy), lacks=PLAIN),
    Adapter("jsonl", by_command("jsonl"), lacks=frozenset({"empty", "bytes"})),
    Adapter(
        "csv",
        by_command("csv"),
        lacks=PLAIN | {"empty", "nulls", "types"},
    ),
    Adapter("parquet", by_command("parquet"), parquet_promises, frozenset({"empty"})),
    Adapter(
        "txt",
        by_command("txt"),
        lacks=PLAIN | {"empty", "ids", "nulls", "types", "names"},
    ),
]


@pytest.mark.parametrize(
    "adapter",
    [
        *(pytest.param(adapter, id=adapter.name) for adapter in ADAPTERS),
        pytest.param(Adapter("forked", by_fork, lacks=PLAIN), id="forked", marks=FORKS),
    ],
)
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded")
class TestAdapters(AdapterContract):
    """Every adapter that runs in this process."""


@pytest.mark.slow("two worker processes for every format")
class TestTwoJobs(AdapterContract):
    """Files through two processes."""

    @pytest.fixture(params=["csv", "parquet"])
    def adapter(self, request):
        lacks = {"csv": PLAIN | {"nulls", "types"}, "parquet": frozenset()}
        run = by_command(request.param, jobs=2)
        return Adapter(request.param, run, None, lacks[request.param] | {"empty"})
