"""Logistic regression on TF-IDF of words: the classifier that needs no torch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from mondegreen.arrays import Floats
from mondegreen.experiments.bench import Labelled

_STRENGTHS: Final = (1.0, 10.0)
"""Of the regularisation, inverse; which one is best is found on held-back texts."""


def fitted_linear(
    known: Labelled, valid: Labelled, size: int
) -> Callable[[Labelled], Floats]:
    """Fit to texts of words below ``size``; the result tells classes, (texts, classes).

    The regularisation is the one under which most of ``valid`` is told right, the
    stronger of equals. There are no random numbers.
    """
    from sklearn.feature_extraction.text import TfidfTransformer
    from sklearn.linear_model import LogisticRegression

    weigh = TfidfTransformer(sublinear_tf=True)
    own = weigh.fit_transform(_counts(known, size))
    held = weigh.transform(_counts(valid, size))
    models = [
        LogisticRegression(C=strength).fit(own, known.labels) for strength in _STRENGTHS
    ]
    best = max(models, key=lambda model: model.score(held, valid.labels))

    def tell(texts: Labelled) -> Floats:
        found = np.zeros((len(texts), int(best.classes_.max()) + 1))
        told = best.predict_proba(weigh.transform(_counts(texts, size)))
        found[:, best.classes_] = told
        return found

    return tell


def _counts(texts: Labelled, size: int) -> Any:
    from scipy.sparse import csr_matrix

    owners = np.repeat(np.arange(len(texts)), [len(each) for each in texts.words])
    shape = (len(texts), size)
    return csr_matrix((np.ones(len(owners)), (owners, texts.flat)), shape=shape)
