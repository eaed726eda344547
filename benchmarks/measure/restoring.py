"""Count wrong and missed restorations in answers, and the time that restoring takes.

    python -m benchmarks restoring [--answers 10000] [--requests 300] [--seed 3]
        [--verbose]

An answer is made of sentences that repeat what a prompt said, as a person would write
it (in capitals, the surname alone, an amount without commas, a date in words), and of
sentences that have nothing to do with it: names by public frequency, numbers, dates,
list markers. A word of the latter that changes is a wrong restoration; a word of the
former that does not is a missed one. A date in words may also come back as the user
wrote it, with digits, where its hidden day and month are equal. Nothing was tuned on
the seed of the figures. The time is that of one client through the proxy and through a
proxy that only forwards, which take turns. Writes results/restoring.json.
"""

from __future__ import annotations

import argparse
import itertools
import json
import multiprocessing
import os
import random
import re
import socket
import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

import mondegreen as mg
from benchmarks import machine
from mondegreen.policy.policy import Policy, load_policy
from mondegreen.prompts.conversation_guard import ConversationGuard
from mondegreen.serve.proxy import ProxySettings, create_proxy
from mondegreen.serve.upstream import Upstream
from mondegreen.text.tokenizer import tokenize

PROMPTS = (
    "My name is {first} {last}. I live in {place} and I am {age} years old.",
    "{first} {last} of {org} paid ${amount} on {date}. Write to {mail}.",
    "Please draft a letter to Mr. {last} in {place}, phone {phone}, case {code}.",
    "{first} {last}, born {date}, owes ${amount}; account {card}.",
    "Summary: {first} met {other} in {place} at {clock}. They have {digit} children.",
    "Order {code} for {first} {last} ({mail}) of {amount} dollars is due in {year}.",
    "{first} {last} of {place} ordered {count} parts on {date}.",
)
MEANT = (
    "Dear {first} {last},", "Hello {first},", "Mr. {last}'s request was received.",
    "{first} {last} lives in {place}.", "You can reach them at {mail}.",
    "Call {phone} for details.", "The amount of ${amount} is due.",
    "It comes to {plain} dollars.", "Your date is {date}.", "**{last}** is the name.",
    "At {age} years of age you qualify.", "The account is {card}.",
    "{LAST} IN CAPITALS.", "The case number is {code}.", "{org} confirmed it.",
    "The {digit} children are included.", "As {other} said, see {first}.",
    "A {age}-year-old is eligible.", "The {family} agreed.", "It ends in {end}.",
    "Dial {dots} today.", "It is about ${whole}.", "It began in {begin}.",
    "Mail to {first} ({last}) bounced.", "The meeting is at {clock}.",
    "It has been open since {year}.", "You were born on {words}.",
    "The date is {days}.", "It happens each year on {day}.", "That was in {month}.",
    "It is filed under {iso}.", "The form says {bare}.", "It ended on the {nth}.",
    "We ship {commas} parts.", "That makes {count} in all.", "The {family}' house.",
    "It was {first}’s idea.", "{points} dollars are due.",
)  # fmt: skip
BACKGROUND = (
    "Here is what I found.", "Please let me know if you need anything else.",
    "1. Check the form.\n2. Sign it.\n3. Send it back.", "It takes {n2} minutes.",
    "There are {n1} ways to do this.", "The fee is {n2}% or ${n3}.",
    "Since {y}, the law requires it.", "{p} is a popular place.",
    "A similar case was {s} v. {t}.", "Ask {f} {s} at the front desk.",
    "Write to support@{c}.com.", "The office opens at {n2}:{n2}.",
    "It was updated on {n2}/{n2}/{y}.", "Version {n1}.{n2} is current.",
    "You have {n2} days to reply.", "See section {n1}({l}) of the act.",
    "The total is {n1},{n3}.{n2}.", "Form {l}-{n3} applies.",
    "The act is of {m} {d}, {y}.", "Offices close on {m} {d}.", "It ends {d} {m} {y}.",
    "Since {m} {y} it is free.", "They sold {n1},{n3} of them.", "See {n3}.{n3},{n2}.",
    "I would suggest a short and polite tone.", "Thank you for your patience.",
)  # fmt: skip
MONTHS = (
    "January February March April May June July August September October November "
    "December"
).split()
SIBILANT = re.compile(r"(?i)(?:s|x|z|ch|sh)$")
ONCE_IN = 8
"""One background sentence in so many holds names; most answers repeat those asked."""


def members(policy: Policy, name: str) -> list[str]:
    """The words of a class that are printed, the most frequent first."""
    groups = [g for g in policy.groups if g.class_name == name]
    return [word for group in groups for word in group.words]


class Writer:
    """Writes prompts and answers."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        policy = load_policy("names")
        kinds = ("first_name", "surname", "place", "organization")
        self.words = {kind: members(policy, kind) for kind in kinds}

    def word(self, kind: str) -> str:
        """A name by its public rank: that of rank r as often as 1 / r."""
        words = self.words[kind]
        return words[min(int(len(words) ** self.rng.random()), len(words)) - 1]

    def digits(self, count: int) -> str:
        low = 10 ** (count - 1)
        return str(self.rng.randrange(low if count > 1 else 1, 10 * low))

    def values(self) -> dict[str, str]:
        """What a user writes."""
        rng = self.rng
        first, last = rng.choice(self.words["first_name"]), self.word("surname")
        amount = f"{rng.randrange(1_000, 99_999):,}.{rng.randrange(100):02}"
        date = f"{rng.randrange(1, 13):02}/{rng.randrange(1, 29):02}"
        return {
            "first": first,
            "last": last,
            "other": rng.choice(self.words["first_name"]),
            "place": self.word("place"),
            "org": self.word("organization"),
            "age": self.digits(2),
            "digit": self.digits(1),
            "amount": amount,
            "date": f"{date}/{rng.randrange(1940, 2026)}",
            "year": str(rng.randrange(1990, 2026)),
            "count": self.digits(4) if rng.random() < 0.5 else self.digits(5),
            "mail": f"{first}.{last}@mail.example".lower(),
            "phone": f"{self.digits(3)}-{self.digits(3)}-{self.digits(4)}",
            "card": "-".join(self.digits(4) for _ in range(4)),
            "code": f"KX{self.digits(5)}",
            "clock": f"{rng.randrange(10, 24)}:{rng.randrange(10, 60)}",
        }

    def background(self) -> str:
        """A sentence that has nothing to do with the prompt."""
        rng = self.rng
        while True:
            text = rng.choice(BACKGROUND)
            has_names = any(f"{{{x}}}" in text for x in "psftc")
            if not has_names or rng.randrange(ONCE_IN) == 0:
                break
        fills: dict[str, Callable[[], str]] = {
            "{n1}": lambda: self.digits(1),
            "{n2}": lambda: self.digits(2),
            "{n3}": lambda: self.digits(3),
            "{y}": lambda: str(rng.randrange(1990, 2026)),
            "{p}": lambda: self.word("place"),
            "{s}": lambda: self.word("surname"),
            "{t}": lambda: self.word("surname"),
            "{f}": lambda: self.word("first_name"),
            "{c}": lambda: self.word("organization").lower(),
            "{l}": lambda: rng.choice("BCDEFG"),
            "{m}": lambda: rng.choice(MONTHS),
            "{d}": lambda: str(rng.randrange(1, 29)),
        }
        for mark, fill in fills.items():
            while mark in text:
                text = text.replace(mark, fill(), 1)
        return text

    def answer(
        self, prompt: str, values: dict[str, str], sent: dict[str, str]
    ) -> Iterator[tuple[str, str, str, bool]]:
        """Sentences as the model writes them, as they are right, and if meant.

        There are two right ones: the second has dates as the user wrote them.
        """
        asked = {name for name in values if f"{{{name}}}" in prompt}
        more = {"LAST": "last", "plain": "amount", "whole": "amount"}
        more |= {"family": "last", "end": "card", "dots": "phone", "begin": "date"}
        more |= dict.fromkeys(DATES, "date") | {"commas": "count", "points": "amount"}
        fits = [
            text
            for text in MEANT
            if {more.get(n, n) for n in _names(text)} <= asked and _names(text)
        ]
        for _ in range(self.rng.randrange(3, 8)):
            if fits and self.rng.random() < 0.5:
                text = self.rng.choice(fits)
                right = _fill(text, values)
                as_written = _fill(text, values, dates=dict.fromkeys(DATES, "{date}"))
                yield _fill(text, sent), right, as_written, True
            else:
                text = self.background()
                yield text, text, text, False


def _names(text: str) -> set[str]:
    return {part.partition("}")[0] for part in text.split("{")[1:]}


DATES = {
    "words": "{name} {day}, {year}",
    "days": "{day} {name} {year}",
    "day": "{name} {day}",
    "month": "{name} {year}",
    "iso": "{year}-{m:02}-{day:02}",
    "bare": "{m}/{day}/{year}",
    "nth": "{nth} of {name} {year}",
}
"""A date as a model writes it, whose first part is the month."""


def _fill(
    text: str, values: dict[str, str], dates: dict[str, str] | None = None
) -> str:
    month, day, year = values["date"].split("/")
    parts = {"m": int(month), "day": int(day), "year": year, "date": values["date"]}
    parts |= {"name": MONTHS[int(month) - 1], "nth": _nth(int(day))}
    return text.format(
        **values,
        LAST=values["last"].upper(),
        family=values["last"] + ("es" if SIBILANT.search(values["last"]) else "s"),
        plain=values["amount"].replace(",", ""),
        whole=values["amount"].partition(".")[0],
        end=values["card"][-4:],
        dots=values["phone"].replace("-", "."),
        begin=values["date"][-4:],
        commas=f"{int(values['count']):,}",
        points=values["amount"].translate(str.maketrans(",.", ".,")),
        **{name: form.format(**parts) for name, form in (dates or DATES).items()},
    )


def _nth(day: int) -> str:
    ending = {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")
    return f"{day}{'th' if 10 < day < 14 else ending}"


def sent_values(prompt: str, values: dict[str, str], hidden: str) -> dict[str, str]:
    """Read the surrogates of the values out of the hidden prompt, part by part."""
    found, start = dict(values), 0
    mine, theirs = (
        tokenize([each]).parts[0] or [] for each in (_said(prompt, values), hidden)
    )
    ends = list(itertools.accumulate(map(len, mine)))
    pieces = prompt.replace("}", "{").split("{")
    for i, piece in enumerate(pieces):
        if i % 2 == 0:
            start += len(piece)
            continue
        end = start + len(values[piece])
        inside = [k for k, e in enumerate(ends) if start < e <= end]
        inside = [k for k in inside if ends[k] - len(mine[k]) >= start]
        found[piece] = "".join(theirs[inside[0] : inside[-1] + 1])
        start = end
    return found


def _said(prompt: str, values: dict[str, str]) -> str:
    return prompt.format(**values)


def words(text: str) -> list[str]:
    return tokenize([text]).words()


def _flat(
    rows: list[tuple[str, str, str, bool]], shown: list[str]
) -> Iterator[tuple[str, str, bool, str]]:
    """Set the words of answers beside the right ones and those that were shown."""
    lines = [
        (told, right, as_written, is_meant)
        for *texts, is_meant in rows
        for told, right, as_written in zip(
            *(text.split("\n") for text in texts), strict=True
        )
    ]
    for (told, right, as_written, is_meant), found in zip(lines, shown, strict=True):
        best = as_written if found == as_written else right
        each = (words(told), words(best), words(found))
        if len({len(every) for every in each}) > 1:  # all of the line counts
            best = found if found == best else ""
            yield told, best or right, is_meant, found
            continue
        for given, true, seen in zip(*each, strict=True):
            yield given, true, is_meant, seen


def restorations(answers: int, seed: int, *, verbose: bool = False) -> dict[str, Any]:
    """Count words of answers that are restored rightly, wrongly, or not."""
    writer, counts = Writer(seed), Counter[str]()
    examples: Counter[str] = Counter()
    while counts["answers"] < answers:
        prompt, values = writer.rng.choice(PROMPTS), writer.values()
        with mg.conversation() as c:
            hidden = c.hide(_said(prompt, values))
            sent = sent_values(prompt, values, hidden)
            if c.restore(hidden) != _said(prompt, values):
                counts["prompts that do not come back"] += 1
            rows = list(writer.answer(prompt, values, sent))
            shown = c.restore("\n".join(row[0] for row in rows)).split("\n")
        counts["answers"] += 1
        has_wrong = False
        for given, right, is_meant, found in _flat(rows, shown):
            counts["words"] += 1
            counts["meant"] += is_meant and given != right
            counts["restored"] += found != given
            is_missed = is_meant and given != right and found == given
            is_wrong = found not in (given, right)
            counts["missed"] += is_missed
            counts["wrong"] += is_wrong
            has_wrong |= is_wrong
            if is_missed or is_wrong:
                kind = "digits" if given.isdigit() else "words"
                examples[f"{'missed' if is_missed else 'wrong'} {kind}"] += 1
                if verbose:
                    print(prompt, "|", given, "|", right, "|", found)
        counts["answers with a wrong word"] += has_wrong
    return {
        **counts,
        "wrong of restored": counts["wrong"] / counts["restored"],
        "missed of meant": counts["missed"] / counts["meant"],
        "by form": dict(examples),
    }


def _echo() -> Starlette:
    async def answer(request: Request) -> Response:
        said = (await request.json())["messages"][-1]["content"]
        message = {"role": "assistant", "content": said}
        return JSONResponse({"choices": [{"index": 0, "message": message}]})

    return Starlette(routes=[Route("/v1/chat/completions", answer, methods=["POST"])])


def _plain(upstream: str) -> Starlette:
    client = httpx.AsyncClient(trust_env=False)

    async def forward(request: Request) -> Response:
        body, head = await request.body(), {"content-type": "application/json"}
        found = await client.post(
            f"{upstream}/chat/completions", content=body, headers=head
        )
        return Response(found.content, media_type="application/json")

    return Starlette(routes=[Route("/v1/chat/completions", forward, methods=["POST"])])


def _serve(kind: str, port: int, upstream: str) -> None:
    if kind == "echo":
        app = _echo()
    elif kind == "plain":
        app = _plain(upstream)
    else:
        app = create_proxy(ProxySettings(ConversationGuard(), Upstream(upstream)))
    uvicorn.run(app, port=port, log_level="critical")


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def latency(requests: int, seed: int) -> dict[str, Any]:
    """Time one client through both proxies, in turn."""
    context = multiprocessing.get_context("spawn")
    ports = {kind: _free_port() for kind in ("echo", "plain", "restore")}
    urls = {kind: f"http://127.0.0.1:{port}/v1" for kind, port in ports.items()}
    workers = [
        context.Process(target=_serve, args=(kind, port, urls["echo"]), daemon=True)
        for kind, port in ports.items()
    ]
    for each in workers:
        each.start()
    writer = Writer(seed)
    numbers = {kind: w.pid for kind, w in zip(ports, workers, strict=True)}
    times: dict[str, list[float]] = {"plain": [], "restore": []}
    try:
        with httpx.Client(trust_env=False, timeout=60) as client:
            for kind in ports:
                _wait(client, urls[kind])
            before = {kind: _cpu(numbers[kind]) for kind in times}
            for _ in range(requests):
                prompts = writer.rng.choices(PROMPTS, k=4)
                text = " ".join(each.format(**writer.values()) for each in prompts)
                body = {"messages": [{"role": "user", "content": text}]}
                for kind, found in times.items():
                    begin = time.perf_counter()
                    answer = client.post(f"{urls[kind]}/chat/completions", json=body)
                    found.append(1000 * (time.perf_counter() - begin))
                    said = answer.json()["choices"][0]["message"]["content"]
                    if kind == "plain" and said != text:
                        raise RuntimeError("the plain proxy does not forward")
            spent = {kind: _cpu(numbers[kind]) - before[kind] for kind in times}
    finally:
        for each in workers:
            each.terminate()
            each.join()
    return {
        kind: {
            "p50, ms": statistics.median(found),
            "p99, ms": statistics.quantiles(found, n=100)[-1],
            "processor, ms": 1000 * spent[kind] / requests,
        }
        for kind, found in times.items()
    } | {"requests": requests}


def _cpu(process: int | None) -> float:
    """Seconds of the processor that a process has used, which others do not change."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _wait(client: httpx.Client, url: str, seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    body = {"messages": [{"role": "user", "content": "Hello."}]}
    while time.monotonic() < end:
        try:
            if client.post(f"{url}/chat/completions", json=body).is_success:
                return
        except httpx.TransportError:
            time.sleep(0.05)
    raise TimeoutError(url)


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--answers", type=int, default=10_000)
    parser.add_argument("--requests", type=int, default=300)
    parser.add_argument("--seed", type=int, default=3)
    parser.add_argument("--verbose", action="store_true", help="show what went wrong")
    parser.add_argument("--dry", action="store_true", help="write no results")
    given = parser.parse_args()
    found = {
        "seed": given.seed,
        "restorations": restorations(given.answers, given.seed, verbose=given.verbose),
        "latency": latency(given.requests, given.seed),
    }
    print(json.dumps(found, indent=1))
    if not given.dry:
        machine.save("restoring", found)


if __name__ == "__main__":
    main()
