"""What attackers recover from a release, of this package or of any tool.

The names below are public and stable. They load neither faiss nor torch.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, TypeAlias

from mondegreen.lazy import load_lazily
from mondegreen.plugins import Plugins, find_function_problem

if TYPE_CHECKING:
    import numpy as np

    from mondegreen.attacks.any_tool.rows import Given
    from mondegreen.attacks.any_tool.run import Found, attack_release
    from mondegreen.attacks.any_tool.spans import (
        Annotation,
        SpanError,
        move_spans,
        read_spans,
    )
    from mondegreen.attacks.attack import Attack
    from mondegreen.attacks.context import (
        ContextCertificate,
        Place,
        certify_context,
        find_exposed_places,
    )
    from mondegreen.attacks.pairs import Pairs, build_pairs
    from mondegreen.attacks.reader import Knowledge
    from mondegreen.attacks.run import attack_all
    from mondegreen.mechanisms.base import State

    MakeAttack: TypeAlias = Callable[
        [State, Pairs, Knowledge, np.random.Generator], Attack
    ]

__all__ = [
    "ORDER",
    "Annotation",
    "Attack",
    "ContextCertificate",
    "Found",
    "Given",
    "Knowledge",
    "Pairs",
    "Place",
    "SpanError",
    "attack_all",
    "attack_release",
    "build_pairs",
    "certify_context",
    "find_exposed_places",
    "move_spans",
    "names",
    "read_spans",
    "register",
]

ORDER: Final = (
    "single_word",
    "reader",
    "learning_reader",
    "worst_word",
    "categories",
    "mutual_information",
    "linkage",
    "averaging",
)
"""The attacks of this package, as they are shown."""

__getattr__, __dir__ = load_lazily(
    __name__,
    {
        "Annotation": "any_tool.spans",
        "Attack": "attack",
        "ContextCertificate": "context",
        "Found": "any_tool.run",
        "Given": "any_tool.rows",
        "Knowledge": "reader",
        "Pairs": "pairs",
        "Place": "context",
        "SpanError": "any_tool.spans",
        "attack_all": "run",
        "attack_release": "any_tool.run",
        "build_pairs": "pairs",
        "certify_context": "context",
        "find_exposed_places": "context",
        "move_spans": "any_tool.spans",
        "read_spans": "any_tool.spans",
    },
    eager=["ORDER", "names", "register"],
)

PLUGINS: Final[Plugins[MakeAttack]] = Plugins("attack", ORDER, find_function_problem)


def register(name: str, make: MakeAttack) -> None:
    """Add an attack of your own for this process.

    A package registers by an entry point instead, in the group ``mondegreen.attacks``,
    so that the command line finds it.

    Parameters
    ----------
    name : str
        Lower-case letters, digits and ``_``.
    make : callable
        ``make(state, pairs, knowledge, rng)`` returns an :class:`Attack` of that name.

    Raises
    ------
    ConfigurationError
        If the name is taken.

    Examples
    --------
    >>> register("linkage", print)
    Traceback (most recent call last):
    mondegreen.errors.ConfigurationError: cannot register 'linkage': ...
    """
    PLUGINS.register(make, name)


def names() -> list[str]:
    """List the attacks that other packages offer, or that are registered.

    Returns
    -------
    list of str

    Examples
    --------
    >>> "linkage" in names()  # of this package: it is always made
    False
    """
    return PLUGINS.names()
