"""A room for each paper, and a file for each of its experiments.

A file holds a recipe and what it measures.
"""

from __future__ import annotations

import importlib
from typing import Final

from mondegreen.errors import UnknownNameError
from mondegreen.experiments.recipe import Recipe

NAMES: Final = (
    "cmp-answers",
    "cmp-auditor",
    "cmp-authorship",
    "cmp-deniability",
    "cmp-distances",
    "cmp-utility",
    "cmp-words",
    "vickrey-lexicon",
    "vickrey-selection",
    "vickrey-utility",
    "tem-cost",
    "tem-threshold",
    "brr-privacy-ratio",
    "brr-sizes",
    "benchmark-cost",
    "benchmark-counts",
    "benchmark-equal",
    "benchmark-regression",
    "benchmark-scores",
    "across-accuracy",
    "across-membership",
)
"""Names of the recipes: room and file, as ``cmp-words`` is in ``cmp/words.py``."""


def recipe_named(name: str) -> Recipe:
    """Find a recipe, or say which there are."""
    if name not in NAMES:
        raise UnknownNameError("experiment", name, NAMES)
    room, _, rest = name.partition("-")
    module = importlib.import_module(f"{__name__}.{room}.{rest.replace('-', '_')}")
    recipe: Recipe = module.RECIPE
    return recipe
