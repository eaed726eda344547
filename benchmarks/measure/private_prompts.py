"""What an answer to a private prompt is worth, as far as that can be seen without one.

    python -m benchmarks private_prompts

No language model answers here. A stub does, which looks up the nearest of 12,889 public
questions about insurance by TF-IDF: it is counted how often a private question finds
what the question itself finds, and a question of the same of twelve fields. The same is
done with questions about diseases, whose names are no words of the vocabulary. Twenty
prompts are privatized for everyone to judge. Writes results/private_prompts.json.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow.parquet as pq
from scipy import sparse

import mondegreen as mg
from benchmarks import machine
from mondegreen.language.build import build_language, read_words
from mondegreen.language.mix import mix
from mondegreen.language.ngrams import NGrams
from mondegreen.language.store import load_language
from mondegreen.text.tokenizer import tokenize

TREE = (8.0, 10.0, 12.0, 18.0)
CALIBRATED = (1.5, 2.0, 3.0)  # most words replaced, about half of them, few of them
SHOWN = 10.0, 14.0
HELD = 500  # public questions that tell how to mix two language models
QUERIES = 1000
KEY = bytes(range(32))  # public, so that everybody gets these releases again
PROMPTS = (
    "My doctor says I have diabetes. Which fruit can I eat?",
    "Write a polite email to my landlord about the broken heating.",
    "I lost my job last month. How do I apply for unemployment benefits?",
    "Is it safe to take ibuprofen while I am pregnant?",
    "My husband drinks every evening. How can I talk to him about it?",
    "Translate into French: I will arrive on Monday morning.",
    "What is the capital of Australia?",
    "Summarize this contract in three sentences.",
    "How long should I boil eggs?",
    "My daughter is afraid of school. What should I do?",
    "Write a Python function that reverses a list.",
    "I was arrested for drunk driving in Ohio. Do I need a lawyer?",
    "Which bank offers the best loan for a small restaurant?",
    "I feel sad and cannot sleep since my mother died.",
    "Suggest a birthday present for my father, who likes fishing.",
    "How much tax do I pay if I sell my house in Spain?",
    "My neighbor's dog barks all night. Can I call the police?",
    "Explain how a vaccine works to a child.",
    "I owe 12,000 dollars on my credit card. Should I declare bankruptcy?",
    "Plan a cheap trip to Rome for two people in April.",
)


def words_of(texts: Sequence[str]) -> list[list[str]]:
    """The words of each text, in lower case."""
    found = []
    for text in texts:
        tokens = tokenize([text])
        found.append([word.lower() for word in tokens.words()])
    return found


class Passages:
    """Public texts that are found by the cosine of their TF-IDF, as by a stub."""

    def __init__(self, texts: Sequence[str]) -> None:
        many = words_of(texts)
        self._ids = {
            w: i for i, w in enumerate(dict.fromkeys(w for t in many for w in t))
        }
        counts = self._counts(many)
        frequency = np.diff(counts.tocsc().indptr)
        self._weights = np.log((1 + len(texts)) / (1 + frequency)) + 1
        self._passages = self._scaled(counts)

    def _counts(self, many: Sequence[Sequence[str]]) -> sparse.csr_matrix:
        rows = [
            (i, self._ids[w]) for i, t in enumerate(many) for w in t if w in self._ids
        ]
        places = np.array(rows, dtype=np.int64).reshape(-1, 2).T
        shape = len(many), len(self._ids)
        return sparse.coo_matrix((np.ones(len(rows)), places), shape).tocsr()

    def _scaled(self, counts: sparse.csr_matrix) -> sparse.csr_matrix:
        weighted = counts.multiply(self._weights).tocsr()
        norms = np.sqrt(weighted.multiply(weighted).sum(axis=1)).A1
        return sparse.diags(1 / np.maximum(norms, 1e-12)) @ weighted

    def nearest(self, texts: Sequence[str], count: int) -> np.ndarray:
        """The numbers of the nearest passages of each text, nearest first."""
        found = []
        for start in range(0, len(texts), 200):
            asked = self._scaled(self._counts(words_of(texts[start : start + 200])))
            scores = (asked @ self._passages.T).toarray()
            found.append(np.argsort(-scores, axis=1, kind="stable")[:, :count])
        return np.concatenate(found)


@dataclass(frozen=True)
class Setting:
    """A mechanism, and how its releases are read."""

    mechanism: str
    epsilon: float
    read: str = "none"
    language: NGrams | None = None

    def privatizer(self) -> mg.Privatizer:
        law = mg.mechanism(self.mechanism, epsilon=self.epsilon)
        case = "lower" if self.read == "none" else "truecase"
        how = {"read": self.read, "case": case, "language": self.language}
        return mg.Privatizer(law, **how, noise=mg.KeyedNoise(KEY))

    def released(self, texts: Sequence[str]) -> list[str]:
        found = self.privatizer().batch(list(texts), list(range(len(texts))))
        return [each.text for each in found]

    def row(self) -> dict[str, object]:
        read = self.read if self.language is None else "sentence, model of the kind"
        unchanged = self.privatizer().preview().unchanged
        named = {"mechanism": self.mechanism, "epsilon": self.epsilon, "read": read}
        return {**named, "stay": unchanged}


def kind_of(passages: Sequence[str]) -> NGrams:
    """A language model of the public passages, mixed with the embedded one."""
    space = mg.load_space()
    own = build_language([list(passages[HELD:])], space)
    ids, ends = read_words([passages[:HELD]], space)
    return mix(load_language(), own, ids, ends).model


def compared(
    queries: Sequence[str],
    passages: Sequence[str],
    fields: tuple | None,
    settings: Sequence[Setting],
) -> list[dict[str, object]]:
    """Count what private questions find of what the questions themselves find."""
    index = Passages(passages)
    truth = index.nearest(queries, 1)[:, 0]
    rows = []
    for setting in (None, *settings):
        asked = setting.released(queries) if setting else queries
        found = index.nearest(asked, 10)
        row = setting.row() if setting else {"mechanism": None}
        row["same"] = float(np.mean(found[:, 0] == truth))
        row["among_ten"] = float(np.mean((found == truth[:, None]).any(axis=1)))
        if fields is not None:
            own, theirs = fields
            row["field"] = float(np.mean(theirs[found[:, 0]] == own))
        rows.append(row)
        print(row, flush=True)
    return rows


def main() -> None:
    """Ask, compare, privatize the twenty prompts, and write."""
    table = pq.read_table(machine.SHARED / "insuranceqa_questions.parquet").to_pylist()
    train = [row for row in table if row["split"] == "train"]
    test = [row for row in table if row["split"] == "test"][:QUERIES]
    fields = tuple(np.array([row["label"] for row in rows]) for rows in (test, train))
    texts = [row["text"] for row in test], [row["text"] for row in train]
    kind = kind_of(texts[1])
    settings = [
        *(Setting("tree", e) for e in TREE),
        *(Setting("tree", e, "sentence") for e in TREE),
        *(Setting("tree", e, "sentence", kind) for e in TREE),
        *(Setting("calibrated", e) for e in CALIBRATED),
    ]
    insurance = compared(*texts, fields, settings)

    path = machine.SHARED / "public_text" / "medquad_health_qa.parquet"
    lines = pq.read_table(path, columns=["text"])["text"].to_pylist()
    asked = sorted({line for line in lines if line.endswith("?")})
    rng = np.random.default_rng(7)
    some = [asked[i] for i in rng.choice(len(asked), QUERIES, replace=False)]
    raw = [each for each in settings if each.read == "none"]
    diseases = compared(some, asked, None, raw)

    shown = []
    releases = {
        (epsilon, read): Setting("tree", epsilon, read).released(PROMPTS)
        for epsilon in SHOWN
        for read in ("none", "sentence")
    }
    for i, prompt in enumerate(PROMPTS):
        made = {f"{read} {epsilon:g}": releases[epsilon, read][i]
                for epsilon, read in releases}  # fmt: skip
        shown.append({"prompt": prompt, **made})
    most = max(np.bincount(np.unique(fields[0], return_inverse=True)[1])) / len(test)
    machine.save(
        "private_prompts",
        {
            "queries": QUERIES,
            "passages": {"insurance": len(train), "diseases": len(asked)},
            "most_frequent_field": float(most),
            "insurance": insurance,
            "diseases": diseases,
            "prompts": shown,
        },
    )


if __name__ == "__main__":
    main()
