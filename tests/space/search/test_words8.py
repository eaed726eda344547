"""What rounding to 8 bits costs is bounded from above, word by word."""

from __future__ import annotations

import numpy as np
import pytest

from mondegreen.space.search.rounded import (
    GROUP,
    Words8,
    product_rounding,
    rotation_rounding,
)

SHAPES = [(1, 1), (5, 2), (700, 7), (1100, 40)]


def words(shape, seed=0):
    rng = np.random.default_rng(seed)
    lengths = rng.gamma(3, size=(shape[0], 1))
    vectors = rng.standard_normal(shape) * lengths
    vectors[0] = 0
    return vectors.astype(np.float32)


def rotated(made, vectors):
    centred = vectors.astype(np.float64) - made.centre
    return centred @ made.rotation.astype(np.float64)


@pytest.mark.parametrize("shape", SHAPES)
def test_every_word_is_there_once(shape):
    made = Words8.of(words(shape))
    real = np.isfinite(made.shift)
    assert sorted(made.ids[real]) == list(range(shape[0]))
    assert (made.vectors[real] == words(shape)[made.ids[real]]).all()


@pytest.mark.parametrize("shape", SHAPES)
def test_the_terms_of_a_group_bound_each_of_its_words(shape):
    vectors = words(shape)
    made = Words8.of(vectors)
    dim = shape[1]
    steps = made.integers.astype(np.float64).reshape(*made.ids.shape, -1)
    assert (steps[..., dim:] == 0).all()
    restored = steps[..., :dim] * made.scale.astype(np.float64)[:, None, None]
    exact = rotated(made, vectors)[made.ids]
    # The rotation that is stored was rounded to float32.
    slack = rotation_rounding(dim) * made.longest
    error = np.linalg.norm(exact - restored, axis=2)
    assert (error <= made.terms[:, :1] + slack).all()
    wide = vectors[made.ids].astype(np.float64)
    assert (np.linalg.norm(wide, axis=2) <= made.longest).all()
    lengths = np.linalg.norm(wide - made.centre, axis=2)
    assert (lengths <= made.terms[:, 1:2]).all()
    assert (-(lengths**2) / 2 <= made.terms[:, 2:]).all()


def test_the_rounding_is_of_the_size_that_eight_bits_have():
    made = Words8.of(words((1100, 40)))
    some = made.terms[:, 1] > 1
    assert (made.terms[some, 0] < 0.02 * made.terms[some, 1]).mean() > 0.9


def test_words_of_about_one_length_share_a_group():
    vectors = words((1100, 40))
    made = Words8.of(vectors)
    apart = np.linalg.norm(vectors[made.ids].astype(np.float64) - made.centre, axis=2)
    assert (np.diff(apart[: 1100 // GROUP].reshape(-1)) >= 0).all()


def test_the_shift_is_that_of_the_words_as_they_are():
    vectors = words((700, 7))
    made = Words8.of(vectors)
    real = np.isfinite(made.shift)
    squares = (vectors.astype(np.float64)[made.ids[real]] ** 2).sum(axis=1)
    np.testing.assert_allclose(made.shift[real], -squares / 2, rtol=1e-6)


@pytest.mark.parametrize("dim", [1, 2, 50, 300, 1000])
def test_rounding_covers_what_float32_does_to_products_and_rotations(dim):
    rng = np.random.default_rng(dim)
    x = rng.standard_normal((64, dim)).astype(np.float32)
    y = rng.standard_normal((64, dim)).astype(np.float32)
    exact = np.einsum("ij,ij->i", x.astype(np.float64), y.astype(np.float64))
    found = np.array(
        [np.add.reduce(a * b, dtype=np.float32) for a, b in zip(x, y, strict=True)]
    )
    size = np.linalg.norm(x, axis=1) * np.linalg.norm(y, axis=1)
    assert (np.abs(found - exact) <= product_rounding(dim) / 2 * size).all()
    rotation = np.linalg.qr(rng.standard_normal((dim, dim))).Q
    moved = x @ rotation.astype(np.float32) - x.astype(np.float64) @ rotation
    lengths = np.linalg.norm(x.astype(np.float64), axis=1)
    assert (np.linalg.norm(moved, axis=1) <= rotation_rounding(dim) / 2 * lengths).all()
