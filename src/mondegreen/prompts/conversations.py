"""Conversations in memory: each by a random token, for a stated time."""

from __future__ import annotations

import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, final

from mondegreen.errors import InvalidParameterError, PrivacyError
from mondegreen.prompts.conversation_guard import Dialog

HEADER: Final = "x-mondegreen-conversation"
"""The header that names a conversation, of requests and of answers."""

SECONDS: Final = 3600.0
"""Time after the last request that a conversation is kept, by default."""

MOST: Final = 10_000
"""Conversations that are kept, by default."""

_BYTES: Final = 24
_ADVICE: Final = (
    f"Nothing was sent. Leave out the header {HEADER} to begin another one; its token "
    "is in the answer."
)


class UnknownConversationError(PrivacyError):
    """Raised for a token that opens no conversation here and now."""

    def __init__(self, advice: str) -> None:
        super().__init__(f"Unknown or expired conversation. {advice}")


@final
@dataclass(slots=True)
class _Kept:
    dialog: Dialog
    owner: str
    used: float


@final
class Conversations:
    """Keeps conversations by tokens that it makes, and forgets them in time.

    A token is 192 random bits. A client cannot choose one: two people who choose the
    same would share a map. A token works only with the credentials it was made for.
    Where there are too many, the oldest of those that had one request alone goes, if
    they hold more than a quarter of the room; else the one that was used the longest
    ago. So clients that begin a conversation with each request push out no others, and
    a new conversation lives until its second request.

    Parameters
    ----------
    begin : callable
        Begins a conversation.
    seconds : float
        Time after its last request that a conversation is kept.
    most : int
        Conversations that are kept.
    clock : callable
        The time in seconds.
    advice : str
        What to do without a token that opens a conversation.
    """

    def __init__(
        self,
        begin: Callable[[], Dialog],
        seconds: float = SECONDS,
        most: int = MOST,
        clock: Callable[[], float] = time.monotonic,
        advice: str = _ADVICE,
    ) -> None:
        if not seconds > 0:
            raise InvalidParameterError("conversation ttl", seconds, "above 0 seconds")
        if most < 1:
            raise InvalidParameterError("conversations", most, "at least 1")
        self._begin, self._seconds, self._most = begin, seconds, most
        self._clock, self._advice = clock, advice
        self._once: OrderedDict[str, _Kept] = OrderedDict()
        self._again: OrderedDict[str, _Kept] = OrderedDict()
        self._lock = threading.Lock()
        self.begun = self.forgotten = 0

    def open(self, token: str | None, owner: str) -> tuple[str, Dialog]:
        """Return the conversation of a token, or begin one where there is no token.

        Raises
        ------
        UnknownConversationError
            If the token is unknown, expired, or another client's. The error does not
            say which, and no other conversation takes its place.
        """
        with self._lock:
            self._expire()
            if token is None:
                token = secrets.token_urlsafe(_BYTES)
                self._once[token] = _Kept(self._begin(), owner, self._clock())
                self.begun += 1
                self._make_room()
                return token, self._once[token].dialog
            kept = self._find(token, owner)
            kept.used = self._clock()
            self._once.pop(token, None)
            self._again[token] = kept
            self._again.move_to_end(token)
            return token, kept.dialog

    def delete(self, token: str, owner: str) -> None:
        """Forget a conversation now.

        Raises
        ------
        UnknownConversationError
            If the token is unknown, expired, or another client's.
        """
        with self._lock:
            self._expire()
            self._find(token, owner)
            self._forget(token)

    def _find(self, token: str, owner: str) -> _Kept:
        kept = self._again.get(token) or self._once.get(token)
        if kept is None or kept.owner != owner:
            raise UnknownConversationError(self._advice)
        return kept

    def _expire(self) -> None:
        oldest = self._clock() - self._seconds
        for table in (self._once, self._again):
            while table:
                token, kept = next(iter(table.items()))
                if kept.used > oldest:
                    break
                self._forget(token)

    def _make_room(self) -> None:
        while len(self) > self._most:
            # The newest is in the first table too, and stays.
            has_enough = len(self._once) > max(1, self._most // 4)
            table = self._once if has_enough or not self._again else self._again
            self._forget(next(iter(table)))

    def _forget(self, token: str) -> None:
        """Drop a conversation; an answer that is on its way is still restored."""
        self._once.pop(token, None)
        self._again.pop(token, None)
        self.forgotten += 1

    def __len__(self) -> int:
        return len(self._once) + len(self._again)

    def __repr__(self) -> str:
        return f"Conversations(count={len(self)})"
