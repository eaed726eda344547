"""Memory is bounded by the batch: files larger than the allowance pass through.

Each run is a process of its own, and its peak is the resident set that the system
measured. What an interpreter and its libraries take differs from one to the next, so
the same command on one row is measured first (130 to 145 MB on the machine of record,
on Python 3.11 to 3.13), and a file may add 100 MB to that (measured: 64 to 75, all of
it reached at 16 MB of input). The files are larger, so that no program which holds one
of them whole can keep it. A large space adds what it takes itself; this one is small.
"""

import json
import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from strategies import WORDS

MEGABYTE = 1_000_000
ROW_BYTES = 4000
ALLOWANCE = 100 * MEGABYTE
LARGE = 215 * MEGABYTE
SCRIPT = str(Path(sysconfig.get_path("scripts"), "mondegreen"))
pytestmark = pytest.mark.skipif(os.name != "posix", reason="getrusage is of POSIX")

# A small process in between: a child starts with the peak of the one that made it.
MEASURE = """
import resource, subprocess, sys
code = subprocess.run(sys.argv[1:]).returncode
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
print(peak * (1 if sys.platform == "darwin" else 1024))
sys.exit(code)
"""


@pytest.fixture
def peak(space_file, tmp_path):
    """Return a function that runs privatize and gives its peak memory in bytes."""

    def run(path, *options, code=None):
        command = [SCRIPT, "privatize", str(path), "-o", str(tmp_path / "out")]
        command += ["-e", "2", "-q", "--policy", "all"]
        command += ["--space", space_file, *options]
        if code is not None:
            command = [sys.executable, "-c", code, str(path)]
        done = subprocess.run(
            [sys.executable, "-c", MEASURE, *command], capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        return int(done.stdout.split()[-1])

    return run


@pytest.fixture
def growth(peak, tmp_path):
    """Return a function: by how much a file passes the peak of a file of one row."""

    def run(path, *options, code=None):
        row = tmp_path / f"row{path.suffix}"
        write(row, ROW_BYTES)
        floor = peak(row, *options, code=code)
        return peak(path, *options, code=code) - floor

    return run


def rows(size, text_share, row_bytes=ROW_BYTES):
    """Blocks of rows that repeat: their texts, and a filler that does not compress."""
    rng = np.random.default_rng(0)
    length, count = int(row_bytes * text_share) // 4, size // row_bytes
    block = [
        (
            " ".join(rng.choice(WORDS, length)),
            rng.bytes((row_bytes - 4 * length) // 2).hex(),
        )
        for _ in range(min(count, 1000))
    ]
    for _ in range(count // len(block)):
        yield block


def write(path, size, text_share=0.05):
    """Write about ``size`` bytes in the format that the name tells."""
    if path.suffix == ".parquet":
        schema = pa.schema({"text": pa.string(), "filler": pa.string()})
        with pq.ParquetWriter(
            path, schema, use_dictionary=False, compression="none"
        ) as writer:
            for block in rows(size, text_share):
                texts, fillers = zip(*block, strict=True)
                writer.write_table(pa.table([texts, fillers], schema=schema))
        return
    with path.open("w") as stream:
        if path.suffix == ".csv":
            stream.write("text,filler\n")
        for block in rows(size, text_share):
            if path.suffix == ".csv":
                stream.writelines(f"{text},{filler}\n" for text, filler in block)
            elif path.suffix == ".jsonl":
                stream.writelines(
                    json.dumps({"text": text, "filler": filler}) + "\n"
                    for text, filler in block
                )
            else:
                stream.writelines(f"{text}\n" for text, _ in block)


@pytest.fixture(params=["csv", "jsonl", "parquet"])
def large(request, tmp_path):
    path = tmp_path / f"in.{request.param}"
    write(path, LARGE)
    yield path
    for made in tmp_path.iterdir():
        made.unlink()


@pytest.mark.slow("writes and reads files of hundreds of megabytes", seconds=7)
def test_a_file_larger_than_the_allowance_passes_within_it(growth, large, tmp_path):
    size = large.stat().st_size
    assert size > 2 * ALLOWANCE
    assert growth(large, "--force") < ALLOWANCE
    assert 0.95 * size < (tmp_path / "out").stat().st_size < 1.05 * size


@pytest.mark.slow("a large file")
def test_the_allowance_is_broken_by_a_program_that_holds_the_file(growth, tmp_path):
    path = tmp_path / "in.csv"
    write(path, LARGE)
    code = "import sys; held = open(sys.argv[1], 'rb').read()"
    assert growth(path, code=code) > ALLOWANCE
    path.unlink()


@pytest.mark.slow("writes and reads files of hundreds of megabytes", seconds=7)
def test_workers_are_no_larger(growth, tmp_path):
    path = tmp_path / "in.csv"
    write(path, LARGE)
    assert growth(path, "--jobs", "2", "--force") < ALLOWANCE
    path.unlink()


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "size", "share"),
    [
        ("in.txt", 1000 * MEGABYTE, 0.999),
        ("in.csv", 1500 * MEGABYTE, 0.5),
        ("in.jsonl", 1500 * MEGABYTE, 0.5),
        ("in.parquet", 1500 * MEGABYTE, 0.5),
    ],
)
def test_a_gigabyte_of_text_takes_little_more(growth, tmp_path, name, size, share):
    path = tmp_path / name
    write(path, size, share)
    assert path.stat().st_size > 0.95 * size
    assert growth(path, "--force") < 1.7 * ALLOWANCE
    path.unlink()
    (tmp_path / "out").unlink()
