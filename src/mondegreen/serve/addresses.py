"""Addresses of clients, and names by which clients may call this machine."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable
from typing import Final

from mondegreen.errors import InvalidParameterError

_LOCAL: Final = frozenset({"localhost", "127.0.0.1", "::1"})
_HOST: Final = re.compile(r"\[([0-9A-Fa-f:.]+)\](?::\d{1,5})?|([\w.-]+)(?::\d{1,5})?")
_ONE_SITE: Final = 64
"""Bits of an IPv6 address that one site has: it chooses among all with these bits."""


def parse_ip(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """Read an IP address; None for a name."""
    try:
        found = ipaddress.ip_address(host)
    except ValueError:
        return None
    return getattr(found, "ipv4_mapped", None) or found


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches a host."""
    found = parse_ip(host)
    return host == "localhost" if found is None else found.is_loopback


def find_client(host: str) -> str:
    """Name the client behind an address, as far as addresses tell clients apart.

    >>> [find_client(f) for f in ("127.0.0.2", "192.0.2.7", "2001:db8::1:2:3:4")]
    ['this machine', '192.0.2.7', '2001:db8::/64']
    """
    found = parse_ip(host)
    if found is not None and found.is_loopback:
        return "this machine"
    if isinstance(found, ipaddress.IPv6Address):
        return str(ipaddress.ip_network((int(found), _ONE_SITE), strict=False))
    return host if found is None else str(found)


def list_allowed_hosts(names: Iterable[str]) -> frozenset[str]:
    """Add the names of this machine to those that clients may use.

    Raises
    ------
    InvalidParameterError
        If a name is more than a host, such as ``host:8787`` or ``https://host``.
    """
    known = set(_LOCAL)
    for name in names:
        host = host_in(f"[{name}]" if ":" in name else name)
        if host is None:
            allowed = "a host name or an IP address, without scheme, port or path"
            raise InvalidParameterError("allowed host", name, allowed)
        known.add(host)
    return frozenset(known)


def host_in(header: str) -> str | None:
    """Take the host out of a ``Host`` header; None if it holds anything else.

    >>> host_in("LocalHost.:8787"), host_in("[::1]:8787"), host_in("a@b")
    ('localhost', '::1', None)
    """
    found = _HOST.fullmatch(header)
    if found is None:
        return None
    host = found[1] or found[2].removesuffix(".")
    return str(parse_ip(host) or host.lower())
