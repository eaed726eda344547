"""Units of a conversation: numbers and addresses that come back as a whole."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, final

import regex

from mondegreen.prompts.calendar import list_translations
from mondegreen.prompts.dates import Missing, list_notations

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

JOINED: Final = re.compile(rf"{LABEL}(?:@|\.[^\W_])")
"""What follows a word that is part of a host or of a user."""

_ADDRESS: Final = "part of an address"
_CONTEXT: Final = ("ordinal", "letter", "sign")
_JOINS: Final = frozenset(["", ".", ",", "-", "/", ":", " ", "(", ")", ") ", " (", "+"])
_GLUE: Final = frozenset(["", ".", ",", "-", "/", ":"])
_DIGIT: Final = re.compile("[0-9]")
_RUN_ENDS: Final = re.compile(r"[\s()<>\[\]{}\"'`|]")
_AMOUNT: Final = re.compile(
    r"[0-9]{1,3}(?:,[0-9]{3})*(?:\.[0-9]{1,2})?|[1-9][0-9]{3,}(?:\.[0-9]{1,2})?"
)
_THOUSANDS: Final = re.compile(r"(?<=[0-9])(?=(?:[0-9]{3})+\Z)")
_TRAILING: Final = ".,;:!?"
_LONGEST_CONTEXT: Final = 24
_LABEL_PARTS: Final = 66
"""Parts of a text that one label can have, and what follows it."""

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
    no server by itself, such as a handle: then it is never put into a link.
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


@final
class Units:
    """What was sent of numbers and addresses, by their first word."""

    __slots__ = ("_by_first", "_runs")

    def __init__(self) -> None:
        self._by_first: dict[str, dict[Unit, None]] = {}
        # Each turn of a conversation repeats those before, so runs are noted once.
        self._runs: set[tuple[str, str]] = set()

    def learn(
        self, parts: Sequence[str], sent: Sequence[str], kinds: Sequence[Kind | None]
    ) -> None:
        """Note the units of a text; structure and words come in turn in its parts."""
        runs = list(_find_runs(parts, kinds))
        numbers = _numbers(parts, sent, kinds, runs, self._runs)
        names = _names(parts, sent, kinds, self._runs)
        ranges = _ranges(parts, sent, kinds, runs)
        for unit in (*_addresses(parts, sent, kinds), *numbers, *ranges, *names):
            self._add(unit)

    def _add(self, unit: Unit) -> None:
        first = WORD.match(unit.sent)
        key = first[0].casefold() if first else unit.sent[0]
        self._by_first.setdefault(key, {})[unit] = None

    def starting_with(self, word: str) -> list[Unit]:
        """Return the units that start with a word or a sign, the longest first.

        Of two that are equal, what was sent comes before what is only rewritten so, and
        a whole before its beginning that needs the rest beside it.
        """
        found = self._by_first.get(word.casefold(), ())
        return sorted(found, key=_order)

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
            found._add(Unit(*each))
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
            kind = kinds[i // 2]
            has_address |= kind is not None and kind[1] == _ADDRESS
            is_joined |= kind is not None and _is_joined(parts, sent, i)
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


def _names(
    parts: Sequence[str],
    sent: Sequence[str],
    kinds: Sequence[Kind | None],
    noted: set[tuple[str, str]],
) -> Iterator[Unit]:
    """Weekdays and months, as an answer in another language has them."""
    for k, kind in enumerate(kinds):
        mine, theirs = parts[2 * k + 1], sent[2 * k + 1]
        if kind is None or kind[0] == "shape" or (mine, theirs) in noted:
            continue
        noted.add((mine, theirs))
        for new, old, is_capitalized in list_translations(theirs, mine):
            how: Translated = "capital" if is_capitalized else "plain"
            yield Unit(new, old, is_rewritten=True, translated=how)


def _numbers(
    parts: Sequence[str],
    sent: Sequence[str],
    kinds: Sequence[Kind | None],
    runs: Sequence[range],
    noted: set[tuple[str, str]],
) -> Iterator[Unit]:
    """Numbers, dates, amounts and the like, and short ones with a neighbor."""
    for run in runs:
        mine, theirs = (_text(each, run) for each in (parts, sent))
        is_whole = len(run) > 1 or _is_date(kinds[run[0]])
        if is_whole and (mine, theirs) not in noted:
            noted.add((mine, theirs))
            yield from _run_units(mine, theirs)
        for k in run:
            is_alone = len(run) == 1
            yield from _word_units(parts, sent, kinds, k, is_alone=is_alone)


def _find_runs(parts: Sequence[str], kinds: Sequence[Kind | None]) -> Iterator[range]:
    """Numbers that signs or blanks join to one, such as a telephone number."""
    i = 0
    while i < len(kinds):
        if not _is_number(kinds[i]):
            i += 1
            continue
        end = i
        while end + 1 < len(kinds) and _joins(parts, kinds, end):
            end += 1
        run = range(i, end + 1)
        if len(run) > 1 and _is_loose(_text(parts, run), len(run)):
            run = range(i, _first_blank(parts, run) + 1)
        yield run
        i = run[-1] + 1


def _joins(parts: Sequence[str], kinds: Sequence[Kind | None], i: int) -> bool:
    is_whole = any(map(_is_date, kinds[i : i + 2]))
    return _is_number(kinds[i + 1]) and not is_whole and parts[2 * i + 2] in _JOINS


def _is_number(kind: Kind | None) -> bool:
    return kind is not None and kind[0] == "shape" and kind[1] != _ADDRESS


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
        (kinds[i] or ("", ""))[1] == _ADDRESS
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
    for form in _FORMS:
        other = form(theirs)
        if len(other) > 2 and other != theirs:
            yield Unit(other, form(mine), is_rewritten=True)


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
    return f"{_THOUSANDS.sub(',', whole)}{dot}{cents}"


def _with_points(text: str) -> str:
    """Write an amount as in German or Spanish."""
    swapped = str.maketrans(",.", ".,")
    return _with_commas(text).translate(swapped) if _is_amount(text) else text


def _whole_with_points(text: str) -> str:
    return _with_points(_without_cents(text))


def _whole_with_commas(text: str) -> str:
    return _with_commas(_without_cents(text)) if _is_amount(text) else text


def _digits(text: str) -> str:
    """Write a telephone number or the number of a card without signs."""
    found = re.sub("[^0-9]", "", text)
    return found if len(found) > 6 and not set(text) & set(",.:/") else text


def _hyphens(text: str) -> str:
    return text.replace(" ", "-") if _digits(text) != text else text


def _dots(text: str) -> str:
    return _hyphens(text).replace("-", ".") if _digits(text) != text else text


def _blanks(text: str) -> str:
    return text.replace("-", " ") if _digits(text) != text else text


_FORMS: Final = (
    _without_commas,
    _without_cents,
    _without_both,
    _as_number,
    _with_commas,
    _with_points,
    _whole_with_commas,
    _whole_with_points,
    _digits,
    _hyphens,
    _dots,
    _blanks,
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
        yield Unit(theirs, mine)
        if is_alone and len(theirs) > 3 and shape.endswith(" digits"):
            yield from _other_forms(mine, theirs)
    elif not is_alone:
        return
    elif not needs_context:
        yield Unit(theirs, mine)
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
