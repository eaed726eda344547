"""What is text in a request to a language model: the allow-list, field by field."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, Final

from mondegreen.prompts.rules import (
    ASSISTANT,
    STOP_BITS,
    Encoded,
    Number,
    RefusedRequestError,
    Rule,
    Walk,
    canonical,
    flag,
    left_out,
    list_of,
    matching,
    object_of,
    one_of,
    set_of,
    symbols,
    text,
    texts,
    unread,
)

_CHAT_ROLES: Final = ("system", "developer", "user", "assistant", "tool")
_MODEL: Final = matching(
    r"[A-Za-z0-9][A-Za-z0-9._:/@+-]{0,99}", "the name of a model, without spaces"
)
MODEL_BITS: Final = math.ceil(100 * math.log2(69))
"""What a name of a model can tell where the models are not listed."""
_RESPONSE_DIGITS: Final = 50
_RESPONSE_ID: Final = matching(
    rf"resp_[0-9a-f]{{32}}(?:[0-9a-f]{{16}}|[0-9a-f]{{{_RESPONSE_DIGITS - 32}}})?",
    "the id of a response: resp_ and 32, 48 or 50 hexadecimal digits",
)
_EFFORT: Final = one_of("none", "minimal", "low", "medium", "high", "xhigh")
_VERBOSITY: Final = one_of("low", "medium", "high")
_TIER: Final = one_of("auto", "default", "flex", "priority", "scale")
_TOKENS: Final = "tokens as numbers are text that cannot be read here"


def _model(value: Any, at: str, walk: Walk) -> Any:
    if walk.models:
        return one_of(*sorted(walk.models))(value, at, walk)
    return _MODEL(value, at, walk)


def _public(value: Any, at: str, walk: Walk) -> Any:
    """Pass a definition that was declared public, as it was declared."""
    found = walk.public_objects.get(canonical(value))
    if found is None:
        raise RefusedRequestError(
            at, "a tool or response format that was not declared public (--public)"
        )
    return found


def _tool_name(value: Any, at: str, walk: Walk) -> Any:
    if not isinstance(value, str) or value not in walk.tools:
        raise RefusedRequestError(at, "a tool that was not declared public (--public)")
    return value


def _response_format(value: Any, at: str, walk: Walk) -> Any:
    plain = ({"type": "text"}, {"type": "json_object"})
    return value if value in plain else _public(value, at, walk)


def _values(value: Any, names: frozenset[str], at: str, walk: Walk) -> Any:
    """Privatize the values of a call's arguments, numbers too, under known names."""
    if isinstance(value, dict):
        if value.keys() - names:
            raise RefusedRequestError(at, "an argument that the tool does not have")
        return {name: _values(value[name], names, at, walk) for name in sorted(value)}
    if isinstance(value, list):
        return [_values(each, names, at, walk) for each in value]
    if value is None:
        return None
    return walk.slot(value if isinstance(value, str) else json.dumps(value), ASSISTANT)


def _arguments(names: frozenset[str]) -> Rule:
    def rule(value: Any, at: str, walk: Walk) -> Any:
        if isinstance(value, str):
            original = walk.earlier(value, at, "arguments")
            if original is not None:
                return original
        try:
            found = {} if value == "" else json.loads(value)
            return Encoded(_values(found, names, at, walk))
        except (ValueError, TypeError, RecursionError):
            raise RefusedRequestError(at, "must be JSON in a string") from None

    return rule


def _function(value: Any, at: str, walk: Walk) -> Any:
    """The function of a call: a known name, and arguments."""
    name = value.get("name") if isinstance(value, dict) else None
    _tool_name(name, f"{at}.name", walk)
    given = _arguments(walk.tools[str(name)])
    return object_of({"name": _tool_name, "arguments": given})(value, at, walk)


def _choice(chat: bool) -> Rule:
    """A choice of tools: a word, or one tool by its name."""
    kind = one_of("function")
    named: dict[str, Rule] = {"type": kind, "name": _tool_name}
    if chat:
        named = {"type": kind, "function": object_of({"name": _tool_name})}
    word, one = one_of("none", "auto", "required"), object_of(named)

    def rule(value: Any, at: str, walk: Walk) -> Any:
        return (word if isinstance(value, str) else one)(value, at, walk)

    return rule


def _said(role: str) -> Rule:
    return lambda value, at, walk: walk.text(value, at, role)


def _part(role: str, kinds: Mapping[str, str]) -> Rule:
    """A part of a message: a text, whatever its type is called; nothing else."""
    extra: dict[str, Rule] = {"annotations": left_out, "logprobs": left_out}

    def rule(value: Any, at: str, walk: Walk) -> Any:
        kind = value.get("type") if isinstance(value, dict) else None
        if not isinstance(kind, str) or kind not in kinds:
            raise RefusedRequestError(
                at, "a part that cannot be read: images, files and the like are no text"
            )
        fields = {"type": one_of(kind), kinds[kind]: _said(role), **extra}
        return object_of(fields)(value, at, walk)

    return rule


def _content(role: str, kinds: Mapping[str, str]) -> Rule:
    parts = list_of(_part(role, kinds))

    def rule(value: Any, at: str, walk: Walk) -> Any:
        if isinstance(value, str):
            return walk.text(value, at, role)
        return parts(value, at, walk)

    return rule


_CALL: Final = object_of(
    {
        "id": lambda value, at, walk: walk.call(value, at),
        "type": one_of("function"),
        "function": _function,
        "index": left_out,
    }
)


def chat_message(value: Any, at: str, walk: Walk) -> Any:
    role = value.get("role") if isinstance(value, dict) else None
    if not isinstance(role, str) or role not in _CHAT_ROLES:
        raise RefusedRequestError(f"{at}.role", "a role that is not known here")
    kinds = {"text": "text"} | ({"refusal": "refusal"} if role == "assistant" else {})
    fields: dict[str, Rule] = {
        "role": one_of(role),
        "content": _content(role, kinds),
        "name": left_out,
    }
    if role == "tool":
        fields["tool_call_id"] = lambda value, at, walk: walk.call(value, at)
    if role == "assistant":
        fields |= {
            "refusal": _said(role),
            "tool_calls": list_of(_CALL),
            "annotations": left_out,
            "audio": unread("audio cannot be read"),
            "function_call": unread("calls of this old form cannot be read"),
        }
    return object_of(fields)(value, at, walk)


_ITEM_PARTS: Final = {
    "user": {"input_text": "text"},
    "system": {"input_text": "text"},
    "developer": {"input_text": "text"},
    "assistant": {"output_text": "text", "refusal": "refusal"},
}


def _item(value: Any, at: str, walk: Walk) -> Any:
    """An item of the input of a response: a message, a call, or what a call gave."""
    kind = value.get("type", "message") if isinstance(value, dict) else None
    fields: dict[str, Rule] = {"id": left_out, "status": left_out}
    if kind is not None:
        fields["type"] = one_of(kind)
    if kind == "message":
        role = value.get("role")
        if not isinstance(role, str) or role not in _ITEM_PARTS:
            raise RefusedRequestError(f"{at}.role", "a role that is not known here")
        content = _content(role, _ITEM_PARTS[role])
        fields |= {"role": one_of(role), "content": content, "phase": left_out}
    elif kind == "function_call":
        _tool_name(value.get("name"), f"{at}.name", walk)
        given = _arguments(walk.tools[value["name"]])
        call: Rule = lambda value, at, walk: walk.call(value, at)  # noqa: E731
        fields |= {"call_id": call, "name": _tool_name, "arguments": given}
    elif kind == "function_call_output":
        fields["call_id"] = lambda value, at, walk: walk.call(value, at)
        fields["output"] = _content("tool", {"input_text": "text"})
    else:
        raise RefusedRequestError(at, "an item that cannot be read")
    return object_of(fields)(value, at, walk)


def _no_tokens(value: Any, at: str, walk: Walk) -> Any:
    if isinstance(value, str):
        return walk.text(value, at)
    raise RefusedRequestError(at, _TOKENS)


def _only_text(value: Any, at: str, walk: Walk) -> Any:
    if value != ["text"]:
        raise RefusedRequestError(at, "must be text alone")
    return value


_TOKEN_COUNT: Final = Number(0, 1_000_000, digits=2)
_PENALTY: Final = Number(-2, 2, decimals=2)
_SHARE: Final = Number(0, 1, decimals=2)
_SAMPLING: Final[Mapping[str, Rule]] = {
    "temperature": Number(0, 2, decimals=2),
    "top_p": _SHARE,
}
_NUMBERS: Final[Mapping[str, Rule]] = {
    **_SAMPLING,
    "max_tokens": _TOKEN_COUNT,
    "seed": Number(0, 999),
    "n": Number(1, 128),
    "presence_penalty": _PENALTY,
    "frequency_penalty": _PENALTY,
    "top_k": Number(-1, 1000),
    "min_p": _SHARE,
    "repetition_penalty": Number(0, 2, decimals=2),
    "top_logprobs": Number(0, 20),
}
_COMMON: Final[Mapping[str, Rule]] = {
    "model": _model,
    "stream": flag,
    "stream_options": object_of({"include_usage": flag, "include_obfuscation": flag}),
    "service_tier": _TIER,
    # They name a person or a conversation; guard.py alone reads them.
    "user": left_out,
    "safety_identifier": left_out,
    "prompt_cache_key": left_out,
    "metadata": left_out,
}
_CHAT: Final[Mapping[str, Rule]] = {
    **_COMMON,
    **_NUMBERS,
    "messages": list_of(chat_message),
    "max_completion_tokens": _TOKEN_COUNT,
    "logprobs": flag,
    "stop": symbols,
    "store": flag,
    "parallel_tool_calls": flag,
    "reasoning_effort": _EFFORT,
    "verbosity": _VERBOSITY,
    "modalities": _only_text,
    "prediction": left_out,  # it makes an answer faster, and no other
    "prompt_cache_retention": left_out,
    "logit_bias": unread(_TOKENS),
    "tools": set_of(_public),
    "tool_choice": _choice(chat=True),
    "response_format": _response_format,
}
_COMPLETION: Final[Mapping[str, Rule]] = {
    **_COMMON,
    **_NUMBERS,
    "prompt": texts(_no_tokens),
    "suffix": text,
    "best_of": Number(1, 128),
    "echo": flag,
    "logprobs": Number(0, 20),
    "stop": symbols,
    "logit_bias": unread(_TOKENS),
}
_EMBEDDING: Final[Mapping[str, Rule]] = {
    "model": _model,
    "input": texts(_no_tokens),
    "encoding_format": one_of("float", "base64"),
    "dimensions": Number(1, 8192),
    "user": left_out,
}
_RESPONSE: Final[Mapping[str, Rule]] = {
    **_COMMON,
    "input": texts(_item),
    "instructions": _said("developer"),
    "previous_response_id": _RESPONSE_ID,
    **_SAMPLING,
    "max_output_tokens": _TOKEN_COUNT,
    "max_tool_calls": Number(0, 128),
    "top_logprobs": Number(0, 20),
    "store": flag,
    "background": unread("answers that are fetched later do not pass here"),
    "parallel_tool_calls": flag,
    "reasoning": object_of(
        {"effort": _EFFORT, "summary": one_of("auto", "concise", "detailed")}
    ),
    "text": object_of({"format": _response_format, "verbosity": _VERBOSITY}),
    "truncation": one_of("auto", "disabled"),
    "include": set_of(one_of("message.output_text.logprobs")),
    "tools": set_of(_public),
    "tool_choice": _choice(chat=False),
    "prompt_cache_retention": left_out,
}

NUMBER_BITS: Final = math.ceil(
    max(
        sum(rule.bits for rule in fields.values() if isinstance(rule, Number))
        for fields in (_CHAT, _COMPLETION, _EMBEDDING, _RESPONSE)
    )
)
DISCLOSED: Final = (
    "form of requests: roles, number and order of messages, switches, which tools are "
    "offered and called, the names and number of their arguments; what a client can "
    f"choose besides: numbers (at most {NUMBER_BITS} bits a request), stop texts "
    f"without letters (at most {STOP_BITS} bits), the id of an earlier response (at "
    f"most {4 * _RESPONSE_DIGITS} bits), and the model"
)
"""What of a request passes as it is, for the guarantee."""


def disclosed_form(models: frozenset[str]) -> str:
    """Say what of a request passes as it is, where these models may be asked for."""
    bits = math.ceil(math.log2(len(models))) if models else MODEL_BITS
    return f"{DISCLOSED} (at most {bits} bits)"


REQUESTS: Final[Mapping[str, Rule]] = {
    "chat/completions": object_of(_CHAT),
    "completions": object_of(_COMPLETION),
    "embeddings": object_of(_EMBEDDING),
    "responses": object_of(_RESPONSE),
}
"""The rule of each kind of request, by its path behind ``/v1/``."""
