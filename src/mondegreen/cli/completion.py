"""What the shell offers at the Tab key, beside verbs, options and their choices.

Whatever goes wrong, nothing is offered and nothing is said: somebody is in the middle
of a line.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

if TYPE_CHECKING:
    import pyarrow as pa
    from click.shell_completion import CompletionItem


_HEAD_BYTES: Final = 1 << 16

# A word to every shell: what is offered is put on the line as it is, unquoted.
_PLAIN: Final = re.compile(r"[^\W\d][\w.-]{0,63}")

Completer = Callable[[click.Context, click.Parameter, str], "list[CompletionItem]"]
_Offer = Callable[[click.Context], Iterable[str]]


def _silent(offer: _Offer) -> Completer:
    """Offer those names that begin as the word on the line does, or else files."""

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

    complete.__doc__ = offer.__doc__
    return complete


@_silent
def mechanisms(ctx: click.Context) -> list[str]:
    """Offer names and aliases of mechanisms."""
    from mondegreen.mechanisms import names

    return names()


@_silent
def spaces(ctx: click.Context) -> list[str]:
    """Offer the spaces that can be loaded."""
    from mondegreen.space.store import space_names

    return space_names()


@_silent
def columns(ctx: click.Context) -> list[str]:
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
    """Return the first row of a CSV, if it can be a header."""
    import csv

    text = _head(path).decode(options.get("encoding") or "utf-8-sig", errors="replace")
    first = text.partition("\n")[0]
    delimiter = options.get("delimiter") or max(",;\t", key=first.count)
    row = next(csv.reader(io.StringIO(text), delimiter=delimiter))
    # Values rather than names: a number, nothing, or the same twice.
    is_header = len(set(row)) == len(row) and not any(c[:1].isdecimal() for c in row)
    return row if is_header and all(row) else []


def _of_json(path: Path, options: dict[str, Any]) -> Iterator[str]:
    """Yield the paths to the values of the first record."""
    record = json.loads(_head(path).partition(b"\n")[0])
    return _paths(record) if isinstance(record, dict) else iter(())


def _paths(value: object, prefix: str = "") -> Iterator[str]:
    """Yield the paths of values within objects and lists."""
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
    """Yield the paths to the values of a schema."""
    import pyarrow.parquet as pq

    for field in pq.read_schema(path):
        yield from _fields(field, field.name)


def _fields(field: pa.Field, prefix: str) -> Iterator[str]:
    """Yield the paths of fields within structs and lists."""
    import pyarrow as pa

    if pa.types.is_struct(field.type):
        for inner in field.type:
            yield from _fields(inner, f"{prefix}.{inner.name}")
    elif pa.types.is_list(field.type) or pa.types.is_large_list(field.type):
        yield from _fields(field.type.value_field, prefix)
    else:
        yield prefix


def _head(path: Path) -> bytes:
    """Return the first bytes of a file, however long it is."""
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
