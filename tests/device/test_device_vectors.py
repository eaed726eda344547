"""The committed vectors of the device client are what this package does."""

from __future__ import annotations

import gzip
import hashlib
import json
import subprocess
import sys

import pytest

import mondegreen as mg
from mondegreen.sampling.noise import KeyedNoise
from mondegreen.text.tokenizer import canonical, tokenize
from vectors.device import device_vectors as device

FOUND = json.loads(gzip.decompress((device.FOLDER / "vectors.json.gz").read_bytes()))


def test_they_are_twenty_thousand_texts_of_all_scripts_and_categories():
    assert len(FOUND["texts"]) >= 0.99 * device.TEXTS
    every = set("".join(text for text, *_ in FOUND["texts"]))
    kinds = {device.unicodedata.category(c) for c in every}
    assert len(kinds) == 30  # all that Unicode has
    names = {device.unicodedata.name(c, "").split(" ")[0] for c in every}
    scripts = {"LATIN", "GREEK", "CYRILLIC", "ARABIC", "HEBREW", "DEVANAGARI", "THAI"}
    assert scripts | {"HANGUL", "HIRAGANA", "CJK", "ETHIOPIC", "CHEROKEE"} <= names
    assert len(names) > 200


@pytest.mark.slow("thousands of texts")
def test_python_cuts_the_texts_and_looks_their_words_up_so():
    for text, lengths, forms in FOUND["texts"]:
        (parts,) = tokenize([text]).parts
        assert list(map(device.units, parts)) == lengths
        words = parts[1::2]
        pairs = zip(words, [*words[1:], ""], strict=False)
        found = [canonical(word, following) for word, following in pairs]
        assert device.digest("\n".join(found)) == forms


def test_python_releases_the_texts_so():
    noise = KeyedNoise(bytes.fromhex(FOUND["key"]))
    p = mg.Privatizer(mg.mechanism("tree", epsilon=10.0), noise=noise)
    for case in FOUND["releases"]:
        if case["epsilon"] != 10:
            continue
        release = p(case["text"], id=case["id"], column=case["column"])
        assert release.text == case["release"]


def test_python_draws_again_so():
    cases = list(device.redraws())
    assert json.loads(json.dumps(cases)) == FOUND["redraws"]
    # More words of noise than the draws alone: some were drawn again.
    tree = [case for case in cases if case["artifact"] != "bits"]
    assert any(case["used"] > 1 + 2 * len(case["words"]) for case in tree)
    (bits,) = [case for case in cases if case["artifact"] == "bits"]
    assert bits["used"] > 1 + (16 + 2) * len(bits["words"])


def test_the_digest_of_a_block_of_characters_would_change_with_one():
    plane = [chr(p) for p in range(0x1000)]
    assert device.digest("\n".join(map(canonical, plane))) == FOUND["canonical"][0]
    plane[7] = "x"
    assert device.digest("\n".join(map(canonical, plane))) != FOUND["canonical"][0]
    assert hashlib.sha256(b"").hexdigest()[:12] == device.digest("")


@pytest.mark.slow("all artifacts and all of Unicode", seconds=20)
def test_the_files_are_what_the_script_writes():
    path = f"import sys; sys.path[:0] = {sys.path!r}; sys.argv.append('--check')\n"
    code = "from vectors.device import device_vectors as d; sys.exit(d.main())"
    done = subprocess.run([sys.executable, "-c", path + code], check=False)
    assert done.returncode == 0, "write them again, if they are meant to differ"
