"""Where private requests go: one address, checked, and what comes back from there."""

from __future__ import annotations

import ipaddress
import json
import re
import ssl
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, final
from urllib.parse import urlsplit

import httpx

from mondegreen.errors import ConfigurationError, InvalidParameterError

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
_CODE: Final = re.compile(r"[a-z][a-z0-9_]{0,59}")
_CONNECT_SECONDS: Final = 10.0
_CONNECTIONS: Final = 1024


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
        How long it may be silent.
    authority : str, optional
        File with certificates that are trusted, instead of the public ones.
    plain_http : bool
        Permit plain HTTP to another machine, as in a closed network.
    """

    url: str
    seconds: float = 600.0
    authority: str | None = None
    plain_http: bool = False

    def __post_init__(self) -> None:
        parts = urlsplit(self.url)
        is_plain = parts.scheme in ("http", "https") and parts.hostname
        if not is_plain or parts.query or parts.fragment or parts.username:
            allowed = "an address such as https://host/v1, with no name, query or key"
            raise InvalidParameterError("upstream", "another one", allowed)
        is_open = parts.scheme == "http" and not _is_here(str(parts.hostname))
        if is_open and not self.plain_http:
            raise ConfigurationError(
                "the upstream is another machine, and plain HTTP shows it and others "
                "every key: take https, or pass --plain-http within a closed network"
            )
        if not 0 < self.seconds < 86_400:
            raise InvalidParameterError("timeout", self.seconds, "seconds, above 0")

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
            limits=httpx.Limits(max_connections=_CONNECTIONS),
        )

    def address(self, kind: str) -> str:
        """Where requests of a kind go, such as ``chat/completions``."""
        base = self.url.rstrip("/")
        return f"{base}{'' if urlsplit(base).path else '/v1'}/{kind}"


def _is_here(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def sent_headers(given: Mapping[str, str]) -> dict[str, str]:
    """Pass on who pays; all other headers of a client may hold text."""
    from mondegreen import __version__
    from mondegreen.prompts.rules import RefusedRequestError

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


def returned_headers(given: Iterable[tuple[str, str]]) -> dict[str, str]:
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
