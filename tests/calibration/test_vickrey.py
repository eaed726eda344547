"""Algorithm 2 in its safe form: t and epsilon together."""

import numpy as np
import pytest

import mondegreen as mg
from mondegreen.calibration.evaluate import Evaluator, Setting
from mondegreen.calibration.plan import T_GRID, Plan, calibrate_vickrey, preference
from mondegreen.calibration.score_bounds import ScoreBounds
from mondegreen.calibration.search import Calibration, calibrate
from mondegreen.calibration.targets import Target
from mondegreen.scores.risk import uniform_prior

ZEROS = (0.0,) * 101


def record(t, epsilon, **scores):
    ends = {name: (value, value) for name, value in scores.items()}
    return ScoreBounds("vickrey", {"t": t}, epsilon, "d", True, ends, ZEROS, None, ())


def loss(t, epsilon):
    """Fall with epsilon to a floor that grows with t, as in the paper's Figure."""
    return 0.3 * t**2 + (1 - 0.3 * t**2) / (1 + (epsilon / 10) ** 4)


def error(t, epsilon):
    return min(1.0, loss(t, epsilon) * (1 + t * (1.5 - t)))


def solver(calls=None):
    def solve(t, is_thorough):
        if calls is not None:
            calls.append((t, is_thorough))

        def measure(epsilon, attempt):
            return record(
                t,
                epsilon,
                utility_loss_share_sample=loss(t, epsilon),
                inference_error_sample=error(t, epsilon),
            )

        return calibrate(measure, [Target("utility_loss", 0.12)], start=10.0)

    return solve


def test_every_t_has_its_own_epsilon_and_the_best_pair_is_taken():
    targets = [Target("utility_loss", 0.12)]
    t, found = calibrate_vickrey(solver(), targets, "sample")
    each = {t: solver()(t, True).chosen for t in T_GRID}
    assert each[0.75] is None  # the floor is above the budget
    assert each[1.0] is None
    assert each[0.0].epsilon < each[0.25].epsilon < each[0.5].epsilon
    best = max((0.0, 0.25, 0.5), key=lambda t: error(t, each[t].epsilon))
    assert t == best == 0.5
    assert found.chosen.scores["utility_loss_share_sample"][1] <= 0.12


def test_the_printed_form_would_find_no_t_above_zero():
    """At the epsilon that fits t = 0, no other t keeps the budget."""
    epsilon = solver()(0.0, True).chosen.epsilon
    assert loss(0.0, epsilon) <= 0.12
    assert all(loss(t, epsilon) > 0.12 for t in T_GRID[1:])


def test_only_the_best_t_is_searched_thoroughly():
    calls = []
    calibrate_vickrey(solver(calls), [Target("utility_loss", 0.12)], "sample")
    assert [t for t, is_thorough in calls if not is_thorough] == list(T_GRID)
    assert [t for t, is_thorough in calls if is_thorough] == [0.5]


def test_a_t_that_does_not_survive_the_thorough_search_gives_way():
    def solve(t, is_thorough):
        if is_thorough and t == 0.5:
            return Calibration(None, [], "no")
        return solver()(t, is_thorough)

    t, found = calibrate_vickrey(solve, [Target("utility_loss", 0.12)], "sample")
    assert t == 0.25
    assert found.chosen is not None


def test_a_budget_below_every_floor_is_a_problem():
    def solve(t, is_thorough):
        return Calibration(None, [], f"too much at t {t:g}")

    _, found = calibrate_vickrey(solve, [Target("utility_loss", 0.01)], "sample")
    assert found.chosen is None
    assert found.problem == "too much at t 0"


def test_under_a_target_of_privacy_the_smaller_loss_is_preferred():
    near = record(0.0, 5.0, utility_loss_share_sample=0.2, inference_error_sample=0.1)
    far = record(0.5, 9.0, utility_loss_share_sample=0.3, inference_error_sample=0.9)
    privacy, use = [Target("n_w", 0.5)], [Target("utility_loss", 0.3)]
    assert preference(near, privacy, "sample") < preference(far, privacy, "sample")
    assert preference(far, use, "sample") < preference(near, use, "sample")
    assert preference(far, use, "sample") < preference(None, use, "sample")


@pytest.mark.slow("another case", but="True")
@pytest.mark.parametrize("t_given", [True, False])
def test_on_a_space_the_budget_is_kept(tmp_path, monkeypatch, t_given):
    monkeypatch.setenv("MONDEGREEN_HOME", str(tmp_path))
    vectors = np.random.default_rng(0).normal(size=(40, 2))
    space = mg.Space.from_arrays("c", [f"w{i}" for i in range(40)], vectors)
    evaluator = Evaluator(space, {"sample": uniform_prior(40)}, quick=True)
    setting = Setting("vickrey", {"t": 0.25} if t_given else {})
    plan = Plan(evaluator, [setting], [Target("utility_loss", 0.6)])
    (row,) = plan.rows()
    assert row.chosen.scores["utility_loss_share_sample"][1] <= 0.6
    assert row.chosen.parameters["t"] == row.setting.parameters["t"]
    assert row.chosen.parameters["t"] in ((0.25,) if t_given else T_GRID)
