"""docs/reference/space-format.md, followed to the letter by another reader."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest
from safetensors import safe_open

import mondegreen as mg
from mondegreen.space.binarize import with_codes
from mondegreen.space.store import save_space

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "space-format.md"
POINTS = np.random.default_rng(0).uniform(-0.4, 0.4, size=(12, 3))
WORDS = [f"w{i}" for i in range(12)]


def spaces():
    for metric in ("euclidean", "poincare"):
        plain = mg.Space.from_arrays(metric, WORDS, POINTS, metric=metric)
        coded = with_codes(plain, bits=24)
        yield from (plain, coded)
    yield mg.Space.from_codes("codes", coded.words, coded.codes)


@pytest.mark.parametrize("space", list(spaces()), ids=repr)
def test_the_page_describes_what_is_written(space, tmp_path):
    path = tmp_path / "s.safetensors"
    save_space(space, path)
    with safe_open(path, framework="numpy") as file:
        tensors = {name: file.get_tensor(name) for name in file.keys()}
        metadata = file.metadata()
    page = PAGE.read_text("utf-8")
    assert all(f"| `{name}` |" in page for name in (*tensors, *metadata))
    assert f"`{metadata['metric']}`" in page
    assert f"`{metadata['format']}`" in page

    head = {"format": metadata["format"], "name": metadata["name"]}
    parts = [tensors["words"]]
    if "codes" in metadata:
        codes = json.loads(metadata["codes"])
        shape = list(tensors["codes"].shape)
        own = {key: codes[key] for key in ("geometry", "method")} | {"shape": shape}
        both = [tensors["unknown_code"], tensors["codes"]]
        assert digest(own, both) == codes["digest"]
        head["codes"] = codes["digest"]
    if "vectors" in tensors:
        vectors = tensors["vectors"]
        shape, dtype = list(vectors.shape), vectors.dtype.str
        head |= {"dtype": dtype, "metric": metadata["metric"], "shape": shape}
        head["geometry"] = json.loads(metadata["geometry"])
        parts += [tensors["unknown"], vectors]
    assert digest(head, parts) == metadata["digest"] == space.digest
    rest = {key: value for key, value in metadata.items() if key != "checksum"}
    assert digest(rest, []) == metadata["checksum"]


def digest(head, parts):
    state = hashlib.sha256(json.dumps(head, sort_keys=True).encode())
    for part in parts:
        state.update(part.tobytes())
    return state.hexdigest()


def test_distances_of_the_ball_are_those_of_the_page():
    space = mg.Space.from_arrays("ball", WORDS, POINTS, metric="poincare")
    x, y = space.points(np.array([0, 1], dtype=np.int32))
    room = (1 - x @ x) * (1 - y @ y)
    expected = 2 * np.arcsinh(np.linalg.norm(x - y) / np.sqrt(room))
    found = mg.Space.from_arrays("two", ["a", "b"], [x, y], metric="poincare")
    assert found.geometry.mean == pytest.approx(expected, rel=1e-6)
