"""An OpenAI-compatible proxy: private prompts go up, answers come down unchanged."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NoReturn, TypeAlias, final

import anyio
import httpx
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import Message, Receive, Scope, Send

from mondegreen.errors import ConfigurationError, PrivacyError
from mondegreen.prompts.conversation_file import ConversationFile
from mondegreen.prompts.conversation_guard import ConversationGuard
from mondegreen.prompts.conversations import HEADER, MOST, SECONDS, Conversations
from mondegreen.prompts.guard import PromptGuard
from mondegreen.prompts.messages import REQUESTS
from mondegreen.prompts.rules import RefusedRequestError
from mondegreen.prompts.store_search import SEARCH
from mondegreen.serve import searches
from mondegreen.serve.addresses import list_allowed_hosts
from mondegreen.serve.answers import HALF, LOG, Refused, find_refusal
from mondegreen.serve.api_keys import ApiKeys
from mondegreen.serve.audit_log import AuditLog
from mondegreen.serve.dry_run import DryRun
from mondegreen.serve.forgetting import forget_in_time
from mondegreen.serve.gate import HEADERS, Rules, add_gate
from mondegreen.serve.limits import Limits
from mondegreen.serve.metrics import Metrics
from mondegreen.serve.prompt_batcher import PromptBatcher, privatizing_errors
from mondegreen.serve.talks import Talk, Talks
from mondegreen.serve.ui.paths import PATH as PAGE
from mondegreen.serve.ui.paths import PageSettings, list_page_routes
from mondegreen.serve.upstream import (
    Upstream,
    choose_returned_headers,
    choose_sent_headers,
    error_codes,
)

CONVERSATION_PATH: Final = "/v1/conversations/{token}"
GUARANTEE_HEADER: Final = "x-mondegreen-guarantee"
WORD_STEP: Final = 1000
"""Words between two states of their count, which each client can read."""

PROMPT_WORDS: Final = 50_000
"""Words of a request by default: about a second of work if sentences are read."""

_LONGEST_ERROR: Final = 1 << 16
_LAST_STATUS: Final = 599
"""No server can send a higher one."""

_Change: TypeAlias = Callable[[AsyncIterator[bytes], str], AsyncIterator[bytes]]
"""From the parts of an answer and its content type to what the client gets."""


@final
@dataclass(frozen=True, slots=True)
class ProxySettings:
    """What a proxy is started with.

    Parameters
    ----------
    guard : PromptGuard or ConversationGuard
        Privatizes requests, or hides their words and restores the answers.
    upstream : Upstream
        Where they go then.
    limits : Limits
        See there.
    hosts : frozenset of str
        Names that clients may call the proxy by; see :func:`list_allowed_hosts`.
        Its own address always is one.
    conversation_seconds : float
        Time after its last request that a conversation is kept.
    conversations : int
        Conversations that are kept at most.
    conversation_file : ConversationFile, optional
        Keeps conversations over restarts.
    audit_log : AuditLog, optional
        Gets a line before each request leaves. A request without one does not leave.
    dry_run : DryRun, optional
        Shows requests beside what would leave; nothing is sent then.
    page : PageSettings, optional
        What the page ``/ui`` shows; there is none without. It needs a guard that
        restores. It answers callers on this machine alone.
    """

    guard: PromptGuard | ConversationGuard
    upstream: Upstream
    limits: Limits = field(default_factory=lambda: Limits(words=PROMPT_WORDS))
    hosts: frozenset[str] = field(default_factory=lambda: list_allowed_hosts(()))
    conversation_seconds: float = SECONDS
    conversations: int = MOST
    conversation_file: ConversationFile | None = None
    audit_log: AuditLog | None = None
    dry_run: DryRun | None = None
    page: PageSettings | None = None


def create_proxy(settings: ProxySettings) -> Starlette:
    """Build the application, which :func:`mondegreen.serve.server.run` serves.

    ``POST /v1/chat/completions``, ``/v1/completions``, ``/v1/embeddings`` and
    ``/v1/responses`` go to the upstream in their private form; ``GET /v1/models`` goes
    as it is, and nothing else goes. ``GET /guarantee`` answers what is promised,
    ``GET /readyz`` whether requests can be privatized. With
    ``guard.search``, ``POST /v1/vector_stores/ID/search`` goes too, and its answer is
    ordered here.

    Raises
    ------
    ConfigurationError
        If there is a page, and the guard does not restore.
    """
    metrics = Metrics(WORD_STEP)
    proxy = _Proxy(settings, metrics)

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        kept = None if proxy.talks is None else proxy.talks.conversations
        async with proxy.client, forget_in_time(kept):
            yield

    def guarantee(request: Request) -> Response:
        stated = {"guarantee": proxy.stated, "digest": settings.guard.digest}
        return JSONResponse(stated, headers=proxy.headers)

    def health(request: Request) -> Response:
        return JSONResponse({"status": "ok"})

    async def ready(request: Request) -> Response:
        await proxy.check()
        return JSONResponse({"status": "ready"})

    def prometheus(request: Request) -> Response:
        return Response(metrics.lines(), media_type="text/plain; version=0.0.4")

    posts = {f"/v1/{kind}": _Endpoint(proxy, kind) for kind in REQUESTS}
    gets = {
        "/v1/models": _Endpoint(proxy, "models"),
        "/guarantee": guarantee,
        "/healthz": health,
        "/readyz": ready,
        "/metrics": prometheus,
    }
    routes = [Route(path, each, methods=["POST"]) for path, each in posts.items()]
    routes += [Route(path, each, methods=["GET"]) for path, each in gets.items()]
    routes += _iterate_routes(settings, proxy, metrics)
    app = Starlette(routes=routes, lifespan=lifespan)
    rules = Rules(
        settings.limits,
        settings.limits.seconds + settings.upstream.answer_seconds,
        proxy.refusal,
        f"Nothing was sent. Paths: {', '.join(_list_paths(routes))}.",
        ApiKeys(),
        settings.hosts,
    )
    add_gate(app, rules, metrics)
    return app


def _list_paths(routes: Iterable[Route]) -> list[str]:
    """List the paths that a client may want: not the parts of the page."""
    return [each.path for each in routes if not each.path.startswith(f"{PAGE}/")]


def _iterate_routes(
    settings: ProxySettings, proxy: _Proxy, metrics: Metrics
) -> Iterator[Route]:
    """Yield the routes that not every proxy has."""
    if settings.guard.search is not None:
        yield Route(searches.PATH, _Endpoint(proxy, SEARCH), methods=["POST"])
    if proxy.talks is not None:
        kept = proxy.talks.conversations
        metrics.watch_conversations(
            lambda: kept.begun, lambda: kept.forgotten, lambda: len(kept)
        )
        yield Route(CONVERSATION_PATH, proxy.delete, methods=["DELETE"])
    if settings.page is not None:
        if proxy.talks is None:
            raise ConfigurationError("the page /ui needs --restore")
        known = proxy.talks.conversations, proxy.stated["lines"]
        yield from list_page_routes(settings.page, *known, settings.limits, _owner)


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
    def __init__(self, settings: ProxySettings, metrics: Metrics) -> None:
        self._upstream = settings.upstream
        guard = settings.guard
        self._search = guard.search
        self._prompts: PromptBatcher | None = None
        self.talks: Talks | None = None
        file = settings.conversation_file
        if isinstance(guard, ConversationGuard):
            self.stated: Any = {"mechanism": "surrogates", "lines": guard.guarantee}
            self.talks = Talks(
                guard,
                Conversations(
                    guard.begin,
                    settings.conversation_seconds,
                    settings.conversations,
                    file=file,
                ),
                settings.limits,
                metrics.count_texts,
            )
            if file is not None and file.lost:
                LOG.warning("%d conversations of the file are unreadable", file.lost)
        else:
            self.stated = guard.guarantee.to_dict()
            self._prompts = PromptBatcher(guard, settings.limits, metrics.count_batch)
        self._audit_log, self._dry_run = settings.audit_log, settings.dry_run
        self._digest = guard.digest
        self.client = settings.upstream.client()
        self.headers = {GUARANTEE_HEADER: guard.short}

    async def check(self) -> None:
        """Check that a word can be privatized and the audit log can be written.

        Nothing is sent.

        Raises
        ------
        Refused
            If one of them fails.
        """
        if self._audit_log is not None:
            with _audit_errors():
                self._audit_log.check()
        checked = self.talks or self._prompts
        try:
            with privatizing_errors():
                if checked is not None:
                    await checked.check()
        except TimeoutError:
            says = "A word could not be privatized in time."
            raise Refused(503, "slow", says) from None

    async def delete(self, request: Request) -> Response:
        """Forget a conversation."""
        if self.talks is not None:
            owner = _owner(request.headers)
            self.talks.conversations.delete(request.path_params["token"], owner)
        return Response(status_code=204, headers=self.headers)

    def refusal(self, refused: Refused) -> Response:
        """Write a refusal in the form that clients of this interface know."""
        body = _error_body(refused)
        headers = {**(refused.headers or {}), **self.headers}
        return JSONResponse(body, refused.status_code, headers)

    async def serve(self, kind: str, request: Request, send: Send) -> None:
        """Answer one request, unless its client goes before."""
        outgoing = _Outgoing(send)
        body = await request.body()
        has_gone = False

        async def watch() -> None:
            nonlocal has_gone
            while (await request.receive())["type"] != "http.disconnect":
                pass
            has_gone = True
            group.cancel_scope.cancel()

        try:
            async with anyio.create_task_group() as group:
                group.start_soon(watch)
                await self._pass_on(kind, request, body, outgoing)
                group.cancel_scope.cancel()
        except ExceptionGroup as found:  # of the two tasks; the other one was canceled
            await outgoing.fail(found.exceptions[0])
        if has_gone and not outgoing.is_whole:
            raise ClientDisconnect

    async def _pass_on(
        self, kind: str, request: Request, body: bytes, send: _Outgoing
    ) -> None:
        if request.scope["query_string"]:
            raise RefusedRequestError("", "a query string is not sent")
        headers = choose_sent_headers(request.headers)
        if request.method != "POST":
            self._check_leaving(kind)
            with _upstream_errors():
                await self._relay("GET", kind, headers, None, send)
            return
        place, own = kind, dict[str, str]()
        change: _Change | None = None
        if kind == SEARCH and self._search is not None:
            place = searches.find_place(self._search, request)
            headers |= searches.SENT_HEADERS
            asked = searches.StoreAnswer(self._search, _parse(body))
            change, own = asked.order, asked.headers
        talk = None
        if self.talks is not None:
            given = request.headers
            token, dialog = self.talks.conversations.open(
                given.get(HEADER), _owner(given)
            )
            # Whatever happens now, a client that tries again can go on with it.
            request.scope[HEADERS][HEADER] = token
            talk = await self.talks.begin(
                kind, lambda: _parse(body), token, dialog, len(body)
            )
            private = json.dumps(talk.sent).encode()
            change = change or talk.restore_stream
            own = {**own, HEADER: token}
        else:
            private = await self._private(kind, request.headers, body)
        if self._dry_run is not None:
            self._dry_run(body, private)
        self._check_leaving(kind, private, talk)
        with _upstream_errors():
            await self._relay("POST", place, headers, private, send, change, own)

    def _check_leaving(
        self, kind: str, private: bytes = b"", talk: Talk | None = None
    ) -> None:
        """Write down that a request leaves; refuse it in a dry run."""
        if self._dry_run is not None:
            says = "This is a dry run. Nothing was sent."
            raise Refused(400, "dry_run", says)
        if self._audit_log is None:
            return
        known = {}
        if talk is not None:
            token = hashlib.sha256(talk.token.encode()).hexdigest()
            known["conversation"] = token[:16]
        with _audit_errors():
            self._audit_log.append(
                "request",
                kind=kind,
                bytes=len(private),
                guarantee=self._digest,
                **known,
            )

    async def _private(
        self, kind: str, headers: Mapping[str, str], body: bytes
    ) -> bytes:
        """Make the private form of a request, built anew from what was read."""
        conversation = headers.get(HEADER, "")
        client = json.dumps([*_credentials(headers), conversation])

        def make(guard: PromptGuard) -> bytes:
            return json.dumps(guard.request(kind, _parse(body), client)).encode()

        if self._prompts is None:
            raise PrivacyError("there is no guard")
        with privatizing_errors():
            return await self._prompts.run(make)

    async def _relay(
        self,
        method: str,
        place: str,
        headers: Mapping[str, str],
        body: bytes | None,
        send: _Outgoing,
        change: _Change | None = None,
        more: Mapping[str, str] | None = None,
    ) -> None:
        """Send a private request, and pass its answer on as it comes, or changed."""
        address = self._upstream.address(place)
        async with (
            asyncio.timeout(self._upstream.answer_seconds),
            self.client.stream(
                method, address, headers=headers, content=body
            ) as answer,
        ):
            own = {**self.headers, **(more or {})}
            if not answer.is_success:
                await _refuse(answer, own)
            returned = choose_returned_headers(answer.headers.items())
            parts, first = answer.aiter_bytes(), b""
            if change is not None:
                parts = change(parts, returned.get("content-type", ""))
                # Before the status, since the answer may not be readable.
                first = await anext(parts, b"")
            await send.start(answer.status_code, {**returned, **own})
            if first:
                await send.part(first)
            async for part in parts:
                await send.part(part)
            await send.part(b"", more=False)


async def _refuse(answer: httpx.Response, headers: Mapping[str, str]) -> NoReturn:
    """Tell that the upstream answered an error; what it wrote may repeat a prompt."""
    status = answer.status_code
    if status < 400:
        says = f"The upstream redirects ({status}). The proxy does not follow."
        raise Refused(502, "upstream", says)
    if status > _LAST_STATUS:
        says = f"The upstream answered with status {status}, which HTTP does not have."
        raise Refused(502, "upstream", says)
    body = b""
    async for part in answer.aiter_bytes():
        body += part
        if len(body) > _LONGEST_ERROR:
            break
    says = f"The upstream answered with status {status}."
    returned = choose_returned_headers(answer.headers.items())
    kept = {k: v for k, v in returned.items() if k.lower() != "content-type"}
    kept |= headers
    raise Refused(status, "upstream", says, kept, **error_codes(body))


@contextlib.contextmanager
def _audit_errors() -> Iterator[None]:
    try:
        yield
    except ConfigurationError as error:
        LOG.error("%s; 503", error)
        says = "The audit log cannot be written. Nothing was sent."
        raise Refused(503, "audit", says) from None


@contextlib.contextmanager
def _upstream_errors() -> Iterator[None]:
    try:
        yield
    except httpx.TimeoutException:
        raise Refused(504, "upstream", "The upstream took too long.") from None
    except TimeoutError:
        says = "The whole answer of the upstream took too long. See --answer-timeout."
        raise Refused(504, "upstream", says) from None
    except httpx.ConnectError:
        raise Refused(502, "upstream", "The upstream cannot be reached.") from None
    except httpx.HTTPError:
        says = (
            "The connection to the upstream broke. The answer is incomplete. The "
            "upstream may have received the request, and may charge for it."
        )
        raise Refused(502, "upstream", says) from None


@final
class _Outgoing:
    """What goes back to the client; knows how far the answer is."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._is_begun, self._is_events = False, False
        self.is_whole = False

    async def start(self, status: int, headers: Mapping[str, str]) -> None:
        raw = [(k.lower().encode(), v.encode("latin-1")) for k, v in headers.items()]
        begin: Message = {"type": "http.response.start", "status": status}
        self._is_events = headers.get("content-type", "").startswith(
            "text/event-stream"
        )
        self._is_begun = True
        await self._send({**begin, "headers": raw})

    async def part(self, body: bytes, *, more: bool = True) -> None:
        self.is_whole = not more
        message: Message = {"type": "http.response.body", "body": body}
        await self._send({**message, "more_body": more})

    async def fail(self, error: Exception) -> NoReturn:
        """Raise an error; where events have begun to flow, it is the last of them."""
        refused = find_refusal(error)
        if self._is_begun and self._is_events:
            event = json.dumps(_error_body(refused)).encode()
            await self.part(b"\n\ndata: " + event + b"\n\n", more=False)
        raise refused


def _credentials(headers: Mapping[str, str]) -> list[str | None]:
    return [headers.get(name) for name in ("authorization", "api-key")]


def _owner(headers: Mapping[str, str]) -> str:
    """Digest the credentials of a client: nobody else may use its conversation."""
    data = json.dumps(_credentials(headers)).encode()
    return hashlib.blake2b(data, digest_size=32).hexdigest()


def _parse(data: bytes) -> dict[str, Any]:
    try:
        values = json.loads(data)
    except (ValueError, RecursionError):
        values = None
    if not isinstance(values, dict):
        raise RefusedRequestError("", "must be a valid JSON object", reason="body")
    if b"\\u" in data and _has_half(values):
        raise Refused(400, "body", HALF)
    return values


def _has_half(values: dict[str, Any]) -> bool:
    """Whether half of a surrogate pair stands alone in a text."""
    try:
        json.dumps(values, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return True
    return False


def _error_body(refused: Refused) -> dict[str, Any]:
    said = {"message": f"mondegreen: {refused.detail}", "type": "mondegreen_error"}
    return {"error": {**said, "param": None, "code": None, **refused.codes}}
