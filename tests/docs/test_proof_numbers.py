"""Numbers that proofs state of the default space, measured again."""

from __future__ import annotations

import json
import re
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

import mondegreen as mg
from mondegreen.mechanisms.baselines.custext import build_clusters
from mondegreen.mechanisms.laws.certificate import lower_bounds
from mondegreen.mechanisms.noise.private_vectors import (
    PrivateVectors,
    gaussian_projection,
)
from mondegreen.mechanisms.selection.exponential import ExponentialLaw

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def space():
    return mg.load_space()


def read_proof(name):
    text = (ROOT / "docs" / "proofs" / f"{name}.md").read_text("utf-8")
    return re.sub(r"\s+", " ", text)


def test_the_unknown_word_does_not_attain_its_bound_on_the_default_space():
    result = ROOT / "benchmarks" / "results" / "certificates.json"
    laws = json.loads(result.read_text("utf-8"))["laws"]
    (law,) = (each for each in laws if round(each["rate"], 2) == 5.68)
    bound, exact = round(law["stated_before"], 2), round(law["brute_force"], 2)
    said = f"at rate 5.68, the bound gives {bound}, and the exact value is {exact}"
    assert said in read_proof("calibrated")


@pytest.mark.slow("shipped certificates", seconds=20)
def test_the_bound_that_checks_a_stored_certificate_is_close(space):
    stored = files("mondegreen.space") / "data" / "glove-840b-34k.certificates.json"
    known = json.loads(stored.read_text("utf-8"))["laws"]
    names = [*list(known)[::20], "1.73191 13.18837296"]  # the last is the least of all
    laws = [ExponentialLaw(space, *map(float, name.split())) for name in names]
    shares = np.array(lower_bounds(laws)) / [known[name] for name in names]
    assert shares.max() <= 1
    assert round(float(shares.min()), 3) == round(float(shares[-1]), 3) == 0.848
    assert f"{len(known)} shipped certificates" in read_proof("calibrated")
    assert "0.848 of the certificate or more" in read_proof("calibrated")


@pytest.mark.slow("clusters and neighbors of all words", seconds=40)
def test_clusters_of_custext_separate_neighbors(space):
    clusters = build_clusters(space, 20)
    cluster = np.empty(space.vocab_size, dtype=int)
    for number, members in enumerate(clusters):
        cluster[members] = number
    words = space.vectors.astype(np.float32)
    squares = (words**2).sum(axis=1)
    nearest = np.empty(len(words), dtype=int)
    for start in range(0, len(words), 1024):
        some = np.arange(start, min(start + 1024, len(words)))
        table = squares - 2 * words[some] @ words.T
        table[some - start, some] = np.inf
        nearest[some] = table.argmin(axis=1)
    share = float((cluster != cluster[nearest]).mean())
    assert f"**{share:.0%} of the words" in read_proof("custext").replace("77 %", "77%")
    oslo = clusters[cluster[space.words.index("oslo")]]
    assert {"lax", "obtuse", "persnickety"} <= {space.words[each] for each in oslo}


@pytest.mark.slow("a projection of all words", seconds=40)
def test_the_projection_of_private_vectors_has_the_stated_numbers(space):
    state = PrivateVectors(epsilon=20.0, projection_dim=50).prepare(space)
    constant = float(state.guarantee.certified_how.rpartition(" ")[2])
    norm = float(np.linalg.norm(gaussian_projection(space.dim, 50, 0), 2))
    assert f"it is {constant:.3f}." in read_proof("private-vectors")
    assert f"is {norm:.2f} and would double" in read_proof("private-vectors")
    rng = np.random.default_rng(3)
    ids = rng.integers(0, space.vocab_size, 3000, dtype=np.int32)
    whole = PrivateVectors(epsilon=20.0).prepare(space)
    assert np.mean(whole.sample(ids, rng) == ids) == pytest.approx(0.95, abs=0.015)
    assert np.mean(state.sample(ids, rng) == ids) == pytest.approx(0.99, abs=0.01)
