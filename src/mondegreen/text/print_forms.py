"""Print forms: how a released word is written, by public statistics alone."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, final

import numpy as np

from mondegreen.text.sentences import sentence_ends
from mondegreen.text.tokenizer import APOSTROPHES

_CASES: Final = Path(__file__).parent / "data" / "cases.txt"
_MEMO: Final = 4096

MENDED: Final = {
    **{
        f"{verb}n": f"{verb}n't"
        for verb in "are could did does had has is should was were would".split()
    },
    **{"don": "don't", "ain": "ain't", "ai": "ain't", "ca": "can", "wo": "will"},
    **{"ll": "will", "ve": "have", "re": "are", "d": "would", "m": "am"},
    **{"s": "is", "t": "not", "nt": "not"},
    **{"cant": "can't", "wont": "won't", "im": "I'm", "shes": "she's"},
    **{"whats": "what's", "theres": "there's", "hows": "how's", "whys": "why's"},
}
"""Pieces of contractions, and contractions without an apostrophe, as people write them.

Vectors of texts that were cut at apostrophes know them as words: ``don`` is near
``didn`` there, and no name."""

# A space that has these two was cut at apostrophes; in others `ai` or `ca` is a name.
_CUT: Final = ("didn", "doesn")

_NO_GENITIVE: Final = frozenset(
    "a after also always am an and are as at be because been before between but by "
    "can could definitely did do does even ever for from had has have having he's her "
    "hers herself him himself his how i if in into is its itself just may me might "
    "mine must my myself never nor not of on ones only or our ours ourselves she's "
    "should so still than the their theirs them themselves then these they this those "
    "through to too under upon us very was we were whose will with without would you "
    "your yours yourself yourselves".split()
)

STARTS, GENITIVE, TOUCHES, SPACE, STOP, DOT = 1, 2, 4, 8, 16, 32
"""Flags of a gap: a sentence starts after it; it begins with ``'s``; words touch; it is
a single space; it is a full stop and spaces; it is a full stop alone."""


@functools.cache
def public_cases() -> Mapping[str, str]:
    """Read how words are written within sentences of public text, where not small.

    >>> public_cases()["london"], public_cases().get("cat")
    ('London', None)
    """
    lines = _CASES.read_text(encoding="utf-8").splitlines()
    pairs = (line.partition("\t") for line in lines)
    return {word: printed for word, _, printed in pairs} | {"i": "I"}


@final
class PrintForms:
    """How each word of a space is printed, inside a sentence and as its first word.

    Made once, of the words of a space and public lists; it has no room for a word of
    an input. ``replaced`` gives the word that is printed for one that never is.
    ``truecase`` writes names, ``I`` and first words with their capitals, and mends
    what is left of contractions; else words are printed as the space has them.

    >>> forms = PrintForms(["didn", "doesn", "i", "london"], truecase=True)
    >>> forms.inside, forms.first
    (("didn't", "doesn't", 'I', 'London'), ("Didn't", "Doesn't", 'I', 'London'))
    """

    def __init__(
        self,
        words: Sequence[str],
        *,
        truecase: bool = False,
        replaced: Mapping[int, int] | None = None,
    ) -> None:
        shown = list(words)
        for word, other in (replaced or {}).items():
            shown[word] = words[other]
        self.is_changed = truecase or bool(replaced)
        self.truecase = truecase
        if truecase:
            known = set(words)
            mended = MENDED if known.issuperset(_CUT) else {}
            forms = {**public_cases(), **mended}
            shown = [forms.get(word, word) for word in shown]
        self.inside = tuple(shown)
        self.first = tuple(map(capitalize, shown)) if truecase else self.inside
        self.refuses_genitive = np.zeros(len(shown), dtype=np.bool_)
        if truecase:
            self.refuses_genitive[:] = list(map(_refuses, shown))

    @property
    def digest(self) -> str:
        """SHA-256, in hex, of what is printed for each word."""
        lines = "\n".join(self.inside)  # what is printed first follows from it
        return hashlib.sha256(lines.encode("utf-8", "surrogatepass")).hexdigest()


def capitalize(word: str) -> str:
    """Write a word as the first of a sentence; a name such as iPhone stays."""
    first = word[:1].upper()
    return first + word[1:] if word.islower() and len(first) == 1 else word


def _refuses(word: str) -> bool:
    """Whether a kept ``'s`` is left out after a printed word."""
    return "'" in word or word.lower() in _NO_GENITIVE


# By what the tokenizer makes two words of, which touch.
_PIECES: Final = {
    form.lower(): piece
    for piece, form in reversed(MENDED.items())
    if form.endswith(("n't", "'m"))
}


def as_released(parts: list[str]) -> list[str]:
    """Read a text that was printed: what was one word of the release is one again.

    >>> as_released(["", "Does", "", "n't", " ", "do", "."])
    ['', 'doesn', ' ', 'do', '.']
    """
    found = parts[:1]
    for word, gap in zip(parts[1::2], parts[2::2], strict=True):
        touches = len(found) > 1 and not found[-1]
        whole = _PIECES.get((found[-2] + word).lower()) if touches else None
        if whole is None:
            found += [word, gap]
        else:
            found[-2:] = [whole, gap]
    return found


class GapFlags(dict[str, int]):
    """Flags of the gaps between words, which are few and come again and again."""

    def __missing__(self, gap: str) -> int:
        has_end = sentence_ends([gap, ""])[0]
        flags = STARTS * has_end + GENITIVE * (gap[1:2] in ("s", "S"))
        flags += TOUCHES * (gap in TOUCHING) + SPACE * (gap == " ")
        flags += STOP * (gap[:2] == ". " and gap.strip(" ") == ".") + DOT * (gap == ".")
        if len(self) >= _MEMO:
            self.clear()
        self[gap] = flags
        return flags

    def __repr__(self) -> str:
        return f"GapFlags(entries={len(self)})"


def without_genitive(gap: str) -> str:
    """Leave out the ``'s`` that a gap begins with."""
    return gap[2:] if gap[1:2] in ("s", "S") else gap


TOUCHING: Final = frozenset({""} | {f"{q}{s}" for q in APOSTROPHES for s in "sS"})
"""Gaps between words that touch, or would touch the ``'s`` of the one before."""


def set_apart(gap: str) -> str:
    """Put a space where the next word would go on as part of the one before.

    >>> [set_apart(gap) for gap in ("", "'s", "-")]
    [' ', "'s ", '-']
    """
    return f"{gap} " if gap[-1:] in ("", "s", "S") else gap
