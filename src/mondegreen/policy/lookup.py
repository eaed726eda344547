"""From tokens to symbols of a policy: own spelling, and structure in clear, alone."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from itertools import chain
from typing import Any, ClassVar, Final, final

import numpy as np
from numpy.typing import NDArray

from mondegreen.arrays import Ids, Weights
from mondegreen.policy.policy import ADDRESS_PARTS, Policy, form_of
from mondegreen.policy.shapes import PLACES, mixed_shape, number_shape
from mondegreen.settings import Structure
from mondegreen.text.lookup import IN_CLEAR
from mondegreen.text.sentences import sentence_ends
from mondegreen.text.tokenizer import LONGEST, TokenizedBatch, canonical

Flags = NDArray[np.int8]
Marks = NDArray[np.bool_]

_ENTRIES: Final = 1 << 17
_JOINERS: Final = frozenset("@._-/:~+%=&?#\\'’")
_OPENERS: Final = frozenset('":;([{“”«‹*•|>–—')
"""A quotation, a list or a title may begin behind one of these."""

_STARTS, _JOINS, _MARKS, _DOT, _SLASH, _ENDS_LINE = 1, 2, 4, 8, 16, 32

_TITLE: Final = 0.6
_TITLE_WORDS: Final = 4
"""A line is in title case if this share of so many words or more has a capital."""

_SMALL, _CAPITAL = 1, 2  # how a word is written, beside its symbol in a memo


class _Memo(dict[str, int]):
    """What a function gives for strings seen before, at the speed of C; bounded."""

    __slots__ = ("_function",)

    def __init__(self, function: Callable[[str], int]) -> None:
        self._function = function

    def __missing__(self, text: str) -> int:
        found = self._function(text)
        if len(text) <= LONGEST:
            if len(self) >= _ENTRIES:
                self.clear()
            self[text] = found
        return found

    def __repr__(self) -> str:
        return f"_Memo(entries={len(self)})"


def _fold(word: str) -> str:
    """Fold a word; an ending such as n't is a word of its own here."""
    folded = canonical(word) if "'" not in word and "’" not in word else word
    return folded.lower().replace("’", "'")


def flags_of(gap: str) -> int:
    """Tell of the structure between two words what decides the symbols beside it."""
    is_start = sentence_ends([gap, ""])[0] or not _OPENERS.isdisjoint(gap)
    found = _STARTS * is_start | _ENDS_LINE * ("\n" in gap or "\r" in gap)
    if gap and _JOINERS.issuperset(gap):
        found |= _JOINS | _DOT * (gap == ".") | _SLASH * (gap == "/")
        found |= _MARKS * ("@" in gap or "_" in gap or "//" in gap or "\\" in gap)
    elif gap.endswith("@"):
        found |= _MARKS
    return found


def _case_of(word: str) -> int:
    """Tell whether a word of several letters is small, or has a capital first."""
    if len(word) < 2 or not word[0].isalpha():
        return 0
    return _CAPITAL if word[0].isupper() else _SMALL


def _in_title_case(cases: Ids, flags: Flags, begins: Weights) -> Marks:
    """Tell which words are in a line whose words mostly have capitals."""
    is_first = np.zeros(len(cases) + 1, dtype=np.bool_)
    is_first[1:] = (flags & _ENDS_LINE) > 0
    is_first[begins] = True
    firsts = np.flatnonzero(is_first[:-1])
    if not len(firsts):
        return np.zeros(0, dtype=np.bool_)
    capitals = np.add.reduceat(cases == _CAPITAL, firsts, dtype=np.int64)
    written = np.add.reduceat(cases > 0, firsts, dtype=np.int64)
    is_title = (capitals >= _TITLE * written) & (written >= _TITLE_WORDS)
    lengths = np.diff(np.append(firsts, len(cases)))
    return np.asarray(np.repeat(is_title, lengths))


@final
class PolicyLookup:
    """Turns the words of texts into symbols of a policy.

    The symbol of a word is a function of its own spelling and of the structure around
    it, which passes in clear: whether it begins a sentence, whether it is a part of an
    address (a run of words joined by signs, with ``@``, ``_``, ``//`` or two full
    stops), whether a slash touches it, and whether most words of its line have
    capitals, which is disclosed too. Never of any one other word.

    >>> from mondegreen.policy.policy import load_policy
    >>> from mondegreen.text.tokenizer import tokenize
    >>> policy = load_policy("sensitive")
    >>> symbols = PolicyLookup(policy).codes(tokenize(["I have diabetes."]))
    >>> [policy.describe(symbol)[0] for symbol in symbols.tolist()]
    ['ordinary', 'ordinary', 'health']
    """

    code_type: ClassVar[Any] = np.int64
    conditions: ClassVar[tuple[str, ...]] = ()
    keep_digest: ClassVar[str] = hashlib.sha256(b"").hexdigest()  # there is no list

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self._make_memos()

    def finish(self, drawn: Ids, rng: np.random.Generator) -> Weights:
        """Draw the output that is printed for each released symbol."""
        return self.policy.draw_members(drawn, rng)

    def disclosed_in(self, structure: Structure) -> tuple[str, ...]:
        """What passes unchanged besides ordinary words, as ``name: explanation``."""
        lines = (
            "lines in title case: which lines have capitals on most of their words",
        )
        return IN_CLEAR[structure] + lines

    def _make_memos(self) -> None:
        self._flags = _Memo(flags_of)
        self._inside = _Memo(lambda word: 4 * self.symbol_of(word) + _case_of(word))
        self._start = _Memo(lambda word: self.symbol_of(word, starts=True))

    def codes(self, batch: TokenizedBatch) -> Ids:
        """Look up all words of all texts, flat and in order."""
        words = batch.words()
        count = len(words)
        found = np.fromiter(map(self._inside.__getitem__, words), np.int32, count)
        codes, cases = found >> 2, found & 3
        behind = chain.from_iterable(p[2::2] for p in batch.parts if p)
        flags = np.fromiter(map(self._flags.__getitem__, behind), np.int8, count)
        begins = np.cumsum([0, *batch.counts()])
        is_start = np.zeros(count + 1, dtype=np.bool_)
        is_start[1:] = (flags & _STARTS) > 0
        is_start[begins] = True
        is_start[:-1] |= _in_title_case(cases, flags, begins) & (cases == _CAPITAL)
        start = self._start
        for i in np.flatnonzero(is_start[:count]).tolist():
            codes[i] = start[words[i]]
        self._recode_joined(batch, codes, flags)
        return codes

    def printed_codes(self, batch: TokenizedBatch) -> Ids:
        """Look up the symbols of words that were printed by this policy.

        What is printed of a symbol is printed of no other, however it is spelled: the
        capital of a first word, or of a name, tells nothing.
        """
        codes = self.codes(batch)
        known = self.policy.symbols
        for i, word in enumerate(batch.words()):
            codes[i] = known.get(_fold(word), codes[i])
        return codes

    def _recode_joined(self, batch: TokenizedBatch, codes: Ids, flags: Flags) -> None:
        """Look words up anew that are parts of addresses or dates."""
        first = 0
        interesting = (flags & (_MARKS | _DOT | _SLASH)) > 0
        for parts, count in zip(batch.parts, batch.counts(), strict=True):
            mine = slice(first, first + count)
            first += count
            if parts and (interesting[mine].any() or parts[0].endswith("@")):
                before = self._flags[parts[0]] & _MARKS
                codes[mine] = self._codes_joined(
                    parts[1::2], codes[mine], flags[mine].tolist(), before
                )

    def _codes_joined(
        self, words: list[str], codes: Ids, flags: list[int], before: int
    ) -> Ids:
        """Walk over the runs of joined words of one text."""
        found = codes.copy()
        start, marks, dots = 0, before, 0
        for i, flag in enumerate(flags):
            touches = flag & _SLASH or (i and flags[i - 1] & _SLASH)
            if touches and words[i].isascii() and words[i].isdigit():
                found[i] = self.symbol_of(words[i], in_date=True)
            if flag & _JOINS:
                marks |= flag & _MARKS
                dots += flag & _DOT > 0
                continue
            if marks or dots > 1:
                for k in range(start, i + 1):
                    found[k] = self.symbol_of(words[k], in_address=True)
            # A gap such as " @" marks the word behind it.
            start, marks, dots = i + 1, flag & _MARKS, 0
        return found

    def symbol_of(
        self,
        word: str,
        *,
        starts: bool = False,
        in_address: bool = False,
        in_date: bool = False,
    ) -> int:
        """The symbol of one token, by its own spelling and what stands around it."""
        policy = self.policy
        if word.isascii() and word.isdigit():
            return self._shape(number_shape(word, in_date=in_date))
        folded = _fold(word)
        known = policy.symbols.get(folded)
        if in_address and not (known is not None and folded in ADDRESS_PARTS):
            return self._shape("part of an address")
        if not any(map(str.isalpha, folded)):
            has_digit = any(map(str.isdigit, folded))
            return self._shape("code" if has_digit else "sign")
        if known is None and any(map(str.isdigit, folded)):
            return self._shape(mixed_shape(folded))
        if len(folded) == 1 and known is None:
            return self._shape("letter")
        if word.islower() or (known is not None and known >= len(policy.ordinary)):
            return (
                policy.find_group("rest", form_of(folded)) if known is None else known
            )
        return self._capital(word, folded, known, starts=starts)

    def _capital(
        self, word: str, folded: str, known: int | None, *, starts: bool
    ) -> int:
        """The symbol of a word with capitals that is ordinary or unknown."""
        policy = self.policy
        if known is None:
            return policy.find_group("other_name", "s")
        if len(word) > 1 and word.isupper():
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
