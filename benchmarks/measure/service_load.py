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
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

from benchmarks import machine
from benchmarks.measure.service_clients import Found, load

CHARACTERS = 400
TEXTS = 200
EPSILON = 10
SERVE = ["-m", "mondegreen", "serve", "--epsilon", str(EPSILON), "--quiet"]
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


def measured(name: str, sent: list[str], clients: int, seconds: float) -> dict:
    """Load one service, stop it under load, and say what became of every request."""
    before = os.getloadavg()[0]
    with running(SERVICES[name]) as (process, port):
        warm = asyncio.run(load(port, sent, 4, min(seconds, 3), lambda: None))
        assert warm.ends["200"], warm.ends
        stop = lambda: process.send_signal(signal.SIGTERM)  # noqa: E731
        found = asyncio.run(load(port, sent, clients, seconds, stop))
        code = process.wait(90)
    return {
        **summary(found, sent, seconds),
        "exit_code": code,
        "load_before": round(before, 1),
        "load_after": round(os.getloadavg()[0], 1),
    }


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
    given = parser.parse_args()
    sent, result = texts(), {}
    for name in [given.only] if given.only else SERVICES:
        result[name] = measured(name, sent, given.clients, given.seconds)
        print(name, result[name], file=sys.stderr, flush=True)
    if given.only is None:
        words = sum(len(text.split()) for text in sent) / len(sent)
        asked = {"clients": given.clients, "seconds": given.seconds, "epsilon": EPSILON}
        about = {**asked, "texts": len(sent), "words_per_text": round(words, 1)}
        machine.save("service_load", {**about, "services": result})


if __name__ == "__main__":
    main()
