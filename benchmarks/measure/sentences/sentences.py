"""Releases and what is read of them, at equal success of a reader.

    python -m benchmarks sentences [--quick] [--only SET] [--mechanism NAME]
        [--laws | --targets]

Every row is kept in results/sentences.json and not measured again. A row is one draw of
the test texts by one setting, and what stands for them after decoding by two language
models: its mixture with one of the kind of text (``kind``) and, of the defaults, the
embedded one (``embedded``). See sentence_texts.py for who sees which text.

- *reader*: words recovered by the strongest of these: the likeliest word of each output
  by itself, and of each posterior of trigrams (beam 12), by each of the models; on the
  first test texts, some 15,000 to 40,000 words. Intervals: bootstrap of texts.
- *single*: the best guess of one word that knows the frequencies of these texts. Of a
  law without a short form it looks at 48 inputs of each output, those with most mass.
- *accuracy*: of a classifier trained on all clear training texts; ``trained``: of one
  that was trained on releases of other texts, decoded as the test texts are.
- *perplexity* of known words under trigrams that share no text with the decoder.
- *worst*: how often the word of content is guessed that is guessed most often, by one
  who knows the frequencies of the embedded model; *often*: the share of words that are
  of content and guessed above 0.6.
- *linkage*: how often the first 5 words find the original of a release among 500.

- *targets* (``--targets``): the tree set so that a reader of the held-back texts
  recovers 0.2 or 0.3 of the words, and what a reader of the test texts recovers then.

``--laws`` looks at the laws without a short form, which other rows need: half an hour.
Needs scikit-learn.
"""

from __future__ import annotations

import argparse
import functools
import itertools
import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any, Final

import numpy as np

import mondegreen as mg
from benchmarks import machine
from benchmarks.measure.sentences import sentence_laws as laws
from benchmarks.measure.sentences.sentence_judges import (
    Judges,
    by_text,
    entropy,
    linked,
    lists_of,
    perplexity,
)
from benchmarks.measure.sentences.sentence_texts import SETS, Corpus, Data
from mondegreen.attacks.adversary import success_against
from mondegreen.attacks.outputs import compute_outputs
from mondegreen.attacks.pairs import build_pairs
from mondegreen.attacks.worst_words import content_words, find_worst
from mondegreen.calibration.tree_levels import best_tree
from mondegreen.decode.decoder import Decoder
from mondegreen.decode.released import Released
from mondegreen.errors import ConfigurationError
from mondegreen.language.ngrams import NGrams
from mondegreen.language.store import load_language
from mondegreen.space.store import tree_for
from mondegreen.text.lookup import Lookup

RESULT = machine.RESULTS / "sentences.json"
DEFAULT: Final = "tree, default"
CHANCES: Final = "tree"
CHANCES_12: Final = "tree, 12 nats"
FAMILIES: Final = "families"
FAMILIES_DEFAULT: Final = "families, default"
OTHER_TREE: Final = "e60f5a811bca"
"""The second tree of the package: groups of which no word has most of the frequency."""
GRID: Final[dict[str, tuple[float, ...]]] = {
    DEFAULT: (10.0,),
    CHANCES: (0.1, 0.15, 0.2, 0.25),
    CHANCES_12: (0.3, 0.4),
    "exponential": (2.0, 2.2, 2.4, 2.6, 2.8),
    "tem": (2.1, 2.4, 2.7),
    "calibrated": (1.5, 1.65, 1.8),
    FAMILIES: (0.15, 0.2, 0.25),
    FAMILIES_DEFAULT: (10.0,),
}
"""Settings: epsilon; of trees that are set the success of a guess of one word.

Within 10 nats that cannot be above some 0.25, hence 12 for more.
"""
CLOSED: Final = ("exponential", "tem", "calibrated")
POWER: Final = 0.5
NATS: Final = 10.0
BEAM: Final = 12
OFTEN: Final = 0.6
TARGETS: Final = (0.2, 0.3)
HELD_WORDS: Final = 10_000
SEED: Final = 17


class Bench:
    """What all rows share, read when it is needed."""

    def __init__(self) -> None:
        self.space, self.embedded = mg.load_space(), load_language()

    @functools.cached_property
    def classes(self) -> Any:
        """The usual grammatical class of each word."""
        return lists_of(self.space)

    @functools.lru_cache(maxsize=8)  # noqa: B019 - one bench lives as long as the run
    def data(self, name: str) -> Data:
        """A data set."""
        return Data(name, self.space)

    @functools.lru_cache(maxsize=8)  # noqa: B019
    def judges(self, name: str) -> Judges:
        """Those of a data set."""
        return Judges(self.data(name), self.classes)

    def own(self, name: str) -> Any:
        """The frequencies of the test texts: what the strongest guesser knows."""
        counts = np.bincount(
            self.data(name).test.ids, minlength=self.space.vocab_size + 1
        )
        return counts / counts.sum()

    def state(self, name: str, mechanism: str, setting: float) -> Any:
        """Prepare a mechanism; that of chances is set for public texts of the kind."""
        if mechanism in (CHANCES, CHANCES_12, FAMILIES):
            nats = 12.0 if mechanism == CHANCES_12 else NATS
            tree = tree_for(self.space, OTHER_TREE if mechanism == FAMILIES else "")
            prior = frequency(self.data(name).model)
            return best_tree(
                self.space, tree, prior, success=setting, epsilon=nats, power=POWER
            ).prepare(self.space)
        if mechanism in (DEFAULT, FAMILIES_DEFAULT):
            other = OTHER_TREE if mechanism == FAMILIES_DEFAULT else None
            made = mg.mechanism("tree", epsilon=setting, tree=other)
        else:
            made = mg.mechanism(mechanism, epsilon=setting)
        return made.prepare(self.space)

    def survey(self, mechanism: str) -> None:
        """Look at all settings of a closed law that were not looked at before."""
        if mechanism not in CLOSED:
            return
        keys = dict(
            zip(laws.names(mechanism, GRID[mechanism]), GRID[mechanism], strict=True)
        )
        missing = {
            key: setting for key, setting in keys.items() if not laws.stored(key)
        }
        if missing:
            models = [self.data(name).model for name in SETS]
            likely = np.mean(
                [frequency(each) for each in (self.embedded, *models)], axis=0
            )
            states = {
                key: self.state("", mechanism, setting)
                for key, setting in missing.items()
            }
            laws.survey(states, likely, np.array([self.own(name) for name in SETS]))


def frequency(model: NGrams) -> Any:
    """How often each word occurs, shape (V + 1,)."""
    found = model.frequency.astype(np.float64)[: model.vocab_size + 1]
    return found / found.sum()


def clear(bench: Bench, name: str) -> dict[str, Any]:
    """The test texts themselves, and their words in any order."""
    data, judges = bench.data(name), bench.judges(name)
    test, mixture = data.test, data.mixture
    shuffled = test.ids.copy()
    stops = np.flatnonzero(test.ends) + 1
    rng = np.random.default_rng(SEED)
    for start, stop in zip([0, *stops[:-1].tolist()], stops.tolist(), strict=True):
        rng.shuffle(shuffled[start:stop])
    most = np.bincount(test.labels).max() / len(test.labels)
    trained = judges.trained(data.to_release, data.to_release.ids)
    return {
        "texts": len(test.labels),
        "words": len(test.ids),
        "unknown": float((test.ids == bench.space.vocab_size).mean()),
        "largest_class": float(most),
        **judges.reads(test.ids),
        "trained": judges.accuracy(trained, test.ids),
        "perplexity_shuffled": perplexity(data.judge, shuffled, test.ends),
        "entropy": entropy(bench.own(name)),
        "weight_of_embedded": mixture.weight,
        "perplexities_held_back": list(mixture.perplexities),
        "perplexity_under_embedded": perplexity(bench.embedded, test.ids, test.ends),
        "perplexity_under_kind": perplexity(mixture.model, test.ids, test.ends),
    }


def row(bench: Bench, name: str, mechanism: str, setting: float) -> dict[str, Any]:
    """One setting on one data set."""
    data, judges = bench.data(name), bench.judges(name)
    state = bench.state(name, mechanism, setting)
    law = laws.stored(f"{mechanism}|{setting:g}") if mechanism in CLOSED else None
    models = {"kind": data.model}
    if mechanism in (DEFAULT, FAMILIES_DEFAULT):
        models["embedded"] = bench.embedded
    channels = {
        each: laws.channel_for(state, law, frequency(model))
        for each, model in models.items()
    }
    rng = np.random.default_rng(SEED)
    test, to_train = data.test, data.to_release
    drawn, released = state.sample(test.ids, rng), state.sample(to_train.ids, rng)
    found: dict[str, Any] = {"data": name, "mechanism": mechanism, "setting": setting}
    found["raw"] = judges.reads(drawn)
    trained = judges.trained(to_train, released)
    found["raw"]["trained"] = judges.accuracy(trained, drawn)
    for each, model in models.items():
        decoder = Decoder(channels[each], model)
        decoded = decoder.sentence(Released(drawn, test.ends))
        found[each] = judges.reads(decoded)
        read = decoder.sentence(Released(released, to_train.ends))
        trained = judges.trained(to_train, read)
        found[each]["trained"] = judges.accuracy(trained, decoded)
    found |= recovered(data.test.first(data.plan.read), drawn, models, channels)
    return found | promised(state) | {"linkage": linked(state, test, drawn)}


def recovered(
    some: Corpus, drawn: Any, models: dict[str, NGrams], channels: dict[str, Any]
) -> dict[str, Any]:
    """What readers recover; the strongest counts."""
    released = Released(drawn[: len(some.ids)], some.ends)
    readers = {}
    for each, model in models.items():
        channel = channels[each]
        alone = channel.candidates[channel.observation[released.ids], 0]
        words, shares = Decoder(channel, model, beam=BEAM).marginals(released)
        best = np.take_along_axis(words, shares.argmax(axis=1)[:, None], axis=1)[:, 0]
        for kind, guess in (("words", alone), ("sentences", best)):
            readers[f"{each}, {kind}"] = by_text(
                (guess == some.ids).astype(float), some
            )
    strongest = max(readers, key=lambda kind: readers[kind][0])
    value, low, high = readers[strongest]
    return {
        "reader": value,
        "reader_low": low,
        "reader_high": high,
        "reader_is": strongest,
        "readers": {kind: value for kind, (value, _, _) in readers.items()},
        "reader_words": len(some.ids),
    }


def told(bench: Bench, name: str, mechanism: str, setting: float) -> dict[str, Any]:
    """What one output tells of its word: by the law, and frequencies."""
    state, own = bench.state(name, mechanism, setting), bench.own(name)
    public, words = frequency(bench.embedded), bench.data(name).test.ids
    law = laws.stored(f"{mechanism}|{setting:g}") if mechanism in CLOSED else None
    if law is None:
        of_own, of_public = compute_outputs(state, [own, public])
    else:
        at = list(SETS).index(name)
        of_own, of_public = law.outputs(own, at), law.outputs(public)
    often = of_public.compute_recovered() > OFTEN
    often[:-1] &= content_words(bench.space)
    return {
        "single": of_own.success,
        "information": entropy(of_own.total) - of_own.noise,
        "worst": find_worst(bench.space, of_public),
        "often": float(often[words].mean()),
    }


def target(bench: Bench, name: str, reader: float) -> dict[str, Any]:
    """Set a tree on held-back texts for a reader, and meet the reader on test texts."""
    data, model = bench.data(name), bench.data(name).model
    tree, prior = tree_for(bench.space), frequency(model)

    def prepared(success: float) -> Any:
        return best_tree(
            bench.space, tree, prior, success=success, epsilon=NATS, power=POWER
        ).prepare(bench.space)

    pairs = build_pairs(data.held, Lookup(bench.space)).some(HELD_WORDS)
    least = float(prior.max()) * 1.001
    success = success_against(reader, prepared, pairs, model, least)
    state, some = prepared(success), data.test.first(data.plan.read)
    drawn = state.sample(some.ids, np.random.default_rng(SEED))
    models = {"kind": model}
    channels = {"kind": laws.channel_for(state, None, prior)}
    met = recovered(some, drawn, models, channels)
    return {"data": name, "promised": reader, "success": success, **met}


def promised(state: Any) -> dict[str, Any]:
    """The loss between any two words, in nats, certified where that is known."""
    promise = state.guarantee
    far, certified = promise.scale["diameter"], promise.certified
    return {"nats": promise.loss(far) if certified is None else certified * far}


def stored() -> dict[str, Any]:
    """What is known."""
    found = json.loads(RESULT.read_text()) if RESULT.exists() else {}
    return {"clear": {}, "rows": {}, "told": {}, "targets": {}, **found}


def save(kind: str, key: str, value: dict[str, Any]) -> None:
    """Add one row to what is known by now; several processes may measure."""
    content = stored()
    content[kind][key] = rounded(value)
    write({**content, "machine": machine.describe()})


def write(content: dict[str, Any]) -> None:
    """Write the results, whole or not at all."""
    whole = RESULT.with_suffix(f".{os.getpid()}")
    whole.write_text(json.dumps(content, indent=1) + "\n")
    whole.replace(RESULT)


def about(bench: Bench) -> None:
    """Say of what the rows are; those of another tree or model are void."""
    trees = [tree_for(bench.space, each).digest for each in ("", OTHER_TREE)]
    of = {"space": bench.space.digest, "language": bench.embedded.digest}
    write({**stored(), **of, "trees": trees})


def rounded(value: Any) -> Any:
    """Numbers with five digits after the point."""
    if isinstance(value, dict):
        return {key: rounded(each) for key, each in value.items()}
    if isinstance(value, list):
        return [rounded(each) for each in value]
    return round(float(value), 5) if isinstance(value, float) else value


def main() -> None:
    """Measure what is not known."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="every other setting")
    parser.add_argument("--only", choices=list(SETS), help="one data set")
    parser.add_argument("--mechanism", choices=list(GRID), help="one mechanism")
    parser.add_argument("--laws", action="store_true", help="look at laws alone")
    parser.add_argument("--targets", action="store_true", help="readers alone")
    options = parser.parse_args()
    bench = Bench()
    about(bench)
    names = [options.only] if options.only else list(SETS)
    grid = {
        mechanism: settings[:: 2 if options.quick else 1]
        for mechanism, settings in GRID.items()
        if options.mechanism in (None, mechanism)
    }
    if not options.targets:
        for mechanism in grid:
            bench.survey(mechanism)
    if options.laws:
        return
    for name, reader in itertools.product(names, TARGETS if options.targets else ()):
        known("targets", f"{name}|{reader:g}", target, bench, name, reader)
    for name in () if options.targets else names:
        known("clear", name, clear, bench, name)
        for mechanism, settings in grid.items():
            for setting, (kind, made) in itertools.product(settings, MADE.items()):
                key = f"{name}|{mechanism}|{setting:g}"
                known(kind, key, made, bench, name, mechanism, setting)


MADE: Final = {"rows": row, "told": told}


def known(kind: str, key: str, measured: Callable[..., Any], *point: Any) -> None:
    """Measure a row unless it is known."""
    start = time.monotonic()
    if key not in stored()[kind]:
        try:
            save(kind, key, measured(*point))
            spent = f"{time.monotonic() - start:.0f} s"
        except ConfigurationError as error:  # no tree keeps so low a success
            spent = str(error)
        print(kind, key, spent, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
