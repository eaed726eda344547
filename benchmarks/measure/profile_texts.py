"""Where the time goes when texts are privatized; write profile.json.

Run by hand (a minute): ``python -m benchmarks profile_texts``. One thread, real
reviews, the second pass over them. The sections of the way of the data are timed by
clocks around them; inside the mechanism, where calls are few and long, a profiler says
which functions take the time themselves.
"""

from __future__ import annotations

import os

os.environ["OMP_NUM_THREADS"] = "1"

import contextlib
import cProfile
import pstats
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import faiss
import pyarrow as pa

import mondegreen as mg
from benchmarks import machine
from benchmarks.measure import rates
from mondegreen.privatizer import privatizer as module
from mondegreen.text.detokenizer import Detokenizer
from mondegreen.text.lookup import Lookup

MECHANISMS: Final = {"tem": 2.5, "laplace": 10.0}
REVIEWS: Final = {"tem": 1_000, "laplace": 100}
LISTED: Final = 5


def main() -> None:
    """Profile and store."""
    faiss.omp_set_num_threads(1)
    found = {name: profile(name, epsilon) for name, epsilon in MECHANISMS.items()}
    machine.save("profile", {"question": "where does the time go?", "profiles": found})


def profile(name: str, epsilon: float) -> dict[str, Any]:
    """Seconds by section, and the longest functions of the mechanism."""
    private = mg.Privatizer(mg.mechanism(name, epsilon=epsilon))
    reviews = pa.record_batch({"text": rates.texts(REVIEWS[name])})
    private.arrow(reviews)
    sections: dict[str, float] = {}
    with contextlib.ExitStack() as stack:
        for owner, attribute, label in (
            (module, "tokenize", "find the words"),
            (Lookup, "codes", "look them up"),
            (type(private.state), "sample", "the mechanism"),
            (Detokenizer, "join", "write the texts"),
        ):
            stack.enter_context(clocked(owner, attribute, label, sections))
        start = time.perf_counter()
        _, counts = private.arrow_with_count(reviews, ["text"])
        whole = time.perf_counter() - start
    words = int(counts.sum())
    sections["all else"] = whole - sum(sections.values())
    return {
        "epsilon": epsilon,
        "words": words,
        "words_per_second": words / whole,
        "sections": sections,
        "inside": inside(private, reviews["text"].to_pylist()),
    }


@contextlib.contextmanager
def clocked(
    owner: Any, attribute: str, label: str, sections: dict[str, float]
) -> Iterator[None]:
    """Put a clock around a function."""
    original = getattr(owner, attribute)

    def timed(*arguments: Any, **options: Any) -> Any:
        start = time.perf_counter()
        try:
            return original(*arguments, **options)
        finally:
            spent = time.perf_counter() - start
            sections[label] = sections.get(label, 0.0) + spent

    setattr(owner, attribute, timed)
    try:
        yield
    finally:
        setattr(owner, attribute, original)


def inside(private: mg.Privatizer, reviews: list[str]) -> list[dict[str, Any]]:
    """The functions that take most of the time of the mechanism themselves."""
    ids = rates.tokens(private.space, reviews)
    rng, profiler = rates.generator(), cProfile.Profile()
    profiler.runcall(private.state.sample, ids, rng)
    stats = pstats.Stats(profiler)
    total = sum(row[2] for row in stats.stats.values())
    rows = sorted(stats.stats.items(), key=lambda item: -item[1][2])[:LISTED]
    return [
        {"function": named(*key), "share": own / total, "calls": calls}
        for key, (_, calls, own, _, _) in rows
    ]


def named(path: str, line: int, function: str) -> str:
    """The name of a function and its file, not where that lies."""
    if path == "~":
        return function.strip("<>")
    return f"{function} ({Path(path).name})"


if __name__ == "__main__":
    main()
