"""A language model that answers by rule from what it is asked."""

from __future__ import annotations

import json

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, StreamingResponse
from starlette.routing import Route

HEAD = {"id": "x", "created": 1, "model": "stub"}


class EchoModel:
    """An upstream whose answer is ``answer(body)``: a message or a list of them.

    ``bodies`` are the requests it received. Streams cut texts after ``size`` characters
    and bytes anywhere.
    """

    def __init__(self, answer=None, size=3, cut=7):
        self.answer = answer or echo
        self.size, self.cut = size, cut
        self.bodies: list[dict] = []
        self.failures = 0
        names = ["chat/completions", "completions", "embeddings", "responses"]
        routes = [Route(f"/v1/{each}", self._serve, methods=["POST"]) for each in names]
        self.app = Starlette(routes=routes)

    async def _serve(self, request: Request):
        body = await request.json()
        self.bodies.append(body)
        kind = request.url.path.removeprefix("/v1/")
        if kind == "embeddings":
            data = [{"object": "embedding", "index": 0, "embedding": [0.5]}]
            return JSONResponse({"object": "list", "data": data, "model": "stub"})
        found = self.answer(body)
        messages = found if isinstance(found, list) else [found]
        if body.get("stream"):
            events = self._events(kind, messages)
            return StreamingResponse(events, media_type="text/event-stream")
        return JSONResponse(whole(kind, messages))

    async def _events(self, kind, messages):
        made = {"responses": response_events, "completions": completion_events}
        events = made.get(kind, chat_events)(messages, self.size)
        data = b"".join(
            (f"event: {e['type']}\n" if "type" in e else "").encode()
            + f"data: {json.dumps(e, ensure_ascii=False)}\n\n".encode()
            for e in events
        )
        data += b": a comment\n\n" + b"data: [DONE]\n\n" * (kind != "responses")
        for i in range(0, len(data), self.cut):
            yield data[i : i + self.cut]


def texts_of(body):
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


def echo(body):
    """Say the last text again."""
    return {"content": list(texts_of(body))[-1][1]}


def whole(kind, messages):
    if kind == "completions":
        choices = [
            {"index": i, "text": m["content"], "finish_reason": "stop"}
            for i, m in enumerate(messages)
        ]
        return {**HEAD, "object": "text_completion", "choices": choices}
    if kind == "responses":
        return response(messages)
    choices = [
        {
            "index": i,
            "message": {"role": "assistant", "content": None, **m},
            "finish_reason": "stop",
        }
        for i, m in enumerate(messages)
    ]
    return {**HEAD, "object": "chat.completion", "choices": choices}


def response(messages):
    items = []
    for i, message in enumerate(messages):
        for call in message.get("tool_calls", ()):
            given = {"call_id": call["id"], **call["function"], "id": f"fc_{i}"}
            items.append({"type": "function_call", "status": "completed", **given})
        if message.get("content") is not None:
            part = {"type": "output_text", "text": message["content"]}
            part["annotations"] = []
            head = {"type": "message", "id": f"msg_{i}", "role": "assistant"}
            items.append({**head, "status": "completed", "content": [part]})
    head = {"id": "resp_0123456789ab", "object": "response", "created_at": 1}
    more = {"model": "stub", "parallel_tool_calls": True, "tool_choice": "auto"}
    return {**head, **more, "tools": [], "output": items, "status": "completed"}


def pieces(text, size):
    return [text[i : i + size] for i in range(0, len(text), size)]


def chat_events(messages, size):
    """Chunks of several choices, which take turns."""
    head = {**HEAD, "object": "chat.completion.chunk"}

    def chunk(i, delta, end=None):
        choice = {"index": i, "delta": delta, "finish_reason": end}
        return {**head, "choices": [choice]}

    queues = []
    for i, message in enumerate(messages):
        found = [chunk(i, {"role": "assistant", "content": ""})]
        found += [
            chunk(i, {"content": p}) for p in pieces(message.get("content") or "", size)
        ]
        for k, call in enumerate(message.get("tool_calls", ())):
            function = {"name": call["function"]["name"], "arguments": ""}
            first = {"index": k, "id": call["id"], "type": "function"}
            found.append(chunk(i, {"tool_calls": [{**first, "function": function}]}))
            for p in pieces(call["function"]["arguments"], size):
                more = {"index": k, "function": {"arguments": p}}
                found.append(chunk(i, {"tool_calls": [more]}))
        found.append(chunk(i, {}, "stop"))
        queues.append(found)
    while any(queues):
        for queue in queues:
            if queue:
                yield queue.pop(0)
    yield {**head, "choices": [], "usage": {"total_tokens": 1}}


def completion_events(messages, size):
    for i, message in enumerate(messages):
        for piece in pieces(message["content"], size):
            choice = {"index": i, "text": piece, "finish_reason": None}
            yield {**HEAD, "object": "text_completion", "choices": [choice]}


def response_events(messages, size):
    made = response(messages)
    number = iter(range(10**6))

    def event(kind, **more):
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
            for piece in pieces(item["arguments"], size):
                yield event("function_call_arguments.delta", **where, delta=piece)
            given = {"arguments": item["arguments"], "name": item["name"]}
            yield event("function_call_arguments.done", **where, **given)
        for c, part in enumerate(item.get("content", ())):
            here = {**where, "content_index": c}
            yield event("content_part.added", **here, part={**part, "text": ""})
            for piece in pieces(part["text"], size):
                yield event("output_text.delta", **here, delta=piece, logprobs=[])
            yield event("output_text.done", **here, text=part["text"], logprobs=[])
            yield event("content_part.done", **here, part=part)
        yield event("output_item.done", output_index=k, item=item)
    yield event("completed", response=made)
