"""Measure private search: is the passage that is wanted among those fetched?

    python -m benchmarks private_search

A stub of a server returns the nearest passages by the cosine of TF-IDF. For each
question the passage that the question itself finds first is the target. Recall at k is
the share of questions whose *released* form has the target among the first k. At home
the true question orders the fetched passages, with the word frequencies of these alone.
Nothing is tuned here: every setting that is measured is reported. Three collections:
questions about insurance (test questions against 12,889 training questions), banking77
(test against training part), questions about diseases (each is itself a passage; no
language model is used, so none has seen them). One release for each question, keyed.
Writes results/private_search.json.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow.parquet as pq

import mondegreen as mg
from benchmarks import machine
from benchmarks.measure.private_prompts import Passages
from mondegreen.privatizer.build import build_privatizer
from mondegreen.prompts.private_search import tf_idf_cosine
from mondegreen.settings import Settings

RANKS: Final = (1, 10, 50, 200)
FETCH: Final = 50
FEW: Final = 5
QUERIES: Final = 1_000
KEY: Final = bytes(range(32))  # public, so that everybody gets these releases again
SETTINGS: Final = (
    ("names", 8.0),
    ("names", 12.0),
    ("sensitive", 6.0),
    ("sensitive", 8.0),
    ("sensitive", 10.0),
    ("sensitive", 12.0),
    ("sensitive", 14.0),
    ("all", 8.0),
    ("all", 10.0),
    ("all", 12.0),
    ("all", 14.0),
)


@dataclass(frozen=True)
class Collection:
    """Questions, passages, and the topic of each where they have one."""

    name: str
    queries: Sequence[str]
    passages: Sequence[str]
    topics: tuple[np.ndarray, np.ndarray] | None


def load_collections() -> list[Collection]:
    """Read the three collections."""
    found = []
    for name, file in (
        ("insurance", "insuranceqa_questions"),
        ("banking77", "private_text/banking77"),
    ):
        table = pq.read_table(machine.SHARED / f"{file}.parquet").to_pylist()
        train = [row for row in table if row["split"] == "train"]
        test = [row for row in table if row["split"] == "test"]
        chosen = np.random.default_rng(25).choice(len(test), QUERIES, replace=False)
        asked = [test[i] for i in sorted(chosen.tolist())]
        topics = tuple(
            np.array([row["label"] for row in rows]) for rows in (asked, train)
        )
        texts = [[row["text"] for row in rows] for rows in (asked, train)]
        found.append(Collection(name, *texts, topics))
    path = machine.SHARED / "public_text" / "medquad_health_qa.parquet"
    lines = pq.read_table(path, columns=["text"])["text"].to_pylist()
    passages = sorted({line for line in lines if line.endswith("?")})
    chosen = np.random.default_rng(25).choice(len(passages), QUERIES, replace=False)
    asked = [passages[i] for i in chosen]
    return [*found, Collection("diseases", asked, passages, None)]


def released(policy: str, epsilon: float, queries: Sequence[str]) -> list[str]:
    """Release each question once."""
    settings = Settings(policy=policy, epsilon=epsilon)
    privatizer = build_privatizer(settings, mg.KeyedNoise(KEY))
    found = privatizer.batch(list(queries), list(range(len(queries))))
    return [each.text for each in found if each is not None]


def measure(
    collection: Collection, index: Passages, asked: Sequence[str]
) -> dict[str, Any]:
    """Count what the released questions fetch, and what comes first at home."""
    target = index.nearest(collection.queries, 1)[:, 0]
    found = index.nearest(asked, max(RANKS))
    is_target = found == target[:, None]
    row: dict[str, Any] = {
        f"recall_at_{k}": float(is_target[:, :k].any(axis=1).mean()) for k in RANKS
    }
    best = []
    for query, mine in zip(collection.queries, found[:, :FETCH], strict=True):
        scores = tf_idf_cosine(query, [collection.passages[i] for i in mine])
        best.append(mine[np.argsort(-np.array(scores), kind="stable")[:FEW]])
    at_home = np.array(best)
    is_best = at_home == target[:, None]
    row["first_at_home"] = float(is_best[:, 0].mean())
    row["among_five_at_home"] = float(is_best.any(axis=1).mean())
    if collection.topics is not None:
        own, theirs = collection.topics
        # What a server sees: the topic of the nearest passage is its guess.
        row["server_guesses_topic"] = float(np.mean(theirs[found[:, 0]] == own))
        row["topic_first_at_home"] = float(np.mean(theirs[at_home[:, 0]] == own))
    return row


def main() -> None:
    """Ask all questions under all settings, and write."""
    result: dict[str, Any] = {"queries": QUERIES, "fetch": FETCH, "collections": {}}
    for collection in load_collections():
        index = Passages(collection.passages)
        rows: list[dict[str, Any]] = [
            {"policy": None, **measure(collection, index, collection.queries)}
        ]
        for policy, epsilon in SETTINGS:
            asked = released(policy, epsilon, collection.queries)
            pairs = zip(asked, collection.queries, strict=True)
            same = np.mean([a.lower() == b.lower() for a, b in pairs])
            found = measure(collection, index, asked)
            row = {"policy": policy, "epsilon": epsilon, "sent_as_it_is": float(same)}
            rows.append({**row, **found})
            print(collection.name, rows[-1], flush=True)
        sizes = np.array([len(text.encode()) for text in collection.passages])
        entry: dict[str, Any] = {
            "passages": len(collection.passages),
            "bytes_of_a_passage": float(sizes.mean()),
            "rows": rows,
        }
        if collection.topics is not None:
            _, counts = np.unique(collection.topics[0], return_counts=True)
            entry["topics"] = len(counts)
            entry["most_frequent_topic"] = float(counts.max() / QUERIES)
        result["collections"][collection.name] = entry
    machine.save("private_search", result)


if __name__ == "__main__":
    main()
