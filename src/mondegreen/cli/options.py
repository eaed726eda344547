"""Options that several commands share: what the Tab key offers, what values mean."""

from __future__ import annotations

import inspect
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import NoneType
from typing import (
    TYPE_CHECKING,
    Any,
    Final,
    NamedTuple,
    get_args,
    get_origin,
    get_type_hints,
)

import click

from mondegreen.errors import (
    DecodeError,
    InvalidParameterError,
    SourceError,
    UnprovedGuaranteeError,
)

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from mondegreen.mechanisms.base import AbstractMechanism


_HEAD_BYTES: Final = 1 << 16

# A word to every shell: what is offered is put on the line as it is, unquoted.
_PLAIN: Final = re.compile(r"[^\W\d][\w.-]{0,63}")

DEFAULT_SPACE: Final = "glove-840b-34k"
FORMATS: Final = click.Choice(["txt", "csv", "tsv", "jsonl", "parquet"])
FILE: Final = click.Path(path_type=str)
POSITIVE: Final = click.IntRange(min=1)
SEED: Final = click.IntRange(min=0)
FILE.name, POSITIVE.name, SEED.name = "file", "n", "n"  # as the help calls them


def _silent(offer: Callable[[click.Context], Iterable[str]]) -> Any:
    """Offer those names that begin as the word on the line does, or else files.

    Whatever goes wrong, nothing is offered and nothing is said: somebody is in the
    middle of a line.
    """

    def complete(
        ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        try:
            names = [name for name in offer(ctx) if name.startswith(incomplete)]
        except Exception:
            names = []
        items = [CompletionItem(name) for name in names]
        is_path = "PATH" in (param.metavar or "")
        return items or ([CompletionItem(incomplete, type="file")] if is_path else [])

    return complete


@_silent
def offer_mechanisms(ctx: click.Context) -> list[str]:
    from mondegreen.mechanisms import names

    return names()


@_silent
def offer_spaces(ctx: click.Context) -> list[str]:
    from mondegreen.space.store import space_names

    return space_names()


@_silent
def offer_columns(ctx: click.Context) -> list[str]:
    """Offer the columns of the file that is on the line: names, and nothing else."""
    from mondegreen.io.guess import format_of

    # click leaves arguments unread where the last option on the line lacks its value.
    read = [ctx.params.get(name) for name in ("input", "sample", "original")]
    path = Path(next(filter(None, [*ctx.args, *read])))
    if not path.is_file():  # a pipe has one reader
        return []
    form: str = ctx.params.get("format") or format_of(path.name) or ""
    names = list(_READERS[form](path, ctx.params))
    return [name for name in dict.fromkeys(names) if _PLAIN.fullmatch(name)]


def _of_table(path: Path, options: dict[str, Any]) -> list[str]:
    """Read the first row of a CSV, if it can be a header."""
    import csv

    text = _head(path).decode(options.get("encoding") or "utf-8-sig", errors="replace")
    first = text.partition("\n")[0]
    delimiter = options.get("delimiter") or max(",;\t", key=first.count)
    row = next(csv.reader(io.StringIO(text), delimiter=delimiter))
    # Values rather than names: a number, nothing, or the same twice.
    is_header = len(set(row)) == len(row) and not any(c[:1].isdecimal() for c in row)
    return row if is_header and all(row) else []


def _of_json(path: Path, options: dict[str, Any]) -> Iterator[str]:
    record = json.loads(_head(path).partition(b"\n")[0])
    return _paths(record) if isinstance(record, dict) else iter(())


def _paths(value: object, prefix: str = "") -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _paths(inner, f"{prefix}.{key}" if prefix else key)
    elif isinstance(value, list) and any(
        isinstance(each, dict | list) for each in value
    ):
        for each in value:
            yield from _paths(each, prefix)
    else:
        yield prefix


def _of_parquet(path: Path, options: dict[str, Any]) -> Iterator[str]:
    import pyarrow.parquet as pq

    schema = pq.ParquetFile(path).schema
    for number in range(len(schema.names)):
        # Lists have steps of their own, which a column is not named by.
        yield re.sub(r"\.list\.(element|item)", "", schema.column(number).path)


def _head(path: Path) -> bytes:
    import gzip

    opened = gzip.open if path.suffix.lower() == ".gz" else open
    with opened(path, "rb") as stream:
        head: bytes = stream.read(_HEAD_BYTES)
    if b"\n" not in head and len(head) == _HEAD_BYTES:
        raise ValueError
    return head


_READERS: Final = {
    "csv": _of_table,
    "tsv": _of_table,
    "jsonl": _of_json,
    "parquet": _of_parquet,
}


class _Declared(NamedTuple):
    """What is said of a parameter of a command, in place of its default."""

    is_option: bool
    flags: tuple[str, ...]
    given: dict[str, Any]


def option(default: Any, help: str, flags: str = "", **more: Any) -> Any:
    """Declare an option where a parameter has its default: ``...`` if it is required.

    Its flag is the name of the parameter, unless ``flags`` names some. Its type, and
    whether it is a flag or repeatable, are those of the parameter, unless ``more``,
    which holds what ``click.option`` takes, has a ``type``.
    """
    given = {"required": True} if default is ... else {"default": default}
    return _Declared(True, tuple(flags.split()), {**given, "help": help, **more})


def argument(**more: Any) -> Any:
    """Declare an argument where a parameter has its default."""
    return _Declared(False, (), more)


def command(**how: Any) -> Callable[[Callable[..., None]], click.Command]:
    """Turn a function into a command; its parameters declare its options, each once."""

    def decorate(function: Callable[..., None]) -> click.Command:
        hints = get_type_hints(function)
        parameters = inspect.signature(function).parameters
        for name in reversed(parameters):
            declared: _Declared = parameters[name].default
            if declared.is_option:
                flags = declared.flags or (f"--{name.replace('_', '-')}",)
                given = {**_typed(hints[name]), **declared.given}
                function = click.option(*flags, name, **given)(function)
            else:
                function = click.argument(name, **declared.given)(function)
        made: click.Command = click.command(**how)(function)
        return made

    return decorate


def _typed(kind: Any) -> dict[str, Any]:
    if kind is bool:
        return {"is_flag": True}
    if get_origin(kind) is tuple:
        return {"multiple": True, "type": get_args(kind)[0]}
    plain = [each for each in get_args(kind) if each is not NoneType]
    return {"type": plain[0] if plain else kind}


def epsilon_option(help: str) -> Any:
    return option(..., help, "-e --epsilon", metavar="NUMBER")


def mechanism_option(default: str | None, help: str) -> Any:
    return option(
        default, help, "-m --mechanism", metavar="NAME", shell_complete=offer_mechanisms
    )


def space_option(help: str) -> Any:
    return option(DEFAULT_SPACE, help, metavar="NAME|PATH", shell_complete=offer_spaces)


def format_option(help: str) -> Any:
    return option(None, help, type=FORMATS)


EPSILON: Final = epsilon_option(
    "Privacy budget: smaller is more private and less readable. An output changes the "
    "odds between two words by a factor of at most e^(NUMBER times their distance); "
    "with the tree, of at most e^NUMBER, whatever the words. There is no default."
)
MECHANISM: Final = mechanism_option(
    "tree", "How words are replaced. See: mondegreen mechanisms."
)
SETTINGS: Final = option(
    (),
    "Another parameter of the mechanism, such as t=0.25; `mondegreen mechanisms` "
    "lists them; @FILE is a JSON object of them. Repeatable.",
    "--set",
    metavar="NAME=VALUE|@FILE",
)
SPACE: Final = space_option(
    "Vocabulary that words are drawn from. See: mondegreen space list."
)
COLUMNS: Final = option(
    ("text",),
    "Column with text; JSON and struct paths such as msg.body. Repeatable.",
    "-c --column",
    metavar="NAME",
    shell_complete=offer_columns,
)
SAMPLE_FORMAT: Final = format_option(
    "Of SAMPLE.  [default: what the name tells; txt for -]"
)
KEEP: Final = option(
    None, "PUBLIC words, one a line, that pass in clear, as spelled there.", type=FILE
)
FORCE: Final = option(False, "Replace an output that exists.")
UNPROVED: Final = option(False, "Permit a mechanism without a proof.")
JSON: Final = option(False, "Print JSON, not a table.", "--json")
QUIET: Final = option(False, "No progress.", "-q --quiet")


def built(name: str, epsilon: float, settings: tuple[str, ...]) -> AbstractMechanism:
    """Make the mechanism that --mechanism, --epsilon and --set describe."""
    from mondegreen.mechanisms import mechanism

    return mechanism(name, epsilon=epsilon, **parameters_of(settings))


def check_proved(mechanism: Any, *, allow_unproved: bool) -> None:
    """Refuse a mechanism, or a class of them, without a proof."""
    if not mechanism.is_private and not allow_unproved:
        raise UnprovedGuaranteeError(
            f"{mechanism.name} has no proof of privacy; to measure it all the same, "
            "pass --allow-unproved"
        )


def parameters_of(settings: tuple[str, ...]) -> dict[str, Any]:
    """Read the parameters that NAME=VALUE strings and @FILEs describe."""
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
    try:
        found = json.loads(read_bytes(path))
    except ValueError:  # not JSON, or not UTF-8
        found = None
    if not isinstance(found, dict) or "epsilon" in found:
        raise InvalidParameterError(
            "--set", f"@{path}", "a JSON object of parameters other than epsilon"
        )
    return found


def read_bytes(path: str, limit: int = -1) -> bytes:
    """Read a file that an option names, up to so many bytes."""
    try:
        with Path(path).open("rb") as file:
            return file.read(limit)
    except OSError as error:
        problem = error.strerror or type(error).__name__
        raise SourceError(path, f"cannot be read: {problem}") from None


def read_lines(path: str | None) -> tuple[str, ...]:
    """Read the lines of a text that an option names; none without a file."""
    if path is None:
        return ()
    try:
        text = read_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DecodeError(path, offset=error.start) from None
    return tuple(line.strip() for line in text.splitlines() if line.strip())
