"""One version of Unicode, so that keyed releases repeat under every Python.

Python 3.11 knows Unicode 14.0, and later ones know more; ``regex`` knows whatever its
own version does. So a character that Unicode 14.0 does not have is taken from a list of
ours: the lookup leaves it as it is, and the tokenizer sees another one of its kind.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

VERSIONS: Final = {"tokenizer": "17.0", "lookup": "14.0.0"}
"""Unicode versions that the tokenizer and the lookup cover completely."""

_LIST: Final = Path(__file__).parent / "data" / "later_characters.txt"
_STAND_INS: Final = {
    "letter": "\u4e00",
    "mark": "\u0301",
    "digit": "\u0660",
    "format": "\u2060",
    "other": "\ufffe",  # no version will ever assign it
}
"""An old character of each kind, without a role of its own in the tokenizer."""

_ASTRAL: Final = 0x10000

# A final sigma follows a letter with case, behind marks that are overlooked. Since
# Unicode 14.0, one such letter has lost its case, and one such mark counts.
_SIGMA_CONTEXT: Final = str.maketrans({"\u0295": "a", "\U0001171e": "\u0301"})


class _Later(NamedTuple):
    """The list: a pattern of its characters, and where each run of one kind begins."""

    pattern: re.Pattern[str]
    starts: list[int]
    stand_ins: list[str]

    def stand_in(self, found: re.Match[str]) -> str:
        """Return the old character for a later one."""
        return self.stand_ins[bisect_right(self.starts, ord(found[0])) - 1]


def later_runs() -> Iterator[tuple[int, int, str]]:
    """Yield the first and last code point of each run of one kind, and its stand-in.

    >>> sum(end - start + 1 for start, end, _ in later_runs()) > 800_000
    True
    """
    for line in _LIST.read_text("utf-8").splitlines():
        if not line.startswith("#"):
            points, _, kind = line.partition(" ")
            first, _, last = points.partition("..")
            yield int(first, 16), int(last or first, 16), _STAND_INS[kind]


@functools.cache
def _later() -> _Later:
    """Read the list; only a text outside of ASCII asks for it."""
    starts: list[int] = []
    stand_ins: list[str] = []
    runs: list[list[int]] = []  # without their kinds
    for start, end, stand_in in later_runs():
        starts.append(start)
        stand_ins.append(stand_in)
        if runs and runs[-1][1] == start - 1:
            runs[-1][1] = end
        else:
            runs.append([start, end])
    ranges = [(start, f"{chr(start)}-{chr(end)}") for start, end in runs]
    low = "".join(text for start, text in ranges if start < _ASTRAL)
    high = "".join(text for start, text in ranges if start >= _ASTRAL)
    # Characters of the first plane, which most are, are not compared with the many runs
    # behind it.
    astral = rf"[\U00010000-\U0010ffff](?<=[{high}])"
    return _Later(re.compile(rf"([{low}]|{astral})"), starts, stand_ins)


def has_later(text: str) -> bool:
    """Tell whether a text has a character that Unicode 14.0 does not have.

    >>> has_later("Ünïcode"), has_later(chr(0x1E030))
    (False, True)
    """
    return _later().pattern.search(text) is not None


def with_stand_ins(text: str) -> str:
    """Put an old character of the same kind in place of each later one."""
    later = _later()
    return later.pattern.sub(later.stand_in, text)


def without_later(text: str) -> str:
    """Put a character that no version will ever assign in place of each later one."""
    return _later().pattern.sub(_STAND_INS["other"], text)


def with_old_case(text: str) -> str:
    """Write a text whose characters are letters, digits and capitals as they once were.

    ``isalpha``, ``isdigit``, ``isupper`` and ``islower`` of each character are those of
    Unicode 14.0, whatever this Python knows.

    >>> with_old_case("Oslo"), with_old_case(chr(0x295)), with_old_case(chr(0x1C89))
    ('Oslo', 'a', '\ufffe')
    """
    if text.isascii():
        return text
    return without_later(text).translate(_SIGMA_CONTEXT)


def fold(word: str) -> str:
    """NFKC, no format characters, small letters, and NFC, all of Unicode 14.0.

    >>> fold("ＯＳＬＯ"), fold("ΟΔΟΣ"), fold(chr(0x1E030)) == chr(0x1E030)
    ('oslo', 'οδος', True)
    """
    # A character that is not assigned composes with none, and ends what is sorted and
    # what a final sigma looks at. So what is between two of them is folded by itself.
    pieces = _later().pattern.split(word)
    pieces[::2] = map(_fold, pieces[::2])
    return "".join(pieces)


def _fold(word: str) -> str:
    word = unicodedata.normalize("NFKC", word)
    word = "".join(c for c in word if unicodedata.category(c) != "Cf")
    return unicodedata.normalize("NFC", lower(word))


def lower(word: str) -> str:
    """Small letters, where a final sigma is what it is in Unicode 14.0.

    >>> lower("ΟΔΟΣ"), lower(chr(0x295) + "Σ").endswith("ς")
    ('οδος', True)
    """
    found = word.lower()
    if "Σ" not in word:
        return found
    sigmas = (c for c in word.translate(_SIGMA_CONTEXT).lower() if c in "σς")
    return "".join(next(sigmas) if c in "σς" else c for c in found)
