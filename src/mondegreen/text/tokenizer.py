"""The tokenizer: what is a word, in which form, and what is public structure."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, chain, pairwise
from typing import Final, final

import numpy as np
import regex
from numpy.typing import NDArray

from mondegreen.text.structure import CURRENCY, GAP, LISTED, cut_gaps
from mondegreen.text.unicode import fold, has_later, with_stand_ins

APOSTROPHES: Final = "'’"
"""Characters that join an ending to a word: ASCII and typographic."""

CLITICS: Final = {
    "n't": "not",
    "'ll": "will",
    "'re": "are",
    "'ve": "have",
    "'d": "would",
    "'m": "am",
}
"""The word that each ending is looked up as."""

HOSTS: Final = {"ca": "can", "wo": "will", "sha": "shall", "ai": "is"}
"""Words that are looked up as another one in front of ``n't``, and only there."""

# Normalising takes time quadratic in a run of combining marks, so that one hostile
# word could hold up a server. No word of a language comes near this many characters.
LONGEST: Final = 256
"""Characters of the longest word that is normalised."""

# Only words with an apostrophe inside are endings; the tokenizer makes no others.
_STRAIGHTEN: Final = str.maketrans(dict.fromkeys(APOSTROPHES, "'"))

# Fail closed: what the list does not name is content.
_LISTED: Final = re.escape(LISTED)
_SKIPPED: Final = re.escape(
    "".join(sign for sign in LISTED if sign not in APOSTROPHES + CURRENCY)
)

# `start` says what a word has read when its first letter is read, `rest` is any later
# character, `letter` one that an ending can follow, `digit` one that a currency sign
# can stand at, `other` a run of content that is no letter, such as an emoji or a
# control character.
# One set of first characters lets most places be passed over at once; then the
# branches look back at what was read, in the order of the pattern:
#   plain   a word that no apostrophe precedes or follows: most words end here;
#   n't     only where the branch `host` has stopped before it;
#   host    the word in front of n't, without its n;
#   word    any other word, unless it is the s of 's, which thereby stays in the
#           structure;
#   ending  the rest of an ending, behind its apostrophe;
#   sign    a currency sign that is neither at a digit nor alone;
#   other.
# Every run is possessive but `host`, which gives each character back at most once,
# so the time is linear in the text.
_WORD: Final = r"""
    (
        [^{skipped}]
        (?:
            (?<=[^{q}]{letter}) {rest}*+ (?![{q}])
          | {start}
            (?:
                (?<={letter}[nN]) [{q}] [tT] (?!{rest})
              | {rest}* (?= [nN] [{q}] [tT] (?!{rest}) )
              | (?! (?<={letter}[{q}][sS]) (?!{rest}) ) {rest}*+
            )
          | (?<={letter}[{q}])
            (?: [lL][lL] | [rR][eE] | [vV][eE] | [dDmM] ) (?!{rest})
          | (?<=[{currency}])
            (?:
                [{currency}]++
              | (?<!{digit}.) (?!{digit})
                (?: (?<=[^{listed}].) | (?=[^{listed}]) )
            )
          | {other}
        )
    )
"""

_PUBLIC: Final = {"listed": _LISTED, "skipped": _SKIPPED, "currency": CURRENCY}

# In ASCII the standard `re` is twice as fast.
_ASCII: Final[Callable[[str], list[str]]] = re.compile(
    _WORD.format(
        start="(?<=[A-Za-z0-9])",
        rest="[A-Za-z0-9]",
        letter="[A-Za-z0-9]",
        digit="[0-9]",
        q="'",
        other=rf"(?<=[^{_LISTED}A-Za-z0-9]) [^{_LISTED}A-Za-z0-9]*+",
        **_PUBLIC,
    ),
    re.VERBOSE,
).split

# Format characters (joiners, soft hyphens, direction marks) belong to the word that
# they touch; marks after an emoji, such as variation selectors, belong to the emoji.
_LETTER: Final = r"[\p{L}\p{M}\p{N}]"
_UNICODE: Final[Callable[[str], list[str]]] = regex.compile(
    _WORD.format(
        start=rf"(?: (?<={_LETTER}) | (?<=\p{{Cf}}) \p{{Cf}}*+ {_LETTER} )",
        rest=r"[\p{L}\p{M}\p{N}\p{Cf}]",
        letter=_LETTER,
        digit=r"\p{N}",
        q=APOSTROPHES,
        other=rf"(?<=[^{_LISTED}\p{{L}}\p{{M}}\p{{N}}]) [^{_LISTED}\p{{L}}\p{{N}}]*+",
        **_PUBLIC,
    ),
    regex.VERBOSE,
).split

# Shows where a text in ASCII may hold a gap that is too long, at little cost.
_BLANKED: Final = bytes(ord(" ") if chr(i) in LISTED else i | 64 for i in range(256))
_LONG: Final = b" " * GAP


class _Numbers(dict[str, int]):
    """Numbers strings in the order in which they are first asked for."""

    def __missing__(self, text: str) -> int:
        self[text] = number = len(self)
        return number


@final
@dataclass(frozen=True, repr=False)
class TokenizedBatch:
    """Texts cut into structure and words, without loss.

    Per text ``[structure, word, structure, ..., word, structure]``, whose
    concatenation is the text; ``None`` where the text is ``None``.

    >>> tokenize(["I don't!"]).parts
    [['', 'I', ' ', 'do', '', "n't", '!']]
    """

    parts: list[list[str] | None]

    def counts(self) -> list[int]:
        """Count the words of each text, 0 for ``None``."""
        return [len(parts) // 2 if parts else 0 for parts in self.parts]

    def words(self) -> list[str]:
        """List the words of all texts in order; private, never to be shown."""
        return list(chain.from_iterable(p[1::2] for p in self.parts if p))

    @cached_property
    def gaps(self) -> tuple[list[str], NDArray[np.int32]]:
        """The different gaps behind words, and which of them is behind each word.

        Shape (words,), flat over all texts. Gaps are few: what is computed of them is
        computed once for each, not once for each word.

        >>> tokenize(["a b, c."]).gaps
        ([' ', ', ', '.'], array([0, 1, 2], dtype=int32))
        """
        numbers = _Numbers()
        behind = chain.from_iterable(p[2::2] for p in self.parts if p)
        count = int(self.begins[-1])
        places = np.fromiter(map(numbers.__getitem__, behind), np.int32, count)
        return list(numbers), places

    def flag_gaps(self, find_flags: Callable[[str], int]) -> NDArray[np.int16]:
        """Return the flags of the gap behind each word, shape (words,).

        >>> tokenize(["a b, c."]).flag_gaps(len).tolist()
        [1, 2, 1]
        """
        gaps, places = self.gaps
        flags = np.array(list(map(find_flags, gaps)), dtype=np.int16)
        return flags.take(places)

    @cached_property
    def begins(self) -> NDArray[np.int64]:
        """How many words stand before each text, and in all; shape (texts + 1,).

        >>> tokenize(["a b", None, "c d e"]).begins
        array([0, 2, 2, 5])
        """
        return np.cumsum([0, *self.counts()], dtype=np.int64)

    def split_by_text(self, places: NDArray[np.intp]) -> tuple[list[int], list[int]]:
        """Number words within their texts; also return where each text begins.

        ``places``, shape (n,), are numbers of words over all texts, ascending. Those of
        text k are ``edges[k]..edges[k + 1] - 1`` of what is returned first. A list for
        each text would start the collector of garbage, which looks at every word.

        >>> batch = tokenize(["a b", None, "c d e"])
        >>> batch.split_by_text(np.array([1, 2, 4]))
        ([1, 0, 2], [0, 1, 1, 3])
        """
        edges = np.searchsorted(places, self.begins)
        within = places - np.repeat(self.begins[:-1], np.diff(edges))
        return within.tolist(), edges.tolist()

    def __repr__(self) -> str:
        return f"TokenizedBatch(texts={len(self.parts)}, words={sum(self.counts())})"


def tokenize(texts: Sequence[str | None]) -> TokenizedBatch:
    r"""Cut texts into words, which are private, and structure, which is not.

    Structure is made of the characters of a short public list
    (:mod:`mondegreen.text.structure`) and the ending ``'s`` of a word. Everything else
    is content. A word is a run of letters, marks and digits, or a run of any other
    content (emoji, symbols, control characters, lone surrogates), or one of the
    endings ``n't 'll 're 've 'd 'm`` behind a word, or a currency sign that is
    neither at a digit nor alone, or what is too long for the gap between two words.
    Any string is cut, lone surrogates and NUL included, and its parts join to it.

    >>> tokenize(["Ann's cat \U0001f431"]).words()
    ['Ann', 'cat', '🐱']
    """
    return TokenizedBatch([None if text is None else _cut(text) for text in texts])


def _cut(text: str) -> list[str]:
    """Cut a text into structure and words in turn."""
    if text.isascii():
        parts = _ASCII(text)
        has_long = _LONG in text.encode().translate(_BLANKED) or (
            "'s'" in text or "'S'" in text  # endings in a row, whose letters hide it
        )
    else:
        parts = _cut_unicode(text)
        has_long = max(map(len, parts[::2])) > GAP
    return cut_gaps(parts) if has_long else parts


def _cut_unicode(text: str) -> list[str]:
    """Cut a text by the kinds of its characters, whatever ``regex`` knows of them."""
    if not has_later(text):
        return _UNICODE(text)
    ends = list(accumulate(map(len, _UNICODE(with_stand_ins(text))), initial=0))
    return [text[start:end] for start, end in pairwise(ends)]


def canonical(word: str, following: str = "") -> str:
    """Write a word in the form under which it is looked up and compared.

    A public function of the word: compatibility forms are unified (NFKC), format
    characters removed, letters made small, marks composed (NFC); endings and the
    irregular words in front of ``n't`` are spelled out. Words of more than 256
    characters are left as they are. The next word of the text matters only where it is
    ``n't``.

    >>> canonical("ＯＳＬＯ"), canonical("N’T"), canonical("ca"), canonical("ca", "n't")
    ('oslo', 'not', 'ca', 'can')
    """
    if len(word) > LONGEST:
        return word
    if not word.isascii():
        if any(sign in word for sign in APOSTROPHES):
            word = word.translate(_STRAIGHTEN)
        word = fold(word)
    else:
        word = word.lower()
    if is_negation(following):
        word = HOSTS.get(word, word)
    return CLITICS.get(word, word)


def is_negation(word: str) -> bool:
    """Whether a word is the ending n't, in any case and with any apostrophe."""
    return len(word) == 3 and word.translate(_STRAIGHTEN).lower() == "n't"
