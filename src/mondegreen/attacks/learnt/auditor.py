r"""The auditor of text models: whether a user's texts were among those trained on.

The auditor of Song and Shmatikov (2019) asks the model for the next word all along a
user's texts, and looks at the ranks of the true words: a model that has seen them
ranks rare ones too high. A linear machine learns what ranks look like, from users of
shadow models.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mondegreen.arrays import Floats, Ids
from mondegreen.attacks.learnt.ranking import Ranking

_BINS = 100
_TOP = 5000


def histogram(ranks: Ids, bins: int = _BINS, top: int = _TOP) -> Floats:
    """Count ranks of a user in bins over the first ``top``, brought to length 1.

    >>> histogram(np.array([0, 1, 60, 4999, 5000], np.int32))[[0, 1, 99]].round(2)
    array([0.82, 0.41, 0.41])
    """
    within = ranks[ranks < top]
    counts = np.bincount(within * bins // top, minlength=bins).astype(np.float64)
    length = float(np.linalg.norm(counts))
    return counts / length if length else counts


def by_ranks(
    members: Sequence[Ids], others: Sequence[Ids], asked: Sequence[Ids], seed: int
) -> Floats:
    """Score users by the ranks of their words; above 0 the machine says member.

    ``members`` and ``others`` are users of shadow models, trained with and without
    their texts. Needs scikit-learn.
    """
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import LinearSVC

    known = np.stack([histogram(each) for each in (*members, *others)])
    is_member = np.repeat([1, 0], [len(members), len(others)])
    machine = make_pipeline(StandardScaler(), LinearSVC(random_state=seed, dual="auto"))
    machine.fit(known, is_member)
    users = np.stack([histogram(each) for each in asked])
    scores: Floats = machine.decision_function(users)
    return scores


def judge_user(scores: Floats, member: NDArray[np.bool_]) -> dict[str, float]:
    """Precision, recall, accuracy and area of scores that name members above 0.

    Precision is 0 where no user is named.

    >>> member = np.array([True, True, False, False])
    >>> judge_user(np.array([2.0, -1.0, 1.0, -3.0]), member)
    {'precision': 0.5, 'recall': 0.5, 'accuracy': 0.5, 'auc': 0.75}
    """
    decided = scores > 0
    right = float(decided[member].sum())
    return {
        "precision": right / max(float(decided.sum()), 1.0),
        "recall": right / float(member.sum()),
        "accuracy": float((decided == member).mean()),
        "auc": Ranking.of(scores[member], scores[~member]).auc,
    }
