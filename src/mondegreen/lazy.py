"""Public names of a package that load their module when they are first used."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any


def load_lazily(
    package: str, homes: Mapping[str, str], eager: Iterable[str] = ()
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Make ``__getattr__`` and ``__dir__`` of a package.

    ``homes`` names the module of the package in which each public name lives; ``eager``
    are the names that the package has already.

    >>> find, listed = load_lazily("mondegreen", {"Space": "space.space"})
    >>> find("Space").__module__, listed()
    ('mondegreen.space.space', ['Space'])
    """

    def find(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(importlib.import_module(f"{package}.{homes[name]}"), name)
        setattr(sys.modules[package], name, value)
        return value

    return find, lambda: sorted([*homes, *eager])
