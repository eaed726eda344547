r"""How near released words and texts are to the originals: distances and cosines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mondegreen.arrays import Ids
from mondegreen.errors import ConfigurationError
from mondegreen.space.metric import one_minus_norm2
from mondegreen.space.space import Space

Floats = NDArray[np.float64]

SentenceModel: TypeAlias = Callable[[list[str]], Any]
"""From texts to an array of one vector each, such as ``model.encode`` of an SBERT."""


def pair_distances(space: Space, first: Ids, second: Ids) -> Floats | None:
    """The distance of each input to its partner, in the metric of the space.

    ``V`` is the unknown word. None where the space has codes and no vectors.

    >>> space = Space.from_arrays("line", ["a", "b"], [[0.0], [3.0]])
    >>> pair_distances(space, np.array([0, 1]), np.array([1, 1])).tolist()
    [3.0, 0.0]
    """
    if not space.has_vectors or space.metric not in ("euclidean", "poincare"):
        return None
    left, right = space.points(first), space.points(second)
    gaps: Floats = np.linalg.norm(left - right, axis=1)
    if space.metric == "euclidean":
        return gaps
    scale = np.sqrt(one_minus_norm2(left) * one_minus_norm2(right))
    return np.asarray(2 * np.arcsinh(gaps / scale))


def cosines(left: Floats, right: Floats) -> Floats:
    """The cosine of each row with its partner; NaN where a row is 0.

    >>> cosines(np.array([[1.0, 0.0]]), np.array([[2.0, 0.0]])).tolist()
    [1.0]
    """
    lengths = np.linalg.norm(left, axis=1) * np.linalg.norm(right, axis=1)
    products = np.einsum("ij,ij->i", left, right)
    found = np.full(len(left), np.nan)
    np.divide(products, lengths, out=found, where=lengths > 0)
    return np.asarray(np.clip(found, -1.0, 1.0))


def sentence_cosines(
    originals: Sequence[str], releases: Sequence[str], model: SentenceModel
) -> Floats:
    r"""The cosine of each text with its release under a sentence model.

    CS of the benchmark paper (Meisenbacher et al., LREC-COLING 2024) is 100 times the
    mean; its published numbers use ``paraphrase-distilroberta-base-v1`` of
    Sentence-BERT. Larger is closer: more useful and *less* private, although PUC counts
    it as privacy.

    >>> def count(texts):
    ...     return np.array([[text.count("a"), text.count("b")] for text in texts])
    >>> sentence_cosines(["aab"], ["aaab"], count).round(3).tolist()
    [0.99]
    """
    vectors = []
    for texts in (list(originals), list(releases)):
        found = np.asarray(model(texts), dtype=np.float64)
        if found.ndim != 2 or len(found) != len(texts):
            raise ConfigurationError(
                f"the sentence model returned an array of shape {found.shape} for "
                f"{len(texts)} texts; one vector for each is needed"
            )
        vectors.append(found)
    return cosines(vectors[0], vectors[1])
