"""A warning of columns that pass unchanged and look like names, addresses or ids."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeAlias

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

_Shape: TypeAlias = Callable[[str], re.Match[str] | None]

_FULL_NAME: Final[_Shape] = re.compile(
    r"[^\W\d_][\w'’-]+( [^\W\d_]\.)?( [A-Z][\w'’-]+){1,2}"  # Ann B. Miller
).fullmatch
_SHAPES: Final[tuple[_Shape, ...]] = (
    _FULL_NAME,
    *(
        re.compile(shape).fullmatch
        for shape in (
            r"[^\s@]+@[^\s@]+\.[^\s@]+",  # an e-mail address
            r"[0-9A-Fa-f]{8}(-?[0-9A-Fa-f]{4}){3}-?[0-9A-Fa-f]{12}",  # a UUID
            r"[A-Za-z]{0,4}[-_]?\d{6,}",  # a number of a customer
        )
    ),
)
_OF_PEOPLE: Final = frozenset(
    "agent author client contact customer employee familyname firstname forename "
    "fullname givenname lastname maidenname member name names nickname owner patient "
    "reviewer sender student surname".split()
)
"""Words in the name of a column whose values may be names of people."""

_VALUES: Final = 100
_SHARE: Final = 0.5
"""A column is named if so many of its first values have one of the shapes."""


def warn_of_other_columns(
    source: AbstractSource, batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Pass batches on; look at the first one, before any of it is written, and warn.

    The warning holds names of columns, never values. Fields within fields, as of JSON,
    are named by their paths.
    """
    for number, batch in enumerate(batches):
        if not number:
            _warn(source, batch)
        yield batch


def _warn(source: AbstractSource, batch: pa.RecordBatch) -> None:
    others = _read_others(source, batch)
    found = [path for path, values in others.items() if _is_personal(path, values)]
    if source.id_column is not None and source.id_column not in source.drop:
        say(
            f"Warning: {source.name}: the column of --id, {source.id_column!r}, is "
            "released as it is. If its ids identify people, leave it out with --drop "
            f"{source.id_column}."
        )
    if found:
        listed = ", ".join(map(repr, found))
        say(
            f"Warning: {source.name}: other columns look like names, addresses or ids: "
            f"{listed}. They pass unchanged. Leave them out with --drop NAME, or add "
            "--column NAME if they are text.",
        )


def find_name_columns(source: AbstractSource, batch: pa.RecordBatch) -> list[str]:
    """Find the columns beside the text that may hold names of people, by a batch."""
    return [
        path
        for path, values in _read_others(source, batch).items()
        if not _OF_PEOPLE.isdisjoint(_split_name(path))
        or _has_shape(values, (_FULL_NAME,))
    ]


def _read_others(source: AbstractSource, batch: pa.RecordBatch) -> dict[str, list[Any]]:
    """Read the first values that pass unchanged, by their paths."""
    others: dict[str, list[Any]] = {}
    for path, value in source.iterate_other_values(batch, _VALUES):
        others.setdefault(path, []).append(value)
    return others


def _split_name(path: str) -> list[str]:
    """Split the last name of a path into its words; the whole is one of them, too.

    >>> _split_name("order.customerId")
    ['customer', 'id', 'customerid']
    """
    words = [word.lower() for word in _words(path.rpartition(".")[2])]
    return [*words, "".join(words)]


def _is_personal(name: str, values: list[Any]) -> bool:
    """Whether the name of a column, or the shape of its values, speaks of a person.

    Of a path, the last name counts: what is in ``customer.language`` is no name.
    """
    return not _NAMES.isdisjoint(_split_name(name)) or _has_shape(values, _SHAPES)


def _has_shape(cells: list[Any], shapes: Sequence[_Shape]) -> bool:
    """Whether many of the values, of those that are text, have one of the shapes."""
    texts = [cell.strip() for cell in cells if isinstance(cell, str) and cell.strip()]
    least = max(1, _SHARE * len(texts))
    return any(sum(map(bool, map(shape, texts))) >= least for shape in shapes)
