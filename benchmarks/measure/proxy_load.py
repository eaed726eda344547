"""Load the proxy with 64 conversations, then stop it, then its language model.

    python -m benchmarks proxy_load [--seconds 60] [--clients 64]

Counts what must not happen: a private word at the model, a history that a later turn
releases anew, two conversations with equal noise, a request that is lost without an
error. The model is a stub that answers with what it was sent, so that times are those
of the proxy. Writes results/proxy_load.json.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import itertools
import json
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

import httpx
import numpy as np
import uvicorn
from starlette.applications import Starlette
from starlette.responses import JSONResponse, StreamingResponse
from starlette.routing import Route

from benchmarks import machine

PATIENCE = 60.0
TURNS = 5
CANARY = "zyxwoldemorth"
EPSILON = "10"


class Model:
    """Answers with the texts that it got, and counts private words in them."""

    def __init__(self) -> None:
        self.requests, self.in_clear = 0, 0
        routes = [Route("/v1/chat/completions", self.answer, methods=["POST"])]
        self.app = Starlette(routes=routes)

    async def answer(self, request: Any) -> Any:
        body = await request.body()
        heads = b"".join(k + v for k, v in request.headers.raw)
        self.requests += 1
        self.in_clear += CANARY.encode() in body + heads
        given = json.loads(body)
        said = json.dumps([each["content"] for each in given["messages"]])
        if not given.get("stream"):
            return JSONResponse({"choices": [{"message": {"content": said}}]})

        async def events() -> Any:
            part = {"choices": [{"delta": {"content": said}}]}
            yield b"data: " + json.dumps(part).encode() + b"\n\n"
            yield b"data: [DONE]\n\n"

        return StreamingResponse(events(), media_type="text/event-stream")


@contextlib.contextmanager
def serving(app: Any) -> Iterator[tuple[uvicorn.Server, str]]:
    """Serve in a thread of this process."""
    config = uvicorn.Config(app, port=0, log_level="critical", lifespan="off")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield server, f"http://127.0.0.1:{port}/v1"
    finally:
        server.should_exit = server.force_exit = True
        thread.join()


@contextlib.contextmanager
def proxy(upstream: str) -> Iterator[tuple[subprocess.Popen[str], str, list[str]]]:
    """Start the command; yields its process, its address and what it says."""
    command = [sys.executable, "-m", "mondegreen", "proxy", "--upstream", upstream]
    command += ["--policy", "all"]
    command += ["--epsilon", EPSILON, "--port", "0", "--read", "none"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    lines: list[str] = []
    for line in process.stderr:
        lines.append(line)
        if "Listening on" in line:
            break
    address = lines[-1].split()[-1]
    reader = threading.Thread(target=lambda: lines.extend(process.stderr))
    reader.start()
    try:
        yield process, f"{address}/v1", lines
    finally:
        process.terminate()
        process.wait(PATIENCE)
        reader.join(PATIENCE)
        process.stderr.close()


class Load:
    """Conversations that go on until they are told that it is over."""

    def __init__(self, address: str, texts: list[str]) -> None:
        self.address, self.texts = address, texts
        self.is_over = False
        self.seconds: list[float] = []
        self.ends: Counter[str] = Counter()
        self.first: list[tuple[int, str]] = []
        self.changed_history = 0
        self._numbers = itertools.count()

    async def run(self, clients: int) -> None:
        limits = httpx.Limits(max_connections=clients)
        async with httpx.AsyncClient(timeout=PATIENCE, limits=limits) as client:
            await asyncio.gather(*(self._talk(client) for _ in range(clients)))

    async def _talk(self, client: httpx.AsyncClient) -> None:
        while not self.is_over:
            number = next(self._numbers)
            earlier: list[str] = []
            for turn in range(1, TURNS + 1):
                sent = await self._ask(client, number, turn)
                if sent is None or self.is_over:
                    break
                self.changed_history += sent[: len(earlier)] != earlier
                earlier = sent
            if earlier:
                self.first.append((number % len(self.texts), earlier[0]))

    async def _ask(
        self, client: httpx.AsyncClient, number: int, turn: int
    ) -> list[str] | None:
        """Send one turn; returns what reached the model, or None after an error."""
        texts = [self.texts[(number + i) % len(self.texts)] for i in range(turn)]
        messages = [{"role": "user", "content": text} for text in texts]
        body = {"model": "stub", "messages": messages, "stream": number % 4 == 0}
        who = {"x-mondegreen-conversation": f"{CANARY} {number}"}
        started = time.perf_counter()
        try:
            async with asyncio.timeout(PATIENCE):
                found = await client.post(
                    f"{self.address}/chat/completions", json=body, headers=who
                )
        except (TimeoutError, httpx.TimeoutException):
            self.ends["lost without an error"] += 1
            return None
        except httpx.HTTPError as error:
            self.ends[type(error).__name__] += 1
            await asyncio.sleep(0.05)
            return None
        self.ends[str(found.status_code)] += 1
        if found.status_code != 200:
            return None
        self.seconds.append(time.perf_counter() - started)
        return _said(found.text, streamed=body["stream"])

    def equal_noise(self) -> int:
        """Conversations that began with the same text and got the same release."""
        return len(self.first) - len(set(self.first))


def _said(text: str, *, streamed: bool) -> list[str]:
    if streamed:
        assert text.endswith("data: [DONE]\n\n"), "an answer was cut off"
        choice = json.loads(text.removeprefix("data: ").partition("\n")[0])
        content = choice["choices"][0]["delta"]["content"]
    else:
        content = json.loads(text)["choices"][0]["message"]["content"]
    said: list[str] = json.loads(content)
    return said


def texts() -> list[str]:
    """The beginnings of some reviews, each with a word that nothing else has."""
    path = machine.ROOT / "examples" / "reviews.txt"
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line]
    return [f"{CANARY}{i} {lines[i % len(lines)]} {i}" for i in range(40)]


async def stopped_by(load: Load, clients: int, seconds: float, stop: Any) -> None:
    """Let clients ask, stop something in the middle, and let them find out."""
    running = asyncio.create_task(load.run(clients))
    await asyncio.sleep(seconds)
    await asyncio.to_thread(stop)
    await asyncio.sleep(min(seconds, 5.0))
    load.is_over = True
    await running


def measure(clients: int, seconds: float) -> dict[str, object]:
    """Run both stops, and count."""
    model = Model()
    with serving(model.app) as (server, upstream):
        with proxy(upstream) as (process, address, lines):
            ended = Load(address, texts())

            def terminate() -> None:
                process.send_signal(signal.SIGTERM)
                assert process.wait(PATIENCE) == 0

            asyncio.run(stopped_by(ended, clients, seconds, terminate))
        answered = model.requests
        with proxy(upstream) as (process, address, more):
            down = Load(address, texts())

            def take_down() -> None:
                server.should_exit = server.force_exit = True

            asyncio.run(stopped_by(down, clients, min(seconds, 10.0), take_down))
    loads, said = (ended, down), "".join(lines + more)
    milliseconds = 1000 * np.percentile(ended.seconds, [50, 99])
    return {
        "clients": clients,
        "seconds": seconds,
        "requests": answered,
        "requests_a_second": len(ended.seconds) / seconds,
        "p50_ms": float(milliseconds[0]),
        "p99_ms": float(milliseconds[1]),
        "texts_in_clear": model.in_clear + (CANARY in said),
        "changed_history": sum(each.changed_history for each in loads),
        "equal_noise": sum(each.equal_noise() for each in loads),
        "lost": sum(each.ends["lost without an error"] for each in loads),
        "ends_with_the_proxy_stopped": dict(ended.ends),
        "ends_with_the_model_stopped": dict(down.ends),
    }


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--clients", type=int, default=64)
    given = parser.parse_args()
    machine.save("proxy_load", measure(given.clients, given.seconds))


if __name__ == "__main__":
    main()
