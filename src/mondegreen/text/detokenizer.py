"""The detokenizer: output words put back into the structure of the input."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Final, Literal, TypeAlias, final, get_args

import numpy as np
from numpy.typing import NDArray

from mondegreen.arrays import Codes
from mondegreen.errors import ConfigurationError, InvalidParameterError
from mondegreen.settings import Case, Structure
from mondegreen.text.lookup import DROP, KEEP, MASK
from mondegreen.text.plain import SentenceEnds, last_alone, plain_parts
from mondegreen.text.print_forms import (
    GENITIVE,
    STARTS,
    TOUCHING,
    GapFlags,
    PrintForms,
    set_apart,
    without_genitive,
)
from mondegreen.text.tokenizer import TokenizedBatch, canonical

Status: TypeAlias = Literal["replaced", "kept", "masked", "dropped"]

_STATUS: Final[dict[int, Status]] = {KEEP: "kept", MASK: "masked", DROP: "dropped"}
_PRINTED: Final = {KEEP: "", MASK: "[unk]", DROP: ""}


@final
@dataclass(frozen=True, slots=True)
class Span:
    """Where a word of the input ended up in the output text.

    Parameters
    ----------
    start, end : int
        Characters ``start..end-1`` of the output; equal where the word was dropped.
    status : {"replaced", "kept", "masked", "dropped"}
        An unknown word that went through the mechanism is ``replaced`` like any other.
    original : str or None
        The word of the input, only where it was asked for. Private.
    """

    start: int
    end: int
    status: Status
    original: str | None = field(default=None, repr=False)


def copy_shape(model: str, word: str) -> str:
    """Give a word the case of another: as it is, Title or UPPER.

    No more of the model than which of the three shows in the result.

    >>> [copy_shape(model, "warm") for model in ("cold", "Cold", "COLD", "I", "7")]
    ['warm', 'Warm', 'WARM', 'Warm', 'warm']
    """
    if model.islower():
        return word
    if len(model) > 1 and model.isupper():
        return word.upper()
    if model[0].isupper():
        return word[:1].upper() + word[1:]
    return word


@final
class Detokenizer:
    """Prints output codes in place of the words of the input.

    ``lower`` prints words as the space, or the keep-list, has them; ``truecase`` as
    :class:`PrintForms` has them, which costs no privacy; ``restore`` copies the case of
    the input word (lower, Title or UPPER) onto them. ``kept`` has the spelling of each
    word of the keep-list by its canonical form, and ``replaced`` the word that is
    printed for one that never is. Where two words touched in the input, such as the two
    of ``don't``, or only an ``'s`` stood between them, a space is put there. A dropped
    word takes one neighbouring space with it.

    The structure of the input is kept, or else ``plain``: single spaces, and full stops
    where ``ends``, a function of the released words, and the end of a text put them.

    >>> from mondegreen.text.tokenizer import tokenize
    >>> batch = tokenize(["I don't."])
    >>> Detokenizer(["make", "never", "we"]).join(batch, np.array([2, 0, 1]))
    ['we make never.']
    """

    def __init__(
        self,
        words: Sequence[str],
        case: Case = "lower",
        kept: Mapping[str, str] | None = None,
        *,
        replaced: Mapping[int, int] | None = None,
        structure: Structure = "keep",
        ends: SentenceEnds = last_alone,
    ) -> None:
        if case not in get_args(Case):
            raise InvalidParameterError("case", case, "lower or restore or truecase")
        if structure not in get_args(Structure):
            raise InvalidParameterError("structure", structure, "keep or plain")
        if case == "restore" and structure == "plain":
            raise ConfigurationError(
                'case="restore" (--case restore) discloses the case of the input, '
                'which structure="plain" hides. Choose another case'
            )
        self.case: Case = case
        self.structure: Structure = structure
        self.vocab_size = len(words)
        self._kept = kept or {}
        self._ends = ends
        self._flags = GapFlags()
        self.forms = PrintForms(words, truecase=case == "truecase", replaced=replaced)
        # A list ends with what the negative codes print, so that one indexing serves
        # words and sentinels alike; kept words are filled in afterwards.
        first = self.forms.first if case == "truecase" else ()
        sentinels = (_PRINTED[code] for code in sorted(_PRINTED))
        self._printed = [*self.forms.inside, *first, *sentinels]
        # What passes in clear through printing, each as ``name: explanation``; and what
        # two words must have in common for printing to hide which it was.
        self.disclosed: tuple[str, ...] = ()
        self.conditions: tuple[str, ...] = ()
        if case == "restore":
            self.disclosed = ("case: of each word, as it is, Title or UPPER",)
            same = "are written in the same case (lower, Title or UPPER)"
            self.conditions = (same,)

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What must hold of the way in which released words are printed."""
        if not self.forms.is_changed:
            return ()
        return (
            "print forms: released words are printed by a public table (sha256 "
            f"{self.forms.digest[:16]}), made without any text that is privatized",
        )

    def join(self, batch: TokenizedBatch, codes: Codes) -> list[str | None]:
        """Print texts, from one code per word, flat over all of them.

        A code is an id below ``V``, or one of the negative ones; that of kept words
        may stand for a word of the keep-list only.
        """
        counts = batch.counts()
        flat = self._check(codes, sum(counts))
        everything, printed = self._printing(batch.parts, counts, codes, flat)
        has_sentinels = bool(flat) and min(flat) < 0
        texts: list[str | None] = []
        end = 0
        for parts, count in zip(everything, counts, strict=True):
            start, end = end, end + count
            if parts is None:
                texts.append(None)
                continue
            mine = flat[start:end] if has_sentinels else []
            texts.append("".join(self._pieces(parts, printed[start:end], mine)))
        return texts

    def spans(
        self, parts: list[str], codes: Codes, *, include_originals: bool = False
    ) -> tuple[str, tuple[Span, ...]]:
        """Print one text, the same as :meth:`join`, and say where its words are.

        With the words of the input in them, the spans are private.
        """
        flat = self._check(codes, len(parts) // 2)
        (given,), printed = self._printing([parts], [len(flat)], codes, flat)
        pieces = self._pieces(given or [], printed, flat)
        ends = list(accumulate(map(len, pieces)))
        spans = tuple(
            Span(
                ends[2 * k],
                ends[2 * k + 1],
                _STATUS.get(code, "replaced"),
                parts[2 * k + 1] if include_originals else None,
            )
            for k, code in enumerate(flat)
        )
        return "".join(pieces), spans

    def _check(self, codes: Codes, count: int) -> list[int]:
        """List the codes after checking that each can be printed."""
        if codes.shape != (count,):
            allowed = f"one code for each of {count} words"
            raise InvalidParameterError("codes", f"shape {codes.shape}", allowed)
        # The unknown word V is an input only: to print it would index a sentinel.
        if count and not (codes.min() >= DROP and codes.max() < self.vocab_size):
            given = f"values from {codes.min()} to {codes.max()}"
            allowed = f"ids below {self.vocab_size} or the codes -1, -2 and -3"
            raise InvalidParameterError("codes", given, allowed)
        flat: list[int] = np.asarray(codes).tolist()
        return flat

    def _printing(
        self,
        texts: Sequence[list[str] | None],
        counts: list[int],
        codes: Codes,
        flat: list[int],
    ) -> tuple[Sequence[list[str] | None], list[str]]:
        """Prepare the structure that is printed, and print each code."""
        if self.structure == "plain":
            texts = plain_parts(texts, codes, counts, self._ends)
        if self.case != "truecase" or not flat:
            return texts, list(map(self._printed.__getitem__, flat))
        gaps = [gap for parts in texts if parts for gap in parts[2::2]]
        flags = np.fromiter(map(self._flags.__getitem__, gaps), np.int8, len(gaps))
        ends = np.cumsum(counts)
        is_first = np.append(True, (flags[:-1] & STARTS) > 0)
        is_first[ends[ends < len(flat)]] = True
        index = codes + self.vocab_size * (is_first & (codes >= 0))
        refused = (flags & GENITIVE > 0) & (codes >= 0)
        refused[refused] = self.forms.refuses_genitive[codes[refused]]
        if refused.any():
            texts = _without_genitives(texts, ends, np.flatnonzero(refused))
        return texts, list(map(self._printed.__getitem__, index.tolist()))

    def _pieces(
        self, parts: list[str], printed: list[str], codes: list[int]
    ) -> list[str]:
        """Print each part; no codes means no sentinels."""
        pieces = parts.copy()
        if self.case == "restore":
            printed = list(map(copy_shape, parts[1::2], printed))
        pieces[1::2] = printed
        if codes and min(codes) < 0:
            self._place_sentinels(pieces, parts, codes)
            if self.case == "truecase":
                self._recase(pieces, codes)
        elif not TOUCHING.isdisjoint(parts[2:-1:2]):
            gaps = parts[2:-1:2]
            pieces[2:-1:2] = [f"{gap} " if gap in TOUCHING else gap for gap in gaps]
        return pieces

    def _place_sentinels(
        self, pieces: list[str], parts: list[str], codes: list[int]
    ) -> None:
        """Print kept, masked and dropped words, and mend the spaces around them.

        The spaces of ``plain`` are right as they are.
        """
        gap = [0] if parts[0] else []  # non-empty structure since the last word printed
        is_start = True  # no word was printed yet
        for i, code in zip(range(1, len(parts), 2), codes, strict=True):
            if code == DROP:
                pieces[i] = ""
                if self.structure == "keep":
                    _close_gap(pieces, gap, i + 1, is_start)
                continue
            if code == KEEP:
                following = parts[i + 2] if i + 2 < len(parts) else ""
                pieces[i] = self._spelling(parts[i], following)
            elif code == MASK:
                pieces[i] = _PRINTED[MASK]
            if not is_start:
                last = gap[-1] if gap else i - 1
                pieces[last] = set_apart(pieces[last])
            is_start = False
            gap = [i + 1] if parts[i + 1] else []

    def _recase(self, pieces: list[str], codes: list[int]) -> None:
        """Print anew what stands beside dropped words, as the gaps left ask for."""
        for start in [i for i, code in enumerate(codes) if code == DROP]:
            if start and codes[start - 1] == DROP:
                continue
            end = start + 1
            while end < len(codes) and codes[end] == DROP:
                end += 1
            self._recase_beside(pieces, codes, start, end)

    def _recase_beside(
        self, pieces: list[str], codes: list[int], start: int, end: int
    ) -> None:
        """Print anew what stands beside the dropped words ``start..end-1``."""
        gaps = pieces[2 * start : 2 * end + 1 : 2]
        if start and codes[start - 1] >= 0:
            last = codes[start - 1]
            if self.forms.refuses_genitive[last]:
                place = next((i for i, gap in enumerate(gaps) if gap), 0)
                gaps[place] = without_genitive(gaps[place])
        gap = "".join(gaps)
        if end < len(codes):
            if start and not gap:
                gaps[-1] = " "
            if codes[end] >= 0:
                is_first = not start or self._flags[gap] & STARTS
                shown = codes[end] + self.vocab_size * bool(is_first)
                pieces[2 * end + 1] = self._printed[shown]
        pieces[2 * start : 2 * end + 1 : 2] = gaps

    def _spelling(self, word: str, following: str) -> str:
        """Spell a word of the public keep-list."""
        kept = self._kept.get(canonical(word, following))
        if kept is None:  # fail closed: whoever wrote the code, the word is not public
            allowed = "that of a word of the keep-list"
            raise InvalidParameterError("codes", f"{KEEP} for another word", allowed)
        return copy_shape(word, kept) if self.case == "restore" else kept


def _without_genitives(
    texts: Sequence[list[str] | None], ends: NDArray[np.int64], words: NDArray[np.int64]
) -> list[list[str] | None]:
    """Leave out the ``'s`` behind some words, numbered through all texts."""
    found = list(texts)
    for word in words.tolist():
        text = int(np.searchsorted(ends, word, side="right"))
        parts = list(found[text] or ())
        place = 2 * (word - int(ends[text])) + 1  # negative: from the end of the text
        parts[place] = without_genitive(parts[place])
        found[text] = parts
    return found


def _close_gap(pieces: list[str], gap: list[int], right: int, is_start: bool) -> None:
    """Remove one space beside a dropped word; ``right`` is the structure behind it."""
    if gap and pieces[gap[-1]].endswith(" "):
        pieces[gap[-1]] = pieces[gap[-1]][:-1]
        if not pieces[gap[-1]]:
            gap.pop()
    elif (gap or is_start) and pieces[right].startswith(" "):
        pieces[right] = pieces[right][1:]
    if pieces[right]:
        gap.append(right)
