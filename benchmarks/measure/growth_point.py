"""Measure one mechanism on one space, in a process of its own; see growth.py.

``python growth_point.py JOB.json`` writes what it finds into the file that the job
names.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

SIZES = (1, 10, 100, 1_000, 10_000, 100_000)
"""Words of a batch."""
LENGTHS = (1, 10, 100, 1_000, 10_000)
"""Words of a text."""
_TEXT_WORDS = 50_000
_BATCH_SECONDS = 0.1
_REVIEW_WORDS = 230
_STARTING = 8
"""Batches that are handed out while workers start, at most."""
_JOB_SECONDS = 5.0


def main() -> None:
    """Read the job, do it, write what was found."""
    job = json.loads(Path(sys.argv[1]).read_text())
    Path(job["out"]).write_text(json.dumps(find(job)))


def find(job: dict) -> dict:
    """Prepare, check, and time.

    ``detailed`` adds batch sizes and lengths, or, with one thread, processes.
    """
    from mondegreen import Privatizer, load_space, mechanism

    space = load_space(*([Path(job["space"])] if job["space"] else []))
    chosen = mechanism(job["mechanism"], **job["parameters"])
    start = time.perf_counter()
    privatizer = Privatizer(chosen, space, allow_unproved=not chosen.is_private)
    state = privatizer.state
    prepared = time.perf_counter() - start

    import numpy as np

    from benchmarks.measure import rates

    state.sample(np.zeros(1, dtype=np.int32), rates.generator())
    found = {"first_word_seconds": time.monotonic() - job["started"]}
    found["prepare_seconds"] = prepared
    reviews = rates.texts()
    ids = rates.tokens(space, reviews)
    if space.metric != "euclidean" or len(ids) < 1_000:
        ids = np.random.default_rng(0).integers(0, space.vocab_size, 50_000)
        ids = ids.astype(np.int32)
    found |= rates.check(state, ids)
    seconds = job["seconds"]
    if prepared < seconds * 5:  # else preparing anew takes too long
        fresh = chosen.prepare(space)
        found["cold_words_per_second"] = rates.cold_rate(fresh, ids)
    if space.metric == "euclidean":
        alone = rates.search_alone(space, ids, seconds / 2)
        found["search_alone_per_second"] = alone
    found["words_per_second"] = rates.warm_rate(state, ids, seconds)
    if job["detailed"] == "1":
        found["jobs"] = job_rates(privatizer, reviews, found["words_per_second"])
    elif job["detailed"]:
        found |= details(privatizer, ids, reviews, seconds)
    return found


def details(
    privatizer: object, ids: object, reviews: list[str], seconds: float
) -> dict:
    """Rates by words of a batch, and by words of a text."""
    from benchmarks.measure import rates

    state, rng = privatizer.state, rates.generator()
    found = {"batch": {}, "length": {}}
    for size in SIZES:
        batches = rates.batches_of(ids, size)
        call = lambda b: state.sample(b, rng)  # noqa: E731
        found["batch"][size] = rates.rate(call, batches, seconds / 2)[0]
    words = " ".join(reviews).split()
    for length in LENGTHS:
        count = max(1, _TEXT_WORDS // length)
        texts = [
            " ".join(words[start : start + length])
            for start in range(0, count * length, length)
        ]
        found["length"][length] = rates.text_rate(privatizer, texts, seconds)
    return found


def job_rates(privatizer: object, reviews: list[str], rate: float) -> dict[int, float]:
    """Words a second of one process, and of two on the same batches.

    A batch is about a tenth of a second of work. The first ones pass while workers
    start; then as many are counted as one process does in some seconds.
    """
    import pyarrow as pa

    rows = int(min(max(rate * _BATCH_SECONDS / _REVIEW_WORDS, 1), 100))
    tables = [
        pa.record_batch({"text": reviews[first : first + rows]})
        for first in range(0, len(reviews), rows)
    ]
    found, count = {}, sys.maxsize
    for jobs in (1, 2):
        words, count, spent = _released(privatizer, tables, jobs, count)
        found[jobs] = words / spent
    return found


def _released(
    privatizer: object, tables: list, jobs: int, most: int
) -> tuple[int, int, float]:
    """Words, batches and seconds, of so many batches or until time is over."""
    import itertools

    from mondegreen.privatizer.parallel import privatize_batches

    released = privatize_batches(
        privatizer, itertools.cycle(tables), ["text"], jobs=jobs
    )
    for _ in range(_STARTING):
        next(released)
    words, start = 0, time.perf_counter()
    for count, (_, more) in enumerate(released, start=1):
        words += more
        spent = time.perf_counter() - start
        if count == most or (most == sys.maxsize and spent > _JOB_SECONDS):
            break
    released.close()
    return words, count, spent


if __name__ == "__main__":
    main()
