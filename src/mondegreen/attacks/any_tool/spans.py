"""Annotated spans of a text, in the forms that other tools write."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

_STARTS: Final = ("start", "start_char", "begin", "start_offset")
_ENDS: Final = ("end", "end_char", "stop", "end_offset")
_KINDS: Final = ("entity_type", "label", "kind", "type", "entity_group", "entity")
_LISTS: Final = ("entities", "ents", "spans", "results", "items", "label")


class Annotation(NamedTuple):
    """A unit that somebody marked: character offsets of the original, and its kind."""

    start: int
    end: int
    kind: str


class SpanError(ValueError):
    """Raised when a field holds no spans; says what is wrong and quotes nothing."""


def read_spans(field: Any, text: str) -> list[Annotation]:
    r"""Read the spans of one text.

    Parameters
    ----------
    field : str, list, mapping or None
        JSON offsets ``[[start, end, kind], ...]``; objects with ``start``, ``end`` and
        ``entity_type`` (Presidio) or ``label`` (spaCy), alone or under ``entities``,
        ``ents`` or ``spans``; or lines of CoNLL, a token first and its BIO tag last.
        Any of these as JSON text, too. None stands for no spans.
    text : str
        The text that the offsets count the characters of.

    Returns
    -------
    list of Annotation
        In order, without repetition.

    Raises
    ------
    SpanError
        Where the field is of another form, or a span is outside the text.

    Examples
    --------
    >>> read_spans('[[5, 8, "PERSON"]]', "I am Ann.")
    [Annotation(start=5, end=8, kind='PERSON')]
    >>> read_spans([{"start": 5, "end": 8, "entity_type": "PERSON"}], "I am Ann.")
    [Annotation(start=5, end=8, kind='PERSON')]
    >>> read_spans("I O\nam O\nAnn B-PER\n. O", "I am Ann.")
    [Annotation(start=5, end=8, kind='PER')]
    """
    if isinstance(field, str):
        given = field.strip()
        if not given:
            return []
        if given[0] not in "[{":
            return _of_lines(given.splitlines(), text)
        try:
            field = json.loads(given)
        except ValueError:
            raise SpanError("it is not valid JSON") from None
    if isinstance(field, Mapping):
        field = next((field[name] for name in _LISTS if name in field), None)
    if field is None:
        return []
    if isinstance(field, str) or not isinstance(field, Sequence):
        raise SpanError("it is not a list of spans")
    found = {_annotation(each, len(text)) for each in field}
    return sorted(found)


def _annotation(given: Any, length: int) -> Annotation:
    """Read one span, a list or an object."""
    if isinstance(given, Mapping):
        start, end = (_first(given, names) for names in (_STARTS, _ENDS))
        kind = _first(given, _KINDS)
    elif isinstance(given, Sequence) and not isinstance(given, str) and len(given) >= 2:
        start, end, kind = given[0], given[1], given[2] if len(given) > 2 else None
    else:
        raise SpanError("a span is neither [start, end, kind] nor an object")
    if type(start) is not int or type(end) is not int:
        raise SpanError("the start and end of a span must be whole numbers")
    if not 0 <= start < end <= length:
        raise SpanError("a span is empty or ends after its text")
    return Annotation(start, end, "unit" if kind is None else str(kind))


def _first(given: Mapping[str, Any], names: Sequence[str]) -> Any:
    return next((given[name] for name in names if name in given), None)


def _of_lines(lines: Sequence[str], text: str) -> list[Annotation]:
    """Find the tokens of CoNLL lines in the text, and join B, I, L, U and S tags."""
    found: list[Annotation] = []
    place, is_open = 0, False
    for line in lines:
        fields = line.split()
        if not fields or fields[0] in ("-DOCSTART-", "#"):
            is_open = False
            continue
        token, tag = fields[0], fields[-1]
        start = text.find(token, place)
        if len(fields) < 2 or start < 0:
            raise SpanError("lines of CoNLL need a token of the text and its tag")
        place = start + len(token)
        mark, _, kind = tag.partition("-")
        if tag in ("O", "_", "-"):
            is_open = False
        elif is_open and mark in ("I", "L", "E") and found[-1].kind == (kind or "unit"):
            found[-1] = found[-1]._replace(end=place)
        else:
            found.append(Annotation(start, place, kind or "unit"))
            is_open = True
    return found
