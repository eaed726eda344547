r"""Membership inference: whether a text is among those that a model was trained on.

Two adversaries. *Shadow models* (Shokri et al. 2017): they train models like the
target on texts of their own, and learn from these what a member's predictions look
like. *Likelihood ratio* (Carlini et al. 2022): for each text by itself, models that
were trained with it and models that were not tell how likely the target's confidence
is under both. An adversary who knows the mechanism privatizes the texts of the shadow
models with it, and asks the target about releases as well as about texts.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mondegreen.arrays import Floats
from mondegreen.errors import InvalidParameterError

_HIDDEN = (64, 64)
_LEAST = 1e-12


def features(probabilities: Floats, labels: NDArray[np.int64]) -> Floats:
    """What shadow models are compared by: sorted probabilities, and the label's loss.

    Parameters
    ----------
    probabilities : float64 array, shape (texts, classes)
        What a model says of each text.
    labels : int64 array, shape (texts,)
        True classes.
    """
    own = probabilities[np.arange(len(labels)), labels]
    ordered = np.sort(probabilities, axis=1)[:, ::-1]
    return np.column_stack([ordered, own, -np.log(np.maximum(own, _LEAST))])


def by_shadow_models(
    members: Sequence[Floats], others: Sequence[Floats], asked: Floats, seed: int
) -> Floats:
    """Score texts by a network of two layers of 64, trained on shadow models.

    ``members`` and ``others`` hold, for each shadow model, the features of texts that
    it was trained on and of texts that it was not; ``asked`` those of the target.
    Needs scikit-learn.
    """
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    known = np.concatenate([*members, *others])
    is_member = np.repeat([1, 0], [sum(map(len, members)), sum(map(len, others))])
    network = MLPClassifier(_HIDDEN, random_state=seed, max_iter=300)
    model = make_pipeline(StandardScaler(), network).fit(known, is_member)
    scores: Floats = model.predict_proba(asked)[:, 1]
    return scores


def confidence(probabilities: Floats, labels: NDArray[np.int64]) -> Floats:
    r"""The logit of the true class, :math:`\ln p - \ln(1 - p)`, nearly normal."""
    own = probabilities[np.arange(len(labels)), labels]
    rest = probabilities.sum(axis=1) - own
    logit: Floats = np.log(np.maximum(own, _LEAST)) - np.log(np.maximum(rest, _LEAST))
    return logit


def by_likelihood_ratio(
    confidences: Floats, was_member: NDArray[np.bool_], asked: Floats
) -> Floats:
    r"""Score each text by how likely its confidence is with it and without it.

    .. math::

        \Lambda = \ln N(c; \mu_1, \sigma_1^2) - \ln N(c; \mu_0, \sigma_0^2)

    with the mean of each text's own shadow models and, as few of them are trained, a
    variance over all texts.

    Parameters
    ----------
    confidences : float64 array, shape (models, texts)
        Of each text under each shadow model.
    was_member : bool array, shape (models, texts)
        Whether the model was trained on it; each text is in and out of some.
    asked : float64 array, shape (texts,)
        Confidence of the target.
    """
    counts = was_member.sum(axis=0), (~was_member).sum(axis=0)
    if min(map(min, counts)) < 1:
        allowed = "each text in some shadow models and out of others"
        raise InvalidParameterError("was_member", "a text without", allowed)
    score = np.zeros(len(asked))
    for sign, chosen in ((1, was_member), (-1, ~was_member)):
        weight = chosen / chosen.sum(axis=0)
        mean = (confidences * weight).sum(axis=0)
        gaps = ((confidences - mean) ** 2)[chosen]
        # One degree of freedom is spent on the mean of each text.
        free = max(int(chosen.sum()) - chosen.shape[1], 1)
        spread = max(float(gaps.sum()) / free, _LEAST)
        score += sign * (-((asked - mean) ** 2) / (2 * spread) - np.log(spread) / 2)
    return score


def halves(texts: int, models: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Choose the training half of each shadow model: every text is in half of them.

    >>> halves(4, 2, np.random.default_rng(0)).sum(axis=0).tolist()
    [1, 1, 1, 1]
    """
    if models < 2 or models % 2:
        raise InvalidParameterError("models", models, "an even number")
    order = np.argsort(rng.random((models, texts)), axis=0)
    chosen: NDArray[np.bool_] = order < models // 2
    return chosen
