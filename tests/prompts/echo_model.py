"""A language model that answers by rule from what it is asked."""

from __future__ import annotations

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, StreamingResponse
from starlette.routing import Route

from benchmarks.measure.gateway.model_forms import events, texts_of, whole

__all__ = ["EchoModel", "echo", "texts_of"]


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
            cut = self._cut(kind, messages)
            return StreamingResponse(cut, media_type="text/event-stream")
        return JSONResponse(whole(kind, messages))

    async def _cut(self, kind, messages):
        data = b"".join(events(kind, messages, lambda text: pieces(text, self.size)))
        for piece in pieces(data, self.cut):
            yield piece


def pieces(text, size):
    return [text[i : i + size] for i in range(0, len(text), size)]


def echo(body):
    """Say the last text again."""
    return {"content": list(texts_of(body))[-1][1]}
