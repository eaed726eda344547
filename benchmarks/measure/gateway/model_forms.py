"""How language models write answers: at once and in events, in three interfaces."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

HEAD = {"id": "x", "created": 1, "model": "stub"}
RESPONSE = "resp_0123456789ab"

Message = dict[str, Any]
Cut = Callable[[str], list[str]]
"""Cuts a text into the pieces of a stream."""


def texts_of(body: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """The texts of a request, in order, with their roles."""
    if "messages" in body:
        rows = body["messages"]
    elif isinstance(body.get("input"), list):
        rows = body["input"]
    else:
        rows = [{"role": "user", "content": body.get("input", body.get("prompt"))}]
    for row in rows:
        content = row.get("content") or row.get("output") or ""
        parts = content if isinstance(content, list) else [{"text": content}]
        for part in parts:
            yield row.get("role", row.get("type")), part["text"]


def whole(kind: str, messages: list[Message], key: str = HEAD["id"]) -> Message:
    """Write an answer that comes at once; ``key`` is its id."""
    head = {**HEAD, "id": key}
    if kind == "completions":
        choices = [
            {"index": i, "text": m["content"], "finish_reason": "stop"}
            for i, m in enumerate(messages)
        ]
        return {**head, "object": "text_completion", "choices": choices}
    if kind == "responses":
        return response(messages, RESPONSE if key == HEAD["id"] else key)
    choices = [
        {
            "index": i,
            "message": {"role": "assistant", "content": None, **m},
            "finish_reason": "tool_calls" if m.get("tool_calls") else "stop",
        }
        for i, m in enumerate(messages)
    ]
    return {**head, "object": "chat.completion", "choices": choices}


def response(messages: list[Message], key: str = RESPONSE) -> Message:
    """Write an answer of the interface ``responses``."""
    items: list[Message] = []
    for i, message in enumerate(messages):
        for call in message.get("tool_calls", ()):
            given = {"call_id": call["id"], **call["function"], "id": f"fc_{i}"}
            items.append({"type": "function_call", "status": "completed", **given})
        if message.get("content") is not None:
            part = {"type": "output_text", "text": message["content"]}
            part["annotations"] = []
            head = {"type": "message", "id": f"msg_{i}", "role": "assistant"}
            items.append({**head, "status": "completed", "content": [part]})
    head = {"id": key, "object": "response", "created_at": 1}
    more = {"model": "stub", "parallel_tool_calls": True, "tool_choice": "auto"}
    return {**head, **more, "tools": [], "output": items, "status": "completed"}


def events(
    kind: str, messages: list[Message], cut: Cut, key: str = HEAD["id"]
) -> Iterator[bytes]:
    """Write an answer as events of a stream."""
    if kind == "responses":
        found = _response_events(messages, cut, RESPONSE if key == HEAD["id"] else key)
    elif kind == "completions":
        found = _completion_events(messages, cut, key)
    else:
        found = _chat_events(messages, cut, key)
    for each in found:
        name = f"event: {each['type']}\n" if "type" in each else ""
        yield f"{name}data: {json.dumps(each, ensure_ascii=False)}\n\n".encode()
    yield b": a comment\n\n"
    if kind != "responses":
        yield b"data: [DONE]\n\n"


def _chat_events(messages: list[Message], cut: Cut, key: str) -> Iterator[Message]:
    """Chunks of several choices, which take turns."""
    head = {**HEAD, "id": key, "object": "chat.completion.chunk"}

    def chunk(i: int, delta: Message, end: str | None = None) -> Message:
        choice = {"index": i, "delta": delta, "finish_reason": end}
        return {**head, "choices": [choice]}

    queues = []
    for i, message in enumerate(messages):
        found = [chunk(i, {"role": "assistant", "content": ""})]
        found += [chunk(i, {"content": p}) for p in cut(message.get("content") or "")]
        for k, call in enumerate(message.get("tool_calls", ())):
            function = {"name": call["function"]["name"], "arguments": ""}
            first = {"index": k, "id": call["id"], "type": "function"}
            found.append(chunk(i, {"tool_calls": [{**first, "function": function}]}))
            for p in cut(call["function"]["arguments"]):
                more = {"index": k, "function": {"arguments": p}}
                found.append(chunk(i, {"tool_calls": [more]}))
        found.append(
            chunk(i, {}, "tool_calls" if message.get("tool_calls") else "stop")
        )
        queues.append(found)
    while any(queues):
        for queue in queues:
            if queue:
                yield queue.pop(0)
    yield {**head, "choices": [], "usage": {"total_tokens": 1}}


def _completion_events(
    messages: list[Message], cut: Cut, key: str
) -> Iterator[Message]:
    for i, message in enumerate(messages):
        for piece in cut(message["content"]):
            choice = {"index": i, "text": piece, "finish_reason": None}
            head = {**HEAD, "id": key, "object": "text_completion"}
            yield {**head, "choices": [choice]}


def _response_events(messages: list[Message], cut: Cut, key: str) -> Iterator[Message]:
    made = response(messages, key)
    number = iter(range(10**6))

    def event(kind: str, **more: Any) -> Message:
        return {"type": f"response.{kind}", "sequence_number": next(number), **more}

    begun = {**made, "output": [], "status": "in_progress"}
    yield event("created", response=begun)
    for k, item in enumerate(made["output"]):
        where = {"output_index": k, "item_id": item["id"]}
        empty = {**item, "content": []} if "content" in item else {**item}
        if "arguments" in item:
            empty["arguments"] = ""
        yield event("output_item.added", output_index=k, item=empty)
        if item["type"] == "function_call":
            for piece in cut(item["arguments"]):
                yield event("function_call_arguments.delta", **where, delta=piece)
            given = {"arguments": item["arguments"], "name": item["name"]}
            yield event("function_call_arguments.done", **where, **given)
        for c, part in enumerate(item.get("content", ())):
            here = {**where, "content_index": c}
            yield event("content_part.added", **here, part={**part, "text": ""})
            for piece in cut(part["text"]):
                yield event("output_text.delta", **here, delta=piece, logprobs=[])
            yield event("output_text.done", **here, text=part["text"], logprobs=[])
            yield event("content_part.done", **here, part=part)
        yield event("output_item.done", output_index=k, item=item)
    yield event("completed", response=made)
