r"""A channel seen from its outputs: which inputs an output may well have had.

An output :math:`y` of an input :math:`x` with prior :math:`\pi` has the posterior
:math:`P(x \mid y) \propto \pi(x)\, P(y \mid x)`. To read outputs, as a
decoder or an attacker does, needs for each of them the few inputs that matter.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from mondegreen.arrays import Floats, Ids


@final
@dataclass(frozen=True, slots=True)
class Channel:
    r"""The likely inputs of each output of a prepared mechanism.

    Parameters
    ----------
    observation : int32 array, shape (V,)
        What an output tells: outputs with the same posterior are one observation.
    candidates : int32 array, shape (observations, K)
        Inputs ``0..V``, the most likely first.
    log_law : float64 array, shape (observations, K)
        Their :math:`\ln P(y \mid x)` up to a constant of the row, ``-inf`` where a row
        has fewer than K.
    how : str
        How the law is known: exact, or estimated from public draws.
    """

    observation: Ids
    candidates: Ids
    log_law: Floats
    how: str


def rank(
    observation: Ids, candidates: Ids, law: Floats, prior: Floats, count: int, how: str
) -> Channel:
    """Keep the ``count`` most likely candidates of each row, each once.

    ``law`` is P(y | x), and 0 for what is no candidate.
    """
    order = np.lexsort((-law, candidates), axis=1)
    by_word = np.take_along_axis(candidates, order, axis=1)
    scores = np.take_along_axis(law, order, axis=1) * prior[by_word]
    scores[:, 1:][by_word[:, 1:] == by_word[:, :-1]] = 0.0
    best = np.argsort(-scores, axis=1, kind="stable")[:, :count]
    kept: NDArray[np.bool_] = np.take_along_axis(scores, best, axis=1) > 0
    order = np.take_along_axis(order, best, axis=1)
    shares = np.take_along_axis(law, order, axis=1)
    logs = np.log(shares, out=np.full(shares.shape, -np.inf), where=kept)
    found = np.where(kept, np.take_along_axis(candidates, order, axis=1), 0)
    return Channel(observation, found.astype(np.int32), logs, how)
