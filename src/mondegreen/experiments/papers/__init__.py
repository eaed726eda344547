"""One file for each experiment; each holds a recipe and what it measures."""

from __future__ import annotations

import importlib
from typing import Final

from mondegreen.errors import UnknownNameError
from mondegreen.experiments.recipe import Recipe

NAMES: Final = (
    "authorship",
    "benchmark-counts",
    "brr-privacy-ratio",
    "brr-sizes",
    "cmp-auditor",
    "cmp-deniability",
    "cmp-words",
    "imdb-utility",
    "membership",
    "tem-cost",
    "tem-threshold",
    "vickrey-lexicon",
)
"""Names of the recipes; each is a file here, with its dashes as underscores."""


def recipe_named(name: str) -> Recipe:
    """Find a recipe, or say which there are."""
    if name not in NAMES:
        raise UnknownNameError("experiment", name, NAMES)
    module = importlib.import_module(f"{__name__}.{name.replace('-', '_')}")
    recipe: Recipe = module.RECIPE
    return recipe
