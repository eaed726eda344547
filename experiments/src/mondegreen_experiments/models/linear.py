"""Logistic regression on TF-IDF of words: the classifier that needs no torch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from mondegreen.arrays import Floats
from mondegreen_experiments.bench import Labelled

_STRENGTHS: Final = (1.0, 10.0)
"""Of the regularization, inverse; which one is best is found on held-back texts."""


def fitted_linear(
    known: Labelled, valid: Labelled, size: int
) -> Callable[[Labelled], Floats]:
    """Fit to texts of words below ``size``; the result tells classes, (texts, classes).

    There are no random numbers.
    """
    from sklearn.feature_extraction.text import TfidfTransformer

    weigh = TfidfTransformer(sublinear_tf=True).fit(_counts(known, size))
    return best_regression(
        lambda texts: weigh.transform(_counts(texts, size)), known, valid, _STRENGTHS
    )


def best_regression(
    features: Callable[[Labelled], Any],
    known: Labelled,
    valid: Labelled,
    strengths: Sequence[float],
    rounds: int = 100,
) -> Callable[[Labelled], Floats]:
    """Fit logistic regression, as strong as tells most of ``valid`` right."""
    from sklearn.linear_model import LogisticRegression

    own, held = features(known), features(valid)
    models = [
        LogisticRegression(C=strength, max_iter=rounds).fit(own, known.labels)
        for strength in strengths
    ]
    best = max(models, key=lambda model: model.score(held, valid.labels))

    def tell(texts: Labelled) -> Floats:
        found = np.zeros((len(texts), int(best.classes_.max()) + 1))
        found[:, best.classes_] = best.predict_proba(features(texts))
        return found

    return tell


def _counts(texts: Labelled, size: int) -> Any:
    from scipy.sparse import csr_matrix

    owners = np.repeat(np.arange(len(texts)), [len(each) for each in texts.words])
    shape = (len(texts), size)
    return csr_matrix((np.ones(len(owners)), (owners, texts.flat)), shape=shape)
