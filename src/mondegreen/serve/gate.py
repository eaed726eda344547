"""The gate before every path: hosts, keys, limits, deadlines, errors without text."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, MutableMapping
from dataclasses import dataclass
from typing import Any, Final, final

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import Response

from mondegreen.serve.addresses import find_client, host_in, parse_ip
from mondegreen.serve.answers import Refused, find_refusal, raise_again
from mondegreen.serve.api_keys import ApiKeys
from mondegreen.serve.limits import Limits
from mondegreen.serve.metrics import Metrics

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]

OPEN: Final = frozenset({"/healthz", "/readyz"})
"""Paths that need no key."""

_FREE: Final = OPEN | {"/metrics"}
"""Paths that need no slot: they answer however busy the service is."""

HEADERS: Final = "mondegreen.headers"
"""The scope of a request has a dict under this name: headers that an application adds
to any refusal of this request, also to one that the gate itself makes."""

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
@dataclass(frozen=True, slots=True)
class Rules:
    """What a gate lets through, and how it refuses.

    Parameters
    ----------
    limits : Limits
        See there.
    seconds : float
        From the whole body of a request to the end of its answer.
    answer : callable
        Writes a refusal.
    guide : str
        Says which paths there are.
    api_keys : ApiKeys
        Who may call; with none, everybody.
    hosts : frozenset of str, optional
        Names that the header ``Host`` may hold, beside the address of the connection.
        Any if not given.
    """

    limits: Limits
    seconds: float
    answer: Callable[[Refused], Response]
    guide: str
    api_keys: ApiKeys
    hosts: frozenset[str] | None = None


def add_gate(app: Starlette, rules: Rules, metrics: Metrics) -> None:
    """Put a gate before an application, which may raise what it likes."""
    app.add_middleware(Gate, rules=rules, metrics=metrics)
    app.add_exception_handler(HTTPException, raise_again)


@final
class Gate:
    """ASGI middleware. Whatever happens behind it, its answer holds no text.

    A request passes in this order: host, key and rate, path and method, headers, whole
    body, free slot. The application therefore sees whole bodies only, and a body that
    does not arrive takes no slot. Every error becomes an answer, so that none reaches
    the server, whose log would show it. Requests and refusals are counted.
    """

    def __init__(self, app: App, rules: Rules, metrics: Metrics) -> None:
        self._app, self._rules, self._metrics = app, rules, metrics
        self._slots = _Slots(rules.limits)
        rate, callers = rules.limits.rate, max(1, len(rules.api_keys))
        self._buckets = [Bucket(rate) for _ in range(callers)] if rate else []

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        started, outgoing = time.perf_counter(), _Outgoing(send)
        own = scope[HEADERS] = {}
        body = _Body(receive, self._rules.limits.body)
        try:
            await self._answer(scope, body, outgoing)
        except Exception as error:
            refused = find_refusal(_find_raised(error))
            self._metrics.count_refusal(refused.reason)
            if not outgoing.status:
                found = self._rules.answer(refused)
                found.headers.update(own)
                if not await body.drain(scope):
                    found.headers["connection"] = "close"
                await found(scope, receive, outgoing)
        path = _find_route(scope) or "other"
        seconds = time.perf_counter() - started
        self._metrics.count_request(path, outgoing.status or 500, seconds)

    async def _answer(self, scope: Message, body: _Body, send: _Outgoing) -> None:
        path, limits = scope["path"], self._rules.limits
        self._check_host(scope)
        if path not in OPEN:
            self._check_caller(scope)
        self._check_path(scope)
        _check_head(scope, limits)
        with contextlib.ExitStack() as stack:
            if path not in _FREE:
                stack.enter_context(self._metrics.in_work.track_inprogress())
            await body.read(limits.seconds)
            if path not in _FREE:
                client = (scope.get("client") or ("",))[0]
                stack.enter_context(self._slots.take(find_client(client)))
            await self._in_time(scope, body, send)

    async def _in_time(self, scope: Message, body: _Body, send: _Outgoing) -> None:
        try:
            async with asyncio.timeout(self._rules.seconds):
                await self._app(scope, body.receive, send)
        except TimeoutError:
            says = f"The request was not done within {self._rules.seconds:g} s."
            raise Refused(503, "slow", says) from None

    def _check_host(self, scope: Message) -> None:
        """Refuse names of other machines: a web page may have led a browser here."""
        if self._rules.hosts is None:
            return
        given = [value for name, value in scope["headers"] if name == b"host"]
        host = host_in(given[0].decode("latin-1")) if len(given) == 1 else None
        here = (scope.get("server") or ("",))[0]
        is_here = parse_ip(here) is not None and host == host_in(_in_header(here))
        if not is_here and host not in self._rules.hosts:
            known = ", ".join(sorted(self._rules.hosts))
            says = f"Host not allowed. Allowed: {known}. Use --allowed-host to add one."
            raise Refused(421, "host", says)

    def _check_caller(self, scope: Message) -> None:
        """Reject unauthenticated or rate-limited callers."""
        says = "An API key is needed: Authorization: Bearer KEY"
        caller: int | None = 0
        if self._rules.api_keys:
            key = key_in(scope)
            caller = self._rules.api_keys.number(key)
            if key:
                says = "The API key is not valid."
        if caller is None:
            raise Refused(401, "key", says, {"www-authenticate": "Bearer"})
        if self._buckets and not self._buckets[caller].take(time.monotonic()):
            says = f"More than {self._rules.limits.rate:g} requests a second."
            raise Refused(429, "rate", says, {"retry-after": "1"})

    def _check_path(self, scope: Message) -> None:
        methods = _methods(scope).get(_find_route(scope))
        if methods is None:
            raise Refused(404, "path", f"Unknown path. {self._rules.guide}")
        if scope["method"] not in methods:
            allowed = ", ".join(sorted(methods))
            says = f"Method not allowed. Use {allowed}. {self._rules.guide}"
            raise Refused(405, "method", says, {"allow": allowed})


def _find_raised(error: Exception) -> Exception:
    """Find what the application raised: Starlette wraps it once an answer has begun."""
    cause = error.__cause__
    return cause if isinstance(cause, Refused) else error


@final
class _Slots:
    """Room for whole requests: so many for all clients, and so many for each."""

    def __init__(self, limits: Limits) -> None:
        self._all, self._each = limits.concurrent, limits.per_address
        self._taken: Counter[str] = Counter()

    @contextlib.contextmanager
    def take(self, client: str) -> Iterator[None]:
        """Take a slot while a request is answered, if one is free."""
        soon = {"retry-after": "1"}
        if self._each and self._taken[client] >= self._each:
            says = f"More than {self._each} requests at a time from one address."
            raise Refused(429, "address", f"{says} See --max-per-address.", soon)
        if self._taken.total() >= self._all:
            raise Refused(503, "busy", "The service is busy. Try again later.", soon)
        self._taken[client] += 1
        try:
            yield
        finally:
            self._taken[client] -= 1
            self._taken += Counter()  # forgets clients that have none


def _methods(scope: Message) -> dict[str, set[str]]:
    """Map the paths of the application to their methods."""
    return {route.path: route.methods for route in scope["app"].routes}


def _find_route(scope: Message) -> str:
    """Name the path of a request as the application declares it.

    What stands in place of a ``{name}`` may be a secret, which is not counted.
    """
    routes = _methods(scope)
    if scope["path"] in routes:
        return str(scope["path"])
    given = scope["path"].split("/")
    return next((path for path in routes if _is_like(path.split("/"), given)), "")


def _is_like(declared: list[str], given: list[str]) -> bool:
    """Whether parts of a path are those of a declared one, which may have names."""
    return len(declared) == len(given) and all(
        part.startswith("{") or part == own
        for part, own in zip(declared, given, strict=True)
    )


def _in_header(address: str) -> str:
    return f"[{address}]" if ":" in address else address


def key_in(scope: Message) -> bytes:
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
        raise Refused(415, "media_type", "The body must not be compressed.")
    if {b"transfer-encoding", b"content-length"} <= headers.keys():
        # A server in front may have taken the other one, and cut elsewhere.
        says = "The request has two lengths: Content-Length and Transfer-Encoding."
        raise Refused(400, "body", says, {"connection": "close"})
    length = headers.get(b"content-length", b"0")
    if not length.isdigit() or len(length) > 18 or int(length) > limits.body:
        raise Refused(413, "bytes", _too_long(limits.body))
    kind = headers.get(b"content-type", b"").partition(b";")[0].strip().lower()
    if scope["method"] == "POST" and kind != b"application/json":
        says = "The body must be JSON: Content-Type: application/json"
        raise Refused(415, "media_type", says)


def _too_long(limit: int) -> str:
    return f"The body has more than {limit} bytes. Send the texts in several requests."


@final
class _Body:
    """The body of a request: read whole, up to a limit, and then handed on."""

    def __init__(self, receive: Receive, limit: int) -> None:
        self._receive, self._limit = receive, limit
        self._left = limit
        self._data: bytes | None = None
        self._is_whole = False

    async def read(self, seconds: float) -> None:
        """Wait for the whole body; refuse one that is late, too long, or cut off."""
        data = bytearray()
        try:
            async with asyncio.timeout(seconds):
                while not self._is_whole:
                    data += await self._next()
        except TimeoutError:
            says = f"The body did not arrive within {seconds:g} s."
            raise Refused(408, "late", says) from None
        self._data = bytes(data)

    async def receive(self) -> Message:
        """Hand on the body, and then what comes after it: the end of the client."""
        if self._data is None:
            return await self._receive()
        data, self._data = self._data, None
        return {"type": "http.request", "body": data, "more_body": False}

    async def drain(self, scope: Message) -> bool:
        """Read the rest and forget it, within reason; tell whether all came.

        A client that is still sending would see a broken connection, and no answer.
        """
        if any(name == b"expect" for name, _ in scope["headers"]):
            return self._is_whole  # it waits for our answer before it sends
        self._left = _DRAINED_BYTES
        with contextlib.suppress(TimeoutError, Refused, ClientDisconnect):
            async with asyncio.timeout(_DRAINED_SECONDS):
                while not self._is_whole:
                    await self._next()
        return self._is_whole

    async def _next(self) -> bytes:
        message = await self._receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        part: bytes = message.get("body", b"")
        self._is_whole = not message.get("more_body", False)
        self._left -= len(part)
        if self._left < 0:
            raise Refused(413, "bytes", _too_long(self._limit))
        return part


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
