"""Clients of a service, over plain sockets: they take as little of a core as they can.

Each sends one text after the other over a connection that it keeps, and opens another
where that is closed. What becomes of every request is counted.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]
PATIENCE = 60.0
"""Seconds after which a request counts as lost without an error."""


@dataclass
class Found:
    """What became of the requests of all clients.

    ``seconds`` are those of requests that were answered with status 200 before
    the service was told to stop; ``ends`` says how all of them ended.
    """

    seconds: list[float] = field(default_factory=list)
    ends: Counter[str] = field(default_factory=Counter)
    after_stop: Counter[str] = field(default_factory=Counter)
    releases: list[tuple[int, str]] = field(default_factory=list)


class Load:
    """Clients that ask until they are told that it is over."""

    def __init__(self, port: int, texts: list[str]) -> None:
        self.port, self.texts = port, texts
        self.found, self.is_over, self.is_stopping = Found(), False, False
        self._next = 0

    async def client(self) -> None:
        """Send one request after another, and count how each ends."""
        connection: Connection | None = None
        while not self.is_over:
            number = self._next % len(self.texts)
            self._next += 1
            started = time.perf_counter()
            try:
                async with asyncio.timeout(PATIENCE):
                    connection = connection or await asyncio.open_connection(
                        "127.0.0.1", self.port
                    )
                    status, body = await self._ask(*connection, self.texts[number])
            except (OSError, EOFError, ValueError) as error:  # TimeoutError is one
                is_lost = isinstance(error, TimeoutError)
                end = "lost without an error" if is_lost else type(error).__name__
                connection = await closed(connection)
                await asyncio.sleep(0.02)  # a refused connection costs nothing
            else:
                end = self._judged(number, status, body, time.perf_counter() - started)
            self.found.ends[end] += 1
            if self.is_stopping:
                self.found.after_stop[end] += 1
        await closed(connection)

    async def _ask(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        text: str,
    ) -> tuple[int, bytes]:
        body = json.dumps({"texts": [text]}).encode()
        head = (
            "POST /v1/privatize HTTP/1.1\r\nHost: load\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        writer.write(head.encode() + body)
        await writer.drain()
        answer = await reader.readuntil(b"\r\n\r\n")
        lines = answer.decode("latin-1").split("\r\n")
        headers = dict(line.lower().split(": ", 1) for line in lines[1:] if line)
        length = int(headers["content-length"])
        return int(lines[0].split()[1]), await reader.readexactly(length)

    def _judged(self, number: int, status: int, body: bytes, seconds: float) -> str:
        """Read an answer: 200 must hold one text, all else an error in JSON."""
        try:
            answer = json.loads(body)
            held = answer["texts"][0] if status == 200 else answer["error"]
        except (ValueError, KeyError, IndexError, TypeError):
            return f"{status} that cannot be read"
        if status == 200:
            self.found.releases.append((number, held))
            if not self.is_stopping:
                self.found.seconds.append(seconds)
        return str(status)


async def closed(connection: Connection | None) -> None:
    """Close a connection, whatever has become of it."""
    if connection is not None:
        connection[1].close()
        with contextlib.suppress(OSError):
            await connection[1].wait_closed()


async def load(
    work: Load, clients: int, seconds: float, stop: Callable[[], None] | None = None
) -> None:
    """Ask for so many seconds; then call ``stop``, and go on asking for two more."""
    work.is_over = False
    tasks = [asyncio.create_task(work.client()) for _ in range(clients)]
    await asyncio.sleep(seconds)
    if stop is not None:
        work.is_stopping = True
        stop()
        await asyncio.sleep(2)
    work.is_over = True
    await asyncio.gather(*tasks)
