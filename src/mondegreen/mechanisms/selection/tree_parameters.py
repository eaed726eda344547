"""The parameters of the tree mechanism: odds and chances, checked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from mondegreen.errors import InvalidParameterError

__all__ = ["check_chances", "check_count", "class_chances", "numbers"]

_ROUNDING: Final = 1e-9


def numbers(
    name: str, values: Sequence[float] | None, largest: float
) -> tuple[float, ...] | None:
    """Return numbers as floats; refuse what is no list of them, or out of range."""
    if values is None:
        return None
    allowed = f"numbers in [0, {largest:g}], as many as the tree has levels for"
    if not isinstance(values, (tuple, list)) or not all(map(_is_number, values)):
        raise InvalidParameterError(name, values, allowed)
    found = tuple(float(value) for value in values)
    if not all(0 <= value <= largest for value in found):
        raise InvalidParameterError(name, values, allowed)
    return found


def class_chances(values: Any) -> tuple[tuple[str, tuple[float, ...]], ...] | None:
    """Return words and probabilities; refuse what is neither a mapping nor pairs."""
    if values is None:
        return None
    allowed = "words, each with numbers of sum 1, the last above 0"
    try:
        given = [(str(word), shares) for word, shares in dict(values).items()]
    except (TypeError, ValueError):
        raise InvalidParameterError("of_class", values, allowed) from None
    found = []
    for word, each in sorted(given, key=lambda pair: pair[0]):
        shares = numbers("of_class", each, 1.0)
        if not shares:
            raise InvalidParameterError("of_class", values, allowed)
        check_chances("of_class", shares)
        found.append((word, shares))
    return tuple(found)


def check_chances(name: str, shares: tuple[float, ...]) -> None:
    """Refuse what are no chances, or leave the root none."""
    if abs(sum(shares) - 1) > _ROUNDING or not shares[-1] > 0:
        allowed = "numbers of sum 1, the last above 0"
        raise InvalidParameterError(name, shares, allowed)


def _is_number(value: object) -> bool:
    """Whether a value is a real number and no truth value."""
    real = (int, float, np.integer, np.floating)
    return isinstance(value, real) and not isinstance(value, bool)


def check_count(name: str, values: tuple[float, ...], count: int) -> None:
    """Refuse a list of another length than the tree needs."""
    if len(values) != count:
        raise InvalidParameterError(name, values, f"{count} numbers for this tree")
