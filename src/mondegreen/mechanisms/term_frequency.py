"""Synthetic term-frequency vectors of documents (SynTF)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mondegreen.arrays import Ids
from mondegreen.errors import InvalidParameterError
from mondegreen.guarantee import Guarantee
from mondegreen.mechanisms import base


def draw_term_frequencies(
    state: base.State, words: Ids, size: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    r"""Draw how often each word occurs in a synthetic document, (V,); sums to ``size``.

    ``size`` times: draw one of the ``words`` of the document, :math:`v`, each as likely
    as the others; then :math:`w \sim P(\cdot \mid v)`. Without words it is one unknown
    word. The size is public, and the same for all documents: never take the length of
    the document itself.

    The words are independent, each from the mixture
    :math:`\sum_v \theta_v P(\cdot \mid v)`, with :math:`\theta` the relative
    frequencies of the document. Where the laws of any two words differ by at most a
    factor :math:`e^a`, so do their mixtures, and any two documents of any lengths by
    :math:`e^{\text{size} \cdot a}`. Proof: ``docs/proofs/syntf.md``.

    Weggenmann, Kerschbaum. "SynTF: Synthetic and Differentially Private Term Frequency
    Vectors for Privacy-Preserving Text Mining." SIGIR 2018, Algorithm 1.
    """
    if isinstance(size, bool) or not isinstance(size, (int, np.integer)) or size < 1:
        raise InvalidParameterError("size", size, "an integer, at least 1")
    unknown = state.space.vocab_size
    words = np.sort(words) if len(words) else np.array([unknown], dtype=np.int32)
    places = rng.integers(0, len(words), size=size, dtype=np.int64)
    outputs = state.sample(words[places], rng)
    return np.bincount(outputs, minlength=unknown).astype(np.int64)


def term_frequency_loss(guarantee: Guarantee, size: int) -> float:
    """Return the largest log-ratio of two documents, in nats.

    ``size`` times the loss of the two words that are farthest apart: ``size * epsilon``
    for ``syntf``.

    Parameters
    ----------
    guarantee : Guarantee
        Guarantee of one word.
    size : int
        Number of words of a document.

    Returns
    -------
    float, nats
        Loss of a document.
    """
    return size * guarantee.loss(guarantee.scale["diameter"])
