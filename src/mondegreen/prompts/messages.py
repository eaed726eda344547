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
    allow_list,
    allow_object,
    allow_one,
    allow_set,
    canonical,
    flag,
    leave_out,
    matching,
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
_EFFORT: Final = allow_one("none", "minimal", "low", "medium", "high", "xhigh")
_VERBOSITY: Final = allow_one("low", "medium", "high")
_TIER: Final = allow_one("auto", "default", "flex", "priority", "scale")
_DECLARE: Final = "Add it to the file of --public, and restart the proxy"
_TOKENS: Final = "tokens as numbers are text that cannot be read here"


def _model(value: Any, at: str, walk: Walk) -> Any:
    if walk.models:
        return allow_one(*sorted(walk.models))(value, at, walk)
    return _MODEL(value, at, walk)


def _public(value: Any, at: str, walk: Walk) -> Any:
    """Pass a definition that was declared public, as it was declared."""
    found = walk.public_objects.get(canonical(value))
    if found is None:
        raise RefusedRequestError(
            at,
            f"this tool or response format is not declared public. {_DECLARE}",
        )
    return found


def _tool_name(value: Any, at: str, walk: Walk) -> Any:
    if not isinstance(value, str) or value not in walk.tools:
        raise RefusedRequestError(at, f"this tool is not declared public. {_DECLARE}")
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
    return allow_object({"name": _tool_name, "arguments": given})(value, at, walk)


def _choice(chat: bool) -> Rule:
    """A choice of tools: a word, or one tool by its name."""
    kind = allow_one("function")
    named: dict[str, Rule] = {"type": kind, "name": _tool_name}
    if chat:
        named = {"type": kind, "function": allow_object({"name": _tool_name})}
    word, one = allow_one("none", "auto", "required"), allow_object(named)

    def rule(value: Any, at: str, walk: Walk) -> Any:
        return (word if isinstance(value, str) else one)(value, at, walk)

    return rule


def _build_said_rule(role: str) -> Rule:
    return lambda value, at, walk: walk.text(value, at, role)


def _part(role: str, kinds: Mapping[str, str]) -> Rule:
    """A part of a message: a text, whatever its type is called; nothing else."""
    extra: dict[str, Rule] = {"annotations": leave_out, "logprobs": leave_out}

    def rule(value: Any, at: str, walk: Walk) -> Any:
        kind = value.get("type") if isinstance(value, dict) else None
        if not isinstance(kind, str) or kind not in kinds:
            raise RefusedRequestError(
                at, "a part that is not text: images and files cannot be privatized"
            )
        fields = {"type": allow_one(kind), kinds[kind]: _build_said_rule(role), **extra}
        return allow_object(fields)(value, at, walk)

    return rule


def _content(role: str, kinds: Mapping[str, str]) -> Rule:
    parts = allow_list(_part(role, kinds))

    def rule(value: Any, at: str, walk: Walk) -> Any:
        if isinstance(value, str):
            return walk.text(value, at, role)
        return parts(value, at, walk)

    return rule


_CALL: Final = allow_object(
    {
        "id": lambda value, at, walk: walk.call(value, at),
        "type": allow_one("function"),
        "function": _function,
        "index": leave_out,
    }
)


def chat_message(value: Any, at: str, walk: Walk) -> Any:
    role = value.get("role") if isinstance(value, dict) else None
    if not isinstance(role, str) or role not in _CHAT_ROLES:
        raise RefusedRequestError(f"{at}.role", "an unknown role")
    kinds = {"text": "text"} | ({"refusal": "refusal"} if role == "assistant" else {})
    fields: dict[str, Rule] = {
        "role": allow_one(role),
        "content": _content(role, kinds),
        "name": leave_out,
    }
    if role == "tool":
        fields["tool_call_id"] = lambda value, at, walk: walk.call(value, at)
    if role == "assistant":
        fields |= {
            "refusal": _build_said_rule(role),
            "tool_calls": allow_list(_CALL),
            "annotations": leave_out,
            "audio": unread("audio cannot be read"),
            "function_call": unread("calls of this old form cannot be read"),
        }
    return allow_object(fields)(value, at, walk)


_ITEM_PARTS: Final = {
    "user": {"input_text": "text"},
    "system": {"input_text": "text"},
    "developer": {"input_text": "text"},
    "assistant": {"output_text": "text", "refusal": "refusal"},
}


def _item(value: Any, at: str, walk: Walk) -> Any:
    """An item of the input of a response: a message, a call, or what a call gave."""
    kind = value.get("type", "message") if isinstance(value, dict) else None
    fields: dict[str, Rule] = {"id": leave_out, "status": leave_out}
    if kind is not None:
        fields["type"] = allow_one(kind)
    if kind == "message":
        role = value.get("role")
        if not isinstance(role, str) or role not in _ITEM_PARTS:
            raise RefusedRequestError(f"{at}.role", "an unknown role")
        content = _content(role, _ITEM_PARTS[role])
        fields |= {"role": allow_one(role), "content": content, "phase": leave_out}
    elif kind == "function_call":
        _tool_name(value.get("name"), f"{at}.name", walk)
        given = _arguments(walk.tools[value["name"]])
        call: Rule = lambda value, at, walk: walk.call(value, at)  # noqa: E731
        fields |= {"call_id": call, "name": _tool_name, "arguments": given}
    elif kind == "function_call_output":
        fields["call_id"] = lambda value, at, walk: walk.call(value, at)
        fields["output"] = _content("tool", {"input_text": "text"})
    else:
        raise RefusedRequestError(at, "an item of an unknown type")
    return allow_object(fields)(value, at, walk)


def _no_tokens(value: Any, at: str, walk: Walk) -> Any:
    if isinstance(value, str):
        return walk.text(value, at)
    raise RefusedRequestError(at, _TOKENS)


def _only_text(value: Any, at: str, walk: Walk) -> Any:
    if value != ["text"]:
        raise RefusedRequestError(at, "must be text only")
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
    "stream_options": allow_object(
        {"include_usage": flag, "include_obfuscation": flag}
    ),
    "service_tier": _TIER,
    # They name a person or a conversation; guard.py alone reads them.
    "user": leave_out,
    "safety_identifier": leave_out,
    "prompt_cache_key": leave_out,
    "metadata": leave_out,
}
_CHAT: Final[Mapping[str, Rule]] = {
    **_COMMON,
    **_NUMBERS,
    "messages": allow_list(chat_message),
    "max_completion_tokens": _TOKEN_COUNT,
    "logprobs": flag,
    "stop": symbols,
    "store": flag,
    "parallel_tool_calls": flag,
    "reasoning_effort": _EFFORT,
    "verbosity": _VERBOSITY,
    "modalities": _only_text,
    "prediction": leave_out,  # it makes an answer faster, and no other
    "prompt_cache_retention": leave_out,
    "logit_bias": unread(_TOKENS),
    "tools": allow_set(_public),
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
    "encoding_format": allow_one("float", "base64"),
    "dimensions": Number(1, 8192),
    "user": leave_out,
}
_RESPONSE: Final[Mapping[str, Rule]] = {
    **_COMMON,
    "input": texts(_item),
    "instructions": _build_said_rule("developer"),
    "previous_response_id": _RESPONSE_ID,
    **_SAMPLING,
    "max_output_tokens": _TOKEN_COUNT,
    "max_tool_calls": Number(0, 128),
    "top_logprobs": Number(0, 20),
    "store": flag,
    "background": unread("answers that are fetched later do not pass here"),
    "parallel_tool_calls": flag,
    "reasoning": allow_object(
        {"effort": _EFFORT, "summary": allow_one("auto", "concise", "detailed")}
    ),
    "text": allow_object({"format": _response_format, "verbosity": _VERBOSITY}),
    "truncation": allow_one("auto", "disabled"),
    "include": allow_set(allow_one("message.output_text.logprobs")),
    "tools": allow_set(_public),
    "tool_choice": _choice(chat=False),
    "prompt_cache_retention": leave_out,
}

NUMBER_BITS: Final = math.ceil(
    max(
        sum(rule.bits for rule in fields.values() if isinstance(rule, Number))
        for fields in (_CHAT, _COMPLETION, _EMBEDDING, _RESPONSE)
    )
)
ACCOUNT_BITS: Final = 2 * 64 * 6
"""Of ``openai-organization`` and ``openai-project``: 64 of 64 signs each."""

DISCLOSED: Final = (
    "form of requests: roles, number and order of messages, switches, which tools are "
    "offered and called, the names and number of their arguments; what a client can "
    f"choose besides: numbers (at most {NUMBER_BITS} bits a request), stop texts "
    f"without letters (at most {STOP_BITS} bits), the id of an earlier response (at "
    f"most {4 * _RESPONSE_DIGITS} bits), in headers of a proxy the API key and two ids "
    f"of an account (at most {ACCOUNT_BITS} bits), and the model"
)
"""What of a request passes as it is, for the guarantee."""


def find_disclosed_form(models: frozenset[str]) -> str:
    """Say what of a request passes as it is, where these models may be asked for."""
    bits = math.ceil(math.log2(len(models))) if models else MODEL_BITS
    return f"{DISCLOSED} (at most {bits} bits)"


REQUESTS: Final[Mapping[str, Rule]] = {
    "chat/completions": allow_object(_CHAT),
    "completions": allow_object(_COMPLETION),
    "embeddings": allow_object(_EMBEDDING),
    "responses": allow_object(_RESPONSE),
}
"""The rule of each kind of request, by its path behind ``/v1/``."""
