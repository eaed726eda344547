"""Presidio: an operator for detected spans, and a function for all the rest too.

A detector knows what it finds, and nothing of what it misses. The operator privatizes
the words that it found; :func:`privatize` can do the reverse, and mask what was found
while every other word goes through the mechanism.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate, pairwise
from typing import Any, Final, NamedTuple

from mondegreen.errors import (
    ConfigurationError,
    InvalidParameterError,
    OptionalDependencyError,
)
from mondegreen.guarantee import Guarantee
from mondegreen.integrations.options import OPTIONS, build_with_options
from mondegreen.integrations.spec import Given, check_ids, make_privatizer
from mondegreen.privatizer.privatizer import Privatizer
from mondegreen.privatizer.release import list_texts
from mondegreen.sampling.records import record_ids
from mondegreen.settings import check_names
from mondegreen.text.tokenizer import tokenize

try:
    from presidio_anonymizer.operators import Operator, OperatorType
except ModuleNotFoundError as error:
    raise (OptionalDependencyError.from_import(error) or error) from None

_NAME: Final = re.compile("[A-Za-z0-9_]{1,64}")
_UNNAMED: Final = "ENTITY"
_ALIKE: Final = "leave what the analyzer finds as it is, spans and types"
_SPANS: Final = "how many and where, which may depend on any word of their text"
_PLACES: Final = {
    False: (
        "text outside of detected spans: every character that the analyzer does not "
        "find, and that touches no word it finds",
        f"detected spans: {_SPANS}",
    ),
    True: (f"detected spans: {_SPANS}; each is printed as a mask",),
}


class Released(NamedTuple):
    """What may be released, and what it promises."""

    text: Any
    guarantee: Guarantee


class PrivateTextOperator(Operator):
    """The operator ``mondegreen`` of Presidio: privatizes the words of a span.

    ``AnonymizerEngine().add_anonymizer(PrivateTextOperator)`` makes it known. Its
    parameters are ``privatizer``, a :class:`mondegreen.Privatizer`; or those of
    :data:`mondegreen.integrations.options.OPTIONS`, such as ``epsilon`` or ``spec``.
    There is no key, since an operator is not told which record it works on.

    Words outside of spans pass unchanged, and where two spans overlap, the words in
    both are released twice: pass
    ``conflict_resolution=ConflictResolutionStrategy.REMOVE_INTERSECTIONS``, or take
    :func:`privatize`. What this promises is :func:`state_guarantee`.

    Examples
    --------
    >>> from presidio_anonymizer import AnonymizerEngine
    >>> from presidio_anonymizer.entities import OperatorConfig, RecognizerResult
    >>> engine = AnonymizerEngine()
    >>> engine.add_anonymizer(PrivateTextOperator)
    >>> found = [RecognizerResult("PERSON", 6, 9, 0.9)]
    >>> operators = {"PERSON": OperatorConfig("mondegreen", {"epsilon": 12.0})}
    >>> text = engine.anonymize("I met Ann in Oslo.", found, operators).text
    >>> text[:6], text[-9:]
    ('I met ', ' in Oslo.')
    """

    def operate(self, text: str, params: Mapping[str, Any] | None = None) -> str:
        """Privatize the words of one span."""
        (released,), _ = _privatizer_in(params or {}).texts([text], None, "text")
        return released or ""

    def validate(self, params: Mapping[str, Any] | None = None) -> None:
        """Refuse parameters that do not exist, without preparing anything."""
        given = _own(params or {})
        if "key_env" in given:
            raise ConfigurationError(
                "an operator does not know the record, so it cannot use a key. Use "
                "mondegreen.integrations.presidio.privatize with ids="
            )
        if "privatizer" in given and len(given) > 1:
            raise ConfigurationError(
                "a privatizer holds all settings: leave out the others"
            )
        check_names((name for name in given if name != "privatizer"), OPTIONS)

    def operator_name(self) -> str:
        """Return the name by which configurations ask for it."""
        return "mondegreen"

    def operator_type(self) -> Any:
        """Return that it anonymizes: there is no way back."""
        return OperatorType.Anonymize


def privatize(
    texts: str | Sequence[Any],
    analyzer_results: Sequence[Any],
    privatizer: Given,
    *,
    also_rest: bool = False,
    types: Iterable[str] = (),
    ids: Any = None,
    column: str = "text",
) -> Released:
    """Privatize the words that an analyzer found, or mask them and privatize the rest.

    A word that a span touches belongs to it, and spans that overlap or touch are one,
    of the type of the longest.

    Parameters
    ----------
    texts : str, or sequence of str or null
        What was analyzed.
    analyzer_results : sequence, or one for each text
        What ``AnalyzerEngine.analyze`` returned: ``start``, ``end`` and
        ``entity_type`` are read.
    privatizer : Privatizer or mapping
        Or its settings: a :class:`mondegreen.Settings`, a mapping of settings by
        their names, or what ``Privatizer.to_dict`` returns.
    also_rest : bool
        False privatizes what was found and leaves all else unchanged. True prints a
        mask in place of what was found, which has no part in the release then, and
        privatizes all else.
    types : sequence of str
        *Public* entity types that a mask may name, as ``<PERSON>``; all others are
        printed as ``<ENTITY>``. Only with ``also_rest``.
    ids : sequence of str or int, optional
        One identifier per text, or one for one text; for keyed noise, and for no other.
    column : str
        Logical column, for keyed noise.

    Returns
    -------
    Released
        ``text``, one or a list, nulls as None; and ``guarantee``.

    Raises
    ------
    InvalidParameterError
        If a span is not inside of its text, or there are not as many lists of results
        as texts, or there are types without ``also_rest``.
    ConfigurationError
        If there are ids, and the noise has no use for them.

    Examples
    --------
    >>> import mondegreen as mg
    >>> from presidio_anonymizer.entities import RecognizerResult
    >>> p = mg.Privatizer(mg.mechanism("tree", epsilon=10.0))
    >>> found = [RecognizerResult("PERSON", 6, 9, 0.9)]
    >>> some = {"also_rest": True, "types": ["PERSON"]}
    >>> released = privatize("I met Ann in Oslo.", found, p, **some)
    >>> len(released.text.split()), released.text.split()[2]
    (5, '<PERSON>')
    >>> released.guarantee.disclosed[-1].partition(":")[0]
    'types of detected spans'
    """
    chosen, named = make_privatizer(privatizer), _types(types, also_rest)
    is_one = isinstance(texts, str)
    given = list_texts([texts] if is_one else list(texts))
    results = [analyzer_results] if is_one else list(analyzer_results)
    if len(results) != len(given):
        allowed = f"a list for each of {len(given)} texts"
        raise InvalidParameterError("analyzer_results", f"{len(results)}", allowed)
    check_ids(chosen, ids)
    records = record_ids([ids] if is_one and ids is not None else ids, len(given))
    cuts = [_cut(*each) for each in zip(given, results, strict=True)]
    # Pieces alternate, beginning outside of spans; those that are drawn have their
    # place among the pieces of their text, for keyed noise.
    drawn = [(i, k) for i, cut in enumerate(cuts) for k in _sample(cut, also_rest)]
    released, _ = chosen.texts(
        [cuts[i].pieces[k] for i, k in drawn],
        None if records is None else [records[i] for i, _ in drawn],
        column,
        [k // 2 for _, k in drawn],
    )
    for (i, k), text in zip(drawn, released, strict=True):
        cuts[i].pieces[k] = text or ""
    if also_rest:
        for cut in cuts:
            _mask(cut, named)
    found = [
        None if text is None else "".join(cut.pieces)
        for text, cut in zip(given, cuts, strict=True)
    ]
    guarantee = state_guarantee(chosen, also_rest=also_rest, types=named)
    return Released(found[0] if is_one else found, guarantee)


def state_guarantee(
    privatizer: Given,
    *,
    also_rest: bool = False,
    types: Iterable[str] = (),
) -> Guarantee:
    """State what :func:`privatize` promises; without the rest, the operator too."""
    disclosed, named = _PLACES[bool(also_rest)], _types(types, also_rest)
    if named:
        listed = f"types of detected spans: one of {', '.join(named)}, or none of them"
        disclosed = (*disclosed, listed)
    conditions = (_ALIKE,) if also_rest else ("are found by the analyzer", _ALIKE)
    return make_privatizer(privatizer).guarantee.with_text(disclosed, conditions)


class _Cut(NamedTuple):
    """A text in pieces, outside and inside of spans in turn, and the types of spans."""

    pieces: list[str]
    types: list[str]


def _cut(text: str | None, results: Sequence[Any]) -> _Cut:
    if text is None:
        return _Cut([""], [])
    spans: list[tuple[int, int, int, str]] = []
    for start, end, name in _whole_words(text, results):
        if spans and start <= spans[-1][1]:
            begun, ended, longest, kind = spans[-1]
            kind = name if end - start > longest else kind
            spans[-1] = begun, max(end, ended), max(longest, end - start), kind
        else:
            spans.append((start, end, end - start, name))
    ends = [
        0,
        *(place for start, end, *_ in spans for place in (start, end)),
        len(text),
    ]
    pieces = [text[a:b] for a, b in pairwise(ends)]
    return _Cut(pieces, [name for *_, name in spans])


def _whole_words(text: str, results: Sequence[Any]) -> list[tuple[int, int, str]]:
    """Widen spans to the words that they touch, and sort them."""
    (parts,) = tokenize([text]).parts
    edges = list(accumulate(map(len, parts or ()), initial=0))
    starts, ends = edges[1::2], edges[2::2]  # of words
    found = []
    for result in results or ():
        start, end = result.start, result.end
        if not 0 <= start <= end <= len(text):
            raise InvalidParameterError("span", "one that is not", "inside of its text")
        if start == end:
            continue
        first, last = bisect_right(ends, start), bisect_left(starts, end) - 1
        if first <= last:
            start, end = min(start, starts[first]), max(end, ends[last])
        found.append((start, end, str(result.entity_type)))
    return sorted(found)


def _sample(cut: _Cut, also_rest: bool) -> Iterable[int]:
    """List the pieces that go through the mechanism."""
    return range(0 if also_rest else 1, len(cut.pieces), 2)


def _mask(cut: _Cut, named: tuple[str, ...]) -> None:
    """Print a mask for each span, apart from released words beside it."""
    for k, kind in enumerate(cut.types):
        before, after = cut.pieces[2 * k][-1:], cut.pieces[2 * k + 2][:1]
        left = " " * (before.isalnum() or before == ".")
        right = " " * after.isalnum()
        mask = kind if kind in named else _UNNAMED
        cut.pieces[2 * k + 1] = f"{left}<{mask}>{right}"


def _types(types: Iterable[str], also_rest: bool) -> tuple[str, ...]:
    if isinstance(types, str):
        raise InvalidParameterError("types", "one string", "a sequence of entity types")
    named = tuple(sorted(set(types)))
    if not all(isinstance(name, str) and _NAME.fullmatch(name) for name in named):
        allowed = "public entity types, of letters, digits and underscores"
        raise InvalidParameterError("types", "other strings", allowed)
    if named and not also_rest:
        allowed = "none without also_rest=True, as only masks name them"
        raise InvalidParameterError("types", f"{len(named)}", allowed)
    return named


def _own(params: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out what the engine adds for every operator."""
    return {name: value for name, value in params.items() if name != "entity_type"}


def _privatizer_in(params: Mapping[str, Any]) -> Privatizer:
    given = _own(params)
    if "privatizer" in given:
        return make_privatizer(given["privatizer"])
    return build_with_options(given)
