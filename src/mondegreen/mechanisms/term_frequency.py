"""Synthetic term-frequency vectors of documents (SynTF)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mondegreen.errors import InvalidParameterError
from mondegreen.guarantee import Guarantee
from mondegreen.mechanisms.base import State

Counts = NDArray[np.int64]

_LARGEST_TOTAL = 1 << 53


def draw_term_frequencies(
    state: State, counts: Counts, size: int, rng: np.random.Generator
) -> Counts:
    r"""Draw how often each word occurs in a synthetic document, (V,); sums to ``size``.

    ``size`` times: draw a word of the document, :math:`v \sim \mathrm{Cat}(\theta)`
    with :math:`\theta` the relative frequencies in ``counts``, (V + 1,), unknown words
    last; then :math:`w \sim P(\cdot \mid v)`. The size is public, and the same for all
    documents: never take the length of the document itself.

    The words are independent, each from the mixture
    :math:`\sum_v \theta_v P(\cdot \mid v)`. If the laws of any two words differ by at
    most a factor :math:`e^{a}`, so do any two mixtures of them: the vector satisfies
    :math:`\text{size} \cdot a`-differential privacy for *any* two documents of any
    lengths; see :func:`term_frequency_loss`. Proof: ``docs/proofs/syntf.md``. Without
    words there are no relative frequencies: count an empty document as one unknown
    word. Both draws are exact: integers over the sum of the counts, and those of the
    mechanism.

    Weggenmann, Kerschbaum. "SynTF: Synthetic and Differentially Private Term Frequency
    Vectors for Privacy-Preserving Text Mining." SIGIR 2018, Algorithm 1.

    >>> import mondegreen as mg
    >>> words, vectors = ["cat", "cow", "tax"], [[1, 0], [1, 1], [-1, 0]]
    >>> space = mg.Space.from_arrays("s", words, vectors)
    >>> state = mg.mechanism("syntf", epsilon=8.0).prepare(space)
    >>> counts = np.array([3, 1, 0, 0])
    >>> draw_term_frequencies(state, counts, 5, np.random.default_rng(0)).sum().item()
    5
    """
    vocab_size = state.space.vocab_size
    allowed = f"integers, at least 0 and not all 0, shape ({vocab_size + 1},)"
    if counts.shape != (vocab_size + 1,) or not np.issubdtype(counts.dtype, np.integer):
        given = f"an array of {counts.dtype}, shape {counts.shape}"
        raise InvalidParameterError("counts", given, allowed)
    total = sum(counts[counts > 0].tolist())  # in Python, so that it cannot overflow
    if (counts < 0).any() or not 0 < total < _LARGEST_TOTAL:
        raise InvalidParameterError("counts", "others", allowed)
    if isinstance(size, bool) or not isinstance(size, (int, np.integer)) or size < 1:
        raise InvalidParameterError("size", size, "an integer, at least 1")
    places = rng.integers(0, total, size=size, dtype=np.int64)
    running = np.cumsum(counts.astype(np.int64))
    inputs = np.searchsorted(running, places, side="right").astype(np.int32)
    outputs = state.sample(inputs, rng)
    return np.bincount(outputs, minlength=vocab_size).astype(np.int64)


def term_frequency_loss(guarantee: Guarantee, size: int) -> float:
    """Return the largest log-ratio of two documents, in nats.

    ``size`` times the loss of the two words that are farthest apart: ``size * epsilon``
    for ``syntf``.
    """
    return size * guarantee.loss(guarantee.scale["diameter"])
