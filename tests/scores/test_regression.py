"""Least squares recover what is known, and say when coefficients mean nothing."""

import numpy as np
import pytest

from mondegreen.errors import InvalidParameterError
from mondegreen.scores.deniability import compute_expected_distinct
from mondegreen.scores.regression import LeastSquares


def columns(count=400):
    rng = np.random.default_rng(0)
    return {name: rng.normal(size=count) for name in ("x", "y", "z")}


def test_known_coefficients_are_recovered():
    x = columns()
    fit = LeastSquares.of(126.66 + 0.673 * x["x"] - 0.315 * x["y"], x)
    assert fit.intercept == pytest.approx(126.66)
    assert fit.coefficients == pytest.approx(
        {"x": 0.673, "y": -0.315, "z": 0}, abs=1e-9
    )
    assert fit.r2 == pytest.approx(1)


def test_noise_is_not_explained():
    rng = np.random.default_rng(1)
    assert LeastSquares.of(rng.normal(size=400), columns()).r2 < 0.05
    assert LeastSquares.of(np.ones(400), columns()).r2 == 1


def test_inflation_is_one_of_unrelated_numbers_and_large_of_twins():
    x = columns()
    assert (
        max(LeastSquares.of(x["x"], {**x, "w": x["y"] ** 2}).inflation.values()) < 1.1
    )
    # By hand: y = x + noise with a hundredth of its variance.
    twins = {"x": x["x"], "y": x["x"] + 0.1 * x["z"]}
    fit = LeastSquares.of(x["y"], twins)
    assert fit.inflation["x"] == pytest.approx(fit.inflation["y"])
    r = np.corrcoef(twins["x"], twins["y"])[0, 1]
    assert fit.inflation["x"] == pytest.approx(1 / (1 - r**2))


def test_columns_that_determine_each_other_are_refused():
    x = columns()
    for others in (
        {"x": x["x"], "y": 100 - x["x"]},
        {"x": np.ones(400)},
        {"x": x["x"][:2], "y": x["y"][:2]},
    ):
        number = x["z"][: len(others["x"])]
        with pytest.raises(InvalidParameterError, match="sum of others"):
            LeastSquares.of(number, others)


def test_distinct_outputs_are_as_many_as_runs_give():
    law = np.array([[0.5, 0.3, 0.2, 0.0], [1, 0, 0, 0], [0.25] * 4])
    for runs in (1, 3, 100):
        found = compute_expected_distinct(law, runs)
        by_hand = [sum(1 - (1 - p) ** runs for p in row) for row in law]
        assert found == pytest.approx(by_hand)
    assert compute_expected_distinct(law, 1) == pytest.approx([1, 1, 1])
    with pytest.raises(InvalidParameterError):
        compute_expected_distinct(law, 0)


def test_a_coefficient_is_within_two_errors_nineteen_times_in_twenty():
    rng, inside = np.random.default_rng(2), []
    for _ in range(300):
        x = {"x": rng.normal(size=40), "y": rng.normal(size=40)}
        fit = LeastSquares.of(3 * x["x"] - x["y"] + rng.normal(size=40), x)
        inside.append(abs(fit.coefficients["x"] - 3) <= 2.026 * fit.errors["x"])
    assert 0.92 <= np.mean(inside) <= 0.98
    line = {"x": np.arange(2.0)}
    assert np.isnan(LeastSquares.of(np.ones(2), line).errors["x"])  # no cell is left
