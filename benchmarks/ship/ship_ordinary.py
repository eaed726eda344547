"""Write the words of ordinary text that settings are previewed on.

From the openly licensed English of ``public_text`` (see NOTICE): how often each word
stands in it, thinned to 1,000 running words. Systematic sampling takes every n-th of
the running words, sorted by frequency, so that each part of the distribution has its
share. Words that stand there fewer than 100 times are left out, since they may name
people: they are the words that mechanisms change most.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pyarrow.parquet as pq

from benchmarks import machine
from mondegreen.scores.preview import ORDINARY_WORDS
from mondegreen.text.tokenizer import canonical, tokenize

RUNNING = 1_000
RAREST = 100


def counted(folder: Path) -> Counter[str]:
    """How often each word stands in the texts."""
    counts: Counter[str] = Counter()
    for path in sorted(folder.glob("*.parquet")):
        for batch in pq.ParquetFile(path).iter_batches(4096):
            counts.update(tokenize(batch.column("text").to_pylist()).words())
    plain: Counter[str] = Counter()
    for word, count in counts.items():
        plain[canonical(word)] += count
    return plain


def thinned(counts: Counter[str]) -> list[tuple[str, int]]:
    """Words and how many of the running words each has."""
    kept = [(word, n) for word, n in counts.items() if n >= RAREST and word.isalpha()]
    kept.sort(key=lambda pair: (-pair[1], pair[0]))
    step = sum(n for _, n in kept) / RUNNING
    found, passed, taken = [], 0, 0
    for word, n in kept:
        passed += n
        share = int(passed / step + 0.5) - taken
        if share:
            found.append((word, share))
            taken += share
    return found


def main() -> None:
    """Write the file."""
    words = thinned(counted(machine.SHARED / "public_text"))
    lines = [f"{word} {share}" for word, share in words]
    ORDINARY_WORDS.write_text("\n".join(lines) + "\n", encoding="utf-8")
    running = sum(n for _, n in words)
    print(f"{len(words)} words, {running} running words: {ORDINARY_WORDS.name}")


if __name__ == "__main__":
    main()
