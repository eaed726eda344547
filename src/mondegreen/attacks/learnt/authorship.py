"""Who wrote this? Guessed from the words of a release, by texts of each author."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from mondegreen.arrays import Ids


def counts(texts: Sequence[Ids], size: int) -> Any:
    """Count words of texts: a sparse matrix, (texts, size), each word once in a row."""
    ends = np.cumsum([0, *map(len, texts)])
    flat = np.concatenate([np.empty(0, np.int32), *texts])
    values = np.ones(len(flat))
    found = sparse.csr_matrix((values, flat, ends), shape=(len(texts), size))
    found.sum_duplicates()  # or the logarithm of a count would be taken of each repeat
    return found


def guess_authors(
    known: Sequence[Ids], authors: NDArray[np.int64], asked: Sequence[Ids], size: int
) -> NDArray[np.int64]:
    """Name the most likely author of each text, by TF-IDF and logistic regression.

    An adversary who knows the mechanism learns from releases of the known texts
    (adaptive); one who does not, from the texts themselves. Needs scikit-learn.
    """
    from sklearn.feature_extraction.text import TfidfTransformer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    model = make_pipeline(
        TfidfTransformer(sublinear_tf=True), LogisticRegression(C=10, max_iter=1000)
    )
    model.fit(counts(known, size), authors)
    named: NDArray[np.int64] = model.predict(counts(asked, size))
    return named
