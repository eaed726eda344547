"""Lists of integers as bytes: seven bits in each, least first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain


def numbers(values: Iterable[int]) -> bytes:
    """Write integers of at least 0, each as LEB128.

    >>> numbers([5, 300]).hex()
    '05ac02'
    """
    found = bytearray()
    for value in values:
        while value > 0x7F:
            found.append(value & 0x7F | 0x80)
            value >>= 7
        found.append(value)
    return bytes(found)


def to_signed(value: int) -> int:
    """Fold an integer into one of at least 0: 0, -1, 1, -2, ... become 0, 1, 2, 3, ...

    >>> [to_signed(value) for value in (0, -1, 1, -2)]
    [0, 1, 2, 3]
    """
    return 2 * value if value >= 0 else -2 * value - 1


def runs(values: Iterable[int]) -> bytes:
    """Write values as runs: how far behind the last each begins, and its value.

    What precedes the first run has value 0.

    >>> runs([0, 0, 3, 3, 1]).hex()
    '02030201'
    """
    found: list[int] = []
    last = start = 0
    for place, value in enumerate(values):
        if value != last:
            found += [place - start, value]
            last, start = value, place
    return numbers(found)


def strings(table: Mapping[int, Iterable[int]]) -> bytes:
    """Write a short list of code points for each of some code points, in order.

    For each: how far it is from the last one, how many it has, and these, each less
    the one before it; the first less the code point itself.

    >>> strings({65: [97]}).hex(), strings({65: [97], 66: [98]}).hex()
    ('410140', '410140010140')
    """
    return numbers(chain.from_iterable(_steps(table)))


def _steps(table: Mapping[int, Iterable[int]]) -> Iterable[list[int]]:
    last = 0
    for key in sorted(table):
        before, steps = key, []
        for value in table[key]:
            steps.append(to_signed(value - before))
            before = value
        yield [key - last, len(steps), *steps]
        last = key
