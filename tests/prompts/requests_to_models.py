"""Requests that hold everything that they may, for tests of what stands before them."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

__all__ = ["CANARY", "FLAT_TOOL", "PUBLIC", "SYSTEM", "TOOL", "mutants", "rich"]

CANARY = "zyxwoldemorth"
SYSTEM = "You are a public prompt."
_SCHEMA = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "description": "a public word"},
        "when": {
            "type": "array",
            "items": {"properties": {"day": {"type": "integer"}}},
        },
    },
}
TOOL = {"type": "function", "function": {"name": "weather", "parameters": _SCHEMA}}
FLAT_TOOL = {"type": "function", "name": "weather", "parameters": _SCHEMA}
FORMAT = {"type": "json_schema", "json_schema": {"name": "city", "schema": _SCHEMA}}
PUBLIC = [SYSTEM, TOOL, FLAT_TOOL, FORMAT]

_ARGUMENTS = f'{{"city": "{CANARY} x", "when": [{{"day": 47}}, "{CANARY}"]}}'
_CALL = {
    "id": f"call_{CANARY}",
    "type": "function",
    "function": {"name": "weather", "arguments": _ARGUMENTS},
}
_WHO = {
    "user": CANARY,
    "metadata": {CANARY: CANARY},
    "prompt_cache_key": CANARY,
    "safety_identifier": CANARY,
}
_CHAT = {
    "model": "gpt-4o-mini",
    "messages": [
        {"role": "system", "content": SYSTEM},
        {"role": "system", "content": f"The user is called {CANARY}.", "name": CANARY},
        {"role": "developer", "content": [{"type": "text", "text": CANARY}]},
        {"role": "user", "content": f"I am {CANARY}.", "name": CANARY},
        {"role": "user", "content": [{"type": "text", "text": f"{CANARY} bam"}]},
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": CANARY},
                {"type": "refusal", "refusal": CANARY},
            ],
            "refusal": CANARY,
            "tool_calls": [_CALL],
            "annotations": [{"title": CANARY}],
            "audio": None,
            "function_call": None,
        },
        {"role": "tool", "tool_call_id": f"call_{CANARY}", "content": CANARY},
    ],
    "temperature": 0.5,
    "n": 1,
    "stream": False,
    "stream_options": {"include_usage": True},
    "stop": ["\n\n", "###"],
    "logit_bias": {},
    "prediction": {"type": "content", "content": CANARY},
    "reasoning_effort": "low",
    "response_format": FORMAT,
    "tools": [TOOL],
    "tool_choice": {"type": "function", "function": {"name": "weather"}},
    "modalities": ["text"],
    "service_tier": "auto",
    **_WHO,
}
_RESPONSE = {
    "model": "gpt-4o-mini",
    "instructions": f"Speak to {CANARY}.",
    "input": [
        {"role": "user", "content": f"I am {CANARY}."},
        {
            "type": "message",
            "id": CANARY,
            "status": "completed",
            "role": "assistant",
            "content": [
                {"type": "output_text", "text": CANARY, "annotations": [CANARY]}
            ],
        },
        {
            "type": "function_call",
            "call_id": CANARY,
            "name": "weather",
            "arguments": _ARGUMENTS,
        },
        {"type": "function_call_output", "call_id": CANARY, "output": CANARY},
    ],
    "previous_response_id": "resp_" + "0123456789abcdef" * 3,
    "reasoning": {"effort": "low", "summary": "auto"},
    "text": {"format": {"type": "text"}, "verbosity": "low"},
    "tools": [FLAT_TOOL],
    "tool_choice": "auto",
    "include": ["message.output_text.logprobs"],
    "max_output_tokens": 10,
    "truncation": "auto",
    "store": False,
    **_WHO,
}
rich: dict[str, dict[str, Any]] = {
    "chat/completions": _CHAT,
    "responses": _RESPONSE,
    "completions": {
        "model": "gpt-4o-mini",
        "prompt": [f"Once {CANARY}", "bam"],
        "suffix": f"and {CANARY}",
        "max_tokens": 5,
        "echo": False,
        "logprobs": 1,
        "stop": "\n",
        "user": CANARY,
    },
    "embeddings": {
        "model": "gpt-4o-mini",
        "input": [CANARY, "bam bam"],
        "encoding_format": "float",
        "dimensions": 16,
        "user": CANARY,
    },
}


def _paths(value: Any, at: tuple = ()) -> Iterator[tuple]:
    yield at
    items = value.items() if isinstance(value, dict) else ()
    items = enumerate(value) if isinstance(value, list) else items
    for key, each in items:
        yield from _paths(each, (*at, key))


# What may stand where something else is meant.
_STRANGE = [
    CANARY,
    f"{CANARY} {CANARY}",
    [CANARY],
    {CANARY: CANARY},
    {"type": CANARY},
    {"type": "text", "text": CANARY},
    {"type": "image_url", "image_url": {"url": f"data:{CANARY}"}},
    {"type": "input_image", "image_url": CANARY},
    {"type": "input_file", "file_data": CANARY, "filename": CANARY},
    {"type": "input_audio", "input_audio": {"data": CANARY}},
    {"type": "function", "function": {"name": CANARY, "arguments": CANARY}},
    {"type": "function", "function": {"name": "weather", "description": CANARY}},
    {"role": CANARY, "content": CANARY},
    {"role": "function", "name": CANARY, "content": CANARY},
    {"type": "item_reference", "id": CANARY},
    {"type": "reasoning", "id": CANARY, "encrypted_content": CANARY},
    [{"type": "text", "text": {"value": CANARY}}],
    f'{{"{CANARY}": 1}}',
    [1, 2, 3],
    [[1, 2], [3]],
    1e400,
]


def mutants(kind: str) -> Iterator[tuple[tuple, dict[str, Any]]]:
    """A rich request with something strange at each place, and with fields too many."""
    for path in _paths(rich[kind]):
        for strange in [*_STRANGE, None]:
            yield path, _changed(rich[kind], path, lambda old, new=strange: new)
        for name in (CANARY, "reasoning_content", "text", "image_url", "extra body"):
            yield path, _changed(rich[kind], path, lambda old, n=name: _wider(old, n))


def _wider(value: Any, name: str) -> Any:
    return {**value, name: CANARY} if isinstance(value, dict) else value


def _changed(body: dict, path: tuple, change) -> dict:
    made = {"": copy.deepcopy(body)}
    parent, key = made, ""
    for step in path:
        parent, key = parent[key], step
    parent[key] = change(parent[key])
    return made[""]
