"""Count rows of good and of spoiled releases: raw rows, swapped rows, and the time.

Each set has texts, a release that masks sensitive words, and releases of two policies.
Of the good ones no row should be counted. Then 20 pairs of rows are swapped, and 40
rows are made raw, one at a time. ``docs/how-to/check-your-redactor.md`` and
``docs/how-to/attack-a-release.md`` have the results.
"""

from __future__ import annotations

import random
import resource
import time
from collections.abc import Sequence
from typing import Final

import pyarrow.parquet as pq

from benchmarks import machine
from mondegreen.attacks.any_tool.linkage import DisplacedRows
from mondegreen.attacks.any_tool.rows import Given, read_rows
from mondegreen.attacks.printed import PolicyRows
from mondegreen.attacks.sensitive import is_counted
from mondegreen.policy.lookup import PolicyLookup
from mondegreen.policy.policy import load_policy
from mondegreen.privatizer.build import build_privatizer
from mondegreen.settings import Settings
from mondegreen.text.tokenizer import tokenize

SETS: Final = {
    "sms_spam": 800,
    "ag_news": 800,
    "imdb": 200,
    "mpqa": 800,
    "insuranceqa_questions": 800,
    "disaster_tweets": 800,
}
"""Sets, and how many of their first texts are read."""

POLICIES: Final = {"sensitive": 12.0, "names": 12.0, "sensitive at 2": 2.0, "all": 10.0}
PAIRS: Final = 20
RAW: Final = 40
ROWS, WORDS = 100_000, 50


def read_texts(name: str) -> list[str]:
    """Read the first texts of a set."""
    table = pq.read_table(machine.SHARED / f"{name}.parquet", columns=["text"])
    texts: list[str] = table.column("text").to_pylist()[: SETS[name]]
    return texts


def mask(texts: Sequence[str]) -> list[str]:
    """Mask every word that counts as sensitive."""
    batch = tokenize(texts)
    marks = iter(is_counted(batch).tolist())
    return [
        "".join(
            "[X]" if i % 2 and next(marks) else part
            for i, part in enumerate(parts or ())
        )
        for parts in batch.parts
    ]


def count_displaced(texts: Sequence[str], released: Sequence[str]) -> int:
    """Count the rows that belong to the original of another row."""
    rows = DisplacedRows()
    pairs = enumerate(zip(texts, released, strict=True), start=1)
    for row in read_rows(Given(number, *pair) for number, pair in pairs):
        rows.add(row)
    return int(rows.attack().value or 0)


def read_rows_of(
    policy: str, texts: Sequence[str], released: Sequence[str]
) -> PolicyRows:
    """Read all rows of a release under a policy."""
    rows = PolicyRows(PolicyLookup(load_policy(policy)))
    rows.add(range(1, len(texts) + 1), texts, released)
    return rows


def measure_set(name: str) -> dict[str, object]:
    """Count rows of good and of spoiled releases of one set."""
    texts, rng = read_texts(name), random.Random(1)
    releases = {"masks": mask(texts)}
    for label, epsilon in POLICIES.items():
        settings = Settings(policy=label.split()[0], epsilon=epsilon)
        made = build_privatizer(settings).batch(texts)
        releases[label] = [each.text for each in made]
    swapped = rng.sample(range(len(texts)), 2 * PAIRS)
    displaced = {}
    for label, released in releases.items():
        spoiled = [*released]
        for i, j in zip(swapped[::2], swapped[1::2], strict=True):
            spoiled[i], spoiled[j] = released[j], released[i]
        good, bad = (count_displaced(texts, each) for each in (released, spoiled))
        displaced[label] = {"good": good, "swapped": bad}
    unchanged = {}
    for label in ("sensitive", "names"):
        rows = read_rows_of(label, texts, releases[label])
        attack = rows.make_attack()
        found = 0
        policy = load_policy(label)
        codes = PolicyLookup(policy).codes(batch := tokenize(texts)).tolist()
        ends = [0]
        for count in batch.counts():
            ends.append(ends[-1] + count)
        hidden = [
            i
            for i in range(len(texts))
            if any(
                code >= len(policy.ordinary) for code in codes[ends[i] : ends[i + 1]]
            )
        ]
        chosen = rng.sample(hidden, RAW)
        for row in chosen:
            spoiled = [*releases[label]]
            spoiled[row] = texts[row]
            one = read_rows_of(label, texts, spoiled)
            found += one.make_attack().value != 0 or not one.looks_drawn
        unchanged[label] = {
            "good": attack.value,
            "stay": attack.details["found"],
            "expected": attack.details["expected"],
            "foreign": rows.foreign,
            "raw_rows_found": found,
        }
    return {"texts": len(texts), "displaced": displaced, "unchanged": unchanged}


def measure_time() -> dict[str, float]:
    """Read 100,000 rows of 50 words beside themselves: seconds of one core."""
    words = " ".join(read_texts("imdb")).split()
    texts = [
        " ".join(words[start : start + WORDS])
        for start in random.Random(0).choices(range(len(words) - WORDS), k=ROWS)
    ]
    rows = PolicyRows(PolicyLookup(load_policy("sensitive")))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.process_time()
    for first in range(0, ROWS, 1024):
        some = texts[first : first + 1024]
        rows.add(range(first + 1, first + len(some) + 1), some, some)
    seconds = time.process_time() - start
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    megabytes = (after - before) / 1024
    return {"rows": ROWS, "words": WORDS, "seconds": seconds, "megabytes": megabytes}


def main() -> None:
    """Measure, and write."""
    speed = measure_time()
    found = {name: measure_set(name) for name in SETS}
    result = {"pairs": PAIRS, "raw": RAW, "speed": speed, "sets": found}
    machine.save("attack_rows", result)


if __name__ == "__main__":
    main()
