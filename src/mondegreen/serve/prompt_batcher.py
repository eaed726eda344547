"""Prompts wait for their turn text by text, and end when nobody waits for them."""

from __future__ import annotations

import asyncio
import contextlib
import copy
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from typing import Any, Final, TypeVar, cast, final

from anyio import CapacityLimiter, to_thread

from mondegreen.errors import (
    DetectorError,
    MondegreenError,
    OutOfVocabularyError,
    PrivacyError,
)
from mondegreen.privatizer.privatizer import Privatizer
from mondegreen.prompts.conversation_file import ConversationFileError
from mondegreen.prompts.guard import PromptGuard
from mondegreen.prompts.rules import RefusedRequestError
from mondegreen.serve.answers import Refused
from mondegreen.serve.batcher import Batcher, Observe, has_more_words
from mondegreen.serve.limits import Limits

_GIVEN_UP: Final = "the request was given up"
_Value = TypeVar("_Value")


@final
class PromptBatcher:
    """Runs a guard on many requests at a time, whose texts share a :class:`Batcher`.

    Parameters
    ----------
    guard : PromptGuard
        Its noise is used as it is.
    limits : Limits
        ``texts`` and ``words`` of a request, ``seconds`` for all of it.
    observe : callable, optional
        Told the callers, texts and words of each call.
    """

    def __init__(
        self,
        guard: PromptGuard,
        limits: Limits,
        observe: Observe = lambda callers, texts, words: None,
    ) -> None:
        self._guard, self._limits = guard, limits
        self._batcher = Batcher(guard.privatizer, observe=observe)
        self._threads = CapacityLimiter(limits.concurrent)  # they wait for the batcher

    async def run(self, work: Callable[[PromptGuard], _Value]) -> _Value:
        """Let a guard make the private form of one request.

        Cancelling it gives the request up: of its texts, those that are not privatized
        yet never will be.

        Raises
        ------
        Refused
            If the request has too many texts or words, or takes too long.
        MondegreenError
            What the guard raises.
        """
        turns = _Turns(self._batcher, self._limits)
        guard = copy.copy(self._guard)
        guard.privatizer = cast("Privatizer", turns)
        seconds = self._limits.seconds
        try:
            async with asyncio.timeout(seconds):
                made: _Value = await to_thread.run_sync(
                    work, guard, limiter=self._threads, abandon_on_cancel=True
                )
                return made
        except TimeoutError:
            says = f"The request could not be privatized within {seconds:g} s."
            raise Refused(503, "slow", f"{says} Nothing was sent.") from None
        finally:
            turns.give_up()

    async def check(self) -> None:
        """Privatize a word, which nothing counts; raises what goes wrong."""
        privatizer = self._guard.privatizer
        async with asyncio.timeout(self._limits.seconds):
            await self._batcher.run(
                lambda: privatizer.texts(["the"], ["readyz"], "text")
            )

    def close(self) -> None:
        """Finish what waits, and end the thread."""
        self._batcher.close()


@final
class _Turns:
    """What a guard has in place of its privatizer, for one request."""

    def __init__(self, batcher: Batcher, limits: Limits) -> None:
        self._batcher, self._limits = batcher, limits
        self._waiting: list[Future[Any]] = []
        self._is_given_up = False

    def texts(
        self, texts: Sequence[str], records: Sequence[str] | None, column: str
    ) -> tuple[list[str | None], list[int]]:
        """Privatize texts when it is their turn; the batcher counts their words."""
        self._check(texts)
        future = self._batcher.submit(texts, records, column)
        self._waiting.append(future)
        if self._is_given_up:
            future.cancel()
        outcome = future.result()
        if outcome.error is not None:
            raise outcome.error
        return outcome.value or [], []

    def give_up(self) -> None:
        """Let what still waits be forgotten."""
        self._is_given_up = True
        for each in self._waiting:
            each.cancel()

    def _check(self, texts: Sequence[str]) -> None:
        if self._is_given_up:
            raise PrivacyError(_GIVEN_UP)
        check_texts(texts, self._limits)


@contextlib.contextmanager
def privatizing_errors() -> Iterator[None]:
    """Say of every error that nothing was sent."""
    try:
        yield
    except (Refused, RefusedRequestError, DetectorError, ConversationFileError):
        raise
    except MondegreenError as error:
        status = 400 if isinstance(error, OutOfVocabularyError) else 500
        says = f"The request could not be privatized: {error}"
        raise Refused(status, "field" if status == 400 else "bug", says) from None


def check_texts(texts: Sequence[str], limits: Limits) -> None:
    """Refuse a request that has too many texts or words."""
    if len(texts) > limits.texts:
        says = f"The request has more than {limits.texts} texts. Nothing was sent."
        raise Refused(413, "texts", says)
    if sum(map(len, texts)) > limits.words and has_more_words(texts, limits.words):
        says = f"The request has more than {limits.words} words. Nothing was sent."
        raise Refused(413, "words", f"{says} See --max-words.")
