"""Claims are judged by intervals, and their tests pass on the papers' own numbers."""

import pytest

from mondegreen_experiments.kept import Run
from mondegreen_experiments.papers import NAMES, recipe_named
from mondegreen_experiments.recipe import Published, Recipe, Shape
from mondegreen_experiments.result import FAILS, HOLDS, UNTOLD, Compared, Mean, Result

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
    def y(table):
        return min(m["y"] for _, m in table)

    assert judged(values, y).verdict == verdict
    assert judged(values, y).margin.value == pytest.approx(sum(values) / 3)
    assert judged(values, y, untold="other vectors").verdict == UNTOLD


def test_a_test_that_gives_no_number_needs_all_seeds_to_agree():
    def above(table):
        return all(m["y"] > 0 for _, m in table)

    assert judged((1, 1, 2), above).verdict == HOLDS
    assert judged((-1, -1, -2), above).verdict == FAILS
    assert judged((1, 1, -1), above).verdict == UNTOLD
    assert judged((1, 1, 2), above).margin is None


def judged(values, test, untold=""):
    """What follows of a claim about one number, measured with several seeds."""
    recipe = Recipe(
        name="made-up",
        paper="Nobody 2026",
        title="A number",
        differs="",
        measure=lambda bench, point, seed: {"y": 0.0},
        points={"quick": [{"x": 1}]},
        seeds={"quick": len(values)},
        shapes=[Shape("Text", "it is so", test, untold=untold)],
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
    ours = Mean((low + high) / 2, low, high, 3)
    assert Compared(number, ours).agrees == verdict


def test_floors_and_arithmetic_do_not_count():
    counted = {
        (each.measure, each.value)
        for each in recipe_named("cmp-auditor").published
        if each.is_counted
    }
    floors = {("naive_recall", 0), ("naive_precision", 0), ("naive_accuracy", 0.5)}
    assert not floors & counted
    assert ("naive_recall", 0.5) in counted
    saved = [p for p in recipe_named("brr-sizes").published if "saved" in p.measure]
    assert {p.measure for p in saved if p.is_counted} == {"time_saved_percent"}
