"""A warning of columns that pass unchanged and look like names, addresses or ids."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from mondegreen.cli.render import say

if TYPE_CHECKING:
    import pyarrow as pa

    from mondegreen.io.base import AbstractSource

_NAMES: Final = frozenset(
    "address author birth birthday birthdate client contact customer dob email "
    "employee familyname firstname forename fullname givenname guid iban id ids ip "
    "lastname login mail maidenname member mobile name names nickname owner passport "
    "patient phone reviewer sender ssn street student surname telephone user userid "
    "username uuid".split()
)
"""Words in the name of a column that speak of a person, or of the record."""

# In the name of a column: "customerId" and "customer_id" are two words.
_words = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])").findall

_SHAPES: Final = tuple(
    re.compile(shape).fullmatch
    for shape in (
        r"[^\s@]+@[^\s@]+\.[^\s@]+",  # an e-mail address
        r"[^\W\d_][\w'’-]+( [^\W\d_]\.)?( [A-Z][\w'’-]+){1,2}",  # Ann B. Miller
        r"[0-9A-Fa-f]{8}(-?[0-9A-Fa-f]{4}){3}-?[0-9A-Fa-f]{12}",  # a UUID
        r"[A-Za-z]{0,4}[-_]?\d{6,}",  # a number of a customer
    )
)
_VALUES: Final = 100
_SHARE: Final = 0.5
"""A column is named if so many of its first values have one of the shapes."""


def warn_of_other_columns(
    source: AbstractSource, batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Pass batches on; look at the first one, before any of it is written, and warn.

    The warning holds names of columns, never values. Of JSON, it is about the fields at
    the top of the records.
    """
    for number, batch in enumerate(batches):
        if not number:
            _warn(source, batch)
        yield batch


def _warn(source: AbstractSource, batch: pa.RecordBatch) -> None:
    others = source.others(batch, _VALUES).items()
    found = [name for name, values in others if _is_personal(name, values)]
    if found:
        listed = ", ".join(map(repr, found))
        say(
            f"Warning: {source.name}: other columns look like names, addresses or ids: "
            f"{listed}. They pass unchanged. Leave them out with --drop NAME, or add "
            "--column NAME if they are text.",
        )


def _is_personal(name: str, values: list[Any]) -> bool:
    """Whether the name of a column, or the shape of its values, speaks of a person."""
    words = [word.lower() for word in _words(name)]
    return not _NAMES.isdisjoint([*words, "".join(words)]) or _has_shape(values)


def _has_shape(cells: list[Any]) -> bool:
    """Whether many of the values, of those that are text, have one shape."""
    texts = [cell.strip() for cell in cells if isinstance(cell, str) and cell.strip()]
    least = max(1, _SHARE * len(texts))
    return any(sum(map(bool, map(shape, texts))) >= least for shape in _SHAPES)
