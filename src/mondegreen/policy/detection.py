"""A detector in front of a policy: what it finds is sensitive too, by its type.

A detector reads the whole text, so its spans depend on neighbors. It is given one power
alone: to move a word from its own symbol to that of a group. It removes no word, joins
none and puts nothing between words, so the structure of a text stays what it was, and
every word that it does not find has the symbol that it has without a detector.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate
from numbers import Integral, Real
from typing import Any, ClassVar, Final, NamedTuple, TypeAlias, final

import numpy as np

from mondegreen.arrays import Ids
from mondegreen.errors import DetectorError
from mondegreen.guarantee import DECIDES, DETECTED
from mondegreen.policy.lookup import PolicyLookup
from mondegreen.policy.policy import ADDRESS_PARTS, Policy
from mondegreen.settings import Structure
from mondegreen.text.tokenizer import TokenizedBatch, canonical

Detector: TypeAlias = Callable[[str], Sequence[Any]]
"""From a text to what was found: objects with ``start``, ``end``, ``entity_type`` and
``score``, as ``AnalyzerEngine.analyze`` of Presidio returns."""

_CLASSES: Final[Mapping[str, tuple[str, ...]]] = {
    "PERSON": ("surname", "first_name"),
    "LOCATION": ("place",),
    "GPE": ("place",),
    "ADDRESS": ("place",),
    "ORGANIZATION": ("organization",),
    "ORG": ("organization",),
    "NRP": ("origin",),
    "DATE_TIME": ("time",),
}
"""The classes of a type. Words of one of them stay; others go to the first."""

_OTHER: Final = ("other_name",)
"""Those of all other types."""

_ADDRESSES: Final = frozenset(("EMAIL_ADDRESS", "URL"))
"""Types in which ordinary parts such as "com" stay."""


_READ: Final = ("start", "end", "entity_type", "score")


class Found(NamedTuple):
    """A span of whole words: ``first..last`` are their places."""

    first: int
    last: int
    type: str
    score: float


@final
class DetectorLookup:
    """Looks words up in a policy, after a detector has read their text.

    A word of a span hides in the group of the type of the span, unless its own spelling
    is that of a format (a number, a code, part of an address): formats are kept. Where
    spans overlap, the one with the higher score decides, then the longer one, then the
    type that is first by alphabet. A span that cuts a word takes all of it.

    Parameters
    ----------
    policy : Policy
        What the symbols mean.
    detector : callable
        See :data:`Detector`. It must always find the same in the same text.
    name : str
        Its public name and version, which the guarantee states.

    Raises
    ------
    DetectorError
        From :meth:`codes`, if the detector fails, or if what it returns are no spans of
        the text. Nothing is released then.
    """

    def __init__(self, policy: Policy, detector: Detector, name: str) -> None:
        self.policy, self.name = policy, name
        self._detector, self._lookup = detector, PolicyLookup(policy)
        digest = hashlib.sha256(f"detector {name}".encode())
        self.keep_digest = digest.hexdigest()
        self._groups: dict[tuple[str, ...], list[int]] = {}  # a type may quote a text

    conditions: ClassVar[tuple[str, ...]] = ()

    @property
    def assumptions(self) -> tuple[str, ...]:
        """The statement of both layers, for a guarantee."""
        return (
            f"{DETECTED}{self.name}{DECIDES} from the whole text which "
            "further words are sensitive, and their type. A word that it finds hides "
            "among the words of that type, compared with texts in which it finds the "
            "same. Nothing is promised of what it finds",
            "second layer: every word goes through the policy, found or not, whatever "
            "the detector does. Each word whose symbol differs counts once: a changed "
            "word, and each other word about which the detector changes its mind",
        )

    def list_disclosed(self, structure: Structure) -> tuple[str, ...]:
        """What passes unchanged besides ordinary words: as without a detector."""
        return self._lookup.list_disclosed(structure)

    def cut(self, texts: Sequence[str | None]) -> TokenizedBatch:
        """Cut texts into words and structure, as without a detector."""
        return self._lookup.cut(texts)

    def codes(self, batch: TokenizedBatch) -> Ids:
        """Look up all words of all texts, flat and in order."""
        codes = np.array(self._lookup.codes(batch))
        first = 0
        for parts in batch.parts:
            if parts:
                count = len(parts) // 2
                self._hide_found(parts, codes[first : first + count])
                first += count
        return codes

    def print_codes(self, batch: TokenizedBatch) -> Ids:
        """Look up the symbols of words that were printed: no detector reads them."""
        return self._lookup.print_codes(batch)

    def _hide_found(self, parts: list[str], codes: Ids) -> None:
        """Give the words of found spans the symbols of their types."""
        is_taken = np.zeros(len(codes), dtype=np.bool_)
        shapes = self.policy.shape_symbol(0)
        words = parts[1::2]
        for span in self._find(parts):
            for i in range(span.first, span.last + 1):
                if not is_taken[i] and codes[i] < shapes and _is_hidden(words[i], span):
                    codes[i] = self._group(span.type, int(codes[i]))
                is_taken[i] = True

    def _find(self, parts: list[str]) -> list[Found]:
        """Ask the detector, and check its answer; the span that decides comes first."""
        text = "".join(parts)
        found = [_check(values, len(text)) for values in self._ask(text)]
        ends = list(accumulate(map(len, parts)))
        starts, stops = ends[0::2][:-1], ends[1::2]  # of words
        spans = []
        for start, end, kind, score in found:
            first = bisect_right(stops, start)
            last = bisect_left(starts, end) - 1
            if first <= last:
                spans.append(Found(first, last, kind, score))
        return sorted(
            spans, key=lambda s: (-s.score, s.first - s.last, s.type, s.first)
        )

    def _ask(self, text: str) -> list[tuple[Any, ...]]:
        """Run the detector, and read what it returns; no error of it goes further."""
        try:
            return [
                tuple(getattr(each, name, None) for name in _READ)
                for each in self._detector(text)
            ]
        except (Exception, SystemExit) as error:  # its message may quote the text
            kind = type(error).__name__
            raise _failure(f"failed with {kind}") from None

    def _group(self, kind: str, own: int) -> int:
        """The symbol of a word of a type, by its own symbol."""
        classes = _CLASSES.get(kind, _OTHER)
        if classes not in self._groups:
            first = self.policy.find_group(classes[0], "s")
            self._groups[classes] = [first, *self._list_groups(classes)]
        groups = self._groups[classes]
        return own if own in groups else groups[0]

    def _list_groups(self, classes: Sequence[str]) -> list[int]:
        """The symbols of all groups of some classes: of all forms."""
        groups = enumerate(self.policy.groups, len(self.policy.ordinary))
        return [symbol for symbol, group in groups if group.class_name in classes]

    def __reduce__(self) -> Any:
        raise TypeError("a detector stays in its process: use one process")

    def __repr__(self) -> str:
        return f"DetectorLookup({self.policy!r}, {self.name!r})"


def _is_hidden(word: str, span: Found) -> bool:
    """Whether a span hides a token; not signs, endings, and ordinary address parts."""
    is_part = span.type in _ADDRESSES and canonical(word) in ADDRESS_PARTS
    return word[:1].isalpha() and not is_part


def _check(values: tuple[Any, ...], length: int) -> tuple[int, int, str, float]:
    """Take a span as the detector returned it; refuse what is none."""
    start, end, kind, score = values
    if not (_is_whole(start) and _is_whole(end) and 0 <= start < end <= length):
        raise _failure("returned a span outside the text")
    if not isinstance(kind, str) or not kind:
        raise _failure("returned a span without a type")
    if isinstance(score, bool) or not isinstance(score, Real) or score != score:
        raise _failure("returned a span without a score")
    return int(start), int(end), kind, float(score)


def _is_whole(value: object) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _failure(what: str) -> DetectorError:
    return DetectorError(f"the detector {what}; nothing was released")
