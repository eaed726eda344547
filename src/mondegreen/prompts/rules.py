"""What may be in a request: rules that pass, privatize, leave out or refuse a value.

A rule takes a value, the path of its field and a :class:`Walk`; it returns what is sent
in its place. Nothing is sent that no rule has returned.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, final

from mondegreen.errors import PrivacyError

_LARGEST: Final = 2**63
# Fields of the interface, and of its dialects, that an error may name: any other name
# may be a text of somebody.
_NAMED: Final = frozenset(
    "audio cache_control conversation extra_body file functions function_call "
    "image_url input_audio logit_bias name prompt reasoning_content strict "
    "thinking top_a user_location video voice web_search_options".split()
)
_SYMBOLS: Final = re.compile(r"[\s!-/:-@\[-`{-~]{0,16}")

LEFT_OUT: Final = object()
"""What a rule returns for a field that is not sent at all."""


class RefusedRequestError(PrivacyError):
    """Raised for a request that holds what cannot be privatized; names the field."""

    def __init__(self, path: str, why: str) -> None:
        self.path = path
        super().__init__(f"{path or 'the request'}: {why}. Nothing was sent.")


@final
@dataclass(frozen=True, slots=True)
class Slot:
    """The place of a text, until its release is there."""

    number: int


@final
@dataclass(frozen=True, slots=True)
class Encoded:
    """JSON within a string, such as the arguments of a call."""

    value: Any


@final
@dataclass(slots=True)
class Walk:
    """What is gathered on the way through one request, and what is public.

    ``models`` are the names that may be asked for, all if there are none;
    ``public_roles`` are those whose messages pass in clear; ``public_texts`` such texts
    of system and developer messages; ``public_objects`` definitions of tools and
    response formats, by their JSON; ``tools`` the names that their calls may use.
    """

    models: frozenset[str] = frozenset()
    public_roles: frozenset[str] = frozenset()
    public_texts: frozenset[str] = frozenset()
    public_objects: Mapping[str, Any] = field(default_factory=dict)
    tools: Mapping[str, frozenset[str]] = field(default_factory=dict)
    texts: list[str] = field(default_factory=list)
    _calls: dict[str, str] = field(default_factory=dict)

    def text(self, value: object, at: str, role: str = "user") -> Any:
        """Privatize a text, unless it was declared public for its role."""
        if not isinstance(value, str):
            raise RefusedRequestError(at, "must be a string")
        is_instruction = role in ("system", "developer")
        if role in self.public_roles or (is_instruction and value in self.public_texts):
            return value
        self.texts.append(value)
        return Slot(len(self.texts) - 1)

    def call(self, value: object, at: str) -> str:
        """Number the ids of calls: they tie a result to its call, and say no more."""
        if not isinstance(value, str):
            raise RefusedRequestError(at, "must be a string")
        return self._calls.setdefault(value, f"call_{len(self._calls)}")


Rule = Callable[[Any, str, Walk], Any]


def filled(value: Any, released: Sequence[str]) -> Any:
    """Put the releases where their texts were."""
    if isinstance(value, Slot):
        return released[value.number]
    if isinstance(value, Encoded):
        return json.dumps(filled(value.value, released))
    if isinstance(value, dict):
        return {name: filled(each, released) for name, each in value.items()}
    if isinstance(value, list):
        return [filled(each, released) for each in value]
    return value


def flag(value: Any, at: str, walk: Walk) -> Any:
    if not isinstance(value, bool):
        raise RefusedRequestError(at, "must be true or false")
    return value


def number(value: Any, at: str, walk: Walk) -> Any:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not math.isfinite(value) or abs(value) >= _LARGEST:
        raise RefusedRequestError(at, "must be a number")
    return value


def left_out(value: Any, at: str, walk: Walk) -> Any:
    """Leave out what names a person or serves bookkeeping: an answer needs it not."""
    return LEFT_OUT


def text(value: Any, at: str, walk: Walk) -> Any:
    return walk.text(value, at)


def symbols(value: Any, at: str, walk: Walk) -> Any:
    """Pass strings without letters and digits: another word would not stop anything."""
    many = value if isinstance(value, list) else [value]
    for i, each in enumerate(many):
        if not isinstance(each, str) or not _SYMBOLS.fullmatch(each):
            where = f"{at}[{i}]" if isinstance(value, list) else at
            raise RefusedRequestError(
                where, "a stop text may hold white space and symbols, at most 16"
            )
    return value


def one_of(*allowed: str | bool) -> Rule:
    def rule(value: Any, at: str, walk: Walk) -> Any:
        if value not in allowed or not isinstance(value, str | bool):
            shown = ", ".join(map(str, allowed))
            raise RefusedRequestError(at, f"must be one of: {shown}")
        return value

    return rule


def matching(pattern: str, kind: str) -> Rule:
    compiled = re.compile(pattern)

    def rule(value: Any, at: str, walk: Walk) -> Any:
        if not isinstance(value, str) or not compiled.fullmatch(value):
            raise RefusedRequestError(at, f"must be {kind}")
        return value

    return rule


def unread(why: str) -> Rule:
    """Refuse all values that say anything."""

    def rule(value: Any, at: str, walk: Walk) -> Any:
        if value is False or value in ({}, []):
            return LEFT_OUT
        raise RefusedRequestError(at, why)

    return rule


def list_of(rule: Rule) -> Rule:
    def each(value: Any, at: str, walk: Walk) -> Any:
        if not isinstance(value, list):
            raise RefusedRequestError(at, "must be a list")
        return [rule(item, f"{at}[{i}]", walk) for i, item in enumerate(value)]

    return each


def texts(rule: Rule) -> Rule:
    """A string, or a list of what the rule takes."""
    many = list_of(rule)

    def either(value: Any, at: str, walk: Walk) -> Any:
        return walk.text(value, at) if isinstance(value, str) else many(value, at, walk)

    return either


def object_of(fields: Mapping[str, Rule]) -> Rule:
    """Objects with these fields and no others; null is sent as it is."""

    def rule(value: Any, at: str, walk: Walk) -> Any:
        if not isinstance(value, dict):
            raise RefusedRequestError(at, "must be an object")
        check_fields(value, fields, at)
        sent = {}
        for name, given in value.items():
            where = f"{at}.{name}".lstrip(".")
            made = None if given is None else fields[name](given, where, walk)
            if made is not LEFT_OUT:
                sent[name] = made
        return sent

    return rule


def check_fields(value: Mapping[str, Any], known: Iterable[str], at: str) -> None:
    """Refuse an unknown field; one that is no field of the interface is not named."""
    for name in value.keys() - set(known):
        where = f"{at}.{name}".lstrip(".") if name in _NAMED else at
        beside = ", ".join(sorted(value.keys() & set(known)))
        beside = f"; known are: {beside}" if where == at and beside else ""
        raise RefusedRequestError(where, f"a field that is not known here{beside}")


def canonical(value: Any) -> str:
    """JSON that is the same for equal values; true and 1 differ."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"))
