"""Vectors of keyed noise: what any implementation must derive and release.

``python tests/vectors/keyed.py`` writes ``keyed.json`` beside it, and ``--check``
compares. They change only where a release changes its meaning on purpose: with the
format of a space, whose digest is in the scope, or with a law.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa

import mondegreen as mg
from mondegreen.sampling.noise import KeyedNoise, stream_key
from mondegreen.space.binarize import with_codes
from mondegreen.space.store import with_tree
from mondegreen.space.tree import WordTree

FILE = Path(__file__).with_suffix(".json")
KEYS = (bytes(range(32)), bytes(range(100, 164)))
WORDS = tuple(f"{a}{b}" for a in ("cold", "warm", "mild", "hot") for b in "abcd")
LABELS = [range(16), [i // 2 for i in range(16)], [i // 8 for i in range(16)], [0] * 16]
TEXT = "Colda WARMB mildc, hotd; Zyx isn't 4711!\n"
STREAMS = [
    (b"", "", 0, ""),
    (bytes(range(32)), "7", 0, "a text"),
    (bytes(range(32)), "7", 1, "a text"),
    (bytes(range(32)), "-12345678901234567890", 0, "a text"),
    (bytes(range(32)), "naïve id", 2**40, "Straße, 東京 🐈\n"),
]
SETTINGS = {
    "tree": {"epsilon": 2.0},
    "tem": {"epsilon": 1.5},
    "exponential": {"epsilon": 1.5},
    "brr": {"epsilon": 0.25},
}
POLICIES = ({}, {"unknown": "mask", "keep": ["Zyx"], "case": "restore"})
DEFAULT = {"mechanism": "tree", "parameters": {"epsilon": 10.0}}


def tiny_space() -> mg.Space:
    """Sixteen words on a grid of integers, with a tree and with codes of 16 bits."""
    points = [[float(i % 4), float(i // 4), float(i % 3)] for i in range(16)]
    space = mg.Space.from_arrays("sixteen", WORDS, points)
    space = with_codes(space, bits=16, method="hyperplane")
    return with_tree(space, WordTree.from_labels(LABELS))


def privatizer(case: dict, space: mg.Space | None) -> mg.Privatizer:
    """Return the privatizer of a vector."""
    return mg.Privatizer(
        mg.mechanism(case["mechanism"], **case["parameters"]),
        space,
        noise=KeyedNoise(bytes.fromhex(case["key"])),
        **case["policies"],
    )


def release(case: dict, space: mg.Space | None) -> list[str | None]:
    """Release the texts of one record and column as a list, by their places."""
    array = pa.array([case["texts"]], pa.list_(pa.string()))
    released = privatizer(case, space).column(
        array, [case["id"]], column=case["column"]
    )
    return released.to_pylist()[0]


def cases() -> list[dict]:
    """Return what goes in."""
    plain = [
        {"mechanism": name, "parameters": values, "policies": policies}
        for name, values in SETTINGS.items()
        for policies in POLICIES
    ]
    texts = [TEXT, None, TEXT, "", "colda"]
    found = [
        {"space": "sixteen", **one, "key": KEYS[0].hex(), "id": id, "column": column}
        for one in plain
        for id, column in ((7, "text"), ("7b", "text"), (7, "note.body"))
    ]
    found += [{**found[0], "key": KEYS[1].hex()}]
    default = {"space": "glove-840b-34k", **DEFAULT, "policies": {}}
    found += [{**default, "key": KEYS[0].hex(), "id": 7, "column": "text"}]
    return [{**one, "texts": texts} for one in found]


def vectors() -> dict:
    """Return everything that is written."""
    space = tiny_space()
    streams = [
        {
            "master": master.hex(),
            "scope": scope.hex(),
            "id": id,
            "place": place,
            "text": text,
            "stream_key": stream_key(master, scope, id, place, text).hex(),
        }
        for master in (bytes(32), KEYS[0])
        for scope, id, place, text in STREAMS
    ]
    masters = [{"key": key.hex(), "master": KeyedNoise(key)._key.hex()} for key in KEYS]
    releases = []
    for case in cases():
        own = space if case["space"] == space.name else None
        scope = privatizer(case, own)._scope(case["column"]).hex()
        releases.append({**case, "scope": scope, "releases": release(case, own)})
    return {
        "format": "mondegreen-keyed-vectors/1",
        "masters": masters,
        "streams": streams,
        "words": space.words,
        "points": np.asarray(space.vectors).astype(int).tolist(),
        "releases": releases,
    }


def written(found: dict) -> str:
    """Return the text of the file."""
    return json.dumps(found, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    text = written(vectors())
    if "--check" in sys.argv:
        sys.exit(FILE.read_text("utf-8") != text)
    FILE.write_text(text, "utf-8")
