"""A small public space, and a folder to work in, for tests of the command line."""

import numpy as np
import pytest

import mondegreen as mg
from mondegreen.space.store import save_space

WORDS = [f"{a}{b}{c}" for a in "bdfgklmnpr" for b in "aeiou" for c in "dgkmnprst"]


@pytest.fixture(scope="session")
def space_file(tmp_path_factory):
    vectors = np.random.default_rng(0).normal(size=(len(WORDS), 8))
    path = tmp_path_factory.mktemp("space") / "small.safetensors"
    save_space(mg.Space.from_arrays("small", WORDS, vectors), path)
    return str(path)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path
