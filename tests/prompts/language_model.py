"""A language model for tests: it keeps what it received, and answers by rote."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import threading
import time

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, StreamingResponse
from starlette.routing import Route

__all__ = ["Model", "running"]

WAIT = 60.0


class Model:
    """An upstream: ``received`` holds every head and body that came in.

    ``mode`` is what it does: answer, stream for ever ("endless", or as fast as it can:
    "flood"), be silent ("slow"), redirect, fail ("error": an error that repeats the
    prompt, "cut": half an answer).
    """

    def __init__(self):
        self.start_anew()
        paths = ["chat/completions", "completions", "embeddings", "responses", "models"]
        paths += ["messages", "messages/count_tokens", "responses/input_tokens"]
        routes = [
            Route(f"/v1/{p}", self.answer, methods=["GET", "POST"]) for p in paths
        ]
        routes.append(Route("/elsewhere", self.answer, methods=["GET", "POST"]))
        self.app = Starlette(routes=routes)

    def start_anew(self):
        """Forget what was received, and answer."""
        self.received: list[bytes] = []
        self.mode = "answer"
        self.waiting = threading.Event()
        self.gone = threading.Event()
        self.release = threading.Event()

    @property
    def everything(self) -> str:
        return b"\n".join(self.received).decode()

    @property
    def bodies(self) -> list[dict]:
        return [json.loads(each.partition(b"\r\n\r\n")[2]) for each in self.received]

    async def answer(self, request: Request):
        body = await request.body()
        head = f"{request.method} {request.url.path}?{request.url.query}\r\n".encode()
        head += b"\r\n".join(k + b": " + v for k, v in request.headers.raw)
        self.received.append(head + b"\r\n\r\n" + body)
        return await getattr(self, f"_{self.mode}")(request, body)

    async def _answer(self, request, body):
        kind = request.url.path.removeprefix("/v1/")
        given = json.loads(body) if body else {}
        if given.get("stream"):
            return StreamingResponse(events(kind), media_type="text/event-stream")
        return JSONResponse(answers(kind), headers={"x-request-id": "req-1"})

    async def _endless(self, request, body):
        async def parts():
            try:
                yield b'data: {"choices":[]}\n\n'
                self.waiting.set()
                while True:
                    await asyncio.sleep(0.02)
                    yield b": still here\n\n"
            finally:
                self.gone.set()

        return StreamingResponse(parts(), media_type="text/event-stream")

    async def _flood(self, request, body):
        """Send without end, as fast as it is taken."""

        async def parts():
            self.waiting.set()
            while True:
                yield b" " * 65536
                await asyncio.sleep(0)  # what is sent to nobody waits for nobody

        return StreamingResponse(parts(), media_type="application/json")

    async def _slow(self, request, body):
        self.waiting.set()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(WAIT):
                while not self.release.is_set():
                    if await request.is_disconnected():
                        self.gone.set()
                        break
                    await asyncio.sleep(0.02)
        return await self._answer(request, body)

    async def _redirect(self, request, body):
        return RedirectResponse("/elsewhere", 307)

    async def _error(self, request, body):
        said = {"message": body.decode(), "type": "invalid_request_error"}
        code = {"code": "context_length_exceeded", "param": body.decode()}
        return JSONResponse({"error": {**said, **code}}, 400, {"retry-after": "3"})

    async def _cut(self, request, body):
        async def parts():
            yield b'data: {"choices":[]}\n\n'
            raise RuntimeError("the model ends")

        return StreamingResponse(parts(), media_type="text/event-stream")


def answers(kind: str) -> dict:
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    head = {"id": "resp_0123456789ab", "created": 1, "model": "stub", "usage": usage}
    if kind == "chat/completions":
        message = {"role": "assistant", "content": "An answer."}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        return {**head, "object": "chat.completion", "choices": [choice]}
    if kind == "completions":
        choice = {"index": 0, "text": "An answer.", "finish_reason": "stop"}
        return {**head, "object": "text_completion", "choices": [choice]}
    if kind == "embeddings":
        data = [{"object": "embedding", "index": 0, "embedding": [0.5, 0.25]}]
        return {"object": "list", "data": data, "model": "stub", "usage": usage}
    if kind == "messages":
        said = {"type": "message", "role": "assistant", "stop_reason": "end_turn"}
        content = [{"type": "text", "text": "An answer."}]
        tokens = {"input_tokens": 1, "output_tokens": 1}
        return {"id": "m", "model": "stub", "content": content, "usage": tokens, **said}
    if kind == "models":
        return {"object": "list", "data": [{"id": "stub", "object": "model"}]}
    part = {"type": "output_text", "text": "An answer.", "annotations": []}
    said = {"type": "message", "id": "msg_1", "role": "assistant", "content": [part]}
    return {"id": head["id"], "object": "response", "created_at": 1, "output": [said]}


async def events(kind: str):
    for part in EVENTS:
        yield part
        await asyncio.sleep(0)


def _event(text: str) -> bytes:
    choice = {"index": 0, "delta": {"content": text}, "finish_reason": None}
    head = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "stub"}
    return b"data: " + json.dumps({**head, "choices": [choice]}).encode() + b"\n\n"


EVENTS = [_event("An "), b": a comment\n\n", _event("answer é."), b"data: [DONE]\n\n"]


@contextlib.contextmanager
def running(app, **options):
    """Serve an application on a port of its own, in a thread."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(512)
        port = listener.getsockname()[1]
        config = uvicorn.Config(app, log_level="critical", access_log=False, **options)
        server = uvicorn.Server(config)
        run = {"sockets": [listener]}
        thread = threading.Thread(target=server.run, kwargs=run, daemon=True)
        thread.start()
        end = time.monotonic() + WAIT
        while not server.started and time.monotonic() < end:
            time.sleep(0.01)
        try:
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            server.should_exit = server.force_exit = True
            thread.join(WAIT)
