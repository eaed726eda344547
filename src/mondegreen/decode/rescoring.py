"""A neural model chooses among readings that the trigrams propose."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from mondegreen.arrays import Ids
from mondegreen.decode.decoder import Decoder
from mondegreen.decode.released import Released
from mondegreen.language.scorer import SentenceScorer

_DRAWS: Final = 16
_SEED: Final = 20_215
"""Proposals come from released words alone, and the same ones from the same release."""


def rescore(
    decoder: Decoder,
    released: Released,
    scorer: SentenceScorer,
    words: Sequence[str],
    draws: int = _DRAWS,
) -> Ids:
    r"""Choose, for each sentence, the reading with the largest score.

    .. math:: \ln Q'(x) + \sum_i \ln P(y_i \mid x_i)

    where :math:`Q'` is the model of ``scorer``, among the best sentence by trigrams and
    draws from their posterior.

    Parameters
    ----------
    decoder, released : Decoder, Released
        Who proposes, and for which release.
    scorer : SentenceScorer
        Who chooses: a model of PUBLIC text.
    words : sequence of str
        Those of the space.
    draws : int
        How many readings are drawn beside the best one.

    Returns
    -------
    int32 array, shape (T,)
        The chosen inputs.
    """
    found: Ids = decoder.sentence(released)
    for start, length in zip(*released.sentences(), strict=True):
        mine = slice(int(start), int(start + length))
        # A sentence by itself: its reading must not depend on those beside it.
        copies = _copies(released.ids[mine], draws)
        drawn = decoder.draw(copies, np.random.Generator(np.random.PCG64(_SEED)))
        table = np.concatenate([found[mine], drawn]).reshape(1 + draws, -1)
        readings = np.unique(table, axis=0)
        law = decoder.log_law(
            _copies(released.ids[mine], len(readings)), readings.ravel()
        )
        sentences = [[words[i] for i in row] for row in readings.tolist()]
        scores = scorer.log_probs(sentences) + law.reshape(readings.shape).sum(axis=1)
        found[mine] = readings[int(scores.argmax())]
    return found


def _copies(ids: Ids, count: int) -> Released:
    """The same sentence so many times."""
    ends = np.zeros(len(ids), dtype=np.bool_)
    ends[-1] = True
    return Released(np.tile(ids, count), np.tile(ends, count))
