"""Measure policies beside the other mechanisms: what is recovered, and what is left.

    python -m benchmarks policies [--fresh]

Six collections: film reviews, news, tweets, questions about insurance, banking77 and
clinc150, by their test parts (of clinc150 the validation part, by which the policy was
developed); two annotated sets, both of which the policy was developed on. Every release
is one draw. Sensitive words are one frozen list for all settings
(``mondegreen.attacks.sensitive``). The attacker has the training part as a corpus.
Classifiers were trained on clear text. Writes results/policies.json after each row; a
run that was stopped goes on where it was. Rows of a policy whose lists have changed
since are measured again. The releases of the other mechanisms do not depend on the
lists, but which words count as sensitive does: they are attacked again.
"""

from __future__ import annotations

import functools
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow.parquet as pq
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression

import mondegreen as mg
from benchmarks import machine
from benchmarks.measure.private_prompts import Passages
from mondegreen.attacks.attack import wilson
from mondegreen.attacks.linkage import linkage
from mondegreen.attacks.outputs import compute_outputs
from mondegreen.attacks.pairs import build_pairs
from mondegreen.attacks.reader import Knowledge, Reader, TableReader
from mondegreen.attacks.sensitive import (
    InDomainReader,
    guess_hidden_words,
    guess_words_of_space,
    is_counted,
    sensitive_words,
)
from mondegreen.language.build import build_language, read_words
from mondegreen.language.mix import mix
from mondegreen.language.ngrams import NGrams
from mondegreen.language.store import load_language
from mondegreen.policy.policy import Policy, load_policy
from mondegreen.policy.printing import PolicyPrinter
from mondegreen.text.lookup import Lookup
from mondegreen.text.tokenizer import TokenizedBatch, canonical, tokenize

SEED: Final = 24
KEY: Final = bytes(range(32))
LINKED: Final = 1_000
FIRST: Final = 5
WAY: Final = f"first {FIRST} words"
QUERIES: Final = 500
RANKS: Final = (1, 10, 50)
HIDE_AMONG: Final = (100, 1_000, 1_000_000)  # the last one: each class one group
SLOW_SETS: Final = ("insurance", "banking77")
GROUPED: Final = ("news", "tweets", "insurance", "clinc150")
HELD: Final = 500  # texts of the corpus that weigh two language models


@dataclass(frozen=True)
class Collection:
    """Texts of one kind, with labels; how many of the test part are attacked, and read.

    ``attacked`` texts are attacked; ``read`` texts are labeled where releases take
    long. Policies release the whole test part.
    """

    file: str
    test: str
    attacked: int
    read: int
    c: float
    is_development: bool = False

    def texts(self, split: str) -> list[str]:
        return [row["text"] for row in self._rows() if row["split"] == split]

    def labels(self, split: str) -> list[Any]:
        return [row["label"] for row in self._rows() if row["split"] == split]

    def _rows(self) -> list[dict[str, Any]]:
        return _rows_of(self.file)


@functools.cache
def _rows_of(file: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = pq.read_table(
        machine.SHARED / f"{file}.parquet"
    ).to_pylist()
    order = np.random.default_rng(SEED).permutation(len(rows))
    return [rows[i] for i in order.tolist()]


COLLECTIONS: Final = {
    "film reviews": Collection("imdb", "test", 120, 400, 5.0),
    "news": Collection("ag_news", "test", 500, 1000, 5.0),
    "tweets": Collection("disaster_tweets", "test", 1000, 1000, 5.0),
    "insurance": Collection("insuranceqa_questions", "test", 1000, 1000, 5.0),
    "banking77": Collection("private_text/banking77", "test", 1500, 1000, 30.0),
    "clinc150": Collection(
        "private_text/clinc150", "val", 1500, 1000, 30.0, is_development=True
    ),
}
ANNOTATED: Final = ("presidio_synthetic", "llm_redactor")
TITLE: Final = "TITLE"  # "Mr.": not a unit that tells who somebody is


@dataclass(frozen=True)
class Setting:
    """What made a release."""

    mechanism: str
    epsilon: float
    policy: str = "all"
    read: str = "none"

    @property
    def key(self) -> str:
        return f"{self.policy}|{self.mechanism}|{self.epsilon:g}|{self.read}"


EPSILONS: Final = (12.0, 10.0, 14.0, 8.0)
POLICIES: Final = [
    Setting(mechanism, epsilon, policy)
    for epsilon in EPSILONS
    for policy in ("sensitive", "names")
    for mechanism in ("urr", "krr")
]
TREE: Final = [Setting("tree", 10.0), Setting("tree", 10.0, read="sentence")]
SLOW: Final = [
    Setting("calibrated", 1.5),
    Setting("calibrated", 1.8),
    Setting("exponential", 2.4),
    Setting("tem", 2.4),
]
FIRST_ROWS: Final = len(("urr", "krr")) * len(("sensitive", "names"))
SETTINGS: Final = [*POLICIES[:FIRST_ROWS], *TREE, *POLICIES[FIRST_ROWS:], *SLOW]


@dataclass(frozen=True)
class Release:
    """Released texts, their originals cut into words, and what is printed of each word.

    ``words`` is None for a text whose words cannot be paired with those of its release.
    """

    texts: list[str]
    originals: TokenizedBatch
    words: list[list[str] | None]

    def pairs(self) -> Iterator[tuple[list[str], list[str] | None]]:
        """Yield the parts of each text, and its printed words."""
        for parts, words in zip(self.originals.parts, self.words, strict=True):
            yield parts or [""], words


class PolicyRelease:
    """Releases texts under a policy, as the command does."""

    def __init__(self, setting: Setting) -> None:
        self.policy: Policy = load_policy(setting.policy)
        law: Any = mg.mechanism(setting.mechanism, epsilon=setting.epsilon)
        self.state = law.prepare(self.policy.alphabet)
        self._printer = PolicyPrinter(self.policy)

    def words(self, symbols: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return self.state.sample(symbols, rng)

    def release(self, texts: Sequence[str], lookup: Any) -> Release:
        rng = np.random.default_rng(SEED)
        batch = lookup.cut(list(texts))
        drawn = self.words(lookup.codes(batch), rng)
        members, begins = self.policy.draw_members(drawn, rng), batch.begins
        printed, words = [], []
        for k, parts in enumerate(batch.parts):
            mine = members[begins[k] : begins[k + 1]]
            text, spans = self._printer.spans(parts or [""], mine)
            printed.append(text)
            words.append([text[span.start : span.end] for span in spans])
        return Release(printed, batch, words)


class SpaceRelease:
    """Releases texts by a mechanism over the words of the embedded space."""

    def __init__(self, setting: Setting) -> None:
        law = mg.mechanism(setting.mechanism, epsilon=setting.epsilon)
        self._privatizer = mg.Privatizer(
            law,
            read=setting.read,  # type: ignore[arg-type]
            case="truecase",
            noise=mg.KeyedNoise(KEY),
        )
        self.state = self._privatizer.state
        self.space = self._privatizer.space

    def release(self, texts: Sequence[str]) -> Release:
        found = self._privatizer.batch(list(texts), list(range(len(texts))))
        printed = [each.text if each else "" for each in found]
        batch, out = tokenize(list(texts)), tokenize(printed)
        words = [
            theirs[1::2] if mine and len(mine) == len(theirs or []) else None
            for mine, theirs in zip(batch.parts, out.parts, strict=True)
        ]
        return Release(printed, batch, words)


@functools.lru_cache(maxsize=1)
def release_of(setting: Setting) -> PolicyRelease | SpaceRelease:
    """Prepare a setting, the last one asked for."""
    return SpaceRelease(setting) if setting.policy == "all" else PolicyRelease(setting)


@functools.cache
def reader_of(name: str, policy: str) -> InDomainReader:
    """The in-domain reader of a collection; its law is set later."""
    corpus = COLLECTIONS[name].texts("train")
    response = PolicyRelease(Setting("urr", 12.0, policy)).state.response
    return InDomainReader(load_policy(policy), corpus, response)


@functools.cache
def language_of(name: str) -> NGrams:
    """An in-domain language model of the words of the embedded space."""
    corpus, space = COLLECTIONS[name].texts("train"), mg.load_space()
    own = build_language([corpus[HELD:]], space)
    ids, ends = read_words([corpus[:HELD]], space)
    return mix(load_language(), own, ids, ends).model


@functools.cache
def classifier_of(name: str) -> tuple[TfidfVectorizer, LogisticRegression]:
    """A classifier of clear text."""
    collection = COLLECTIONS[name]
    vectorizer = TfidfVectorizer(
        ngram_range=(1, 2), sublinear_tf=True, min_df=1 if collection.c > 5 else 2
    )
    table = vectorizer.fit_transform(collection.texts("train"))
    model = LogisticRegression(C=collection.c, max_iter=300)
    return vectorizer, model.fit(table, collection.labels("train"))


@functools.cache
def passages() -> Passages:
    """Public questions about insurance, to find the nearest of."""
    return Passages(COLLECTIONS["insurance"].texts("train"))


@functools.cache
def truth() -> np.ndarray:
    """What the questions themselves find."""
    asked = COLLECTIONS["insurance"].texts("test")[:QUERIES]
    return passages().nearest(asked, 1)[:, 0]


def same_words(release: Release) -> dict[str, Any]:
    """Which words are printed again in their places, where they can be paired."""
    fits, same = [], []
    for parts, words in release.pairs():
        fits.append(words is not None)
        same.append(printed_again(parts[1::2], words) if words is not None else None)
    counted = is_counted(release.originals)
    inside = np.repeat(np.array(fits), release.originals.counts())
    kept = np.concatenate([each for each in same if each is not None])
    counted = counted[inside]
    return {
        "aligned": float(np.mean(fits)),
        "kept": float(kept.mean()),
        "printed_again": float(kept[counted].mean()) if counted.any() else None,
    }


def printed_again(originals: Sequence[str], printed: Sequence[str]) -> np.ndarray:
    """Say which words are equal to what stands in their places."""
    mine, theirs = map(canonical, originals), map(canonical, printed)
    pairs = zip(mine, theirs, strict=True)
    return np.fromiter((a == b for a, b in pairs), dtype=np.bool_)


def attacked(setting: Setting, name: str, release: Any) -> dict[str, Any]:
    """What the in-domain reader recovers, and the guess from the output alone."""
    texts = COLLECTIONS[name].texts(COLLECTIONS[name].test)
    texts = texts[: COLLECTIONS[name].attacked]
    batch, rng = tokenize(texts), np.random.default_rng(SEED)
    if isinstance(release, PolicyRelease):
        reader = reader_of(name, setting.policy).under(release.state.response)
        symbols = reader.lookup.codes(batch)
        guesses = guess_hidden_words(reader, batch, release.words(symbols, rng))
        hidden = release.policy.alphabet.is_group(symbols)
        found = sensitive_words(batch, guesses, hidden)
    else:
        state, language = release.state, language_of(name)
        knowledge = Knowledge.of_language(state, language)
        (sentences,) = knowledge.readers.values()
        (outputs,) = compute_outputs(state, [knowledge.prior])
        alone: Reader = TableReader(outputs.guess)
        pairs = build_pairs(texts, Lookup(release.space)).sample(state, rng)
        corpus = reader_of(name, "sensitive").corpus_words
        unknown = release.space.vocab_size
        guesses = guess_words_of_space(sentences, alone, pairs, unknown, corpus)
        found = sensitive_words(batch, guesses)
    kept = ("known_only", "hidden_only", "group_alone", "by_class", "beside")
    return {
        "texts": len(texts),
        "words": int(sum(batch.counts())),
        "corpus_words": found.details["corpus_words"],
        "value": found.value,
        "low": found.low,
        "high": found.high,
        "n": found.n,
        **{name: found.details[name] for name in kept},
    }


def linked(setting: Setting, name: str, release: Any) -> float | None:
    """Share of releases linked to their originals by the first words."""
    texts = COLLECTIONS[name].texts(COLLECTIONS[name].test)
    parts = [p for p in tokenize(texts).parts if p and len(p) > 2 * FIRST]
    cut = ["".join(p[: 2 * FIRST]) for p in parts][:LINKED]
    if isinstance(release, PolicyRelease):
        lookup: Any = reader_of(name, setting.policy).lookup
    else:
        lookup = Lookup(release.space)
    pairs = build_pairs(cut, lookup).sample(release.state, np.random.default_rng(SEED))
    ways = linkage(release.state, pairs).details["by"]
    return next((way["value"] for way in ways if way["by"] == WAY), None)


def measured(setting: Setting, name: str, release: Any) -> dict[str, Any]:
    """One row: a setting on a collection."""
    collection = COLLECTIONS[name]
    texts, labels = (
        collection.texts(collection.test),
        collection.labels(collection.test),
    )
    if isinstance(release, PolicyRelease):
        made = release.release(texts, reader_of(name, setting.policy).lookup)
    else:
        texts, labels = texts[: collection.read], labels[: collection.read]
        made = release.release(texts)
    out = made.texts
    row: dict[str, Any] = {"texts": len(texts), **same_words(made)}
    if name != "insurance":
        vectorizer, model = classifier_of(name)
        row["accuracy"] = float(model.score(vectorizer.transform(out), labels))
        row["clear"] = float(model.score(vectorizer.transform(texts), labels))
    else:
        near = passages().nearest(out[:QUERIES], RANKS[-1]) == truth()[:, None]
        row["same_passage"] = {str(k): float(near[:, :k].any(1).mean()) for k in RANKS}
    return row


def annotated(setting: Setting, name: str, release: Any) -> dict[str, Any]:
    """Annotated units that are printed unchanged, and other words that are kept."""
    path = machine.SHARED / "private_text" / f"{name}.parquet"
    rows = pq.read_table(path).to_pylist()
    texts = [row["text"] for row in rows]
    if isinstance(release, PolicyRelease):
        made = release.release(texts, reader_of("banking77", setting.policy).lookup)
    else:
        made = release.release(texts)
    units = left = prompts = kept = others = aligned = 0
    for row, (parts, words) in zip(rows, made.pairs(), strict=True):
        if not words:
            continue
        aligned += 1
        ends = np.cumsum([len(part) for part in parts])
        same = printed_again(parts[1::2], words)
        starts, stops = ends[:-1:2], ends[1::2]
        inside, has_left = np.zeros(len(same), dtype=np.bool_), False
        for start, end, kind in _spans(row["spans"]):
            covered = (starts < end) & (stops > start)
            inside |= covered
            if kind == TITLE or not covered.any():
                continue
            units += 1
            left += bool(same[covered].all())
            has_left |= bool(same[covered].all())
        prompts += has_left
        kept += int((same & ~inside).sum())
        others += int((~inside).sum())
    low, high = wilson(left, units)
    return {
        "prompts": aligned,
        "left_out": len(rows) - aligned,
        "units": units,
        "units_left": left / units,
        "low": low,
        "high": high,
        "prompts_with_one": prompts / aligned,
        "other_words_kept": kept / others,
    }


def _spans(text: str) -> list[tuple[int, int, str]]:
    """Read spans, which have one of two forms."""
    return [
        (s["start"], s["end"], s.get("type") or s.get("kind"))
        if isinstance(s, dict)
        else (s[0], s[1], s[2])
        for s in json.loads(text)
    ]


def about() -> dict[str, Any]:
    """What was measured on what."""
    collections = {
        name: {
            "file": each.file,
            "part": each.test,
            "is_development": each.is_development,
            "corpus_texts": len(each.texts("train")),
            "test_texts": len(each.texts(each.test)),
        }
        for name, each in COLLECTIONS.items()
    }
    policies = {
        name: {
            "ordinary": len(load_policy(name).ordinary),
            "groups": len(load_policy(name).groups),
            "digest": load_policy(name).digest,
        }
        for name in ("sensitive", "names")
    }
    return {"collections": collections, "policies": policies}


def sets_of(setting: Setting) -> tuple[str, ...]:
    """The sets that a setting is measured on: few where that takes minutes for each."""
    if setting.mechanism in ("tree", "krr", "urr"):
        return (*COLLECTIONS, *ANNOTATED)
    return (*SLOW_SETS, *ANNOTATED)


def by_group_size(name: str) -> list[dict[str, Any]]:
    """What the reader recovers of a collection as groups grow."""
    collection = COLLECTIONS[name]
    batch = tokenize(collection.texts(collection.test)[:QUERIES])
    found = []
    for least in HIDE_AMONG:
        policy = load_policy("sensitive", hide_among=least)
        law: Any = mg.mechanism("urr", epsilon=12.0)
        state = law.prepare(policy.alphabet)
        reader = InDomainReader(policy, collection.texts("train"), state.response)
        symbols = reader.lookup.codes(batch)
        released = state.sample(symbols, np.random.default_rng(SEED))
        attack = sensitive_words(batch, guess_hidden_words(reader, batch, released))
        found.append({"hide_among": least, "value": attack.value, "n": attack.n})
    return found


def is_of_these_lists(policy: str, last: dict[str, Any]) -> bool:
    """Whether the last results are of the lists that are shipped now."""
    digest: str = last["policies"][policy]["digest"]
    return digest == load_policy(policy).digest


def drop_attacks(row: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """A row without what depends on which words count as sensitive."""
    return {
        name: {key: value for key, value in found.items() if key != "attack"}
        for name, found in row.items()
    }


class Results:
    """The rows so far, written after each one."""

    def __init__(self) -> None:
        self._path = machine.RESULTS / "policies.json"
        self.rows: dict[str, dict[str, Any]] = {}
        self.earlier: dict[str, dict[str, Any]] = {}
        if self._path.exists() and "--fresh" not in sys.argv:
            last = json.loads(self._path.read_text("utf-8"))
            self.earlier = last.get("earlier", {})
            for key, row in last["rows"].items():
                policy = key.partition("|")[0]
                if is_of_these_lists("sensitive" if policy == "all" else policy, last):
                    self.rows[key] = row
                elif policy == "all":
                    self.rows[key] = drop_attacks(row)
                else:
                    self.earlier[key] = row

    def add(self, setting: Setting, name: str, found: dict[str, Any]) -> None:
        """Add figures of a setting on a set."""
        self.rows.setdefault(setting.key, {}).setdefault(name, {}).update(found)
        self.write()
        print(setting.key, name, *found, flush=True)

    def write(self, **more: Any) -> None:
        """Write all rows; those of earlier lists until they are measured again."""
        whole = {key for key, row in self.rows.items() if {*ANNOTATED} <= row.keys()}
        earlier = {key: row for key, row in self.earlier.items() if key not in whole}
        rows = {"rows": self.rows, "earlier": earlier}
        result = {"machine": machine.describe(), **about(), **rows, **more}
        self._path.write_text(json.dumps(result, indent=1) + "\n", "utf-8")


def main() -> None:
    """Measure every setting on every set, and write after each."""
    results = Results()
    for setting, name in ((each, n) for each in SETTINGS for n in sets_of(each)):
        row = results.rows.get(setting.key, {}).get(name, {})
        release = release_of(setting)
        if not row:
            measure: Any = annotated if name in ANNOTATED else measured
            results.add(setting, name, measure(setting, name, release))
        if setting.read == "none" and name in COLLECTIONS and "attack" not in row:
            link = linked(setting, name, release)
            attack = attacked(setting, name, release)
            results.add(setting, name, {"attack": attack, "linkage": link})
    results.write(by_group_size={name: by_group_size(name) for name in GROUPED})


if __name__ == "__main__":
    main()
