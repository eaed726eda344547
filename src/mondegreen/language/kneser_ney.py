r"""Modified Kneser-Ney smoothing: from counts of triples to probabilities.

Chen and Goodman, "An Empirical Study of Smoothing Techniques for Language Modeling",
TR-10-98, Harvard University, 1998, in its interpolated form:

.. math::

    p(w \mid u, v) = \frac{\max(a - D(a), 0)}{A} + \gamma(u, v) \, p(w \mid v)

where a is the count of the triple (u, v, w) and A its sum over w; likewise for pairs
with the *continuation* count of (v, w), the number of different words in front of it,
and for single words, whose remaining mass is spread evenly over all. What begins a
sentence has no word in front of it, so pairs that do keep their raw counts. The
discounts D are computed from how many n-grams have a count of 1 to 4.
"""

from __future__ import annotations

import numpy as np

from mondegreen.arrays import Floats, Weights
from mondegreen.errors import InvalidParameterError
from mondegreen.language.backoff import Tables
from mondegreen.language.counts import Counts


def estimate(counts: Counts, least: int = 1) -> Tables:
    r"""Smooth counts; n-grams that occur fewer than ``least`` times are left out.

    A word, pair or triple that is left out is scored by what is shorter, and its mass
    goes to :math:`\gamma`, so that every distribution still sums to 1. Words that are
    left out share evenly what single words have left.
    """
    if least < 1:
        raise InvalidParameterError("least", least, "at least 1")
    if not len(counts.keys):
        raise InvalidParameterError("counts", "no words", "those of some text")
    size, triples, times = counts.size, counts.keys, counts.counts
    # Keys are u size^2 + v size + w, in order; contexts are pairs (u, v). `totals` is
    # A.
    contexts, context = _group(triples // size)
    totals = np.asarray(np.bincount(context, times), float)
    pairs, raw, adjusted = _pairs(counts, contexts, totals)

    # The continuation count of a word: behind how many different words it stands.
    single = np.bincount(pairs % size, minlength=size)
    occurs = np.bincount(pairs % size, raw, minlength=size)
    often = occurs >= least
    # p(w) = (a - D(a)) / A + (1 - the sum of these) / size.
    kept = np.where(often, single - compute_discount(single), 0.0) / single.sum()
    unigram = kept + (1 - kept.sum()) / size

    first = pairs // size
    share = (adjusted - compute_discount(adjusted)) / np.bincount(first, adjusted)[
        first
    ]
    pairs, share = pairs[raw >= least], share[raw >= least]
    first, second = pairs // size, pairs % size
    # gamma is what the shares of the kept pairs leave: each distribution sums to 1.
    gamma = 1 - np.bincount(first, share, minlength=size)
    pair = share + gamma[first] * unigram[second]

    share = (times - compute_discount(times)) / totals[context]
    triples, share = triples[times >= least], share[times >= least]
    # Whatever a triple that is kept is made of is kept too.
    owner = np.searchsorted(pairs, triples // size)
    lower = np.searchsorted(pairs, triples % (size * size))
    pair_gamma = 1 - np.bincount(owner, share, minlength=len(pairs))
    triple = share + pair_gamma[owner] * pair[lower]
    return Tables.of_keys(
        _frequency(occurs[:-1].astype(float), least),
        (unigram, gamma),
        (pairs, pair, pair_gamma),
        (triples, triple),
    )


def _frequency(occurs: Floats, least: int) -> Floats:
    """The share of each word; those left out have what is left, or one occurrence."""
    often = occurs >= least
    rest = max(float(occurs[~often].sum()), 1.0)
    shares = np.where(often, occurs, rest / max(int((~often).sum()), 1))
    return np.asarray(shares / shares.sum())


def _pairs(
    counts: Counts, contexts: Weights, totals: Floats
) -> tuple[Weights, Weights, Weights]:
    """All pairs in order, how often each occurs, and its adjusted count."""
    size = counts.size
    tails = counts.keys % (size * size)
    order = np.argsort(tails, kind="stable")
    keys, pair = _group(tails[order])
    raw = np.bincount(pair, counts.counts[order]).astype(np.int64)
    begins = contexts // size == size - 1
    own = totals[begins].astype(np.int64)
    keys = np.concatenate([keys, contexts[begins]])  # the boundary is the last id
    return keys, np.concatenate([raw, own]), np.concatenate([np.bincount(pair), own])


def _group(keys: Weights) -> tuple[Weights, Weights]:
    """The distinct ones of sorted keys, and for each key which of them it is."""
    is_new = np.diff(keys, prepend=-1) != 0
    return keys[is_new], np.cumsum(is_new) - 1


def compute_discount(counts: Weights | Floats) -> Floats:
    r"""What to take off each count: :math:`D_1`, :math:`D_2` or :math:`D_{3+}`.

    With :math:`Y = n_1 / (n_1 + 2 n_2)` and :math:`n_k` the number of n-grams with the
    count k, :math:`D_k = k - (k + 1) Y n_{k+1} / n_k`. Where a corpus is too small for
    that, 0.5, 1 and 1.5.

    >>> compute_discount(np.array([1, 1, 1, 1, 2, 2, 3, 4])).round(2).tolist()
    [0.5, 0.5, 0.5, 0.5, 1.25, 1.25, 1.0, 1.0]
    """
    whole = counts.astype(np.int64)
    n = np.bincount(np.minimum(whole, 5), minlength=6).astype(float)
    off = np.array([0, 0.5, 1.0, 1.5])
    if n[1:5].all():
        y = n[1] / (n[1] + 2 * n[2])
        own = np.array([k - (k + 1) * y * n[k + 1] / n[k] for k in (1, 2, 3)])
        if (own > 0).all():
            off[1:] = own
    return np.asarray(off[np.minimum(whole, 3)])
