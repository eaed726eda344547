"""Units of a conversation: numbers and addresses that come back as a whole."""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Literal, final

import regex

from mondegreen.prompts.calendar import list_short_forms, list_translations
from mondegreen.prompts.dates import Missing, find_month, list_notations
from mondegreen.prompts.times import HALF, list_times

WORD: Final = regex.compile(
    r"(?:(?![\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}])"
    r"[\p{L}\p{M}\p{N}\p{Cf}])+"
)
"""A word of an answer. Scripts without spaces separate words of other scripts."""

_IN_LABEL: Final = (
    r"[-_+%~0-9A-Za-z\u00a1-\u1fff\u2070-\u2fff\u3040-\uff00\uff10-\uff19"
    r"\uff21-\U0010ffff]"
)
LABEL: Final = rf"(?:(?![0-9A-Za-z]){_IN_LABEL}{_IN_LABEL}{{0,62}})?"
"""The rest of a label behind a word: of a host, or of a user before a host. Blanks and
other punctuation are not in labels, which have 63 characters."""

JOINED: Final = re.compile(
    rf"{LABEL}(?:@|\\?[.．｡][^\W_]|。[0-9A-Za-z]|\\[-@_+%~]|\\u(?:[^2]|2[^0]|20[^0-6])"
    r"|&(?:(?:period|commat|lowbar|colon);|#[xX]?0{9}"
    r"|#0*(?:4[56]|58|64|95|12290|65294|65377)[^0-9]"
    r"|#[xX]0*(?:2[dDeE]|3[aA]|40|5[fF]|3002|[fF]{2}(?:0[eE]|61))[^0-9A-Fa-f]))"
)
"""What follows a word that is part of a host or of a user.

Browsers read ``．``, ``｡`` and ``。`` as a point. ``。`` also ends Chinese and Japanese
sentences, so it joins only before an ASCII letter or digit, which few sentences begin
with. An escape of JSON may be any sign of a host; those of 2000 to 206F are never one.
Signs of a host may also have a backslash, as in Markdown, or be an entity of HTML.
"""

_ADDRESS: Final = "part of an address"
_NEAR_AMOUNT: Final = "amount near "
_CONTEXT: Final = ("ordinal", "letter", "sign")
_JOINS: Final = frozenset(["", ".", ",", "-", "/", ":", " ", "(", ")", ") ", " (", "+"])
_GLUE: Final = frozenset(["", ".", ",", "-", "/", ":"])
_DIGIT: Final = re.compile("[0-9]")
_RUN_ENDS: Final = re.compile(r"[\s()<>\[\]{}\"'`|]")
_AMOUNT: Final = re.compile(
    r"[0-9]{1,3}(?:,[0-9]{3})*(?:\.[0-9]{1,2})?|[1-9][0-9]{3,}(?:\.[0-9]{1,2})?"
)
_CENTS: Final = re.compile(r"[0-9][0-9,]*\.[0-9]{2}")
_GROUP: Final = re.compile("[0-9]+")
_DOTTED: Final = re.compile(r"[0-9]{3}\.[0-9]{3}\.[0-9]{4}")
_SPLIT: Final = {10: (3, 3, 4), 15: (4, 6, 5), 16: (4, 4, 4, 4)}
"""How people write numbers of telephones and cards that have no signs."""

_CURRENCIES: Final = ("$", "€", "£")
_TRAILING: Final = ".,;:!?"
_LONGEST_CONTEXT: Final = 24
_LABEL_PARTS: Final = 66
"""Parts of a text that one label can have, and what follows it."""

BEFORE_TAG: Final = ("<", "</")
_BEHIND_TAG: Final = frozenset(" \t\r\n>/")
_TAGS: Final = frozenset(
    "abbr b bdi bdo blockquote col colgroup datalist dd del dfn div dl dt embed "
    "fieldset figcaption footer h1 h2 h3 h4 h5 h6 hgroup iframe img ins kbd li meta "
    "nav noscript ol optgroup p param q rp s samp sup svg tbody td textarea tfoot th "
    "thead tr tt u ul var wbr".split()
)
"""Tags of HTML whose names may be hidden: most are no words of a list."""

NEAR: Final = 60
"""Characters from a surrogate to a number of one digit that it tells to be meant."""

Kind = tuple[str, str]
Translated = Literal["", "plain", "capital"]


@final
@dataclass(frozen=True, slots=True)
class Unit:
    """What was sent, what it stands for, and what must stand beside it.

    ``near`` is a surrogate that stands somewhere before it. A date may have ``missing``
    parts: none of these may stand beside it. A unit ``is_rewritten`` if it is another
    way to write what was sent, and may be written like what was sent of something else.
    A weekday or month may be ``translated``: ``plain`` as inside a sentence or in
    capitals, ``capital`` as at the beginning of one. An address ``is_text`` if it names
    no server by itself, such as a handle: then it is never put into a link. One that
    ``is_part`` is of a longer number, and is none beside other digits.
    """

    sent: str
    original: str
    before: str = ""
    after: str = ""
    is_address: bool = False
    missing: Missing = ""
    near: str = ""
    is_rewritten: bool = False
    translated: Translated = ""
    is_text: bool = False
    is_part: bool = False


@final
class Units:
    """What was sent of numbers and addresses, by their first word."""

    __slots__ = ("_by_first", "_forms", "_lines", "_runs")

    def __init__(self) -> None:
        # Whether each is clear: nothing else is rewritten to the same.
        self._by_first: dict[str, dict[Unit, bool]] = {}
        self._forms: dict[tuple[str, ...], Unit] = {}
        # Each turn of a conversation repeats those before, so runs are noted once.
        self._runs: set[tuple[str, ...]] = set()
        self._lines: set[int] = set()

    def learn(
        self, parts: Sequence[str], sent: Sequence[str], kinds: Sequence[Kind | None]
    ) -> None:
        """Note the units of a text; structure and words come in turn in its parts."""
        runs = list(_find_runs(parts, sent, kinds))
        for unit in (
            *_addresses(parts, sent, kinds),
            *_numbers(parts, sent, kinds, runs, self._runs),
            *_ranges(parts, sent, kinds, runs),
            *_names(parts, sent, kinds, self._runs),
            *_named_dates(parts, sent, kinds, self._runs),
            *_times(parts, sent, kinds, self._runs),
            *_tags(parts, sent),
        ):
            self.add(unit)

    def can_start(self, word: str) -> bool:
        """Whether a unit starts with a word."""
        return word.casefold() in self._by_first

    def note_line(self, sent: str) -> bool:
        """Note a line that was sent; tell whether it is a new one."""
        count = len(self._lines)
        self._lines.add(hash(sent))
        return len(self._lines) > count

    def add(self, unit: Unit) -> bool:
        """Add a unit; tell whether it is a new one."""
        first = WORD.match(unit.sent)
        key = first[0].casefold() if first else unit.sent[0]
        known = self._by_first.setdefault(key, {})
        if unit in known:
            return False
        known[unit] = True
        if unit.is_rewritten:
            form = (unit.sent, unit.before, unit.missing, unit.near, unit.translated)
            other = self._forms.setdefault(form, unit)
            if other is not unit:  # of something else, so neither is restored
                known[unit] = known[other] = False
        return True

    def starting_with(self, word: str) -> list[Unit]:
        """Return the units that start with a word or a sign, the longest first.

        Of two that are equal, what was sent comes before what is only rewritten so, and
        a whole before its beginning that needs the rest beside it. Where two originals
        are rewritten to one form, which one is meant cannot be told, so it is left out.
        """
        found = list(self._by_first.get(word.casefold(), {}).items())
        return sorted((unit for unit, is_clear in found if is_clear), key=_order)

    def to_json(self) -> list[Any]:
        """Write the units as JSON values."""
        return [
            list(dataclasses.astuple(u))
            for units in self._by_first.values()
            for u in units
        ]

    @classmethod
    def from_json(cls, values: list[Any]) -> Units:
        """Read what :meth:`to_json` wrote."""
        found = cls()
        for each in values:
            found.add(Unit(*each))
        return found

    def __repr__(self) -> str:
        return f"Units(count={sum(map(len, self._by_first.values()))})"


def _order(unit: Unit) -> tuple[int, bool, int]:
    size = len(unit.sent)
    return -size - len(unit.after), unit.is_rewritten, -size


def _addresses(
    parts: Sequence[str], sent: Sequence[str], kinds: Sequence[Kind | None]
) -> Iterator[Unit]:
    """Whole addresses, handles and words joined by a sign, each a run without blanks.

    Inside such a run, a word by itself is left alone: what it means is not certain.
    """
    mine = theirs = ""
    has_address = is_joined = False
    for i, (old, new) in enumerate(zip(parts, sent, strict=True)):
        if i % 2:
            mine, theirs = mine + old, theirs + new
            has_address |= _is_address(kinds[i // 2])
            is_joined |= kinds[i // 2] is not None and _is_joined(parts, sent, i)
            continue
        pieces = _RUN_ENDS.split(old)
        mine, theirs = mine + pieces[0], theirs + pieces[0]
        if len(pieces) > 1 or i == len(parts) - 1:
            while mine and theirs and mine[-1] in _TRAILING and mine[-1] == theirs[-1]:
                mine, theirs = mine[:-1], theirs[:-1]
            if (has_address or is_joined) and WORD.search(theirs):
                is_text = not (has_address and WORD.match(theirs))
                yield Unit(theirs, mine, is_address=True, is_text=is_text)
            mine = theirs = pieces[-1]
            has_address = is_joined = False


def _tags(parts: Sequence[str], sent: Sequence[str]) -> Iterator[Unit]:
    """Names of tags of HTML that were written as tags; no other words are restored so.

    A style sheet of an answer could tell which tag a text had, and nothing more.
    """
    for i in range(1, len(parts), 2):
        is_tag = parts[i - 1].endswith(BEFORE_TAG) and parts[i].lower() in _TAGS
        if is_tag and parts[i + 1][:1] in _BEHIND_TAG and parts[i] != sent[i]:
            for before in BEFORE_TAG:
                yield Unit(sent[i], parts[i], before=before)


def _is_joined(parts: Sequence[str], sent: Sequence[str], i: int) -> bool:
    """Whether a sign joins a surrogate to what stands beside it, as in ``a.com``."""
    surrogate = sent[i]
    if JOINED.match("".join(sent[i + 1 : i + _LABEL_PARTS])):
        return True
    if len(surrogate) < 2 or not surrogate[0].isalpha():
        return False
    before, after = parts[i - 1], parts[i + 1]
    has_sign = before[-1:] == "@" or after[:1] == "@" or after[:2] == ":/"
    has_next = after in (".", ":") and i + 2 < len(parts)
    return has_sign or has_next or (before == "." and i > 2)


def _note(noted: set[tuple[str, ...]], *found: str) -> bool:
    """Note what was found; tell whether it is new."""
    is_new = found not in noted
    noted.add(found)
    return is_new


def _names(
    parts: Sequence[str],
    sent: Sequence[str],
    kinds: Sequence[Kind | None],
    noted: set[tuple[str, ...]],
) -> Iterator[Unit]:
    """Weekdays and months, short or as an answer in another language has them."""
    for k, kind in enumerate(kinds):
        mine, theirs = parts[2 * k + 1], sent[2 * k + 1]
        if kind is None or kind[0] == "shape" or not _note(noted, mine, theirs):
            continue
        listed = (list_translations, list_short_forms)
        for new, old, is_capitalized, before in (
            each for make in listed for each in make(theirs, mine)
        ):
            how: Translated = "capital" if is_capitalized else "plain"
            yield Unit(new, old, before, is_rewritten=True, translated=how)


def _named_dates(
    parts: Sequence[str],
    sent: Sequence[str],
    kinds: Sequence[Kind | None],
    noted: set[tuple[str, ...]],
) -> Iterator[Unit]:
    """Days beside the name of their month, with or without a year: ``14 June``."""
    for k in range(len(kinds)):
        if not find_month(sent[2 * k + 1]):
            continue
        run = _find_date(parts, kinds, k)
        mine, theirs = (_text(each, run) for each in (parts, sent))
        if len(run) > 1 and _note(noted, mine, theirs):
            yield from _date_units(mine, theirs)


def _find_date(parts: Sequence[str], kinds: Sequence[Kind | None], month: int) -> range:
    """The words of a date around the name of its month; that alone if it is none."""
    first = last = month
    gap = parts[2 * month] if month else ""
    if gap == " " and _is_number(kinds[month - 1]):
        first = month - 1
    elif gap == " " and month > 1 and parts[2 * month - 2 : 2 * month] == [" ", "of"]:
        first = month - 2 * _is_number(kinds[month - 2])
    gaps = (" ", ". ")
    if first == month and _follows(parts, kinds, last, gaps):
        last += 1
    if (first, last) != (month, month) and _follows(parts, kinds, last, (" ", ", ")):
        last += (kinds[last + 1] or ("", ""))[1] == "year"
    return range(first, last + 1)


def _follows(
    parts: Sequence[str],
    kinds: Sequence[Kind | None],
    k: int,
    gaps: tuple[str, ...],
) -> bool:
    """Whether one of these gaps, and then a number that was hidden, follows a word."""
    has_next = k + 1 < len(kinds)
    return has_next and parts[2 * k + 2] in gaps and _is_number(kinds[k + 1])


def _date_units(mine: str, theirs: str) -> Iterator[Unit]:
    """A date as it was sent, and in other notations."""
    notations = list_notations(theirs, mine)
    if notations:
        yield Unit(theirs, mine)
    for each in notations:
        yield Unit(each.sent, each.original, missing=each.missing, is_rewritten=True)


def _times(
    parts: Sequence[str],
    sent: Sequence[str],
    kinds: Sequence[Kind | None],
    noted: set[tuple[str, ...]],
) -> Iterator[Unit]:
    """Times of day in other notations: ``7am`` for ``7:00 am``."""
    for k, kind in enumerate(kinds):
        if kind is None or not kind[1].startswith(("clock ", "time of day")):
            continue
        mine, theirs = (
            each[2 * k + 1] + _find_half("".join(each[2 * k + 2 : 2 * k + 6]))
            for each in (parts, sent)
        )
        if _note(noted, mine, theirs, "time"):
            for new, old in list_times(theirs, mine).items():
                yield Unit(new, old, is_rewritten=True)


def _find_half(behind: str) -> str:
    found = HALF.match(behind)
    return found[0] if found else ""


def _numbers(
    parts: Sequence[str],
    sent: Sequence[str],
    kinds: Sequence[Kind | None],
    runs: Sequence[range],
    noted: set[tuple[str, ...]],
) -> Iterator[Unit]:
    """Numbers, dates, amounts and the like, and short ones with a neighbor."""
    for run in runs:
        mine, theirs = (_text(each, run) for each in (parts, sent))
        is_whole = len(run) > 1 or _is_date(kinds[run[0]])
        if is_whole and _note(noted, mine, theirs):
            yield from _run_units(mine, theirs)
        for k in run:
            is_alone = len(run) == 1
            yield from _word_units(parts, sent, kinds, k, is_alone=is_alone)
        # Longer ones have other forms anyway.
        is_short = len(theirs) < 4 and theirs.isdigit()
        if is_short and parts[2 * run[0]][-1:] in _CURRENCIES:
            for cents in (".00", ".0"):
                yield Unit(theirs + cents, mine + cents, is_rewritten=True)


def _find_runs(
    parts: Sequence[str], sent: Sequence[str], kinds: Sequence[Kind | None]
) -> Iterator[range]:
    """Numbers that signs or blanks join to one, such as a telephone number."""
    closed = _find_closed(parts, sent, kinds)
    i = 0
    while i < len(kinds):
        if not _is_number(kinds[i]):
            i += 1
            continue
        end = i
        while end + 1 < len(kinds) and _joins(parts, kinds, end, closed):
            end += 1
        run = range(i, end + 1)
        if len(run) > 1 and _is_loose(_text(parts, run), len(run)):
            run = range(i, _first_blank(parts, run) + 1)
        yield run
        i = run[-1] + 1


def _joins(
    parts: Sequence[str], kinds: Sequence[Kind | None], i: int, closed: frozenset[int]
) -> bool:
    gap = parts[2 * i + 2]
    is_whole = any(map(_is_date, kinds[i : i + 2]))
    is_whole |= " " in gap and not closed.isdisjoint((i, i + 1))
    return _is_number(kinds[i + 1]) and not is_whole and gap in _JOINS


def _find_closed(
    parts: Sequence[str], sent: Sequence[str], kinds: Sequence[Kind | None]
) -> frozenset[int]:
    """Words of addresses and of amounts with cents, which no blank joins to others."""
    closed: list[int] = []
    first, is_address = 0, False
    for k in range(len(kinds)):
        is_address |= _is_address(kinds[k])
        if k + 1 < len(kinds) and not _RUN_ENDS.search(parts[2 * k + 2]):
            continue
        if is_address or _CENTS.fullmatch(_text(sent, range(first, k + 1))):
            closed += range(first, k + 1)
        first, is_address = k + 1, False
    return frozenset(closed)


def _is_address(kind: Kind | None) -> bool:
    return kind is not None and kind[1] == _ADDRESS


def _is_number(kind: Kind | None) -> bool:
    return kind is not None and kind[0] == "shape" and not _is_address(kind)


def _is_date(kind: Kind | None) -> bool:
    """Whether a word is a date or a time, which is whole by itself."""
    return kind is not None and kind[1].startswith(("date ", "clock "))


def _ranges(
    parts: Sequence[str],
    sent: Sequence[str],
    kinds: Sequence[Kind | None],
    runs: Sequence[range],
) -> Iterator[Unit]:
    """Dates and times that a sign joins to other numbers, as in ``10:30-11:45``.

    Each is whole by itself too, but not where a sign joins it to other digits.
    """
    within = {k for run in runs for k in run[:-1]}  # the next word is of the same run
    first = 0
    for k in range(len(kinds)):
        if k in within or _is_glued(parts, sent, kinds, k):
            continue
        joined = range(first, k + 1)
        first = k + 1
        if len(joined) > 1 and any(_is_date(kinds[i]) for i in joined):
            yield Unit(_text(sent, joined), _text(parts, joined))


def _is_glued(
    parts: Sequence[str], sent: Sequence[str], kinds: Sequence[Kind | None], k: int
) -> bool:
    """Whether a sign alone is between a word with digits and the next such word.

    An address, or a word that a sign joins as in one, comes back by its own rules.
    """
    if k + 1 == len(kinds) or parts[2 * k + 2] not in _GLUE:
        return False
    return not any(
        _is_address(kinds[i])
        or not _DIGIT.search(sent[2 * i + 1])
        or _is_joined(parts, sent, 2 * i + 1)
        for i in (k, k + 1)
    )


def _text(parts: Sequence[str], run: range) -> str:
    return "".join(parts[2 * run[0] + 1 : 2 * run[-1] + 2])


def _is_loose(text: str, count: int) -> bool:
    """Whether blanks join two numbers that may have nothing to do with each other."""
    return " " in text and count < 3


def _first_blank(parts: Sequence[str], run: range) -> int:
    return next((k for k in run[:-1] if " " in parts[2 * k + 2]), run[-1])


def _run_units(mine: str, theirs: str) -> Iterator[Unit]:
    """A run of numbers as it was sent, and as people write it otherwise."""
    yield Unit(theirs, mine)
    for date in list_notations(theirs, mine):
        yield Unit(date.sent, date.original, missing=date.missing, is_rewritten=True)
    yield from _other_forms(mine, theirs)


def _other_forms(mine: str, theirs: str) -> Iterator[Unit]:
    """Write an amount or a telephone number as people write it otherwise."""
    if _is_amount(mine) is not _is_amount(theirs):
        return
    pairs = [(mine, theirs)]
    if (rest := _without_country(theirs)) != theirs:
        pairs.append((_without_country(mine), rest))
    found: dict[str, str] = {}  # what several forms write alike has the first of them
    for own, new in pairs:
        for form in _FORMS:
            found.setdefault(form(new), form(own))
    for other, own in found.items():
        if len(other) > 2 and other != theirs:
            yield Unit(other, own, is_rewritten=True)


def _is_amount(text: str) -> bool:
    return _AMOUNT.fullmatch(text) is not None


def _without_commas(text: str) -> str:
    return text.replace(",", "") if _is_amount(text) else text


def _without_cents(text: str) -> str:
    return text.rpartition(".")[0] if _is_amount(text) and "." in text else text


def _without_both(text: str) -> str:
    return _without_commas(_without_cents(text))


def _as_number(text: str) -> str:
    """Write an amount as JSON does: 1,234.50 is 1234.5."""
    plain = _without_commas(text)
    is_short = _is_amount(text) and plain.endswith("0") and plain[-3:-2] == "."
    return plain[:-1] if is_short else plain


def _with_commas(text: str) -> str:
    if not _is_amount(text):
        return text
    whole, dot, cents = text.replace(",", "").partition(".")
    first = len(whole) % 3 or 3
    rest = (whole[at : at + 3] for at in range(first, len(whole), 3))
    return f"{','.join([whole[:first], *rest])}{dot}{cents}"


def _with_points(text: str) -> str:
    """Write an amount as in German or Spanish."""
    swapped = str.maketrans(",.", ".,")
    return _with_commas(text).translate(swapped) if _is_amount(text) else text


def _whole_with_points(text: str) -> str:
    return _with_points(_without_cents(text))


def _whole_with_commas(text: str) -> str:
    return _with_commas(_without_cents(text)) if _is_amount(text) else text


def _with_cents(text: str) -> str:
    return f"{text}.00" if _is_amount(text) and "." not in text else text


def _without_commas_with_cents(text: str) -> str:
    return _with_cents(_without_commas(text))


def _as_float(text: str) -> str:
    is_whole = _is_amount(text) and "." not in text
    return f"{_without_commas(text)}.0" if is_whole else _as_number(text)


def _with_blanks(text: str) -> str:
    """Write an amount as in French."""
    if not _is_amount(text):
        return text
    return _with_commas(text).replace(",", " ").replace(".", ",")


def _with_apostrophes(text: str) -> str:
    """Write an amount as in Switzerland."""
    return _with_commas(text).replace(",", "'") if _is_amount(text) else text


def _groups(text: str) -> list[str]:
    """The groups of digits of a telephone number or of a card; none for others."""
    found: list[str] = _GROUP.findall(text)
    if set(text) & set(",.:/") and not _DOTTED.fullmatch(text):
        return []
    if found == [text] and len(text) in _SPLIT:
        ends = list(itertools.accumulate(_SPLIT[len(text)], initial=0))
        found = [text[a:b] for a, b in itertools.pairwise(ends)]
    return found if sum(map(len, found)) > 6 else []


def _join_groups(text: str, sign: str) -> str:
    """Write a telephone number or the number of a card with other signs."""
    return sign.join(_groups(text)) or text


def _in_brackets(text: str) -> str:
    """Write a telephone number whose first group is in brackets, behind the first."""
    first, *rest = _groups(text) or [text]
    return f"{first}) {'-'.join(rest)}" if len(rest) > 1 and len(first) == 3 else text


def _without_country(text: str) -> str:
    """Leave the first group of a telephone number away."""
    first, *rest = _groups(text) or [text]
    is_long = len(rest) > 1 and sum(map(len, rest)) > 6
    return " ".join(rest) if is_long and len(first) < 4 else text


_FORMS: Final[tuple[Callable[[str], str], ...]] = (
    _without_commas,
    _without_cents,
    _without_both,
    _as_number,
    _with_commas,
    _with_points,
    _whole_with_commas,
    _whole_with_points,
    _with_cents,
    _without_commas_with_cents,
    _as_float,
    _with_blanks,
    _with_apostrophes,
    *(partial(_join_groups, sign=sign) for sign in ("", "-", ".", " ")),
    _in_brackets,
)


def _word_units(
    parts: Sequence[str],
    sent: Sequence[str],
    kinds: Sequence[Kind | None],
    k: int,
    *,
    is_alone: bool,
) -> Iterator[Unit]:
    """A number or letter by itself: long ones always, short ones beside a word."""
    shape = (kinds[k] or ("", ""))[1]
    mine, theirs = parts[2 * k + 1], sent[2 * k + 1]
    is_number = theirs.isascii() and theirs.isdigit()
    needs_context = shape in _CONTEXT or (is_number and len(theirs) == 1)
    if is_number and len(theirs) > 2:
        yield Unit(theirs, mine, is_part=not is_alone)
        if is_alone and len(theirs) > 3 and shape.endswith(" digits"):
            yield from _other_forms(mine, theirs)
    elif not is_alone:
        return
    elif not needs_context:
        yield Unit(theirs, mine)
    if is_alone and shape.startswith(_NEAR_AMOUNT):
        yield from _other_forms(mine, theirs)
    if needs_context or sent[2 * k + 2][:1] in (".", ")"):
        yield from _with_neighbors(mine, theirs, sent, kinds, k)
    if is_number and needs_context and (near := _find_near(sent, kinds, k)):
        yield Unit(theirs, mine, near=near)


def _with_neighbors(
    mine: str, theirs: str, sent: Sequence[str], kinds: Sequence[Kind | None], k: int
) -> Iterator[Unit]:
    """A short number or a letter, with the word that must stand beside it."""
    behind = "".join(sent[2 * k + 2 : 2 * k + 4])
    before = "".join(sent[max(2 * k - 1, 0) : 2 * k + 1])
    has_next = k + 1 < len(kinds) and "\n" not in behind
    if has_next:
        yield Unit(theirs, mine, after=behind[:_LONGEST_CONTEXT])
    # Beside another surrogate it is meant, whatever follows: "Ann B. Lee", "Ann B."
    if not has_next or (k and kinds[k - 1] is not None):
        yield Unit(theirs, mine, before=before[-_LONGEST_CONTEXT:])


def _find_near(sent: Sequence[str], kinds: Sequence[Kind | None], k: int) -> str:
    """The last surrogate before a number: a translation keeps it, not its neighbors."""
    distance = len(sent[2 * k])
    for i in range(k - 1, -1, -1):
        if distance > NEAR:
            break
        if kinds[i] is not None and len(sent[2 * i + 1]) > 1:
            return sent[2 * i + 1]
        distance += len(sent[2 * i + 1]) + len(sent[2 * i])
    return ""
