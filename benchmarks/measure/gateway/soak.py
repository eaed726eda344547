"""Kill and restart the restoring proxy while conversations run through it.

    python -m benchmarks soak [--minutes 30] [--clients 8] [--seed 25]

Users with keys of their own hold conversations through two proxies: one is killed at
random times, by SIGKILL or SIGTERM, and started again; the other one runs throughout,
with room for few conversations, so that its memory shows. Each conversation has a
marker, a word that no other one holds, and units such as names and e-mail addresses.
Counted is what must not happen: a marker at the model, in its headers or in what a
proxy prints; a marker of another conversation in an answer; a conversation that opens
with a key of somebody else; a request that neither answers nor fails in time. Some
clients never send the header, some forget a conversation, and some try a stranger's.
Writes results/soak.json.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import dataclasses
import random
import signal
import statistics
import sys
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

import httpx

from benchmarks import machine
from benchmarks.measure.gateway.asked import Asked, Asker, Turn
from benchmarks.measure.gateway.gateways import (
    HEADER,
    PATIENCE,
    Client,
    Gateway,
    Shown,
    expected,
)
from benchmarks.measure.gateway.model_rules import answer
from benchmarks.measure.gateway.rule_model import RuleModel
from benchmarks.measure.proxy_load import serving

OPTIONS: Final = ("--policy", "names", "--restore", "--restore-in-tools", "--quiet")
KEPT: Final = 200
"""Conversations that a proxy keeps, so that room is made all the time."""

LONGEST_LIFE: Final = 60.0
"""Seconds between two kills are uniform up to this."""

SAMPLE_SECONDS: Final = 5.0
MEBI: Final = 1 << 20


class Ears:
    """What the model hears: which markers, and units of which conversations."""

    def __init__(self) -> None:
        self.requests, self.in_clear = 0, 0
        self.markers: dict[bytes, int] = {}

    def watch(self, asked: Asked) -> None:
        """Listen for a marker until it is forgotten."""
        for form in (asked.marker, asked.marker.lower(), asked.marker.upper()):
            self.markers[form.encode()] = asked.number

    def forget(self, asked: Asked) -> None:
        """Stop to listen for a marker, since its conversation is over."""
        for form in (asked.marker, asked.marker.lower(), asked.marker.upper()):
            self.markers.pop(form.encode(), None)

    def __call__(self, key: str, raw: bytes) -> None:
        self.requests += 1
        self.in_clear += any(each in raw for each in list(self.markers))


@dataclasses.dataclass
class Soak:
    """Conversations through one proxy, and what became of them."""

    ears: Ears
    seed: int
    asker: Asker
    is_over: bool = False
    count: Counter[str] = dataclasses.field(default_factory=Counter)
    errors: Counter[str] = dataclasses.field(default_factory=Counter)
    running: dict[str, int] = dataclasses.field(default_factory=dict)
    tokens: dict[str, str] = dataclasses.field(default_factory=dict)
    number: int = 0

    async def talk(self, http: httpx.AsyncClient, gate: Gateway, step: int) -> None:
        """Hold conversations, one after another, as a user with a key."""
        rng = random.Random(f"{self.seed} {step} {gate.address}")
        while not self.is_over:
            self.number += 1
            asked = self.asker(self.number)
            self.ears.watch(asked)
            self.running[asked.marker] = asked.number
            key = f"sk-user-{step}"
            client = Client(http, gate.address, asked.kind, key, rng.random() < 0.9)
            try:
                await self._turns(client, asked, rng)
            finally:
                del self.running[asked.marker]
                self.ears.forget(asked)
            await asyncio.sleep(rng.random() * 0.5)

    async def _turns(self, client: Client, asked: Asked, rng: random.Random) -> None:
        self.count["conversations"] += 1
        for turn in asked.turns:
            client.say(turn.said)
            shown = await self._shown(client, asked, turn)
            if shown is None:
                return
            if shown.calls and turn.result is not None:
                client.return_result(shown.calls[0], turn.result)
                again = dataclasses.replace(turn, is_stream=not turn.is_stream)
                if await self._shown(client, asked, again) is None:
                    return
            await self._try_to_open(client, rng)
            if self.is_over:
                return
        self.count["conversations of five turns"] += 1
        if client.token is not None and client.has_header and rng.random() < 0.3:
            await self._delete(client)

    async def _shown(self, client: Client, asked: Asked, turn: Turn) -> Shown | None:
        """Ask until an answer comes; None if the run is over before."""
        while not self.is_over:
            shown = await self._try(client, turn)
            if shown is None:
                await asyncio.sleep(0.2)
                continue
            right = answer(expected(client.kind, client.history, turn))
            said = shown.text + "".join(call["arguments"] for call in shown.calls)
            self._judge(said, right, asked)
            client.hear(shown)
            return shown
        return None

    def _judge(self, said: str, right: dict[str, Any], asked: Asked) -> None:
        self.count["answers"] += 1
        wanted = right.get("content") or right["tool_calls"][0]["function"]["arguments"]
        is_right = said == wanted
        self.count["right answers"] += is_right
        lowered = said.lower()
        foreign = [
            m for m in self.running if m != asked.marker and m.lower() in lowered
        ]
        self.count["answers with a foreign marker"] += bool(foreign)
        has_own = asked.marker.lower() in wanted.lower()
        self.count["answers with the own marker"] += has_own
        is_lost = has_own and asked.marker.lower() not in lowered
        self.count["answers that lost the own marker"] += is_lost

    async def _try(self, client: Client, turn: Turn) -> Shown | None:
        """Ask once. A forgotten conversation begins anew, with its whole history."""
        try:
            async with asyncio.timeout(PATIENCE):
                return await client.ask(turn)
        except (TimeoutError, httpx.TimeoutException):
            self.count["requests lost without an error"] += 1
        except httpx.HTTPStatusError as error:
            status = error.response.status_code
            self.errors[str(status)] += 1
            if status == 404:
                client.token = None
            elif status not in (429, 502, 503):
                self.count["refused requests"] += 1
                client.token = None
        except httpx.HTTPError as error:
            self.errors[type(error).__name__] += 1
        except (ValueError, KeyError, IndexError):
            self.count["answers that cannot be read"] += 1
        return None

    async def _try_to_open(self, client: Client, rng: random.Random) -> None:
        """Ask in the conversation of another user: it must be refused."""
        if client.token is not None:
            self.tokens[client.api_key] = client.token
        if rng.random() > 0.05:
            return
        others = [t for key, t in self.tokens.items() if key != client.api_key]
        if not others:
            return
        body = {"model": "m", "messages": [{"role": "user", "content": "Repeat."}]}
        headers = {"authorization": f"Bearer {client.api_key}", HEADER: others[0]}
        with contextlib.suppress(httpx.HTTPError):
            found = await client.http.post(
                f"{client.address}/chat/completions", json=body, headers=headers
            )
            self.count["tries to open a stranger's conversation"] += 1
            self.count["of these, opened"] += found.status_code != 404

    async def _delete(self, client: Client) -> None:
        headers = {"authorization": f"Bearer {client.api_key}"}
        with contextlib.suppress(httpx.HTTPError):
            found = await client.http.delete(
                f"{client.address}/conversations/{client.token}", headers=headers
            )
            self.count["conversations deleted"] += found.status_code == 204

    def found(self) -> dict[str, Any]:
        """What became of everything."""
        return {**dict(self.count), "errors": dict(self.errors)}


async def kill(gate: Gateway, soak: Soak, rng: random.Random) -> Counter[str]:
    """Kill and start a proxy until the run is over."""
    kills: Counter[str] = Counter()
    while not soak.is_over:
        await _sleep(soak, rng.uniform(2.0, LONGEST_LIFE))
        if soak.is_over:
            break
        number = rng.choice((signal.SIGKILL, signal.SIGTERM))
        kills[number.name] += 1
        if not await asyncio.to_thread(gate.stop, number):
            kills["stops that took a minute"] += 1
        await asyncio.sleep(rng.uniform(0.0, 2.0))
        try:
            await asyncio.to_thread(gate.start)
        except RuntimeError:
            kills["starts that failed"] += 1
            await asyncio.to_thread(gate.start)
    return kills


async def _sleep(soak: Soak, seconds: float) -> None:
    end = time.monotonic() + seconds
    while not soak.is_over and time.monotonic() < end:
        await asyncio.sleep(0.2)


async def weigh(gate: Gateway, soak: Soak) -> list[float]:
    """Sample the memory of a proxy in MiB."""
    found = []
    while not soak.is_over:
        found.append(gate.bytes_in_memory() / MEBI)
        await _sleep(soak, SAMPLE_SECONDS)
    return found


async def run(
    killed: Gateway, steady: Gateway, ears: Ears, given: argparse.Namespace
) -> dict[str, Any]:
    """Run the clients of both proxies, and the kills."""
    seconds = 60 * given.minutes
    soaks = [Soak(ears, given.seed + i, Asker(given.seed + i)) for i in range(2)]
    soaks[1].number = 500_000  # other markers
    limits = httpx.Limits(max_connections=2 * given.clients)
    timeout = httpx.Timeout(PATIENCE)
    async with httpx.AsyncClient(timeout=timeout, limits=limits) as http:
        users = [
            asyncio.create_task(soak.talk(http, gate, step))
            for soak, gate in zip(soaks, (killed, steady), strict=True)
            for step in range(given.clients)
        ]
        killing = asyncio.create_task(kill(killed, soaks[0], random.Random(given.seed)))
        weighing = asyncio.create_task(weigh(steady, soaks[1]))
        end = time.monotonic() + seconds
        while time.monotonic() < end and not any(task.done() for task in users):
            await _sleep(soaks[0], min(30.0, end - time.monotonic()))
            print([soak.found() for soak in soaks], file=sys.stderr, flush=True)
        for soak in soaks:
            soak.is_over = True
        await asyncio.gather(*users)
        kills, memory = await killing, await weighing
    return {
        "kills": dict(kills),
        "killed": soaks[0].found(),
        "steady": soaks[1].found(),
        "memory of the steady proxy": _memory(memory),
    }


def _memory(samples: list[float]) -> dict[str, Any]:
    """The median of each tenth of the run, after which nothing may grow."""
    step = max(1, len(samples) // 10)
    tenths = [
        round(statistics.median(samples[i : i + step]), 1)
        for i in range(0, step * 10, step)
        if samples[i : i + step]
    ]
    return {"MiB, by tenths of the run": tenths, "MiB, most": round(max(samples), 1)}


@contextlib.contextmanager
def gateways(upstream: str) -> Iterator[tuple[Gateway, Gateway]]:
    """Start both proxies."""
    options = (*OPTIONS, "--max-conversations", str(KEPT))
    found = Gateway(upstream, options), Gateway(upstream, options)
    try:
        for each in found:
            each.start()
        yield found
    finally:
        for each in found:
            each.stop()


def measure(given: argparse.Namespace) -> dict[str, Any]:
    """Start everything, and count."""
    ears = Ears()
    model = RuleModel(given.seed, ears)
    with serving(model.app) as (_, upstream), gateways(upstream) as (killed, steady):
        found = asyncio.run(run(killed, steady, ears, given))
        printed = "".join(killed.lines + steady.lines)
    return {
        "minutes": given.minutes,
        "clients": given.clients,
        "seed": given.seed,
        "requests at the model": ears.requests,
        "requests with a marker in clear": ears.in_clear,
        "markers in what the proxies print": int("kwo" in printed.lower()),
        **found,
    }


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--clients", type=int, default=4, help="for each proxy")
    parser.add_argument("--seed", type=int, default=25)
    parser.add_argument("--dry", action="store_true", help="write no results")
    given = parser.parse_args()
    found = measure(given)
    if given.dry:
        print(found)
    else:
        machine.save("soak", found)


if __name__ == "__main__":
    main()
