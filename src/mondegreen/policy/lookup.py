"""From tokens to symbols of a policy, by their spelling and public structure alone."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import ClassVar, Final, final

import numpy as np
from numpy.typing import NDArray

from mondegreen.arrays import Ids, Weights
from mondegreen.policy.accents import ACCENTED, without_marks
from mondegreen.policy.cutting import CUT_DISCLOSED, cut_texts
from mondegreen.policy.numbers import (
    HIDE_DISCLOSED,
    PLAIN_DISCLOSED,
    AmountLookup,
)
from mondegreen.policy.policy import (
    ADDRESS_PARTS,
    GRID,
    UNKNOWN_FORMS,
    Policy,
    find_form,
    strip_lap,
)
from mondegreen.policy.references import read_ending, read_references
from mondegreen.policy.shapes import (
    PLACES,
    find_mixed_shape,
    is_pseudo_word,
    is_written_date,
    number_shape,
)
from mondegreen.settings import Structure
from mondegreen.text.lookup import IN_CLEAR, Memo
from mondegreen.text.sentences import sentence_ends
from mondegreen.text.structure import BLANKS
from mondegreen.text.tokenizer import TokenizedBatch, canonical
from mondegreen.text.unicode import with_old_case

Flags = NDArray[np.int16]
Marks = NDArray[np.bool_]

_JOINERS: Final = frozenset("@._-/:~+%=&?#\\'’")
_OPENERS: Final = frozenset('":;([{“”«‹*•|>–—')
"""A quotation, a list or a title may begin behind one of these."""

_STARTS, _JOINS, _MARKS, _DOT, _SLASH, _ENDS_LINE = 1, 2, 4, 8, 16, 32
_STOP, _OWNS, _SIGN, _BLANK, _AND = 64, 128, 256, 512, 1024
"""A full stop, which may be that of "Mr."; the ending 's of the word; a sign that names
stand behind, such as the colon of "Name: Hope"; white space alone; and an ampersand."""

_BEGIN: Final = frozenset("!?！？؟\n\r")
"""Behind one of these a sentence begins, whatever else is there."""

_REMOVED_SIGNS: Final = (
    "removed signs: whether one decided that an ordinary word with a capital is a "
    "name, and that a word is a part of an address",
)

_TITLE: Final = 0.9
_TITLE_WORDS: Final = 4
"""A line is in title case if this share of so many words or more has a capital, and in
capitals if this share of them has no small letter."""

_FIRST_WORDS: Final = frozenset("will may can new fall spring does good best".split())
"""They begin sentences so often that no capital makes them names there."""

_IN_TITLES: Final = frozenset("will may best".split())
"""Those that people have as names: they are names in lines in title case."""

_GIVEN: Final = frozenset("will may hope art bill grant".split())
"""Words that begin sentences, and full names that are all of a line: "Will Hope"."""

_SHORT: Final = 3
"""Words in capitals of so many letters may be those of an organization: "AT&T"."""

_LOUD: Final = frozenset("us or me in".split())
"""Abbreviations that are words in lines in capitals: they are frequent there."""

# How a word is written, beside its symbols in a memo.
_SMALL, _CAPITAL, _CAPITALS = 1, 2, 3
_CASES, _NAMED, _TITLED, _CALLED, _BITS = 3, 4, 8, 16, 5  # and what name it may be


def _fold(word: str) -> str:
    """Fold a word; an ending such as n't is a word of its own here."""
    word = read_ending(word)
    if word.isascii():
        return word.lower()
    folded = canonical(word) if "'" not in word and "’" not in word else word
    return folded.lower().replace("’", "'")


def _is_number(word: str) -> bool:
    """Whether a word is made of the ten digits alone."""
    return word.isdigit() and word.isascii()


def get_flags(gap: str) -> int:
    """Return what the structure between two words says about the symbols beside it."""
    if ";" in gap:
        gap = read_references(gap)
    is_start = sentence_ends([gap, ""])[0] or not _OPENERS.isdisjoint(gap)
    found = _STARTS * is_start | _ENDS_LINE * ("\n" in gap or "\r" in gap)
    if gap and _JOINERS.issuperset(gap):
        found |= _JOINS | _DOT * (gap == ".") | _SLASH * (gap == "/")
        found |= _MARKS * ("@" in gap or "_" in gap or "//" in gap or "\\" in gap)
    elif gap.endswith("@"):
        found |= _MARKS
    if gap == "." or (is_start and _BEGIN.isdisjoint(gap)):
        found |= _STOP if gap.rstrip(" ") == "." else _SIGN
    found |= _BLANK * (not gap.strip(BLANKS)) | _AND * (gap == "&")
    return found | _OWNS * gap.startswith(("'s", "’s", "'S", "’S"))


def _find_case(word: str) -> int:
    """Tell whether a word of several letters is small, or has one capital or all."""
    letters = with_old_case(word)
    if len(word) < 2 or not letters[0].isalpha():
        return 0
    if letters.isupper():
        return _CAPITALS
    return _CAPITAL if letters[0].isupper() else _SMALL


def _find_line_starts(flags: Flags, begins: Weights) -> Marks:
    """Tell which words begin a line; the end of all words counts as one more start."""
    is_first = np.ones(len(flags) + 1, dtype=np.bool_)
    is_first[1:-1] = (flags[:-1] & _ENDS_LINE) > 0
    is_first[begins] = True
    return is_first


def _in_lines_of(case: int, cases: Ids, is_first: Marks) -> Marks:
    """Tell which words are in a line whose words mostly have capitals.

    ``case`` is what they have at least: a capital first, or no small letter.
    """
    firsts = np.flatnonzero(is_first[:-1])
    if not len(firsts):
        return np.zeros(0, dtype=np.bool_)
    capitals = np.add.reduceat(cases >= case, firsts, dtype=np.int64)
    written = np.add.reduceat(cases > 0, firsts, dtype=np.int64)
    is_such = (capitals >= _TITLE * written) & (written >= _TITLE_WORDS)
    lengths = np.diff(np.append(firsts, len(cases)))
    return np.asarray(np.repeat(is_such, lengths))


def _are_signed(flags: Flags, is_first: Marks) -> Marks:
    """Tell which words are signatures: all of their line, without a sign behind it."""
    return is_first[:-1] & is_first[1:] & ((flags & _BLANK) > 0)


def _begin_pairs(flags: Flags, is_first: Marks) -> Marks:
    """Tell which words begin a line of two words, without a sign behind them."""
    is_blank = (flags & _BLANK) > 0
    found = np.zeros(len(flags), dtype=np.bool_)
    ends = ~is_first[1:-1] & is_first[2:]
    found[:-1] = is_first[:-2] & ends & is_blank[:-1] & is_blank[1:]
    return found


def _list_marked(words: list[str], flags: Flags) -> NDArray[np.intp]:
    """List gaps that an address or a date may touch, and few others.

    A run of joined words is counted with the gap before it, and across the ends of
    texts: that finds too many, and what is done with them finds the right ones.
    """
    gaps = np.flatnonzero(flags & (_JOINS | _MARKS))
    flags = flags[gaps]
    begins = (np.diff(gaps, prepend=-2) > 1) | ((flags & _JOINS) == 0)
    run = np.cumsum(begins)
    is_dot, is_mark = (flags & _DOT) > 0, (flags & _MARKS) > 0
    may_be = np.bincount(run[is_dot], minlength=len(gaps) + 1) > 1
    may_be[run[is_mark]] = True
    is_listed = (is_dot | is_mark) & may_be[run]
    slashes = np.flatnonzero(flags & _SLASH)
    for i, gap in zip(slashes.tolist(), gaps[slashes].tolist(), strict=True):
        is_listed[i] |= any(map(str.isdigit, words[gap : gap + 2]))
    return np.asarray(gaps[is_listed])


def _run_at(gap: int, flags: list[int], count: int) -> tuple[int, int]:
    """Find the first and the last word of the run of joined words at a gap.

    A gap such as ``" @"`` joins nothing, and marks the run behind it.
    """
    start = stop = gap + 1
    if gap >= 0 and flags[gap] & _JOINS:
        start = gap
        while start and flags[start - 1] & _JOINS:
            start -= 1
    while stop < count - 1 and flags[stop] & _JOINS:
        stop += 1
    return start, stop


def _is_address(gap: int, start: int, stop: int, flags: list[int]) -> bool:
    """Whether a run has the signs of an address, or two full stops."""
    is_marked = any(flag & _MARKS for flag in flags[max(start - 1, 0) : stop])
    dots = sum(flag & _DOT > 0 for flag in flags[start:stop])
    return gap < 0 or is_marked or dots > 1


@final
class PolicyLookup:
    """Turns the words of texts into symbols of a policy.

    The symbol of a word is a function of its own spelling and of the structure around
    it, which passes unchanged: whether it begins a sentence, whether it is a part of an
    address (a run of words joined by signs, with ``@``, ``_``, ``//`` or two full
    stops), whether a slash or an ampersand touches it, whether it is all of its line
    or the first of two words, and whether most words of its line have capitals, or
    capitals alone, which is disclosed too. Never of any one other word.

    >>> from mondegreen.policy.policy import load_policy
    >>> from mondegreen.text.tokenizer import tokenize
    >>> policy = load_policy("sensitive")
    >>> symbols = PolicyLookup(policy).codes(tokenize(["I have diabetes."]))
    >>> [policy.describe(symbol)[0] for symbol in symbols.tolist()]
    ['ordinary', 'ordinary', 'health']
    """

    conditions: ClassVar[tuple[str, ...]] = ()
    assumptions: ClassVar[tuple[str, ...]] = ()
    keep_digest: ClassVar[str] = hashlib.sha256(b"").hexdigest()  # there is no list

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self._make_memos()

    def list_disclosed(self, structure: Structure) -> tuple[str, ...]:
        """What passes unchanged besides ordinary words, as ``name: explanation``."""
        lines = (
            "lines in title case: which lines have a capital on nine of ten words",
            "lines in capitals: which lines have capitals alone in most of their words",
        )
        numbers = PLAIN_DISCLOSED if self.policy.numbers == "plain" else ()
        separators = HIDE_DISCLOSED if structure == "keep" else _REMOVED_SIGNS
        return IN_CLEAR[structure] + lines + CUT_DISCLOSED + separators + numbers

    def cut(self, texts: Sequence[str | None]) -> TokenizedBatch:
        """Cut texts into words and structure: see :func:`cut_texts`."""
        return cut_texts(texts, self.policy.numbers)

    def _make_memos(self) -> None:
        forms = ("s", *(form for _, form in UNKNOWN_FORMS))
        self._rest = {form: self.policy.find_group("rest", form) for form in forms}
        self._name = self.policy.find_group("other_name", "s")
        self._flags = Memo(get_flags)
        self._entries = Memo(self._find_entry)
        self._names = Memo(self._find_likely_name)

    def _find_entry(self, word: str) -> int:
        """Find the symbols of a word, and how it is written, packed into one number.

        They are its symbol as first word of a sentence (bit 32 and above), its symbol
        inside of one (bits 5 to 31), whether it may be a name, is one in title case,
        and begins full names (bits 2 to 4), and its case (bits 0 and 1).
        """
        policy = self.policy
        if word.islower() and word.isascii() and word.isalpha() and len(word) > 1:
            symbol = policy.symbols.get(word)  # a short way for most
            if symbol is None:
                symbol = self._rest[find_form(word)]
            return symbol << 32 | symbol << _BITS | _SMALL
        folded, low = _fold(word), _find_case(word)
        known = policy.symbols.get(folded)
        if known is None or _is_number(word):
            symbol = self._find_unlisted(word, folded)
            return symbol << 32 | symbol << _BITS | low
        start = inside = self._find_listed(word, folded, known, starts=False)
        # A list in the policy says which names inside are ordinary as first words.
        if low != _SMALL and inside >= len(policy.ordinary):
            start = self._find_listed(word, folded, known, starts=True)
        if folded in policy.names or folded in policy.upper:
            low |= _TITLED * (low == _CAPITAL and folded in _IN_TITLES)
            low |= _NAMED | _CALLED * (folded in _GIVEN)
        return start << 32 | inside << _BITS | low

    def codes(self, batch: TokenizedBatch) -> Ids:
        """Look up all words of all texts, flat and in order."""
        words = batch.words()
        found = np.fromiter(map(self._entries.__getitem__, words), np.int64, len(words))
        low = found.astype(np.int32)
        codes, cases = low >> _BITS, low & _CASES
        flags = batch.flag_gaps(self._flags.__getitem__)
        is_first = _find_line_starts(flags, batch.begins)
        in_title = _in_lines_of(_CAPITAL, cases, is_first)
        before = np.empty(len(words) + 1, dtype=np.int16)  # flags of the gap in front
        before[1:] = flags
        before[batch.begins] = _STARTS
        # Where a word stands says nothing of a small one, and most are small.
        places = np.flatnonzero(cases != _SMALL)
        has_capital = cases.take(places) >= _CAPITAL
        in_title = in_title.take(places) & has_capital
        before = before.take(places)
        starts = (before & _STARTS) > 0
        owns = starts & ((flags.take(places) & _OWNS) > 0)  # "Will's"
        first = places[starts | in_title]
        codes[first] = found.take(first) >> 32
        # What hides anyway stays in its group: IV among the Roman numerals.
        shows = codes.take(places) < len(self.policy.ordinary)
        low = low.take(places)
        signed = shows & _are_signed(flags, is_first).take(places)
        pairs = shows & _begin_pairs(flags, is_first).take(places)
        owns |= signed | pairs & ((low & _CALLED) > 0)
        sure = has_capital & (owns | ((before & _SIGN) > 0))
        sure |= in_title & ((low & _TITLED) > 0)
        likely = in_title | has_capital & ((before & _STOP) > 0)
        likely |= shows & (cases.take(places) == _CAPITALS)  # "HOPE BANKS"
        is_name = (likely | sure) & ((low & _NAMED) > 0)
        self._recode_names(words, codes, places[is_name], sure[is_name])
        if (cases == _CAPITALS).any():
            loud = _in_lines_of(_CAPITALS, cases, is_first)
            loud = loud.take(places) & (cases.take(places) == _CAPITALS) & ~sure
            self._recode_abbreviations(words, codes, places[loud])
        gaps = np.flatnonzero(flags & _AND)
        if len(gaps):
            behind = np.setdiff1d(gaps + 1, batch.begins)
            self._recode_organizations(words, codes, np.union1d(gaps, behind))
        self._recode_joined(batch, words, codes, flags)
        if self.policy.numbers == "near":
            cells = self.policy.alphabet.cells
            return AmountLookup(GRID, cells.start).recode(batch, codes)
        return codes

    def _recode_names(
        self, words: list[str], codes: Ids, places: NDArray[np.intp], sure: Marks
    ) -> None:
        """Look words with a capital up anew where a name is likely, or nearly sure."""
        some = map(words.__getitem__, places.tolist())
        names = np.fromiter(map(self._names.__getitem__, some), np.int32, len(places))
        is_name = (names > 0) | sure & (names < 0)
        codes[places[is_name]] = np.abs(names[is_name]) - 1

    def _recode_abbreviations(
        self, words: list[str], codes: Ids, places: NDArray[np.intp]
    ) -> None:
        """Look US and a few others up as small words, in lines in capitals."""
        for place in places.tolist():
            folded = _fold(words[place])
            if folded in _LOUD and folded in self.policy.upper:
                known = self.policy.symbols[folded]
                if known < len(self.policy.ordinary):
                    codes[place] = known

    def _recode_organizations(
        self, words: list[str], codes: Ids, places: NDArray[np.intp]
    ) -> None:
        """Look short words in capitals up anew that an ampersand touches: "AT&T"."""
        for place in places.tolist():
            word = with_old_case(words[place])
            if codes[place] < len(self.policy.ordinary) and word.isupper():
                if len(word) == 1:
                    codes[place] = self._shape("letter")
                elif len(word) <= _SHORT:
                    codes[place] = self._name

    def _find_likely_name(self, word: str) -> int:
        """The symbol of a word with a capital as a name, plus 1; 0 if it is none.

        It is negative for words that are hardly ever names at the start of a sentence.
        """
        folded = _fold(word)
        name = self.policy.names.get(folded, -1)
        if len(word) > 1 and with_old_case(word).isupper():
            name = self.policy.upper.get(folded, name)
        return -name - 1 if folded in _FIRST_WORDS else name + 1

    def print_codes(self, batch: TokenizedBatch) -> Ids:
        """Look up the symbols of words that were printed by this policy.

        What is printed of a symbol is printed of no other, however it is spelled: the
        capital of a first word, or of a name, tells nothing.
        """
        codes = self.codes(batch)
        known = self.policy.symbols
        part = self._shape("part of an address")
        for i, word in enumerate(batch.words()):
            folded = strip_lap(_fold(word))
            if folded in known:
                codes[i] = known[folded]
            elif is_pseudo_word(folded):
                codes[i] = part
        return codes

    def _recode_joined(
        self, batch: TokenizedBatch, words: list[str], codes: Ids, flags: Flags
    ) -> None:
        """Look words up anew that are parts of addresses or dates."""
        marked, edges = batch.split_by_text(_list_marked(words, flags))
        begins = batch.begins.tolist()
        for text, parts in enumerate(batch.parts):
            gaps = marked[edges[text] : edges[text + 1]]
            if parts and parts[0].endswith("@"):
                gaps.insert(0, -1)
            if gaps:
                mine = slice(*begins[text : text + 2])
                self._recode_text(words[mine], codes[mine], flags[mine].tolist(), gaps)

    def _recode_text(
        self, words: list[str], codes: Ids, flags: list[int], marked: list[int]
    ) -> None:
        """Look up anew what a marked gap of one text touches.

        ``flags[i]`` describes the gap after word i; gap -1 is before the first.
        """
        done = -1
        for gap in marked:
            if gap >= 0 and flags[gap] & _SLASH:
                self._recode_date(words, codes, gap)
            if gap >= done:
                start, done = _run_at(gap, flags, len(words))
                if _is_address(gap, start, done, flags):
                    for i in range(start, min(done + 1, len(words))):
                        codes[i] = self.find_symbol(words[i], in_address=True)

    def _recode_date(self, words: list[str], codes: Ids, gap: int) -> None:
        """Look up the numbers on both sides of a slash."""
        for i in (gap, gap + 1):
            if i < len(words) and words[i].isascii() and words[i].isdigit():
                codes[i] = self.find_symbol(words[i], in_date=True)

    def find_symbol(
        self,
        word: str,
        *,
        starts: bool = False,
        in_address: bool = False,
        in_date: bool = False,
    ) -> int:
        """The symbol of one token, by its own spelling and what stands around it."""
        if _is_number(word):
            return self._shape(number_shape(word, in_date=in_date))
        folded = _fold(word)
        known = self.policy.symbols.get(folded)
        is_part = in_address and not is_written_date(word)
        if is_part and (known is None or folded not in ADDRESS_PARTS):
            return self._shape("part of an address")
        if known is None:
            return self._find_unlisted(word, folded)
        # "iPad" has a capital that no start of a sentence explains.
        starts = starts and _find_case(word) != _SMALL
        return self._find_listed(word, folded, known, starts=starts)

    def _find_unlisted(self, word: str, folded: str) -> int:
        """The symbol of a number, or of a token that no list has, by its shape."""
        if _is_number(word):
            return self._shape(number_shape(word, in_date=False))
        if (unmarked := self._find_unmarked(word, folded)) is not None:
            return unmarked
        folded = with_old_case(folded)
        if folded.isalpha():  # and so without digits, as most words are
            return self._find_unknown(word, folded)
        if any(map(str.isdigit, folded)):
            return self._shape(find_mixed_shape(folded))
        if not any(map(str.isalpha, folded)):
            return self._shape("sign")
        return self._find_unknown(word, folded)

    def _find_unmarked(self, word: str, folded: str) -> int | None:
        """The symbol of the same word without marks; none that shows, but of a list."""
        plain = without_marks(folded)
        known = self.policy.symbols.get(plain)
        if known is None or len(plain) < 2:
            return None
        symbol = self._find_listed(word, plain, known, starts=False)
        may_show = folded in ACCENTED and with_old_case(word).islower()
        return symbol if may_show or symbol >= len(self.policy.ordinary) else None

    def _find_unknown(self, word: str, folded: str) -> int:
        """The symbol of a word that no list has, without digits."""
        if len(folded) == 1:
            return self._shape("letter")
        if with_old_case(word).islower():
            return self._rest[find_form(folded)]
        return self._name

    def _find_listed(self, word: str, folded: str, known: int, *, starts: bool) -> int:
        """The symbol of a word that is known under its folded form."""
        policy, word = self.policy, with_old_case(word)
        if word.islower():
            return known
        is_upper = word.isupper()
        is_name = not (starts or is_upper) and folded in policy.capitals
        if known >= len(policy.ordinary) and not is_name:
            return known
        if is_upper and len(word) > 1:
            if folded in policy.starts:
                known = policy.names.get(folded, known)
            return policy.upper.get(folded, known)
        if starts and folded not in policy.starts:
            return known
        return policy.capitals.get(folded, known)

    def _shape(self, name: str) -> int:
        return self.policy.shape_symbol(PLACES[name])

    def __getstate__(self) -> dict[str, object]:
        # The memos hold words of private texts, which must not travel.
        return {"policy": self.policy}

    def __setstate__(self, state: dict[str, Policy]) -> None:
        self.policy = state["policy"]
        self._make_memos()

    def __repr__(self) -> str:
        return f"PolicyLookup({self.policy!r})"
