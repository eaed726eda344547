"""Options that several commands share, and the mechanism that they describe."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mondegreen.cli import completion
from mondegreen.errors import InvalidParameterError, SourceError

if TYPE_CHECKING:
    from mondegreen.mechanisms.base import AbstractMechanism


epsilon_option = click.option(
    "-e",
    "--epsilon",
    required=True,
    type=float,
    metavar="NUMBER",
    help="Privacy loss, in nats, of two words one unit of distance apart; with the "
    "tree, of any two words. Smaller is more private and less readable. There is no "
    "default.",
)

mechanism_option = click.option(
    "-m",
    "--mechanism",
    "name",
    default="tree",
    show_default=True,
    metavar="NAME",
    shell_complete=completion.mechanisms,
    help="How words are replaced. See: mondegreen mechanisms.",
)

settings_option = click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="NAME=VALUE|@FILE",
    help="Another parameter of the mechanism, such as t=0.25; `mondegreen mechanisms` "
    "lists them; @FILE is a JSON object of them. Repeatable.",
)

space_option = click.option(
    "--space",
    default="glove-840b-34k",
    show_default=True,
    metavar="NAME|PATH",
    shell_complete=completion.spaces,
    help="Vocabulary that words are drawn from. See: mondegreen space list.",
)

columns_option = click.option(
    "-c",
    "--column",
    "columns",
    multiple=True,
    default=("text",),
    show_default=True,
    metavar="NAME",
    shell_complete=completion.columns,
    help="Column with text; JSON and struct paths such as msg.body. Repeatable.",
)


_READING = (
    click.option(
        "--delimiter",
        metavar="CHAR",
        callback=lambda context, option, given: "\t" if given == "\\t" else given,
        help="Between the values of CSV, such as ';' or '\\t'.  [default: a comma, or "
        "what the header tells]",
    ),
    click.option(
        "--encoding",
        metavar="NAME",
        help="Of the input where it is not UTF-8, such as latin-1 or utf-16. The "
        "output is UTF-8.",
    ),
    click.option(
        "--missing",
        type=click.Choice(["stop", "pass"]),
        default="stop",
        show_default=True,
        help="Records of JSON Lines that lack a column: stop, or let them PASS IN "
        "CLEAR.",
    ),
    click.option(
        "--metadata",
        type=click.Choice(["drop", "keep"]),
        default="drop",
        show_default=True,
        help="What Parquet says of a file and its fields besides; it may hold text.",
    ),
)


def reading_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options that ``open_source`` takes by their names."""
    for option in reversed(_READING):
        command = option(command)
    return command


def built(name: str, epsilon: float, settings: tuple[str, ...]) -> AbstractMechanism:
    """Return the mechanism that --mechanism, --epsilon and --set describe."""
    from mondegreen.mechanisms import mechanism

    return mechanism(name, epsilon=epsilon, **parameters_of(settings))


def parameters_of(settings: tuple[str, ...]) -> dict[str, Any]:
    """Return the parameters that NAME=VALUE strings and @FILEs describe."""
    parameters: dict[str, Any] = {}
    for setting in settings:
        if setting.startswith("@"):
            parameters.update(_stored(setting[1:]))
            continue
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


def _stored(path: str) -> dict[str, Any]:
    """Return the parameters of a JSON file."""
    try:
        found = json.loads(Path(path).read_bytes())
    except OSError as error:
        problem = error.strerror or type(error).__name__
        raise SourceError(path, f"cannot be read: {problem}") from None
    except ValueError:  # not JSON, or not UTF-8
        found = None
    if not isinstance(found, dict) or "epsilon" in found:
        raise InvalidParameterError(
            "--set", f"@{path}", "a JSON object of parameters other than epsilon"
        )
    return found
