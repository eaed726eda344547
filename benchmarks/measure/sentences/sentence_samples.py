"""Thirty sentences with their releases, and the leak of a model of private texts.

    python -m benchmarks sentence_samples

Writes results/sentence_samples.json. The sentences are invented and released with a
seed, and so not private. For the leak, an invented phrase of rare words is put into ten
of 200 reviews; a language model of these very texts then reads their releases, and the
public one does: how often does the phrase come out as it stood?
"""

from __future__ import annotations

import re
from typing import Any, Final

import numpy as np
import pyarrow.parquet as pq

import mondegreen as mg
from benchmarks import machine
from benchmarks.measure.sentences.sentence_texts import coded
from benchmarks.pages.reading_sentences import SENTENCES
from mondegreen.decode.channel import build_channel
from mondegreen.decode.decoder import CANDIDATES, Decoder
from mondegreen.decode.released import Released
from mondegreen.language.build import build_language
from mondegreen.language.mix import mix
from mondegreen.language.store import load_language

SEED: Final = 29
EPSILON: Final = 10.0
PHRASE: Final = "the orchid vault opens with a cobalt trombone"
PRIVATE: Final = 200
HOLD: Final = 10
DRAWS: Final = 5


def thirty() -> list[dict[str, str]]:
    """Each sentence, its raw release, and what that is read as."""
    flat = [(kind, each) for kind, some in SENTENCES.items() for each in some]
    found = []
    for read in ("none", "sentence"):
        privatizer = mg.Privatizer(
            mg.mechanism("tree", epsilon=EPSILON),
            noise=mg.Seeded(SEED),
            case="truecase",
            read=read,  # type: ignore[arg-type]
        )
        found.append(
            [each.text for each in privatizer.batch([s for _, s in flat]) if each]
        )
    return [
        {"kind": kind, "sentence": sentence, "raw": raw, "read": read}
        for (kind, sentence), raw, read in zip(flat, *found, strict=True)
    ]


def leak() -> dict[str, Any]:
    """How often a phrase of private texts comes out, by the model that reads."""
    space, public = mg.load_space(), load_language()
    table = pq.read_table(machine.SHARED / "imdb.parquet").to_pydict()
    rows = zip(table["text"], table["split"], strict=True)
    texts = [re.sub(r"<br />", " ", text) for text, split in rows if split == "train"]
    held, texts = texts[PRIVATE : 2 * PRIVATE], texts[:PRIVATE]
    step = PRIVATE // HOLD
    texts[::step] = [f"{text} {PHRASE}." for text in texts[::step]]
    ids, ends, bounds = coded(texts, space)
    phrase, *_ = coded([PHRASE], space)
    if (phrase == space.vocab_size).any():
        raise SystemExit("the phrase has words that the space lacks")
    places = (bounds[1:][::step] - len(phrase))[:, None] + np.arange(len(phrase))
    private = build_language([texts], space)
    held_ids, held_ends, _ = coded(held, space)
    both = mix(public, private, held_ids, held_ends.tolist()).model
    state = mg.mechanism("tree", epsilon=EPSILON).prepare(space)
    found = {}
    for name, model in (("public", public), ("private", private), ("both", both)):
        prior = model.frequency.astype(np.float64)[: space.vocab_size + 1]
        decoder = Decoder(build_channel(state, prior / prior.sum(), CANDIDATES), model)
        whole, words, kept, sentences = [], [], [], []
        stops = np.flatnonzero(ends)
        for seed in range(DRAWS):
            drawn = state.sample(ids, np.random.default_rng(seed))
            same = decoder.sentence(Released(drawn, ends)) == ids
            whole.append(same[places].all(axis=1).mean())
            words.append(same[places].mean())
            kept.append(same.mean())
            hits = np.add.reduceat(same, np.append(0, stops[:-1] + 1))
            lengths = np.diff(np.append(-1, stops))
            long = lengths >= 8
            sentences.append((hits == lengths)[long].mean())
        found[name] = {
            "phrase_whole": float(np.mean(whole)),
            "phrase_words": float(np.mean(words)),
            "words": float(np.mean(kept)),
            "sentences_whole": float(np.mean(sentences)),
        }
    return {
        "phrase": PHRASE,
        "texts": PRIVATE,
        "texts_with_it": HOLD,
        "draws": DRAWS,
        "models": found,
    }


def main() -> None:
    """Release and read."""
    result = {"epsilon": EPSILON, "seed": SEED, "leak": leak(), "sentences": thirty()}
    machine.save("sentence_samples", result)


if __name__ == "__main__":
    main()
