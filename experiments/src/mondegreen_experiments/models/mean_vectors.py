"""A linear model on the mean of word vectors: fastText's, with vectors that stay."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from mondegreen.arrays import Floats, Vectors
from mondegreen_experiments.bench import Labelled
from mondegreen_experiments.models.linear import best_regression

_STRENGTHS: Final = (0.1, 1.0, 10.0)
"""Of the regularization, inverse."""


def fitted_mean(
    vectors: Vectors, known: Labelled, valid: Labelled
) -> Callable[[Labelled], Floats]:
    """Fit logistic regression; the result tells classes of texts, (texts, classes).

    Words beyond ``vectors``, as the unknown one, count as a vector of zeros. The
    regularization is the one under which most of ``valid`` is told right, the strongest
    of equals. Nothing is random. Needs scikit-learn.
    """
    table = np.vstack([vectors, np.zeros((1, vectors.shape[1]))]).astype(np.float32)

    def means(texts: Labelled) -> Floats:
        rows = np.zeros((len(texts), table.shape[1]))
        for row, text in zip(rows, texts.words, strict=True):
            row += table[text].sum(axis=0) / max(len(text), 1)
        return rows

    return best_regression(means, known, valid, _STRENGTHS, rounds=2000)
