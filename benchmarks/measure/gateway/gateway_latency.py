"""Time the restoring proxy beside a plain one, with one client and with 64.

    python -m benchmarks gateway_latency [--requests 400] [--rounds 6] [--seconds 5]

The plain proxy forwards with the same libraries (Starlette, httpx, uvicorn) and reads
nothing. Both are processes of their own before the model by rule, which is another one.
One client sends each prompt through the plain proxy, through the restoring one, and
straight to the model, in an order that turns. 64 clients use the proxies in rounds that
take turns, each as fast as answers come. Where the system permits it, all of them run
before other work of the machine, which then does not count. Writes
results/gateway_latency.json.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import itertools
import multiprocessing
import os
import statistics
import time
from collections.abc import Iterator
from typing import Any, Final

import httpx
import uvicorn

from benchmarks import machine
from benchmarks.measure.gateway.asked import first
from benchmarks.measure.gateway.gateways import PATIENCE, gateway
from benchmarks.measure.gateway.rule_model import RuleModel
from benchmarks.measure.restoring import _cpu, _free_port, _plain, _wait

MANY: Final = 64
SEED: Final = 27
OPTIONS: Final = ("--policy", "names", "--restore", "--quiet")


def run_before_others() -> bool:
    """Ask for real-time priority, for this process and those it starts."""
    try:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(10))
    except OSError:
        return False
    return True


def _serve(kind: str, port: int, upstream: str) -> None:
    app = RuleModel(SEED).app if kind == "model" else _plain(upstream)
    uvicorn.run(app, port=port, log_level="critical")


@contextlib.contextmanager
def started() -> Iterator[tuple[dict[str, str], dict[str, int | None]]]:
    """Start the model and both proxies; yields their addresses and process ids."""
    context = multiprocessing.get_context("spawn")
    ports = {kind: _free_port() for kind in ("model", "plain")}
    urls = {kind: f"http://127.0.0.1:{port}/v1" for kind, port in ports.items()}
    workers = {
        kind: context.Process(
            target=_serve, args=(kind, port, urls["model"]), daemon=True
        )
        for kind, port in ports.items()
    }
    for each in workers.values():
        each.start()
    try:
        with gateway(urls["model"], OPTIONS) as found:
            assert found.process is not None
            urls["restore"] = found.address
            numbers = {kind: worker.pid for kind, worker in workers.items()}
            with httpx.Client(trust_env=False, timeout=PATIENCE) as client:
                for url in urls.values():
                    _wait(client, url)
            yield urls, {**numbers, "restore": found.process.pid}
    finally:
        for each in workers.values():
            each.terminate()
            each.join()


def prompts() -> Iterator[dict[str, Any]]:
    """Requests that begin conversations, without an end."""
    texts = [each.turns[0].said.text for each in first(200, SEED)]
    for text in itertools.cycle(texts):
        yield {"model": "stub", "messages": [{"role": "user", "content": text}]}


def alone(urls: dict[str, str], requests: int) -> dict[str, list[float]]:
    """Milliseconds of one client."""
    times: dict[str, list[float]] = {kind: [] for kind in urls}
    kinds = list(urls)
    with httpx.Client(trust_env=False, timeout=PATIENCE) as client:
        for i, body in enumerate(itertools.islice(prompts(), requests)):
            turn = i % len(kinds)
            said = set()
            for kind in (*kinds[turn:], *kinds[:turn]):
                begin = time.perf_counter()
                answer = client.post(f"{urls[kind]}/chat/completions", json=body)
                times[kind].append(1000 * (time.perf_counter() - begin))
                said.add(answer.json()["choices"][0]["message"]["content"])
            if len(said) > 3:
                raise RuntimeError("the proxies do not answer")
    return times


async def together(url: str, seconds: float) -> list[float]:
    """Milliseconds of many clients."""
    found: list[float] = []
    bodies = prompts()
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
    is_first = run_before_others()
    with started() as (urls, numbers):
        alone(urls, 20)  # the first ones load what is loaded late
        before = {kind: _cpu(number) for kind, number in numbers.items()}
        one = alone(urls, given.requests)
        spent = {kind: _cpu(number) - before[kind] for kind, number in numbers.items()}
        many: dict[str, list[float]] = {"plain": [], "restore": []}
        for _ in range(given.rounds):
            for kind, found in many.items():
                found += asyncio.run(together(urls[kind], given.seconds))
    extra = [a - b for a, b in zip(one["restore"], one["plain"], strict=True)]
    return {
        "runs before other work": is_first,
        "one client": {
            kind: {
                **summary(times),
                "processor, ms": 1000 * spent[kind] / given.requests,
            }
            for kind, times in one.items()
        },
        "p50 of the differences, ms": statistics.median(extra),
        f"{MANY} clients": {kind: summary(times) for kind, times in many.items()},
    }


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=400)
    parser.add_argument("--rounds", type=int, default=6)
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
