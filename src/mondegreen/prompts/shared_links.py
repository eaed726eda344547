"""Links that go over several texts of an answer, which a program may show as one.

A program shows some texts of an answer, and not others: thoughts in one of several
fields, titles of sources, calls. A link that begins in one of these may end in a text
that is restored. So a restored text is read behind all restored ones, and behind each
of the other fields by itself. Nothing in one field closes what another one opens.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Hashable, Iterator
from typing import Any, Final, final

from mondegreen.prompts.links import LinkScanner

_FIELDS: Final = 1024
_OPENED: Final = 16
_LONGEST_TYPE: Final = 64
_OPAQUE: Final = re.compile(r"[0-9A-Za-z+/=_-]{40,}")
"""Base64, such as encrypted thoughts. ``//`` in it begins no link that is shown."""
_URL: Final = re.compile(r"https?://[^\s<>\"'`\[\](){}\\]*")
"""The whole address of a source, which a program shows as a link of its own."""

Field = tuple[Hashable, ...]
"""Where texts stand that are shown together: names, and the types of the objects."""


@final
class OtherTexts:
    """Follows fields whose texts may be shown before others, each by itself."""

    def __init__(self) -> None:
        self._fields: dict[Field, LinkScanner] = {}
        self.opened: dict[Field, tuple[int, LinkScanner]] = {}
        """Fields whose link may go on in another text, with the number of the state."""
        self.is_full = False
        self._number = 0

    def feed(self, field: Field, text: str) -> None:
        """Read a text, or the next piece of it."""
        if field not in self._fields and len(self._fields) == _FIELDS:
            self.is_full = True
            return
        links = self._fields.setdefault(field, LinkScanner())
        is_whole = not links.may_go_on and _is_whole(field, text)
        links.feed(" " if is_whole else text)
        self._number += 1
        self.opened.pop(field, None)
        if links.may_go_on:
            self.opened[field] = self._number, links
        self.is_full |= len(self.opened) > _OPENED


@final
class SharedLinks:
    """Reads texts that are restored: all of them as one, behind each of the others.

    Parameters
    ----------
    others : OtherTexts
        What else may be shown before them.
    """

    def __init__(self, others: OtherTexts) -> None:
        self._others = others
        self._field: Field | None = None
        self._said = LinkScanner()
        self._followed: dict[Field, tuple[int, LinkScanner | None]] = {}

    def as_field(self, field: Field) -> SharedLinks:
        """Read the text of a field that is restored, and that not all programs show."""
        made = copy.copy(self)
        made._field = field
        return made

    @property
    def is_inside(self) -> bool:
        """Whether what comes next may belong to a link, an image, a tag or brackets."""
        is_kept = self._said.is_inside or self._others.is_full
        return is_kept or any(links.is_inside for links in self._list_opened())

    @property
    def own_end(self) -> str:
        """The sign that ends the target that begins here, or nothing."""
        is_open = any(links.is_inside for links in self._list_opened())
        return "" if is_open or self._others.is_full else self._said.own_end

    @property
    def is_at_tag(self) -> bool:
        """Whether a word that comes next would be the name of a tag."""
        opened = self._list_opened()
        return self._said.is_at_tag or any(links.is_at_tag for links in opened)

    @property
    def is_in_escape(self) -> bool:
        """Whether a letter that comes next would be a part of an escape of JSON."""
        return self._said.is_in_escape

    def keep(self) -> None:
        """Take all that comes for inside."""
        self._said.keep()

    def feed(self, text: str) -> None:
        """Read on."""
        self._said.feed(text)
        if self._field is not None:
            self._others.feed(self._field, text)
            return
        for links in self._list_opened():
            links.feed(text)
        for field, (number, followed) in self._followed.items():
            if followed is not None and not followed.may_go_on:
                self._followed[field] = number, None

    def _list_opened(self) -> list[LinkScanner]:
        """List what reads this text behind each other field that is open."""
        opened = self._others.opened
        if not opened and not self._followed:
            return []
        if self._field is not None:
            return [
                links for field, (_, links) in opened.items() if field != self._field
            ]
        for field in self._followed.keys() - opened.keys():
            del self._followed[field]
        for field, (number, links) in opened.items():
            if self._followed.get(field, (0, None))[0] != number:
                self._followed[field] = number, copy.deepcopy(links)
        return [links for _, links in self._followed.values() if links is not None]


def _is_whole(field: Field, text: str) -> bool:
    """Whether no program shows a text as the beginning of another one."""
    pattern = _URL if field[-1] == "url" else _OPAQUE
    return pattern.fullmatch(text) is not None


def iterate_texts(value: Any, field: Field) -> Iterator[tuple[Field, str]]:
    """Yield all texts of a value of JSON, with the field that each is of.

    The tokens of ``logprobs`` are left out: they are those of a text once more, and
    others that the model did not choose.
    """
    waiting: list[tuple[Field, Any]] = [(field, value)]
    while waiting:
        field, value = waiting.pop()
        if isinstance(value, str):
            yield field, value
        elif isinstance(value, list):
            waiting += [(field, each) for each in reversed(value)]
        elif isinstance(value, dict):
            kind = (*field, str(value.get("type"))[:_LONGEST_TYPE])
            names_shown = (str(name) for name in value)
            yield from ((kind, n) for n in names_shown if not n.isidentifier())
            names = [name for name in value if name != "logprobs"]
            waiting += [((*kind, name), value[name]) for name in reversed(names)]
