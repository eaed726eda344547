"""The registry of mechanisms, and what a mechanism of your own is made of."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final, TypeVar

from mondegreen.errors import ConfigurationError, UnknownNameError
from mondegreen.lazy import load_lazily
from mondegreen.plugins import Plugins, Tell

if TYPE_CHECKING:
    from mondegreen.mechanisms.base import (
        AbstractMechanism,
        State,
        check_ids,
        check_space,
        discrete_distances,
        epsilon_parameter,
        parameter,
        space_distances,
    )

__all__ = [
    "AbstractMechanism",
    "State",
    "check_ids",
    "check_space",
    "discrete_distances",
    "epsilon_parameter",
    "mechanism",
    "mechanism_class",
    "mechanisms",
    "names",
    "parameter",
    "register",
    "space_distances",
]

_EAGER: Final = ("mechanism", "mechanism_class", "mechanisms", "names", "register")
_HOMES: Final = {name: "base" for name in __all__ if name not in _EAGER}

__getattr__, __dir__ = load_lazily(__name__, _HOMES, _EAGER)

Mechanism = TypeVar("Mechanism", bound="type[AbstractMechanism]")

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


def _find_problem(name: str, value: Any) -> str:
    """Say what is wrong with a class that somebody else wrote."""
    from inspect import isabstract

    from mondegreen.mechanisms.base import AbstractMechanism

    if not isinstance(value, type) or not issubclass(value, AbstractMechanism):
        return "it is no subclass of mondegreen.mechanisms.AbstractMechanism"
    if isabstract(value):
        return "it has no method prepare"
    for attribute in ("name", "family", "metric"):
        if not isinstance(getattr(value, attribute, None), str):
            return f"its class has no {attribute}"
    if value.name in _REGISTRY or value.name in _ALIASES:
        return f"mondegreen has a mechanism named {value.name!r}"
    if name not in (value.name, *value.aliases):
        return f"its class is named {value.name!r}"
    parameters: Any = getattr(value, "__dataclass_params__", None)
    declared = getattr(value, "__dataclass_fields__", {})
    if parameters is None or not parameters.frozen or "epsilon" not in declared:
        return "it is no frozen dataclass with a field epsilon"
    return ""


_PLUGINS: Final[Plugins[type[AbstractMechanism]]] = Plugins(
    "mechanism", {**_REGISTRY, **_ALIASES}.keys(), _find_problem
)


def register(mechanism_type: Mechanism) -> Mechanism:
    """Add a mechanism of your own, under its name and aliases, for this process.

    Then every name works as those of the package do: in :func:`mechanism`, calibration,
    attacks and settings. A package registers by an entry point instead, in the group
    ``mondegreen.mechanisms``, so that every process and the command line find it.

    Parameters
    ----------
    mechanism_type : type[AbstractMechanism]
        A frozen dataclass with a field ``epsilon``. Unless it says
        ``is_private = True`` it counts as unproved.

    Returns
    -------
    type[AbstractMechanism]
        The class, so that this can be a decorator.

    Raises
    ------
    ConfigurationError
        If the name is taken, or the class is no mechanism.

    Examples
    --------
    >>> register(mechanism_class("tem"))
    Traceback (most recent call last):
    mondegreen.errors.ConfigurationError: cannot register 'tem': ...
    """
    _PLUGINS.register(mechanism_type, *_find_names(mechanism_type))
    return mechanism_type


def _find_names(cls: Any) -> tuple[str, ...]:
    """List the name and the aliases of a class, if it has any."""
    return str(getattr(cls, "name", "")), *getattr(cls, "aliases", ())


def mechanism_class(name: str) -> type[AbstractMechanism]:
    """Look up the class registered under a name or an alias.

    Parameters
    ----------
    name : str
        One that :func:`names` lists.

    Returns
    -------
    type[AbstractMechanism]

    Raises
    ------
    UnknownNameError
        If there is no mechanism of that name; it lists those there are.
    PluginError
        If another package offers it, and it is broken.

    Examples
    --------
    >>> mechanism_class("santext").name
    'exponential'
    """
    key = _ALIASES.get(name, name)
    if key in _REGISTRY:
        module, cls = _REGISTRY[key]
        loaded = importlib.import_module(f"mondegreen.mechanisms.{module}")
        return getattr(loaded, cls)  # type: ignore[no-any-return]
    found = _PLUGINS.load(name)
    if found is None:
        hint = _BY_CLASS if ":" in name else ""
        raise UnknownNameError("mechanism", name, names(), hint=hint)
    return found


_BY_CLASS: Final = (
    "only audit and benchmark take MODULE:CLASS. Other commands take installed "
    "mechanisms: declare yours as an entry point of a package"
)


def mechanism(name: str, **parameters: Any) -> AbstractMechanism:
    """Build a mechanism by its name.

    Parameters
    ----------
    name : str
        A name or alias that :func:`mechanisms` lists.
    **parameters
        Those of its class; ``epsilon`` has no default.

    Returns
    -------
    AbstractMechanism
        The mechanism, with frozen parameters.

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


def mechanisms(tell: Tell = warnings.warn) -> Iterator[type[AbstractMechanism]]:
    """Iterate over all registered classes, by name.

    Parameters
    ----------
    tell : callable
        Told of each plug-in that cannot be loaded, which is left out.

    Returns
    -------
    iterator of type[AbstractMechanism]

    Examples
    --------
    >>> names = [cls.name for cls in mechanisms() if cls.is_private]
    >>> names[:4], len(names)
    (['brr', 'calibrated', 'exponential', 'hyperbolic'], 13)
    >>> [cls.name for cls in mechanisms() if not cls.is_private]
    ['custext', 'santext_plus', 'truncated_gumbel', 'vickrey_literal']
    """
    found = {name: mechanism_class(name) for name in _REGISTRY}
    found |= {cls.name: cls for _, cls in _PLUGINS.load_all(tell)}
    for name in sorted(found):
        yield found[name]


def names() -> list[str]:
    """Return all names and aliases, sorted; no mechanism is imported for it."""
    return sorted([*_REGISTRY, *_ALIASES, *_PLUGINS.names()])
