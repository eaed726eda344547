"""Measure print forms: what is mended, what structure tells, and how quick they are.

- Of 100,000 words that the default mechanism draws for each kind of text: how many are
  pieces of contractions, are never printed, or get a capital as a name.
- Of 2,000 texts: how many can be told from all others by what a release keeps of their
  structure alone, and how often who has all originals and guesses by it is right.
- Words a second of printing, for each way to print.
"""

from __future__ import annotations

import statistics
import time
from collections import Counter
from collections.abc import Hashable

import numpy as np
import pyarrow.parquet as pq

import mondegreen as mg
from benchmarks import machine
from mondegreen.arrays import Ids
from mondegreen.text.detokenizer import Detokenizer
from mondegreen.text.lookup import Lookup
from mondegreen.text.never_printed import never_printed
from mondegreen.text.print_forms import MENDED, PrintForms
from mondegreen.text.tokenizer import TokenizedBatch, tokenize

TEXTS = {"reviews": "imdb", "news": "ag_news", "tweets": "disaster_tweets"}
LINKED = 2000
DRAWN = 100_000
EPSILON = 10.0
WAYS = [
    {"case": case, "structure": structure}
    for case in ("lower", "truecase")
    for structure in ("keep", "plain")
]


def texts_of(name: str) -> list[str]:
    """The last texts of a collection, each once."""
    table = pq.read_table(machine.SHARED / f"{TEXTS[name]}.parquet")
    column = "text" if "text" in table.column_names else table.column_names[0]
    return list(dict.fromkeys(filter(None, table[column].to_pylist())))[::-1]


def drawn_words(texts: list[str], state: object) -> tuple[TokenizedBatch, Ids]:
    """Texts of some 100,000 words, and what is drawn for them."""
    counts = np.cumsum(tokenize(texts).counts())
    some = tokenize(texts[: int(np.searchsorted(counts, DRAWN)) + 1])
    codes = Lookup(state.space).codes(some)
    return some, state.sample(codes, np.random.default_rng(14))


def mended(space: mg.Space, drawn: Ids) -> dict[str, float]:
    """Of 100,000 drawn words, how many print forms change, and how."""
    forms = PrintForms(space.words, truecase=True)
    words = [space.words[i] for i in drawn.tolist()]
    scale = DRAWN / len(words)
    printed = [forms.inside[i] for i in drawn.tolist()]
    names = (
        word != shown and word not in MENDED
        for word, shown in zip(words, printed, strict=True)
    )
    listed = never_printed()
    return {
        "pieces_of_contractions": round(scale * sum(map(MENDED.__contains__, words))),
        "never_printed": round(scale * sum(map(listed.__contains__, words))),
        "capitals_of_names": round(scale * sum(names)),
    }


def linkage(batch: TokenizedBatch) -> dict[str, dict[str, float]]:
    """Of texts, how many are alone with their structure, and how often guessing works.

    Who guesses takes one of the originals of that structure, each as likely.
    """
    kinds: dict[str, list[Hashable]] = {
        "keep": [tuple(parts[::2]) for parts in batch.parts if parts],
        "plain": list(batch.counts()),
    }
    found = {}
    for kind, structures in kinds.items():
        sizes = Counter(structures)
        alone = sum(size == 1 for size in sizes.values())
        found[kind] = {
            "alone": round(alone / len(structures), 4),
            "guess_is_right": round(len(sizes) / len(structures), 4),
        }
    return found


def speeds(space: mg.Space, batch: TokenizedBatch, drawn: Ids) -> dict[str, int]:
    """Words a second of printing, on one core; the median of nine, side by side."""
    printers = [Detokenizer(space.words, **way) for way in WAYS]
    seconds: list[list[float]] = [[] for _ in printers]
    for _ in range(9):
        for printer, taken in zip(printers, seconds, strict=True):
            start = time.perf_counter()
            printer.join(batch, drawn)
            taken.append(time.perf_counter() - start)
    return {
        " ".join(way.values()): round(len(drawn) / statistics.median(taken))
        for way, taken in zip(WAYS, seconds, strict=True)
    }


def main() -> None:
    """Measure everything and write the result file."""
    space = mg.load_space()
    state = mg.mechanism("tree", epsilon=EPSILON).prepare(space)
    result: dict[str, object] = {}
    for name in TEXTS:
        texts = texts_of(name)
        batch, drawn = drawn_words(texts, state)
        result[name] = {
            "of_100_000_words": mended(space, drawn),
            "structure_of_2_000_texts": linkage(tokenize(texts[:LINKED])),
            "printed_words_per_second": speeds(space, batch, drawn),
        }
    machine.save("print_forms", result)


if __name__ == "__main__":
    main()
