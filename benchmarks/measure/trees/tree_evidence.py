"""The word tree beside every other mechanism: what stays, and what an adversary gets.

    python -m benchmarks tree_evidence [--data NAME] [--only MECHANISM] [--minutes M]

Every row is kept in results/tree_evidence.json and not measured again, unless the
shipped tree has become another. Exit code 75: the minutes are over, there is more.

- *attack*: how often the Bayes-optimal guess of a word from its output is right, under
  the frequencies of these very texts. Exact where the law is closed; for the others
  a lower bound: the guess is learnt from other draws on the same texts.
- *accuracy*: TF-IDF and logistic regression, trained on releases, tested on releases
  and on clear text; means and deviations over seeds.
- *context*: the same guess by an adversary who only knows public text, and one who
  also knows which words follow each other in it (context_attack.py); over all words,
  and over known words that are not among the 500 most frequent ones of public text.
- *perplexity* under trigrams of public text (word_model.py).

The chances of the levels of the tree are those of `best_tree`, for word frequencies of
the valid split of the data set with a tenth of those of public film reviews ("tree" and
"tree, near", where near words count more), for public film reviews whatever the texts
("other kind"), or one set for all classes by the heights of the tree ("plain"). The
frequencies of film reviews were planned first; the others came after these had fallen
behind on tweets and questions.
The other mechanisms run at those epsilons of a grid whose attack
is nearest to each target. The valid split of each data set is public text here: it
trains the word model, and is not measured. Needs scikit-learn, textblob and torch.
"""

from __future__ import annotations

import argparse
import functools
import json
import sys
import time
from typing import Any

import numpy as np
from joblib import Parallel, delayed

import mondegreen as mg
from benchmarks import machine
from benchmarks.measure.trees import tree_texts as measure
from benchmarks.measure.trees.context_attack import guesses
from benchmarks.measure.trees.tree_evidence_plan import (
    CHECKED,
    COMMON,
    CONTEXT_WORDS,
    DATA,
    FORESTS,
    GRIDS,
    LAWS_AT_ONCE,
    NOISE,
    OWN_KIND,
    PARTS,
    PERPLEXITY_WORDS,
    PLAIN,
    SAMPLED,
    TREES,
    is_tree,
    key_of,
    plan,
)
from benchmarks.measure.trees.tree_texts import public_prior
from benchmarks.measure.trees.word_model import WordModel, public_model, split_of
from benchmarks.ship.ship_tree import lists
from mondegreen.calibration.guess import vulnerability
from mondegreen.calibration.tree_levels import best_tree
from mondegreen.scores.law import law_scores
from mondegreen.space.store import load_tree

RESULT = machine.RESULTS / "tree_evidence.json"
MORE = 75
"""Exit code when the minutes are over before the work is."""


class Bench:
    """What all rows share, read when it is needed."""

    def __init__(self) -> None:
        self.space = mg.load_space()
        tree = load_tree(self.space)
        if tree is None:
            raise SystemExit("the default space has no word tree")
        self.tree = tree

    @functools.cached_property
    def public(self) -> np.ndarray:
        """Frequencies of public text."""
        return public_prior(self.space)

    @functools.cached_property
    def model(self) -> WordModel:
        """Order of words in public text."""
        return public_model(self.space)

    @functools.cached_property
    def classes(self) -> np.ndarray:
        """Usual grammatical class of each word."""
        return np.array([*lists(self.space)[0], "unknown"])

    @functools.lru_cache(maxsize=8)  # noqa: B019 - one bench lives as long as the run
    def texts(self, data: str) -> measure.Texts:
        """The texts of a data set without its valid split."""
        name, documents = DATA[data]
        return measure.read(name, self.space, "valid", documents)

    def prior(self, data: str) -> np.ndarray:
        """The frequencies of the words of a data set, the unknown one last."""
        own, found = self.texts(data).prior, np.zeros(self.space.vocab_size + 1)
        found[: len(own)] = own
        return found

    @functools.lru_cache(maxsize=8)  # noqa: B019
    def expected(self, name: str, data: str) -> np.ndarray:
        """The public frequencies that a tree is set for."""
        if name not in OWN_KIND:
            return self.public
        ids, _ = split_of(self.space, DATA[data][0], "valid")
        counts = np.bincount(ids, minlength=self.space.vocab_size + 1)
        return 0.9 * counts / len(ids) + 0.1 * self.public

    def state(self, name: str, setting: float, data: str = "") -> Any:
        """Prepare a mechanism; the setting of a tree is its target."""
        if name in FORESTS:
            return best_tree(
                self.space,
                self.tree,
                self.expected(name, data),
                success=setting,
                epsilon=dict(TREES)[setting],
                power=FORESTS[name],
            ).prepare(self.space)
        if name == PLAIN:
            return mg.mechanism("tree", epsilon=setting).prepare(self.space)
        more = {"decoder": "fast"} if name in NOISE else {}
        return mg.mechanism(name, epsilon=setting, **more).prepare(self.space)


def measured(bench: Bench, data: str, name: str, setting: float) -> dict[str, Any]:
    """One row."""
    if name == "clear":
        return clear(bench, data)
    texts, size = bench.texts(data), bench.space.vocab_size
    state = bench.state(name, setting, data)
    seeds = 2 if data == "imdb" or data in PARTS else 3
    drawn = [
        state.sample(texts.ids, np.random.default_rng(seed)) for seed in range(seeds)
    ]
    fits = (delayed(measure.accuracy)(texts, each, size) for each in drawn)
    found = np.array(Parallel(n_jobs=2)(fits))
    row = {
        "data": data,
        "mechanism": name,
        "setting": setting,
        "seeds": seeds,
        "accuracy": found.mean(axis=0)[0],
        "accuracy_deviation": found.std(axis=0, ddof=1)[0],
        "accuracy_clear_test": found.mean(axis=0)[1],
        "accuracy_clear_test_deviation": found.std(axis=0, ddof=1)[1],
        **kept(bench, data, drawn[0]),
        **promised(state),
    }
    if is_tree(name):
        row["tree"] = bench.tree.digest
        row["attack"] = vulnerability(state.law, bench.prior(data))
    if name in SAMPLED or (name == CHECKED and data != "imdb"):
        row["attack_at_least"] = learnt(texts.ids, drawn)
    return row


def kept(bench: Bench, data: str, released: np.ndarray) -> dict[str, Any]:
    """What a release keeps of its texts."""
    texts, space = bench.texts(data), bench.space
    known = np.flatnonzero(texts.ids < space.vocab_size)
    same = bench.classes[texts.ids[known]] == bench.classes[released[known]]
    last = np.searchsorted(texts.ends, PERPLEXITY_WORDS, side="right")
    ends = texts.ends[:last]
    ids = released[: ends[-1]]
    return {
        "cosine": measure.cosine(space, texts.ids, released),
        "kept": float((released == texts.ids).mean()),
        "class_agreement": float(same.mean()),
        "tag_agreement": measure.tag_agreement(space, texts, released),
        "perplexity": bench.model.perplexity(ids, ends, known=True),
    }


def promised(state: Any) -> dict[str, Any]:
    """The loss between any two words, in nats: stated, and certified."""
    promise = state.guarantee
    far, certified = promise.scale["diameter"], promise.certified
    return {
        "worst_loss": promise.loss(far),
        "certified_loss": None if certified is None else certified * far,
    }


def learnt(ids: np.ndarray, drawn: list[np.ndarray]) -> float:
    """The success of guesses learnt from other draws on the same texts.

    The adversary knows frequencies and mechanism, and meets new noise. The input seen
    most often with an output is the guess; one that was seen too seldom gives way to
    the output itself, or to the most frequent word. Of these few rules the best counts.
    It is a lower bound on the best guess of all.
    """
    base, most = int(ids.max()) + 1, np.bincount(ids).argmax()
    keys = [each.astype(np.int64) * base + ids for each in drawn[1:]]
    found, counts = np.unique(np.concatenate(keys), return_counts=True)
    order = np.argsort(counts, kind="stable")  # the most frequent is written last
    guess = np.zeros(int(max(each.max() for each in drawn)) + 1, dtype=np.int64)
    seen = np.zeros_like(guess)
    guess[found[order] // base] = found[order] % base
    seen[found[order] // base] = counts[order]
    likely, often, met = guess[drawn[0]], seen[drawn[0]], drawn[0]
    return max(
        float((np.where(often >= least, likely, other) == ids).mean())
        for least in (1, 2, 4, 8)
        for other in (met, most)
    )


def clear(bench: Bench, data: str) -> dict[str, Any]:
    """The row of the texts themselves."""
    texts, model = bench.texts(data), bench.model
    last = np.searchsorted(texts.ends, PERPLEXITY_WORDS, side="right")
    ends = texts.ends[:last]
    ids, counts = texts.ids[: ends[-1]], np.bincount(texts.ids)
    size = bench.space.vocab_size
    most = np.unique(texts.labels[texts.is_test], return_counts=True)[1]
    return {
        "data": data,
        "mechanism": "clear",
        "setting": 0.0,
        "accuracy": measure.accuracy(texts, texts.ids, size)[0],
        "largest_class": float(most.max() / most.sum()),
        "perplexity": model.perplexity(ids, ends, known=True),
        "perplexity_with_unknown": model.perplexity(ids, ends, known=False),
        "attack_without_output": float(counts.max() / counts.sum()),
        "unknown": float((texts.ids == size).mean()),
        "texts": len(texts.labels),
        "test_texts": int(texts.is_test.sum()),
        "words": len(texts.ids),
    }


def laws(bench: Bench, some: list[tuple[str, float]]) -> dict[str, dict[str, float]]:
    """The exact attack of closed laws under the frequencies of all data sets."""
    states = [bench.state(*law) for law in some]
    priors = {"public": bench.public, **{data: bench.prior(data) for data in DATA}}
    found = law_scores(states, priors, eta=None)
    return {
        key_of(*law): {data: 1 - risk.bayes_risk for data, risk in scores.risks.items()}
        for law, scores in zip(some, found, strict=True)
    }


def context(bench: Bench, data: str, name: str, setting: float) -> dict[str, Any]:
    """The success of both guesses by who knows public text."""
    texts = bench.texts(data)
    (test,) = np.nonzero(texts.is_test)
    lengths = np.diff(texts.ends)[test]
    test = test[: np.searchsorted(np.cumsum(lengths), CONTEXT_WORDS) + 1]
    spans = [texts.ids[texts.ends[i] : texts.ends[i + 1]] for i in test]
    ends = np.cumsum([0, *map(len, spans)])
    ids, state = np.concatenate(spans), bench.state(name, setting, data)
    released = state.sample(ids, np.random.default_rng(0))
    free, informed = guesses(state, bench.model, ends, released)
    order = np.argsort(-bench.public[:-1], kind="stable")
    rare = ~np.isin(ids, [*order[:COMMON], bench.space.vocab_size])
    row = {
        "data": data,
        "mechanism": name,
        "setting": setting,
        "words": len(ids),
        "context_free": float((free == ids).mean()),
        "contextual": float((informed == ids).mean()),
        "rare_words": int(rare.sum()),
        "context_free_rare": float((free == ids)[rare].mean()),
        "contextual_rare": float((informed == ids)[rare].mean()),
    }
    return row | ({"tree": bench.tree.digest} if is_tree(name) else {})


MAKE = {"rows": measured, "context": context}


def stored(digest: str) -> dict[str, Any]:
    """What is known, without rows of another tree."""
    found = json.loads(RESULT.read_text()) if RESULT.exists() else {}
    for kind in ("rows", "laws", "context"):
        rows = found.setdefault(kind, {})
        found[kind] = {
            key: row for key, row in rows.items() if row.get("tree", digest) == digest
        }
    return found


def main() -> int:
    """Measure what is not known, in order, while there is time."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", help="one data set")
    parser.add_argument("--only", help="one mechanism")
    parser.add_argument("--minutes", type=float, default=1e9)
    options = parser.parse_args()
    until, bench = time.monotonic() + 60 * options.minutes, Bench()
    known = stored(bench.tree.digest)
    for kind, data, name, setting in plan(known):
        key = key_of(name, setting) if kind == "laws" else key_of(data, name, setting)
        others = data and options.data not in (None, data)
        if key in known[kind] or others or options.only not in (None, name):
            continue
        if time.monotonic() > until:
            return MORE
        start = time.monotonic()
        if kind == "laws":  # several at once share their distances
            missing = [
                (name, e) for e in GRIDS[name] if key_of(name, e) not in known["laws"]
            ]
            known["laws"] |= laws(bench, missing[:LAWS_AT_ONCE])
        else:
            known[kind][key] = MAKE[kind](bench, data, name, setting)
        save(known, bench)
        spent = f"{time.monotonic() - start:.1f} s"
        print(kind, data, name, f"{setting:g}", spent, file=sys.stderr, flush=True)
    return 0


def save(known: dict[str, Any], bench: Bench) -> None:
    """Write all rows."""
    content = {
        "machine": machine.describe(),
        "space": bench.space.digest,
        "tree": bench.tree.digest,
        **{kind: _rounded(known[kind]) for kind in ("rows", "laws", "context")},
    }
    RESULT.write_text(json.dumps(content, indent=1) + "\n")


def _rounded(value: Any) -> Any:
    """Numbers with five digits after the point; chances as they are."""
    if isinstance(value, dict):
        return {k: _rounded(v) for k, v in value.items()}
    return round(float(value), 5) if isinstance(value, float) else value


if __name__ == "__main__":
    sys.exit(main())
