"""Load the service with 64 clients for a minute, then stop it in the middle of that.

Counts of what must not happen: a text in clear, two releases with equal noise, a
request that is lost without an error. Beside it, on the same texts in the same run,
Presidio's analyser with recognizers of patterns and its anonymizer, behind the same
kind of application; that one lets all words outside the spans that it finds pass.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import functools
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

from benchmarks import machine
from benchmarks.measure.service_clients import Found, Load, load

CHARACTERS = 400
TEXTS = 200
EPSILON = 10
LAW = ["--policy", "all", "--epsilon", str(EPSILON)]
SERVE = ["-m", "mondegreen", "serve", *LAW, "--quiet"]
PRESIDIO = ["-m", "benchmarks.measure.service_presidio"]
SERVICES = {
    "mondegreen": SERVE,
    "mondegreen, sentences read": [*SERVE, "--read", "sentence"],
    "mondegreen, two workers": [*SERVE, "--workers", "2"],
    "Presidio, patterns": PRESIDIO,
}


def texts() -> list[str]:
    """The beginnings of some reviews, each with a word that nothing else has."""
    path = machine.SHARED / "imdb.parquet"
    if path.exists():
        import pyarrow.parquet as pq

        found = pq.read_table(path, columns=["text"])["text"].to_pylist()[:TEXTS]
    else:
        lines = (machine.ROOT / "examples" / "reviews.txt").read_text().splitlines()
        found = [" ".join(lines[i % len(lines) :] + lines) for i in range(TEXTS)]
    return [f"{canary(i)} {text[:CHARACTERS]}" for i, text in enumerate(found)]


def canary(number: int) -> str:
    """A word that is in no vocabulary."""
    return f"zyx{number}woldemorth"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextlib.contextmanager
def running(command: list[str]) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """Start a service, and wait until it answers."""
    port = free_port()
    serves = "mondegreen" in command
    where = ["--port", str(port)] if serves else [str(port)]
    process = subprocess.Popen([sys.executable, *command, *where])
    try:
        for _ in range(1200):
            with contextlib.suppress(OSError):
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            assert process.poll() is None, "the service did not start"
            time.sleep(0.1)
        yield process, port
    finally:
        process.kill()
        process.wait()


def measured(
    names: list[str], clients: int, seconds: float, rounds: int
) -> dict[str, Any]:
    """Load services in turn, then stop each under load; say what became of it all.

    In turn, because other work on the machine comes and goes.
    """
    sent = texts()
    with contextlib.ExitStack() as stack:
        started = [stack.enter_context(running(SERVICES[name])) for name in names]
        loads = [Load(port, sent) for _, port in started]
        for work in loads:
            asyncio.run(load(work, 4, min(seconds, 3)))  # not counted: it is warm then
            assert work.found.ends["200"], work.found.ends
            work.found = Found()
        load_averages = []
        for number in range(rounds):
            for work, (process, _) in zip(loads, started, strict=True):
                is_last = number == rounds - 1
                stop = functools.partial(process.send_signal, signal.SIGTERM)
                each = seconds / rounds
                asyncio.run(load(work, clients, each, stop if is_last else None))
                load_averages.append(round(os.getloadavg()[0], 1))
        codes = [process.wait(90) for process, _ in started]
    pairs = zip(loads, codes, strict=True)
    told = [{**summary(work.found, sent, seconds), "exit_code": c} for work, c in pairs]
    services = dict(zip(names, told, strict=True))
    return {"load_averages": load_averages, "services": services}


def shared_calls() -> dict[str, float]:
    """How long one text takes alone, and among 64 of one call, in microseconds."""
    import mondegreen as mg

    some, found = (texts() * 2)[:64], {}
    for read in ("none", "sentence"):
        law = mg.mechanism("tree", epsilon=float(EPSILON))
        privatizer = mg.Privatizer(law, read=read)
        privatizer.texts(some, None, "text")
        for name, calls in {"alone": [[t] for t in some], "together": [some]}.items():
            started = time.perf_counter()
            for call in calls:
                privatizer.texts(call, None, "text")
            seconds = time.perf_counter() - started
            found[f"{read}, {name}"] = round(1e6 * seconds / len(some))
    return found


def summary(found: Found, sent: list[str], seconds: float) -> dict[str, Any]:
    """Count what must not happen, and how long answers took."""
    took = sorted(found.seconds)
    words = sum(len(sent[number].split()) for number, _ in found.releases)
    seen = [
        sum(a == b for a, b in zip(sent[n].split(), text.split(), strict=False))
        for n, text in found.releases
    ]
    clear = [canary(n) in text or text == sent[n] for n, text in found.releases]
    return {
        "requests": sum(found.ends.values()),
        "answered": len(found.releases),
        "requests_per_second": round(len(took) / seconds, 1),
        "words_per_second": round(words * len(took) / len(seen) / seconds),
        "p50_ms": round(1000 * took[len(took) // 2], 1),
        "p99_ms": round(1000 * took[int(0.99 * len(took))], 1),
        "texts_in_clear": sum(clear),
        "words_in_place_unchanged": round(sum(seen) / words, 3),
        "equal_releases": len(found.releases) - len(set(found.releases)),
        "lost_without_an_error": found.ends["lost without an error"],
        "ends": dict(found.ends),
        "after_the_signal": dict(found.after_stop),
    }


def main() -> None:
    """Load all services, and write the result file unless it is a short form."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--only", choices=SERVICES)
    parser.add_argument("--rounds", type=int, default=6)
    given = parser.parse_args()
    names = [given.only] if given.only else list(SERVICES)
    result = measured(names, given.clients, given.seconds, given.rounds)
    if given.only is not None:
        print(result)
        return
    sent = texts()
    words = sum(len(text.split()) for text in sent) / len(sent)
    about = {"clients": given.clients, "seconds": given.seconds, "epsilon": EPSILON}
    about |= {"texts": len(sent), "words_per_text": round(words, 1)}
    calls = shared_calls()
    machine.save("service_load", {**about, "microseconds_a_text": calls, **result})


if __name__ == "__main__":
    main()
