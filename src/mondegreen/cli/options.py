"""Options that several commands share, and the mechanism that they describe."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from mondegreen.errors import InvalidParameterError

if TYPE_CHECKING:
    from mondegreen.mechanisms import AbstractMechanism

__all__ = [
    "built",
    "columns_option",
    "epsilon_option",
    "mechanism_option",
    "parameters_of",
    "settings_option",
    "space_option",
]

epsilon_option = click.option(
    "-e",
    "--epsilon",
    required=True,
    type=float,
    metavar="FLOAT/UNIT",
    help="Loss in nats for two words one unit of distance apart. There is no default.",
)

mechanism_option = click.option(
    "-m",
    "--mechanism",
    "name",
    default="calibrated",
    show_default=True,
    metavar="NAME",
    help="See: mondegreen mechanisms.",
)

settings_option = click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="NAME=VALUE",
    help="Another parameter of the mechanism, such as t=0.25. Repeatable.",
)

space_option = click.option(
    "--space",
    default="glove-840b-34k",
    show_default=True,
    metavar="NAME|PATH",
    help="Words and vectors. See: mondegreen space list.",
)

columns_option = click.option(
    "-c",
    "--column",
    "columns",
    multiple=True,
    default=("text",),
    show_default=True,
    metavar="NAME",
    help="Column with text; JSON and struct paths such as msg.body. Repeatable.",
)


def built(name: str, epsilon: float, settings: tuple[str, ...]) -> AbstractMechanism:
    """Return the mechanism that --mechanism, --epsilon and --set describe."""
    from mondegreen.mechanisms import mechanism

    return mechanism(name, epsilon=epsilon, **parameters_of(settings))


def parameters_of(settings: tuple[str, ...]) -> dict[str, Any]:
    """Return the parameters that NAME=VALUE strings describe."""
    parameters: dict[str, Any] = {}
    for setting in settings:
        key, equals, value = setting.partition("=")
        if not equals or key == "epsilon":
            raise InvalidParameterError(
                "--set", setting, "NAME=VALUE, NAME other than epsilon"
            )
        try:
            parameters[key] = json.loads(value)
        except ValueError:
            if not value.isidentifier():
                raise InvalidParameterError(
                    f"--set {key}", value, "a number, a name, [0.1,0.2], or null"
                ) from None
            parameters[key] = value  # a name, such as decoder=fast, needs no quotes
    return parameters
