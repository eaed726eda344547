"""Memory is bounded by the batch, whatever the size of the file."""

import json
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

RUN = """
import resource, sys
from mondegreen.io.open import open_source
from mondegreen.io.open import open_sink
def copy(path):
    source = open_source(path)
    with open_sink(path + ".out", source, force=True) as sink:
        for batch in source.batches():
            sink.write(batch)
        sink.commit()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
small = copy(sys.argv[1])
print((copy(sys.argv[2]) - small) // 1024)
"""

TEXT = "the music of the xylophone was heard all over the quiet harbour " * 16


def write(path, megabytes: int) -> None:
    """Write about so many megabytes of records of a kilobyte."""
    count = megabytes * 1024
    if path.suffix == ".parquet":
        table = pa.table({"text": [TEXT] * 1024, "n": range(1024)})
        whole = pa.concat_tables([table] * megabytes)  # one row group
        pq.write_table(
            whole,
            path,
            compression="none",
            use_dictionary="dictionary" in path.name,
            row_group_size=count,
        )
        return
    line = {
        ".txt": TEXT,
        ".csv": f'1,"{TEXT}\n"',
        ".json": json.dumps({"n": 1, "text": TEXT}),
        ".jsonl": json.dumps({"n": 1, "text": TEXT}),
    }[path.suffix]
    with path.open("w") as file:
        if path.suffix == ".json":  # one line, as most programs write it
            file.write("[" + (line + ",") * (count - 1) + line + "]")
            return
        if path.suffix == ".csv":
            file.write("n,text\n")
        for _ in range(megabytes):
            file.write((line + "\n") * 1024)


def growth(tmp_path, name: str, megabytes: int) -> int:
    """Return by how many megabytes a file passes the peak of a small one."""
    small, large = tmp_path / f"small-{name}", tmp_path / name
    write(small, 1)
    write(large, megabytes)
    command = [sys.executable, "-c", RUN, str(small), str(large)]
    return int(subprocess.run(command, capture_output=True, check=True).stdout)


NAMES = ["a.txt", "a.csv", "a.json", "a.jsonl", "a.parquet", "dictionary.parquet"]


# Measured: 10 (txt), 35 (csv), 30 (jsonl), 70 to 95 (Parquet: row groups of 16 MB).
@pytest.mark.parametrize("name", ["a.csv", "a.json", "a.parquet"])
@pytest.mark.slow("a file of 120 megabytes")
def test_a_file_of_120_megabytes_passes_in_a_few_batches(tmp_path, name):
    assert growth(tmp_path, name, 120) < 120


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_a_file_of_400_megabytes_needs_no_more(tmp_path, name):
    assert growth(tmp_path, name, 400) < 120
