"""Which words a tree lets be guessed, and what it keeps: the trees of the package.

    python -m benchmarks tree_shares

Frequencies, classifier and language model are of the training rows of a data set (or
of public text); releases are of its test rows. Writes results/tree_shares.json. Half an
hour. Needs scikit-learn and shared/data.

A word is *found* with the chance r(x) that the best guess is right when it stood there,
and the guess *sure* with the chance that it is right when it is made: a guess that is
always "the" finds every "the", and is not sure. The *belief* in a word is the chance
that the adversary gives to it, on average, when it stood there.
"""

from __future__ import annotations

import dataclasses
import json
from typing import Any, Final

import numpy as np
import pyarrow.parquet as pq
from scipy import sparse

import mondegreen as mg
from benchmarks import machine
from mondegreen.calibration.guess import class_of_words
from mondegreen.calibration.tree_levels import best_tree, closeness, tfidf_weights
from mondegreen.decode.channel import build_channel
from mondegreen.decode.decoder import CANDIDATES, Decoder
from mondegreen.decode.released import Released
from mondegreen.language.build import build_language, read_words
from mondegreen.language.store import load_language
from mondegreen.mechanisms.laws.tree import TreeLaw
from mondegreen.sampling.integers import TOTAL
from mondegreen.space.store import load_tree, with_tree
from mondegreen.space.tree import WordTree
from mondegreen.space.word_classes import CLOSED_CLASSES, FUNCTION_CLASSES

TESTS: Final = {"imdb": 800, "ag_news": 2000}
SUCCESS, POWER, EPSILON = 0.2, 0.5, 10.0
SEED = 14
_COMMON = 20
_BATCH = 2000

Guesses = dict[str, np.ndarray]


def guesses(law: TreeLaw, prior: np.ndarray) -> Guesses:
    """The best guess from every output, exact: found, sure, belief, by input word."""
    tree = law.tree
    rows = np.array(law.by_child(), dtype=np.float64) / TOTAL
    size, top, child = tree.vocab_size, tree.levels, class_of_words(tree)
    nodes, pi = tree.nodes[:, :-1], prior[:-1]
    parts = rows[child].T / tree.sizes_by_word()
    reach = np.cumsum(parts[::-1], axis=0)[::-1]  # F_l of every word
    ends = rows[child, -1] / size
    # From afar: the word that is likeliest to come out here by the root, or none.
    blind = int((pi * ends).argmax())
    value, law = float(pi[blind] * ends[blind]), float(ends[blind])
    if prior[-1] / size > value:
        blind, value, law = size, float(prior[-1]) / size, 1 / size
    guess, best, law_of = np.full(size, blind), np.full(size, value), np.full(size, law)
    evidence = np.full(size, float(pi @ ends) + prior[-1] / size)
    for level in range(top):
        order = np.lexsort((pi, nodes[level]))
        last = np.append(np.flatnonzero(np.diff(nodes[level][order])), size - 1)
        chief = order[last][nodes[level]]
        value = pi[chief] * reach[level]
        better = value >= best
        guess, best = np.where(better, chief, guess), np.where(better, value, best)
        law_of = np.where(better, reach[level], law_of)
        evidence += np.bincount(nodes[level], pi)[nodes[level]] * parts[level]
    found = np.bincount(guess, law_of, size + 1)
    made = np.bincount(guess, evidence, size + 1)
    sure = prior * found / np.where(made > 0, made, 1.0)
    belief, before = np.zeros(size), np.zeros(size)
    for level in range(top):
        around = np.bincount(nodes[level], 1 / evidence)[nodes[level]]
        belief += reach[level] ** 2 * (around - before)
        before = around
    belief += ends**2 * ((1 / evidence).sum() - before)
    return {"found": found[:-1], "sure": sure[:-1], "belief": belief * pi, "best": best}


def single_word(space: mg.Space, law: TreeLaw, prior: np.ndarray) -> dict[str, Any]:
    """What the best guess of one word finds, of all tokens and of those of content."""
    found, pi = guesses(law, prior), prior[:-1]
    content = np.array(
        [CLOSED_CLASSES.get(w) not in FUNCTION_CLASSES for w in space.words]
    )
    weights = tfidf_weights(prior)
    rows = np.array(law.by_child(), dtype=np.float64) / TOTAL

    def share(chosen: np.ndarray) -> float:
        return round(float(pi[chosen].sum()), 4)

    facts: dict[str, Any] = {"success": round(float(found["best"].sum()), 4)}
    for power in (1.0, 0.5):
        kept = (closeness(space, law.tree, weights, power) * rows).sum()
        facts[f"kept, power {power:g}"] = round(float(kept / weights.sum()), 4)
    for limit in (0.6, 0.8):
        facts[f"tokens found above {limit}"] = share(found["found"] > limit)
        chosen = content & (found["found"] > limit)
        facts[f"content tokens found above {limit}"] = share(chosen)
        facts[f"content types found above {limit}"] = int((chosen & (pi > 0)).sum())
        both = content & (found["found"] > limit) & (found["sure"] > limit)
        facts[f"content tokens found and sure above {limit}"] = share(both)
    facts["content tokens believed above 0.5"] = share(
        content & (found["belief"] > 0.5)
    )
    worst = np.argsort(-np.where(content & (pi > 2e-5), found["belief"], 0))[:8]
    facts["most believed"] = {
        space.words[i]: [
            round(float(found[k][i]), 3) for k in ("belief", "found", "sure")
        ]
        for i in worst
    }
    return facts


@dataclasses.dataclass(frozen=True)
class Kind:
    """A kind of text: what an adversary knows, and what is released."""

    name: str
    space: mg.Space

    def rows(self, split: str) -> tuple[list[str], np.ndarray]:
        """Texts and labels of a split; of test rows some, always the same."""
        table = pq.read_table(machine.SHARED / f"{self.name}.parquet")
        chosen = np.flatnonzero(np.array(table.column("split")) == split)
        if split == "test":
            rng = np.random.default_rng(SEED)
            drawn = rng.choice(len(chosen), TESTS[self.name], replace=False)
            chosen = chosen[np.sort(drawn)]
        texts = np.array(table.column("text"))[chosen].tolist()
        labels = np.array(table.column("label"))[chosen]
        return [text.replace("<br />", " ") for text in texts], labels

    def words(self, split: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Ids, sentence ends and the number of the text of every word."""
        found = [read_words([[text]], self.space) for text in self.rows(split)[0]]
        ids = np.concatenate([each for each, _ in found])
        ends = np.concatenate([np.array(e, dtype=bool) for _, e in found])
        return ids, ends, np.repeat(np.arange(len(found)), [len(e) for _, e in found])


def main() -> None:
    """Measure every tree of the package that the results lack."""
    space, path = mg.load_space(), machine.RESULTS / "tree_shares.json"
    known = json.loads(path.read_text())["trees"] if path.exists() else {}
    trees = {tree.digest[:12]: tree for tree in trees_of(space)}
    kinds = {name: Reader(Kind(name, space)) for name in TESTS}
    for digest, tree in trees.items():
        if digest not in known:
            known[digest] = measure(space, tree, kinds)
    found = {digest: known[digest] for digest in trees}
    machine.save("tree_shares", {"seed": SEED, "texts": TESTS, "trees": found})


def trees_of(space: mg.Space) -> list[WordTree]:
    """Every tree of the package for a space."""
    from mondegreen.space import store

    known = store._BUNDLED_TREES[space.digest].values()
    return [tree for each in known if (tree := load_tree(space, each)) is not None]


def measure(space: mg.Space, tree: WordTree, kinds: dict[str, Any]) -> dict[str, Any]:
    """Everything about one tree."""
    treed, facts = with_tree(space, tree), {"shape": shape(tree)}
    for name, reader in kinds.items():
        own = best_tree(
            space, tree, reader.prior, success=SUCCESS, epsilon=EPSILON, power=POWER
        )
        for label, mechanism in (
            ("epsilon 10", mg.mechanism("tree", epsilon=EPSILON)),
            (f"success {SUCCESS}, power {POWER}", own),
        ):
            state = mechanism.prepare(treed)
            law = state.law
            facts[f"{name}, {label}"] = {
                "levels": (np.array(law.weights) / TOTAL).round(4).tolist(),
                "losses": np.round(law.losses(), 3).tolist(),
                "frequencies of the kind": single_word(space, law, reader.prior),
                "frequencies of the test rows": single_word(space, law, reader.tested),
                "public frequencies": single_word(space, law, reader.public),
                "released": reader.read(state),
            }
    return facts


def shape(tree: WordTree) -> dict[str, Any]:
    """Nodes, heights and sizes of groups."""
    sizes = tree.sizes(1)
    return {
        "nodes": [len(bound) - 1 for bound in tree.bounds],
        "heights": list(tree.heights),
        "groups": [int(sizes.min()), float(np.median(sizes)), int(sizes.max())],
    }


class Reader:
    """A classifier and language models of one kind of text, and its test rows."""

    def __init__(self, kind: Kind) -> None:
        from sklearn.feature_extraction.text import TfidfTransformer
        from sklearn.linear_model import LogisticRegression

        self.space, size = kind.space, kind.space.vocab_size
        ids, _, text = kind.words("train")
        self.ids, self.ends, self.text = kind.words("test")
        self.prior = np.bincount(ids, minlength=size + 1) / len(ids)
        self.tested = np.bincount(self.ids, minlength=size + 1) / len(self.ids)
        texts, labels = kind.rows("train")
        batches = (texts[i : i + _BATCH] for i in range(0, len(texts), _BATCH))
        self.models = {"of the kind": build_language(batches, self.space)}
        self.public = load_language().frequencies()
        self.labels = kind.rows("test")[1]
        self.weigh, self.model = TfidfTransformer(), LogisticRegression(max_iter=1000)
        self.model.fit(self.weigh.fit_transform(self._counts(ids, text)), labels)

    def _counts(self, ids: np.ndarray, text: np.ndarray) -> sparse.csr_matrix:
        shape = (int(text.max()) + 1, self.space.vocab_size + 1)
        return sparse.csr_matrix((np.ones(len(ids)), (text, ids)), shape=shape)

    def accuracy(self, ids: np.ndarray) -> float:
        """Of the classifier trained on clear text."""
        table = self.weigh.transform(self._counts(ids, self.text))
        return round(float(self.model.score(table, self.labels)), 4)

    def cosine(self, ids: np.ndarray) -> float:
        """Mean cosine of the sums of the vectors of texts, centred."""
        vectors = np.vstack([self.space.vectors, self.space.vectors.mean(axis=0)])
        vectors = vectors - vectors.mean(axis=0)
        one, two = (self._counts(each, self.text) @ vectors for each in (self.ids, ids))
        norms = np.linalg.norm(one, axis=1) * np.linalg.norm(two, axis=1)
        return round(
            float(np.mean((one * two).sum(axis=1) / np.maximum(norms, 1e-9))), 4
        )

    def read(self, state: Any) -> dict[str, Any]:
        """Release the test rows once; classify, and let readers guess every word."""
        raw = state.sample(self.ids, np.random.Generator(np.random.PCG64(SEED)))
        facts: dict[str, Any] = {
            "accuracy of clear": self.accuracy(self.ids),
            "accuracy": self.accuracy(raw),
            "cosine": self.cosine(raw),
        }
        released = Released(raw, self.ends)
        for name, language in self.models.items():
            channel = build_channel(state, language.frequencies(), CANDIDATES)
            decoder = Decoder(channel, language)
            ids, shares = decoder.marginals(released)
            guessed = ids[np.arange(len(ids)), shares.argmax(axis=1)]
            sentence = decoder.sentence(released)
            facts[name] = {
                "reader": round(float((guessed == self.ids).mean()), 4),
                "words read": self.worst(guessed),
                "accuracy, decoded": self.accuracy(sentence),
                "cosine, decoded": self.cosine(sentence),
            }
        return facts

    def worst(self, guessed: np.ndarray) -> dict[str, Any]:
        """Words of content, of 20 tokens at least, that a reader finds most often."""
        size, right = self.space.vocab_size, guessed == self.ids
        counts = np.bincount(self.ids, minlength=size + 1)
        found = np.bincount(self.ids, right, size + 1) / np.maximum(counts, 1)
        sure = np.bincount(guessed, right, size + 1)
        sure /= np.maximum(np.bincount(guessed, minlength=size + 1), 1)
        is_content = [
            CLOSED_CLASSES.get(w) not in FUNCTION_CLASSES for w in self.space.words
        ]
        content = np.append(is_content, False) & (counts >= _COMMON)
        facts: dict[str, Any] = {}
        for limit in (0.6, 0.8):
            chosen = content & (found > limit)
            both = chosen & (sure > limit)
            facts[f"types found above {limit}"] = int(chosen.sum())
            facts[f"tokens found above {limit}"] = round(
                counts[chosen].sum() / len(self.ids), 4
            )
            facts[f"types found and sure above {limit}"] = int(both.sum())
            facts[f"tokens found and sure above {limit}"] = round(
                counts[both].sum() / len(self.ids), 4
            )
        order = np.argsort(-np.where(content, np.minimum(found, sure), 0))[:10]
        facts["most found and sure"] = {
            self.space.words[i]: [round(float(found[i]), 2), round(float(sure[i]), 2)]
            for i in order
        }
        facts["content, mean"] = round(
            float(right[np.append(is_content, False)[self.ids]].mean()), 4
        )
        return facts


if __name__ == "__main__":
    main()
