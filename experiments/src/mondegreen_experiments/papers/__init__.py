"""A room for each paper, and a file for each of its experiments.

A file holds a recipe and what it measures. Other distributions add recipes by entry
points of the group ``mondegreen.recipes``: ``NAME = "module:RECIPE"``.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Collection
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Final

from mondegreen.errors import ConfigurationError, UnknownNameError
from mondegreen.plugins import remember_plugin
from mondegreen_experiments.recipe import Recipe

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
    "brr-search",
    "brr-sizes",
    "benchmark-axes",
    "benchmark-cost",
    "benchmark-counts",
    "benchmark-equal",
    "benchmark-regression",
    "benchmark-scores",
    "across-accuracy",
    "across-membership",
)
"""Names of the recipes: room and file, as ``cmp-words`` is in ``cmp/words.py``."""

BOARD: Final = "scoreboard"
"""A recipe of no paper, in a room of its own, which runs where it is named."""


def list_names() -> tuple[str, ...]:
    """Return the names of our recipes, then of those that others add."""
    return tuple(dict.fromkeys([*NAMES, *(each.name for each in _installed())]))


def recipe_named(name: str) -> Recipe:
    """Find a recipe, or say which there are; no other can replace one of ours.

    A name that ends with ``.py`` is a file, whose ``RECIPE`` is taken.
    """
    if name.endswith(".py"):
        return _of_file(Path(name))
    if name == BOARD:
        return importlib.import_module("mondegreen_experiments.scoreboard.board").RECIPE  # type: ignore[no-any-return]
    if name in NAMES:
        room, _, rest = name.partition("-")
        module = importlib.import_module(f"{__name__}.{room}.{rest.replace('-', '_')}")
        recipe: Recipe = module.RECIPE
        return recipe
    for entry in _installed():
        if entry.name == name:
            return _load(entry)
    raise UnknownNameError("experiment", name, [*list_names(), BOARD])


def _of_file(path: Path) -> Recipe:
    """Import a file as a module of its name, so that other processes find it too."""
    if not path.is_file():
        raise ConfigurationError(f"there is no file {path}")
    if not path.stem.isidentifier():
        raise ConfigurationError(f"{path}: its name must be one of a module of Python")
    folder = str(path.resolve().parent)
    if folder not in sys.path:
        sys.path.append(folder)
    remember_plugin(path.stem, f"the recipe of {path}")
    module = importlib.import_module(path.stem)
    if Path(str(module.__file__)).resolve() != path.resolve():
        taken = f"{path.stem} is a module already; give the file another name"
        raise ConfigurationError(f"{path}: {taken}")
    found = getattr(module, "RECIPE", None)
    if not isinstance(found, Recipe):
        raise ConfigurationError(f"{path} has no RECIPE, a Recipe of this package")
    if found.name in list_names():
        raise ConfigurationError(
            f"{path}: {found.name} is the name of another recipe, of this package or "
            "of one that is installed; give yours another name"
        )
    return found


def _installed() -> Collection[EntryPoint]:
    return entry_points(group="mondegreen.recipes")


def _load(entry: EntryPoint) -> Recipe:
    package = entry.dist.name if entry.dist else entry.module
    remember_plugin(entry.module, f"the recipe {entry.name!r} of {package}")
    found = entry.load()
    if not isinstance(found, Recipe) or found.name != entry.name:
        problem = f"{entry.value} is no recipe of that name"
        raise ConfigurationError(f"entry point {entry.name}: {problem}")
    return found
