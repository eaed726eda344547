"""Where private requests go: one URL, checked, and what comes back from there."""

from __future__ import annotations

import json
import math
import re
import ssl
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, final
from urllib.parse import urlsplit

import httpx

from mondegreen import __version__
from mondegreen.errors import ConfigurationError, InvalidParameterError
from mondegreen.prompts.rules import RefusedRequestError
from mondegreen.serve.addresses import is_loopback

_AUTHORIZATION: Final = re.compile(r"[!-~]{1,32}(?: [!-~]{1,4096})?")
_ACCOUNT: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
# What clients say to the upstream in headers: who pays, and nothing else.
_SENT: Final[Mapping[str, re.Pattern[str]]] = {
    "authorization": _AUTHORIZATION,
    "api-key": _AUTHORIZATION,
    "openai-organization": _ACCOUNT,
    "openai-project": _ACCOUNT,
}
_RETURNED: Final = re.compile(
    r"content-type|retry-after|retry-after-ms|x-request-id|openai-processing-ms|"
    r"x-ratelimit-[a-z-]{1,60}"
)
_URL: Final = re.compile(
    r"https?://(?:[A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?"
    r"(?:/[A-Za-z0-9._~!$&'()*+,;=:@%/-]*)?"
)
_CODE: Final = re.compile(r"[a-z][a-z0-9_]{0,59}")
_CONNECT_SECONDS: Final = 10.0
_CONNECTIONS: Final = 1024
_IDLE_SECONDS: Final = 3.0
"""Servers often close idle connections after 5 seconds. A request that is sent on one
at that moment is lost, so the proxy lets go of it before."""


@final
@dataclass(frozen=True, slots=True)
class Upstream:
    """The service that answers.

    Parameters
    ----------
    url : str
        Its base, such as ``https://api.openai.com/v1``; ``/v1`` is added where it has
        no path. Plain HTTP is for this machine alone.
    seconds : float
        Timeout for connecting to it, and for each wait for a part of its answer.
    authority : str, optional
        File with certificates that are trusted, instead of the public ones.
    plain_http : bool
        Permit plain HTTP to another machine, as in a closed network.
    answer_seconds : float
        Timeout for a whole answer.

    Raises
    ------
    ConfigurationError
        If the URL is not just scheme, host, port and path. The message does not show
        it: a user name or a query may hold a secret.
    """

    url: str
    seconds: float = 600.0
    authority: str | None = None
    plain_http: bool = False
    answer_seconds: float = 3600.0

    def __post_init__(self) -> None:
        host = _find_host(self.url)
        if host is None:
            raise ConfigurationError(
                "The upstream must be a URL such as https://host:8443/v1: http or "
                "https, a host, a port from 1 to 65535 and a path. User names, "
                "passwords, queries and fragments are not allowed. Send a key in a "
                "header."
            )
        is_open = self.url.startswith("http:") and not is_loopback(host)
        if is_open and not self.plain_http:
            raise ConfigurationError(
                "The upstream is another machine, and plain HTTP shows the network "
                "every key. Use https, or pass --plain-http within a closed network."
            )
        for name in ("seconds", "answer_seconds"):
            if not 0 < getattr(self, name) < math.inf:
                allowed = "a number of seconds above 0"
                raise InvalidParameterError(name, getattr(self, name), allowed)

    def client(self) -> httpx.AsyncClient:
        """A client that follows nothing, and reads nothing of the environment."""
        seconds = httpx.Timeout(
            self.seconds, connect=min(_CONNECT_SECONDS, self.seconds)
        )
        return httpx.AsyncClient(
            verify=ssl.create_default_context(cafile=self.authority),
            timeout=seconds,
            follow_redirects=False,
            trust_env=False,
            limits=httpx.Limits(
                max_connections=_CONNECTIONS, keepalive_expiry=_IDLE_SECONDS
            ),
        )

    def address(self, kind: str) -> str:
        """Where requests of a kind go, such as ``chat/completions``."""
        base = self.url.rstrip("/")
        return f"{base}{'' if urlsplit(base).path else '/v1'}/{kind}"


def _find_host(url: str) -> str | None:
    """Find the host of a URL; None if the URL holds more than a base may."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return None
    return parts.hostname if _URL.fullmatch(url) and port != 0 else None


def choose_sent_headers(given: Mapping[str, str]) -> dict[str, str]:
    """Pass on who pays; all other headers of a client may hold text."""
    headers = {
        "content-type": "application/json",
        "accept-encoding": "identity",  # an answer is passed on as it comes
        "user-agent": f"mondegreen/{__version__}",
    }
    for name, pattern in _SENT.items():
        value = given.get(name)
        if value is not None:
            if not pattern.fullmatch(value):
                raise RefusedRequestError(f"header {name}", "is not of its form")
            headers[name] = value
    return headers


def choose_returned_headers(given: Iterable[tuple[str, str]]) -> dict[str, str]:
    return {name: value for name, value in given if _RETURNED.fullmatch(name.lower())}


def error_codes(body: bytes) -> dict[str, str]:
    """Take type and code out of an error of an upstream: identifiers, no sentences."""
    try:
        error = json.loads(body)["error"]
        found: dict[str, Any] = {name: error.get(name) for name in ("type", "code")}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}
    return {
        name: value
        for name, value in found.items()
        if isinstance(value, str) and _CODE.fullmatch(value)
    }
