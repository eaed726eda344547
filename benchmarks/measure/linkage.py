"""Measure linkage: how often an attacker with all originals finds that of a release.

1,000 texts of each public collection are privatized with the default mechanism. The
attacker compares each release with all 1,000 originals: by the words that came out, by
their groups, or by what the release discloses anyway (``structure`` is punctuation,
white space and the number of words). ``mondegreen attack`` does the same.
"""

from __future__ import annotations

import numpy as np
import pyarrow.parquet as pq

import mondegreen as mg
from benchmarks import machine
from mondegreen.attacks.linkage import linkage
from mondegreen.attacks.pairs import build_pairs
from mondegreen.text.lookup import Lookup

TEXTS = {
    "insurance questions": "insuranceqa_questions",
    "product reviews": "cr",
    "tweets": "disaster_tweets",
    "news": "ag_news",
    "film reviews": "imdb",
}
LINKED = 1_000
EPSILON = 10.0


def texts_of(name: str) -> list[str]:
    """Draw distinct texts of a collection that have words, the same ones each time."""
    found = pq.read_table(machine.SHARED / f"{TEXTS[name]}.parquet")["text"].to_pylist()
    texts = sorted({text for text in found if text and text.split()})
    chosen = np.random.default_rng(22).permutation(len(texts))[:LINKED]
    return [texts[i] for i in chosen.tolist()]


def row(name: str, structure: str) -> dict[str, object]:
    """Release the texts of a collection and link them."""
    law = mg.mechanism("tree", epsilon=EPSILON)
    noise = mg.KeyedNoise(bytes(range(32)))  # the same release each time
    private = mg.Privatizer(law, structure=structure, noise=noise)
    texts = texts_of(name)
    released = private.batch(texts, list(range(len(texts))))
    pairs = build_pairs(texts, Lookup(private.space), [each.text for each in released])
    found = linkage(private.state, pairs).details["by"]
    shares = {each["by"]: round(each["value"], 4) for each in found}
    words = round(len(pairs.inputs) / pairs.texts, 1)
    return {
        "collection": name,
        "structure": structure,
        "texts": pairs.texts,
        "words_per_text": words,
        "linked": shares,
    }


def main() -> None:
    """Link, and write."""
    ways = [("keep", name) for name in TEXTS] + [("plain", name) for name in TEXTS]
    rows = []
    for structure, name in ways:
        rows.append(row(name, structure))
        print(rows[-1], flush=True)
    found = {"epsilon": EPSILON, "originals": LINKED, "rows": rows}
    machine.save("linkage", found)


if __name__ == "__main__":
    main()
