"""The detokenizer: output words put back into the structure of the input."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Final, Literal, TypeAlias, final, get_args

import numpy as np

from mondegreen.arrays import Ids
from mondegreen.errors import InvalidParameterError
from mondegreen.text.policy import DROP, KEEP, MASK
from mondegreen.text.tokenizer import TokenizedBatch, canonical

Case: TypeAlias = Literal["lower", "restore"]
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

    ``lower`` prints words as the space, or the keep-list, has them; ``restore`` copies
    the case of the input word (lower, Title or UPPER) onto them. ``kept`` has the
    spelling of each word of the keep-list by its canonical form. Where two words
    touched in the input, such as the two of ``don't``, a space is put between them. A
    dropped word takes one neighbouring space with it.

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
    ) -> None:
        if case not in get_args(Case):
            raise InvalidParameterError("case", case, "lower or restore")
        self.case: Case = case
        self.vocab_size = len(words)
        self._kept = kept or {}
        # A list ends with what the negative codes print, so that one indexing serves
        # words and sentinels alike; kept words are filled in afterwards.
        self._printed = [*words, *(_PRINTED[code] for code in sorted(_PRINTED))]
        # What passes in clear through printing, each as ``name: explanation``; and what
        # two words must have in common for printing to hide which it was.
        self.disclosed: tuple[str, ...] = ()
        self.conditions: tuple[str, ...] = ()
        if case == "restore":
            self.disclosed = ("case: of each word, as it is, Title or UPPER",)
            same = "are written in the same case (lower, Title or UPPER)"
            self.conditions = (same,)

    def join(self, batch: TokenizedBatch, codes: Ids) -> list[str | None]:
        """Print texts, from one code per word, flat over all of them.

        A code is an id below ``V``, or one of the negative ones; that of kept words
        may stand for a word of the keep-list only.
        """
        counts = batch.counts()
        flat = self._checked(codes, sum(counts))
        printed = list(map(self._printed.__getitem__, flat))
        has_sentinels = bool(flat) and min(flat) < 0
        texts: list[str | None] = []
        end = 0
        for parts, count in zip(batch.parts, counts, strict=True):
            start, end = end, end + count
            if parts is None:
                texts.append(None)
                continue
            mine = flat[start:end] if has_sentinels else []
            texts.append("".join(self._pieces(parts, printed[start:end], mine)))
        return texts

    def spans(
        self, parts: list[str], codes: Ids, *, include_originals: bool = False
    ) -> tuple[str, tuple[Span, ...]]:
        """Print one text, the same as :meth:`join`, and say where its words are.

        With the words of the input in them, the spans are private.
        """
        flat = self._checked(codes, len(parts) // 2)
        pieces = self._pieces(parts, list(map(self._printed.__getitem__, flat)), flat)
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

    def _checked(self, codes: Ids, count: int) -> list[int]:
        """List the codes, every one of which can be printed."""
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
        elif "" in parts[2:-1:2]:
            pieces[2:-1:2] = [structure or " " for structure in parts[2:-1:2]]
        return pieces

    def _place_sentinels(
        self, pieces: list[str], parts: list[str], codes: list[int]
    ) -> None:
        """Print kept, masked and dropped words, and mend the spaces around them."""
        gap = [0] if parts[0] else []  # non-empty structure since the last word printed
        is_start = True  # no word was printed yet
        for i, code in zip(range(1, len(parts), 2), codes, strict=True):
            if code == DROP:
                pieces[i] = ""
                _close_gap(pieces, gap, i + 1, is_start)
                continue
            if code == KEEP:
                following = parts[i + 2] if i + 2 < len(parts) else ""
                pieces[i] = self._spelling(parts[i], following)
            elif code == MASK:
                pieces[i] = _PRINTED[MASK]
            if not (is_start or gap):
                pieces[i - 1] = " "
            is_start = False
            gap = [i + 1] if parts[i + 1] else []

    def _spelling(self, word: str, following: str) -> str:
        """Spell a word of the public keep-list."""
        kept = self._kept.get(canonical(word, following))
        if kept is None:  # fail closed: whoever wrote the code, the word is not public
            allowed = "that of a word of the keep-list"
            raise InvalidParameterError("codes", f"{KEEP} for another word", allowed)
        return copy_shape(word, kept) if self.case == "restore" else kept


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
