"""Echoes: units that bring back each line of a hidden text, if it comes back as sent.

Most words of a line come back by themselves, or as the units of
:mod:`mondegreen.prompts.units`. Some signs around a number or an address prevent that.
So each line is restored when it is hidden. Where that fails, a piece of the line
becomes a unit: a run without blanks, and more of them on both sides until all of the
line comes back, up to seven.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from operator import itemgetter
from typing import Final, final

from mondegreen.prompts.restore import Restorer
from mondegreen.prompts.units import Kind, Unit, Units
from mondegreen.text.tokenizer import canonical

_LINE: Final = re.compile(r"[^\r\n]+")
_RUN: Final = re.compile(r"[^ \t\r\n]+")  # what stands behind a piece: a blank
_MARKUP: Final = re.compile(
    r"<[A-Za-z/!?\u0080-\U0010ffff]|[\[\]\x00-\x08\x0e-\x1f]|\)\{|\{:"
)
"""What begins a tag, a link, an image or a label: there, surrogates are kept."""

_APART_BEFORE: Final = re.compile(r"\s[(\"'*]*\Z")
_APART_AFTER: Final = re.compile(r"[,;:!?.)\"'*]*\s")
_FARTHEST: Final = 7
"""Runs on each side of a piece. Wider ones are of no use inside of a link or brackets,
where nothing comes back, and with them the time grows with the square of the line."""
_BEHIND: Final = 200  # characters; more than a restorer looks back

_Span = tuple[int, int]


def learn_echoes(
    units: Units,
    parts: Sequence[str],
    sent: Sequence[str],
    kinds: Sequence[Kind | None],
    begin: Callable[[], Restorer],
) -> None:
    """Add units until each line of a hidden text comes back, outside of markup.

    Parameters
    ----------
    units : Units
        The units of the conversation, which have learned the text.
    parts, sent : sequence of str
        The original and the hidden text: structure and words come in turn.
    kinds : sequence of tuple
        What the surrogates are; None for words that pass.
    begin : callable
        Makes a restorer that uses ``units``.
    """
    pair = _Pair(parts, sent)
    unsure = [pair.find_word(k) for k in _find_unsure(units, sent, kinds)]
    for line in _LINE.finditer(pair.sent):
        is_sure = bisect_left(unsure, line.start()) == bisect_left(unsure, line.end())
        if is_sure or not units.note_line(line[0]):
            continue
        runs = [run.span() for run in _RUN.finditer(pair.sent, *line.span())]
        reach = 0
        while failures := list(_find_failures(pair, line.span(), begin())):
            pieces = (_widen(runs, span, reach) for span in failures)
            # Without a new unit, what is left stands in a link or in markup.
            is_new = any([_learn_piece(units, pair, piece) for piece in pieces])
            reach = 2 * reach + 1
            if not is_new or reach > _FARTHEST:
                break


def _find_unsure(
    units: Units, sent: Sequence[str], kinds: Sequence[Kind | None]
) -> Iterator[int]:
    """Find words that may not come back as they were: not names between blanks."""
    for k, kind in enumerate(kinds):
        if kind is None:
            if units.can_start(sent[2 * k + 1]):
                yield k
            continue
        before = sent[2 * k] if k else f" {sent[0]}"
        after = sent[2 * k + 2] if k + 1 < len(kinds) else f"{sent[-1]} "
        is_apart = _APART_BEFORE.search(before) and _APART_AFTER.match(after)
        if not is_apart or (kind[0] == "shape" and kind[1] != "code"):
            yield k


@final
class _Pair:
    """A hidden text and its original, with the places that both have."""

    __slots__ = ("_ends", "_own_ends", "original", "sent")

    def __init__(self, parts: Sequence[str], sent: Sequence[str]) -> None:
        self.original, self.sent = "".join(parts), "".join(sent)
        self._own_ends = list(accumulate(map(len, parts), initial=0))
        self._ends = list(accumulate(map(len, sent), initial=0))

    def find_word(self, k: int) -> int:
        """The place of a word in the hidden text."""
        return self._ends[2 * k + 1]

    def find(self, at: int) -> int | None:
        """The place in the original; None inside a word."""
        k = bisect_right(self._ends, at) - 1
        is_word = k % 2 == 1
        if is_word and at > self._ends[k]:
            return None
        return self._own_ends[k] + at - self._ends[k]


def _find_failures(pair: _Pair, line: _Span, restorer: Restorer) -> Iterator[_Span]:
    """Find what of a line does not come back, in the hidden text."""
    begin, end = line
    own = pair.find(begin) or 0
    first, shown = begin, ""
    behind = pair.sent[max(begin - _BEHIND, 0) : begin]
    for step in restorer.list_steps(pair.sent[begin:end], behind):
        shown += step.shown
        own_end = pair.find(begin + step.end)
        if own_end is None:
            continue
        if canonical(shown) != canonical(pair.original[own:own_end]):
            yield first, begin + step.end
        first, own, shown = begin + step.end, own_end, ""


def _widen(runs: Sequence[_Span], span: _Span, reach: int) -> _Span:
    """Widen a span to whole runs, and by so many of them on both sides."""
    first = bisect_right(runs, span[0], key=itemgetter(0)) - 1 - reach
    last = bisect_right(runs, span[1] - 1, key=itemgetter(0)) - 1 + reach
    return runs[max(first, 0)][0], runs[min(last, len(runs) - 1)][1]


def _learn_piece(units: Units, pair: _Pair, piece: _Span) -> bool:
    """Make a piece a unit of its own; tell whether it is a new one."""
    begin, end = map(pair.find, piece)
    sent = pair.sent[slice(*piece)]
    if begin is None or end is None or _MARKUP.search(sent):
        return False
    original = pair.original[begin:end]
    return units.add(Unit(sent, original, is_address=True, is_text=True))
