"""What is drawn, and what is left out because it is not known."""

import math

import pytest
from studies import EPSILONS, bare, measurement, study

from mondegreen.report.figures import (
    AGAINST,
    curve_charts,
    figures,
    format_number,
    frontier,
    in_words,
    neighbour_chart,
    spreads,
)


def by_key(found):
    return {chart.key: chart for chart in found}


@pytest.mark.parametrize("against", AGAINST)
def test_every_score_of_the_issue_has_a_curve(against):
    found = by_key(curve_charts(study(), against))
    wanted = {
        "n_w_mean",
        "n_w_95",
        "s_w_05",
        "bayes_risk_uniform",
        "bayes_risk_sample",
        "utility_loss_share_sample",
        "certified_epsilon",
        "worst_loss",
    }
    wanted -= {"worst_loss": {"worst_loss"}, "bayes_risk": {"bayes_risk_sample"}}.get(
        against, set()
    )
    assert {f"{name}-by-{against}" for name in wanted} <= set(found)


def test_points_are_the_scores_at_each_epsilon():
    chart = by_key(curve_charts(study(("tem",))))["n_w_mean-by-epsilon"]
    (line,) = chart.lines
    for point in line.points:
        value = measurement("tem", point.epsilon).scores["n_w_mean"]
        assert (point.x, point.y) == ((point.epsilon,) * 2, value)
    assert [point.is_chosen for point in line.points] == [True, False, False, False]


def test_other_axes_take_the_place_of_epsilon():
    (line,) = by_key(curve_charts(study(("tem",)), "worst_loss"))[
        "n_w_mean-by-worst_loss"
    ].lines
    assert [point.x[0] for point in line.points] == [7.5, 15.0, 30.0, 60.0]


@pytest.mark.parametrize("odd", [(math.nan, 0.1), (0.1, math.inf), (-math.inf, 0.1)])
def test_what_is_not_finite_is_not_drawn(odd):
    broken = measurement("tem", 1.0, scores={**measurement().scores, "n_w_mean": odd})
    found = study(("calibrated",), measurements=(broken, measurement("tem", 2.0)))
    chart = by_key(curve_charts(found))["n_w_mean-by-epsilon"]
    drawn = {line.name: [p.epsilon for p in line.points] for line in chart.lines}
    assert drawn["tem"] == [2.0]


def test_a_mechanism_of_which_a_score_is_not_known_is_named():
    found = (measurement("tem"), measurement("laplace", 9.0, without=("worst_loss",)))
    chart = by_key(curve_charts(study(measurements=found)))["worst_loss-by-epsilon"]
    assert chart.missing == ("laplace",)
    assert "laplace" not in {line.name for line in chart.lines}


def test_a_logarithm_is_not_taken_of_zero():
    none = measurement("tem", scores={**measurement().scores, "worst_loss": (0.0, 0.0)})
    found = study(measurements=(none, measurement("laplace")), chosen=None)
    chart = by_key(curve_charts(found))["worst_loss-by-epsilon"]
    assert chart.missing == ("tem",)


def test_a_mechanism_keeps_its_style_where_others_are_missing():
    found = (measurement("laplace", without=("worst_loss",)), measurement("tem"))
    charts = by_key(curve_charts(study(measurements=found, chosen=None)))
    assert [line.style for line in charts["worst_loss-by-epsilon"].lines] == [1]


def test_the_risk_before_any_output_is_a_limit():
    chart = by_key(curve_charts(study()))["bayes_risk_sample-by-epsilon"]
    assert chart.limit == ("before any output is seen", 0.9)


def test_the_frontier_is_of_the_sample_or_else_of_all_words_alike():
    (line, _) = frontier(study()).lines
    scores = measurement("calibrated", 0.5).scores
    assert line.points[0].x == scores["utility_loss_share_sample"]
    assert line.points[0].y == scores["bayes_risk_sample"]
    names = [name for name in scores if name.endswith("sample")]
    found = study(measurements=(measurement(without=names),), chosen=None)
    (line,) = frontier(found).lines
    assert line.points[0].y == measurement().scores["bayes_risk_uniform"]


def test_the_frontier_falls_back_to_units_of_distance():
    without = ("utility_loss_share_sample",)
    chart = frontier(study(measurements=(measurement(without=without),), chosen=None))
    assert chart.x.label == "utility loss, unit of distance"


def test_a_study_of_nothing_has_no_figures():
    assert figures(bare()) == []


@pytest.mark.slow("draws figures of five mechanisms")
def test_keys_of_figures_are_unique():
    names = ("a" * 60, "a" * 61, "<b>", "ß", "ü")
    found = [figure.key for figure in figures(study(names))]
    assert len(set(found)) == len(found)


def test_a_spread_shows_percentiles_of_the_words_at_every_epsilon():
    stay, support = spreads(study(), "tem")
    assert [line.name for line in stay.lines] == [
        "all words",
        "the middle 90% of the words",
        "the middle 50% of the words",
        "the median word",
    ]
    for line, (low, high) in zip(
        stay.lines, ((0, 100), (5, 95), (25, 75), (50, 50)), strict=True
    ):
        for point in line.points:
            values = measurement("tem", point.x[0]).n_w
            assert point.y == (values[low], values[high])
    assert [point.x[0] for point in support.lines[0].points] == list(EPSILONS)


@pytest.mark.parametrize("n_w", [(), (math.nan,) * 101])
def test_a_spread_leaves_out_settings_without_percentiles(n_w):
    curve = (measurement("tem", 1.0, n_w=n_w), measurement("tem", 2.0))
    stay, _ = spreads(study(measurements=curve, chosen=None), "tem")
    assert [point.x[0] for point in stay.lines[0].points] == [2.0]


def test_distances_of_neighbours_are_what_was_measured():
    wide, median = neighbour_chart(study()).lines
    assert (wide.name, median.name) == (
        "the middle 90% of the words",
        "the median word",
    )
    assert [point.x for point in wide.points] == [(1, 1), (2, 2), (5, 5)]
    assert [point.y for point in wide.points] == [(1, 3), (2, 4), (3, 5)]
    assert [point.y for point in median.points] == [(2, 2), (3, 3), (4, 4)]


def test_nearly_certain_is_not_written_as_certain():
    assert format_number(0.99999, "share") == ">99.9%"
    assert format_number(0.999, "share") == "99.9%"
    assert format_number(1.0, "share") == "100%"
    assert in_words((0.5, 1.0), "share") == "50–100%"
