"""Every claim of every recipe fails on some numbers, those of its results changed."""

import json

import numpy as np
import pytest

from benchmarks.pages.reproductions_rows import RESULT
from mondegreen.experiments.papers import NAMES, recipe_named

RESULTS = {
    (each["recipe"], each["scale"]): each
    for each in json.loads(RESULT.read_text("utf-8"))["results"]
}


def table(recipe):
    """What was measured at the points of the quick grid."""
    found = RESULTS[recipe, "quick"]["points"]
    return [
        (each["point"], {name: m["value"] for name, m in each["measures"].items()})
        for each in found
    ]


def changed(known, rng):
    """The same tables: each measure's values among other points, or turned round."""
    names = {name for _, measures in known for name in measures}
    for turn in range(150):
        values = {}
        for name in sorted(names):
            own = np.array([m[name] for _, m in known if name in m])
            ways = (
                rng.permutation(own),
                own[::-1],
                -own,
                1 - own,
                0 * own + rng.random(),
                own * rng.lognormal(0, 2, len(own)),
            )
            values[name] = iter(ways[(turn + rng.integers(6)) % 6])
        yield [
            (point, {name: float(next(values[name])) for name in measures})
            for point, measures in known
        ]


@pytest.mark.parametrize("name", NAMES)
def test_every_claim_can_fail(name):
    recipe, rng = recipe_named(name), np.random.default_rng(0)
    tables = list(changed(table(name), rng))
    for shape in recipe.shapes:
        assert not all(shape.holds(each) for each in tables), shape.claim
