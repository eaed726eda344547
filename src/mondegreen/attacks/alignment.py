r"""Pairs the words of a text with the words of its release, made by any tool.

A release may leave words, replace them, mask them, delete them or move them. Words that
are in both texts once each are anchors, as in patience diff: the longest run of anchors
in one order stays. Between anchors dynamic programming finds the cheapest edits:

====================================================  ====
an equal word                                         0
a word becomes a mask, or the mask before it grows    0.3
a word becomes another word                           1
a word is deleted, or a released word is new          0.7
====================================================  ====

The table of edits is a band along the diagonal, so memory grows with the length of the
texts and not with its square.
"""

from __future__ import annotations

import functools
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, final

from mondegreen.attacks.readings import decode_signs, drop_marks, plain
from mondegreen.text.tokenizer import LONGEST, canonical, tokenize

GONE: Final = -1
"""The place of a word that has no counterpart in the release."""

_NEW, _OTHER, _MASKED = 0.7, 1.0, 0.3
_DIAGONAL, _FROM_ABOVE, _FROM_LEFT, _GROWN = range(4)
_HALF_BAND: Final = 48
_WIDEST: Final = 512

_WORDS_OF_MASKS: Final = (
    "unk|unknown|mask|masked|redacted|removed|hidden|deleted|anonymi[sz]ed|private|"
    "name|first_?name|last_?name|person|user|patient|email|e-mail|phone|address|"
    "location|city|country|date|age|organi[sz]ation|company|url|id|ssn|number"
)
_MASK: Final = rf"""
      \[\s?(?: [A-Z][A-Z0-9_\ \-/:\#]{{1,39}}
             | (?i:{_WORDS_OF_MASKS})[\w\ \-:\#]{{0,20}} )\s?\]
    | <\s?/?(?: [A-Z][A-Z0-9_\ \-/:\#]{{1,39}}
             | (?i:{_WORDS_OF_MASKS})[\w\-:\#]{{0,20}} )\s?>
    | \{{\{{[^{{}}\n]{{1,40}}\}}\}}
    | \{{[A-Z][A-Z0-9_]{{1,39}}\}}
    | ⟨[^⟨⟩\n]{{1,40}}⟩
    | \*{{3,}} | _{{3,}} | \#{{3,}} | [█■▇]+
    | (?<![^\W_]) X{{3,}}(?:[-/.\ ]X{{2,}})* (?![^\W_])
    | (?<!\w) REDACTED (?!\w)
    """
_SPELLED: Final = r"""
    (?<![^\W_]) [^\W\d_] (?P<sign>[ .\-]) [^\W\d_] (?:(?P=sign) [^\W\d_]){2,} (?![^\W_])
    """
"""Four letters or more with a sign between them: people read them as a word."""

_OF_RELEASES: Final = re.compile(f"{_MASK} | {_SPELLED}", re.VERBOSE)
_spelled = re.compile(_SPELLED, re.VERBOSE).finditer

_is_tag = re.compile(
    rf"""{_WORDS_OF_MASKS}|first|last|full|of|birth|mail|us|uk|in|au|it|es|sg|pl
    |place|street|state|zip|postcode|county|region|loc|gpe|fac|org|norp|nrp|misc|per
    |doctor|hospital|facility|provider|illness|disease|condition|medical|health|healthplan
    |diagnosis|medication|drug|treatment|symptom|blood|record|mrn|nhs|dob|phi|pii|device
    |gender|religion|nationality|occupation|profession|job|title|ethnic|ethnicity|race
    |marital|status|political|group|male|female|relative|staff|employer|customer|client
    |school|university|court|judge|bank|church|law|art|work
    |time|weekday|month|year|event|product|language|money|quantity|percent
    |cardinal|ordinal|account|credit|debit|card|iban|ip|mac|code|passport|license|driver
    |plate|vehicle|vin|imei|itin|medicare|voter|tax|social|security|insurance|routing
    |nino|abn|tfn|pan|aadhaar|nif|nie|pesel|nric|fin|crypto|swift|pin|cvv|fax
    |password|username|token|secret|key""",
    re.VERBOSE | re.IGNORECASE,
).fullmatch
"""Words that name what a mask hides. In front of other words, they release nothing."""

_MOST_INSIDE: Final = 40
"""A mask with more words holds no run of short numbers: it is a row of X."""

_LEAST_LETTERS: Final = 3
_MOST_LETTERS: Final = 40
"""Of a word of an original that is looked for in a longer run of letters set apart."""

_find_counter = re.compile(r"(?<=[^\W\d_])[_\-#](?=\d{1,4}[\s\]>}⟩]*$)").search
"""NAME_1, PERSON-2: a number that tells masks of one kind apart."""

_fold = functools.lru_cache(1 << 16)(canonical)


@final
@dataclass(frozen=True, slots=True, repr=False)
class Tokens:
    """The words and masks of a text in order, and where each stands.

    Parameters
    ----------
    keys : list of str
        Folded words, and masks as they are printed.
    starts, ends : list of int
        Character offsets.
    is_mask : list of bool
    gaps : list of str
        The structure before each token, and behind the last.
    """

    keys: list[str]
    starts: list[int]
    ends: list[int]
    is_mask: list[bool]
    gaps: list[str]

    def __repr__(self) -> str:
        return f"Tokens(<{len(self.keys)} tokens>)"


def read_tokens(
    text: str,
    *,
    original: str | None = None,
    telling: Set[str] = frozenset(),
    runs: Set[tuple[str, ...]] = frozenset(),
) -> Tokens:
    """Cut a text into words and masks.

    In a release, letters that are set apart ("d i a b e t e s") are one word, or the
    words of the original that they hold.

    Parameters
    ----------
    text : str
    original : str, optional
        The original of a release. What is printed there too is plain text. Without it
        nothing is a mask.
    telling : set of str
        Folded words of the original, without marks, that a mask must not have between
        its brackets. A mask that has one hides nothing: its words are words, and its
        tag is left out.
    runs : set of tuple of str
        The same for words that tell only together, such as the parts of a date.

    Returns
    -------
    Tokens

    Examples
    --------
    >>> read_tokens("Call [NAME] now.", original="Call Ann Smith now.").keys
    ['call', '[NAME]', 'now']
    >>> text, telling = "Call Ann Smith now.", frozenset({"ann", "smith"})
    >>> read_tokens("Call [NAME: Ann] now.", original=text, telling=telling).keys
    ['call', 'ann', 'now']
    """
    found = Tokens([], [], [], [], [""])
    if original is None:
        _add_words(found, text, 0, len(text))
        return found
    last = 0
    for each in _OF_RELEASES.finditer(text):
        piece = each.group()
        if piece in original:
            continue
        start, end = each.span()
        _add_words(found, text, last, start)
        last = end
        if each["sign"]:
            words = [*_read_apart(piece, _own_words(original))]
        else:
            words = _read_mask(piece, original, telling, runs)
        for key, first, behind in words:
            _add(found, key, start + first, start + behind)
        if not words:
            _add(found, piece, start, end, masked=True)
    _add_words(found, text, last, len(text))
    return found


def _add(
    tokens: Tokens, key: str, start: int, end: int, *, masked: bool = False
) -> None:
    tokens.keys.append(key)
    tokens.starts.append(start)
    tokens.ends.append(end)
    tokens.is_mask.append(masked)
    tokens.gaps.append("")


def _add_words(tokens: Tokens, text: str, start: int, end: int) -> None:
    (parts,) = tokenize([text[start:end]]).parts
    place = start
    for i, part in enumerate(parts or ()):
        if i % 2:
            _add(tokens, _fold(part), place, place + len(part))
        else:
            tokens.gaps[-1] += part
        place += len(part)


def _read_mask(
    mask: str, original: str, telling: Set[str], runs: Set[tuple[str, ...]]
) -> list[tuple[str, int, int]]:
    """Read the words of a mask that tells something; of any other, none."""
    if not telling and not runs:
        return []
    shown = _read_inside(mask, original, telling)
    if not _is_told([plain(key) for key, _, _ in shown], telling, runs):
        return []
    # Words that a tool adds are dropped: they would stand for hidden ones.
    own = _own_words(original) | telling
    return [word for word in shown if plain(word[0]) in own]


def _is_told(
    keys: Sequence[str], telling: Set[str], runs: Set[tuple[str, ...]]
) -> bool:
    """Whether words in a mask are telling: one of them, or some in a run."""
    if not telling.isdisjoint(keys):
        return True
    if len(keys) > _MOST_INSIDE:
        return False
    lengths = {len(run) for run in runs}
    return any(
        tuple(keys[i : i + length]) in runs
        for length in lengths
        for i in range(len(keys) - length + 1)
    )


def _read_inside(
    mask: str, original: str, telling: Set[str]
) -> list[tuple[str, int, int]]:
    """Read the words of a mask, without its tag and without a number behind that."""
    stop = found.start() if (found := _find_counter(mask)) else len(mask)
    words: list[tuple[str, int, int]] = []
    spelled = list(_spelled(mask))
    for each in spelled:
        start = each.start()
        for key, first, behind in _read_apart(each.group(), _own_words(original)):
            words.append((key, start + first, start + behind))
    (parts,) = tokenize([mask]).parts
    place, tag, is_tag = 0, "", True
    for i, part in enumerate(parts or ()):
        begin, place = place, place + len(part)
        if i % 2 == 0:
            # "NAME: Date" is a person called Date. "FIRST_NAME" is all tag.
            is_tag = is_tag and ":" not in part
            continue
        if not any(map(str.isalnum, part)):
            continue  # a bracket that is no structure
        tag = tag or part
        is_tag = is_tag and bool(_is_tag(part)) and part.isupper() == tag.isupper()
        # "doctor" may be what was to be hidden. Tools mostly write tags in capitals.
        is_tag = is_tag and (part.isupper() or plain(_fold(part)) not in telling)
        if is_tag or begin >= stop:
            continue
        if not any(each.start() <= begin < each.end() for each in spelled):
            words.append((_fold(part), begin, place))
    return sorted(words, key=lambda word: word[1])


def _read_apart(piece: str, own: frozenset[str]) -> Iterator[tuple[str, int, int]]:
    """Read letters that are set apart: a word, or the words of the original in it.

    >>> list(_read_apart("a d i a b e t e s", frozenset({"diabetes"})))
    [('a', 0, 1), ('diabetes', 2, 17)]
    """
    letters = piece[::2]
    whole = _fold(letters) if len(letters) <= LONGEST else letters.lower()
    known = drop_marks(whole)
    if known in own or not len(known) == len(whole) == len(letters):
        yield whole, 0, len(piece)
        return
    tried = _list_lengths(own)
    start = place = 0
    while place < len(letters):
        length = next((n for n in tried if known[place : place + n] in own), 0)
        if not length:
            place += 1
            continue
        if start < place:
            yield whole[start:place], 2 * start, 2 * place - 1
        yield whole[place : place + length], 2 * place, 2 * (place + length) - 1
        start = place = place + length
    if start < len(letters):
        yield whole[start:], 2 * start, len(piece)


@functools.lru_cache(4)
def _list_lengths(words: frozenset[str]) -> list[int]:
    """List how long words are, the longest first."""
    lengths = {len(word) for word in words}
    found = (n for n in lengths if _LEAST_LETTERS <= n <= _MOST_LETTERS)
    return sorted(found, reverse=True)


@functools.lru_cache(4)
def _own_words(text: str) -> frozenset[str]:
    """The words of an original without marks, also those behind signs of HTML."""
    shown = {text, decode_signs(text)}
    return frozenset(plain(key) for each in shown for key in read_tokens(each).keys)


def align(originals: Sequence[str], released: Tokens) -> list[int]:
    """Find the counterpart of each word of an original in its release.

    Parameters
    ----------
    originals : sequence of str, length n
        Folded words of the original.
    released : Tokens
        Words and masks of the release.

    Returns
    -------
    list of int, length n
        The place in the release, which rises, or ``GONE``. A mask may stand for
        several words.

    Examples
    --------
    >>> words = "call ann smith now".split()
    >>> align(words, read_tokens("Call [NAME] now.", original="Call Ann Smith now."))
    [0, 1, 1, 2]
    >>> align(words, read_tokens("Call now."))
    [0, -1, -1, 1]
    """
    keys, masks = released.keys, released.is_mask
    # Edits of a word each keep the count; chance anchors would tear these texts apart.
    if len(keys) == len(originals):
        straight = list(range(len(keys)))
        equal = sum(a == b for a, b in zip(originals, keys, strict=True))
        if equal == len(keys) or 2 * equal >= len(keys):
            return straight
        anchored = _find_anchors(originals, keys, masks)
        places = (straight, anchored)
        return min(places, key=lambda found: _cost(originals, keys, masks, found))
    return _find_anchors(originals, keys, masks)


def _find_anchors(
    a: Sequence[str], b: Sequence[str], masks: Sequence[bool]
) -> list[int]:
    """Align between anchors, and between the anchors of each part, once more."""
    found = [GONE] * len(a)
    parts = [(0, len(a), 0, len(b))]
    while parts:
        i, n, j, m = parts.pop()
        i, n, j, m = _trim(a, b, (i, n, j, m), found)
        if i == n or j == m:
            continue
        anchors = _anchors(a, b, i, n, j, m)
        if not anchors:
            _fill(a, b, masks, (i, n, j, m), found)
            continue
        for x, y in anchors:
            found[x] = y
        stops = [(i - 1, j - 1), *anchors, (n, m)]
        parts += [(p + 1, r, q + 1, s) for (p, q), (r, s) in pairwise(stops)]
    # Words without a counterpart that stand beside masked ones are under that mask.
    for order, step in ((range(1, len(a)), -1), (range(len(a) - 2, -1, -1), 1)):
        for x in order:
            beside = found[x + step]
            if found[x] == GONE and beside != GONE and masks[beside]:
                found[x] = beside
    return found


def _trim(
    a: Sequence[str],
    b: Sequence[str],
    part: tuple[int, int, int, int],
    found: list[int],
) -> tuple[int, int, int, int]:
    """Pair equal words at both ends of a part; return what is left of it."""
    i, n, j, m = part
    while i < n and j < m and a[i] == b[j]:
        found[i] = j
        i, j = i + 1, j + 1
    while i < n and j < m and a[n - 1] == b[m - 1]:
        n, m = n - 1, m - 1
        found[n] = m
    return i, n, j, m


def _anchors(
    a: Sequence[str], b: Sequence[str], i: int, n: int, j: int, m: int
) -> list[tuple[int, int]]:
    """Find words that occur once in both parts: the longest run in one order."""
    mine, theirs = Counter(a[i:n]), Counter(b[j:m])
    places = {b[y]: y for y in range(j, m) if theirs[b[y]] == 1}
    pairs = [
        (x, places[a[x]]) for x in range(i, n) if mine[a[x]] == 1 and a[x] in places
    ]
    tails: list[int] = []  # the last place of the best run of each length
    at: list[int] = []
    before: list[int] = []
    for index, (_, y) in enumerate(pairs):
        length = bisect_left(tails, y)
        before.append(at[length - 1] if length else -1)
        if length == len(tails):
            tails.append(y)
            at.append(index)
        else:
            tails[length], at[length] = y, index
    run: list[tuple[int, int]] = []
    index = at[-1] if at else -1
    while index >= 0:
        run.append(pairs[index])
        index = before[index]
    return run[::-1]


def _fill(
    a: Sequence[str],
    b: Sequence[str],
    masks: Sequence[bool],
    part: tuple[int, int, int, int],
    found: list[int],
) -> None:
    """Align a part without anchors by dynamic programming in a band."""
    first, n, start, m = part
    rows, columns = n - first, m - start
    half = min(_WIDEST, max(_HALF_BAND, abs(rows - columns)))
    half = max(half, columns // rows + 1)  # or the bands of two rows do not meet
    steps: list[tuple[int, bytearray]] = []
    low, above = 0, [_NEW * j for j in range(min(columns, half) + 1)]
    is_mask = masks[start:m]
    for i in range(1, rows + 1):
        middle = i * columns // rows
        left, right = max(0, middle - half), min(columns, middle + half)
        word = a[first + i - 1]
        costs = [
            0.0 if word == b[start + j] else _MASKED if is_mask[j] else _OTHER
            for j in range(max(0, left - 1), right)
        ]
        above, moves = _line(above, left - low, left, costs, is_mask)
        steps.append((left, moves))
        low = left
    i, j = rows, columns
    while i:
        left, moves = steps[i - 1]
        move = moves[j - left]
        if move == _FROM_LEFT:
            j -= 1
            continue
        i -= 1
        if move == _DIAGONAL:
            j -= 1
            found[first + i] = start + j
        elif move == _GROWN:
            found[first + i] = start + j - 1


def _line(
    above: list[float],
    shift: int,
    left: int,
    costs: Sequence[float],
    is_mask: Sequence[bool],
) -> tuple[list[float], bytearray]:
    """Compute a line of the table of edits from the one above it.

    The line has the columns from ``left`` on. Column j is at
    ``above[j - left + shift]``, and the last of ``costs`` belongs to its last column.
    """
    far = float("inf")
    count = len(costs) + (left == 0)
    line, moves = [far] * count, bytearray(count)
    for k in range(count):
        j, at = left + k, k + shift
        best, move = far, _DIAGONAL
        if j and 0 < at <= len(above):
            best = above[at - 1] + costs[j - max(1, left)]
        if at < len(above):
            grows = j > 0 and is_mask[j - 1]
            other = above[at] + (_MASKED if grows else _NEW)
            if other < best:
                best, move = other, _GROWN if grows else _FROM_ABOVE
        if k and line[k - 1] + _NEW < best:
            best, move = line[k - 1] + _NEW, _FROM_LEFT
        line[k], moves[k] = best, move
    return line, moves


def _cost(
    a: Sequence[str], b: Sequence[str], masks: Sequence[bool], found: Sequence[int]
) -> float:
    """Add up what the edits of an alignment cost."""
    cost = _NEW * (len(b) - len({y for y in found if y != GONE}))
    for word, y in zip(a, found, strict=True):
        if y == GONE:
            cost += _NEW
        elif word != b[y]:
            cost += _MASKED if masks[y] else _OTHER
    return cost
