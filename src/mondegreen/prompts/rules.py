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
from typing import TYPE_CHECKING, Any, Final, Literal, final

from mondegreen.errors import PrivacyError

if TYPE_CHECKING:
    from mondegreen.prompts.turns import Replay

# Fields of the interface, and of its dialects, that an error may name: any other name
# may be a text of somebody.
_NAMED: Final = frozenset(
    "audio cache_control conversation extra_body file functions function_call "
    "image_url input_audio logit_bias name prompt reasoning_content strict "
    "thinking top_a user_location video voice web_search_options".split()
)
_MOST_STOPS: Final = 4
_STOP: Final = re.compile(r"[ \t\r\n!-/:-@\[-`{-~]{0,8}")
_STOPS: Final = (
    "letters and digits are not allowed. Use at most 8 punctuation marks (ASCII), "
    "spaces, tabs or line breaks, such as ###"
)
STOP_BITS: Final = math.ceil(_MOST_STOPS * math.log2(sum(36**n for n in range(9)) + 1))
"""What stop texts can tell at most: four of up to eight of 36 characters."""

ASSISTANT: Final = "assistant"
USER: Final = "user"
"""The role of the language model."""

LEFT_OUT: Final = object()
"""What a rule returns for a field that is not sent at all."""


class RefusedRequestError(PrivacyError):
    """Raised for a request that holds what cannot be privatized; names the field."""

    def __init__(
        self, path: str, why: str, *, reason: Literal["body", "field"] = "field"
    ) -> None:
        self.path, self.reason = path, reason
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
    ``public_roles`` are those whose messages pass unchanged; ``public_texts`` such
    texts of system and developer messages; ``public_objects`` definitions of tools and
    response formats, by their JSON; ``tools`` the names that their calls may use.
    ``replay`` finds what the model has said before, which goes back as it came.
    ``roles`` are those of ``texts``, and ``places`` name where in the history they
    stand; ``passed`` are the public texts of this request.
    """

    models: frozenset[str] = frozenset()
    public_roles: frozenset[str] = frozenset()
    public_texts: frozenset[str] = frozenset()
    public_objects: Mapping[str, Any] = field(default_factory=dict)
    tools: Mapping[str, frozenset[str]] = field(default_factory=dict)
    replay: Replay | None = None
    texts: list[str] = field(default_factory=list)
    roles: list[str] = field(default_factory=list)
    places: list[str] = field(default_factory=list)
    passed: list[str] = field(default_factory=list)
    _calls: dict[str, str] = field(default_factory=dict)

    def text(self, value: object, at: str, role: str = USER) -> Any:
        """Privatize a text, unless it was declared public for its role."""
        if not isinstance(value, str):
            raise RefusedRequestError(at, "must be a string")
        original = self.earlier(value, at, "text" if role == ASSISTANT else None)
        if original is not None:
            return original
        is_instruction = role in ("system", "developer")
        if role in self.public_roles or (is_instruction and value in self.public_texts):
            self.passed.append(value)
            return value
        return self.slot(value, role)

    def slot(self, value: str, role: str) -> Slot:
        """Keep a place for a text."""
        self.texts.append(value)
        self.roles.append(role)
        before = self.replay.place.whole.hex() if self.replay else ""
        self.places.append(f"{before} {len(self.texts)}")
        return Slot(len(self.texts) - 1)

    def earlier(self, value: str, at: str, form: str | None) -> str | None:
        """Find what the model said, if it said this; None for all other texts.

        ``form`` is ``text`` or ``arguments`` for turns of the assistant, else None.
        """
        if self.replay is None:
            return None
        if form is None:
            self.replay.hear(value)
            return None
        try:
            return self.replay.find(form, value)
        except LookupError:
            raise RefusedRequestError(
                at,
                "two answers of the model have the same text, and the history that "
                "distinguishes them is missing. Send the whole history, or begin a "
                "new conversation",
            ) from None

    def call(self, value: object, at: str) -> str:
        """Number the ids of calls: they tie a result to its call, and say no more."""
        if not isinstance(value, str):
            raise RefusedRequestError(at, "must be a string")
        return self._calls.setdefault(value, f"call_{len(self._calls)}")


Rule = Callable[[Any, str, Walk], Any]


def fill(value: Any, released: Sequence[str]) -> Any:
    """Put the releases where their texts were."""
    if isinstance(value, Slot):
        return released[value.number]
    if isinstance(value, Encoded):
        return json.dumps(fill(value.value, released))
    if isinstance(value, dict):
        return {name: fill(each, released) for name, each in value.items()}
    if isinstance(value, list):
        return [fill(each, released) for each in value]
    return value


def flag(value: Any, at: str, walk: Walk) -> Any:
    if not isinstance(value, bool):
        raise RefusedRequestError(at, "must be true or false")
    return value


@final
@dataclass(frozen=True, slots=True)
class Number:
    """A rule for numbers, so that none can carry a telephone number.

    Parameters
    ----------
    low, high : int
        The range. Numbers outside are refused.
    decimals : int
        Decimals that are kept; the rest is rounded. Without any, only integers pass.
    digits : int, optional
        Leading digits of an integer that are kept; the others become zero.
    """

    low: int
    high: int
    decimals: int = 0
    digits: int | None = None

    @property
    def bits(self) -> float:
        """What a field under this rule can tell at most; it may be absent or null."""
        choices = (self.high - self.low) * 10**self.decimals + 1
        if self.digits is not None:
            zeros = len(str(self.high)) - self.digits
            choices = 10**self.digits * (1 + zeros)
        return math.log2(choices + 2)

    def __call__(self, value: Any, at: str, walk: Walk) -> Any:
        kinds = int | float if self.decimals else int
        is_number = isinstance(value, kinds) and not isinstance(value, bool)
        if not is_number or not self.low <= value <= self.high:
            kind = "a number" if self.decimals else "an integer"
            allowed = f"must be {kind} from {self.low} to {self.high}"
            raise RefusedRequestError(at, allowed)
        if self.decimals:
            return round(float(value), self.decimals) + 0.0  # -0.0 would tell a bit
        if self.digits is not None:
            unit = 10 ** max(0, len(str(value)) - self.digits)
            return value // unit * unit
        return value


def leave_out(value: Any, at: str, walk: Walk) -> Any:
    """Leave out what names a person or serves bookkeeping: an answer needs it not."""
    return LEFT_OUT


def text(value: Any, at: str, walk: Walk) -> Any:
    return walk.text(value, at)


def symbols(value: Any, at: str, walk: Walk) -> Any:
    """Pass strings without letters and digits: another word would not stop anything."""
    many = value if isinstance(value, list) else [value]
    if len(many) > _MOST_STOPS:
        raise RefusedRequestError(at, f"at most {_MOST_STOPS} stop texts pass")
    for i, each in enumerate(many):
        if not isinstance(each, str) or not _STOP.fullmatch(each):
            where = f"{at}[{i}]" if isinstance(value, list) else at
            raise RefusedRequestError(where, _STOPS)
    return value


def allow_one(*allowed: str | bool) -> Rule:
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


def allow_list(rule: Rule) -> Rule:
    def each(value: Any, at: str, walk: Walk) -> Any:
        if not isinstance(value, list):
            raise RefusedRequestError(at, "must be a list")
        return [rule(item, f"{at}[{i}]", walk) for i, item in enumerate(value)]

    return each


def allow_set(rule: Rule) -> Rule:
    """A list whose order and repeats say nothing: sorted, each item at most once."""
    many = allow_list(rule)

    def each(value: Any, at: str, walk: Walk) -> Any:
        made = {canonical(item): item for item in many(value, at, walk)}
        return [made[name] for name in sorted(made)]

    return each


def texts(rule: Rule) -> Rule:
    """A string, or a list of what the rule takes."""
    many = allow_list(rule)

    def either(value: Any, at: str, walk: Walk) -> Any:
        return walk.text(value, at) if isinstance(value, str) else many(value, at, walk)

    return either


def allow_object(fields: Mapping[str, Rule]) -> Rule:
    """Objects with these fields and no others, in this order; null stays null."""

    def rule(value: Any, at: str, walk: Walk) -> Any:
        if not isinstance(value, dict):
            raise RefusedRequestError(at, "must be an object")
        check_fields(value, fields, at)
        sent = {}
        for name in (name for name in fields if name in value):
            given, where = value[name], f"{at}.{name}".lstrip(".")
            made = None if given is None else fields[name](given, where, walk)
            if made is not LEFT_OUT:
                sent[name] = made
        return sent

    return rule


def check_fields(value: Mapping[str, Any], known: Iterable[str], at: str) -> None:
    """Refuse an unknown field; one that is no field of the interface is not named."""
    known = sorted(known)
    for name in value.keys() - set(known):
        if name in _NAMED:
            raise RefusedRequestError(f"{at}.{name}".lstrip("."), "an unknown field")
        listed = ", ".join(known)
        raise RefusedRequestError(at, f"an unknown field. Known fields: {listed}")


def canonical(value: Any) -> str:
    """JSON that is the same for equal values; true and 1 differ."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"))
