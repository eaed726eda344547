"""Requests that wait are privatized in one call: they share laws, and never noise."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, InvalidStateError, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Final, Generic, TypeVar, final

import numpy as np

from mondegreen.errors import ConfigurationError, DataError, PrivacyError
from mondegreen.privatizer.privatizer import Privatizer
from mondegreen.privatizer.release import list_texts
from mondegreen.sampling.noise import Batch, KeyedNoise, NoiseSource
from mondegreen.sampling.records import record_ids
from mondegreen.text.tokenizer import tokenize

_CHARACTERS: Final = 1 << 16
"""Of one call, at most, and of one text where that is longer."""

_Value = TypeVar("_Value")
_Texts = list[str | None]


def _length(text: str | None) -> int:
    """Count the characters of a text, and one for the text itself."""
    return len(text or "") + 1


Observe = Callable[[int, int, int], None]


@final
@dataclass(frozen=True, slots=True, repr=False)
class Outcome(Generic[_Value]):
    """A value or an error: one that a future held would be logged if nobody asked."""

    value: _Value | None
    error: Exception | None = None


@final
@dataclass(slots=True, repr=False)
class _Request:
    """Texts that one caller waits for, and how far they have come."""

    texts: Sequence[str | None]
    ids: list[str] | None
    column: str
    done: Future[Outcome[_Texts]] = field(default_factory=Future)
    taken: int = 0
    left: int = 0
    released: _Texts = field(default_factory=list)

    def __post_init__(self) -> None:
        self.left = sum(map(_length, self.texts))

    def take(self, room: int) -> range:
        """Take the next texts that fit into so many characters, at least one."""
        start = end = self.taken
        least = self.left - room
        while end < len(self.texts) and (self.left > least or end == start):
            self.left -= _length(self.texts[end])
            end += 1
        self.taken = end
        return range(start, end)


_Piece = tuple[_Request, range]


@final
@dataclass(frozen=True, slots=True)
class _OwnNoise:
    """Gives each run of the texts of a batch the noise of a batch of its own."""

    source: NoiseSource
    runs: Sequence[int]

    @property
    def is_secret(self) -> bool:
        return self.source.is_secret

    def describe(self) -> str:
        return self.source.describe()

    @property
    def subkey(self) -> Callable[[bytes], bytes] | None:
        """The method of a keyed source, which ``--same key`` needs; else None."""
        return self.source.subkey if isinstance(self.source, KeyedNoise) else None

    def streams(self, batch: Batch) -> Iterator[tuple[range, np.random.Generator]]:
        start = 0
        for length in self.runs:
            run = slice(start, start + length)
            ids = None if batch.ids is None else batch.ids[run]
            for covered, rng in self.source.streams(
                replace(batch, texts=batch.texts[run], ids=ids)
            ):
                yield range(start + covered.start, start + covered.stop), rng
            start += length


@final
class Batcher:
    """Privatizes texts of many callers, in one thread.

    A call for one text takes a hundred times as long as that text adds to a call for
    many. So what came in while one call was running goes into the next, at most 65,536
    characters at a time. Requests with less left come first, so that a long one delays
    nobody for longer than a call. A request that its caller gives up ends with the call
    that is running. Each caller gets noise as from a batch of its own, and none has the
    errors of another.

    Parameters
    ----------
    privatizer : Privatizer
        Its noise source is asked anew for every caller.
    words : int
        Words of a text, at most.
    observe : callable, optional
        Told the callers, texts and words of each call.
    """

    def __init__(
        self,
        privatizer: Privatizer,
        words: int = 100_000,
        observe: Observe = lambda callers, texts, words: None,
    ) -> None:
        self.privatizer = privatizer
        self._words, self._observe = words, observe
        self._lock = threading.Lock()
        self._waiting: list[_Request] = []
        self._is_working = False
        self._thread = ThreadPoolExecutor(1, "mondegreen-batcher")

    async def privatize(
        self,
        texts: Sequence[str | None],
        ids: Sequence[str | int] | None = None,
        column: str = "text",
    ) -> list[str | None]:
        """Return the texts privatized, nulls kept; order is kept.

        Raises
        ------
        ConfigurationError
            If noise is keyed and there are no ids.
        DataError
            If a text has too many words; the message names it by number.
        MondegreenError
            What :meth:`Privatizer.texts` raises.
        """
        texts = list_texts(texts)
        if any(text and len(text) > self._words for text in texts):
            await self.run(lambda: self._check_words(texts))
        return await _get_value(self.submit(texts, ids, column))

    def submit(
        self,
        texts: Sequence[str | None],
        ids: Sequence[str | int] | None = None,
        column: str = "text",
    ) -> Future[Outcome[_Texts]]:
        """Let texts wait for their turn; cancel what is returned to give them up."""
        records = record_ids(ids, len(texts))
        is_keyed = isinstance(self.privatizer.noise, KeyedNoise)
        if is_keyed and records is None:
            raise ConfigurationError(
                "this service uses a key: send ids, one for each text"
            )
        request = _Request(texts, *((records, column) if is_keyed else (None, "")))
        with self._lock:
            if not self._is_working:
                self._thread.submit(self._work)
                self._is_working = True
            self._waiting.append(request)
        return request.done

    async def run(self, work: Callable[[], _Value]) -> _Value:
        """Do other work in the same thread: two would only take turns."""
        return await _get_value(self._thread.submit(_try, work))

    def close(self) -> None:
        """Finish what waits, and end the thread; later requests fail."""
        self._thread.submit(self._finish)
        self._thread.shutdown()

    def _check_words(self, texts: Sequence[str | None]) -> None:
        for number, text in enumerate(texts):
            if text and has_more_words([text], self._words):
                problem = f"has more than {self._words} words"
                raise DataError(f"texts[{number}] {problem}; send it in parts")

    def _work(self) -> None:
        """Release a piece of what waits, and queue again behind other work."""
        self._release(self._turn())
        with self._lock:
            self._is_working = bool(self._waiting)
            if self._is_working:
                with contextlib.suppress(RuntimeError):  # closed; it is finished there
                    self._thread.submit(self._work)

    def _finish(self) -> None:
        while pieces := self._turn():
            self._release(pieces)

    def _release(self, pieces: list[_Piece]) -> None:
        for (request, _), outcome in zip(pieces, self._draw(pieces), strict=True):
            request.released += outcome.value or ()
            is_whole = request.taken == len(request.texts)
            if is_whole or outcome.error is not None:
                found = Outcome(request.released, outcome.error)
                with contextlib.suppress(InvalidStateError):  # the caller has gone
                    request.done.set_result(found)

    def _turn(self) -> list[_Piece]:
        """Take pieces of requests, the shortest first, as far as one call goes."""
        pieces: list[_Piece] = []
        room = _CHARACTERS
        with self._lock:
            waiting = [each for each in self._waiting if not each.done.done()]
            self._waiting = []
            for request in sorted(waiting, key=lambda each: each.left):
                if room > 0:
                    before = request.left
                    pieces.append((request, request.take(room)))
                    room -= before - request.left
                if request.left:
                    self._waiting.append(request)
        return pieces

    def _draw(self, pieces: list[_Piece]) -> list[Outcome[_Texts]]:
        """Privatize pieces in one call; if it fails, each in its own."""
        together = _try(lambda: self._together(pieces))
        if together.value is not None:
            return [Outcome(texts) for texts in together.value]
        if len(pieces) == 1:
            return [Outcome(None, together.error)]
        return [outcome for piece in pieces for outcome in self._draw([piece])]

    def _together(self, pieces: list[_Piece]) -> list[_Texts]:
        """Privatize pieces; those of one logical column share a call."""
        found: dict[int, _Texts] = {}
        for column in {request.column for request, _ in pieces}:
            mine = [i for i, (each, _) in enumerate(pieces) if each.column == column]
            found |= zip(
                mine, self._release_texts([pieces[i] for i in mine]), strict=True
            )
        return [found[i] for i in range(len(pieces))]

    def _release_texts(self, pieces: list[_Piece]) -> list[_Texts]:
        """Privatize pieces of one column."""
        texts: _Texts = []
        ids: list[str] = []
        for request, run in pieces:
            texts += request.texts[run.start : run.stop]
            ids += (request.ids or ())[run.start : run.stop]
        records = None if pieces[0][0].ids is None else ids
        runs = [len(run) for _, run in pieces]
        own = self.privatizer.with_noise(_OwnNoise(self.privatizer.noise, runs))
        released, words = own.texts(texts, records, pieces[0][0].column)
        if len(released) != len(texts):
            raise PrivacyError("a text has no release")
        self._observe(len(pieces), len(texts), sum(words))
        ends = itertools.accumulate(runs)
        return [
            released[end - length : end] for end, length in zip(ends, runs, strict=True)
        ]


def count_words(texts: Iterable[str]) -> int:
    """Count the words of texts."""
    return sum(len(tokenize([text]).words()) for text in texts)


def has_more_words(texts: Iterable[str], most: int) -> bool:
    """Whether texts have more words than that; counts no further."""
    text, words, end = "\n".join(texts), 0, 0
    while words <= most and end < len(text):
        start, end = end, end + _CHARACTERS
        if end < len(text):  # a word is not cut in two
            end = max(text.rfind(" ", start, end), text.rfind("\n", start, end)) + 1
            end = end if end > start else start + _CHARACTERS
        words += len(tokenize([text[start:end]]).words())
    return words > most


def _try(work: Callable[[], _Value]) -> Outcome[_Value]:
    try:
        return Outcome(work())
    except Exception as error:
        return Outcome(None, error)


async def _get_value(future: Future[Outcome[_Value]]) -> _Value:
    """Wait for an outcome, and raise its error; a caller that stops cancels it."""
    outcome = await asyncio.wrap_future(future)
    if outcome.error is not None:
        raise outcome.error
    return outcome.value  # type: ignore[return-value]
