"""Release one of the k words nearest to the noisy point (Vickrey)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Final, final

import numpy as np

from mondegreen.arrays import Floats, Ids, Vectors
from mondegreen.errors import InvalidParameterError
from mondegreen.mechanisms import base
from mondegreen.mechanisms.noise.base import (
    AbstractNoise,
    NoiseState,
    decoder_parameter,
)
from mondegreen.mechanisms.noise.mahalanobis import mahalanobis_state
from mondegreen.space.search.decoders import NeighbourSearch
from mondegreen.space.space import Space

_MAX_K: Final = 64

T_GRID: Final = (0.0, 0.25, 0.5, 0.75, 1.0)
"""Weights of the second neighbour that a calibration tries."""


@final
@dataclass(frozen=True, slots=True)
class Vickrey(AbstractNoise):
    r"""Perturb the vector, then choose among the words nearest to the noisy point.

    :math:`Z` is the noise of :class:`Laplace`, or of :class:`Mahalanobis`. With
    :math:`x = \phi(w) + Z` and :math:`r_1 \le \dots \le r_k` the distances from
    :math:`x` to the nearest words :math:`y_1, \dots, y_k`, of *all* words,

    .. math::

        P(y_1 \mid x) = \frac{(1-t)\, r_2}{t\, r_1 + (1-t)\, r_2}
        \quad (k = 2), \qquad
        P(y_i \mid x) \propto e^{-t_i r_i} \quad (t_1, \dots, t_k).

    Parameters
    ----------
    epsilon : float in [1e-9, 1e9], per unit of distance
        Of Euclidean distance, as for :class:`Laplace`; of Mahalanobis distance where
        ``lambda_`` is above 0.
    t : float in [0, 1], or 2 to 64 floats in [0, 1e6] per unit of distance
        One number: the first form; 0 is :class:`Laplace`, 1 always takes the second
        neighbour. Several: the second form with as many neighbours.
    lambda_ : float in [0, 1 - 1e-6]
        Share of the covariance in the noise, as for :class:`Mahalanobis`; 0 is the
        noise of :class:`Laplace`.
    decoder : {"exact", "fast", "torch"}
        How the nearest word is found; see ``docs/explanation/decoders.md``.

    Raises
    ------
    InvalidParameterError
        If a parameter is out of range.

    Notes
    -----
    *Privacy.* Epsilon-metric privacy in the distance of its noise for every public
    ``t``: the choice looks at the noisy point alone, so it is post-processing of
    :class:`Laplace` or :class:`Mahalanobis`. Proof: ``docs/proofs/vickrey.md``.

    *Differs from the paper.* The printed algorithms exclude the input word from its
    neighbours, so that no epsilon holds (``vickrey_literal``); its theorem speaks of
    all words, as is done here. Where the ratio is 0/0, :math:`P(y_1) = 1 - t`.

    References
    ----------
    .. [1] Xu, Aggarwal, Feyisetan, Teissier. "On a Utilitarian Approach to Privacy
       Preserving Text Generation." PrivateNLP 2021, Algorithms 1 and 3.

    Examples
    --------
    >>> import mondegreen as mg
    >>> space = mg.Space.from_arrays("line", ["cold", "cool", "hot"], [[0], [1], [9]])
    >>> state = Vickrey(epsilon=20.0, t=1.0).prepare(space)
    >>> rng = np.random.default_rng(0)
    >>> state.sample(np.array([0, 2], dtype=np.int32), rng).tolist()
    [1, 1]
    """

    epsilon: float = base.epsilon_parameter("per unit of distance")
    t: float | tuple[float, ...] = base.parameter(
        0.5,
        range="[0, 1], or 2 to 64 numbers in [0, 1e6]",
        help="one number: weight of the second neighbour; several: one rate for each",
    )
    lambda_: float = base.parameter(
        0.0,
        range="[0, 1 - 1e-6]",
        help="share of the covariance of the space in the noise; 0 is round noise",
        within=(0, 1 - 1e-6),
    )
    decoder: str = decoder_parameter()

    name: ClassVar[str] = "vickrey"
    is_private: ClassVar[bool] = True
    searched: ClassVar[tuple[str, tuple[float, ...]]] = ("t", T_GRID)

    def __post_init__(self) -> None:
        AbstractNoise.__post_init__(self)
        t: float | tuple[float, ...]
        if not isinstance(self.t, (tuple, list)):
            t = base.check_interval("t", self.t, 0.0, 1.0, "in [0, 1]")
        elif 2 <= len(self.t) <= _MAX_K:  # lists come from JSON
            allowed = "numbers in [0, 1e6]"
            t = tuple(
                base.check_interval("t", each, 0.0, 1e6, allowed) for each in self.t
            )
        else:
            raise InvalidParameterError("t", len(self.t), f"2 to {_MAX_K} numbers")
        object.__setattr__(self, "t", t)

    def to_dict(self) -> dict[str, Any]:
        # Without round noise, as before there was another: digests stay what they were.
        found = AbstractNoise.to_dict(self)
        if not self.lambda_:
            del found["parameters"]["lambda_"]
        return found

    def prepare(self, space: Space) -> NoiseState:
        k = len(self.t) if isinstance(self.t, tuple) else 2

        def decode(points: Vectors, search: NeighbourSearch, uniforms: Floats) -> Ids:
            words, distances = nearest_words(space, search, points, k)
            return choose_neighbour(words, self.chances(distances), uniforms)

        if self.lambda_:
            state = mahalanobis_state(self, space, self.lambda_)
        else:
            state = self.laplace_state(space)
        return replace(state, decode=decode, uniforms=1)

    def chances(self, distances: Floats) -> Floats:
        """Tell how likely each neighbour is to be released, from its distance, (T, k).

        Parameters
        ----------
        distances : float64 array, shape (T, k)
            Distances of the noisy point to its k nearest words, nearest first.

        Returns
        -------
        float64 array, shape (T, k)
            Probabilities; each row sums to 1.

        Examples
        --------
        >>> Vickrey(epsilon=1.0, t=0.5).chances(np.array([[1.0, 3.0]])).tolist()
        [[0.75, 0.25]]
        """
        if not isinstance(self.t, tuple):
            return two_neighbours(distances, self.t)
        scores = -np.array(self.t[: distances.shape[1]]) * distances
        weights: Floats = np.exp(scores - scores.max(axis=1, keepdims=True))
        weights /= weights.sum(axis=1, keepdims=True)
        return weights


def nearest_words(
    space: Space,
    search: NeighbourSearch,
    points: Vectors,
    k: int,
    excluded: Ids | None = None,
) -> tuple[Ids, Floats]:
    """Find the k nearest words of each point in true order, and their distances.

    A word that is excluded, one for each point, counts as infinitely far.
    """
    # The float32 search may swap neighbours within its rounding.
    words = search.nearest(points, k)
    gaps = space.vectors[words].astype(np.float64) - points[:, None, :]
    distances: Floats = np.sqrt(np.einsum("tkn,tkn->tk", gaps, gaps))
    if excluded is not None:
        distances[words == excluded[:, None]] = np.inf
    order = np.argsort(distances, axis=1, kind="stable")
    rows = np.arange(len(words))[:, None]
    return words[rows, order], distances[rows, order]


def two_neighbours(distances: Floats, t: float) -> Floats:
    """The law of two neighbours; of one, where the other does not exist."""
    if distances.shape[1] == 1:
        return np.ones_like(distances)
    first = (1 - t) * distances[:, 1]
    total = t * distances[:, 0] + first
    p = np.divide(first, total, out=np.full_like(first, 1 - t), where=total > 0)
    return np.stack([p, 1 - p], axis=1)


def choose_neighbour(words: Ids, law: Floats, uniforms: Floats) -> Ids:
    """Turn uniform numbers, (T, 1), into one of the words of each row."""
    place = (uniforms >= np.cumsum(law, axis=1)[:, :-1]).sum(axis=1)
    chosen: Ids = words[np.arange(len(words)), place]
    return chosen
