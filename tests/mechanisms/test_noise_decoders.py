"""Noise mechanisms: the same words with every decoder, noise drawn ahead in order."""

from __future__ import annotations

import threading
from dataclasses import replace

import numpy as np
import pytest

import mondegreen as mg
from mondegreen.errors import InvalidParameterError
from mondegreen.mechanisms.noise.base import BLOCK, draw_ahead
from mondegreen.sampling.noise import chacha20
from mondegreen.space.space import Space

NAMES = ["laplace", "mahalanobis", "vickrey"]
KEY = bytes(range(32))


def space(count=300, dim=6):
    vectors = np.random.default_rng(3).standard_normal((count, dim))
    return Space.from_arrays("some", [f"w{i}" for i in range(count)], vectors)


def ids(size, seed=0):
    drawn = np.random.default_rng(seed).integers(0, 301, size)
    return drawn.astype(np.int32)


def one_after_the_other(state, words, rng):
    """Draw, search, draw, search: what drawing ahead must be equal to."""
    out = []
    for start in range(0, len(words), BLOCK):
        block = words[start : start + BLOCK]
        noise = state.draw_noise(rng, (len(block), state.space.dim))
        points = state.space.points(block) + noise
        uniforms = rng.random((len(block), state.uniforms))
        out.append(state.decode(points, state.search, uniforms))
    return np.concatenate(out)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("size", [1, BLOCK, BLOCK + 1, 3 * BLOCK + 17])
def test_drawing_ahead_changes_no_word(name, size):
    state = mg.mechanism(name, epsilon=3.0).prepare(space())
    ahead, plain = chacha20(KEY), chacha20(KEY)
    found = state.sample(ids(size), ahead)
    assert (found == one_after_the_other(state, ids(size), plain)).all()
    assert ahead.random() == plain.random()  # and consumes as much


def test_laplace_draws_no_uniform_numbers():
    rng, same = chacha20(KEY), chacha20(KEY)
    rng.random((4096, 0))
    assert rng.random() == same.random()


def test_noise_is_drawn_while_the_search_runs():
    state = mg.mechanism("laplace", epsilon=3.0).prepare(space())
    drawn = [threading.Event(), threading.Event()]
    waited = []

    def draw_noise(rng, shape):
        drawn[0 if not drawn[0].is_set() else 1].set()
        return state.draw_noise(rng, shape)

    def decode(points, search, uniforms):
        waited.append(drawn[1].wait(timeout=60))
        return state.decode(points, search, uniforms)

    slow = replace(state, draw_noise=draw_noise, decode=decode)
    slow.sample(ids(2 * BLOCK), np.random.default_rng(0))
    assert waited == [True, True]


def test_an_error_of_the_search_stops_the_noise():
    state = mg.mechanism("laplace", epsilon=3.0).prepare(space())
    rng, before = np.random.default_rng(0), set(threading.enumerate())

    def decode(points, search, uniforms):
        raise RuntimeError("search")

    with pytest.raises(RuntimeError, match="search"):
        replace(state, decode=decode).sample(ids(5 * BLOCK), rng)
    own = set(threading.enumerate()) - before  # other tests may have threads, too
    assert not [thread for thread in own if "mondegreen" in thread.name]


def test_an_error_of_the_noise_reaches_the_caller():
    state = mg.mechanism("laplace", epsilon=3.0).prepare(space())

    def draw_noise(rng, shape):
        raise RuntimeError("noise")

    with pytest.raises(RuntimeError, match="noise"):
        replace(state, draw_noise=draw_noise).sample(
            ids(5 * BLOCK), np.random.default_rng(0)
        )


def test_ahead_is_one_item_ahead_and_no_more():
    made = []

    def items():
        for i in range(9):
            made.append(i)
            yield i

    found = draw_ahead(items())
    assert next(found) == 0
    found.close()
    assert made in ([0], [0, 1])


# The parameter


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("decoder", ["fast", "torch"])
def test_every_decoder_releases_the_same_words(name, decoder):
    pytest.importorskip("torch", reason="needs mondegreen[torch]")
    exact = mg.mechanism(name, epsilon=3.0).prepare(space())
    other = mg.mechanism(name, epsilon=3.0, decoder=decoder).prepare(space())
    words = ids(9000)
    same = exact.sample(words, chacha20(KEY)) == other.sample(words, chacha20(KEY))
    assert same.mean() > 0.9999


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("decoder", ["fast", "torch"])
def test_the_guarantee_records_the_decoder_and_promises_the_same(name, decoder):
    pytest.importorskip("torch", reason="needs mondegreen[torch]")
    exact = mg.mechanism(name, epsilon=3.0).prepare(space()).guarantee
    other = mg.mechanism(name, epsilon=3.0, decoder=decoder).prepare(space()).guarantee
    assert other.parameters["decoder"] == decoder
    assert "torch" in other.certified_how
    assert "faiss" in exact.certified_how
    unlike = ("parameters", "certified_how")
    blank = {"parameters": {}, "certified_how": ""}
    assert replace(other, **blank) == replace(exact, **blank), unlike


@pytest.mark.parametrize("name", NAMES)
def test_a_default_decoder_leaves_the_keys_of_replays_as_they_were(name):
    assert "decoder" not in mg.mechanism(name, epsilon=3.0).to_dict()["parameters"]
    named = mg.mechanism(name, epsilon=3.0, decoder="fast").to_dict()
    assert named["parameters"]["decoder"] == "fast"
    assert mg.mechanism(named["name"], **named["parameters"]).to_dict() == named


@pytest.mark.parametrize("name", NAMES)
def test_an_unknown_decoder_is_refused(name):
    with pytest.raises(InvalidParameterError, match="exact or fast or torch"):
        mg.mechanism(name, epsilon=3.0, decoder="quick")
