r"""The exact epsilon of integer laws over a whole vocabulary.

For :math:`P(y \mid w) = e^{-c\, d_g(w, y)} / Z_w` with the metric :math:`d_g = \min(d,
g)`, no output separates two words :math:`w, w'` better than one of them itself, since
:math:`d_g(w', y) - d_g(w, y) \le d_g(w, w')` with equality at :math:`y = w`. So the
largest log-ratio per unit of distance is

.. math:: c + \max_{w \ne w'} \frac{|\ln Z_w - \ln Z_{w'}|}{d_g(w, w')}.

The unknown word :math:`u` is an input and no output. Against a word :math:`w` the one
order is reached at :math:`y = w` as before; the other is a maximum over words,

.. math:: c \max_y \bigl( d_g(w, y) - d_g(u, y) \bigr) + \ln Z_w - \ln Z_u,

and is computed as such. This holds in any metric: Euclidean, and hyperbolic in the
Poincaré ball. What rounding to integers may add, and the errors of distances here, are
counted on top, so the certificate is never below the epsilon of the law that is
sampled.

Where two different inputs are always 1 apart (the discrete metric), the largest
log-ratio is found column by column,

.. math:: \max_y \bigl( \ln \max_w k_y(w) - \ln \min_w k_y(w) \bigr)

with :math:`k_y(w)` the integer weight of the output :math:`y` for the input :math:`w`,
all of one total. One pass over the inputs is enough, not one over their pairs, and
nothing is bounded: these are the integers that are sampled.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from itertools import groupby
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from mondegreen.arrays import Floats, Ids, Weights, in_blocks, slices
from mondegreen.mechanisms.base import Progress, no_progress
from mondegreen.mechanisms.laws.integer import IntegerLaw
from mondegreen.space.distances import Distances, stripes

FORMULA: Final = 2
"""Goes up when a certificate of the same law may come out otherwise."""

_MARGIN: Final = 1e-9
"""Relative rounding up, above the error of the float64 sums (below 1e-12)."""

_ASKED: Final = 128
"""Words with a computed lower bound."""

_BLOCK: Final = 512
"""Words that are compared with the unknown word at a time."""

_STRIPE: Final = 256
"""Inputs whose integers are compared together."""

_STEP: Final = 512
"""Of so many inputs, one is asked for a lower bound in the discrete metric."""

_LOG_MARGIN: Final = 1e-12
"""Relative rounding up, above the error of two logarithms."""


def exact_epsilons(
    laws: Sequence[IntegerLaw], progress: Progress = no_progress
) -> list[float]:
    r"""Certificates of laws on one space, per unit of ``min(d, cutoff)``, rounded up.

    Many laws at once share the distances, which cost most; memory is a few tiles a
    thread. Where all inputs lie at one point it is the rate, since there is nothing to
    tell apart. A space that states other distances than its points have is refused.

    Where :math:`\min(d, g)` is off by at most :math:`e`, and :math:`d` by a share
    :math:`\rho`, each ln Z is off by at most :math:`c e`, and the quotient by the
    factor :math:`1 + \rho`: near the edge of the Poincaré ball that counts.
    """
    space = laws[0].space
    if space.geometry.closest == 0:
        return [law.rate for law in laws]
    tiles = Distances(space)
    log_sums = log_normalisers(tiles, laws, lambda share: progress(share / 2))
    found = _Largest(tiles, laws, log_sums)
    found.among_words(lambda share: progress(0.5 + 0.4 * share))
    found.with_unknown()
    progress(1.0)
    return [float(value * (1 + _MARGIN)) for value in found.values]


def lower_bounds(laws: Sequence[IntegerLaw]) -> list[float]:
    """What no certificate of these laws can be below, in a blink.

    It is their epsilon in real numbers over a fixed few words, taken evenly from the
    nearest to the unknown word to the farthest, and the unknown word.
    """
    space = laws[0].space
    if space.geometry.closest == 0:
        return [law.rate for law in laws]
    tiles = Distances(space)
    everyone = np.arange(tiles.count, dtype=np.int32)
    order = np.argsort(tiles.between(everyone[-1:], everyone[:-1])[0], kind="stable")
    places = np.unique(np.linspace(0, len(order) - 1, _ASKED).astype(int))
    some = np.append(order[places], tiles.count - 1).astype(np.int32)
    table = tiles.between(some, everyone)
    return [_least(law, np.minimum(table, law.cutoff), some) for law in laws]


def _least(law: IntegerLaw, gaps: Floats, some: Ids) -> float:
    """The epsilon of a law in real numbers over some inputs, the last unknown.

    ``gaps`` are their distances to all inputs.
    """
    # (asked, V): ln P(y | w) = -c d_g(w, y) - ln Z_w; the last row is the unknown word.
    log = -law.rate * gaps[:, :-1]
    log -= np.log(np.exp(log).sum(axis=1, keepdims=True))
    ratios = log[-1] - log[:-1]
    # Both orders of the pair, each at the output where it is largest.
    of_unknown = np.maximum(ratios.max(axis=1), -ratios.min(axis=1))
    among = log[:-1][:, some[:-1]]  # ln P(w' | w)
    # ln P(w' | w') - ln P(w' | w): no output separates two words better than w'.
    losses = np.column_stack([among.diagonal() - among, of_unknown])
    apart = gaps[:-1][:, some]
    per_unit = np.zeros_like(losses)
    np.divide(losses, apart, out=per_unit, where=apart > 0)
    return float(per_unit.max()) * (1 - _MARGIN)


def log_normalisers(
    tiles: Distances, laws: Sequence[IntegerLaw], progress: Progress = no_progress
) -> Floats:
    """Ln Z of every input under every law, shape (laws, V + 1)."""
    sums = np.zeros((len(laws), tiles.count))
    outputs = tiles.count - 1  # the unknown word is no output
    adding = threading.Lock()
    # Laws of one rate share their exponentials, each cut at a higher floor than the
    # one before.
    # As exp falls, e^{-c min(d, g)} = max(e^{-c d}, e^{-c g}); and max(max(x, a), b) is
    # max(x, b) where a <= b. So one array serves all cutoffs, the largest first.
    order = sorted(range(len(laws)), key=lambda k: (laws[k].rate, -laws[k].cutoff))
    rates = [
        (rate, [(k, np.exp(-rate * laws[k].cutoff)) for k in group])
        for rate, group in groupby(order, key=lambda k: laws[k].rate)
    ]

    def work(i: int, j: int, table: Floats) -> None:
        rows, columns = table.shape
        row_sums = np.zeros((len(laws), rows))
        column_sums = np.zeros((len(laws), columns))
        for stripe in stripes(rows):
            weights = np.empty_like(table[stripe])
            for rate, floors in rates:
                np.multiply(table[stripe], -rate, out=weights)
                np.exp(weights, out=weights)
                for k, floor in floors:
                    np.maximum(weights, floor, out=weights)
                    # Rows sum over outputs, so without the column of the unknown word.
                    # Above the diagonal a tile stands for its mirror image too: there
                    # rows are words, so columns sum over outputs as they are.
                    row_sums[k, stripe] = weights[:, : outputs - j].sum(axis=1)
                    if i != j:
                        column_sums[k] += weights.sum(axis=0)
        with adding:
            sums[:, i : i + rows] += row_sums
            sums[:, j : j + columns] += column_sums

    tiles.each(work, progress)
    return np.log(sums)


@final
class _Largest:
    """The largest loss per unit of distance of each law, found by several threads.

    ``log_sums`` are ln Z of every input under every law.
    """

    def __init__(
        self, tiles: Distances, laws: Sequence[IntegerLaw], log_sums: Floats
    ) -> None:
        self.tiles, self.laws, self.log_sums = tiles, laws, log_sums
        # What errors of distances, and rounding to integers, may add to a log-ratio.
        self.charges = [
            law.kappa + 2 * law.rate * tiles.error(law.cutoff) for law in laws
        ]
        self.values = np.full(len(laws), -np.inf)
        self._lock = threading.Lock()

    def raise_to(self, k: int, value: float) -> None:
        """Take in a loss of one law."""
        with self._lock:
            self.values[k] = max(self.values[k], value)

    def among_words(self, progress: Progress) -> None:
        """Find the certificate of every law for pairs of words; -inf without a pair.

        A row of a tile is computed only where its nearest word and the extremes of ln Z
        leave room for more than is known.
        """
        tiles, laws, charges = self.tiles, self.laws, self.charges
        outputs = tiles.count - 1

        def work(i: int, j: int, table: Floats) -> None:
            table = table[: outputs - i, : outputs - j]
            if not table.size:
                return
            if i == j or tiles.has_duplicates:
                table[table == 0] = np.inf  # one point, one law
            nearest = table.min(axis=1)
            apart = np.flatnonzero(np.isfinite(nearest))
            for k, law in enumerate(laws):
                left = self.log_sums[k, i : i + len(table)]
                right = self.log_sums[k, j : j + table.shape[1]]
                # |ln Z_w - ln Z_w'| + charge is at most what the extremes of ln Z in
                # these columns allow, and d_g at least that of the nearest word: no
                # pair of the row has more than `limit`. Another thread may raise
                # `values` meanwhile: then a row is computed in vain, and none is
                # missed.
                most = np.maximum(right.max() - left, left - right.min()) + charges[k]
                limit = most / np.minimum(nearest, law.cutoff)
                rows = apart[limit[apart] > self.values[k]]
                for part in slices(len(rows), _BLOCK):
                    some = rows[part]
                    gaps = table[some]
                    slopes = np.abs(left[some, None] - right)
                    slopes += charges[k]
                    # Pairs at one point have an infinite gap here, and so a slope of 0.
                    cut = np.minimum(gaps, law.cutoff)
                    slopes /= np.where(gaps < np.inf, cut, np.inf)
                    self.raise_to(k, float(slopes.max()))

        tiles.each(work, progress)
        rates = np.array([law.rate for law in laws])
        # c + max |ln Z_w - ln Z_w'| / d_g, with d_g too large by a share at most.
        self.values = rates + self.values * (1 + tiles.relative_error)

    def with_unknown(self) -> None:
        """Raise certificates to what pairs of a word and the unknown word need.

        Words are asked in the order of the largest loss that is possible, until none
        can raise any certificate.
        """
        tiles, laws = self.tiles, self.laws
        unknown = np.array([tiles.count - 1], dtype=np.int32)
        words = np.arange(tiles.count - 1, dtype=np.int32)
        gaps = tiles.between(unknown, words)[0]
        words = words[np.argsort(gaps, kind="stable")]  # as outputs, the nearest first
        gaps = gaps[words]
        # (laws, V): ln Z_w - ln Z_u.
        rises = self.log_sums[:, words] - self.log_sums[:, -1:]
        pairs = [_UnknownPairs(self, k, gaps, rises[k]) for k in range(len(laws))]
        for pair in pairs:
            self.raise_to(pair.k, pair.at_the_word())
        everything = np.arange(len(words))
        # (laws, V). No word has a larger loss than its limit, so what is left out of
        # `order`, and of blocks below, cannot raise a certificate.
        limits = np.stack([pair.limits(everything) for pair in pairs])
        room = (limits - self.values[:, None]).max(axis=0)
        order = np.argsort(-room, kind="stable")[: np.count_nonzero(room > 0)]

        def work(block: NDArray[np.intp]) -> None:
            known = self.values.copy()
            some = [pair for pair in pairs if pair.limits(block).max() > known[pair.k]]
            if not some:
                return
            reach = max(pair.reach(block, known[pair.k]) for pair in some)
            stop = int(np.searchsorted(gaps, reach))
            best = np.full((len(laws), len(block)), -np.inf)
            for start in range(0, stop, _BLOCK):
                columns = slice(start, start + _BLOCK)
                # d_g(w, y) - d_g(u, y), shape (words of the block, outputs).
                table = tiles.between(words[block], words[columns])
                for pair in some:
                    nearer = np.minimum(table, pair.law.cutoff) - pair.gaps[columns]
                    np.maximum(best[pair.k], nearer.max(axis=1), out=best[pair.k])
            for pair in some:
                losses = pair.limits(block, best[pair.k])
                self.raise_to(pair.k, float(losses.max()))

        list(in_blocks(work, order, _BLOCK))


@final
class _UnknownPairs:
    """The pairs of the unknown word and each word under one law, the nearest first.

    ``rises`` are ln Z of the word less that of the unknown word. Every loss counts what
    distances, log-ratios and quotients may be off.
    """

    def __init__(self, found: _Largest, k: int, gaps: Floats, rises: Floats) -> None:
        self.k, self.law, self.rises = k, found.laws[k], rises
        self.gaps = np.minimum(gaps, self.law.cutoff)  # in the metric of the law
        self.error, self.charge = found.tiles.error(self.law.cutoff), found.charges[k]
        self.share = 1 + found.tiles.relative_error

    def at_the_word(self) -> float:
        """The largest loss where the output is the word itself."""
        # ln P(w | w) - ln P(w | u) = c d_g(u, w) + ln Z_u - ln Z_w.
        return float(self._per_unit(self.gaps, -self.rises, self.gaps).max())

    def limits(
        self, block: NDArray[np.intp], nearer: Floats | float = np.inf
    ) -> Floats:
        """The largest losses where an output is so much nearer to the unknown word.

        By the triangle inequality none is nearer by more than the distance of the pair.
        """
        # c (d_g(w, y) - d_g(u, y)) + ln Z_w - ln Z_u; two distances, each off by
        # `error`.
        gaps = self.gaps[block]
        most = np.minimum(nearer, gaps) + 2 * self.error
        return self._per_unit(most, self.rises[block], gaps)

    def reach(self, block: NDArray[np.intp], known: float) -> float:
        """How far from the unknown word outputs can raise what is known.

        An output y is nearer to it than to a word by at most g - d(u, y).
        """
        # More than `known` needs d_g(w, y) - d_g(u, y) > loss / c - 2 e = least, and
        # the left side is at most g - d(u, y): so d(u, y) < g - least.
        loss = known / self.share * self.gaps[block] - self.rises[block] - self.charge
        least = float(loss.min()) / self.law.rate - 2 * self.error
        # Beyond the cutoff all outputs are as far as one another.
        return (self.law.cutoff - least) * (1 + _MARGIN) if least > 0 else np.inf

    def _per_unit(self, most: Floats, rises: Floats, gaps: Floats) -> Floats:
        """A loss per unit of distance; -inf where both lie at one point."""
        loss = (self.law.rate * most + rises + self.charge) * self.share
        found = np.full(len(gaps), -np.inf)
        np.divide(loss, gaps, out=found, where=gaps > 0)
        return found


def discrete_epsilons(
    laws: Sequence[IntegerLaw], progress: Progress = no_progress
) -> list[float]:
    """The largest log-ratio of two inputs and any output of each law, rounded up."""
    return [_discrete(law, progress) for law in laws]


def discrete_bounds(laws: Sequence[IntegerLaw]) -> list[float]:
    """What no such certificate can be below: some inputs are asked."""
    return [_discrete(law, no_progress, step=_STEP) for law in laws]


def _discrete(law: IntegerLaw, progress: Progress, *, step: int = 1) -> float:
    """One certificate, from every so many inputs; infinite where a word is impossible.

    Memory: two integers a word for each of the threads, and a block of laws each.
    """
    size = law.space.vocab_size
    # From the unknown word, id V, down: it is always among them.
    asked = range(size, -1, -step)[::-1]
    most = np.zeros(size, dtype=np.int64)
    least = np.full(size, np.iinfo(np.int64).max)

    def extremes(some: Sequence[int]) -> tuple[Weights, Weights]:
        above, below = np.zeros_like(most), np.full_like(least, np.iinfo(np.int64).max)
        for _, row in law.rows(some):
            weights = row.weights()
            np.maximum(above, weights, out=above)
            np.minimum(below, weights, out=below)
        return above, below

    for above, below in in_blocks(extremes, asked, _STRIPE, progress):
        np.maximum(most, above, out=most)
        np.minimum(least, below, out=least)
    if (least == 0).any():
        return math.inf
    # Integers become floats and are divided: three roundings of 2^-53 each, which the
    # margin outweighs. The maximum of ln max - ln min is ln of the largest quotient.
    ratios = most.astype(np.float64) / least
    return math.log(float(ratios.max())) * (1 + _LOG_MARGIN) + _LOG_MARGIN
