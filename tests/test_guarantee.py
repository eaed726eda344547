"""The promise: its numbers, its JSON, and what it shows to a reader."""

from __future__ import annotations

import json
import math
from dataclasses import FrozenInstanceError, fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

import mondegreen as mg
from mondegreen.guarantee import Guarantee

SCALE = {"closest": 0.25, "nearest": 1.5, "mean": 3.0, "diameter": 4.0}


def promise(**changes):
    values = {
        "mechanism": "tem",
        "parameters": {"epsilon": 2.0, "t": [0.5, 1.0]},
        "epsilon": 2.0,
        "metric": "min(Euclidean distance, 4)",
        "scale": SCALE,
        "space": "toy",
        "space_digest": "0123456789abcdef" * 4,
        "certified_how": "proof",
        "proof": "docs/proofs/tem.md",
        "equivalents": ("epsilon 3 per unit of something",),
        "disclosed": ("punctuation",),
        "assumptions": ("the space is public", "noise is fresh"),
    }
    return Guarantee(**{**values, **changes})


def test_it_survives_dict_and_json():
    one = promise(certified=1.75, delta=1e-9, noise="fresh", noise_is_secret=False)
    assert Guarantee.from_dict(one.to_dict()) == one
    assert Guarantee.from_dict(json.loads(one.to_json())) == one
    names = {field.name for field in fields(Guarantee)} | {"protection"}
    # This package proves its own, and only a policy has formats.
    assert set(one.to_dict()) == names - {"claimed_by", "small_formats"}
    other = promise(claimed_by="the author of flips.Flip", small_formats={"weekday": 7})
    assert set(other.to_dict()) == names
    assert Guarantee.from_dict(other.to_dict()) == other
    assert "\n" not in one.to_json()


@pytest.mark.parametrize("old", [{"is_private": True}, {"strata": []}])
def test_what_was_written_before_the_first_release_is_refused(old):
    with pytest.raises(TypeError):
        Guarantee.from_dict({**promise().to_dict(), **old})


def test_what_a_file_says_of_its_protection_is_not_believed():
    forged = {**promise(epsilon=1e6).to_dict(), "protection": "strong"}
    assert Guarantee.from_dict(forged).protection == "vacuous"


@pytest.mark.parametrize(
    ("epsilon", "word"),
    [
        (0.25, "strong"),
        (0.26, "moderate"),
        (1.25, "moderate"),
        (1.26, "weak"),
        (2.5, "weak"),
        (2.51, "vacuous"),
        (1e6, "vacuous"),
    ],
)
def test_the_protection_is_that_of_the_loss_of_any_two_words(epsilon, word):
    assert promise(epsilon=epsilon).protection == word  # the diameter is 4
    assert promise(epsilon=1e6, certified=epsilon).protection == word
    assert promise(epsilon=epsilon).to_dict()["protection"] == word
    assert f"protection    {word}" in str(promise(epsilon=epsilon))


def test_nothing_that_is_written_says_private():
    assert "private" not in promise(epsilon=1e6).to_json()


def test_bounds_are_those_of_the_certificate_where_there_is_one():
    one = promise(certified=1.0)
    assert one.loss(1.5) == 3.0  # as claimed
    assert one.word_loss == one.text_loss(1) == 4.0


def test_to_dict_is_a_copy_of_json_values():
    one = promise()
    values = one.to_dict()
    values["scale"]["diameter"] = 0
    values["disclosed"].append("all")
    assert one == promise()


def test_it_cannot_be_changed():
    with pytest.raises(FrozenInstanceError):
        promise().epsilon = 0.1


def test_the_loss_of_two_words_is_epsilon_times_distance():
    assert promise().loss(1.5) == 3.0
    assert promise().loss(0.0) == 0.0


def test_the_pure_loss_of_a_text_adds_up():
    # k words, each at most epsilon * diameter = 8 nats.
    assert promise().text_loss(1) == 8.0
    assert promise().text_loss(25) == 200.0
    assert promise().text_loss(0) == 0.0


def test_the_loss_of_a_text_with_delta_is_that_of_concentrated_privacy():
    one = promise(epsilon=0.01)
    a, k, delta = 0.04, 10_000, 1e-6
    rho = k * a**2 / 2
    expected = rho + 2 * math.sqrt(rho * math.log(1 / delta))
    assert one.text_loss(k, delta) == pytest.approx(expected)
    assert expected == pytest.approx(8 + 2 * math.sqrt(8 * 13.8155), rel=1e-5)
    assert one.text_loss(k, delta) < one.text_loss(k) == pytest.approx(400)


@given(
    words=st.integers(0, 10**6),
    epsilon=st.floats(1e-9, 1e3),
    delta=st.floats(1e-300, 0.999),
)
def test_delta_never_costs_anything(words, epsilon, delta):
    one = promise(epsilon=epsilon)
    assert 0 <= one.text_loss(words, delta) <= one.text_loss(words)
    assert one.text_loss(words, delta) <= one.text_loss(words + 1, delta) * (1 + 1e-12)


def test_its_text_holds_the_numbers():
    text = str(promise())
    assert text.startswith("Privacy guarantee\n")
    for part in (
        "exp(2 * d(w, w'))",
        "min(Euclidean distance, 4)",
        "toy (0123456789ab)",
        "(median, 1.5 away): at most 3 nats",
        "any two words: at most 8 nats",
        "epsilon 3 per unit of something",
        "punctuation",
        "the space is public",
        "noise is fresh",
        "tem (epsilon 2, t [0.5, 1])",
    ):
        assert part in text


def test_what_is_not_private_says_so_first():
    assert str(promise(noise_is_secret=False)).startswith("NOT PRIVATE\n")


def test_a_reader_of_texts_adds_what_it_discloses():
    more = promise().with_text(("word count",))
    assert more.disclosed == ("punctuation", "word count")
    assert more == promise(disclosed=("punctuation", "word count"))


def test_conditions_are_in_the_formula_and_in_its_other_forms():
    one = promise().with_text((), ("are written in the same case", "are not kept"))
    assert "w, w' that are written in the same case, and are not kept and any" in str(
        one
    )
    assert one.equivalents == (
        "epsilon 3 per unit of something (only between words that meet the conditions)",
    )
    assert "that are written in the same case" in one.summary()


def test_texts_that_differ_in_what_is_disclosed_have_no_bound():
    one = promise().with_text((), ("are written in the same case",))
    with pytest.raises(mg.errors.ConfigurationError, match="same case"):
        one.text_loss(1)
    assert one.text_loss(1, within_conditions=True) == promise().text_loss(1)


def test_the_summary_is_three_lines():
    one = promise(hides_among=1200).with_text(("layout: all of it",))
    lines = one.summary().splitlines()
    assert len(lines) == 3
    assert "by a factor of at most e^8" in lines[0]
    assert "hides among 1,200 words; for nearest neighbors" in lines[1]
    assert "the factor is at most e^3" in lines[1]
    assert lines[2] == "Disclosed: punctuation, layout."
    exact = promise(certified=1.0, hides_among=2).summary()
    assert "at most e^4" in exact
    assert "at most e^1.5" in exact


@pytest.mark.parametrize(
    "change",
    [
        {"noise_is_secret": False},
        {"certified_how": "not proved: x"},
        {"hides_among": None},
        {"scale": {**SCALE, "diameter": math.inf}},
    ],
)
def test_nothing_hides_where_nothing_is_promised(change):
    assert "hides" not in promise(**{"hides_among": 5, **change}).summary()


def test_what_is_no_guarantee_is_not_read_as_one():
    for name, value in (("epsilon", "2"), ("disclosed", "all"), ("noise_is_secret", 1)):
        values = {**promise().to_dict(), name: value}
        with pytest.raises(TypeError, match=name):
            Guarantee.from_dict(values)
    with pytest.raises(TypeError):
        Guarantee.from_dict({"epsilon": 1.0})


def test_secret_noise_does_not_make_up_for_a_proof():
    for how in ("proof", "not proved: a counterexample"):
        for noise in (True, False):
            one = promise(certified_how=how).with_noise("x", is_secret=noise)
            assert one.is_void == (how != "proof" or not noise)
            assert one.is_void == (one.protection == "none")
            assert one.noise == "x"


def test_seeded_noise_is_seen_in_the_text():
    source = mg.Seeded(3)
    one = promise().with_noise(source.describe(), is_secret=source.is_secret)
    assert str(one).startswith("NOT PRIVATE\n")
    assert "seed 3" in str(one)


def test_it_holds_for_epsilons_of_any_size():
    for epsilon in (1e-9, 1e9):
        assert (
            Guarantee.from_dict(promise(epsilon=epsilon).to_dict()).epsilon == epsilon
        )


@pytest.mark.parametrize(
    "forged",
    [{"epsilon": -5.0}, {"epsilon": math.inf}, {"certified": -1.0}, {"delta": 1}],
)
def test_numbers_that_no_guarantee_has_are_refused(forged):
    values = {**mg.Privatizer(mg.mechanism("tree", epsilon=10.0)).guarantee.to_dict()}
    assert mg.Guarantee.from_dict(values).epsilon == 10
    with pytest.raises(TypeError, match="out of range"):
        mg.Guarantee.from_dict({**values, **forged})


def test_the_guarantee_names_the_group_of_million():
    summary = mg.Privatizer(mg.mechanism("urr", epsilon=12.0)).guarantee.summary()
    assert "million 6" in summary
