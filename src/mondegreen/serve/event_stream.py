"""Server-sent events: cut out of bytes, and written again."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, final

from mondegreen.serve.answers import Refused

_LINE: Final = re.compile(r"\r\n|\n|\r")
_BLANK: Final = re.compile(r"(?>\r\n|\n|\r)(?>\r\n|\n|\r)")
_LONGEST: Final = 8 << 20
DONE: Final = "[DONE]"


@final
class EventReader:
    r"""Cuts a stream of bytes into events, wherever its parts end.

    >>> reader = EventReader()
    >>> list(reader.feed(b'data: {"a"')) + list(reader.feed(b': 1}\r\n\r\ndata: x'))
    ['{"a": 1}']
    >>> list(reader.end())
    ['x']
    """

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._rest = ""

    def feed(self, part: bytes) -> Iterator[str]:
        """Take a part; return the data of events that are whole, "" of comments."""
        self._rest += self._decoder.decode(part)
        # A carriage return at the end may be the half of a line end.
        while found := _BLANK.search(self._rest):
            if found.end() == len(self._rest) and found[0].endswith("\r"):
                break
            event, self._rest = self._rest[: found.start()], self._rest[found.end() :]
            yield _get_data(event)
        if len(self._rest) > _LONGEST:
            raise Refused(502, "upstream", "An event of the upstream is too long.")

    def end(self) -> Iterator[str]:
        """Return the data of what is left."""
        event, self._rest = self._rest, ""
        if event.strip():
            yield _get_data(event)


def _get_data(event: str) -> str:
    fields = (line.partition(":") for line in _LINE.split(event))
    return "\n".join(v.removeprefix(" ") for name, _, v in fields if name == "data")


def parse(data: str) -> dict[str, Any] | None:
    """Read the JSON object of an event; None if it is no object."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def write(value: Mapping[str, Any] | str) -> bytes:
    """Write an event; those of responses are named by their type, "" is a comment."""
    if isinstance(value, str):
        lines = "".join(f"data: {line}\n" for line in value.split("\n"))
        return f"{lines}\n".encode() if value else b":\n\n"
    kind = value.get("type")
    name = f"event: {kind}\n" if isinstance(kind, str) and "\n" not in kind else ""
    return f"{name}data: {json.dumps(value)}\n\n".encode()
