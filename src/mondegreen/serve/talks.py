"""Requests of conversations: hidden on their way up, restored on their way down."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any, Final, TypeVar, final

from anyio import CapacityLimiter, to_thread

from mondegreen.prompts.answers import AnswerRestorer
from mondegreen.prompts.conversation_file import ConversationFileError
from mondegreen.prompts.conversation_guard import ConversationGuard, Dialog
from mondegreen.prompts.conversations import Conversations
from mondegreen.prompts.store_search import SEARCH
from mondegreen.serve.answers import LOG, Refused
from mondegreen.serve.batcher import count_words
from mondegreen.serve.event_stream import DONE, EventReader, parse, write
from mondegreen.serve.limits import Limits
from mondegreen.serve.prompt_batcher import check_texts, privatizing_errors

_LONGEST: Final = 64 << 20
"""Bytes of an answer that comes at once."""

_DETECTORS: Final = 2
"""Requests that a detector reads at a time."""

_SHORT: Final = 4096
"""Bytes of a request or an answer that are worked on without another thread: a thread
takes longer to wake than that takes, most of all on a machine that is busy."""

_WITHOUT_TEXT: Final = ("embeddings", SEARCH)
"""Requests whose answers the model does not write: nothing is restored in them."""

_Value = TypeVar("_Value")


@final
class Talks:
    """Hides requests in threads, within limits.

    Parameters
    ----------
    guard : ConversationGuard
        Hides requests.
    conversations : Conversations
        Keeps what belongs together.
    limits : Limits
        ``texts`` and ``words`` of a request, ``seconds`` for all of it.
    count : callable, optional
        Told the texts and words of each request.
    """

    def __init__(
        self,
        guard: ConversationGuard,
        conversations: Conversations,
        limits: Limits,
        count: Callable[[int, int], None] = lambda texts, words: None,
    ) -> None:
        self._guard, self.conversations, self._limits = guard, conversations, limits
        self._count = count
        # Detectors hold the interpreter: many at a time only stop each other. One that
        # hangs takes no place, since its request is given up.
        few = min(limits.concurrent, _DETECTORS)
        most = limits.concurrent if guard.is_quick else few
        self._threads = CapacityLimiter(most)

    async def begin(
        self,
        kind: str,
        body: Callable[[], dict[str, Any]],
        token: str,
        dialog: Dialog,
        size: int,
    ) -> Talk:
        """Hide a request of ``size`` bytes in its conversation.

        Raises
        ------
        Refused
            If the request is too large or too slow.
        RefusedRequestError
            If a field of it cannot be read.
        """

        def hide() -> tuple[dict[str, Any], AnswerRestorer]:
            found = self._guard.request(kind, body(), dialog, self._check)
            # Before it leaves: after a restart its words have the same surrogates.
            self.conversations.keep(token)
            return found

        has_file = self.conversations.has_file
        seconds = self._limits.seconds
        try:
            with privatizing_errors():
                if size <= _SHORT and self._guard.is_quick and not has_file:
                    sent, restorer = hide()
                else:
                    async with asyncio.timeout(seconds):
                        sent, restorer = await to_thread.run_sync(
                            hide, limiter=self._threads, abandon_on_cancel=True
                        )
        except TimeoutError:
            says = f"The request could not be privatized within {seconds:g} s."
            raise Refused(503, "slow", f"{says} Nothing was sent.") from None
        return Talk(
            token,
            sent,
            restorer,
            self._keep_answer if has_file else None,
            has_text=kind not in _WITHOUT_TEXT,
        )

    def _keep_answer(self, token: str) -> None:
        """Keep what the model said; without it, the answer is still right to show."""
        try:
            self.conversations.keep(token, is_answer=True)
        except ConversationFileError as error:
            LOG.error("%s", error)

    def _check(self, texts: Any) -> None:
        check_texts(texts, self._limits)
        self._count(len(texts), count_words(texts))

    async def check(self) -> None:
        """Hide a word in a conversation of its own; raises what goes wrong."""

        def hide() -> None:
            self._guard.begin().conversation.hide("the")

        async with asyncio.timeout(self._limits.seconds):
            await to_thread.run_sync(
                hide, limiter=self._threads, abandon_on_cancel=True
            )


@final
@dataclass(frozen=True, slots=True, repr=False)
class Talk:
    """One request of a conversation, and the way back of its answer.

    ``keep`` is told the token when the answer is whole: before a client has all of it.
    """

    token: str
    sent: dict[str, Any]
    restorer: AnswerRestorer
    keep: Callable[[str], None] | None = None
    has_text: bool = True

    async def restore_stream(
        self, parts: AsyncIterator[bytes], content_type: str
    ) -> AsyncIterator[bytes]:
        """Restore an answer, which comes at once or as a stream of events."""
        kind = content_type.partition(";")[0].strip().lower()
        if not self.has_text:
            async for part in parts:
                yield part
        elif kind == "text/event-stream":
            async for part in self._events(parts):
                yield part
        elif kind == "application/json":
            yield await self._whole(parts)
        else:
            says = (
                "The answer of the upstream needs the header Content-Type: "
                "application/json or text/event-stream. "
                f"It has {'another one' if kind else 'none'}. Nothing is shown."
            )
            raise Refused(502, "upstream", says)

    async def _whole(self, parts: AsyncIterator[bytes]) -> bytes:
        data = await read_whole(parts)

        def restore() -> bytes:
            answer = read_object(data)
            shown = json.dumps(self.restorer.whole(answer)).encode()
            self._keep()
            return shown

        return await _run(restore, len(data) if self.keep is None else _LONGEST)

    def _keep(self) -> None:
        if self.keep is not None:
            self.keep(self.token)

    async def _events(self, parts: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        reader = EventReader()
        is_done = False
        try:
            async for part in parts:
                for data in reader.feed(part):
                    is_done |= data == DONE
                    yield await _run(lambda: self._event(data), len(data))  # noqa: B023
                    await asyncio.sleep(0)  # others come between events
            for data in reader.end():
                is_done |= data == DONE
                yield self._event(data)
        finally:
            # A client that has gone may send back what it has seen of the answer.
            rest = b"".join(map(write, self.restorer.end()))
            if not is_done:
                self._keep()
        if rest and not is_done:
            yield rest

    def _event(self, data: str) -> bytes:
        if data == DONE:
            rest = b"".join(map(write, self.restorer.end()))
            self._keep()
            return rest + write(DONE)
        event = parse(data)
        if event is None:
            return write(data)
        return b"".join(map(write, self.restorer.event(event)))


async def read_whole(parts: AsyncIterator[bytes]) -> bytes:
    """Read an answer to its end, if that is not too far."""
    data = bytearray()
    async for part in parts:
        data += part
        if len(data) > _LONGEST:
            says = f"The answer of the upstream has more than {_LONGEST} bytes."
            raise Refused(502, "upstream", says)
    return bytes(data)


def read_object(data: bytes) -> dict[str, Any]:
    """Read an answer that is a JSON object."""
    answer = parse(data.decode("utf-8", "replace"))
    if answer is None:
        says = "The answer of the upstream is not a JSON object."
        raise Refused(502, "upstream", says)
    return answer


async def _run(work: Callable[[], _Value], size: int) -> _Value:
    """Work here if it is short, else in a thread, so that others are not kept."""
    if size <= _SHORT:
        return work()
    made: _Value = await to_thread.run_sync(work)
    return made
