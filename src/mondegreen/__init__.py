"""Word-level metric differential privacy for text."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

# Eager, and light: importing the package ``mondegreen.mechanisms`` binds its name
# here, where the public function of the same name must be.
from mondegreen.mechanisms import mechanism, mechanisms

if TYPE_CHECKING:
    from mondegreen import errors
    from mondegreen.guarantee import Guarantee
    from mondegreen.language.store import load_language
    from mondegreen.privatizer.containers import privatize
    from mondegreen.privatizer.privatizer import Privatizer
    from mondegreen.privatizer.release import Release
    from mondegreen.sampling.noise import KeyedNoise, OSNoise, Seeded
    from mondegreen.settings import Settings
    from mondegreen.space.space import Space
    from mondegreen.space.store import load_space

__version__ = "0.1.0"

__all__ = [
    "Guarantee",
    "KeyedNoise",
    "OSNoise",
    "Privatizer",
    "Release",
    "Seeded",
    "Settings",
    "Space",
    "errors",
    "load_language",
    "load_space",
    "mechanism",
    "mechanisms",
    "privatize",
]

_HOME = {
    "Guarantee": "guarantee",
    "KeyedNoise": "sampling.noise",
    "OSNoise": "sampling.noise",
    "Privatizer": "privatizer.privatizer",
    "Release": "privatizer.release",
    "Seeded": "sampling.noise",
    "Settings": "settings",
    "Space": "space.space",
    "load_language": "language.store",
    "load_space": "space.store",
    "privatize": "privatizer.containers",
}


def __getattr__(name: str) -> Any:
    """Load a public name when it is first used, so that the import stays light."""
    if name == "errors":
        return importlib.import_module("mondegreen.errors")
    if name not in _HOME:
        raise AttributeError(f"module 'mondegreen' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"mondegreen.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
