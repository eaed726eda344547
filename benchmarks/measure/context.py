"""Measure which hidden words their context gives away, before any draw.

60 texts of each public collection, under settings that a user may choose. The attacker
knows the setting and a language model: the one of the package, or an in-domain one of
3,000 other texts of the collection.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pyarrow.parquet as pq

import mondegreen as mg
from benchmarks import machine
from mondegreen.attacks.context import certify_context
from mondegreen.attacks.sensitive import in_domain_language

COLLECTIONS = {
    "insurance questions": "insuranceqa_questions",
    "tweets": "disaster_tweets",
    "news": "ag_news",
}
TEXTS, CORPUS = 60, 3_000
SETTINGS: dict[str, dict[str, Any]] = {
    "`sensitive`, `urr` 12": {"mechanism": "urr", "epsilon": 12.0},
    "the same, `--hide-among 500`": {
        "mechanism": "urr",
        "epsilon": 12.0,
        "hide_among": 500,
    },
    "`names`, `urr` 12": {"mechanism": "urr", "epsilon": 12.0, "policy": "names"},
    "`sensitive`, `krr` 8": {"mechanism": "krr", "epsilon": 8.0},
    "`all`, `tree` 10": {"mechanism": "tree", "epsilon": 10.0, "policy": "all"},
}


def texts_of(name: str) -> tuple[list[str], list[str]]:
    """Draw texts to protect and others to learn from, the same ones each time."""
    path = machine.SHARED / f"{COLLECTIONS[name]}.parquet"
    found = pq.read_table(path)["text"].to_pylist()
    texts = sorted({text for text in found if text and text.split()})
    chosen = np.random.default_rng(26).permutation(len(texts))[: TEXTS + CORPUS]
    drawn = [texts[i] for i in chosen.tolist()]
    return drawn[:TEXTS], drawn[TEXTS:]


def main() -> None:
    """Measure, and write after each setting, so that a killed run is resumed."""
    path = machine.RESULTS / "context.json"
    rows = json.loads(path.read_text())["rows"] if path.exists() else []
    done = {(row["collection"], row["setting"], row["attacker"]) for row in rows}
    space = mg.load_space()
    for name in COLLECTIONS:
        texts, corpus = texts_of(name)
        models = {"public": None, "in-domain": in_domain_language(corpus, space)}
        for setting, given in SETTINGS.items():
            options = dict(given)
            law = mg.mechanism(options.pop("mechanism"), epsilon=options.pop("epsilon"))
            private = mg.Privatizer(law, **options)
            for attacker, model in models.items():
                if (name, setting, attacker) in done:
                    continue
                found = certify_context(texts, private, language=model, draws=4)
                counts = found.to_dict()
                rows.append(
                    {
                        "collection": name,
                        "setting": setting,
                        "attacker": attacker,
                        "texts": counts["texts"],
                        "hidden_words": counts["hidden_words"],
                        "exposed": counts["exposed"],
                        "mean_posterior": round(counts["mean_posterior"], 4),
                    }
                )
                print(rows[-1], flush=True)
                machine.save("context", {"draws": 4, "rows": rows})


if __name__ == "__main__":
    main()
