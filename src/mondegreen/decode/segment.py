"""Where sentences end among released words that have no punctuation."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mondegreen.arrays import Ids
from mondegreen.language.ngrams import NGrams


def likely_ends(
    language: NGrams, ids: Ids, counts: NDArray[np.int64]
) -> NDArray[np.bool_]:
    r"""Tell behind which released words a sentence ends, before the end of its text.

    Between v and w, behind u, where the model finds an end likelier than none:

    .. math:: p(\text{end} \mid u, v)\, p(w \mid \text{end}) > p(w \mid u, v)

    ``counts`` are the words of each text. A negative id, of a word that is kept or
    masked, ends nothing.
    """
    text = np.repeat(np.arange(len(counts)), counts)
    is_word = ids >= 0
    goes_on = is_word[:-1] & is_word[1:] & (text[:-1] == text[1:])
    places = np.flatnonzero(goes_on)
    end = np.full(len(places), language.boundary)
    before = end.copy()
    behind = (places > 0) & goes_on[places - 1]
    before[behind] = ids[places[behind] - 1]
    last, following = ids[places], ids[places + 1]
    stops = language.log_prob(before, last, end)
    stops += language.log_prob(last, end, following)
    ends = np.zeros(len(ids), dtype=bool)
    ends[places] = stops > language.log_prob(before, last, following)
    return ends
