"""Puts originals back into answers that come piece by piece."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, final

from mondegreen.policy.policy import Policy
from mondegreen.policy.scope import Surrogates
from mondegreen.prompts.calendar import is_month_of_any
from mondegreen.prompts.links import LinkScanner
from mondegreen.prompts.shared_links import SharedLinks
from mondegreen.prompts.units import BEFORE_TAG, JOINED, LABEL, NEAR, WORD, Unit, Units
from mondegreen.text.print_forms import capitalize
from mondegreen.text.tokenizer import LONGEST, canonical

_BEHIND: Final = 2 * NEAR
_NAMES: Final = (
    "first_name", "surname", "place", "organization", "other_name", "origin",
)  # fmt: skip
_SIBILANT: Final = re.compile(r"(?ai)(?:s|x|z|ch|sh)\Z")
_ENDINGS: Final = frozenset("sdmt")  # of "Ann's", "I'd", "I'm", "isn't"
_APOSTROPHE: Final = re.compile(r"\w['’]\Z")
_ABSOLUTE: Final = re.compile(r"(?ai)https?://")
_BARE: Final = re.compile(r"(?ai)(?:https?://|www\.)[^/?#\s]*\Z")
"""An address that ends with its host, which more signs would make another one."""
_ALONE: Final = re.compile(r"[.,;:!?*()<>\[\]{}\"'`|]{0,7}(?:[ \t\r\n]|\Z)")
_ALONE_REACH: Final = 8
_PLAIN: Final = str.maketrans("\u00a0\u2009\u202f\u2011", "   -")
"""Blanks and a hyphen at which no line ends: an answer has them in numbers."""
_SIGNS: Final = ".,/:'’\u00a0\u2009\u202f\u2011-"
"""Within a number; the hyphen is last, as a class of a regular expression needs it."""
_BEHIND_ADDRESS: Final = ".,;:!?*"
"""Signs that may end an address, in bold type too, if no other sign follows."""
_STRING: Final = re.compile(r'(?:[^"\\]|\\u[0-9A-Fa-f]{4}|\\[^u])+')
_HIGH: Final = re.compile(r"\\u[dD][89abAB][0-9A-Fa-f]{2}\Z")
_LONE: Final = re.compile(r"[\ud800-\udfff]")
_NUMBER_RUN: Final = re.compile(r"[-+.0-9A-Za-z_]+")
_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")
_SCALAR: Final = re.compile(rf"{_NUMBER.pattern}|true|false|null")
_JSON_BETWEEN: Final = frozenset(" \t\r\n}],:")
_INSIDE: Final = re.compile(rf"[0-9][{_SIGNS}]\Z")
_LONGER: Final = re.compile(rf"[{_SIGNS}]?[0-9]")
_DAY_OF_YEAR: Final = re.compile(
    r"(?<![0-9])[0-9]{1,2}(?:st|nd|rd|th|er|[.ºª])?,?"
    r"(?:[ -](?:of |de |d['’])?[^\W\d_]+[.,]?(?: (?:of|de|del|di))?)?[ -]\Z"
)
"""A day, with a word for its month or behind one, before a year."""
_WORD_OF_YEAR: Final = re.compile(
    r"(?P<word>[^\W\d_]+)[.,]?(?: (?:of|de|del|di))?[ -]\Z"
)
_DIGIT: Final = re.compile("[0-9]")
_DIGIT_BEFORE: Final = re.compile(r"[0-9] \Z")
_DIGIT_BEHIND: Final = re.compile(r" [0-9]")
_YEAR_BEHIND: Final = re.compile(r",?(?: of)? ?[0-9]{4}")
_DAY_BEFORE: Final = re.compile(r"[0-9](?:st|nd|rd|th)?(?: of)?[ .,-]+\Z")
_BEGINNING: Final = re.compile(r"(?:\A|[.!?:\n¡¿«\"“(*#>-])[ ]*\Z")
_DAY: Final = re.compile(r"[0-9]{1,2}(?:st|nd|rd|th)?")
_DAY_OR_YEAR: Final = re.compile(rf"{_DAY.pattern}|[0-9]{{4}}")
_ENDS_DATE: Final = frozenset("\n:;")
_IN_DATE: Final = frozenset(("of", "de", "del", "di", "d", "the", "in"))
_PART: Final = re.compile(
    r"((?:[^\w\n:;]|_){0,5}(?:(?:of|de|del|di) [\[(*]?)?)([^\W_]{1,12})(?![^\W_])"
)
"""The next part of a date, and the signs before it."""
_PARTS_REACH: Final = 48
"""Characters that hold two of them."""
_KEPT_DAY, _KEPT_MONTH, _OTHER_DAY = 1, 2, 3  # parts of a date
_MAY_JOIN: Final = re.compile(
    rf"{LABEL}(?:\\?[.．｡。]|\\(?:u(?:20?)?)?|&#?[0-9A-Za-z]{{0,12}})?"
)
_BEHIND_SIGN: Final = re.compile(r"(?:@|[^\W_][.．｡]|[0-9A-Za-z]。)\Z")  # of a host
_SCHEMED: Final = re.compile(r":(?:[^\W_]|[/\\])")
_WAIT: Final = -1
"""Says that more of the answer is needed."""


@final
@dataclass(frozen=True, slots=True)
class Step:
    """Where a step through an answer ends, what it shows, and whether in a link."""

    end: int
    shown: str
    is_in_link: bool


@final
class Restorer:
    """Restores one answer. What is returned of two pieces is that of the whole.

    Parameters
    ----------
    surrogates : Surrogates
        The words that were given out.
    units : Units
        Numbers and addresses that were given out.
    policy : Policy
        What the symbols mean.
    in_links : bool
        Restore in links and images too.
    """

    def __init__(
        self,
        surrogates: Surrogates,
        units: Units,
        policy: Policy,
        *,
        in_links: bool = False,
    ) -> None:
        self._surrogates, self._units, self._policy = surrogates, units, policy
        self._links: tuple[LinkScanner | SharedLinks, ...] = ()  # its own, a shared one
        if not in_links:
            self._links = (LinkScanner(),)
        self._ahead = 0  # how much of the rest the shared one has read
        self._rest, self._behind = "", ""
        self._is_end = self._is_inside = False
        self._kept_part = 0  # the part of a date before, if it keeps its surrogate

    @property
    def held(self) -> int:
        """Characters that wait for what follows."""
        return len(self._rest)

    def feed(self, text: str) -> str:
        """Take a piece of the answer; return what is certain by now."""
        self._rest += text
        return self._take()

    def end(self) -> str:
        """Return the rest."""
        self._is_end = True
        return self._take()

    def share(self, shared: LinkScanner | SharedLinks) -> None:
        """Read by this, too: it reads all texts that may be shown as one with this."""
        self._links = (*self._links[:1], shared) if self._links else ()

    def keep(self) -> None:
        """Restore nothing of what comes."""
        for links in self._links[:1]:
            links.keep()

    def leave(self) -> None:
        """Say that another text comes next, which may be shown behind this one."""
        if self._rest and self._is_in_link():
            self._links[0].keep()
        for shared in self._links[1:]:
            shared.feed(self._rest[self._ahead :])
        self._ahead = len(self._rest)

    def list_steps(self, text: str, behind: str = "") -> Iterator[Step]:
        """Restore what follows ``behind`` to its end, and list the steps."""
        self._is_end, self._behind = True, behind[-_BEHIND:]
        at = 0
        while at < len(text):
            is_inside = self._is_in_link()
            step, shown = self._step(text, at)
            self._pass(text, at, at + step, shown)
            at += step
            yield Step(at, shown, is_inside)

    def _take(self) -> str:
        shown: list[str] = []
        at, text = 0, self._rest
        while at < len(text):
            step, piece = self._step(text, at)
            if step == _WAIT:
                break
            shown.append(piece)
            self._pass(text, at, at + step, piece)
            at += step
        self._rest = text[at:]
        return "".join(shown)

    def _step(self, text: str, at: int) -> tuple[int, str]:
        """Decide on what begins here: how many characters, and what they become."""
        found = WORD.match(text, at)
        if found is None:
            return self._sign(text, at)
        end = found.end()
        is_cut = end == len(text) and not self._is_end
        if is_cut and end - at <= LONGEST:
            return _WAIT, ""
        word = found[0]
        is_whole = not self._is_inside
        self._is_inside = is_cut
        if not is_whole or is_cut:
            return end - at, word  # longer than any surrogate
        for unit in self._units.starting_with(word):
            step = self._match(unit, text, at)
            if step == _WAIT:
                return _WAIT, ""
            if step:
                return step, _spell_unit(unit, text[at : at + step])
        return self._word(text, at, word)

    def _sign(self, text: str, at: int) -> tuple[int, str]:
        self._is_inside = False
        for unit in self._units.starting_with(text[at]):
            step = self._match(unit, text, at)
            if step:
                given = text[at : at + step] if step != _WAIT else ""
                return step, given and _spell_unit(unit, given)
        return 1, text[at]

    def _match(self, unit: Unit, text: str, at: int) -> int:
        """How many characters a unit takes here: 0 if it is not here."""
        wanted = (unit.sent + unit.after).translate(_PLAIN).casefold()
        given = text[at : at + len(unit.sent) + len(unit.after)]
        given = given.translate(_PLAIN).casefold()
        if given != wanted:
            can_come = wanted.startswith(given) and at + len(given) >= len(text)
            return 0 if self._is_end or not can_come else _WAIT
        if not self._behind.casefold().endswith(unit.before.casefold()):
            return 0
        if not self._is_meant(unit, text, at):
            return 0
        end = at + len(unit.sent)
        if unit.is_address:
            return self._match_address(unit, text, end)
        following = text[end : end + 2]
        is_short = len(following) < 2 and not self._is_end
        signs = f"{_SIGNS} " if unit.is_part else _SIGNS
        if is_short and not unit.after and (not following or following in signs):
            return _WAIT
        if kept := self._match_date(unit, text, end):
            return 0 if kept != _WAIT else _WAIT
        return self._match_number(unit, text, end)

    def _match_date(self, unit: Unit, text: str, end: int) -> int:
        """Whether a part of a date does not come back because of what is beside it."""
        if unit.missing and (step := self._match_missing(unit, text[end:])):
            return step
        if unit.is_part and self._is_of_date():
            return 1
        is_month = bool(unit.translated) and is_month_of_any(unit.sent)
        if is_month or _DAY.fullmatch(unit.sent):
            return self._match_rest(text[end:], unit.sent if is_month else "")
        is_year = len(unit.sent) == 4 and unit.sent.isdigit()
        return int(is_year and self._kept_part == _KEPT_MONTH)

    def _match_rest(self, rest: str, month: str = "") -> int:
        """Whether a day or a month keeps its surrogate by another part of its date."""
        has_date = any(_DIGIT.search(u.sent) for u in self._units.starting_with(month))
        of_other = has_date and self._kept_part == _OTHER_DAY
        if of_other or self._kept_part == (_KEPT_DAY if month else _KEPT_MONTH):
            return 1
        if len(rest) < _PARTS_REACH and not self._is_end:
            return _WAIT
        at = 0
        for _ in range(2):
            found = _PART.match(rest, at)
            if found is None or not _is_part(found[2]):
                return 0
            is_kept = "[" in found[1]
            # A day in brackets may be a note, and one that was not sent may be right.
            if _DAY.fullmatch(found[2]) and not self._units.starting_with(found[2]):
                is_kept = has_date and not is_kept
            if is_kept:
                return 1
            at = found.end()
        return 0

    def _note_date(self, text: str, shown: str, following: str) -> None:
        """Note whether a part of a date keeps its surrogate: the others then do."""
        if not WORD.fullmatch(text):
            if text in _ENDS_DATE or WORD.search(text):
                self._kept_part = 0
            return
        is_kept, is_free = shown == text, not self._is_in_link()
        if _DAY.fullmatch(text):
            is_free &= not self._is_marker(text, following)
            units = self._units.starting_with(text)
            is_kept &= is_free if not units else all(u.original != text for u in units)
            if not is_kept or self._kept_part != _KEPT_MONTH:
                self._kept_part = is_kept * (_KEPT_DAY if units else _OTHER_DAY)
        elif is_month_of_any(text):
            is_other = self._original(text) not in (None, text)
            is_kept &= is_other or self._kept_part > 0
            self._kept_part = _KEPT_MONTH * is_kept
        elif is_free and text.lower() not in _IN_DATE:
            self._kept_part = 0

    def _match_number(self, unit: Unit, text: str, end: int) -> int:
        """Whether a number is no part of a longer one, of a link or of a host."""
        is_tag = unit.before in BEFORE_TAG or not unit.original[:1].isalpha()
        if self._is_in_link() or (self._is_at_tag() and not is_tag):
            return 0
        if not self._is_apart(unit, text, end):
            return 0
        joined = self._is_joined(text, end + len(unit.after))
        return _WAIT if joined == _WAIT else len(unit.sent) * (not joined)

    def _is_meant(self, unit: Unit, text: str, at: int) -> bool:
        """Whether a unit is no other word that reads alike."""
        if unit.near and not self._is_near(unit.near):
            return False
        if unit.translated and not self._is_translated(unit, text, at):
            return False
        return not self._is_ending(unit.sent)

    def _is_ending(self, word: str) -> bool:
        """Whether a letter is the ending of a word: "Ann's" holds no initial S."""
        is_letter = word.lower() in _ENDINGS
        return is_letter and _APOSTROPHE.search(self._behind) is not None

    def _is_near(self, surrogate: str) -> bool:
        """Whether a surrogate is among the words before."""
        words = WORD.findall(self._behind[-NEAR - len(surrogate) :].casefold())
        return surrogate.casefold() in words

    def _is_translated(self, unit: Unit, text: str, at: int) -> bool:
        """Whether the name of a day or month is that of another language.

        It is spelled as in that language, and no word that was given out or declared
        public. A capital that it has not inside a sentence makes it a name, such as
        Julio, unless a sentence begins here or no such name is known.
        """
        if not text.startswith(unit.sent, at):
            return False
        word = WORD.match(text, at)[0]
        is_known = self._surrogates.find_code(word) is not None
        if is_known or self._surrogates.is_public(word):
            return False
        if unit.translated == "plain" or _BEGINNING.search(self._behind):
            return True
        return canonical(unit.sent) not in self._policy.symbols

    def _match_missing(self, unit: Unit, rest: str) -> int:
        """Whether what a date leaves out stands beside it: then it is another date."""
        if unit.missing == "day":
            has_day = _DAY_BEFORE.search(self._behind) is not None
            return int(has_day or self._kept_part in (_KEPT_DAY, _OTHER_DAY))
        if unit.missing == "rest":
            return int(self._is_of_date())
        if _YEAR_BEHIND.match(rest):
            return 1
        return self._match_rest(rest)

    def _is_of_date(self) -> bool:
        """Whether a day or the name of a month stands before a year."""
        word = _WORD_OF_YEAR.search(self._behind)
        is_month = word is not None and is_month_of_any(word["word"])
        return is_month or _DAY_OF_YEAR.search(self._behind) is not None

    def _is_apart(self, unit: Unit, text: str, end: int) -> bool:
        """Whether a number is no part of a longer one, and no marker of a list."""
        if _INSIDE.search(self._behind):
            return False
        if unit.is_part and (
            _DIGIT_BEFORE.search(self._behind) or _DIGIT_BEHIND.match(text, end)
        ):
            return False
        if not unit.after and WORD.match(text, end):
            return False  # "July 5th" is not "July 5"
        if unit.after:
            return not text[end + len(unit.after) :][:1].isalnum()
        is_longer = _LONGER.match(text, end) is not None
        if is_longer or unit.before:
            return not is_longer
        return not self._is_marker(unit.sent, text[end : end + 1])

    def _match_address(self, unit: Unit, text: str, end: int) -> int:
        """Whether an address is here as it was sent, and no longer one."""
        if self._behind[-1:].isalnum() or self._behind[-1:] in tuple("./@-_%+=&?#:"):
            return 0
        if unit.is_text and (self._is_in_link() or self._is_at_tag()):
            return 0
        rest = text[end : end + _ALONE_REACH]
        if len(rest) < _ALONE_REACH and not self._is_end:
            return _WAIT
        if not self._is_own(unit, rest):
            return 0
        following = rest.lstrip(_BEHIND_ADDRESS)[:1]
        is_end = not following or following in " \t\r\n()<>[]{}\"'`|"
        return len(unit.sent) if is_end else 0

    def _is_own(self, unit: Unit, rest: str) -> bool:
        """Whether an address is no part of a link, or a whole target.

        Then nobody else receives it. One without a scheme, such as of mail, is relative
        to another server. One that ends with its host is whole if its target ends too.
        """
        is_bare = _BARE.search(unit.original) is not None
        for links in self._links:
            if links.is_inside:
                is_whole = _ABSOLUTE.match(unit.original) and _ABSOLUTE.match(unit.sent)
                sign = links.own_end
                if not sign or not is_whole or (is_bare and rest[:1] != sign):
                    return False
            elif links.is_at_tag:
                if rest[:1] != ">":
                    return False  # it is the name of a tag
            elif is_bare and not _ALONE.match(rest):
                return False
        return True

    def _is_marker(self, sent: str, following: str) -> bool:
        """Whether a short number is the marker of a list."""
        line = self._behind.rpartition("\n")[2]
        is_first = len(sent) < 3 and not line.strip(" *#>-")
        return is_first and following in (".", ")")

    def _word(self, text: str, at: int, word: str) -> tuple[int, str]:
        """Restore a name or another word of a group."""
        original = self._original(word)
        if original is None:
            read = 1 if self._is_in_escape(word) else len(word)
            return read, word[:read]
        end = at + len(word)
        following = text[end : end + 2]
        if len(following) < 2 and not self._is_end:
            if following in ("", ".", ":", "'", "’"):
                return _WAIT, ""
        joined = self._is_joined(text, end)
        kept = is_month_of_any(word) and self._match_rest(text[end:], word)
        if _WAIT in (joined, kept):
            return _WAIT, ""
        if kept or self._is_other_word(word, following):
            return len(word), word
        is_behind = _BEHIND_SIGN.search(self._behind) is not None
        is_address = joined or is_behind or _SCHEMED.match(following) is not None
        is_kept = is_address or self._is_at_tag() or self._is_in_link()
        if self._links and is_kept:
            return len(word), word
        return len(word), original

    def _is_other_word(self, word: str, following: str) -> bool:
        """Whether a word is none: "don't" is no form of the name Don."""
        is_not = following.lower() in ("'t", "’t") and word[-1:] in "nN"
        return is_not or self._is_ending(word)

    def _is_in_escape(self, word: str) -> bool:
        r"""Whether the first letter belongs to an escape, as in ``\nAnn`` in JSON."""
        is_in_escape = any(links.is_in_escape for links in self._links)
        return is_in_escape and word[0] in "bfnrt" and len(word) > 1

    def _is_joined(self, text: str, end: int) -> int:
        """Whether what ends here is part of a host or of a user before one.

        Nobody sees a host before its end, so this looks ahead, for one label at most.
        """
        if not self._links:
            return 0
        if JOINED.match(text, end):
            return 1
        may_come = not self._is_end and _MAY_JOIN.fullmatch(text, end) is not None
        return _WAIT if may_come else 0

    def _original(self, word: str) -> str | None:
        code = self._surrogates.find_code(word)
        if code is None:
            return self._plural(word)
        kind, shape, _ = self._policy.describe(self._policy.symbol_at(code))
        if kind == "shape" and shape != "code":
            return None  # units decide
        return self._spell(word, code)

    def _spell(self, word: str, code: int) -> str:
        """Write an original as its surrogate is written: small, or in capitals."""
        original = self._surrogates.restore(word) or word
        printed = self._policy.print(code)
        if word == printed:
            return original
        if word == capitalize(printed):
            return capitalize(original)
        if word.isupper() and len(word) > 1:
            return original.upper()
        return original.lower() if word.islower() else original

    def _plural(self, word: str) -> str | None:
        """Restore the plural of a name, unless it is another word."""
        folded = canonical(word)
        if not folded.endswith("s") or folded in self._policy.symbols:
            return None
        for ending in ("es", "s"):
            stem = word[: -len(ending)]
            code = self._surrogates.find_code(stem)
            if code is None or not folded.endswith(ending):
                continue
            if self._policy.describe(self._policy.symbol_at(code))[0] in _NAMES:
                original = self._spell(stem, code)
                added = "es" if _SIBILANT.search(original) else "s"
                return original + (added.upper() if word.isupper() else added)
        return None

    def _is_in_link(self) -> bool:
        return any(links.is_inside for links in self._links)

    def _is_at_tag(self) -> bool:
        return any(links.is_at_tag for links in self._links)

    def _pass(self, whole: str, at: int, end: int, shown: str) -> None:
        text = whole[at:end]
        self._note_date(text, shown, whole[end : end + 1])
        self._behind = (self._behind + text)[-_BEHIND:]
        for links in self._links[:1]:
            links.feed(text)
        for shared in self._links[1:]:
            shared.feed(text[self._ahead :])
        self._ahead = max(self._ahead - len(text), 0)

    def __repr__(self) -> str:
        return f"Restorer(held={self.held})"


@final
class JsonRestorer:
    """Restores JSON piece by piece: its strings, and whole numbers between them.

    What it writes is valid JSON where the answer is: originals are escaped. Each string
    is restored by itself, and inside of the links that strings before it leave open.
    A program that cannot read the answer as JSON may show it as text. So an answer that
    does not begin as JSON is read as text; from where one goes on as something else,
    nothing is restored. Several values may stand on lines of their own.

    Parameters
    ----------
    begin : callable
        Makes the :class:`Restorer` of one string.
    """

    def __init__(self, begin: Callable[[], Restorer]) -> None:
        self._make = begin
        self._shared: LinkScanner | SharedLinks = LinkScanner()
        self._inner: Restorer | None = None  # of the string that is open
        self._plain: Restorer | None = None  # of what is no JSON
        self._rest = ""
        self._before, self._depth = "", 0  # the last sign outside of strings; brackets
        self._is_end = self._is_kept = self._has_begun = False

    @property
    def held(self) -> int:
        """Characters that wait for what follows."""
        opened = self._plain or self._inner
        return len(self._rest) + (opened.held if opened else 0)

    def feed(self, text: str) -> str:
        """Take a piece of the answer; return what is certain by now."""
        self._rest += text
        return self._take()

    def end(self) -> str:
        """Return the rest."""
        self._is_end = True
        shown = self._take()
        if self._inner is not None:
            shown += _escape(self._inner.end())
        if self._plain is not None:
            shown += self._plain.end()
        return shown + self._rest

    def share(self, shared: LinkScanner | SharedLinks) -> None:
        """Read by this, too: it reads all texts that may be shown as one with this."""
        self._shared = shared

    def leave(self) -> None:
        """Say that another text comes next, which may be shown behind this one."""
        opened = self._plain or self._inner
        if opened is not None:
            opened.leave()

    def keep(self) -> None:
        """Restore nothing of what comes."""
        self._is_kept = True

    def _begin(self) -> Restorer:
        self._shared.feed(" ")
        restorer = self._make()
        restorer.share(self._shared)
        if self._is_kept:
            restorer.keep()
        return restorer

    def _take(self) -> str:
        shown: list[str] = []
        while self._rest and self._plain is None:
            step = self._string() if self._inner is not None else self._between()
            if step is None:
                break
            shown.append(step)
        if self._plain is not None:
            shown.append(self._plain.feed(self._rest))
            self._rest = ""
        return "".join(shown)

    def _read_as_text(self) -> str:
        """Take the rest for text: it is no JSON."""
        self._is_kept |= self._has_begun
        self._plain = self._begin()
        return ""

    def _may_begin(self) -> bool:
        """Whether a value may begin here."""
        return self._before in ("", "{", "[", ",", ":")

    def _string(self) -> str | None:
        """Take the next part of an open string; None if more is needed."""
        inner = self._inner
        if inner is None:
            return None
        if self._rest[0] == '"':
            self._inner, self._rest = None, self._rest[1:]
            return _escape(inner.end()) + '"'
        found = _STRING.match(self._rest)
        if found is None:
            return None
        if found.end() == len(self._rest) and _HIGH.search(found[0]):
            if not self._is_end:
                return None  # its low half may come
        self._rest = self._rest[found.end() :]
        return _escape(inner.feed(_unescape(found[0])))

    def _between(self) -> str | None:
        """Take what is between strings: a sign, or a scalar; None if more is needed."""
        sign = self._rest[0]
        if sign in _JSON_BETWEEN:
            return self._pass_sign(sign)
        if not self._may_begin():
            return self._read_as_text()
        if sign in '{["':
            return self._open(sign)
        return self._scalar()

    def _pass_sign(self, sign: str) -> str:
        """Pass a blank, or a sign behind a value."""
        if sign in "}],:":
            self._before = sign
            self._depth = max(self._depth - (sign in "}]"), 0)
        elif sign == "\n" and not self._depth and not self._may_begin():
            self._before = ""  # the next value is on a line of its own
        self._rest = self._rest[1:]
        return sign

    def _open(self, sign: str) -> str:
        """Begin a string, an object or an array."""
        self._has_begun, self._before, self._rest = True, sign, self._rest[1:]
        if sign == '"':
            self._inner = self._begin()
        else:
            self._depth += 1
        return sign

    def _scalar(self) -> str | None:
        """Take a number, or a name such as true; None if more is needed."""
        found = _NUMBER_RUN.match(self._rest)
        if found and found.end() == len(self._rest) and not self._is_end:
            return None
        if not found or not _SCALAR.fullmatch(found[0]):
            return self._read_as_text()
        self._has_begun, self._before = True, found[0]
        self._rest = self._rest[found.end() :]
        restorer = self._begin()
        restored = restorer.feed(found[0]) + restorer.end()
        return restored if _NUMBER.fullmatch(restored) else found[0]

    def __repr__(self) -> str:
        return f"JsonRestorer(held={self.held})"


def _is_part(word: str) -> bool:
    """Whether a word may be a day, a month or a year of a date."""
    return is_month_of_any(word) or _DAY_OR_YEAR.fullmatch(word) is not None


def _spell_unit(unit: Unit, given: str) -> str:
    """Write an address in capitals or small letters where its surrogate is so."""
    if given == unit.sent:
        return unit.original
    if given.isupper():
        return unit.original.upper()
    return unit.original.lower() if given.islower() else unit.original


def _unescape(text: str) -> str:
    """Read a part of a JSON string; one that is not valid stays as it is."""
    try:
        return str(json.loads(f'"{text}"', strict=False))
    except ValueError:
        return text


def _escape(text: str) -> str:
    """Write a part of a JSON string."""
    written = json.dumps(text, ensure_ascii=False)[1:-1]
    return _LONE.sub(lambda found: f"\\u{ord(found[0]):04x}", written)
