"""What stands before every address: keys, limits, and errors that tell no text."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Iterator, MutableMapping
from typing import Any, Final, final

from mondegreen.serve.answers import Refused, refusal
from mondegreen.serve.metrics import Metrics, path_of
from mondegreen.serve.settings import Limits, Settings

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]

OPEN: Final = frozenset({"/healthz", "/readyz"})
"""Addresses that need no key, and answer however busy the service is."""

_DRAINED_BYTES: Final = 16 << 20
_DRAINED_SECONDS: Final = 1.0
_HEADERS: Final = [
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
]


@final
class Bucket:
    """Requests that may still come: some at once, then so many a second.

    >>> bucket = Bucket(rate=2.0)
    >>> [bucket.take(now) for now in (0.0, 0.0, 0.0, 0.0, 0.0, 0.5)]
    [True, True, True, True, False, True]
    """

    def __init__(self, rate: float) -> None:
        self._rate = rate
        self._size = self._left = max(1.0, 2 * rate)
        self._seen = 0.0

    def take(self, now: float) -> bool:
        """Whether another may come at this time, in seconds."""
        self._left = min(self._size, self._left + (now - self._seen) * self._rate)
        self._seen = now
        if self._left < 1:
            return False
        self._left -= 1
        return True


@final
class Guard:
    """ASGI middleware. Whatever happens behind it, its answer holds no text.

    Every error becomes ``{"error": ...}``, so that none reaches the server, whose log
    would show it. Counts of requests go to ``metrics``.
    """

    def __init__(self, app: App, settings: Settings, metrics: Metrics) -> None:
        self._app, self._settings, self._metrics = app, settings, metrics
        self._in_work = 0
        rate = settings.limits.rate
        callers = max(1, len(settings.api_keys))
        self._buckets = [Bucket(rate) for _ in range(callers)] if rate else []

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        started, outgoing = time.perf_counter(), _Outgoing(send)
        body = _Body(receive, self._settings.limits.body)
        try:
            await self._answered(scope, body, outgoing)
        except Exception as error:
            if not outgoing.status:
                found = refusal(error)
                if not await body.drained(scope):
                    found.headers["connection"] = "close"
                await found(scope, receive, outgoing)
        path = path_of(scope["path"], {route.path for route in scope["app"].routes})
        seconds = time.perf_counter() - started
        self._metrics.count_request(path, outgoing.status or 500, seconds)

    async def _answered(self, scope: Message, body: _Body, send: _Outgoing) -> None:
        limits = self._settings.limits
        with contextlib.ExitStack() as stack:
            if scope["path"] not in OPEN:
                self._check_caller(scope)
                stack.enter_context(self._at_work())
            _check_head(scope, limits)
            try:
                async with asyncio.timeout(limits.seconds):
                    await self._app(scope, body.receive, send)
            except TimeoutError:
                if body.is_whole:
                    raise Refused(503, _too_slow("was not done", limits)) from None
                raise Refused(408, _too_slow("did not arrive", limits)) from None

    @contextlib.contextmanager
    def _at_work(self) -> Iterator[None]:
        """Count a request while it is answered, if there is room for it."""
        if self._in_work >= self._settings.limits.concurrent:
            says = "the service is busy: try again soon"
            raise Refused(503, says, retry_after="1")
        self._in_work += 1
        self._metrics.in_work.inc()
        try:
            yield
        finally:
            self._in_work -= 1
            self._metrics.in_work.dec()

    def _check_caller(self, scope: Message) -> None:
        """Refuse who has no key, or has come too often."""
        caller: int | None = 0
        if self._settings.api_keys:
            caller = self._settings.api_keys.number(_key_in(scope))
        if caller is None:
            says = "an API key is needed: Authorization: Bearer KEY"
            raise Refused(401, says, www_authenticate="Bearer")
        if self._buckets and not self._buckets[caller].take(time.monotonic()):
            says = f"more than {self._settings.limits.rate:g} requests a second"
            raise Refused(429, says, retry_after="1")


def _key_in(scope: Message) -> bytes:
    """Read the key of a request from either of two headers."""
    for name, value in scope["headers"]:
        if name == b"x-api-key":
            return bytes(value)
        if name == b"authorization" and value[:7].lower() == b"bearer ":
            return bytes(value[7:]).strip()
    return b""


def _check_head(scope: Message, limits: Limits) -> None:
    """Refuse what can be refused before the body comes."""
    headers = dict(scope["headers"])
    if headers.get(b"content-encoding", b"identity").lower() != b"identity":
        raise Refused(415, "the body must not be compressed")
    length = headers.get(b"content-length", b"0")
    if not length.isdigit() or len(length) > 18 or int(length) > limits.body:
        raise Refused(413, _too_long(limits.body))


def _too_long(limit: int) -> str:
    return f"the body has more than {limit} bytes; send the texts in several requests"


def _too_slow(what: str, limits: Limits) -> str:
    return f"the request {what} within {limits.seconds:g} seconds"


@final
class _Body:
    """The body of a request as it comes in, up to a limit."""

    def __init__(self, receive: Receive, limit: int) -> None:
        self._receive, self._left = receive, limit
        self._limit = limit
        self.is_whole = False

    async def receive(self) -> Message:
        message = await self._receive()
        self._left -= len(message.get("body", b""))
        self.is_whole |= not message.get("more_body", False)
        if self._left < 0:
            raise Refused(413, _too_long(self._limit))
        return message

    async def drained(self, scope: Message) -> bool:
        """Read the rest and forget it, within reason; tell whether all came.

        Who is still sending would otherwise see a broken connection, and no answer.
        """
        if any(name == b"expect" for name, _ in scope["headers"]):
            return self.is_whole  # it waits for our answer before it sends
        self._left = _DRAINED_BYTES
        with contextlib.suppress(TimeoutError, Refused):
            async with asyncio.timeout(_DRAINED_SECONDS):
                while not self.is_whole:
                    await self.receive()
        return self.is_whole


@final
class _Outgoing:
    """Sends an answer, and remembers its status."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.status = 0

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            message["headers"] = [*message.get("headers", ()), *_HEADERS]
        await self._send(message)
