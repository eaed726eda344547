"""Hold conversations of five turns through guards, and judge what leaves and returns.

    python -m benchmarks conversations [--conversations 2000] [--beside 300] [--fresh]

A model without a network answers by rule (model_rules.py). Its answer to the hidden
request, restored, must be its answer to the request as it is: then it is *right*. Its
*facts* are right if it holds every personal unit that the right answer holds. A
personal unit *leaves* if all its words leave unchanged. A request *asks the same* if
the task and all words besides the personal units leave unchanged, and its answer is
right. Half of the requests are streamed, and cut at random places; three in ten use the
interface ``responses``. The prompts are those of the annotated sets, on which the
policies were developed, and synthetic facts. ``names`` has all conversations; the other
guards have the first ones of the same. Writes results/conversations.json after each
guard; a run that was stopped goes on where it was.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import dataclasses
import difflib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, Protocol

import httpx

from benchmarks import machine
from benchmarks.measure.gateway.asked import MARKER, Asked, Said, Turn, first
from benchmarks.measure.gateway.gateways import (
    PATIENCE,
    Client,
    Shown,
    expected,
    gateway,
    parts_of,
)
from benchmarks.measure.gateway.model_forms import texts_of
from benchmarks.measure.gateway.model_rules import answer
from benchmarks.measure.gateway.rule_model import RuleModel
from benchmarks.measure.policies_beside import SPACY_MODEL, _version
from benchmarks.measure.proxy_load import serving
from mondegreen.attacks.attack import wilson
from mondegreen.policy.policy import load_policy
from mondegreen.text.tokenizer import canonical, tokenize

SEED: Final = 26
"""Nothing was tuned on its conversations; 25 was the seed of development."""

RESTORE: Final = ("--restore", "--restore-in-tools", "--quiet")
DETECT: Final = ("--detect", "presidio", "--detect-model", SPACY_MODEL)
PROXIES: Final = {
    "names": ("--policy", "names", *RESTORE),
    "sensitive": ("--policy", "sensitive", *RESTORE),
    "all": ("--policy", "all", "--epsilon", "10", "--read", "none", "--quiet"),
    "names, Presidio first": ("--policy", "names", *RESTORE, *DETECT),
    "sensitive, Presidio first": ("--policy", "sensitive", *RESTORE, *DETECT),
}
PACKAGES: Final = (
    "presidio-analyzer", "presidio-anonymizer", "spacy", SPACY_MODEL, "litellm",
)  # fmt: skip
TOGETHER: Final = 4
"""Conversations at a time."""


class Guard(Protocol):
    """What stands between a client and the model."""

    async def ask(self, client: Client, turn: Turn) -> tuple[Shown, dict[str, Any]]:
        """Ask; returns what is shown, and the request that the model received."""


@dataclasses.dataclass
class Proxy:
    """The proxy, whose model says which request it has received."""

    received: dict[str, bytes]

    async def ask(self, client: Client, turn: Turn) -> tuple[Shown, dict[str, Any]]:
        shown = await client.ask(turn)
        raw = self.received.pop(shown.key).partition(b"\n")[0]
        return shown, json.loads(raw)


@dataclasses.dataclass
class Tally:
    """Counts of one guard."""

    count: Counter[str] = dataclasses.field(default_factory=Counter)
    kinds: dict[str, list[int]] = dataclasses.field(default_factory=dict)
    wrong: Counter[str] = dataclasses.field(default_factory=Counter)
    running: set[str] = dataclasses.field(default_factory=set)
    openings: dict[int, tuple[str, str]] = dataclasses.field(default_factory=dict)
    """The first request of each conversation, as it was said and as it left."""

    def leave(self, said: Said, sent: str) -> bool:
        """Count units and words that leave; returns whether all others leave."""
        parts, same = align(said.text, sent)
        inside = [False] * len(same)
        place, ends = 0, []
        for part in parts:
            place += len(part)
            ends.append(place)
        starts, stops = ends[:-1:2], ends[1::2]
        for start, end, kind in said.spans:
            covered = [
                i for i in range(len(same)) if starts[i] < end and stops[i] > start
            ]
            if not covered:
                continue
            for i in covered:
                inside[i] = True
            if kind == MARKER:
                continue
            has_left = all(same[i] for i in covered)
            counts = self.kinds.setdefault(kind.lower(), [0, 0])
            counts[0] += has_left
            counts[1] += 1
            self.count["units"] += 1
            self.count["units that leave"] += has_left
        others = [same[i] for i in range(len(same)) if not inside[i]]
        self.count["other words"] += len(others)
        self.count["other words kept"] += sum(others)
        return all(others)

    def judge(
        self, asked: Asked, turn: Turn, shown: str, right: str, *, is_kept: bool
    ) -> None:
        """Count an answer."""
        units = {
            each.text[start:end]
            for each in parts_of(asked)
            for start, end, kind in each.spans
            if kind != MARKER
        }
        is_right = _value(shown, turn) == _value(right, turn)
        form = "streamed" if turn.is_stream else "at once"
        for name in ("answers", f"answers {form}"):
            self.count[name] += 1
            self.count[f"{name}, right"] += is_right
        facts = [each for each in units if _holds(right, each)]
        self.count["answers, facts right"] += all(_holds(shown, each) for each in facts)
        self.count["asks the same"] += is_right and is_kept
        if not is_right:
            self.wrong[turn.said.text.partition("\n")[0]] += 1
        lowered = shown.lower()
        foreign = [
            m for m in self.running if m != asked.marker and m.lower() in lowered
        ]
        self.count["answers with a foreign marker"] += bool(foreign)

    def to_dict(self) -> dict[str, Any]:
        """All counts, and the shares that the page shows."""
        low, high = wilson(self.count["units that leave"], self.count["units"])
        return {
            **{name: int(value) for name, value in self.count.items()},
            "share of units that leave": self.count["units that leave"]
            / self.count["units"],
            "low": low,
            "high": high,
            "share of facts right": self.count["answers, facts right"]
            / self.count["answers"],
            "share right": self.count["answers, right"] / self.count["answers"],
            "share that asks the same": self.count["asks the same"]
            / self.count["answers"],
            "units by kind": dict(sorted(self.kinds.items())),
            "wrong by task": dict(self.wrong.most_common()),
        }


def align(said: str, sent: str) -> tuple[list[str], list[bool]]:
    """The parts of a text, and which of its words leave unchanged."""
    mine, theirs = (tokenize([each]).parts[0] or [] for each in (said, sent))
    words = [[canonical(word) for word in parts[1::2]] for parts in (mine, theirs)]
    if len(mine) == len(theirs):
        return mine, [a == b for a, b in zip(*words, strict=True)]
    same = [False] * len(words[0])
    matcher = difflib.SequenceMatcher(None, *words, autojunk=False)
    for block in matcher.get_matching_blocks():
        same[block.a : block.a + block.size] = [True] * block.size
    return mine, same


def _holds(text: str, unit: str) -> bool:
    """Whether a text holds a unit, in any case, and not as a part of a word."""
    form = rf"(?<!\w){re.escape(unit)}(?!\w)"
    return re.search(form, text, re.IGNORECASE) is not None


def _value(text: str, turn: Turn) -> Any:
    """JSON as its value, so that blanks and escapes make no difference."""
    if turn.said.text.startswith(("Extract", "Look up")):
        with contextlib.suppress(ValueError):
            return json.loads(text)
    return text


async def hold(asked: Asked, guard: Guard, client: Client, tally: Tally) -> None:
    """Hold one conversation."""
    tally.running.add(asked.marker)
    tally.count["conversations"] += 1
    for turn in asked.turns:
        client.say(turn.said)
        calls = await one(asked, turn, turn.said, guard, client, tally)
        if calls and turn.result is not None:
            client.return_result(calls[0], turn.result)
            again = dataclasses.replace(turn, is_stream=not turn.is_stream)
            await one(asked, again, turn.result, guard, client, tally)
    tally.running.discard(asked.marker)


async def one(
    asked: Asked, turn: Turn, said: Said, guard: Guard, client: Client, tally: Tally
) -> list[dict[str, Any]]:
    """Send one request and judge it; returns the calls of its answer."""
    right = answer(expected(client.kind, client.history, turn))
    try:
        async with asyncio.timeout(PATIENCE):
            shown, body = await guard.ask(client, turn)
    except (TimeoutError, httpx.HTTPError) as error:
        tally.count["requests without an answer"] += 1
        tally.wrong[type(error).__name__] += 1
        return []
    sent = [text for _, text in texts_of(body)][-1]
    is_kept = tally.leave(said, sent)
    tally.openings.setdefault(asked.number, (said.text, sent))
    given = "".join(call["arguments"] for call in shown.calls)
    calls = right.get("tool_calls", ())
    wanted = "".join(call["function"]["arguments"] for call in calls)
    text = right.get("content") or ""
    tally.judge(asked, turn, shown.text + given, text + wanted, is_kept=is_kept)
    client.hear(shown)
    return shown.calls


async def hold_all(
    talks: Iterator[Asked], guard: Guard, address: str, tally: Tally
) -> None:
    """Hold conversations, some at a time."""

    async def some(http: httpx.AsyncClient, user: int) -> None:
        for asked in talks:
            client = Client(http, address, asked.kind, f"sk-user-{user}")
            await hold(asked, guard, client, tally)

    async with httpx.AsyncClient(timeout=PATIENCE) as http:
        await asyncio.gather(*(some(http, user) for user in range(TOGETHER)))


def through_proxy(count: int, options: Sequence[str]) -> Tally:
    """Hold conversations through a proxy."""
    received: dict[str, bytes] = {}
    model, tally = RuleModel(SEED, received.__setitem__), Tally()
    with serving(model.app) as (_, upstream), gateway(upstream, options) as found:
        asyncio.run(hold_all(first(count, SEED), Proxy(received), found.address, tally))
    return tally


def beside(count: int, *, is_litellm: bool) -> Tally:
    """Hold conversations by chat completions before a guard of another project."""
    from benchmarks.measure.gateway.guards_beside import (
        LiteLLM,
        Presidio,
        presidio_service,
    )

    talks = (
        dataclasses.replace(asked, kind="chat/completions")
        for asked in first(count, SEED)
    )
    tally = Tally()
    if not is_litellm:
        asyncio.run(hold_all(talks, Presidio(), "", tally))
        return tally

    async def run(service: str) -> None:
        guard = LiteLLM(service.removesuffix("/v1"))
        await hold_all(talks, guard, "", tally)
        await guard.close()

    with serving(presidio_service()) as (_, service):
        asyncio.run(run(service))
    return tally


class Results:
    """The guards so far."""

    def __init__(self, *, is_fresh: bool, only: str | None = None) -> None:
        self._only = only
        self._path = machine.RESULTS / "conversations.json"
        self.guards: dict[str, Any] = {}
        if self._path.exists() and not is_fresh:
            self.guards = json.loads(self._path.read_text("utf-8"))["guards"]

    def fill(self, name: str, measure: Callable[[], Tally]) -> None:
        """Measure a guard, if there are no figures of it."""
        if name in self.guards or self._only not in (None, name):
            return
        self.guards[name] = measure().to_dict()
        machine.save(
            "conversations",
            {
                "seed": SEED,
                "policies": {p: load_policy(p).digest for p in ("names", "sensitive")},
                "packages": {name: _version(name) for name in PACKAGES},
                "guards": self.guards,
            },
        )


def main() -> None:
    """Measure every guard, and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--conversations", type=int, default=2_000)
    parser.add_argument("--beside", type=int, default=300, help="for the other guards")
    parser.add_argument("--fresh", action="store_true", help="measure all again")
    parser.add_argument("--only", help="measure this guard alone")
    given = parser.parse_args()
    results = Results(is_fresh=given.fresh, only=given.only)
    for name, options in PROXIES.items():
        count = given.conversations if name == "names" else given.beside
        results.fill(name, lambda c=count, o=options: through_proxy(c, o))
    results.fill(
        "names, the first", lambda: through_proxy(given.beside, PROXIES["names"])
    )
    results.fill("Presidio", lambda: beside(given.beside, is_litellm=False))
    results.fill("LiteLLM", lambda: beside(given.beside, is_litellm=True))


if __name__ == "__main__":
    main()
