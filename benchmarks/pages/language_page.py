"""Write the tables of docs/how-to/language-models.md from the result files."""

from __future__ import annotations

import json
from itertools import product

from benchmarks import machine
from benchmarks.pages.page import Table, fill
from benchmarks.pages.sentences_rows import SETS

PAGE = "how-to/language-models.md"
SIZES = ("100", "1000", "all")
KNOWN = "of_known"
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
    """What a reader gains who learns from the release."""
    result = json.loads((machine.RESULTS / "learning_reader.json").read_text())
    rows, models = [], {"embedded": "`english`", "kind": "of the kind"}
    for model, (data, name), size in product(models, SETS.items(), SIZES):
        row = result["rows"].get(f"{data}|{model}|{size}|learned")
        if row is None:
            continue
        before, after = row["before"], row["after"]
        cells = [f"{before[key]:.3f} → {after[key]:.3f}" for key in ("reader", KNOWN)]
        for key, digits in (("accuracy", ".3f"), ("perplexity", ",.0f")):
            known = key in before
            gain = f"{before[key]:{digits}} → {after[key]:{digits}}" if known else "–"
            cells.append(gain)
        rows.append([name, models[model], f"{row['texts']:,}", *cells])
    header = ["texts", "model", "how many", "reader recovers", "of known words"]
    return Table([*header, "accuracy of a reading", "its perplexity"], rows, (1,))


TABLES = {"the leak": leak, "learned": learned}

if __name__ == "__main__":
    fill(PAGE, TABLES)
