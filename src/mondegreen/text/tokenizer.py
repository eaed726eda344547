"""The tokenizer: what is a word, in which form, and what is structure in clear."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final, final

import regex

__all__ = [
    "APOSTROPHES",
    "CLITICS",
    "HOSTS",
    "LONGEST",
    "TokenizedBatch",
    "canonical",
    "is_negation",
    "tokenize",
]

APOSTROPHES: Final = "'’＇"
"""Characters that join an ending to a word: ASCII, typographic and full-width."""

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

# Fail closed: this list is what passes in clear, and whatever it does not name is
# content. The symbols are those of ASCII and Latin-1 that are no letters' business.
_STRUCTURE: Final = r"\p{P}\p{Z}\p{Cc}\p{Sc}\p{Sm}\^`¨¯´¸"

# `start` is the first character of a word, `rest` any later one, `letter` one that an
# ending can follow, `other` a run of content that is no letter, such as an emoji.
# The branches, in the order of the pattern:
#   plain   a word that no apostrophe precedes or follows: most words end here;
#   n't     only where the branch `host` has stopped before it;
#   host    the word in front of n't, without its n;
#   word    any other word beside an apostrophe, unless it is the s of 's, which
#           thereby stays in the structure.
# Every run is possessive but `host`, which gives each character back at most once,
# so the time is linear in the text.
_WORD: Final = r"""
    (
        {start}
        (?:
            (?<![{q}].) {rest}*+ (?![{q}])
          | (?<={letter}[nN]) [{q}] [tT] (?!{rest})
          | {rest}* (?= [nN] [{q}] [tT] (?!{rest}) )
          | (?! (?<={letter}[{q}][sS]) (?!{rest}) ) {rest}*+
        )
        {other}
      | (?<={letter}) [{q}] (?: [lL][lL] | [rR][eE] | [vV][eE] | [dDmM] ) (?!{rest})
    )
"""

# In ASCII content is letters and digits alone, and the standard `re` is twice as fast.
_ASCII: Final[Callable[[str], list[str]]] = re.compile(
    _WORD.format(
        start="[A-Za-z0-9]", rest="[A-Za-z0-9]", letter="[A-Za-z0-9]", q="'", other=""
    ),
    re.VERBOSE,
).split

# Format characters (joiners, soft hyphens, direction marks) belong to the word that
# they touch; marks after an emoji, such as variation selectors, belong to the emoji.
_UNICODE: Final[Callable[[str], list[str]]] = regex.compile(
    _WORD.format(
        start=r"\p{Cf}*+[\p{L}\p{M}\p{N}]",
        rest=r"[\p{L}\p{M}\p{N}\p{Cf}]",
        letter=r"[\p{L}\p{M}\p{N}]",
        q=APOSTROPHES,
        other=rf"| [^{_STRUCTURE}\p{{L}}\p{{M}}\p{{N}}][^{_STRUCTURE}\p{{L}}\p{{N}}]*+",
    ),
    regex.VERBOSE,
).split


@final
@dataclass(frozen=True, slots=True, repr=False)
class TokenizedBatch:
    """Texts cut into structure and words, without loss.

    Parameters
    ----------
    parts : list
        Per text ``[structure, word, structure, ..., word, structure]``, whose
        concatenation is the text; ``None`` where the text is ``None``.

    Examples
    --------
    >>> tokenize(["I don't!"]).parts
    [['', 'I', ' ', 'do', '', "n't", '!']]
    """

    parts: list[list[str] | None]

    def counts(self) -> list[int]:
        """Return the number of words of each text, 0 for ``None``."""
        return [len(parts) // 2 if parts else 0 for parts in self.parts]

    def words(self) -> list[str]:
        """Return the words of all texts in order; private, never to be shown."""
        return list(chain.from_iterable(p[1::2] for p in self.parts if p))

    def __repr__(self) -> str:
        return f"TokenizedBatch(texts={len(self.parts)}, words={sum(self.counts())})"


def tokenize(texts: Sequence[str | None]) -> TokenizedBatch:
    r"""Cut texts into words, which are private, and structure, which is not.

    Structure is white space, punctuation, separators, control characters, currency
    and mathematical signs, the signs ``^ ` ¨ ¯ ´ ¸``, and the ending ``'s`` of a word.
    Everything else is content. A word is a run of letters, marks and digits, or a run
    of any other content (emoji, private use, unassigned, lone surrogates), or one of
    the endings ``n't 'll 're 've 'd 'm`` behind a word.

    Parameters
    ----------
    texts : sequence of str or None
        Any strings; lone surrogates and NUL included.

    Returns
    -------
    TokenizedBatch
        ``"".join(parts)`` is the text, for every text.

    Examples
    --------
    >>> tokenize(["Ann's cat \U0001f431"]).words()
    ['Ann', 'cat', '🐱']
    """
    return TokenizedBatch(
        [
            None if text is None else (_ASCII if text.isascii() else _UNICODE)(text)
            for text in texts
        ]
    )


def canonical(word: str, following: str = "") -> str:
    """Return the form under which a word is looked up and compared.

    A public function of the word: compatibility forms are unified (NFKC), format
    characters removed, letters made small, marks composed (NFC); endings and the
    irregular words in front of ``n't`` are spelled out. Words of more than 256
    characters are left as they are.

    Parameters
    ----------
    word : str
        A word of :func:`tokenize`.
    following : str
        The next word of the same text, which matters only where it is ``n't``.

    Examples
    --------
    >>> canonical("ＯＳＬＯ"), canonical("N’T"), canonical("ca"), canonical("ca", "n't")
    ('oslo', 'not', 'ca', 'can')
    """
    if len(word) > LONGEST:
        return word
    if not word.isascii():
        if any(sign in word for sign in APOSTROPHES):
            word = word.translate(_STRAIGHTEN)
        word = unicodedata.normalize("NFKC", word)
        word = "".join(c for c in word if unicodedata.category(c) != "Cf")
        word = unicodedata.normalize("NFC", word.lower())
    else:
        word = word.lower()
    if is_negation(following):
        word = HOSTS.get(word, word)
    return CLITICS.get(word, word)


def is_negation(word: str) -> bool:
    """Whether a word is the ending n't, in any case and with any apostrophe."""
    return len(word) == 3 and word.translate(_STRAIGHTEN).lower() == "n't"
