"""Codes: how they are made, kept, found and refused."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from safetensors.numpy import load_file

import mondegreen as mg
from mondegreen.cli.public.space import space as command
from mondegreen.errors import (
    DataError,
    InvalidParameterError,
    SpaceError,
    SpaceIntegrityError,
)
from mondegreen.space import store
from mondegreen.space.binarize import binarize, majority, train_encoder, with_codes
from mondegreen.space.codes import Codes, measure_codes
from mondegreen.space.file import read_header
from mondegreen.space.space import Space
from mondegreen.space.store import load_codes, load_space, save_space

DEFAULT_DIGEST = "02ecad8b7461565077a158cc5f0300ecfb09e0af64b7eee8a73599c57f5ba4fc"
CODES_DIGEST = "1d741b496544718ef5af81740b45e658b97c83f9991f6666527677b74b3be284"
BUNDLED = (
    Path(store.__file__).parent / "data/codes/glove-840b-34k.codes-256.safetensors"
)
METHODS = pytest.mark.parametrize("method", ["tissier", "hyperplane"])


def cloud(count=300, dim=20, seed=4):
    """Words around a few centres, so that there is a structure to keep."""
    rng = np.random.default_rng(seed)
    centres = 3 * rng.normal(size=(12, dim))
    vectors = centres[rng.integers(0, 12, size=count)] + rng.normal(size=(count, dim))
    names = [f"w{i}" for i in range(count)]
    return Space.from_arrays("cloud", names, vectors, {"licence": "CC0-1.0"})


def distances(codes):
    bits = np.unpackbits(codes.table, axis=1)
    return (bits[:, None] != bits[None]).sum(axis=2)


# Making codes


@METHODS
def test_codes_are_the_same_every_time(method):
    space = cloud()
    one, two = (with_codes(space, bits=64, method=method).codes for _ in range(2))
    assert one.digest == two.digest
    assert one.table.shape == (300, 8)
    assert one.method == method


@METHODS
def test_words_at_one_point_have_one_code(method):
    space = cloud()
    vectors = np.concatenate([space.vectors, space.vectors[:50]])
    table = binarize(vectors, bits=32, method=method)
    assert (table[300:] == table[:50]).all()


@METHODS
@pytest.mark.parametrize("shift", [0.0, 100.0])
def test_codes_keep_near_words_near_wherever_the_centroid_is(method, shift):
    space = cloud()
    table = binarize(space.vectors + np.float32(shift), bits=256, method=method)
    far = distances(Codes.of(table, table[0], "x"))
    x = space.vectors.astype(float)
    true = np.sqrt(((x[:, None] - x[None]) ** 2).sum(axis=2))
    upper = np.triu_indices(300, 1)
    assert np.corrcoef(far[upper], true[upper])[0, 1] > 0.65
    assert abs(np.unpackbits(table, axis=1).mean() - 0.5) < 0.05


def test_training_makes_the_decoder_better_than_random_hyperplanes():
    space = cloud(600)
    x = (space.vectors - space.vectors.mean(axis=0)).astype(np.float32)
    x *= 0.3 / x.std()
    rng = np.random.default_rng(0)
    learned = train_encoder(x, 64, rng)
    random = rng.standard_normal(learned.shape) * np.linalg.norm(learned) / 36

    def error(weights):
        codes = (x @ weights.T > 0) - 0.5
        return ((np.tanh(codes @ weights) - x) ** 2).mean() / (x**2).mean()

    assert error(learned) < 0.6 < error(random)


@pytest.mark.parametrize("vectors", [[[1.0]], [[1.0], [1.0]], [[0.0, 0], [1, 0]]])
@METHODS
def test_the_smallest_spaces_have_codes(vectors, method):
    words = [f"w{i}" for i in range(len(vectors))]
    space = with_codes(Space.from_arrays("s", words, vectors), bits=8, method=method)
    assert space.codes.table.shape == (len(vectors), 1)


@pytest.mark.parametrize("bits", [0, 4, 12, -8, 8.0, True, 4104])
def test_codes_fill_whole_bytes(bits):
    with pytest.raises(InvalidParameterError, match="a multiple of 8"):
        with_codes(cloud(), bits=bits)
    with pytest.raises(InvalidParameterError, match="one of tissier, hyperplane"):
        with_codes(cloud(), method="pca")


def test_the_unknown_word_has_the_code_in_the_middle():
    codes = with_codes(cloud(), bits=32).codes
    assert (codes.unknown == majority(codes.table)).all()
    every = np.random.default_rng(0).integers(0, 256, size=(500, 4), dtype=np.uint8)
    mean = np.bitwise_count(codes.table ^ codes.unknown).sum(axis=1).mean()
    others = [np.bitwise_count(codes.table ^ c).sum(axis=1).mean() for c in every]
    assert mean <= min(others)
    assert majority(np.array([[1], [2]], dtype=np.uint8)).tolist() == [0]


def test_distances_of_codes_are_measured_exactly():
    rng = np.random.default_rng(2)
    for count, size in ((1, 1), (2, 1), (60, 1), (60, 4)):
        table = rng.integers(0, 256, size=(count, size), dtype=np.uint8)
        unknown = rng.integers(0, 256, size=size, dtype=np.uint8)
        found = measure_codes(table, unknown)
        inputs = distances(Codes.of(np.vstack([table, unknown]), unknown, "x"))
        words = inputs[:-1, :-1]
        assert found.diameter == inputs.max()
        assert found.closest == min(inputs[inputs > 0], default=0)
        if count > 1:
            apart = words + 10**6 * np.eye(count, dtype=int)
            assert found.nearest == np.median(apart.min(axis=1))
            assert found.mean == pytest.approx(words.sum() / (count * (count - 1)))


# Codes in a space


def test_a_space_without_codes_has_the_digest_it_always_had():
    space = load_space()
    assert space.digest == DEFAULT_DIGEST
    assert space.codes is None


def test_codes_are_part_of_the_digest_of_a_space():
    space = cloud()
    digests = {
        space.digest,
        with_codes(space, bits=16).digest,
        with_codes(space, bits=24).digest,
        with_codes(space, bits=16, method="hyperplane").digest,
    }
    assert len(digests) == 4


def test_codes_are_frozen_and_fit_the_words():
    space = with_codes(cloud(), bits=16)
    with pytest.raises(ValueError, match="read-only"):
        space.codes.table[0] = 1
    with pytest.raises(SpaceError, match="need as many codes"):
        Space.from_codes("s", ["a"], space.codes)
    with pytest.raises(SpaceError, match="do not fit"):
        Codes.of([[1], [2]], [1, 2], "x")


def test_inputs_have_codes_the_unknown_word_too():
    codes = with_codes(cloud(), bits=16).codes
    ids = np.array([3, 300, 0], dtype=np.int32)
    points = codes.points(ids)
    assert (points == [codes.table[3], codes.unknown, codes.table[0]]).all()
    points[:] = 0  # a copy
    assert (codes.points(ids)[1] == codes.unknown).all()


@pytest.mark.parametrize("only", [False, True])
def test_codes_survive_a_file_and_a_pickle(tmp_path, only):
    space = with_codes(cloud(), bits=32)
    if only:
        space = Space.from_codes("cloud", space.words, space.codes, space.about)
    path = tmp_path / "c.safetensors"
    save_space(space, path)
    again = load_space(path)
    for other in (again, pickle.loads(pickle.dumps(space)), _pickled(again)):
        assert other.digest == space.digest
        assert other.codes.digest == space.codes.digest
        assert other.codes.geometry == space.codes.geometry
        assert (other.words, other.about) == (space.words, space.about)
        assert other.has_vectors != only
    assert isinstance(again.codes.table, np.memmap)
    first = path.read_bytes()
    save_space(again, path, force=True)
    assert path.read_bytes() == first
    tensors = load_file(path)
    assert (tensors["codes"] == space.codes.table).all()
    assert (tensors["unknown_code"] == space.codes.unknown[None]).all()
    assert set(tensors) - {"codes", "unknown_code", "words"} == (
        set() if only else {"unknown", "vectors"}
    )


def _pickled(space):
    return pickle.loads(pickle.dumps(space))


@pytest.mark.slow("every byte", but="True")
@pytest.mark.parametrize("only", [False, True])
def test_every_changed_byte_of_a_file_with_codes_is_noticed(tmp_path, only):
    space = with_codes(cloud(6, 3), bits=16)
    if only:
        space = Space.from_codes("cloud", space.words, space.codes, space.about)
    path = tmp_path / "c.safetensors"
    save_space(space, path)
    content = path.read_bytes()
    end = 8 + int.from_bytes(content[:8], "little")
    for i in range(len(content)):
        if content[i : i + 1] == b" " and i < end:
            continue  # the padding of the header carries nothing
        path.write_bytes(content[:i] + bytes([content[i] ^ 1]) + content[i + 1 :])
        with pytest.raises(SpaceError):
            load_space(path)


LIES = {
    "codes without a digest": lambda h: h["__metadata__"].pop("codes"),
    "codes of another kind": lambda h: h["codes"].update(dtype="F16"),
    "one code more": lambda h: h["codes"].update(shape=[7, 2]),
    "a longer unknown code": lambda h: h["unknown_code"].update(shape=[2, 1]),
    "no unknown code": lambda h: h.pop("unknown_code"),
    "no codes": lambda h: h.pop("codes"),
    "metadata that is no object": lambda h: h["__metadata__"].update(codes="[]"),
    "a format of codes alone": lambda h: h["__metadata__"].update(
        format="mondegreen-codes/1", metric="hamming"
    ),
}


@pytest.mark.parametrize("lie", LIES.values(), ids=LIES)
def test_a_header_that_lies_about_codes_is_refused(tmp_path, lie):
    path = tmp_path / "c.safetensors"
    save_space(with_codes(cloud(6, 3), bits=16), path)
    content = path.read_bytes()
    size = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + size])
    lie(header)
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + content[8 + size :])
    with pytest.raises(SpaceError):
        load_space(path)


def test_a_space_of_codes_alone_serves_binary_mechanisms_and_no_other():
    full = with_codes(cloud(), bits=64)
    space = Space.from_codes("cloud", full.words, full.codes)
    assert "bits=64" in repr(space)
    assert (space.vocab_size, space.get_id("w3")) == (300, 3)
    for cls in mg.mechanisms():
        if cls.family == "binary":
            state = cls(epsilon=1.0).prepare(space)
            assert len(state.sample(np.arange(301), np.random.default_rng(0))) == 301
        elif cls.is_private and cls.space_metrics:
            with pytest.raises(SpaceError, match=r"codes|hamming"):
                cls(epsilon=1.0).prepare(space)
    for name in ("vectors", "geometry", "unknown", "dim", "canonical"):
        with pytest.raises(SpaceError, match="has codes and no vectors"):
            getattr(space, name)
    assert not hasattr(space, "spam")


# The codes of the package


def test_the_codes_of_the_default_space_are_the_pinned_ones():
    codes = load_codes(load_space())
    assert (codes.bits, codes.method, codes.digest) == (256, "tissier", CODES_DIGEST)
    alone = load_space(BUNDLED)
    assert alone.words == load_space().words
    assert alone.about["vectors"] == DEFAULT_DIGEST


def test_the_artifact_is_small():
    assert BUNDLED.stat().st_size < 2_000_000
    header = read_header(BUNDLED)
    assert (header.vocab_size, header.dim, header.dtype) == (33_860, 256, "bit")


def test_other_codes_than_the_pinned_ones_are_refused(monkeypatch):
    (name, _), *_ = store._BUNDLED_CODES.values()
    monkeypatch.setitem(store._BUNDLED_CODES, DEFAULT_DIGEST, (name, "0" * 64))
    with pytest.raises(SpaceIntegrityError, match="the codes have another digest"):
        load_codes(load_space())


@pytest.mark.long
def test_the_codes_of_the_package_can_be_made_again():
    assert with_codes(load_space()).codes.digest == CODES_DIGEST


@pytest.mark.slow("all words of the space")
def test_the_codes_of_the_package_keep_neighbours():
    faiss = pytest.importorskip("faiss")
    space = load_space()
    codes = load_codes(space)
    sample = np.arange(0, space.vocab_size, 100)
    exact = faiss.IndexFlatL2(space.dim)
    exact.add(space.vectors.astype(np.float32))
    _, near = exact.search(space.vectors[sample].astype(np.float32), 11)
    binary = faiss.IndexBinaryFlat(256)
    binary.add(np.ascontiguousarray(codes.table))
    _, found = binary.search(np.ascontiguousarray(codes.table[sample]), 11)
    kept = [len({*a} & {*b}) - 1 for a, b in zip(near, found, strict=True)]
    assert np.mean(kept) > 4.5  # of ten; random hyperplanes keep 4.4


# The command


def run(*arguments):
    return CliRunner().invoke(command, [str(each) for each in arguments])


def test_the_command_makes_both_kinds_of_file(tmp_path):
    source, full, only = (tmp_path / f"{n}.safetensors" for n in ("s", "f", "o"))
    save_space(cloud(), source)
    for out, extra in ((full, []), (only, ["--codes-only"])):
        made = run("binarize", source, "-o", out, "--bits", 64, "--json", *extra)
        assert made.exit_code == 0, (made.output, made.exception)
        assert json.loads(made.stdout)["digest"] == load_space(out).digest
        assert run("info", out).exit_code == 0
        assert run("verify", out).exit_code == 0
        again = run("binarize", source, "-o", out)
        assert isinstance(again.exception, DataError)
    assert load_space(full).codes.digest == load_space(only).codes.digest
    assert load_space(only).about["vectors"] == load_space(source).digest
    assert only.stat().st_size < source.stat().st_size
    assert "measured again" in run("verify", only).stdout
    wrong = run("binarize", source, "-o", tmp_path / "x.safetensors", "--bits", 12)
    assert isinstance(wrong.exception, InvalidParameterError)
