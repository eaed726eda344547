"""Where the selected values of a JSON object lie in its text.

By hand, since no parser of JSON tells where in the text a value was: msgspec's and
orjson's raw values forget the space around them, and twice the same key.
"""

from __future__ import annotations

import functools
import json
import operator
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import NoReturn, final

_Scan = Callable[[str, int], tuple[object, int]]

# Numbers are skipped as text: 1e400 stays what it is, and a huge integer neither takes
# quadratic time nor meets the interpreter's limit on digits.
_skip: _Scan = json.JSONDecoder(  # type: ignore[attr-defined]
    parse_int=str, parse_float=str, parse_constant=str
).scan_once
_space = re.compile(r"[ \t\n\r]*").match
_integer = re.compile(r"0|-?[1-9][0-9]*").fullmatch

# Where a key begins, where its value ends, and the path by which both are dropped.
_Member = tuple[int, int, str | None]

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
    """What one record holds at the selected paths."""

    # (start, end, value, place of its path among the columns), in order of the text;
    # the place is None where the text between is left out
    spans: list[tuple[int, int, str | None, int | None]] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    lacking: int = 0  # a bit, 1 << place, for each column that the record lacks
    dropped: set[str] = field(default_factory=set)  # paths that it had and that go


@dataclass(slots=True)
class _Node:
    """What to do with the value of a key: take it, name the record by it, go in."""

    text: int | None = None
    id: str | None = None
    raw: int | None = None  # the place of a value that is taken as it is written
    drop: str | None = None  # the path by which this key and its value are left out
    through: int = 0  # the bit of each column whose path ends here or goes on from here
    below: dict[str, _Node] = field(default_factory=dict)

    @property
    def own(self) -> int:
        return 0 if self.text is None else 1 << self.text

    def ids(self) -> Iterator[str]:
        if self.id is not None:
            yield self.id
        for inner in self.below.values():
            yield from inner.ids()

    def drops(self) -> Iterator[str]:
        """List the paths that are dropped here, or else below."""
        if self.drop is not None:
            yield self.drop
            return
        for inner in self.below.values():
            yield from inner.drops()


@final
class SpanScanner:
    """Finds the values at dotted paths, leaving the text around them untouched.

    A path ``a.b`` means key ``b`` in the object at key ``a``, in every object of a list
    at ``a``, and also the key that is literally ``a.b``. Where a key occurs twice in an
    object both values are found. ``a`` and ``a.b`` together are for records where some
    have a text at ``a``, and some an object, or a list of either.

    A record *has* a column where every object on the way has the next key, in one of
    the ways to read the dots; each object of a list, and each value of a key that
    occurs twice. The way may end early at null or at an empty list: there is nothing
    there that could pass.

    ``raw_field`` is a path whose value is taken as it is written, whatever it is; its
    place is behind those of the columns. ``drop`` holds paths whose keys are left out
    with their values, and with the comma beside them.

    >>> line = '{"n": 1.10, "msgs": [{"body": "hi"}, {"body": null}]}'
    >>> [line[a:b] for a, b, *_ in SpanScanner(["msgs.body"]).scan(line).spans]
    ['"hi"', 'null']
    >>> scanner = SpanScanner(["msgs.body"], drop=["n"])
    >>> [line[a:b] for a, b, _, place in scanner.scan(line).spans if place is None]
    ['"n": 1.10, ']
    >>> SpanScanner(["n", "msgs.text"]).scan('{"n": null, "msgs": [{}]}').lacking
    2
    """

    def __init__(
        self,
        columns: Sequence[str],
        id_column: str | None = None,
        raw_field: str | None = None,
        drop: Sequence[str] = (),
    ) -> None:
        self._columns = tuple(columns)
        self._root: dict[str, _Node] = {}
        for place, column in enumerate(self._columns):
            for leaf in _leaves(self._root, column, 1 << place):
                leaf.text = place
        if id_column is not None:
            for leaf in _leaves(self._root, id_column):
                leaf.id = id_column
        if raw_field is not None:
            for leaf in _leaves(self._root, raw_field):
                leaf.raw = len(self._columns)
        self._drops = bool(drop)
        for path, leaf in ((p, n) for p in drop for n in _leaves(self._root, p)):
            leaf.drop = path

    def scan(self, line: str) -> Found:
        """Scan one line.

        It raises UnfitValueError where a selected value is neither a string nor null
        nor a list of these; and ValueError, StopIteration or RecursionError if the
        line is not one JSON object.
        """
        found = Found()
        start = _after_space(line, 0)
        if line[start : start + 1] != "{":
            raise ValueError
        end, has = self._object(line, start, self._root, found)
        if _after_space(line, end) != len(line):
            raise ValueError
        found.lacking = (1 << len(self._columns)) - 1 & ~has
        if found.dropped:  # they were found at the end of the object around
            found.spans.sort(key=operator.itemgetter(0))
        return found

    def _object(
        self, line: str, at: int, nodes: dict[str, _Node], found: Found
    ) -> tuple[int, int]:
        """Go through the object that opens at ``at``.

        Return where it ends, and the bits of the columns that it has.
        """
        has: dict[str, int] = {}
        members: list[_Member] = []
        at = _after_space(line, at + 1)
        if line[at : at + 1] == "}":
            return at + 1, 0
        while True:
            first = at
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
                at, bits = self._value(line, at, node, found)
                has[key] = bits & has.get(key, bits)
            if self._drops:
                members.append((first, at, None if node is None else node.drop))
            at, is_last = _after_item(line, at, "}")
            if is_last:
                _leave_out(members, found)
                return at, functools.reduce(operator.or_, has.values(), 0)

    def _value(self, line: str, at: int, node: _Node, found: Found) -> tuple[int, int]:
        """Take the value at ``at``, or go into it; return as ``_object`` does."""
        if node.raw is not None:
            end = _skip(line, at)[1]
            found.spans.append((at, end, line[at:end], node.raw))
            return end, 0  # it is no column of text
        mark = line[at : at + 1]
        if mark == "{" and node.below:
            end, has = self._object(line, at, node.below, found)
            return end, has | node.own  # text elsewhere, and here what holds it
        if mark == "[" and (node.text is not None or node.below):
            return self._list(line, at, node, found)
        value, end = _skip(line, at)
        if node.text is not None:
            if value is not None and mark != '"':
                path = self._columns[node.text]
                more = f"{path}.text, or the key of its text" if mark == "{" else ""
                _refuse(mark, path, "text", also=more)
            text = value if isinstance(value, str) else None
            found.spans.append((at, end, text, node.text))
            return end, node.through
        if node.id is not None:
            found.ids.append(_scalar(line[at:end], value, mark, node.id))
        elif value is not None:
            through = [c for i, c in enumerate(self._columns) if node.through >> i & 1]
            inside = [] if node.drop else node.drops()
            _refuse_end([*through, *node.ids(), *inside], mark)
        return end, node.through

    def _list(self, line: str, at: int, node: _Node, found: Found) -> tuple[int, int]:
        """Take every element of the list that opens at ``at``."""
        has = node.through
        at = _after_space(line, at + 1)
        if line[at : at + 1] == "]":
            return at + 1, has
        while True:
            at, bits = self._value(line, at, node, found)
            has &= bits
            at, is_last = _after_item(line, at, "]")
            if is_last:
                return at, has


def _leave_out(members: Sequence[_Member], found: Found) -> None:
    """Find the text of the members of an object that are dropped."""
    found.dropped.update(path for _, _, path in members if path is not None)
    left: int | None = None  # the end of the last member that stays
    start: int | None = None  # of a run of members that go
    for first, end, path in members:
        if path is not None:
            start = first if start is None else start
            continue
        if start is not None:
            found.spans.append((start, first, None, None))
        left, start = end, None
    if start is not None:  # at the end of the object: with the comma before
        begin = start if left is None else left
        found.spans.append((begin, members[-1][1], None, None))


def _leaves(nodes: dict[str, _Node], path: str, bit: int = 0) -> list[_Node]:
    """Make a node for each way to read the dots of a path, and the way there."""
    leaves = [nodes.setdefault(path, _Node())]
    leaves[0].through |= bit
    dot = path.find(".")
    while dot >= 0:
        node = nodes.setdefault(path[:dot], _Node())
        node.through |= bit
        leaves += _leaves(node.below, path[dot + 1 :], bit)
        dot = path.find(".", dot + 1)
    return leaves


def _after_space(line: str, at: int) -> int:
    match = _space(line, at)
    return match.end() if match else at


def _after_item(line: str, at: int, end: str) -> tuple[int, bool]:
    """Go past what follows an item: a comma, or the end of what holds it."""
    at = _after_space(line, at)
    mark = line[at : at + 1]
    if mark == end:
        return at + 1, True
    if mark != ",":
        raise ValueError
    return _after_space(line, at + 1), False


def _scalar(raw: str, value: object, mark: str, path: str) -> str:
    """Take an id: a string as it is, an integer as it is written."""
    if value == "":
        raise UnfitValueError(f"no value at {path!r}, which is the id of the record")
    if mark == '"' and isinstance(value, str):
        return value
    if _integer(raw):
        return raw
    _refuse(mark, path, "a string or an integer, as the id of the record")


def _refuse_end(paths: list[str], mark: str) -> None:
    """Refuse a value where paths go on; that of a raw value may end anywhere."""
    if paths:
        more = "the column that this text is at" if mark == '"' else ""
        _refuse(mark, min(paths), "an object on the way", also=more)


def _refuse(mark: str, path: str, wanted: str, also: str = "") -> NoReturn:
    kind = _KINDS.get(mark, "a number")
    hint = f"; where records differ, name also {also}" if also else ""
    raise UnfitValueError(f"{kind} at {path!r}, where {wanted} is expected{hint}")
