"""Surrogates that anybody can compute from their words: hashes without a secret."""

from __future__ import annotations

import hashlib
import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import Final

_SHORTEST: Final = 6
"""Hexadecimal digits of a hash that are recognized at least."""

_STARTS: Final = 8
"""Places where the hash may start: a letter before it may look like a digit."""

_find_runs = re.compile(rf"[0-9a-f]{{{_SHORTEST},}}").findall

_HASHES: Final[tuple[Callable[[bytes], str], ...]] = (
    lambda word: hashlib.md5(word, usedforsecurity=False).hexdigest(),
    lambda word: hashlib.sha1(word, usedforsecurity=False).hexdigest(),
    lambda word: hashlib.sha256(word).hexdigest(),
    lambda word: f"{zlib.crc32(word):08x}",
)


def find_hashed(surrogates: Iterable[str], words: Iterable[str]) -> dict[str, str]:
    """Find the words whose hash is printed as a surrogate.

    MD5, SHA-1, SHA-256 and CRC-32 in hexadecimal digits are tried, of each word in
    small letters, with a capital and in capitals. A surrogate may show the first six
    digits or more, behind other letters.

    Parameters
    ----------
    surrogates : iterable of str
    words : iterable of str
        Words that may be behind them; the first one counts if several have a hash.

    Returns
    -------
    dict of str to str
        The word of each surrogate that is a hash.

    Examples
    --------
    >>> find_hashed(["u5a121fa", "rome", "place_bcc48172"], ["anna", "oslo"])
    {'place_bcc48172': 'oslo'}
    """
    runs = {each: [*_list_ends(each)] for each in surrogates}
    if not any(runs.values()):
        return {}
    starts = {end[:_SHORTEST] for ends in runs.values() for end in ends}
    hashes: dict[str, list[tuple[str, str]]] = {}
    for word in words:
        for digits in _compute_hashes(word):
            if digits[:_SHORTEST] in starts:
                hashes.setdefault(digits[:_SHORTEST], []).append((digits, word))
    found: dict[str, str] = {}
    for surrogate, ends in runs.items():
        fitting = (
            word
            for end in ends
            for digits, word in hashes.get(end[:_SHORTEST], ())
            if digits.startswith(end)
        )
        if (first := next(fitting, None)) is not None:
            found[surrogate] = first
    return found


def _compute_hashes(word: str) -> Iterator[str]:
    """Compute all hashes of a word, in small letters, with a capital, in capitals."""
    for form in dict.fromkeys((word, word.title(), word.upper())):
        for compute in _HASHES:
            yield compute(form.encode())


def _list_ends(surrogate: str) -> Iterator[str]:
    """List what may be a hash: ends of runs of hexadecimal digits."""
    for run in _find_runs(surrogate.lower()):
        for start in range(min(_STARTS, len(run) - _SHORTEST + 1)):
            yield run[start:]
