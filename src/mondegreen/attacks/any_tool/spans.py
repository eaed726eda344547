"""Annotated spans of a text, in the forms that other tools write."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

_STARTS: Final = ("start", "start_char", "begin", "start_offset")
_ENDS: Final = ("end", "end_char", "stop", "end_offset")
_KINDS: Final = ("entity_type", "label", "kind", "type", "entity_group", "entity")
_LISTS: Final = ("entities", "ents", "spans", "results", "items", "label")

_LONGEST_KIND: Final = 40
"""Longer kinds are texts. Reports print kinds, so no text must be one."""


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
        Where the field is of another form, a span is outside the text, or a kind has
        more than 40 characters or a control character.

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
            return _check_kinds(_of_lines(given.splitlines(), text))
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
    return _check_kinds(sorted(found))


def _check_kinds(spans: list[Annotation]) -> list[Annotation]:
    """Refuse a kind that is a text."""
    for span in spans:
        if len(span.kind) > _LONGEST_KIND or not span.kind.isprintable():
            raise SpanError(
                f"a kind has more than {_LONGEST_KIND} characters, or a control "
                "character; a kind is a short name such as PERSON"
            )
    return spans


Move: TypeAlias = Callable[[Sequence[Annotation]], Sequence[Annotation | None]]
"""From spans of an original to those of its release; None for one that has none."""


def move_spans(field: Any, text: str, move: Move) -> Any:
    """Write the spans of a release in the form that the spans of its original have.

    Each span keeps its start, its end and its kind, and nothing else: a score or a
    copy of the text would disclose more. Spans come in order.

    Parameters
    ----------
    field : str, list, mapping or None
        As of :func:`read_spans`, but for lines of CoNLL.
    text : str
        The original.
    move : callable
        See :data:`Move`; such as a use of :meth:`mondegreen.Release.remap`.

    Returns
    -------
    str, list, mapping or None
        JSON text where ``field`` is a string.

    Raises
    ------
    SpanError
        As of :func:`read_spans`, and for lines of CoNLL.

    Examples
    --------
    >>> field = {"ents": [{"start": 5, "end": 8, "label": "PER", "text": "Ann"}]}
    >>> shift = lambda spans: [span._replace(end=span.end + 4) for span in spans]
    >>> move_spans(field, "I am Ann.", shift)
    {'ents': [{'start': 5, 'end': 12, 'label': 'PER'}]}
    """
    if isinstance(field, str):
        return _move_text(field, text, move)
    if field is None:
        return None
    if isinstance(field, Mapping):
        name = next((each for each in _LISTS if each in field), None)
        if name is None:
            raise SpanError("it is an object without a list of spans")
        return {name: move_spans(field[name], text, move)}
    spans = read_spans(field, text)
    if not spans:
        return []
    form = _Form.of(field[0])
    moved = (span for span in move(spans) if span is not None)
    return [form.write(span) for span in sorted(moved)]


def _move_text(field: str, text: str, move: Move) -> str:
    """Move spans that are written as JSON."""
    given = field.strip()
    if not given:
        return field
    if given[0] not in "[{":
        raise SpanError("lines of CoNLL have no offsets to move")
    try:
        loaded = json.loads(given)
    except ValueError:
        raise SpanError("it is no valid JSON") from None
    return json.dumps(move_spans(loaded, text, move), ensure_ascii=False)


class _Form(NamedTuple):
    """How a span is written: the names of its fields, or None for a list."""

    names: tuple[str, str] | None
    kind: str | None  # the name of the kind; of a list, whether there is one

    @classmethod
    def of(cls, span: Any) -> _Form:
        if isinstance(span, Mapping):
            start, end, kind = (
                next((name for name in names if name in span), None)
                for names in (_STARTS, _ENDS, _KINDS)
            )
            return cls((str(start), str(end)), kind)
        return cls(None, "kind" if len(span) > 2 else None)

    def write(self, span: Annotation) -> Any:
        if self.names is None:
            return list(span if self.kind else span[:2])
        offsets = dict(zip(self.names, span[:2], strict=True))
        return offsets | ({self.kind: span.kind} if self.kind else {})


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
