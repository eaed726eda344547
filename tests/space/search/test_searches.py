"""All searches find the words that float64 finds, and refuse what they must."""

from __future__ import annotations

import sys
import threading

import numpy as np
import pytest

from mondegreen.errors import (
    ConfigurationError,
    InvalidParameterError,
    MondegreenError,
    OptionalDependencyError,
)
from mondegreen.space.search.decoders import (
    DECODERS,
    check_decoder,
    decoder_search,
)

SHAPES = [(1, 1), (3, 2), (2500, 40)]


def search(decoder, vectors):
    if decoder != "exact":
        pytest.importorskip("torch", reason="needs mondegreen[torch]")
    return decoder_search(decoder, vectors)


def words(shape):
    rng = np.random.default_rng(shape[0])
    vectors = rng.standard_normal(shape) * rng.gamma(5, 0.2, (shape[0], 1))
    vectors[:, 0] *= 4  # a wide coordinate and a common part, as embeddings have
    vectors += 0.5
    return vectors.astype(np.float16)


def noisy(vectors, rows, length, seed=1):
    rng = np.random.default_rng(seed)
    noise = rng.standard_normal((rows, vectors.shape[1])) * length
    return vectors[rng.integers(0, len(vectors), rows)] + noise


def distances(points, vectors):
    """Squared distances in float64, less that of the point from the origin."""
    wide = vectors.astype(np.float64)
    return np.einsum("ij,ij->i", wide, wide) - 2 * points.astype(np.float32) @ wide.T


@pytest.mark.parametrize("decoder", DECODERS)
@pytest.mark.parametrize("k", [1, 2, 5, 9])
def test_words_at_one_point_come_by_their_ids_whatever_the_batch(decoder, k):
    order = np.random.default_rng(5).permutation(120)
    vectors = np.repeat(words((30, 4)), 4, axis=0)[order]
    points = noisy(vectors, 700, 0.3)
    found = search(decoder, vectors)
    whole = found.nearest(points, k)
    wide = vectors.astype(np.float64)
    gaps = ((points[:, None].astype(np.float32) - wide) ** 2).sum(axis=2)
    np.testing.assert_array_equal(whole, np.argsort(gaps, axis=1, kind="stable")[:, :k])
    for size in (1, 3, 4, 511, 512):
        parts = [found.nearest(points[i : i + size], k) for i in range(0, 700, size)]
        np.testing.assert_array_equal(np.concatenate(parts), whole)


@pytest.mark.parametrize("decoder", DECODERS)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("length", [0.0, 0.1, 3.0, 1e6, 1e25])
@pytest.mark.parametrize("k", [1, 2, 12])
@pytest.mark.parametrize("rows", [1, 90, 600])
@pytest.mark.slow("distances in double precision")
def test_the_words_are_those_of_double_precision(decoder, shape, length, k, rows):
    vectors = words(shape)
    points = noisy(vectors, rows, length)
    found = search(decoder, vectors).nearest(points, k)
    k = min(k, shape[0])
    assert found.shape == (rows, k)
    assert found.dtype == np.int32
    assert all(len(set(row)) == k for row in found.tolist())
    exact = distances(points, vectors)
    best = np.sort(exact, axis=1)[:, :k]
    reached = np.take_along_axis(exact, found.astype(np.int64), axis=1)
    size = np.abs(exact).max() + 1e-3
    np.testing.assert_allclose(reached, best, rtol=0, atol=3e-5 * size)


@pytest.mark.parametrize("decoder", DECODERS)
def test_words_at_one_point_and_at_the_origin_are_found(decoder):
    vectors = np.zeros((40, 5), dtype=np.float32)
    vectors[20:] = 1
    found = search(decoder, vectors).nearest(np.array([[0.1] * 5, [2.0] * 5]), 3)
    assert (found[0] < 20).all()
    assert (found[1] >= 20).all()


@pytest.mark.parametrize("decoder", DECODERS)
def test_no_points_give_no_words(decoder):
    assert search(decoder, words((3, 2))).nearest(np.empty((0, 2)), 2).shape == (0, 2)


@pytest.mark.parametrize("decoder", DECODERS)
@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e300])
def test_a_point_that_is_not_finite_is_refused(decoder, bad):
    points = np.ones((3, 2))
    points[1, 1] = bad
    with (
        np.errstate(over="ignore"),
        pytest.raises(MondegreenError, match="nothing was released"),
    ):
        search(decoder, words((3, 2))).nearest(points, 1)


@pytest.mark.parametrize("decoder", ["fast", "torch"])
@pytest.mark.parametrize("length", [0.05, 0.4, 2.0])
@pytest.mark.parametrize("k", [1, 2, 3])
def test_every_decoder_gives_what_faiss_gives(decoder, length, k):
    vectors = words((2500, 40))
    points = noisy(vectors, 2000, length)
    exact = search("exact", vectors).nearest(points, k)
    assert (search(decoder, vectors).nearest(points, k) == exact).mean() > 0.9999


@pytest.mark.parametrize("k", [1, 3])
def test_a_few_points_are_searched_in_blocks(monkeypatch, k):
    vectors = words((2500, 40))
    points = noisy(vectors, 300, 0.4)
    whole = search("exact", vectors).nearest(points, k)
    monkeypatch.setattr("mondegreen.space.search.decoders._ENTRIES", 7 * 2500)
    found = search("exact", vectors)
    assert np.array_equal(found.nearest(points, k), whole)
    assert np.array_equal(found.nearest(points[:1], k), whole[:1])


def test_a_few_points_whose_products_overflow_are_refused():
    found = search("exact", np.full((40, 5), 6e4, dtype=np.float16))
    with pytest.raises(MondegreenError, match="nothing was released"):
        found.nearest(np.full((9, 5), 3e38), 1)


def test_a_bound_that_is_too_low_would_be_seen():
    """The filter works: without its error terms it loses words."""
    vectors = words((2500, 40))
    found = search("fast", vectors)
    points = noisy(vectors, 4000, 2.0)
    exact = found.nearest(points, 1)
    found._terms[:, :2] = -0.5  # bounds below the scores
    assert (found.nearest(points, 1) != exact).any()


def test_arithmetic_that_saturates_is_refused(monkeypatch):
    torch = pytest.importorskip("torch", reason="needs mondegreen[torch]")
    honest = torch._int_mm

    def saturated(a, b, **out):
        return honest(a, b, **out).clamp_(-(2**15), 2**15 - 1)

    monkeypatch.setattr(torch, "_int_mm", saturated)
    with pytest.raises(MondegreenError, match="use decoder exact"):
        search("fast", words((700, 3)))


@pytest.mark.parametrize("decoder", ["fast", "torch"])
def test_torch_must_not_save_bits_of_float32(decoder):
    torch = pytest.importorskip("torch", reason="needs mondegreen[torch]")
    found = search(decoder, words((3, 2)))
    torch.set_float32_matmul_precision("medium")
    try:
        with pytest.raises(ConfigurationError, match="highest"):
            found.nearest(np.zeros((1, 2)), 1)
    finally:
        torch.set_float32_matmul_precision("highest")


def test_searching_in_threads_leaves_the_setting_of_torch():
    torch = pytest.importorskip("torch", reason="needs mondegreen[torch]")
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    try:
        vectors = words((2500, 40))
        search("fast", vectors).nearest(noisy(vectors, 2000, 1.0), 1)
        assert torch.get_num_threads() == 3
        in_thread = []
        thread = threading.Thread(
            target=lambda: in_thread.append(torch.get_num_threads())
        )
        thread.start()
        thread.join()
        assert in_thread == [3]
    finally:
        torch.set_num_threads(before)


def test_an_unknown_decoder_is_refused():
    with pytest.raises(InvalidParameterError, match="exact or fast or torch"):
        check_decoder("quick")


@pytest.mark.parametrize("decoder", ["fast", "torch"])
def test_without_torch_the_error_names_the_extra(decoder, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(OptionalDependencyError, match=r"'\.\[torch\]'"):
        decoder_search(decoder, words((3, 2)))


@pytest.mark.parametrize("decoder", DECODERS)
def test_a_decoder_says_that_it_sees_the_noisy_point_only(decoder):
    assert "noisy point only" in search(decoder, words((3, 2))).describe()
