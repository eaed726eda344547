r"""Where an answer is a link or an image, which would send what stands there away.

**Square brackets.** ``![x][Okonkwo]`` loads the address that the answer gives for that
label: ``[Okonkwo]: https://evil.example/1``. The model writes one such definition for
each candidate, before the image or after it, and the one that is loaded tells which
candidate the original is. Labels stand in ``[text][label]``, ``[label][]``, ``[label]``
and ``[^label]``, so all that stands in brackets keeps its surrogates, from ``[`` to its
``]``, or to the next blank line, which no label goes over. Nothing else is as safe:

- An answer is shown while it comes. Nobody knows then whether definitions follow, or
  what stands behind a bracket.
- A bracket before ``(`` need not be the text of a link. ``![x](a b)`` is no link, and
  so the label ``x``; ``[a][x](b)`` begins with the label ``x``.
- A list such as ``["Okonkwo"]`` is a label too. Programs that read JSON ask for it as
  JSON (``is_json``), where no Markdown is read.
- Disarming definitions would change answers, and programs disagree on where one begins.

Escapes count as in Markdown, so ``\[`` opens no bracket and ``\]`` closes none. In an
open bracket or target, ``\[`` and ``\(`` count as if they opened one.

**JSON in a text.** A program may have asked for JSON in words alone, and show what its
strings hold. An escape then hides a sign: ``\u003cimg`` is a tag, ``\n`` begins a line.
So from the first quotation mark on, an answer is read twice: as it is written, and with
escapes undone and each string on a line of its own.

**Where programs disagree**, surrogates are kept for longer: to the end of the line, to
the next blank line, or to the end of the answer.

**Elements of HTML** that send their content, load something or are as wide as their
content (:data:`_HOLDERS`) keep the surrogates of all that follows. A picture or frame
that comes *behind* a name can still measure where it stands: only the page that shows
an answer can prevent this, by loading nothing from other servers.

All this is for CommonMark, GitHub's Markdown and HTML without scripts and style
sheets. Not covered are TeX, attribute lists, wikis, reStructuredText, AsciiDoc, fences
that load a file by its name, and links that need a click on a mail address.
"""

from __future__ import annotations

import copy
import re
from typing import Final, final

_BLANK: Final = frozenset(" \t\r\n")
_SPACES: Final = frozenset(" \t\r\n\f")  # between the = and the value of an attribute
_QUOTES: Final = frozenset("\"'")
_MARKERS: Final = frozenset(">*+-0123456789.):")
"""Signs of a quotation or a list. They may stand before a definition, as blanks may."""

_BOX: Final = re.compile(r"\[[ xX]\]\Z")  # of a list of tasks
_LETTER: Final = re.compile(r"(?a)\b[A-Za-z]\Z")  # may be the marker of a list
_WIDE: Final = re.compile("[\\s\ufeff]")  # what some programs take for a blank
_OPENS: Final = re.compile("\\][\\s\ufeff]?\\Z")  # before the ( of a target
_ATTRIBUTES: Final = re.compile(r"(?:[)\]]\{|\{:)\Z")
_CONTROLS: Final = frozenset(map(chr, [*range(9), *range(14, 32)]))
_MAY_BEGIN: Final = frozenset("<]/\\:&;")
"""Signs that a tag, a target, a definition or an address may go on behind."""
_UNSURE: Final = frozenset("(<`")
"""In a target in angle brackets: some programs read it to its end, and others do not.
"""

# How long surrogates are kept, whatever comes.
_TO_LINE, _TO_BLANK_LINE, _TO_END = 1, 2, 3

_KEPT: Final = 80
_BEGINS: Final = frozenset("/\\:.;")  # the last signs of these two
_SCHEME: Final = re.compile(r"(?ai)(?:[/\\]{2}|http[sſ]?\\?:|www\\?\.)\Z")
_ENTITY: Final = re.compile(  # one of . / : ? # and the backslash
    r"(?ai)&(?:#0*(?:35|46|47|58|63|92)|#x0*(?:23|2e|2f|3a|3f|5c)"
    r"|num|period|sol|colon|quest|bsol);\Z"
)
_BEHIND_HOST: Final = frozenset("/\\?#")
_IN_HOST: Final = re.compile(r"[-_0-9A-Za-z\u0080-\U0010ffff]")
_POINTS: Final = frozenset(".。．｡")  # browsers read all of them as a point
_DIGITS: Final = frozenset("0123456789")
_LOCAL: Final = re.compile(r"(?ai)localho[sſ]t\Z")
_IPV6: Final = re.compile(
    r"\[[0-9A-Fa-f.]*:[0-9A-Fa-f.]*:[0-9A-Fa-f:.]*(?:%[0-9A-Za-z._~-]+)?\]\Z"
)
_ESCAPES: Final = dict(zip('"\\/bfnrt', '"\\/\b\f\n\r\t', strict=True))
_BEFORE_STRING: Final = frozenset(["", *"{[,:(>|`*+-", "\ufeff"])
"""Where a string of JSON may begin: behind its own signs, or as a text of its own."""
_PART_OF_ESCAPE: Final = re.compile(r"\\(?:u[0-9A-Fa-f]{0,3})?")
_CODE: Final = re.compile(r"\\u([0-9A-Fa-f]{4})")
_ENDS_NAME: Final = _SPACES | frozenset("/>")  # of a tag
_TAG: Final = re.compile(r"<[A-Za-z/!?]\Z")
_RAW: Final = re.compile(r"(?ai)<(/?)(style|script)\Z")
_ELEMENT: Final = re.compile(r"(?a)<([A-Za-z]+)[\s/>]\Z")
_HOLDERS: Final = frozenset(
    "applet audio base button canvas caption col colgroup datalist details dialog "
    "embed fencedframe fieldset form frame frameset iframe image img input isindex "
    "legend link marquee math menu menuitem meta meter noembed noframes noscript "
    "object optgroup option output picture plaintext portal progress select slot "
    "source summary svg table tbody td template textarea tfoot th thead tr track "
    "video xmp".split()
)
"""Elements that send their content, load something, or are as wide as their content.

So what stands in them, or beside them, may go to a server: a form sends a text, and a
picture in a table asks for the width of a name. Surrogates are kept from there on.
"""


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
    def is_host(self) -> bool:
        """Whether what has come is a host."""
        return self._is_host or self._has_port

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
    r"""Reads an answer and tells whether its end is inside a link, image or tag.

    It is inside if it is so as it is written (:class:`_Reading`), or with the escapes
    of JSON undone.

    >>> links = LinkScanner()
    >>> links.feed("See [this](https://example.com/a")
    >>> links.is_inside
    True
    >>> links.feed(") or ")
    >>> links.is_inside
    False
    >>> links.feed(r'{"html": "\u003cimg src=')
    >>> links.is_inside
    True
    """

    __slots__ = ("_as_json", "_as_text", "_before", "_escape")

    def __init__(self) -> None:
        self._as_text = _Reading()
        self._as_json: _Reading | None = None
        self._before = ""  # the last sign of the line that is no blank
        self._escape = ""  # as much of one as has come

    @property
    def is_inside(self) -> bool:
        """Whether what comes next belongs to a link, an image, a tag or brackets.

        The name of a tag does not: see :attr:`is_at_tag`.
        """
        return any(reading.is_inside for reading in self._readings)

    @property
    def may_go_on(self) -> bool:
        """Whether what comes next may go on with a link that has begun, or begins."""
        return any(reading.may_go_on for reading in self._readings)

    @property
    def own_end(self) -> str:
        """The sign that ends the target that begins here, or nothing.

        Nothing where an address of the user may be sent to another one: in a tag, such
        as the name of a frame; in brackets, where it may be a label; and where one
        program reads a target and another one reads a part of a tag, as in
        ``<img src="https://a/ ](https://b)">``.
        """
        ends = {reading.own_end for reading in self._readings}
        return ends.pop() if len(ends) == 1 else ""

    @property
    def is_at_tag(self) -> bool:
        """Whether a word that comes next would be the name of a tag.

        A style sheet may load something for each name.
        """
        return any(reading.is_at_tag for reading in self._readings)

    @property
    def is_in_escape(self) -> bool:
        """Whether a letter that comes next would be a part of an escape of JSON."""
        return self._escape == "\\"

    @property
    def _readings(self) -> tuple[_Reading, ...]:
        return (self._as_text, *([self._as_json] if self._as_json else ()))

    def keep(self) -> None:
        """Take all that comes for inside."""
        self._as_text.keep()

    def feed(self, text: str) -> None:
        """Read on."""
        for sign in text:
            is_quote = sign == '"' and not self._escape
            self._as_text.step(sign)
            if self._as_json is not None:
                for undone in self._undo(sign):
                    self._as_json.step(undone)
            elif is_quote:
                self._as_json = copy.deepcopy(self._as_text)
            if is_quote and self._before in _BEFORE_STRING and self._as_json:
                self._as_json.begin_line()
            if sign == "\n":
                self._before = ""
            elif sign not in _BLANK:
                self._before = sign

    def _undo(self, sign: str) -> str:
        """What a sign adds to the text without escapes: nothing if one goes on."""
        if not self._escape and sign != "\\":
            return sign
        self._escape += sign
        if _PART_OF_ESCAPE.fullmatch(self._escape):
            return ""
        escape, self._escape = self._escape, ""
        if found := _CODE.fullmatch(escape):
            return chr(int(found[1], 16))
        return _ESCAPES.get(escape[1:], escape)


@final
class _Reading:
    """Reads an answer by one way of writing.

    Who shows an answer may read it by other rules than we do. So what any of the usual
    ones takes for a link is inside: the target of a Markdown link, image or definition,
    also where it stands in angle brackets; an HTML tag with all its attributes, quoted
    ``>`` included; style sheets and scripts; the rest of a run without blanks behind
    ``//``, ``http:``, ``www.`` or a host without a scheme, such as ``example.com:80/``
    (see :class:`_HostScanner`); all that stands in square brackets. Only a blank ends a
    run, since programs that look for addresses take quotes, ``<`` and ``)`` for parts.
    Browsers read a backslash as a slash, so it counts as one.

    Whether ``<`` begins a tag depends on what is read as one before it: in
    ``<a b="<img src="...">`` browsers see one tag, and Markdown another one. So every
    ``<`` with a letter begins one, and all that may be open are followed: ``""`` stands
    for a tag outside of quotes, a quote for one inside of them. Properties are those of
    :class:`LinkScanner`.
    """

    __slots__ = (
        "_brackets", "_depth", "_host", "_is_angle", "_is_at_line", "_is_at_start",
        "_is_blank", "_is_definition", "_is_escape", "_is_in_run",
        "_is_label", "_is_labelled", "_is_note", "_is_prefix", "_is_quoted",
        "_is_value", "_kept", "_last", "_raw", "_run_at", "_tags",
    )  # fmt: skip

    def __init__(self) -> None:
        self._last, self._tags = "", set[str]()
        self._raw = set[str]()  # elements without tags in them that may be open
        self._depth, self._host = 0, _HostScanner()
        self._is_angle = self._is_definition = False
        self._is_escape = self._is_in_run = False
        self._is_at_line = self._is_label = self._is_value = False
        self._is_labelled = False  # whether the label of a line ends here
        self._is_blank = False  # whether the line has nothing but blanks yet
        self._brackets = 0
        self._is_prefix = True  # whether nothing but markers stands before in the line
        self._run_at = 0  # how many brackets were open where the run began
        self._is_at_start = False  # whether a target in Markdown begins here
        self._is_note = False  # whether the last label is that of a footnote
        self._is_quoted = False  # whether the paragraph may be a quotation
        self._kept = 0  # how long all keeps its surrogates

    @property
    def is_inside(self) -> bool:
        return (
            (bool(self._tags) and not self._is_closing)
            or (self._is_at_line and self._is_definition)
            or self._is_in_run
            or self._is_angle
            or bool(self._raw)
            or self._depth > 0
            or self._brackets > 0
            or self._kept > 0
            or self._host.is_at_port
        )

    @property
    def may_go_on(self) -> bool:
        is_begun = self._last[-1:] in _MAY_BEGIN or self._host.is_host
        return bool(self._last) and (self.is_inside or is_begun)

    @property
    def own_end(self) -> str:
        is_sent = self._is_in_run and self._run_at <= self._brackets
        is_defined = self._is_at_start and not self._depth
        if is_sent or self._brackets or self._raw or self._kept > is_defined:
            return ""
        if not self._is_at_start or self._tags:
            return ""
        if self._is_angle:
            return ">"
        return ")" if self._depth else "\n"

    def keep(self) -> None:
        self._kept = _TO_END

    def begin_line(self) -> None:
        """Take what comes for the beginning of a line."""
        self._is_prefix = True

    @property
    def is_at_tag(self) -> bool:
        return self._last.endswith("<") or self._is_closing

    @property
    def _is_closing(self) -> bool:
        return self._tags == {""} and self._last.endswith("</")

    def step(self, sign: str) -> None:
        before, is_escaped = self._last, self._is_escape
        self._is_escape = sign == "\\" and not is_escaped
        self._last = (before + sign)[-_KEPT:]
        was_at_start, self._is_at_start = self._is_at_start, False
        if sign in _CONTROLS:  # some programs remove it
            self.keep()
        if sign in _BLANK and not (is_escaped and sign in "\r\n"):
            self._is_in_run = False
        was_labelled, was_angle = self._is_labelled, self._is_angle
        self._bracket(sign, is_escaped)
        self._label(sign, is_escaped)
        self._define(sign, was_labelled)
        if sign in "{:" and _ATTRIBUTES.search(self._last):
            self._keep(_TO_LINE)
        if was_angle:
            self._keep(_TO_BLANK_LINE * (sign in _UNSURE))
            self._is_angle = sign != ">" or is_escaped
        elif self._depth and not self._is_angle:
            self._target(sign, before, was_at_start, is_escaped)
        elif sign == "(" and _OPENS.search(before):
            self._depth, self._is_at_start = 1, True
        self._tag(sign, before)
        is_begun = sign in _BEGINS and (
            _SCHEME.search(self._last) or _ENTITY.search(self._last)
        )
        if self._host.ends(sign, self._last) or is_begun:
            self._begin_run()

    def _begin_run(self) -> None:
        if not self._is_in_run:
            self._is_in_run, self._run_at = True, self._brackets
        self._keep(_TO_LINE * self._is_note)

    def _keep(self, kept: int) -> None:
        self._kept = max(self._kept, kept)

    def _bracket(self, sign: str, is_escaped: bool) -> None:
        """Count the brackets that are open; none is behind a blank line.

        An escaped one counts inside of others: not all programs know of escapes.
        """
        if sign == "[" and not (is_escaped and not self._brackets and not self._depth):
            self._brackets += 1
        if sign == "]" and not is_escaped:
            self._brackets = max(self._brackets - 1, 0)
        if sign == "\n":
            ended = _TO_BLANK_LINE if self._is_blank else _TO_LINE
            if self._kept <= ended and not is_escaped:  # some programs read on
                self._kept = 0
            if self._is_blank:
                self._brackets = 0
                self._is_label = self._is_note = self._is_quoted = False
            self._is_blank = True
        elif sign not in _BLANK:
            self._is_blank = False

    def _label(self, sign: str, is_escaped: bool) -> None:
        """Follow a label at the beginning of a line, which may begin a definition.

        That of a footnote, ``[^1]: text``, is one for programs that know no footnotes.
        """
        self._is_labelled = self._is_label and sign == "]" and not is_escaped
        self._is_label = self._is_label and not self._is_labelled
        if sign in "\r\n":
            self._is_prefix = True
        elif self._is_prefix and not (sign in _MARKERS or _WIDE.match(sign)):
            self._is_prefix = _LETTER.search(self._last) is not None
            if sign == "[" and not self._is_label:
                self._is_label, self._is_note = True, False
        elif self._is_label and self._last.endswith("[^"):
            self._is_note = True
        if self._is_labelled and _BOX.search(self._last):
            self._is_prefix = True

    def _define(self, sign: str, is_labelled: bool) -> None:
        """Follow the target of a definition, ``[label]: target``.

        It goes to the end of its line, since some programs read blanks as a part of it.
        That of a footnote does so if it has an address.
        """
        if self._last.endswith("]:"):
            self._is_definition, self._is_at_line = True, is_labelled
            self._is_prefix = is_labelled  # a footnote may hold another definition
        elif self._is_definition and sign not in _BLANK:
            if sign == ">" and self._is_prefix:
                return  # of a quotation, whose next line has the target
            self._is_definition = False
            self._is_angle = sign == "<"
            self._is_at_start = self._is_angle and self._is_at_line and not self._depth
            if self._is_at_line and self._is_note:
                self._is_in_run |= not self._is_angle
            elif self._is_at_line:
                self._keep(_TO_BLANK_LINE if _WIDE.match(sign) else _TO_LINE)
        if self._is_definition and self._is_at_line and not self._depth:
            self._is_at_start = True

    def _target(self, sign: str, before: str, is_start: bool, is_escaped: bool) -> None:
        """Follow the target of a link or an image, ``](target)``."""
        if is_start and (sign == "<" or sign in _BLANK):
            self._is_angle, self._is_at_start = sign == "<", True
            return
        is_wide = is_start and _WIDE.match(sign) is not None
        is_unsure = (
            is_escaped or _OPENS.search(before) is not None
        )  # if this is a target
        if is_wide or sign == "`" or (is_unsure and sign == "("):
            self._keep(_TO_BLANK_LINE)
        if not is_escaped:
            self._depth += (sign == "(") - (sign == ")")

    def _tag(self, sign: str, before: str) -> None:
        """Follow all tags that may be open here.

        A quote behind ``=`` opens a value, unless it is part of a name or of a value
        without quotes, as in ``<img ="x src="...">``: then it opens none.
        """
        was_value = self._is_value
        self._is_value = sign == "=" or (was_value and sign in _SPACES)
        is_quote = sign in _QUOTES
        is_marker = sign == ">" and self._is_prefix  # of a quotation
        if is_quote and self._tags:
            opened = {sign} if was_value and "" in self._tags else set()
            self._tags = {"" if tag == sign else tag for tag in self._tags} | opened
        elif sign == ">" and "" in self._tags and not (is_marker and self._is_quoted):
            self._tags.remove("")
        elif before[-1:] == "<" and _TAG.search(self._last):
            self._tags.add("")
        self._is_quoted |= is_marker
        if self._raw and self._last.endswith("<!--"):
            self.keep()  # a script may go on behind its closing tag then
        if sign in _ENDS_NAME and (found := _ELEMENT.search(self._last)):
            self._keep(_TO_END * (found[1].lower() in _HOLDERS))
        if sign in "etET" and (found := _RAW.search(self._last)):
            name = found[2].lower()
            self._raw = self._raw - {name} if found[1] else self._raw | {name}
