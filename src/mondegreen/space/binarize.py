"""Codes for word vectors: near-lossless binarization, and random hyperplanes."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Final

import numpy as np

from mondegreen.arrays import Floats, Vectors, slices
from mondegreen.errors import InvalidParameterError
from mondegreen.space.codes import Bits, Codes, bit_counts, check_bits
from mondegreen.space.geometry import canonical_ids
from mondegreen.space.space import Space

METHODS: Final = ("tissier", "hyperplane")

_SEED: Final = 2019  # public: it starts the training, or picks hyperplanes
# Batches, rate, decay and rounds are those of the authors' code.
_ROUNDS: Final = 5
_BATCH: Final = 75
_LEAST_STEPS: Final = 200
_RATE: Final = 1e-3
_DECAY: Final = 0.95
_REGULARISER: Final = 10.0
_SPREAD: Final = 0.3
_ROWS: Final = 8192


def with_codes(
    space: Space,
    *,
    bits: int = 256,
    method: str = "tissier",
    progress: Callable[[int], object] = lambda done: None,
) -> Space:
    """The same space with codes, which binary mechanisms need; see :func:`binarize`.

    ``progress`` is called with the percentage done.

    >>> space = Space.from_arrays("ab", ["a", "b"], [[0.0], [1.0]])
    >>> with_codes(space, bits=16, method="hyperplane").codes.bits
    16
    """
    table = binarize(space.vectors, bits=bits, method=method, progress=progress)
    codes = Codes.of(table, majority(table), method)
    return dataclasses.replace(space, codes=codes, path=None)


def binarize(
    vectors: Vectors,
    *,
    bits: int = 256,
    method: str = "tissier",
    progress: Callable[[int], object] = lambda done: None,
) -> Bits:
    r"""Turn public vectors into codes, :math:`b(x) = h(W (x - \bar x))`.

    :math:`h` is 1 above 0. ``tissier`` learns :math:`W`, see :func:`train_encoder`;
    ``hyperplane`` takes independent standard normal numbers for it (Charikar,
    "Similarity Estimation Techniques from Rounding Algorithms", STOC 2002).

    In double precision processors and numbers of threads round products apart by some
    1e-13, which moves one point in a million million across a hyperplane; in single
    precision they would train different encoders. Codes are stored all the same, and
    never made again where they are used.
    """
    check_bits(bits)
    if method not in METHODS:
        raise InvalidParameterError("method", method, "one of " + ", ".join(METHODS))
    centre = vectors.mean(axis=0, dtype=np.float64)
    points = np.empty((len(vectors), len(centre)), dtype=np.float32)
    for rows in slices(len(vectors), _ROWS):
        points[rows] = vectors[rows] - centre
    rng = np.random.default_rng(_SEED)
    if method == "tissier":
        points *= np.float32(_SPREAD / (float(points.std()) or 1.0))
        encoder = train_encoder(points, bits, rng, progress)
    else:
        encoder = rng.standard_normal((bits, points.shape[1]))
    above = (points[rows] @ encoder.T > 0 for rows in slices(len(points), _ROWS))
    table: Bits = np.concatenate([np.packbits(each, axis=1) for each in above])
    # Words at one point take the code of the first: BLAS may round equal rows apart.
    return table[canonical_ids(vectors)]


def majority(table: Bits) -> Bits:
    """The code that agrees with most words in every bit; 0 where they tie.

    It stands for the unknown word: no code has a smaller mean distance to the words,
    which is what the centroid is among points. The encoder cannot give it, since the
    centroid lies on all of its hyperplanes.

    >>> majority(np.array([[0b11000000], [0b10100000]], dtype=np.uint8)).tolist()
    [128]
    """
    return np.packbits(2 * bit_counts(table) > len(table))


def train_encoder(
    points: Vectors,
    bits: int,
    rng: np.random.Generator,
    progress: Callable[[int], object] = lambda done: None,
) -> Floats:
    r"""Learn the encoder whose codes a tied decoder turns back into the vectors.

    .. math::

        b = h(W x), \quad \hat x = \tanh(W^\top (b - \tfrac12) + c), \quad
        L = \tfrac12 \sum_{x} \lVert x - \hat x \rVert^2
            + \tfrac{\lambda}{2} \lVert W^\top W - I \rVert_F^2

    summed over a batch. No gradient passes :math:`h`: :math:`W`, of shape (bits, n), is
    learned through the decoder alone, which uses the same matrix.

    Differs from the paper (Tissier, Gravier, Habrard: "Near-lossless Binarization of
    Word Embeddings", AAAI 2019): vectors are centred, so that bits are balanced, and
    scaled to a standard deviation of 0.3. The decoder sees :math:`b - 1/2`, which the
    offset :math:`c` makes the same model; with :math:`b` itself the steps overshoot
    in the direction that all bits share. The squared error is summed where the paper
    takes its mean, and :math:`\lambda = 10`. Small spaces are passed over more often.
    """
    count, dim = points.shape
    weights: Floats = rng.uniform(-1, 1, size=(bits, dim))
    weights /= np.linalg.norm(weights)
    offset = np.zeros(dim)
    passes = max(1, -(-_LEAST_STEPS * _BATCH // count))
    rate = _RATE
    for round_ in range(_ROUNDS):
        order = np.concatenate([rng.permutation(count) for _ in range(passes)])
        for some in slices(len(order), _BATCH):
            batch = points[order[some]].astype(np.float64)
            codes = (batch @ weights.T > 0) - 0.5
            decoded = np.tanh(codes @ weights + offset)
            error = (decoded - batch) * (1 - decoded * decoded)
            drift = weights @ (weights.T @ weights) - weights
            weights -= rate * (codes.T @ error + _REGULARISER * 2 * drift)
            offset -= rate * error.sum(axis=0)
        rate *= _DECAY
        progress(100 * (round_ + 1) // _ROUNDS)
    return weights
