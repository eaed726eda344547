"""A study keeps what was measured, in JSON and in curves."""

import json
import math

import numpy as np
import pytest
from studies import bare, measurement, study

import mondegreen as mg
from mondegreen.report.study import SampleRelease, Study, build_study, curve_name


@pytest.mark.parametrize("made", [study, bare])
def test_a_study_comes_back_from_json(made):
    given = made()
    values = json.loads(json.dumps(given.to_dict(), allow_nan=False))
    assert Study.from_dict(values) == given


def test_json_has_no_nan_and_no_infinity():
    odd = measurement(n_w=(math.nan,) * 101, scores={"n_w_mean": (0.1, math.inf)})
    values = study(measurements=(odd,), scale={"mean": math.nan}).to_dict()
    assert json.loads(json.dumps(values, allow_nan=False))["scale"] == {"mean": None}
    assert values["measurements"][0]["n_w"] == [None] * 101
    assert values["measurements"][0]["scores"]["n_w_mean"] == [0.1, None]


def test_a_study_holds_no_text_but_what_it_is_given():
    values = study(sentences=(), releases=(), sample="tweets").to_dict()
    texts = [value for value in values.values() if isinstance(value, str)]
    assert sorted(texts) == sorted(
        ["toy", "0" * 64, "tweets", "at most a third of the words stay", "", "0.0"]
    )


def test_parameters_make_curves_and_epsilon_orders_them():
    found = study(
        measurements=(
            measurement("vickrey", 2.0, parameters={"t": 0.5}),
            measurement("vickrey", 1.0, parameters={"t": 0.25}),
            measurement("vickrey", 1.0, parameters={"t": 0.5}),
        ),
        chosen=None,
    ).curves()
    assert {name: [m.epsilon for m in curve] for name, curve in found.items()} == {
        "vickrey": [1.0, 2.0],  # 0.5 is the default
        "vickrey (t = 0.25)": [1.0],
    }


def test_a_chosen_setting_between_the_measured_ones_joins_its_curve_once():
    between = measurement("tem", 1.3)
    found = study(mechanisms=("tem",), chosen=between)
    curve = found.curves()["tem"]
    assert [m.epsilon for m in curve] == [0.5, 1.0, 1.3, 2.0, 4.0]
    assert [found.is_chosen(m) for m in curve] == [False, False, True, False, False]
    again = study(mechanisms=("tem",), chosen=measurement("tem", 2.0))
    assert len(again.curves()["tem"]) == 4


def test_a_release_of_the_chosen_setting_is_known_as_such():
    found = study(chosen=measurement("vickrey", 1.0, parameters={"t": 0.5, "k": 2}))
    assert found.is_chosen(SampleRelease("vickrey", {"k": 2, "t": 0.5}, 1.0, ()))
    assert not found.is_chosen(SampleRelease("vickrey", {"k": 2, "t": 0.4}, 1.0, ()))


def test_absent_parameters_are_not_named():
    assert curve_name(SampleRelease("tem", {"gamma": None}, 1.0, ())) == "tem"


def test_a_study_of_a_space_knows_its_distances():
    space = mg.Space.from_arrays("line", ["a", "b", "c"], np.array([[0.0], [1], [3]]))
    found = build_study(space, [measurement()], target="x")
    assert (found.space, found.vocab_size, found.target) == ("line", 3, "x")
    assert found.scale["diameter"] == pytest.approx(3, abs=0.01)
    assert found.neighbours["k"] == [1, 2]
    assert found.space_digest == space.digest
