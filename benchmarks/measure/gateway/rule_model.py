"""Serve a language model without a network, which answers by rule.

    python -m benchmarks rule_model [--port 8790] [--seed 1]

It repeats, translates (by a table of words), summarizes (by picking sentences), drafts,
lists, extracts fields as JSON, answers questions for a field, and calls tools: see
model_rules.py. Streams are cut at random places, in texts and in bytes. Interfaces:
chat completions, completions, responses, embeddings. ``OPENAI_BASE_URL`` or a proxy can
point at it.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
from collections.abc import Callable, Iterator
from typing import Any, AnyStr

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from benchmarks.measure.gateway.model_forms import events, whole
from benchmarks.measure.gateway.model_rules import answer

KINDS = ("chat/completions", "completions", "responses", "embeddings")
SHORTEST, LONGEST = 1, 12
"""Characters of a piece of a stream; its bytes are cut anew."""


class RuleModel:
    """The upstream. ``heard(key, raw)`` gets each request, by the id of its answer.

    The id goes back to the client in the answer, so that a test can tell which request
    the model received for it.
    """

    def __init__(
        self, seed: int = 1, heard: Callable[[str, bytes], None] | None = None
    ) -> None:
        self._rng = random.Random(seed)
        self._heard = heard
        self._numbers = itertools.count(1)
        routes = [Route(f"/v1/{each}", self._serve, methods=["POST"]) for each in KINDS]
        routes.append(Route("/v1/models", _models))
        self.app = Starlette(routes=routes)

    async def _serve(self, request: Request) -> Response:
        raw = await request.body()
        key = f"resp_{next(self._numbers):032x}"
        if self._heard is not None:
            heads = b"\n".join(k + b": " + v for k, v in request.headers.raw)
            self._heard(key, raw + b"\n" + heads)
        body: dict[str, Any] = json.loads(raw)
        kind = request.url.path.removeprefix("/v1/")
        if kind == "embeddings":
            data = [{"object": "embedding", "index": 0, "embedding": [0.5]}]
            return JSONResponse({"object": "list", "data": data, "model": "stub"})
        made = [answer(body)] * int(body.get("n") or 1)
        if body.get("stream"):
            parts = self.cut_bytes(b"".join(events(kind, made, self.cut, key)))
            return StreamingResponse(parts, media_type="text/event-stream")
        return JSONResponse(whole(kind, made, key))

    def cut(self, text: str) -> list[str]:
        """Cut a text at random places."""
        return list(_cut(text, self._rng, SHORTEST, LONGEST))

    def cut_bytes(self, data: bytes) -> Iterator[bytes]:
        """Cut bytes at random places, within characters too."""
        yield from _cut(data, self._rng, 50, 500)


def _cut(text: AnyStr, rng: random.Random, low: int, high: int) -> Iterator[AnyStr]:
    at = 0
    while at < len(text):
        size = rng.randint(low, high)
        yield text[at : at + size]
        at += size


def _models(request: Request) -> Response:
    return JSONResponse({"object": "list", "data": [{"id": "stub", "object": "model"}]})


def main() -> None:
    """Serve until a signal."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=8790)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    uvicorn.run(RuleModel(given.seed).app, port=given.port, log_level="warning")


if __name__ == "__main__":
    main()
