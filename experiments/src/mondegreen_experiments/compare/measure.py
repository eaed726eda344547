"""What a release of labelled texts leaves of use, and what is recovered of it."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from mondegreen.arrays import Floats
from mondegreen.attacks.outputs import has_closed_law
from mondegreen.privatizer.build import build_privatizer
from mondegreen.privatizer.privatizer import Privatizer
from mondegreen.sampling.noise import Seeded
from mondegreen.scores.corpus import CorpusScorer
from mondegreen.space.store import load_space
from mondegreen.wording import DEFAULT_SPACE
from mondegreen_experiments.bench import Bench
from mondegreen_experiments.compare.attack import attack_release
from mondegreen_experiments.compare.contenders import Contender, read_contender
from mondegreen_experiments.compare.data import PARTS, Texts, read_texts
from mondegreen_experiments.compare.learners import Written, fit
from mondegreen_experiments.recipe import Measured, Point

NO_NOISE: Final = "none"
"""The point where texts are released as they are."""

FULL_CORPUS: Final = 4000
"""Training texts that the attacker has at most, as texts of the same domain.

With fewer, the attacker recovers less than one who has other texts of the domain.
"""


def measure(bench: Bench, point: Point, seed: int) -> Measured:
    """Accuracy and macro F1 of each classifier, and what stays and is recovered.

    A classifier learns from a release and is asked about a release. ``chance`` is the
    share of the largest class among the texts that are asked. ``unchanged`` is the
    share of the words that stay; ``cosine`` compares each text with its release, both
    as the mean of their word vectors. ``recovered`` is the share of the sensitive words
    that an attacker recovers, who knows the law, has the training texts as a corpus of
    the same domain, and reads whole sentences. ``law_known`` is 0 where the attacker
    had to estimate the law from draws: a better one may recover more. So may one with a
    larger corpus where ``corpus_texts``, the texts of the corpus, is small.
    """
    texts, parts = _drawn(point, seed)
    released = _released(point, texts, parts, seed)
    test, found = texts.labels[parts["test"]], dict[str, float]()
    learned = {
        name: Written(released[name], texts.labels[parts[name]]) for name in PARTS
    }
    for classifier in point["classifiers"]:
        tell = fit(classifier, learned, texts.classes, DEFAULT_SPACE, seed)
        told = tell(learned["test"].texts)
        found[f"accuracy {classifier}"] = float((told.argmax(axis=1) == test).mean())
        found[f"f1 {classifier}"] = macro_f1(told, test)
    chance = float(np.bincount(test).max()) / len(test)
    clear = [texts.texts[i] for i in parts["test"]]
    return {
        **found,
        "chance": chance,
        **_beside(clear, released["test"]),
        **_recovered(point, texts, parts, seed),
    }


def macro_f1(told: Floats, labels: Any) -> float:
    r"""Mean over the true classes of :math:`2 tp / (2 tp + fp + fn)`, in [0, 1].

    >>> macro_f1(np.array([[0.9, 0.1], [0.8, 0.2]]), np.array([0, 1]))
    0.333...
    """
    named = told.argmax(axis=1)
    scores = []
    for each in np.unique(labels):
        hits = int(((named == each) & (labels == each)).sum())
        wrong = int(((named == each) != (labels == each)).sum())
        scores.append(2 * hits / (2 * hits + wrong))
    return float(np.mean(scores))


def _drawn(point: Point, seed: int) -> tuple[Texts, dict[str, Any]]:
    texts = read_texts(*(point[name] for name in ("path", "text", "label", "split")),
                       point["format"])  # fmt: skip
    return texts, texts.parts(seed, int(point["texts"]))


def _privatizer(point: Point) -> Privatizer | None:
    """The privatizer of a point, kept in this process; None without noise."""
    if point["contender"] == NO_NOISE:
        return None
    contender: Contender = read_contender(point["contender"])
    chosen = contender.settings(
        float(point["epsilon"]), point["space"], allow_unproved=point["unproved"]
    )
    return build_privatizer(chosen)


def _released(
    point: Point, texts: Texts, parts: Mapping[str, Any], seed: int
) -> dict[str, list[str]]:
    """Release the texts of each part, each text once, with noise of the seed."""
    made = _privatizer(point)
    clear = {name: [texts.texts[i] for i in rows] for name, rows in parts.items()}
    if made is None:
        return clear
    seeded = made.with_noise(Seeded(seed))
    return {
        name: [
            "" if each is None else each.text
            for each in seeded.batch(own, number=number)
        ]
        for number, (name, own) in enumerate(clear.items())
    }


@functools.lru_cache(maxsize=1)
def _scorer_space() -> Any:
    return load_space(DEFAULT_SPACE)


def _beside(clear: Sequence[str], released: Sequence[str]) -> dict[str, float]:
    """Compare texts with their releases, whatever the mechanism's own space."""
    scorer = CorpusScorer(_scorer_space())
    scorer.add(list(clear), list(released))
    scores = scorer.scores()
    return {
        "unchanged": 1 - (scores.pp or 0.0) / 100,
        "cosine": max(scores.text_cosine or 0.0, 0.0),
    }


def _recovered(
    point: Point, texts: Texts, parts: Mapping[str, Any], seed: int
) -> dict[str, float]:
    """Attack one more release of some tests; nothing where none is asked for."""
    attacked = [texts.texts[i] for i in parts["test"][: int(point["attacked"])]]
    made = _privatizer(point)
    if not attacked:
        return {}
    if made is None:
        return {"recovered": 1.0, "law_known": 1.0}
    corpus = [texts.texts[i] for i in parts["train"][:FULL_CORPUS]]
    read = attack_release(made, attacked, corpus, seed)
    share = read.sensitive.value  # none where no word of the texts is sensitive
    is_known = made.policy is not None or has_closed_law(made.state)
    if share is None:
        return {}
    return {
        "recovered": share,
        "law_known": float(is_known),
        "corpus_texts": float(len(corpus)),
    }
