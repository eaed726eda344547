"""Prints output numbers of a policy in place of the words of the input."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import accumulate
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from mondegreen.arrays import Codes
from mondegreen.errors import InvalidParameterError
from mondegreen.policy.abbreviations import Abbreviations
from mondegreen.policy.days import DAYS, MONTHS
from mondegreen.policy.policy import Policy
from mondegreen.policy.shapes import PLACES
from mondegreen.settings import Same, Structure
from mondegreen.text.detokenizer import Span
from mondegreen.text.plain import last_alone, plain_parts
from mondegreen.text.print_forms import (
    SPACE,
    STARTS,
    TOUCHES,
    TOUCHING,
    GapFlags,
    capitalize,
    set_apart,
)
from mondegreen.text.tokenizer import CLITICS, TokenizedBatch

_SUBJECTS: Final = frozenset(
    "i you he she it we they who what that there this these those how where when "
    "why".split()
)
_PLURALS: Final = frozenset(
    "you we they who what there these those how where why".split()
)
_MODALS: Final = frozenset("would could should might must".split())
HOSTS: Final[Mapping[str, frozenset[str]]] = {
    "'m": frozenset({"i"}),
    "'re": _PLURALS,
    "'ve": _PLURALS | _MODALS | {"i"},
    "'ll": _SUBJECTS,
    "'d": _SUBJECTS,
    "n't": _MODALS.union(
        "do does did is are was were have has had ca wo sha need ought dare ai".split()
    ),
}
"""Ordinary words that each ending is joined to; behind others it is spelled out."""

_VOWELS: Final = frozenset("aeiou8")


@final
class PolicyPrinter:
    """Prints released outputs of a policy: a function of them and of the structure.

    Names and the first words of sentences get capitals, by public rules. An ending such
    as ``n't`` is joined to a word that takes it, and spelled out behind any other. A
    number beside a month is a valid day (:mod:`mondegreen.policy.days`).

    Parameters
    ----------
    policy : Policy
        What the numbers mean.
    structure : {"keep", "plain"}
        Copy punctuation and spaces, or print single spaces and a full stop.
    same : {"place", "record", "key"}
        The scope of the outputs. A wider one than a place promises equal words the same
        output, so a number beside a month is printed as it was drawn.
    """

    case: Final = "truecase"

    def __init__(
        self, policy: Policy, structure: Structure = "keep", same: Same = "place"
    ) -> None:
        self.policy, self.structure = policy, structure
        words = policy.words
        self._words = len(words)
        # Words inside of sentences, and behind them first words: as an array, which
        # hands out many at once.
        printed = [*words, *map(capitalize, words)]
        self._printed: NDArray[np.object_] = np.array(printed, dtype=np.object_)
        self._flags = GapFlags()
        self._abbreviations = Abbreviations(policy)
        # A word that hides has the symbol of a group, which is no output of its own.
        known = {word: symbol for symbol, word in enumerate(policy.ordinary)}
        self._clitics = {known[word]: spelled for word, spelled in CLITICS.items()}
        self._hosts = {
            known[ending]: {known[word] for word in words if word in known}
            for ending, words in HOSTS.items()
        }
        self._ordinary = len(policy.ordinary)
        self._articles = [known[word] for word in ("a", "an") if word in known]
        lowered = list(map(str.lower, words))
        self._months = {code for code, word in enumerate(lowered) if word in MONTHS}
        # A wider scope promises equal words the same output.
        self._days = self._list_days() if same == "place" else {}

    disclosed: Final[tuple[str, ...]] = ()
    conditions: Final[tuple[str, ...]] = ()
    assumptions: Final[tuple[str, ...]] = ()

    def join(self, batch: TokenizedBatch, codes: Codes) -> list[str | None]:
        """Print texts, from one output number per word, flat over all of them."""
        shown, printed, joints, edges = self._print_codes(batch, codes)
        begins = batch.begins.tolist()
        texts: list[str | None] = []
        for k, parts in enumerate(shown.parts):
            if parts is None:
                texts.append(None)
                continue
            mine = slice(begins[k], begins[k + 1])
            touching = joints[edges[k] : edges[k + 1]]
            pieces = self._pieces(parts, printed[mine], codes[mine], touching)
            texts.append("".join(pieces))
        return texts

    def spans(
        self, parts: list[str], codes: Codes, *, include_originals: bool = False
    ) -> tuple[str, tuple[Span, ...]]:
        """Print one text, the same as :meth:`join`, and say where its words are."""
        shown, printed, joints, _ = self._print_codes(TokenizedBatch([parts]), codes)
        pieces = self._pieces(shown.parts[0] or [], printed, codes, joints)
        ends = list(accumulate(map(len, pieces)))
        spans = tuple(
            Span(
                ends[2 * k],
                ends[2 * k + 1],
                "replaced",
                parts[2 * k + 1] if include_originals else None,
            )
            for k in range(len(codes))
        )
        return "".join(pieces), spans

    def _print_codes(
        self, batch: TokenizedBatch, codes: Codes
    ) -> tuple[TokenizedBatch, list[str], list[int], list[int]]:
        """Print each word; also the structure, and where words may touch.

        The latter are numbers of words within their texts, whose gap behind them
        decides. The last list says where the numbers of each text begin.
        """
        if codes.shape != (batch.begins[-1],):
            allowed = f"one output for each of {batch.begins[-1]} words"
            raise InvalidParameterError("codes", f"shape {codes.shape}", allowed)
        if len(codes) and codes.min() < 0:
            raise InvalidParameterError("codes", int(codes.min()), "at least 0")
        if self.structure == "plain":
            plain = plain_parts(batch.parts, codes, batch.counts(), last_alone)
            batch = TokenizedBatch(list(plain))
        flags = batch.flag_gaps(self._flags.__getitem__)
        is_first = np.zeros(len(codes) + 1, dtype=np.bool_)
        is_first[1:] = (flags & STARTS) > 0
        is_first[self._abbreviations.find_behind(codes, flags, batch.begins)] = False
        is_first[batch.begins] = True
        formats = np.flatnonzero(codes >= self._words)
        index = np.array(codes, dtype=np.int64)
        index[np.flatnonzero(is_first[:-1])] += self._words
        index[formats] = 0
        printed: list[str] = self._printed.take(index).tolist()
        asked = codes[formats].tolist()
        shown = {code: self.policy.print(code) for code in set(asked)}
        for i, code in zip(formats.tolist(), asked, strict=True):
            printed[i] = shown[code]
        is_last = np.zeros(len(codes) + 1, dtype=np.bool_)
        is_last[batch.begins[1:] - 1] = True
        is_apart = ((flags & SPACE) > 0) & ~is_last[:-1]
        self._choose_days(codes, printed, formats.tolist(), is_apart)
        self._choose_articles(codes, printed, is_last[:-1])
        may_touch = (flags & TOUCHES) > 0
        if self.structure == "plain":  # words stand apart, and endings join
            may_touch[:-1] = np.isin(codes[1:], list(self._clitics))
        touching = np.flatnonzero(may_touch & ~is_last[:-1])
        return batch, printed, *batch.split_by_text(touching)

    def _list_days(self) -> dict[int, str]:
        """List what is printed beside a month, by output."""
        policy, found = self.policy, {}
        for name, chosen in DAYS.items():
            first = int(policy.first[policy.shape_symbol(PLACES[name])])
            for member, other in enumerate(chosen):
                found[first + member] = policy.print(first + other)
        return found

    def _choose_days(
        self,
        codes: Codes,
        printed: list[str],
        formats: list[int],
        is_apart: NDArray[np.bool_],
    ) -> None:
        """Print a number beside a month as a day.

        A function of outputs and structure alone. ``is_apart`` tells which words have a
        single space and a word of their text behind them.
        """
        for i in formats:
            code = int(codes[i])
            if code not in self._days:
                continue
            before = int(codes[i - 1]) if i and is_apart[i - 1] else -1
            behind = int(codes[i + 1]) if is_apart[i] else -1
            if before in self._months or behind in self._months:
                printed[i] = self._days[code]

    def _choose_articles(
        self, codes: Codes, printed: list[str], is_last: NDArray[np.bool_]
    ) -> None:
        """Print "a" or "an" as the sensitive word asks that is printed behind it.

        No word of the next text is behind the last one of a text.
        """
        before = codes[:-1]
        is_article = np.zeros(len(before), dtype=np.bool_)
        for code in self._articles:
            is_article |= before == code
        articles = np.flatnonzero(is_article)
        is_asked = (codes[articles + 1] >= self._ordinary) & ~is_last[articles]
        for i in articles[is_asked].tolist():
            vowel = printed[i + 1][:1].lower() in _VOWELS
            article = "an" if vowel else "a"
            printed[i] = article.capitalize() if printed[i][0] == "A" else article

    def _pieces(
        self, parts: list[str], printed: list[str], codes: Codes, joints: Iterable[int]
    ) -> list[str]:
        pieces = parts.copy()
        pieces[1::2] = printed
        for i in joints:
            self._join_ending(pieces, i + 1, int(codes[i]), int(codes[i + 1]))
        return pieces

    def _join_ending(self, pieces: list[str], i: int, before: int, code: int) -> None:
        """Join an ending to an ordinary word; set apart what else would touch."""
        gap, spelled = pieces[2 * i], self._clitics.get(code)
        if spelled is not None and gap in ("", " "):
            if before in self._hosts[code]:
                pieces[2 * i] = ""
            else:
                pieces[2 * i], pieces[2 * i + 1] = " ", spelled
        elif gap in TOUCHING:
            pieces[2 * i] = set_apart(gap)
