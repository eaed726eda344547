"""The registry of mechanisms: one import line each."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from mondegreen.errors import ConfigurationError, UnknownNameError

if TYPE_CHECKING:
    from mondegreen.mechanisms.base import AbstractMechanism

# name: (module, class). Modules are imported when they are asked for, so that one
# mechanism does not pay for the libraries of another.
_REGISTRY: Final = {
    "brr": ("binary", "Brr"),
    "calibrated": ("selection.calibrated", "Calibrated"),
    "custext": ("baselines.custext", "Custext"),
    "exponential": ("selection.exponential", "Exponential"),
    "hyperbolic": ("noise.hyperbolic", "Hyperbolic"),
    "krr": ("symbols.krr", "Krr"),
    "laplace": ("noise.laplace", "Laplace"),
    "mahalanobis": ("noise.mahalanobis", "Mahalanobis"),
    "santext_plus": ("baselines.santext_plus", "SantextPlus"),
    "syntf": ("selection.syntf", "Syntf"),
    "tem": ("selection.tem", "Tem"),
    "tight": ("selection.tight", "Tight"),
    "tree": ("selection.tree", "Tree"),
    "truncated_gumbel": ("baselines.truncated_gumbel", "TruncatedGumbel"),
    "urr": ("symbols.urr", "Urr"),
    "vickrey": ("noise.vickrey", "Vickrey"),
    "vickrey_literal": ("baselines.vickrey_literal", "VickreyLiteral"),
}
_ALIASES: Final = {"cmp": "laplace", "madlib": "laplace", "santext": "exponential"}


def mechanism_class(name: str) -> type[AbstractMechanism]:
    """The class registered under a name or an alias; an error lists what exists."""
    key = _ALIASES.get(name, name)
    if key not in _REGISTRY:
        raise UnknownNameError("mechanism", name, names())
    module, cls = _REGISTRY[key]
    loaded = importlib.import_module(f"mondegreen.mechanisms.{module}")
    return getattr(loaded, cls)  # type: ignore[no-any-return]


def mechanism(name: str, **parameters: Any) -> AbstractMechanism:
    """Build a mechanism by its name.

    Parameters
    ----------
    name : str
        A name or alias that :func:`mechanisms` lists.
    **parameters
        Those of its class; ``epsilon`` has no default.

    Raises
    ------
    UnknownNameError
        If there is no mechanism of that name.
    ConfigurationError
        If a parameter is missing, does not exist or is out of range.

    Examples
    --------
    >>> mechanism("santext", epsilon=2.5)
    Exponential(epsilon=2.5)
    """
    cls = mechanism_class(name)
    declared = {entry["name"]: entry for entry in cls.parameters()}
    unknown = sorted(set(parameters) - set(declared))
    if unknown:
        given, has = ", ".join(unknown), ", ".join(declared)
        raise ConfigurationError(f"{cls.name} has no parameter {given}; it has: {has}")
    missing = [k for k, v in declared.items() if v["required"] and k not in parameters]
    if missing:
        needed = ", ".join(missing)
        raise ConfigurationError(f"{cls.name} needs {needed}; there is no default")
    return cls(**parameters)


def mechanisms() -> Iterator[type[AbstractMechanism]]:
    """Iterate over all registered classes, by name.

    Examples
    --------
    >>> names = [cls.name for cls in mechanisms() if cls.is_private]
    >>> names[:4], len(names)
    (['brr', 'calibrated', 'exponential', 'hyperbolic'], 13)
    >>> [cls.name for cls in mechanisms() if not cls.is_private]
    ['custext', 'santext_plus', 'truncated_gumbel', 'vickrey_literal']
    """
    for name in sorted(_REGISTRY):
        yield mechanism_class(name)


def names() -> list[str]:
    """Return all names and aliases, sorted; no mechanism is imported for it."""
    return sorted([*_REGISTRY, *_ALIASES])
