"""Time the proxy and other guards beside a plain proxy, with one client and with 64.

    python -m benchmarks gateway_latency [--requests 300] [--rounds 4] [--seconds 5]

The plain proxy forwards with the same libraries (Starlette, httpx, uvicorn) and reads
nothing. The guards of other projects stand in such a proxy: Presidio with placeholders,
and LiteLLM's guard, whose service of Presidio is a process beside. All are processes of
their own before the model by rule, which is another one. One client sends each prompt
through every proxy and straight to the model, in an order that turns. 64 clients use
the proxies in rounds that take turns, each as fast as answers come. No text is sent
twice, so no guard can repeat what it found. Where the system permits it, all of them
run before other work of the machine, which then does not count. Writes
results/gateway_latency.json.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import itertools
import json
import multiprocessing
import os
import statistics
import time
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, Final

import httpx
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from benchmarks import machine
from benchmarks.measure.gateway.asked import Asker, marker
from benchmarks.measure.gateway.conversations import PROXIES
from benchmarks.measure.gateway.gateways import PATIENCE, gateway
from benchmarks.measure.gateway.model_forms import Message
from benchmarks.measure.gateway.rule_model import RuleModel
from benchmarks.measure.restoring import _cpu, _free_port, _plain, _wait

MANY: Final = 64
SEED: Final = 27
START: Final = 300.0
"""Seconds until all of them must answer: some load large libraries."""

TEXTS: Final = 200
"""Different prompts, which come again with another reference."""

BESIDE: Final = ("model", "plain", "service", "Presidio", "LiteLLM")
"""Processes besides our proxies; ``service`` is that of Presidio, for LiteLLM."""

NOT_ASKED: Final = ("service",)

Hide = Callable[[Message], Awaitable[tuple[Message, "Restore"]]]
Restore = Callable[[Message], Awaitable[Message]]


def run_before_others() -> bool:
    """Ask for real-time priority, for this process and those it starts."""
    try:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(10))
    except OSError:
        return False
    return True


def _guarded(upstream: str, hide: Hide) -> Starlette:
    """A plain proxy that hides the messages of a request, and restores the answer."""
    client = httpx.AsyncClient(trust_env=False)

    async def forward(request: Request) -> Response:
        sent, restore = await hide(json.loads(await request.body()))
        body = {name: sent[name] for name in ("model", "messages") if name in sent}
        found = await client.post(f"{upstream}/chat/completions", json=body)
        answer = found.json()
        choice = answer["choices"][0]
        choice["message"] = await restore(choice["message"])
        return JSONResponse(answer)

    return Starlette(routes=[Route("/v1/chat/completions", forward, methods=["POST"])])


async def _hide_by_presidio(body: Message) -> tuple[Message, Restore]:
    from benchmarks.measure.gateway.guards_beside import Placeholders

    talk = Placeholders()

    async def restore(message: Message) -> Message:
        return {**message, "content": talk.restore(message["content"])}

    return {**body, "messages": talk.hide_rows(body["messages"])}, restore


def _by_litellm(service: str) -> Hide:
    from benchmarks.measure.gateway.guards_beside import LiteLLM

    guard = LiteLLM(service)

    async def hide(body: Message) -> tuple[Message, Restore]:
        sent = await guard.hide(body)
        return sent, lambda message: guard.restore(sent, message)

    return hide


def _serve(kind: str, port: int, urls: dict[str, str]) -> None:
    upstream = urls["model"]
    if kind == "model":
        app = RuleModel(SEED).app
    elif kind == "plain":
        app = _plain(upstream)
    elif kind == "service":
        from benchmarks.measure.gateway.guards_beside import presidio_service

        app = presidio_service()
    elif kind == "Presidio":
        app = _guarded(upstream, _hide_by_presidio)
    else:
        app = _guarded(upstream, _by_litellm(urls["service"].removesuffix("/v1")))
    uvicorn.run(app, port=port, log_level="critical")


@contextlib.contextmanager
def started() -> Iterator[tuple[dict[str, str], dict[str, int | None]]]:
    """Start everything; yields the addresses and process ids of what is asked."""
    context = multiprocessing.get_context("spawn")
    ports = {kind: _free_port() for kind in BESIDE}
    urls = {kind: f"http://127.0.0.1:{port}/v1" for kind, port in ports.items()}
    workers = {
        kind: context.Process(target=_serve, args=(kind, port, urls), daemon=True)
        for kind, port in ports.items()
    }
    for each in workers.values():
        each.start()
    try:
        with contextlib.ExitStack() as proxies:
            numbers = {kind: worker.pid for kind, worker in workers.items()}
            for kind, options in PROXIES.items():
                found = proxies.enter_context(gateway(urls["model"], options))
                assert found.process is not None
                urls[kind], numbers[kind] = found.address, found.process.pid
            asked = {kind: url for kind, url in urls.items() if kind not in NOT_ASKED}
            with httpx.Client(trust_env=False, timeout=PATIENCE) as client:
                for url in asked.values():
                    _wait(client, url, START)
            yield asked, {kind: numbers[kind] for kind in asked}
    finally:
        for each in workers.values():
            each.terminate()
            each.join()


def prompts() -> Iterator[dict[str, Any]]:
    """Requests that begin conversations, without an end: no two have the same text."""
    some = list(map(Asker(SEED), range(TEXTS)))
    for number in itertools.count():
        asked = some[number % TEXTS]
        text = asked.turns[0].said.text.replace(asked.marker, marker(TEXTS + number))
        yield {"model": "stub", "messages": [{"role": "user", "content": text}]}


def alone(
    urls: dict[str, str], bodies: Iterator[dict[str, Any]], requests: int
) -> dict[str, list[float]]:
    """Milliseconds of one client."""
    times: dict[str, list[float]] = {kind: [] for kind in urls}
    kinds = list(urls)
    with httpx.Client(trust_env=False, timeout=PATIENCE) as client:
        for i, body in enumerate(itertools.islice(bodies, requests)):
            turn = i % len(kinds)
            for kind in (*kinds[turn:], *kinds[:turn]):
                begin = time.perf_counter()
                answer = client.post(f"{urls[kind]}/chat/completions", json=body)
                times[kind].append(1000 * (time.perf_counter() - begin))
                if not answer.json()["choices"][0]["message"]["content"]:
                    raise RuntimeError(f"{kind} does not answer")
    return times


async def together(
    url: str, bodies: Iterator[dict[str, Any]], seconds: float
) -> list[float]:
    """Milliseconds of many clients."""
    found: list[float] = []
    limits = httpx.Limits(max_connections=MANY)
    async with httpx.AsyncClient(
        trust_env=False, timeout=PATIENCE, limits=limits
    ) as client:
        end = time.perf_counter() + seconds

        async def ask() -> None:
            while time.perf_counter() < end:
                begin = time.perf_counter()
                answer = await client.post(f"{url}/chat/completions", json=next(bodies))
                answer.raise_for_status()
                found.append(1000 * (time.perf_counter() - begin))

        await asyncio.gather(*(ask() for _ in range(MANY)))
    return found


def summary(times: list[float]) -> dict[str, float]:
    """Percentiles in milliseconds."""
    return {
        "requests": len(times),
        "p50, ms": statistics.median(times),
        "p99, ms": statistics.quantiles(times, n=100)[-1],
    }


def measure(given: argparse.Namespace) -> dict[str, Any]:
    """Time everything in one run."""
    is_first, bodies = run_before_others(), prompts()
    with started() as (urls, numbers):
        alone(urls, bodies, 20)  # the first ones load what is loaded late
        before = {kind: _cpu(number) for kind, number in numbers.items()}
        one = alone(urls, bodies, given.requests)
        spent = {kind: _cpu(number) - before[kind] for kind, number in numbers.items()}
        many: dict[str, list[float]] = {kind: [] for kind in urls if kind != "model"}
        for _ in range(given.rounds):
            for kind, found in many.items():
                found += asyncio.run(together(urls[kind], bodies, given.seconds))
    return {
        "runs before other work": is_first,
        "one client": {
            kind: {
                **summary(times),
                "processor, ms": 1000 * spent[kind] / given.requests,
                "p50 of the differences, ms": statistics.median(
                    a - b for a, b in zip(times, one["plain"], strict=True)
                ),
            }
            for kind, times in one.items()
        },
        f"{MANY} clients": {kind: summary(times) for kind, times in many.items()},
    }


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--dry", action="store_true", help="write no results")
    given = parser.parse_args()
    found = measure(given)
    if given.dry:
        print(found)
    else:
        machine.save("gateway_latency", found)


if __name__ == "__main__":
    main()
