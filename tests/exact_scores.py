r"""Scores of a whole table of a law, by their formulas: what one pass is checked by.

The law is a table :math:`P(y \mid w)` of inputs (rows, which sum to 1) and outputs
(columns), the prior :math:`\pi(w)` a probability for each input.
"""

from __future__ import annotations

import numpy as np


def stay_probability(law, inputs):
    r"""Give the chance that each input stays, :math:`N_w = P(w \mid w)`.

    Larger is less private. It only describes: a mechanism with :math:`N_w = 0` rules
    a word out for certain. The unknown word ``V`` is no output, and so never stays.

    Examples
    --------
    >>> stay_probability(np.array([[0.75, 0.25]]), np.array([0], dtype=np.int32))
    array([0.75])
    """
    stays = np.zeros(len(inputs))
    words = np.flatnonzero(inputs < law.shape[1])
    stays[words] = law[words, inputs[words]]
    return stays


def expected_distance(law, distances):
    r"""Tell how far the output lies from the input: :math:`\sum_y P(y \mid w) d(w, y)`.

    Larger is more private and less useful.

    Examples
    --------
    >>> expected_distance(np.array([[0.75, 0.25]]), np.array([[0.0, 2.0]]))
    array([0.5])
    """
    return np.asarray(np.einsum("ij,ij->i", law, distances))
