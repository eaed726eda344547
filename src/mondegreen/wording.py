"""Numbers with their nouns, as people write them."""

from __future__ import annotations


def amount(number: int | str, noun: str) -> str:
    """Return a number with its noun, which takes an s unless there is just one.

    Parameters
    ----------
    number : int or str
        A count, or a number as it is to be shown.
    noun : str
        For one.

    Examples
    --------
    >>> amount(1, "row"), amount(12_000, "row"), amount("1.5", "nat")
    ('1 row', '12,000 rows', '1.5 nats')
    """
    shown = f"{number:,}" if isinstance(number, int) else number
    return f"{shown} {noun}" + ("" if shown == "1" else "s")
