"""Objects of a JSON file, one by one: an array of them, or objects in a row."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, final

import pyarrow as pa

from mondegreen.errors import DecodeError, SourceError
from mondegreen.io.jsonl import JsonLinesSource
from mondegreen.io.stream import BATCH_ROWS, MAX_RECORD_BYTES

_gap = re.compile(r"[ \t\n\r,\[\]]*").match
# A string that is closed is one step. One that is not yet closed is entered.
_outside = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"|["{}\[\]]', flags=re.DOTALL).search
_inside = re.compile(r'["\\]').search
_NO_SPACE: Final = str.maketrans("", "", " \t\n\r")


@final
class ObjectCutter:
    r"""Cuts text, as it comes, into objects and what stands before each.

    The text is an array of objects. If it begins with an object, it is objects with
    white space between them, as JSON Lines are. Whether each is valid JSON is for
    another to say: here only strings and brackets count. It holds one object at most.

    >>> cutter = ObjectCutter("x.json")
    >>> cutter.cut('[ {"a": 1},\n{"a": "}')
    [('[ ', '{"a": 1}')]
    >>> cutter.cut('"} ]'), cutter.finish()
    ([(',\n', '{"a": "}"}')], ' ]')
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._rows = 0
        self._is_array: bool | None = None
        self._rest = ""  # from the end of the last object
        self._start = 0  # where in it the object begins, if it has begun
        self._at = 0  # how much of it has been looked at
        self._depth = 0
        self._is_in_string = False

    def cut(self, text: str) -> list[tuple[str, str]]:
        """Take more text; return the objects that it closes, each behind its gap."""
        buffer, self._rest = self._rest + text, ""
        found = []
        first = 0  # of the gap before the object in hand
        while self._begins(buffer, first) and self._closes(buffer):
            self._rows += 1
            gap, object = buffer[first : self._start], buffer[self._start : self._at]
            found.append((gap, object))
            first = self._at
        self._rest = buffer[first:]
        self._start -= first
        self._at -= first
        if len(self._rest) > MAX_RECORD_BYTES:
            problem = f"an object is longer than {MAX_RECORD_BYTES >> 20} MiB"
            raise self._failure(problem)
        return found

    def finish(self) -> str:
        """Return what follows the last object, at the end of the text."""
        ends = {None: ["[]", ""], True: ["]"], False: [""]}[self._is_array]
        if self._depth or self._rest.translate(_NO_SPACE) not in ends:
            raise self._failure("the JSON ends before its last object or its array")
        return self._rest

    def _begins(self, buffer: str, first: int) -> bool:
        """Whether the object behind the gap at ``first`` has begun."""
        if self._depth:
            return True
        match = _gap(buffer, first)
        self._start = self._at = match.end() if match else first
        if self._start == len(buffer):
            return False
        gap = buffer[first : self._start].translate(_NO_SPACE)
        if self._is_array is None:
            self._is_array = gap == "["
            wanted = "[" if self._is_array else ""
        else:
            wanted = "," if self._is_array else ""
        if gap != wanted or buffer[self._start] != "{":
            raise self._failure("not an object in an array of objects")
        self._at += 1
        self._depth = 1
        return True

    def _closes(self, buffer: str) -> bool:
        """Whether the object in hand ends in the buffer."""
        while self._depth:
            match = (_inside if self._is_in_string else _outside)(buffer, self._at)
            if match is None:
                self._at = max(self._at, len(buffer))
                return False
            self._at, mark = match.end(), match[0]
            if mark == '"':
                self._is_in_string = not self._is_in_string
            elif mark == "\\":
                self._at += 1  # whatever it escapes
            elif mark in "{[":
                self._depth += 1
            elif mark in "}]":
                self._depth -= 1
        return True

    def _failure(self, problem: str) -> SourceError:
        return SourceError(self._name, problem, row=self._rows + 1)


@final
class JsonSource(JsonLinesSource):
    """Objects of a JSON file, as those of JSON Lines; the text between them stays."""

    def _batches(self) -> Iterator[pa.RecordBatch]:
        cutter = ObjectCutter(self.name)
        for text, broken in self.stream.texts():
            found = cutter.cut(text)
            for first in range(0, len(found), BATCH_ROWS):
                gaps, objects = zip(*found[first : first + BATCH_ROWS], strict=True)
                yield self._batch(objects, gaps)
            if broken is not None:
                raise DecodeError(self.name, row=self._rows + 1, offset=broken)
        self.epilogue = cutter.finish().encode()
