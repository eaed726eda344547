"""Write the tables of docs/explanation/binary-codes.md from the result file."""

from __future__ import annotations

import json

import numpy as np

from benchmarks import machine
from benchmarks.pages.page import fill

PAGE = "explanation/binary-codes.md"


def tables() -> str:
    """Both tables of the page."""
    result = json.loads((machine.RESULTS / "brr.json").read_text())
    plain, learned, sources = (result[k] for k in ("hyperplane", "tissier", "vectors"))
    means = result["imdb_mean_of_words"]
    cosine = sources["simlex_centred_cosine"]
    rows = [
        ["", "vectors", "learned codes (default)", "random hyperplanes"],
        ["---", "---:", "---:", "---:"],
    ]
    labels = {
        "recall_at_10": ("ten nearest words kept", "1"),
        "spearman_euclidean": ("rank correlation with Euclidean distance", "1"),
        "spearman_centred_cosine": ("with the cosine around the centroid", ""),
        "simlex": ("with the judgments of SimLex-999", f"{cosine:.2f} (cosine)"),
    }
    for key, (label, exact) in labels.items():
        rows.append([label, exact, f"{learned[key]:.2f}", f"{plain[key]:.2f}"])
    accuracies = [f"{means[k]:.3f}" for k in ("vectors", "tissier", "hyperplane")]
    rows.append(["IMDb accuracy, mean over words", *accuracies])
    for key, label in (
        ("words_sharing_a_code", "words without a code of their own"),
        ("nearest", "median nearest word, bits"),
        ("mean", "mean pair, bits"),
        ("diameter", "farthest pair, bits"),
    ):
        rows.append([label, "", f"{learned[key]:.0f}", f"{plain[key]:.0f}"])
    table = "\n".join("| " + " | ".join(row) + " |" for row in rows)
    after = result["imdb_bag_of_words_after_brr"]
    lines = [
        "| epsilon a bit | bits flipped, of 256 | words unchanged | IMDb accuracy |",
        "|---:|---:|---:|---:|",
    ]
    for key, entry in after.items():
        if key == "original":
            continue
        flips = 256 / (1 + np.exp(float(key)))
        lines.append(
            f"| {key} | {flips:.0f} | {entry['stay']:.3f} | {entry['accuracy']:.3f} |"
        )
    lines.append(f"| no privacy | 0 | 1 | {after['original']['accuracy']:.3f} |")
    return "\n".join(["", table, "", *lines, "", ""])


TABLES = {"what codes keep": tables}

if __name__ == "__main__":
    fill(PAGE, TABLES)
