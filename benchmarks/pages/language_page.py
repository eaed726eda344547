"""Write the tables of docs/how-to/language-models.md from the result files."""

from __future__ import annotations

import json
from itertools import product

from benchmarks import machine
from benchmarks.pages.page import Table, fill
from benchmarks.pages.sentences_rows import SETS

PAGE = "how-to/language-models.md"
WEIGHED, W = ("news", "reviews"), ("0.85", "1", "1.15", "1.3")
WHEN = ("before", "after")
NAMES = {
    "public": "`english`, the embedded one",
    "kind": "other film reviews",
    "private": "**the private reviews themselves**",
    "private, 3 or more": "**the same, with `--least 3`**",
}


def leak() -> Table:
    """What comes back under each model."""
    result = json.loads((machine.RESULTS / "private_language.json").read_text())
    rows = []
    for name, row in result["models"].items():
        printed = f"{row['phrases_printed']:,} of {result['phrases']:,}"
        rows.append([NAMES[name], f"{row['words_recovered']:.0%}", printed])
    header = ["language model", "words recovered", "phrases printed word for word"]
    return Table(header, rows)


def learned() -> Table:
    """What a reader gains who learns from the largest release of a kind."""
    rows, models = [], {"embedded": "`english`", "kind": "in-domain"}
    for model, (data, name) in product(models, SETS.items()):
        found = [row for key, row in gains() if key[:2] == [data, model]]
        if not found:
            continue
        row = max(found, key=lambda row: row["words"])
        cells = [
            _change(row, key, digits)
            for key, digits in (
                ("reader", ".3f"),
                ("of_known", ".3f"),
                ("accuracy", ".3f"),
                ("perplexity", ",.0f"),
            )
        ]
        rows.append([name, models[model], f"{row['words']:,}", *cells])
    header = ["texts", "model", "words", "reader recovers", "of known words"]
    return Table([*header, "accuracy", "perplexity"], rows, (1,))


def every_size() -> Table:
    """What a reader gains from releases of every size, for programs."""
    keys = ("reader", "of_known", "claimed")
    header = ["texts", "model", "how many", "words", "weight of the public model"]
    header += [f"{key} {when}" for when in WHEN for key in keys]
    rows = [
        [SETS[data], model, f"{row['texts']}", f"{row['words']}", f"{row['weight']}"]
        + [f"{row[when][key]:.4f}" for when in WHEN for key in keys]
        for (data, model, *_), row in gains()
    ]
    return Table(header, rows)


def gains() -> list[tuple[list[str], dict]]:
    """The rows of learning, by data, model and size."""
    result = json.loads((machine.RESULTS / "learning_reader.json").read_text())
    found = [(key.split("|"), row) for key, row in result["rows"].items()]
    return sorted((k, row) for k, row in found if k[-1] == "learned")


def _change(row: dict, key: str, digits: str) -> str:
    """From before to after."""
    if key not in row["before"]:
        return "–"
    return " → ".join(f"{row[when][key]:{digits}}" for when in WHEN)


def weights() -> Table:
    """Accuracy and perplexity of what is printed, by the weight of the model."""
    result = json.loads((machine.RESULTS / "learning_reader.json").read_text())["rows"]
    rows, models = [], {"embedded": "`english`", "kind": "in-domain"}
    for data, model in product(WEIGHED, models):
        found = {
            weight: result.get(f"{data}|{model}|{weight}|weighted") for weight in W
        }
        found["1"] = as_printed(data, model)
        cells = [
            f"{row['accuracy']:.3f}, {row['perplexity']:,.0f}" if row else "–"
            for row in found.values()
        ]
        rows.append([SETS[data], models[model], *cells])
    return Table(["texts", "model", *W], rows, (1,))


def as_printed(data: str, model: str) -> dict:
    """The reading with a weight of 1, as the evidence of sentences has it."""
    result = json.loads((machine.RESULTS / "sentences.json").read_text())["rows"]
    found: dict = result[f"{data}|tree, default|10"][model]
    return found


TABLES = {"the leak": leak, "learned": learned, "weights": weights}
DATA = {"learning-reader.csv": every_size}

if __name__ == "__main__":
    fill(PAGE, TABLES, DATA)
