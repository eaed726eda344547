"""From words to codes: unknown words, and the public keep-list."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import ClassVar, Final, final, get_args

import numpy as np

from mondegreen.arrays import Ids
from mondegreen.errors import (
    ConfigurationError,
    InvalidParameterError,
    OutOfVocabularyError,
    SourceError,
)
from mondegreen.files import read_lines
from mondegreen.settings import Structure, Unknown
from mondegreen.space.space import Space
from mondegreen.text.structure import GAP, GAP_BITS, LISTED, SAME
from mondegreen.text.tokenizer import (
    APOSTROPHES,
    TokenizedBatch,
    canonical,
    is_negation,
    tokenize,
)

KEEP: Final = -1
"""Code of a word of the public keep-list."""

MASK: Final = -2
"""Code of an unknown word that is printed as ``[unk]``."""

DROP: Final = -3
"""Code of an unknown word that is removed."""

IN_CLEAR: Final[Mapping[Structure, tuple[str, ...]]] = {
    "keep": (
        "number and positions of words: each word is replaced at its position",
        f"white space and punctuation: {len(LISTED)} characters of a public list "
        "(white space, line ends, punctuation, and currency signs alone or beside a "
        f"digit), at most {GAP} between two words or at an end, or {GAP_BITS:.1f} "
        f"bits. Up to {SAME} equal characters of white space count as one. Of a "
        "longer run, the first two and the last two characters are printed",
        "the ending 's: unchanged, within these bits",
    ),
    "plain": ("number of words: in each text, and which texts are null",),
}

_MEMO_ENTRIES: Final = 1 << 18

# To look up a longer word takes so long, outside of ASCII, that the time of an answer
# would show whether it was met before. A text of megabytes must not stay in memory.
_MEMO_LONGEST: Final = 32


class Memo(dict[str, int]):
    """What a function gives for words seen before, at the speed of C under ``map``.

    It is bounded, and holds no long word: see the threat model on time.
    """

    __slots__ = ("_find_code",)

    def __init__(self, code_of: Callable[[str], int]) -> None:
        self._find_code = code_of

    def __missing__(self, word: str) -> int:
        code = self._find_code(word)
        if len(word) <= _MEMO_LONGEST:
            if len(self) >= _MEMO_ENTRIES:
                self.clear()
            self[word] = code
        return code

    def __repr__(self) -> str:
        return f"Memo(entries={len(self)})"


@final
class Lookup:
    """Turns the words of texts into integer codes, by a public function of each word.

    Codes ``0..V-1`` are words of the space; ``V`` is the unknown word, which goes
    through the mechanism like any other; :data:`KEEP`, :data:`MASK` and :data:`DROP`
    are negative and do not go through it.

    A word is looked up as it is written, then in its :func:`canonical` form; one that
    the space has under neither is unknown. Unknown words get code ``V`` (``word``), are
    printed as ``[unk]`` (``mask``), removed (``drop``) or refused (``fail``). Only
    ``word`` keeps secret which words are unknown.

    ``keep`` is a *public* list of words that are released whether the vocabulary has
    them or not. It is compared in canonical form, and printed in the spelling of the
    list, which therefore may have one spelling of a word only.

    The codes of words seen before are held in memory, bounded, and left behind by
    pickling.

    >>> space = Space.from_arrays("line", ["cold", "not", "warm"], [[0], [1], [3]])
    >>> batch = tokenize(["Isn't Oslo COLD?"])
    >>> Lookup(space, keep={"oslo"}).codes(batch).tolist()
    [3, 1, -1, 0]
    """

    def __init__(
        self, space: Space, unknown: Unknown = "word", keep: Iterable[str] = frozenset()
    ) -> None:
        if unknown not in get_args(Unknown):
            allowed = "one of " + ", ".join(get_args(Unknown))
            raise InvalidParameterError("unknown", unknown, allowed)
        self.unknown: Unknown = unknown
        self.vocab_size = space.vocab_size
        self.keep = _spellings(keep)
        self._index = space.index
        self._absent = {"mask": MASK, "drop": DROP}.get(unknown, space.vocab_size)
        self._memo = Memo(self._find_code)

    def cut(self, texts: Sequence[str | None]) -> TokenizedBatch:
        """Cut texts into words and structure: the tokenizer's."""
        return tokenize(texts)

    def codes(self, batch: TokenizedBatch) -> Ids:
        """Look up all words of all texts, flat and in order."""
        words = batch.words()
        codes = np.fromiter(
            map(self._memo.__getitem__, words), dtype=np.int32, count=len(words)
        )
        # n't has the code of `not`, and so narrows the search to one word in a hundred.
        for i in np.flatnonzero(codes[1:] == self._memo["n't"]).tolist():
            if is_negation(words[i + 1]):
                codes[i] = self._find_code(words[i], words[i + 1])
        if self.unknown == "fail" and (codes == self.vocab_size).any():
            # Neither which word nor where nor how many: functions of private words.
            raise OutOfVocabularyError(
                "a record of the batch has a word outside the vocabulary. Use "
                'unknown="word" to privatize such words, or "mask" or "drop" to '
                "remove them"
            )
        return codes

    def find_code(self, text: str) -> tuple[int, str]:
        """Return the code of the one PUBLIC word of a text, and its canonical form."""
        batch = tokenize([text])
        found = batch.words()
        if len(found) != 1:
            raise ConfigurationError(
                f"WORD reads as {len(found)} words; give one word, such as: doctor"
            )
        return int(self.codes(batch)[0]), canonical(found[0])

    @property
    def disclosed(self) -> tuple[str, ...]:
        """What passes unchanged under this policy, each as ``name: explanation``."""
        return self.list_disclosed("keep")

    def list_disclosed(self, structure: Structure) -> tuple[str, ...]:
        """What passes unchanged where this structure is printed."""
        disclosed = list(IN_CLEAR[structure])
        unknown = {
            "mask": "which words are unknown: outside the vocabulary, each printed as "
            "[unk]",
            "drop": "how many words are unknown: outside the vocabulary, and traces of "
            "where they stood; each is removed",
            "fail": "that no word is unknown: a text that has one is not released",
        }
        if says := unknown.get(self.unknown):
            disclosed.append(says)
        if self.keep:
            entries = "1 entry" if len(self.keep) == 1 else f"{len(self.keep)} entries"
            disclosed.append(
                f"kept words: those of a public list of {entries} (sha256 "
                f"{self.keep_digest[:16]}), where they stand, in the spelling of the "
                "list"
            )
        return tuple(disclosed)

    assumptions: ClassVar[tuple[str, ...]] = ()

    @property
    def conditions(self) -> tuple[str, ...]:
        """What two words must have in common for this policy to hide which it was."""
        found = ["are not on the public list of kept words"] if self.keep else []
        if self.unknown in ("mask", "drop"):
            found.append("are both in the vocabulary or both outside it")
        if self.unknown == "fail":
            found.append("are in the vocabulary")
        return tuple(found)

    @property
    def keep_digest(self) -> str:
        """SHA-256, in hex, of the sorted spellings of the keep-list."""
        lines = "\n".join(sorted(self.keep.values()))
        return hashlib.sha256(lines.encode("utf-8", "surrogatepass")).hexdigest()

    def _find_code(self, word: str, following: str = "") -> int:
        plain = canonical(word, following)
        if plain in self.keep:
            return KEEP
        # A space may tell Apple from apple, but an ending is what the table says.
        if not (following or any(sign in word for sign in APOSTROPHES)):
            return self._index.get(word, self._index.get(plain, self._absent))
        return self._index.get(plain, self._absent)

    def __repr__(self) -> str:
        return (
            f"Lookup(vocab_size={self.vocab_size}, unknown={self.unknown!r}, "
            f"keep=<{len(self.keep)} entries>)"
        )

    def __getstate__(self) -> dict[str, object]:
        # The memo holds words of private texts, which must not travel.
        return {k: v for k, v in self.__dict__.items() if k != "_memo"}

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)
        self._memo = Memo(self._find_code)


def _spellings(entries: Iterable[str]) -> dict[str, str]:
    """Index the spelling of each entry by its canonical form."""
    spellings: dict[str, str] = {}
    for entry in entries:
        if tokenize([entry]).words() != [entry]:
            raise InvalidParameterError("keep", entry, "a collection of single words")
        if spellings.setdefault(canonical(entry), entry) != entry:
            # Which of them is to be printed? The order of a set cannot tell.
            raise InvalidParameterError("keep", entry, "one spelling of each word")
    return spellings


def read_keep_list(path: str | Path) -> frozenset[str]:
    """Read a public list of words: UTF-8, one word per line, ``#`` starts a comment.

    Entries come as they are written: a canonical form need not be one word (that of
    ``½`` is ``1⁄2``), and :class:`Lookup` makes it itself. Errors name the line.
    """
    spellings: dict[str, str] = {}
    for row, line in enumerate(read_lines(path), start=1):
        entry = line.partition("#")[0].strip()
        if not entry:
            continue
        words = tokenize([entry]).words()
        if words != [entry]:
            problem = f"the entry reads as {len(words)} words"
            if len(words) == 1:
                problem = "the entry holds punctuation or other signs beside its word"
            hint = "write one word per line, without spaces and punctuation"
            raise SourceError(path, problem, row=row, hint=hint)
        if spellings.setdefault(canonical(entry), entry) != entry:
            problem = "the entry is another spelling of a word further up"
            hint = "keep one: it is what will be printed, in whatever case it is met"
            raise SourceError(path, problem, row=row, hint=hint)
    return frozenset(spellings.values())
