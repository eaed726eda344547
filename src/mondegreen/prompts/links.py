"""Where an answer is a link or an image, which would send what stands there away."""

from __future__ import annotations

import re
from typing import Final, final

_BLANK: Final = frozenset(" \t\r\n")
_QUOTES: Final = frozenset("\"'`")
_KEPT: Final = 80
_BEGINS: Final = frozenset("/\\:.;")  # the last signs of these two
_SCHEME: Final = re.compile(r"(?i)(?:[/\\]{2}|https?:|www\.)\Z")
_ENTITY: Final = re.compile(  # one of . / : ? # and the backslash
    r"(?i)&(?:#0{0,8}(?:35|46|47|58|63|92)|#x0{0,8}(?:23|2e|2f|3a|3f|5c)"
    r"|num|period|sol|colon|quest|bsol);\Z"
)
_BEHIND_HOST: Final = frozenset("/\\?#")
_IN_HOST: Final = re.compile(r"[-_0-9A-Za-z\u0080-\U0010ffff]")
_POINTS: Final = frozenset(".。．｡")  # browsers read all of them as a point
_DIGITS: Final = frozenset("0123456789")
_LOCAL: Final = re.compile(r"(?i)localhost\Z")
_IPV6: Final = re.compile(
    r"\[[0-9A-Fa-f.]*:[0-9A-Fa-f.]*:[0-9A-Fa-f:.]*(?:%[0-9A-Za-z._~-]{1,16})?\]\Z"
)
_TAG: Final = re.compile(r"<[A-Za-z/!?]\Z")
_RAW: Final = re.compile(r"(?i)<(/?)(?:style|script)\Z")
_VALUE: Final = re.compile(r"=[ \t\r\n]*\Z")


@final
class _HostScanner:
    """Follows a host without a scheme, up to the sign behind it.

    A host is a name with a point in it whose last part is longer than one sign and not
    a number, four numbers with points, ``localhost``, an address in brackets such as
    ``[::1]``, or any name with a port. A user may stand before it, and a port or a
    point behind it. A name alone, as in ``and/or``, is none.
    """

    __slots__ = (
        "_has_port", "_is_host", "_is_name", "_is_port", "_is_single", "_length",
        "_points",
    )  # fmt: skip

    def __init__(self) -> None:
        self._forget()

    def _forget(self) -> None:
        self._is_host = self._is_port = self._has_port = False
        self._begin_label()
        self._points = 0
        self._is_single = False

    def _begin_label(self) -> None:
        self._length, self._is_name = 0, False

    @property
    def is_at_port(self) -> bool:
        """Whether what comes next may be the port of a host."""
        return self._is_host and self._is_port

    def ends(self, sign: str, last: str) -> bool:
        """Read a sign, which ``last`` ends with; tell whether a host ends here."""
        is_end = sign in _BEHIND_HOST and (self._is_host or self._has_port)
        if sign == ":":
            is_host, is_single = self._is_host, self._is_host or self._is_single
            self._forget()
            self._is_host, self._is_port = is_host, is_single
        elif sign in _POINTS:
            self._points += self._length > 0
            self._begin_label()
            self._is_port = self._has_port = False
        elif _IN_HOST.match(sign):
            self._read(sign, last)
        elif sign != "\\":  # it may escape the next sign
            self._forget()
            self._is_host = sign == "]" and _IPV6.search(last) is not None
        return is_end

    def _read(self, sign: str, last: str) -> None:
        """Read on in a label or a port."""
        is_digit = sign in _DIGITS
        self._is_port = self._has_port = self._is_port and is_digit
        self._length += 1
        self._is_name |= not is_digit
        self._is_single |= not is_digit
        is_name = self._points > 0 and self._length > 1 and self._is_name
        is_ip = self._points > 2
        is_local = sign in "tT" and _LOCAL.search(last) is not None
        self._is_host |= is_name or is_ip or is_local


@final
class LinkScanner:
    """Reads an answer and tells whether its end is inside a link, image or tag.

    Inside are: the target of a Markdown link or image, also where it stands in angle
    brackets or in a definition; an HTML tag with all its attributes, quoted ``>``
    included; style sheets and scripts; and the rest of a run without blanks behind
    ``//``, ``http:``, ``www.`` or a host without a scheme, such as ``example.com:80/``
    (see :class:`_HostScanner`). A quote or backtick ends a run that it opened, other
    signs do not: they may stand in a target. Browsers read a backslash as a slash, so
    it counts as one.

    >>> links = LinkScanner()
    >>> links.feed("See [this](https://example.com/a")
    >>> links.is_inside
    True
    >>> links.feed(") or")
    >>> links.is_inside
    False
    """

    __slots__ = (
        "_depth", "_host", "_is_angle", "_is_defined", "_is_definition", "_is_escape",
        "_is_in_run", "_is_in_tag", "_is_raw", "_last", "_opened", "_outer", "_quote",
        "is_at_start", "is_at_value",
    )  # fmt: skip

    def __init__(self) -> None:
        self._last = self._opened = self._quote = ""
        self._depth, self._host = 0, _HostScanner()
        self._is_angle = self._is_defined = self._is_definition = False
        self._is_escape = self._is_in_run = self._is_in_tag = self._is_raw = False
        self._outer = False  # whether a run goes on behind the target or tag
        self.is_at_start = False
        """Whether a target in Markdown begins here."""
        self.is_at_value = False
        """Whether the value of an attribute begins here."""

    @property
    def is_inside(self) -> bool:
        """Whether what comes next belongs to a link, an image or a tag.

        The name of a closing tag does not: it is restored as that of the opening one,
        and nothing can be fetched by it.
        """
        return (
            (self._is_in_tag and not self._last.endswith("</"))
            or self._is_in_run
            or self._is_angle
            or self._is_raw
            or self._depth > 0
            or self._host.is_at_port
        )

    def feed(self, text: str) -> None:
        """Read on."""
        for sign in text:
            self._step(sign)

    def _step(self, sign: str) -> None:
        before, is_escaped = self._last, self._is_escape
        self._is_escape = sign == "\\" and not is_escaped
        self._last = (before + sign)[-_KEPT:]
        was_at_start, self.is_at_start = self.is_at_start, False
        self._end_run(sign)
        self._define(sign)
        if self._is_angle:
            self._is_angle = sign not in "\r\n" and (sign != ">" or is_escaped)
        elif self._depth:
            self._target(sign, was_at_start, is_escaped)
        elif sign == "(" and before.endswith("]"):
            self._depth, self._outer, self.is_at_start = 1, self._is_in_run, True
        self._tag(sign, before)
        is_begun = sign in _BEGINS and (
            _SCHEME.search(self._last) or _ENTITY.search(self._last)
        )
        if self._host.ends(sign, self._last) or is_begun:
            self._is_in_run = True

    def _end_run(self, sign: str) -> None:
        """End a run at a blank, or at the quote that it stands in."""
        if sign in _BLANK:
            self._is_in_run = self._outer = self._is_defined = False
            self._opened = ""
        elif sign in _QUOTES and not self._is_defined:
            if sign == self._opened:
                self._is_in_run, self._opened = False, ""
            elif not self._is_in_run:
                self._opened = sign
        elif sign == "<" and not self._is_defined:
            self._is_in_run = False

    def _define(self, sign: str) -> None:
        """Follow the target of a definition, ``[label]: target``."""
        if self._last.endswith("]:"):
            self._is_definition = True
        elif self._is_definition and sign not in _BLANK:
            self._is_definition = False
            self._is_angle = self.is_at_start = sign == "<"
            self._is_defined = not self._is_angle
        if self._is_defined and sign in "&\\":  # a scheme may be spelled by these
            self._is_in_run = True

    def _target(self, sign: str, is_start: bool, is_escaped: bool) -> None:
        """Follow the target of a link or an image, ``](target)``."""
        if is_start and (sign == "<" or sign in _BLANK):
            self._is_angle, self.is_at_start = sign == "<", True
        elif not is_escaped:
            self._depth += (sign == "(") - (sign == ")")
            if not self._depth:
                self._is_in_run = self._outer

    def _tag(self, sign: str, before: str) -> None:
        """Follow a tag; what is quoted behind ``=`` does not end it."""
        self.is_at_value = False
        if not self._is_in_tag:
            if before[-1:] == "<" and _TAG.search(self._last):
                self._is_in_tag, self._quote = True, ""
                self._outer = self._outer or (self._is_in_run and self._is_defined)
        elif self._quote:
            if sign == self._quote:
                self._quote = ""
        elif sign in "\"'" and _VALUE.search(before):
            self._quote, self.is_at_value = sign, True
        elif sign == ">":
            self._is_in_tag, self._is_in_run = False, self._outer
        else:
            self.is_at_value = sign == "="
        if sign in "etET" and (found := _RAW.search(self._last)):
            self._is_raw = not found[1]
