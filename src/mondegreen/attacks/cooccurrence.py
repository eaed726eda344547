r"""An attacker who looks at which words stand together in the texts of a release.

A key prints a word alike everywhere. So two printed words stand in as many texts
together as the words behind them, whatever they are: names with their towns, say. The
attacker knows how often known words stand together in other texts, and no pair of a
word and what is printed for it. The attacker looks for the assignment X of printed
words z to known words w, with :math:`x_{zw}` 0 or 1 and each word used once, that
makes

.. math:: \sum_{z \ne z', w \ne w'} x_{zw} x_{z'w'} \sqrt[4]{b_{zz'} \, a_{ww'}}
          + \sum_{z, w} x_{zw} s_{zw}

large. Here :math:`b_{zz'}` texts of the release have both z and z', and
:math:`a_{ww'}` known texts both w and w'; :math:`s_{zw}` is what else is known of a
pair. The root lets pairs count that are seen once or twice. This is a quadratic
assignment, solved by the method of Frank and Wolfe: X starts as a matrix of weights,
by how often each word occurs, and moves toward the best assignment for the gradient.
The best assignment of several starts is taken.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from mondegreen.arrays import Floats, Weights

PRINTED: Final = 1000
KNOWN: Final = 2000
"""Printed and known words that are matched at most: the most frequent ones."""

_ROOT: Final = 0.25
_STARTS: Final = 10
_STEPS: Final = 60
_SCALINGS: Final = 50
_WORK: Final = 1e9
"""Products and cells of matrices in all steps: about 10 seconds."""

_SHARPNESS: Final = 2.0
_NOISE: Final = 0.05
_LEAST: Final = 1e-9
_DENSE: Final = 0.05


class Places(NamedTuple):
    """Where words stand: the text and the number of the word at each place.

    Places with a negative number are left out.
    """

    texts: Weights
    words: Weights

    def count_texts(self, size: int) -> tuple[Any, Floats, int]:
        """Count in how many texts two words stand, and each one; and the texts."""
        from scipy.sparse import csr_array

        used = self.words >= 0
        pairs = np.unique(np.stack([self.texts[used], self.words[used]]), axis=1)
        rows = np.unique(pairs[0], return_inverse=True)[1].ravel()
        texts = int(rows.max(initial=-1)) + 1
        ones = np.ones(pairs.shape[1])
        stands = csr_array((ones, (rows, pairs[1])), shape=(texts, size))
        both = csr_array(stands.T @ stands)
        counts = np.asarray(both.diagonal())
        both.setdiag(0.0)
        both.eliminate_zeros()
        return both, counts, texts


def number_words(words: Any, limit: int) -> tuple[Any, Weights]:
    """List the most frequent words, and give each place the number of its word.

    >>> number_words(np.array([7, 5, 7, 9, 9]), 2)
    (array([7, 9]), array([ 0, -1,  0,  1,  1]))
    """
    distinct, inverse, counts = np.unique(
        words, return_inverse=True, return_counts=True
    )
    order = np.argsort(-counts, kind="stable")[:limit]
    numbers = np.full(len(distinct), -1)
    numbers[order] = np.arange(len(order))
    return distinct[order], numbers[inverse.ravel()]


def match_words(
    printed: Places,
    known: Places,
    groups: tuple[Weights, Weights],
    scores: Floats | None = None,
) -> Weights:
    """Find the known word behind each printed one by the words beside them.

    Parameters
    ----------
    printed, known : Places
        Where printed words stand in the release, and known words in other texts.
    groups : two int arrays, shapes (printed words,) and (known words,)
        The group of each: a printed word hides a word of its own group.
    scores : array, shape (printed words, known words), optional
        What else is known of a pair, such as the logarithm of a probability.

    Returns
    -------
    int array, shape (printed words,)
        The number of a known word, or -1 where no word beside it tells one.

    Examples
    --------
    Ann, Eva, Oslo, Rome and Paris are 0 to 4. Each word but Rome is printed twice:

    >>> known = Places(np.array([0, 0, 1, 1, 2, 2]), np.array([0, 2, 1, 3, 1, 4]))
    >>> printed = Places(np.array([0, 0, 1, 1, 2, 2]), np.array([1, 3, 0, 4, 0, 2]))
    >>> groups = np.array([0, 0, 1, 1, 1])
    >>> match_words(printed, known, (groups, groups))[:2].tolist()
    [1, 0]
    """
    shape = len(groups[0]), len(groups[1])
    (own, own_counts, texts), (other, other_counts, known_texts) = (
        places.count_texts(size)
        for places, size in zip((printed, known), shape, strict=True)
    )
    own.data **= _ROOT
    other.data **= _ROOT
    blocks = [
        (np.flatnonzero(groups[0] == group), np.flatnonzero(groups[1] == group))
        for group in np.intersect1d(*groups).tolist()
    ]
    gains = np.zeros(shape) if scores is None else scores
    expected = other_counts * texts / max(1, known_texts)
    gaps = np.sqrt(own_counts)[:, None] - np.sqrt(expected)
    weights = np.exp(gains - _SHARPNESS * gaps**2)
    work = _estimate_work(own, other)
    if other.nnz > _DENSE * shape[1] ** 2:
        other = other.toarray()
    best, most = np.full(shape[0], -1), -np.inf
    left = _WORK
    for start in range(_STARTS):
        if left < 0:
            break
        noise = _NOISE * np.random.default_rng(start).random(shape) * (start > 0)
        guess = _scale(weights + _LEAST + noise, blocks)
        found, value, steps = _climb(guess, own, other, gains, blocks, left / work)
        left -= steps * work
        if value > most:
            best, most = found, value
    return best


def _estimate_work(own: Any, other: Any) -> float:
    """Estimate the work of a step: of a product of matrices, and an assignment."""
    cells = own.shape[0] * other.shape[0]
    return float(20 * cells + own.nnz * (other.nnz / max(1, other.shape[0])))


def _scale(weights: Floats, blocks: list[tuple[Weights, Weights]]) -> Floats:
    """Scale weights so that no printed and no known word has more than one in all."""
    found = np.zeros_like(weights)
    for rows, columns in blocks:
        part = weights[np.ix_(rows, columns)]
        for _ in range(_SCALINGS):
            for axis, is_fewer in (
                (1, len(rows) <= len(columns)),
                (0, len(rows) >= len(columns)),
            ):
                sums = part.sum(axis=axis, keepdims=True)
                # Those of the larger side may be left over.
                part = part / (sums if is_fewer else np.maximum(sums, 1.0))
        found[np.ix_(rows, columns)] = part
    return found


def _climb(
    guess: Floats,
    own: Any,
    other: Any,
    gains: Floats,
    blocks: list[tuple[Weights, Weights]],
    limit: float,
) -> tuple[Weights, float, int]:
    """Move toward better assignments; return the best one, its value and the steps."""
    from scipy.sparse import csr_array

    both = np.asarray((own @ guess) @ other)
    best, most, step = np.full(len(guess), -1), -np.inf, 0
    while step < max(1.0, min(limit, _STEPS)):
        step += 1
        rows, columns = _assign(2 * both + gains, blocks)
        chosen = csr_array((np.ones(len(rows)), (rows, columns)), shape=guess.shape)
        product = (own @ chosen) @ other
        moved = product if isinstance(product, np.ndarray) else product.toarray()
        agreed = moved[rows, columns]
        value = float(agreed.sum() + gains[rows, columns].sum())
        if value > most:
            best, most = np.full(len(guess), -1), value
            best[rows[agreed > 0]] = columns[agreed > 0]
        # The objective on the way to what was chosen is a t^2 + b t + c.
        way = -guess
        way[rows, columns] += 1.0
        slope = float(((2 * both + gains) * way).sum())
        moved -= both
        bend = float((moved * way).sum())
        share = 1.0 if bend >= 0 else min(1.0, -slope / (2 * bend))
        if share < 1e-4 or slope < 1e-9:
            break
        guess = guess + share * way
        both += share * moved
    return best, most, step


def _assign(
    gains: Floats, blocks: list[tuple[Weights, Weights]]
) -> tuple[Weights, Weights]:
    """Choose the assignment with the largest gain, group by group."""
    from scipy.optimize import linear_sum_assignment

    found = []
    for rows, columns in blocks:
        chosen = linear_sum_assignment(gains[np.ix_(rows, columns)], maximize=True)
        found.append((rows[chosen[0]], columns[chosen[1]]))
    every = zip(*found, strict=True) if found else ([], [])
    rows, columns = (
        np.concatenate([np.zeros(0, dtype=np.int64), *some]) for some in every
    )
    return rows, columns
