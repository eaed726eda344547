"""What a language model of the private texts themselves carries into a release.

    python -m benchmarks private_language

Film reviews that were used for nothing else are privatized by the default mechanism and
read with three models: the embedded one, one of other film reviews, and, against every
advice, one of the very reviews. Counts words that come back, and phrases of six words
that occur in one of these reviews alone, and in none of the others, that come out word
for word. Writes benchmarks/results/private_language.json and the table of
docs/how-to/language-models.md.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np
import pyarrow.parquet as pq

import mondegreen as mg
from benchmarks import machine
from mondegreen.decode.channel import load_channel
from mondegreen.decode.decoder import CANDIDATES, Decoder
from mondegreen.decode.released import Released
from mondegreen.language.build import build_language, read_words
from mondegreen.language.store import load_language

EPSILON = 10.0
TEXTS = 400
LENGTH = 6


def reviews(split: str) -> list[str]:
    """The film reviews of a split."""
    table = pq.read_table(machine.SHARED / "imdb.parquet", columns=["text", "split"])
    pairs = zip(*(table[name].to_pylist() for name in ("text", "split")), strict=True)
    return [text for text, where in pairs if where == split]


def phrases(ids, ends, unknown: int) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Where each phrase of known words inside a sentence starts, and its words."""
    words, stops = ids.tolist(), np.cumsum(ends).tolist()
    for start in range(len(words) - LENGTH + 1):
        phrase = tuple(words[start : start + LENGTH])
        last = stops[start + LENGTH - 2]  # no sentence ends before the last word
        begun = stops[start - 1] if start else 0
        if last == begun and unknown not in phrase:
            yield start, phrase


def main() -> None:
    """Privatize, read, count, and write."""
    space = mg.load_space()
    private, other = reviews("test")[:TEXTS], reviews("train")
    models = {
        "public": load_language(),
        "kind": build_language([other], space),
        "private": build_language([private], space),
        "private, 3 or more": build_language([private], space, least=3),
    }
    ids, ends = read_words([private], space)
    elsewhere = {p for _, p in phrases(*read_words([other], space), space.vocab_size)}
    counts = Counter(p for _, p in phrases(ids, ends, space.vocab_size))
    own = [
        (start, phrase)
        for start, phrase in phrases(ids, ends, space.vocab_size)
        if counts[phrase] == 1 and phrase not in elsewhere
    ]
    state = mg.mechanism("tree", epsilon=EPSILON).prepare(space)
    released = Released(state.sample(ids, np.random.default_rng(0)), np.array(ends))
    rows = {}
    for name, model in models.items():
        decoder = Decoder(load_channel(state, model, CANDIDATES), model)
        read = decoder.sentence(released)
        printed = read.tolist()
        found = sum(tuple(printed[s : s + LENGTH]) == phrase for s, phrase in own)
        rows[name] = {
            "words_recovered": float(np.mean(read == ids)),
            "phrases_printed": found,
        }
    result = {"epsilon": EPSILON, "texts": TEXTS, "words": len(ids)}
    machine.save("private_language", {**result, "phrases": len(own), "models": rows})


if __name__ == "__main__":
    main()
