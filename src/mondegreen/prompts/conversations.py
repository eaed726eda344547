"""Conversations by random tokens, for a stated time: in memory, or in a file too."""

from __future__ import annotations

import secrets
import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, final

from mondegreen.errors import DataError, InvalidParameterError, PrivacyError
from mondegreen.prompts.conversation_file import ConversationFile, Head
from mondegreen.prompts.conversation_guard import Dialog

HEADER: Final = "x-mondegreen-conversation"
"""The header that names a conversation, of requests and of answers."""

SECONDS: Final = 3600.0
"""Time after the last request that a conversation is kept, by default."""

MOST: Final = 10_000
"""Conversations that are kept, by default."""

MOST_WORDS: Final = 1_000_000
"""Words of all conversations together, about 0.7 GiB of memory."""

_BYTES: Final = 24
_SWEEP_SECONDS: Final = 10.0
_NOT_FOUND: Final = (
    "Nothing was deleted. A conversation is found only with the API key of the caller "
    "that began it. Another key gets this answer too, so it does not show that the "
    "conversation is gone."
)
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
    """A conversation; its dialog is None until it is read from the file."""

    dialog: Dialog | None
    owner: str
    used: float
    requests: int = 0  # that were accepted
    words: int = 0
    writing: threading.Lock = field(default_factory=threading.Lock)


def check_seconds(seconds: float) -> None:
    """Refuse a time to keep conversations that is none, also before a server starts."""
    if not seconds > 0:  # also where it is not a number
        raise InvalidParameterError("conversation ttl", seconds, "above 0 seconds")


@final
class Conversations:
    """Keeps conversations by tokens that it makes, and forgets them in time.

    A token is 192 random bits. A client cannot choose one: two people who choose the
    same would share a map. A token works only with the credentials it was made for.
    Where there are too many, the oldest of those that had one request alone goes, if
    they hold more than a quarter of the room; else the one that was used the longest
    ago. So clients that begin a conversation with each request push out no others, and
    a new conversation lives until its second request. Requests that were refused do not
    count. A client that holds over a quarter of those that may go loses its own.
    Where there are too many words, the largest conversation goes.

    Every call forgets what has expired. Where no call may come, call :meth:`sweep`
    every ``period`` seconds.

    Parameters
    ----------
    begin : callable
        Begins a conversation.
    seconds : float
        Time after its last request that a conversation is kept.
    most : int
        Conversations that are kept.
    most_words : int
        Words of all of them.
    clock : callable, optional
        The time in seconds: of the machine with a file, else one that never goes back.
    advice : str
        What to do without a token that opens a conversation.
    file : ConversationFile, optional
        Keeps conversations over restarts: those that :meth:`keep` writes.
    """

    def __init__(
        self,
        begin: Callable[[], Dialog],
        seconds: float = SECONDS,
        most: int = MOST,
        clock: Callable[[], float] | None = None,
        advice: str = _ADVICE,
        file: ConversationFile | None = None,
        most_words: int = MOST_WORDS,
    ) -> None:
        check_seconds(seconds)
        if most < 1:
            raise InvalidParameterError("conversations", most, "at least 1")
        self._begin, self._seconds, self._most = begin, seconds, most
        self._advice, self._file, self._most_words = advice, file, most_words
        self._clock = clock or (time.monotonic if file is None else time.time)
        self._once: OrderedDict[bytes, _Kept] = OrderedDict()
        self._again: OrderedDict[bytes, _Kept] = OrderedDict()
        self._lock = threading.Lock()
        self._words = 0
        self._leaving: set[bytes] = set()  # forgotten, and still in the file
        self._is_wiped = True
        self.period = min(seconds / 2, _SWEEP_SECONDS)
        self.begun = self.forgotten = 0
        if file is not None:
            self._load(file)

    @property
    def has_file(self) -> bool:
        """Whether conversations outlive this process."""
        return self._file is not None

    def _load(self, file: ConversationFile) -> None:
        """List the conversations of a file; the words are read when they are needed."""
        for name, head in file.heads():
            table = self._again if head.again else self._once
            # The clock may have been put back; nothing lives longer for that.
            used = min(head.used, self._clock())
            table[name] = _Kept(None, head.owner, used, 1 + head.again)
        self._expire()
        self._make_room()
        self._remove()
        file.wipe()

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
            self._remove()
            if token is None:
                token, dialog = secrets.token_urlsafe(_BYTES), self._begin()
                name = self._find_name(token)
                self._once[name] = _Kept(dialog, owner, self._clock())
                self.begun += 1
                self._make_room(name)
                self._remove()
                return token, dialog
            name = self._find_name(token)
            kept = self._find(name, owner)
            dialog = kept.dialog = kept.dialog or self._read(name)
            kept.used = self._clock()
            (self._again if name in self._again else self._once).move_to_end(name)
            return token, dialog

    def keep(self, token: str, *, is_answer: bool = False) -> None:
        """Count a request that was accepted, and write its conversation as it is now.

        It is written where there is a file. One that was forgotten meanwhile is not.
        An answer is written, and not counted.

        Raises
        ------
        ConfigurationError
            If the file cannot be written.
        """
        name = self._find_name(token)
        with self._lock:
            kept = self._again.get(name) or self._once.get(name)
            if kept is None or kept.dialog is None:
                return
            self._count(name, kept, kept.dialog, requests=not is_answer)
        if self._file is None:
            return
        # The lock of all is not held while words are written: others go on. This one
        # keeps an older state from being written over a newer one.
        with kept.writing:
            body = self._file.seal(kept.dialog)
            with self._lock:
                again = self._again.get(name) is kept
                if again or self._once.get(name) is kept:
                    self._file.put(name, Head(kept.owner, kept.used, again), body)

    def _count(
        self, name: bytes, kept: _Kept, dialog: Dialog, *, requests: int
    ) -> None:
        """Count requests and words; with its second request, a conversation stays."""
        words = len(dialog.conversation)
        self._words += words - kept.words
        kept.words, kept.requests = words, kept.requests + requests
        if kept.requests > 1:
            self._once.pop(name, None)
            self._again[name] = kept
            self._again.move_to_end(name)
        self._make_room(name)

    def delete(self, token: str, owner: str) -> None:
        """Forget a conversation now.

        Raises
        ------
        UnknownConversationError
            If the token is unknown, expired, or another client's.
        """
        with self._lock:
            self._expire()
            name = self._find_name(token)
            self._find(name, owner, advice=_NOT_FOUND)
            self._forget(name)
            self._wipe()

    def sweep(self) -> None:
        """Forget what has expired, in memory and in the file.

        Raises
        ------
        ConfigurationError
            If the file cannot be written. The next call tries again.
        """
        with self._lock:
            self._expire()
            self._wipe()

    def _find_name(self, token: str) -> bytes:
        """What a token is kept by: a keyed hash where there is a file."""
        if self._file is not None:
            return self._file.find_name(token)
        return token.encode("utf-8", "surrogatepass")

    def _read(self, name: bytes) -> Dialog:
        if self._file is None:
            raise UnknownConversationError(self._advice)
        try:
            return self._file.read(name)
        except DataError:
            raise UnknownConversationError(self._advice) from None

    def _find(self, name: bytes, owner: str, *, advice: str = "") -> _Kept:
        kept = self._again.get(name) or self._once.get(name)
        if kept is None or kept.owner != owner:
            raise UnknownConversationError(advice or self._advice)
        return kept

    def _expire(self) -> None:
        oldest = self._clock() - self._seconds
        for table in (self._once, self._again):
            while table:
                name, kept = next(iter(table.items()))
                if kept.used > oldest:
                    break
                self._forget(name)

    def _make_room(self, newest: bytes = b"") -> None:
        while len(self) > self._most:
            self._forget(self._choose(newest))
        while self._words > self._most_words:
            every = {**self._once, **self._again}
            self._forget(max(every, key=lambda name: every[name].words))

    def _choose(self, newest: bytes) -> bytes:
        """Choose what goes: the oldest, of the client with most if it has too many."""
        # A new one is in the first table too, and stays.
        has_enough = len(self._once) > max(1, self._most // 4)
        table = self._once if has_enough or not self._again else self._again
        owners = Counter(kept.owner for kept in table.values())
        owner, count = owners.most_common(1)[0]
        if 4 * count > len(table):
            for name, kept in table.items():
                if kept.owner == owner and name != newest:
                    return name
        return next(iter(table))

    def _forget(self, name: bytes) -> None:
        """Drop a conversation; an answer that is on its way is still restored."""
        kept = self._once.pop(name, None) or self._again.pop(name)
        self._words -= kept.words
        self.forgotten += 1
        if self._file is not None:
            self._leaving.add(name)

    def _remove(self) -> None:
        """Remove from the file what was forgotten; what fails is tried again."""
        while self._file is not None and self._leaving:
            name = next(iter(self._leaving))
            self._file.remove(name)
            self._leaving.discard(name)
            self._is_wiped = False

    def _wipe(self) -> None:
        """Leave nothing on the disk of what was forgotten."""
        self._remove()
        if self._file is not None and not self._is_wiped:
            self._file.wipe()
            self._is_wiped = True

    def __len__(self) -> int:
        return len(self._once) + len(self._again)

    def __repr__(self) -> str:
        return f"Conversations(count={len(self)})"
