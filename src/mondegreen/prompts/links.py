"""Where an answer is a link or an image, which would send what stands there away."""

from __future__ import annotations

import re
from typing import Final, final

_BLANK: Final = frozenset(" \t\r\n\"'<>`")
_SCHEME: Final = re.compile(r"(?i)(?:[/\\]{2}|https?:|www\.)\Z")
_TAG: Final = re.compile(r"<[A-Za-z/!?]\Z")
_TARGET: Final = re.compile(r"\]\(\Z")


@final
class LinkScanner:
    """Reads an answer and tells whether its end is inside a link, image or tag.

    Inside are: the target of a Markdown link or image, an HTML tag with all its
    attributes, and the rest of a run without blanks behind ``//``, ``http:`` or
    ``www.``. Browsers read a backslash as a slash, so it counts as one.

    >>> links = LinkScanner()
    >>> links.feed("See [this](https://example.com/a")
    >>> links.is_inside
    True
    >>> links.feed(") or")
    >>> links.is_inside
    False
    """

    __slots__ = ("_depth", "_is_in_run", "_is_in_tag", "_last")

    def __init__(self) -> None:
        self._last, self._depth = "", 0
        self._is_in_tag = self._is_in_run = False

    @property
    def is_inside(self) -> bool:
        """Whether what comes next belongs to a link, an image or a tag."""
        return self._is_in_tag or self._is_in_run or self._depth > 0

    def feed(self, text: str) -> None:
        """Read on."""
        for sign in text:
            self._step(sign)

    def _step(self, sign: str) -> None:
        self._last = (self._last + sign)[-6:]
        if sign in _BLANK:
            self._is_in_run = False
        if self._depth:
            self._depth += (sign == "(") - (sign == ")")
            if not self._depth:
                self._is_in_run = False
        elif _TARGET.search(self._last):
            self._depth = 1
        if self._is_in_tag:
            self._is_in_tag = sign != ">"
        elif _TAG.search(self._last):
            self._is_in_tag = True
        if _SCHEME.search(self._last):
            self._is_in_run = True
