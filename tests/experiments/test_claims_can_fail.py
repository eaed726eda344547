"""Every claim of every recipe fails on numbers that could have been measured."""

import json

import numpy as np
import pytest

from benchmarks.pages.reproductions_rows import RESULT
from mondegreen_experiments.papers import NAMES, recipe_named

RESULTS = {
    (each["recipe"], each["scale"]): each
    for each in json.loads(RESULT.read_text("utf-8"))["results"]
}

# Claims about each point alone, which no order of points can break: a measure, and two
# values. At any point the first breaks the claim, and the second does not.
LEVELS = {
    ("cmp-auditor", "an auditor who knows the mechanism is not below chance"): (
        *("adaptive_auc", 0.42, 0.44),  # 0.5, less what two runs differ by
    ),
    ("cmp-distances", "the hundredth word is not twice as far as the nearest"): (
        *("hundredth_to_nearest", 2.01, 1.99),
    ),
    ("cmp-words", "more than a hundred words are less than twice as far"): (
        *("within_twice", 100, 101),
    ),
    ("tem-cost", "noise is calibrated to the density"): (*("density", -0.01, 0.01),),
    ("tem-threshold", "a word from beyond the threshold"): (
        *("excess", 0.0011, 0.0009),
    ),
    ("brr-sizes", "a word takes less time among codes"): (
        *("time_saved_percent", -0.1, 0.1),
    ),
    ("brr-sizes", "codes take a small share of the space of vectors"): (
        *("index_saved_percent", 89.9, 90.1),
    ),
}
BETTER = "some releases are better to learn from than the texts themselves"
HALF = "up to 50 % less loss is added than by Laplace noise"
TURNED = "benchmark-regression"  # at one point, where no order can break a claim


def table(recipe):
    """What was measured at the points of the quick grid."""
    found = RESULTS[recipe, "quick"]["points"]
    return [
        (each["point"], {name: m["value"] for name, m in each["measures"].items()})
        for each in found
    ]


def permuted(known, rng, turns=150):
    """The same tables, the values of each measure among other points."""
    names = sorted({name for _, measures in known for name in measures})
    for _ in range(turns):
        values = {
            name: iter(rng.permutation([m[name] for _, m in known if name in m]))
            for name in names
        }
        yield [
            (point, {name: float(next(values[name])) for name in measures})
            for point, measures in known
        ]


def with_value(known, place, name, value):
    """A table in which one number is another."""
    changed = [(point, dict(measures)) for point, measures in known]
    changed[place][1][name] = value
    return changed


def holds(shape, known):
    try:
        return shape.holds(known)
    except ZeroDivisionError:  # a ratio to what is 0 there: the claim says nothing
        return True


def claims(recipe, start):
    return [each for each in recipe.shapes if each.claim.startswith(start)]


@pytest.mark.parametrize("name", [name for name in NAMES if name != TURNED])
def test_every_claim_about_an_order_fails_in_another_order(name):
    recipe, rng = recipe_named(name), np.random.default_rng(0)
    tables = list(permuted(table(name), rng))
    starts = [start for recipe, start in LEVELS if recipe == name] + [BETTER, HALF]
    for shape in recipe.shapes:
        if not shape.claim.startswith(tuple(starts)):
            assert not all(holds(shape, each) for each in tables), shape.claim


@pytest.mark.parametrize(("name", "start"), LEVELS)
def test_a_claim_about_every_point_fails_by_any_one_of_them(name, start):
    measure, breaks, holds_still = LEVELS[name, start]
    (shape,) = claims(recipe_named(name), start)
    known = table(name)
    assert shape.holds(known)
    for place in range(len(known)):
        assert not shape.holds(with_value(known, place, measure, breaks))
        assert shape.holds(with_value(known, place, measure, holds_still))


def test_half_the_loss_is_not_found_where_all_lose_equally_much():
    (shape,) = claims(recipe_named("vickrey-utility"), HALF)
    known = [
        (point, {**measures, "loss": 0.1 if point["law"] == "none" else 0.4})
        for point, measures in table("vickrey-utility")
    ]
    assert not shape.holds(known)
    gains = [i for i, (point, _) in enumerate(known) if point["law"] == "t=0.75"]
    assert any(shape.holds(with_value(known, i, "loss", 0.15)) for i in gains)


def test_a_release_is_better_to_learn_from_if_one_is():
    (shape,) = claims(recipe_named("benchmark-scores"), BETTER)
    known = [
        (point, {**measures, "accuracy": measures["baseline"] - 1})
        for point, measures in table("benchmark-scores")
    ]
    assert not shape.holds(known)
    for place, (_, measures) in enumerate(known):
        better = measures["baseline"] + 1
        assert shape.holds(with_value(known, place, "accuracy", better))
