"""Where the selected values of a JSON object lie in its text."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import NoReturn, final

__all__ = ["Found", "SpanScanner", "UnfitValueError"]

_Scan = Callable[[str, int], tuple[object, int]]

# Numbers are skipped as text: 1e400 stays what it is, and a huge integer neither takes
# quadratic time nor meets the interpreter's limit on digits.
_skip: _Scan = json.JSONDecoder(  # type: ignore[attr-defined]
    parse_int=str, parse_float=str, parse_constant=str
).scan_once
_space = re.compile(r"[ \t\n\r]*").match
_integer = re.compile(r"0|-?[1-9][0-9]*").fullmatch

_KINDS = {
    "{": "an object",
    "[": "a list",
    "t": "a boolean",
    "f": "a boolean",
    "n": "null",
    '"': "text",
}


class UnfitValueError(Exception):
    """Raised when a selected value has another type; says the path, not the value."""


@dataclass(slots=True)
class Found:
    """What one record holds at the selected paths.

    Attributes
    ----------
    spans : list of (start, end, value)
        Selected strings and nulls, in the order of the text.
    ids : list of str
        Values at the path of the record id.
    """

    spans: list[tuple[int, int, str | None]] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _Node:
    """What to do with the value of a key: take it, name the record by it, go in."""

    text: str | None = None
    id: str | None = None
    below: dict[str, _Node] = field(default_factory=dict)


@final
class SpanScanner:
    """Finds the values at dotted paths, leaving the text around them untouched.

    A path ``a.b`` means key ``b`` in the object at key ``a``, in every object of a
    list at ``a``, and also the key that is literally ``a.b``. Where a key occurs
    twice in an object both values are found.

    Parameters
    ----------
    columns : sequence of str
        Paths of the values.
    id_column : str or None
        Path of the record id.

    Attributes
    ----------
    seen : set of str
        Paths that some record had.

    Examples
    --------
    >>> line = '{"n": 1.10, "msgs": [{"body": "hi"}, {"body": null}]}'
    >>> [line[a:b] for a, b, _ in SpanScanner(["msgs.body"]).scan(line).spans]
    ['"hi"', 'null']
    """

    def __init__(self, columns: Sequence[str], id_column: str | None = None) -> None:
        self.seen: set[str] = set()
        self._root: dict[str, _Node] = {}
        for column in columns:
            for leaf in _leaves(self._root, column):
                leaf.text = column
        if id_column is not None:
            for leaf in _leaves(self._root, id_column):
                leaf.id = id_column

    def scan(self, line: str) -> Found:
        """Scan one line.

        Raises
        ------
        UnfitValueError
            If a selected value is neither a string nor null nor a list of these.
        ValueError, StopIteration, RecursionError
            If the line is not one JSON object.
        """
        found = Found()
        start = _after_space(line, 0)
        if line[start : start + 1] != "{":
            raise ValueError
        end = _after_space(line, self._object(line, start, self._root, found))
        if end != len(line):
            raise ValueError
        return found

    def _object(self, line: str, at: int, nodes: dict[str, _Node], found: Found) -> int:
        """Go through the object that opens at ``at``; return where it ends."""
        at = _after_space(line, at + 1)
        if line[at : at + 1] == "}":
            return at + 1
        while True:
            if line[at : at + 1] != '"':
                raise ValueError
            key, at = scanstring(line, at + 1)
            at = _after_space(line, at)
            if line[at : at + 1] != ":":
                raise ValueError
            at = _after_space(line, at + 1)
            node = nodes.get(key)
            if node is None:
                at = _skip(line, at)[1]
            else:
                at = self._value(line, at, node, found)
            at = _after_space(line, at)
            mark = line[at : at + 1]
            if mark == "}":
                return at + 1
            if mark != ",":
                raise ValueError
            at = _after_space(line, at + 1)

    def _value(self, line: str, at: int, node: _Node, found: Found) -> int:
        """Take the value at ``at``, or go into it; return where it ends."""
        if node.text is not None:
            self.seen.add(node.text)
        mark = line[at : at + 1]
        if mark == "{" and node.below:
            return self._object(line, at, node.below, found)
        if mark == "[" and (node.text is not None or node.below):
            return self._list(line, at, node, found)
        value, end = _skip(line, at)
        if node.text is not None:
            if value is not None and mark != '"':
                _refuse(mark, node.text, "text")
            found.spans.append((at, end, value if isinstance(value, str) else None))
        elif node.id is not None:
            found.ids.append(_scalar(line[at:end], value, mark, node.id))
        elif value is not None:
            inner = min(_paths(node), default="")
            _refuse(mark, inner, "an object on the way")
        return end

    def _list(self, line: str, at: int, node: _Node, found: Found) -> int:
        """Take every element of the list that opens at ``at``."""
        at = _after_space(line, at + 1)
        if line[at : at + 1] == "]":
            return at + 1
        while True:
            at = _after_space(line, self._value(line, at, node, found))
            mark = line[at : at + 1]
            if mark == "]":
                return at + 1
            if mark != ",":
                raise ValueError
            at = _after_space(line, at + 1)


def _leaves(nodes: dict[str, _Node], path: str) -> list[_Node]:
    """Return a node for each way to read the dots of a path, making the way there."""
    leaves = [nodes.setdefault(path, _Node())]
    dot = path.find(".")
    while dot >= 0:
        node = nodes.setdefault(path[:dot], _Node())
        leaves += _leaves(node.below, path[dot + 1 :])
        dot = path.find(".", dot + 1)
    return leaves


def _paths(node: _Node) -> list[str]:
    """Paths of columns that lead through a node."""
    own = [path for path in (node.text, node.id) if path is not None]
    return own + [path for inner in node.below.values() for path in _paths(inner)]


def _after_space(line: str, at: int) -> int:
    match = _space(line, at)
    return match.end() if match else at


def _scalar(raw: str, value: object, mark: str, path: str) -> str:
    """Return an id: a string as it is, an integer as it is written."""
    if mark == '"' and isinstance(value, str):
        return value
    if _integer(raw):
        return raw
    _refuse(mark, path, "a string or an integer, as the id of the record")


def _refuse(mark: str, path: str, wanted: str) -> NoReturn:
    kind = _KINDS.get(mark, "a number")
    raise UnfitValueError(f"{kind} at {path!r}, where {wanted} is expected")
