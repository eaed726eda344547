"""How much one request may ask for, and all of them together."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Final, final

from mondegreen.errors import InvalidParameterError

_MAY_BE_0: Final = ("rate", "per_address")


@final
@dataclass(frozen=True, slots=True)
class Limits:
    """What one request, one client address and all of them together may use.

    Parameters
    ----------
    body : int
        Bytes of the body of a request, however it is sent.
    texts, words : int
        Texts of a request. Words of a text for the service, of all texts of a request
        for prompts.
    seconds : float
        For the body of a request to arrive, and again for its texts to be privatized.
    rate : float
        Requests a second for each API key, and for all callers where there are none;
        twice as many may come at once. 0: no limit. Each worker counts for itself.
    concurrent : int
        Whole requests in work at a time, in each worker; more get status 503.
    per_address : int
        The same for one client address; more get status 429. 0: no such limit.
        Addresses that one client can choose among count as one.
    """

    body: int = 4 << 20
    texts: int = 10_000
    words: int = 100_000
    seconds: float = 30.0
    rate: float = 0.0
    concurrent: int = 256
    per_address: int = 128

    def __post_init__(self) -> None:
        for each in fields(self):
            value = getattr(self, each.name)
            least = 0 if each.name in _MAY_BE_0 else 1
            if isinstance(value, bool) or not least <= value < math.inf:
                allowed = f"a number, at least {least}"
                raise InvalidParameterError(f"limit {each.name}", value, allowed)
