"""Questions and what may answer them, in the place of InsuranceQA's answers."""

from __future__ import annotations

from typing import Final

import numpy as np

from mondegreen_experiments.bench import Bench, Labelled

SPACE: Final = "glove-300"
_INSURANCE: Final = "insuranceqa_questions"


def questions(
    bench: Bench, task: str, split: str, count: int
) -> tuple[Labelled, Labelled]:
    """At most ``count`` questions, and answers; right is what has the same label.

    ``paraphrase``: pairs of sentences of MRPC that say the same; ``questions``: as
    many other questions of InsuranceQA, those about the same kind of insurance being
    right; ``kind``: the names of the kinds.
    """
    if task == "paraphrase":
        return _pairs(bench, split, count)
    every = bench.labelled(_INSURANCE, split, SPACE, 2 * count)
    if task == "questions":
        return every.at(slice(count)), every.at(slice(count, None))
    return every.at(slice(count)), bench.named_labels(_INSURANCE, SPACE)


def _pairs(bench: Bench, split: str, count: int) -> tuple[Labelled, Labelled]:
    """MRPC has no texts for validation: they are the end of those to learn from."""
    part = "test" if split == "test" else "train"
    first, second = (
        bench.labelled("mrpc", part, SPACE, 0, column) for column in ("text1", "text2")
    )
    rows = np.flatnonzero(first.labels == 1)
    rows = rows[-count:] if split == "valid" else rows[:count]
    own = np.arange(len(rows))
    return Labelled(first.at(rows).words, own), Labelled(second.at(rows).words, own)
