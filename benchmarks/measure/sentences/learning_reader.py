"""What a reader gains who learns from the release itself, and from a weight.

    python -m benchmarks learning_reader [--only news] [--weights]

The first test texts or, for ``all``, all of them and those that releases to train on
are drawn from, are released together by the default tree. The model, the embedded one
or one of the kind, learns from all released words (`mondegreen.decode.adapt`). Guessed
and read are test texts, by the model as it was and as it became. ``--weights`` reads
test texts with the score ln P(y | x) + w ln Q(x). Writes results/learning_reader.json,
row by row.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
import time
from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from benchmarks import machine
from benchmarks.measure.sentences.sentence_judges import by_text
from benchmarks.measure.sentences.sentence_texts import SETS, Corpus
from benchmarks.measure.sentences.sentences import BEAM, DEFAULT, SEED, Bench, rounded
from mondegreen.decode.adapt import Adapter
from mondegreen.decode.channel import build_channel
from mondegreen.decode.decoder import CANDIDATES, Decoder
from mondegreen.decode.released import Released
from mondegreen.language.ngrams import NGrams
from mondegreen.mechanisms.channel import Channel

RESULT = machine.RESULTS / "learning_reader.json"
MODELS: Final = ("embedded", "kind")
SIZES: Final = ("1000", "100", "all")
MOST_WORDS: Final = 80_000
"""Of a release that is not all there is: 1,000 reviews have more."""
WEIGHTS: Final = ("0.85", "1.15", "1.3")


def learned(bench: Bench, name: str, base: str, size: str) -> dict[str, Any]:
    """One release, read before and after something was learned from it."""
    data = bench.data(name)
    within = int(np.searchsorted(data.test.bounds, MOST_WORDS, side="right")) - 1
    texts = data.test if size == "all" else data.test.first(min(int(size), within))
    more = [data.to_release] if size == "all" else []
    state = bench.state(name, DEFAULT, 10.0)
    rng = np.random.default_rng(SEED)
    drawn = [state.sample(each.ids, rng) for each in (texts, *more)]
    ends = np.concatenate([each.ends for each in (texts, *more)])
    language = bench.embedded if base == "embedded" else data.model
    adapter = Adapter(state, language)
    found = adapter.adapt(Released(np.concatenate(drawn), ends))
    row: dict[str, Any] = {
        "texts": len(texts.labels) + sum(len(each.labels) for each in more),
        "words": len(ends),
        "weight": found.weight,
        "likelihoods": list(found.likelihoods),
    }
    some = texts.first(min(data.plan.read, len(texts.labels)))
    for when, model in (("before", language), ("after", found.model)):
        channel = adapter.channel(model)
        row[when] = guessed(channel, model, drawn[0], some, bench.space.vocab_size)
        if size == "all":
            read = Decoder(channel, model).sentence(Released(drawn[0], texts.ends))
            row[when] |= bench.judges(name).reads(read)
    return row


def guessed(
    channel: Channel, model: NGrams, drawn: Any, some: Corpus, unknown: int
) -> dict[str, Any]:
    """What a reader recovers of some texts, and claims to."""
    released = Released(drawn[: len(some.ids)], some.ends)
    words, shares = Decoder(channel, model, beam=BEAM).marginals(released)
    best = np.take_along_axis(words, shares.argmax(axis=1)[:, None], axis=1)[:, 0]
    hits = best == some.ids
    value, low, high = by_text(hits.astype(float), some)
    return {
        "reader": value,
        "low": low,
        "high": high,
        "of_known": float(hits[some.ids < unknown].mean()),
        "claimed": float(shares.max(axis=1).mean()),
    }


def weighted(bench: Bench, name: str, base: str, weight: str) -> dict[str, Any]:
    """Test texts, read with a weight on the language model."""
    data, state = bench.data(name), bench.state(name, DEFAULT, 10.0)
    language = bench.embedded if base == "embedded" else data.model
    w, prior = float(weight), language.frequencies() ** float(weight)
    found = build_channel(state, prior / prior.sum(), CANDIDATES)
    seen, candidates, how = found.observation, found.candidates, found.how
    channel = Channel(seen, candidates, found.log_law / w, how)
    drawn = state.sample(data.test.ids, np.random.default_rng(SEED))
    read = Decoder(channel, language).sentence(Released(drawn, data.test.ends))
    return bench.judges(name).reads(read)


def stored() -> dict[str, Any]:
    """What is known."""
    return json.loads(RESULT.read_text()) if RESULT.exists() else {"rows": {}}


def points(names: list[str], kinds: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """What is measured: the largest releases first."""
    return (
        (name, base, kind)
        for kind, base, name in itertools.product(kinds, MODELS, names)
        if kind not in SIZES[:2] or base == "embedded"  # the other has little to learn
    )


def main() -> None:
    """Measure what is not known."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", choices=list(SETS), help="one data set")
    parser.add_argument("--weights", action="store_true", help="weights alone")
    options = parser.parse_args()
    bench, names = Bench(), [options.only] if options.only else [*SETS][::-1]
    measured = weighted if options.weights else learned
    for point in points(names, WEIGHTS if options.weights else SIZES):
        key, start = "|".join([*point, measured.__name__]), time.monotonic()
        if key in stored()["rows"]:
            continue
        row = rounded(measured(bench, *point))
        content = stored()
        content["rows"][key] = row
        of = {"language": bench.embedded.digest, "space": bench.space.digest}
        content = {**content, **of, "machine": machine.describe()}
        RESULT.write_text(json.dumps(content, indent=1) + "\n")
        spent = time.monotonic() - start
        print(key, row, f"{spent:.0f} s", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
