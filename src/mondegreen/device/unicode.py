"""What the tokenizer and the lookup know of Unicode, as tables for other languages.

No engine knows the same version of Unicode as the next, so a device takes nothing from
its own. The tables are those of :mod:`mondegreen.text.unicode` under every Python.
"""

from __future__ import annotations

import functools
import sys
import unicodedata
from collections.abc import Iterable
from typing import Final

import numpy as np
import regex

from mondegreen.device.coding import runs, strings
from mondegreen.text.unicode import later_runs, lower, with_old_case

_EVERY: Final = sys.maxunicode + 1
_HANGUL: Final = range(0xAC00, 0xD7A4)
_CLASSES: Final = (r"\p{L}", r"\p{M}", r"\p{N}", r"\p{Cf}")
_CASELESS: Final = frozenset(("Cn", "Co", "Cs"))  # nine characters in ten
_SIGMA: Final = "Σ"
_FINAL: Final = "ς"
_NONE: Final = "\ufffe"  # no version will ever assign it


@functools.cache
def tables() -> dict[str, bytes]:
    """The tables by name; ``docs/reference/device-format.md`` says what each holds.

    >>> sorted(tables())
    ['classes', 'combining', 'compositions', 'decompositions', 'lower', 'removed', \
'sigma']
    """
    stood, old = _every()
    known = set(old)  # a quarter of all: one stands for those that nobody has assigned
    lower = {c: small for c in known if (small := c.lower()) != c}
    split = {c: parts for c in known if (parts := _normal("NFKD", c)) != c}
    hangul = frozenset(map(chr, _HANGUL))
    pairs = {c: parts for c in split if c not in hangul and (parts := _pair(c))}
    beside_sigma = _beside_sigma(known)
    return {
        "classes": runs(_classes(stood)),
        "combining": runs(map(unicodedata.combining, old)),
        "compositions": strings(_points(pairs)),
        "decompositions": strings(
            _points({c: parts for c, parts in split.items() if c not in hangul})
        ),
        "lower": strings(_points(lower)),
        "removed": runs(kind == "Cf" for kind in map(unicodedata.category, old)),
        "sigma": runs(map(beside_sigma.__getitem__, old)),
    }


@functools.cache
def letters() -> bytes:
    """What a policy asks of the characters of a word: sums, as runs.

    1 a letter, 2 a small one, 4 a capital, 8 a digit, 16 a title letter.
    """
    every = with_old_case(_every()[1])
    sums = {
        c: c.isalpha()
        + 2 * c.islower()
        + 4 * c.isupper()
        + 8 * c.isdigit()
        + 16 * (c.istitle() and not c.isupper())
        for c in set(every)
    }
    return runs(map(sums.__getitem__, every))


@functools.cache
def _every() -> tuple[str, str]:
    """All characters in order: later ones by old ones of their kind, and by none."""
    stood = np.arange(_EVERY, dtype="<u4")
    for start, end, stand_in in later_runs():
        stood[start : end + 1] = ord(stand_in)
    old = np.where(stood == np.arange(_EVERY), stood, ord(_NONE)).astype("<u4")
    text, old_text = (
        points.tobytes().decode("utf-32-le", "surrogatepass") for points in (stood, old)
    )
    return text, old_text


def _classes(every: str) -> list[int]:
    """1 to 4 for letters, marks, digits and format characters; 0 for all others."""
    found = np.zeros(_EVERY, dtype=np.uint8)
    for number, kind in enumerate(_CLASSES, start=1):
        for match in regex.finditer(f"{kind}+", every):
            found[match.start() : match.end()] = number
    values: list[int] = found.tolist()
    return values


def _normal(form: str, text: str) -> str:
    return unicodedata.normalize(form, text)  # type: ignore[arg-type]


def _pair(c: str) -> str:
    """The two characters that compose to one, or nothing."""
    parts = unicodedata.decomposition(c).split()
    is_pair = len(parts) == 2 and not parts[0].startswith("<")
    if not is_pair or _normal("NFC", c) != c:  # which is excluded from composition
        return ""
    return "".join(chr(int(part, 16)) for part in parts)


def _points(table: dict[str, str]) -> dict[int, list[int]]:
    return {ord(c): list(map(ord, parts)) for c, parts in table.items()}


def _beside_sigma(known: Iterable[str]) -> dict[str, int]:
    """What a small sigma makes of its neighbour: 1 a letter with case, 2 overlooked.

    A sigma at the end of a word has a form of its own.
    """
    found = dict.fromkeys(known, 0)
    asked = [c for c in found if unicodedata.category(c) not in _CASELESS]
    for value, before in ((2, "A"), (1, "")):  # who has case makes it final alone, too
        words = lower(_NONE.join(before + c + _SIGMA for c in asked)).split(_NONE)
        for c, word in zip(asked, words, strict=True):
            if word.endswith(_FINAL):
                found[c] = value
    return found
