"""An OpenAI-compatible proxy: private prompts go up, answers come down unchanged."""

from __future__ import annotations

import contextlib
import functools
import json
import logging
import traceback
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, NoReturn, final

import anyio
import httpx
from anyio import to_thread
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import Message, Receive, Scope, Send

from mondegreen.errors import MondegreenError, OutOfVocabularyError
from mondegreen.prompts.guard import PromptGuard
from mondegreen.prompts.messages import REQUESTS
from mondegreen.prompts.rules import RefusedRequestError
from mondegreen.prompts.upstream import (
    Upstream,
    error_codes,
    returned_headers,
    sent_headers,
)

CONVERSATION_HEADER: Final = "x-mondegreen-conversation"
"""By which a client says what belongs together; it is not sent."""

GUARANTEE_HEADER: Final = "x-mondegreen-guarantee"
_LOG: Final = logging.getLogger("mondegreen.prompts")
_LONGEST_ERROR: Final = 1 << 16


class _FailedError(Exception):
    """An answer that is an error of ours, with its status."""

    def __init__(self, status: int, message: str, **codes: str) -> None:
        super().__init__(message)
        self.status, self.codes = status, codes
        self.headers: Mapping[str, str] = {}


@final
@dataclass(frozen=True, slots=True)
class ProxySettings:
    """What a proxy is started with.

    Parameters
    ----------
    guard : PromptGuard
        Privatizes requests.
    upstream : Upstream
        Where they go then.
    body : int
        Bytes of a request, at most.
    concurrent : int
        Requests at a time; more are refused with status 503.
    """

    guard: PromptGuard
    upstream: Upstream
    body: int = 4 << 20
    concurrent: int = 256


def create_proxy(settings: ProxySettings) -> Starlette:
    """Build the application: ``uvicorn.run(create_proxy(settings))``.

    ``POST /v1/chat/completions``, ``/v1/completions``, ``/v1/embeddings`` and
    ``/v1/responses`` go to the upstream in their private form; ``GET /v1/models`` goes
    as it is, and nothing else goes. ``GET /guarantee`` answers what is promised.
    """
    proxy = _Proxy(settings)

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with proxy.client:
            yield

    def guarantee(request: Request) -> Response:
        guard = settings.guard
        stated = {"guarantee": guard.guarantee.to_dict(), "digest": guard.digest}
        return JSONResponse(stated, headers=proxy.headers)

    def health(request: Request) -> Response:
        return JSONResponse({"status": "ok"})

    def absent(request: Request, error: Exception) -> Response:
        return _answer(_FailedError(404, "no such path here; nothing was sent"), {})

    return Starlette(
        routes=[
            *(
                Route(f"/v1/{k}", _Endpoint(proxy, k), methods=["POST"])
                for k in REQUESTS
            ),
            Route("/v1/models", _Endpoint(proxy, "models"), methods=["GET"]),
            Route("/guarantee", guarantee, methods=["GET"]),
            Route("/healthz", health, methods=["GET"]),
        ],
        lifespan=lifespan,
        exception_handlers={404: absent, 405: absent},
    )


@final
@dataclass(frozen=True, slots=True)
class _Endpoint:
    """One path, as an application of its own: it sees when a client has gone."""

    proxy: _Proxy
    kind: str

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self.proxy.serve(self.kind, Request(scope, receive), send)


@final
class _Proxy:
    def __init__(self, settings: ProxySettings) -> None:
        self._settings = settings
        self.client = settings.upstream.client()
        self._in_work = 0
        self._one_thread = anyio.CapacityLimiter(1)  # two would only take turns
        self.headers = {GUARANTEE_HEADER: settings.guard.short}

    async def serve(self, kind: str, request: Request, send: Send) -> None:
        """Answer one request; every error is an answer too."""
        if self._in_work >= self._settings.concurrent:
            busy = _FailedError(503, "too many requests at a time; nothing was sent")
            await _answer(busy, self.headers)(request.scope, request.receive, send)
            return
        self._in_work += 1
        outgoing = _Outgoing(send)
        try:
            await self._passed(kind, request, outgoing)
        except ClientDisconnect:
            pass
        except Exception as error:
            await outgoing.end(_answer(_failure(error), self.headers), request)
        finally:
            self._in_work -= 1

    async def _passed(self, kind: str, request: Request, send: _Outgoing) -> None:
        if request.url.query:
            raise RefusedRequestError("", "a query string is not sent")
        headers = sent_headers(request.headers)
        body = None
        if request.method == "POST":
            body = await self._private(kind, request, headers)
        async with anyio.create_task_group() as group:
            group.start_soon(_watch, request.receive, group.cancel_scope)
            with _upstream_errors():
                await self._relayed(kind, request.method, headers, body, send)
            group.cancel_scope.cancel()

    async def _private(
        self, kind: str, request: Request, headers: Mapping[str, str]
    ) -> bytes:
        """Read a request and make its private form, built anew from what was read."""
        values = _parsed(await self._read(request))
        conversation = request.headers.get(CONVERSATION_HEADER, "")
        client = json.dumps(
            [headers.get("authorization"), headers.get("api-key"), conversation]
        )
        made = functools.partial(self._settings.guard.request, kind, values, client)
        private = await to_thread.run_sync(made, limiter=self._one_thread)
        return json.dumps(private).encode()

    async def _read(self, request: Request) -> bytes:
        if "content-encoding" in request.headers:
            raise RefusedRequestError("", "a compressed body is not read")
        data = bytearray()
        async for part in request.stream():
            data += part
            if len(data) > self._settings.body:
                most = f"a request has at most {self._settings.body} bytes here"
                raise _FailedError(413, f"{most}; nothing was sent")
        return bytes(data)

    async def _relayed(
        self,
        kind: str,
        method: str,
        headers: Mapping[str, str],
        body: bytes | None,
        send: _Outgoing,
    ) -> None:
        """Send a private request, and pass its answer on as it comes."""
        address = self._settings.upstream.address(kind)
        async with self.client.stream(
            method, address, headers=headers, content=body
        ) as answer:
            if not answer.is_success:
                await _refused(answer)
            returned = returned_headers(answer.headers.items())
            await send.start(answer.status_code, {**returned, **self.headers})
            async for part in answer.aiter_bytes():
                await send.part(part)
            await send.part(b"", more=False)


async def _refused(answer: httpx.Response) -> NoReturn:
    """Tell that the upstream answered an error; what it wrote may repeat a prompt."""
    status = answer.status_code
    if status < 400:
        raise _FailedError(502, f"the upstream redirects ({status}); not followed")
    body = b""
    async for part in answer.aiter_bytes():
        body += part
        if len(body) > _LONGEST_ERROR:
            break
    said = f"the upstream answered with status {status}"
    failed = _FailedError(status, said, **error_codes(body))
    returned = returned_headers(answer.headers.items())
    failed.headers = {k: v for k, v in returned.items() if k.lower() != "content-type"}
    raise failed


async def _watch(receive: Receive, scope: anyio.CancelScope) -> None:
    """End the work for a client that has gone."""
    while (await receive())["type"] != "http.disconnect":
        pass
    scope.cancel()


@contextlib.contextmanager
def _upstream_errors() -> Any:
    try:
        yield
    except httpx.TimeoutException:
        raise _FailedError(504, "the upstream took too long") from None
    except httpx.HTTPError:
        raise _FailedError(502, "the upstream cannot be reached") from None


@final
class _Outgoing:
    """What goes back to the client; knows whether an answer has begun."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._is_begun, self._is_events = False, False

    async def start(self, status: int, headers: Mapping[str, str]) -> None:
        raw = [(k.lower().encode(), v.encode("latin-1")) for k, v in headers.items()]
        begin: Message = {"type": "http.response.start", "status": status}
        self._is_events = headers.get("content-type", "").startswith(
            "text/event-stream"
        )
        await self._send({**begin, "headers": raw})
        self._is_begun = True

    async def part(self, body: bytes, *, more: bool = True) -> None:
        message: Message = {"type": "http.response.body", "body": body}
        await self._send({**message, "more_body": more})

    async def end(self, error: JSONResponse, request: Request) -> None:
        """Send an error: as the answer, as an event, or by cutting the answer off."""
        if not self._is_begun:
            await error(request.scope, request.receive, self._send)
        elif self._is_events:
            await self.part(b"\n\ndata: " + bytes(error.body) + b"\n\n", more=False)


def _parsed(data: bytes) -> dict[str, Any]:
    try:
        values = json.loads(data)
    except (ValueError, RecursionError):
        values = None
    if not isinstance(values, dict):
        raise RefusedRequestError("", "must be a JSON object")
    return values


def _failure(error: Exception) -> _FailedError:
    """Say what failed; only our own errors are known to hold no text."""
    if isinstance(error, _FailedError):
        return error
    if isinstance(error, ExceptionGroup):  # of the task that watches the client
        return _failure(error.exceptions[0])
    if isinstance(error, RefusedRequestError):
        return _FailedError(400, str(error), param=error.path)
    said = "the request could not be privatized"
    if isinstance(error, MondegreenError):
        status = 400 if isinstance(error, OutOfVocabularyError) else 500
        return _FailedError(status, f"{said}: {error}")
    where = traceback.extract_tb(error.__traceback__)[-1]
    kind = type(error).__name__
    _LOG.error("this is a bug: %s in %s:%s", kind, where.name, where.lineno)
    return _FailedError(500, f"{said}; nothing was sent")


def _answer(error: _FailedError, headers: Mapping[str, str]) -> JSONResponse:
    """An error in the form that clients of this interface know."""
    said = {"message": f"mondegreen: {error}", "type": "mondegreen_error"}
    body = {"error": {**said, "param": None, "code": None, **error.codes}}
    return JSONResponse(body, error.status, {**error.headers, **headers})
