"""The paths of the page. It shows originals, so it is served to this machine alone."""

from __future__ import annotations

import asyncio
import functools
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Final, Protocol, TypeVar, final

from anyio import to_thread
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from mondegreen.arrays import Floats
from mondegreen.attacks.context import EXPOSED, compute_hidden_posteriors
from mondegreen.policy.policy import Policy
from mondegreen.prompts.conversation import HiddenText
from mondegreen.prompts.conversation_guard import Dialog
from mondegreen.prompts.conversations import Conversations, UnknownConversationError
from mondegreen.serve.addresses import host_in, is_loopback
from mondegreen.serve.answers import Refused, answer
from mondegreen.serve.limits import Limits
from mondegreen.serve.prompt_batcher import check_texts, privatizing_errors

PATH: Final = "/ui"

_FILES: Final = {
    PATH: ("index.html", "text/html; charset=utf-8"),
    f"{PATH}/style.css": ("style.css", "text/css; charset=utf-8"),
    f"{PATH}/page.js": ("page.js", "text/javascript; charset=utf-8"),
}
_HEADERS: Final = {
    "content-security-policy": "default-src 'none'; script-src 'self'; "
    "style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'; require-trusted-types-for 'script'",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-frame-options": "DENY",
}
_FORWARDED: Final = (
    "forwarded", "via", "cdn-loop", "client-ip", "true-client-ip", "remote-addr",
    "x-client-ip", "x-cluster-client-ip", "x-envoy-external-address", "x-original-host",
    "x-originating-ip", "x-real-ip", "x-remote-addr", "x-remote-ip",
)  # fmt: skip
_FORWARDED_BY: Final = ("cf-", "fastly-", "x-amz-cf-", "x-forwarded-")
"""How headers begin that programs between two machines add, in small letters."""
_SAME: Final = ("same-origin", "none")
_ELSEWHERE: Final = (
    "The page is for this machine alone. Start the proxy with --host 127.0.0.1 and "
    "open the address that it prints."
)
_OTHER_PAGE: Final = "Only the page itself may ask this. Open its address by hand."


_Value = TypeVar("_Value")


class FindBeliefs(Protocol):
    """What an attacker believes of each word of a hidden text."""

    def __call__(self, policy: Policy, hidden: HiddenText) -> Floats:
        """Return the posterior of each original word, in [0, 1]."""


def find_public_beliefs(policy: Policy, hidden: HiddenText) -> Floats:
    """Ask the attacker of the certificate of context, with the public model."""
    return compute_hidden_posteriors(policy, hidden.batch, hidden.symbols)


@final
@dataclass(frozen=True, slots=True)
class PageSettings:
    """What the page shows.

    Parameters
    ----------
    upstream : str
        The host that prompts are sent to.
    models : sequence of str
        Models that may be asked for; any if there are none.
    is_dry : bool
        Whether nothing is sent.
    find_beliefs : callable
        Which words the context gives away: those with a posterior above .5.
    """

    upstream: str
    models: Sequence[str] = ()
    is_dry: bool = False
    find_beliefs: FindBeliefs = find_public_beliefs


def list_page_routes(
    settings: PageSettings,
    conversations: Conversations,
    guarantee: Sequence[str],
    limits: Limits,
    owner: Callable[[Mapping[str, str]], str],
) -> list[Route]:
    """List the routes of the page: three files, and what they ask.

    Parameters
    ----------
    settings : PageSettings
        See there.
    conversations : Conversations
        Those of the proxy: a prompt has the same surrogates on the page and upstream.
    guarantee : sequence of str
        What is promised.
    limits : Limits
        ``words`` of a text.
    owner : callable
        Tells from headers who may use a conversation.
    """
    page = _Page(settings, conversations, tuple(guarantee), limits, owner)
    asked: dict[str, tuple[str, Callable[[Request], Awaitable[Response]]]] = {
        f"{PATH}/about": ("GET", page.describe),
        f"{PATH}/hide": ("POST", page.hide),
        f"{PATH}/restore": ("POST", page.restore),
    }
    routes = [
        Route(
            path, _guarded(functools.partial(_send_file, name, kind)), methods=["GET"]
        )
        for path, (name, kind) in _FILES.items()
    ]
    return routes + [
        Route(path, _guarded(each), methods=[method])
        for path, (method, each) in asked.items()
    ]


@final
class _Page:
    def __init__(
        self,
        settings: PageSettings,
        conversations: Conversations,
        guarantee: tuple[str, ...],
        limits: Limits,
        owner: Callable[[Mapping[str, str]], str],
    ) -> None:
        self._settings, self._conversations = settings, conversations
        self._guarantee, self._limits, self._owner = guarantee, limits, owner

    async def describe(self, request: Request) -> Response:
        """Say where prompts go, and what is promised."""
        settings = self._settings
        return answer(
            {
                "upstream": settings.upstream,
                "models": list(settings.models),
                "dry_run": settings.is_dry,
                "guarantee": list(self._guarantee),
            }
        )

    async def hide(self, request: Request) -> Response:
        """Hide a prompt, word by word, and mark what the context gives away."""
        text, token = _read(await request.body())
        check_texts([text], self._limits)
        opened, dialog = self._open(token, request)
        conversation = dialog.conversation

        def work() -> list[list[Any]]:
            hidden = conversation.hide_words(text)
            self._conversations.keep(opened)
            beliefs = self._settings.find_beliefs(conversation.policy, hidden)
            return _list_pieces(conversation.policy, hidden, beliefs)

        with privatizing_errors():
            pieces = await self._run(work)
        return answer({"conversation": opened, "pieces": pieces})

    async def restore(self, request: Request) -> Response:
        """Put the originals back into an answer that was pasted."""
        text, token = _read(await request.body())
        check_texts([text], self._limits)
        if token is None:
            raise Refused(400, "field", "An answer needs a conversation.")
        _, dialog = self._open(token, request)
        shown = await self._run(lambda: dialog.conversation.restore(text))
        return answer({"text": shown})

    def _open(self, token: str | None, request: Request) -> tuple[str, Dialog]:
        """Open a conversation; the page sends its token in the body, in no header."""
        try:
            return self._conversations.open(token, self._owner(request.headers))
        except UnknownConversationError:
            says = "Unknown or expired conversation. Hide a prompt to begin another."
            code = "unknown_conversation"
            raise Refused(404, "conversation", says, code=code) from None

    async def _run(self, work: Callable[[], _Value]) -> _Value:
        """Work in a thread, within the time of a request."""
        try:
            async with asyncio.timeout(self._limits.seconds):
                made: _Value = await to_thread.run_sync(work, abandon_on_cancel=True)
                return made
        except TimeoutError:
            says = f"The text was not read within {self._limits.seconds:g} s."
            raise Refused(503, "slow", f"{says} Try a shorter one.") from None


def _list_pieces(
    policy: Policy, hidden: HiddenText, beliefs: Floats
) -> list[list[Any]]:
    """List the parts of a text: original, sent, kind if hidden, whether given away."""
    pieces: list[list[Any]] = []
    for i, (old, new) in enumerate(zip(hidden.parts, hidden.sent, strict=True)):
        is_hidden = i % 2 == 1 and bool(hidden.hidden[i // 2])
        if not is_hidden:
            pieces.append([old, new, None, False])
            continue
        kind, form, _ = policy.describe(int(hidden.symbols[i // 2]))
        name = form if kind == "shape" else kind.replace("_", " ")
        pieces.append([old, new, name, bool(beliefs[i // 2] > EXPOSED)])
    return pieces


def _read(data: bytes) -> tuple[str, str | None]:
    """Read a text, and the token of its conversation."""
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict) or not isinstance(found.get("text"), str):
        raise Refused(400, "field", "The body must be a JSON object with a text.")
    token = found.get("conversation")
    if not isinstance(token, str | None):
        raise Refused(400, "field", "conversation must be a string.")
    return found["text"], token


async def _send_file(name: str, kind: str, request: Request) -> Response:
    data = files(__package__).joinpath(name).read_bytes()
    return Response(data, media_type=kind, headers=_HEADERS)


def _guarded(
    serve: Callable[[Request], Awaitable[Response]],
) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        check_caller(request)
        return await serve(request)

    return endpoint


def check_caller(request: Request) -> None:
    """Refuse other machines, and other pages in a browser of this machine.

    The connection must come from a loopback address to a loopback address, without a
    proxy in between, under a name of this machine. A browser tells which page asks:
    by ``Sec-Fetch-Site``, and by ``Origin`` with every POST.

    Raises
    ------
    Refused
        With status 403.
    """
    headers = request.headers
    ends = [request.scope.get(name) or ("",) for name in ("client", "server")]
    host = host_in(headers.get("host", "")) or ""
    is_here = is_loopback(host) and all(is_loopback(str(end[0])) for end in ends)
    is_forwarded = any(
        name in _FORWARDED or name.startswith(_FORWARDED_BY) for name in headers
    )
    if not is_here or is_forwarded:
        raise Refused(403, "host", _ELSEWHERE)
    own = f"{request.scope.get('scheme', 'http')}://{headers.get('host', '')}"
    origin = headers.get("origin")
    is_own = origin == own if origin or request.method == "POST" else True
    if not is_own or headers.get("sec-fetch-site", "none") not in _SAME:
        raise Refused(403, "host", _OTHER_PAGE)
