"""The committed vectors of keyed noise stay true, and so does what they are made of."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys

import pyarrow as pa
import pytest

from vectors import keyed

FOUND = json.loads(keyed.FILE.read_text("utf-8"))
SPACE = keyed.tiny_space()


def blake(data, **options):
    return hashlib.blake2b(data, digest_size=32, **options).digest()


@pytest.mark.parametrize("vector", FOUND["masters"])
def test_the_master_key_is_a_digest_of_the_key(vector):
    key = bytes.fromhex(vector["key"])
    assert blake(key, person=b"mondegreen-key").hex() == vector["master"]


@pytest.mark.parametrize("vector", FOUND["streams"])
def test_the_key_of_a_stream_is_what_the_page_says(vector):
    fields = (
        blake(bytes.fromhex(vector["scope"])),
        blake(vector["id"].encode()),
        vector["place"].to_bytes(8, "little"),
        blake(vector["text"].encode()),
    )
    master = bytes.fromhex(vector["master"])
    key = blake(b"".join(fields), key=master, person=b"mondegreen-rec")
    assert key.hex() == vector["stream_key"]


def test_the_vectors_are_what_the_package_derives_and_releases():
    found = keyed.vectors()
    for part, values in found.items():
        if part != "releases":
            assert json.loads(json.dumps(values)) == FOUND[part], part
    for made, kept in zip(found["releases"], FOUND["releases"], strict=True):
        assert made == kept, "python tests/vectors/keyed.py, if it is meant to differ"


@pytest.mark.slow("a whole process")
def test_the_vectors_do_not_hang_on_the_process():
    done = subprocess.run([sys.executable, keyed.__file__, "--check"], check=False)
    assert done.returncode == 0


@pytest.mark.parametrize(
    "vector", [v for v in FOUND["releases"] if v["space"] == "sixteen"][::3]
)
def test_every_way_in_gives_the_release_of_the_vector(vector):
    p = keyed.privatizer(vector, SPACE)
    text, id, column = vector["texts"][0], vector["id"], vector["column"]
    first = vector["releases"][0]
    batch = pa.record_batch({"there": [text], "n": [id]})
    dictionary = pa.array([text], pa.dictionary(pa.int8(), pa.large_string()))
    arrow = p.arrow(batch, {"there": column}, id_column="n")
    found = [
        p(text, id=id, column=column).text,
        p.batch(["colda", text], [1, id], column=column)[1].text,
        *(str(release) for release in p.stream([text], [str(id)], column=column)),
        p.column(pa.array([text]), [id], column=column)[0].as_py(),
        p.column(dictionary, [id], column=column)[0].as_py(),
        p.column(pa.chunked_array([[[None, text]]]), [id], column=column)[0].as_py()[1],
        arrow.column("there")[0].as_py(),
    ]
    assert found == [first] * len(found)
