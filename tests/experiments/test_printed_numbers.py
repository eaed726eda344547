"""Claims are judged by intervals, and their tests pass on the papers' own numbers."""

import json
import math
import re
from dataclasses import replace

import pytest

from benchmarks.pages.reproductions_rows import RESULT
from mondegreen_experiments.cells import every_cell, find_cells
from mondegreen_experiments.choices import Choices
from mondegreen_experiments.kept import Run
from mondegreen_experiments.papers import NAMES, recipe_named
from mondegreen_experiments.reasons import (
    either,
    other_vectors,
    projected,
    smaller_than,
)
from mondegreen_experiments.recipe import (
    ENDS,
    Published,
    Recipe,
    Setting,
    Shape,
    at_end,
    climb,
    lead,
    reason_at,
)
from mondegreen_experiments.result import (
    APART,
    FAILS,
    HOLDS,
    NO_TEST,
    ONE_RUN,
    SEEDS,
    UNTOLD,
    Compared,
    Mean,
    Result,
)

CLAIMS = [(name, shape) for name in NAMES for shape in recipe_named(name).shapes]
PRINTED = [(name, shape) for name, shape in CLAIMS if shape.printed]


def changed(printed, change):
    """The same cells with other numbers."""
    return [(p, {k: change(v) for k, v in cell.items()}) for p, cell in printed]


@pytest.mark.parametrize(("name", "shape"), PRINTED, ids=lambda x: str(x)[:60])
def test_the_papers_own_numbers_pass_the_test_of_each_claim(name, shape):
    assert shape.holds(shape.printed)
    others = (lambda value: -value, lambda value: 1 - value)
    assert not all(shape.holds(changed(shape.printed, each)) for each in others)


def test_the_numbers_that_we_hold_are_applied():
    assert len(PRINTED) >= 15
    tested = {name for name, _ in PRINTED}
    assert {"cmp-auditor", "vickrey-lexicon", "brr-sizes"} <= tested
    assert {"benchmark-regression", "benchmark-counts", "benchmark-scores"} <= tested


@pytest.mark.parametrize(
    ("values", "verdict"),
    [
        ((0.9, 1.0, 1.1), HOLDS),
        ((-0.9, -1.0, -1.1), FAILS),
        ((-0.1, 0.0, 0.2), UNTOLD),
        ((0.1, 1.0, 2.0), UNTOLD),
    ],
)
def test_an_interval_that_holds_the_threshold_tells_nothing(values, verdict):
    assert judged(values, y).verdict == verdict
    assert judged(values, y).margin.value == pytest.approx(sum(values) / 3)
    other = judged(values, y, untold="other vectors")
    assert (other.verdict, other.why) == (UNTOLD, "other vectors")
    apart = judged(values, y, apart="a definition")
    assert (apart.verdict, apart.why) == (APART, "a definition")


def y(table):
    return min(m["y"] for _, m in table)


@pytest.mark.parametrize("value", [5.0, -5.0, True])
def test_one_run_tells_nothing(value):
    found = judged((value,), y)
    assert (found.verdict, found.why) == (UNTOLD, ONE_RUN)


def test_a_margin_of_0_in_each_run_tells_nothing():
    assert judged((0.0, 0.0, 0.0), y).verdict == UNTOLD


def test_a_test_without_its_points_tells_nothing():
    found = judged((1.0, 1.0), lambda table: math.nan)
    assert (found.verdict, found.why, found.margin) == (UNTOLD, NO_TEST, None)


def test_a_note_is_given_with_a_verdict():
    assert judged((1.0, 1.0), y, note="stand-ins").why == "stand-ins"


def test_a_flat_curve_does_not_rise_within_any_slack():
    assert climb([0.5, 0.5, 0.5], 0.2) == 0
    assert climb([0.5, 0.6, 0.55], 0.2) == pytest.approx(0.05)
    assert climb([0.5, 0.9, 0.6], 0.2) == pytest.approx(-0.1)
    assert climb([0.5], 0.2) == math.inf
    assert lead([0.0, 0.0], 0.2) == 0
    assert lead([0.8, -0.1], 0.2) == pytest.approx(0.1)
    assert lead([0.8, -0.3], 0.2) == pytest.approx(-0.1)
    assert lead([], 0.2) == math.inf


def test_a_test_that_gives_no_number_needs_all_seeds_to_agree():
    def above(table):
        return all(m["y"] > 0 for _, m in table)

    assert judged((1, 1, 2), above).verdict == HOLDS
    assert judged((-1, -1, -2), above).verdict == FAILS
    assert judged((1, 1, -1), above).verdict == UNTOLD
    assert judged((1, 1, -1), above).why == SEEDS
    assert judged((1, 1, 2), above).margin is None


def judged(values, test, **of_shape):
    """What follows of a claim about one number, measured with several seeds."""
    recipe = Recipe(
        name="made-up",
        paper="Nobody 2026",
        title="A number",
        differs="",
        measure=lambda bench, point, seed: {"y": 0.0},
        points={"quick": [{"x": 1}]},
        seeds={"quick": len(values)},
        shapes=[Shape("Text", "it is so", test, **of_shape)],
    )
    runs = [Run({"x": 1}, seed, {"y": y}, 0.1) for seed, y in enumerate(values)]
    (found,) = Result.of(recipe, runs).shapes
    return found


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (0.45, 0.55, HOLDS),
        (0.36, 0.64, UNTOLD),  # as wide as 14 points: no agreement
        (0.55, 0.70, UNTOLD),
        (0.61, 0.80, FAILS),
    ],
)
def test_a_number_agrees_where_the_whole_interval_is_near(low, high, verdict):
    number = Published("Table 1", {"x": 1}, "y", 0.5, 0.1)
    ours, nothing = Mean((low + high) / 2, low, high, 3), Setting(Choices())
    assert Compared.of(number, ours, nothing).agrees == verdict
    one = Mean(0.5, 0.5, 0.5, 1)
    assert Compared.of(number, one, nothing).why == ONE_RUN
    for changed, why in (
        ({"untold": "other vectors"}, "other vectors"),
        ({"apart": "arithmetic"}, "arithmetic"),
        ({"source": "recomputed by us"}, "recomputed by us"),
    ):
        found = Compared.of(replace(number, **changed), ours, nothing)
        assert found.why == why
        assert found.agrees == (UNTOLD if "untold" in changed else APART)
    assert Compared.of(number, None, nothing).agrees is None


def test_floors_and_arithmetic_do_not_count():
    counted = {
        (each.measure, each.value)
        for each in recipe_named("cmp-auditor").published
        if not each.apart
    }
    floors = {("naive_recall", 0), ("naive_precision", 0), ("naive_accuracy", 0.5)}
    assert not floors & counted
    assert ("naive_recall", 0.5) in counted
    saved = [p for p in recipe_named("brr-sizes").published if "saved" in p.measure]
    assert {p.measure for p in saved if not p.apart} == {"time_saved_percent"}


@pytest.mark.parametrize("name", NAMES)
def test_a_share_next_to_an_end_of_its_range_does_not_count(name):
    recipe = recipe_named(name)
    most = dict.fromkeys(recipe.shares, 1.0)
    if name == "benchmark-counts":
        most["n_w"] = 100.0
    for each in recipe.published:
        near = each.measure in most and at_end(
            each.value, each.tolerance, most[each.measure]
        )
        assert bool(each.apart) or not near, each


def test_ends_of_a_range_are_named():
    assert at_end(0.1, 0.1) == "a floor"
    assert at_end(99.2, 2.0, 100.0) == "a ceiling"
    assert at_end(0.02, 0.01) == at_end(50.0, 2.0, 100.0) == ""


@pytest.mark.parametrize("end", ENDS)
def test_a_difference_next_to_an_end_of_the_range_is_not_hidden(end):
    def told(ours, **more):
        number = Published("Table 4", {}, "recall", 0.14, 0.1, apart=end, **more)
        return Compared.of(number, ours, Setting(Choices(), [], set()))

    assert told(Mean(0.1, 0.05, 0.2, 3)).agrees == APART
    assert told(Mean(0.9, 0.8, 1.0, 3)).agrees == FAILS
    found = told(Mean(0.9, 0.8, 1.0, 3), untold="other texts")
    assert (found.agrees, found.why) == (UNTOLD, "other texts")
    other = Published("Table 4", {}, "recall", 0.14, 0.1, apart="arithmetic")
    where = Setting(Choices(), [], set())
    assert Compared.of(other, Mean(0.9, 0.8, 1.0, 3), where).agrees == APART


def test_every_claim_of_a_paper_has_a_test_that_gives_a_number():
    """A bool has no interval; only what is counted apart may give one."""
    results = json.loads(RESULT.read_text("utf-8"))["results"]
    for row in results:
        for each in row["claims"]:
            if not each["where"].startswith("Ours") and each["verdict"] != APART:
                is_lacking = each["why"] == NO_TEST or row["scale"] == "quick"
                assert each["margin"] is not None or is_lacking, each["claim"]


def test_numbers_of_the_papers_have_a_source_and_stand_once():
    cells = every_cell()
    assert {cell.source for cell in cells} == {
        "printed",
        "recomputed by us",
        "read off a figure",
    }
    printed = {c.measure for c in cells if c.where == "Table 4" and "p" in c.paper}
    assert printed
    table_4 = {
        name: find_cells("benchmark", name, where="Table 4")[0]
        for name in ("intercept", "n_w", "s_w", "epsilon", "pp", "r2")
    }
    recomputed = {k for k, v in table_4.items() if v.source == "recomputed by us"}
    assert recomputed == {"epsilon", "pp", "r2"}
    assert table_4["intercept"].value == 126.6834
    held = {(c.measure, c.value) for c in cells}
    for name in NAMES:
        for each in recipe_named(name).published:
            assert (each.measure.removeprefix("naive_"), each.value) in held


GLOVE = tuple((f"glove-{dim}", f"{dim}.safetensors") for dim in (50, 100, 300))


def test_vectors_that_are_named_settle_what_other_vectors_leave_open():
    spaces = frozenset({"glove-50", "glove-100", "glove-300"})
    ours, named = (Setting(Choices(each), [], spaces) for each in ((), GLOVE))
    whole = Setting(Choices((("glove", "300.safetensors"),)), [], spaces)
    for reason in (other_vectors, projected("glove")):
        assert reason_at(reason, ours) != ""
        assert reason_at(reason, named) == ""
        assert reason_at(reason, whole) != ""  # of fewer dimensions by PCA
    alone = Setting(whole.choices, [], frozenset({"glove-300"}))
    assert other_vectors(alone) == ""
    assert other_vectors(Setting(whole.choices)) != ""  # no spaces are known
    few = smaller_than(100, "train", "too few")
    both = either(few, other_vectors)
    at = [{"train": 50}]
    assert reason_at(both, Setting(named.choices, at, spaces)) == "too few"
    assert reason_at(both, Setting(named.choices, [{"train": 100}], spaces)) == ""


@pytest.mark.parametrize("name", ["cmp-distances", "benchmark-counts"])
def test_glove_in_each_dimension_decides(name):
    recipe = recipe_named(name)
    points = recipe.points["quick"]
    spaces = recipe.spaces_of(points)
    ours, named = (Setting(Choices(each), points, spaces) for each in ((), GLOVE))
    shapes = [each for each in recipe.shapes if each.untold]
    reasons = [
        each.untold
        for each in shapes
        if each.claim.endswith("(CMP)" if name == "benchmark-counts" else "(GloVe)")
    ]
    law = {"cmp-distances": "", "benchmark-counts": "CMP"}[name]
    reasons += [p.untold for p in recipe.published if p.point.get("law") == law]
    assert reasons
    assert all(reason_at(each, ours) for each in reasons)
    assert not any(reason_at(each, named) for each in reasons)


def test_the_choice_of_t_says_what_a_scale_lacks():
    recipe = recipe_named("vickrey-selection")
    (shape,) = (each for each in recipe.shapes if "0.06 chooses" in each.claim)
    quick, full = (
        reason_at(shape.untold, Setting(Choices(), recipe.points[scale]))
        for scale in ("quick", "full")
    )
    assert "a budget of 0.06 is not measured" in quick
    assert "not measured" not in full
    table = [(p, {"t": 0.25}) for p in recipe.points["quick"]]
    assert math.isnan(shape.test(table))


@pytest.mark.parametrize(("name", "shape"), CLAIMS)
def test_what_differs_here_sets_a_claim_aside_whether_it_passes_or_fails(name, shape):
    """The rule of the page: epsilons, dimensions, and models that are attacked."""
    if shape.where.startswith("Ours") or shape.apart:
        return
    unit = re.search(r"\bepsilon \d|\bbudget of \d", shape.claim)
    attacked = name in ("cmp-auditor", "across-membership")
    if unit or attacked or "dimension" in shape.claim:
        assert shape.untold
