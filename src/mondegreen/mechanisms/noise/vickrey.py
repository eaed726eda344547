"""Release one of the k words nearest to the noisy point (Vickrey)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, final

import numpy as np
from numpy.typing import NDArray

from mondegreen.arrays import Ids, Vectors
from mondegreen.errors import InvalidParameterError
from mondegreen.mechanisms.base import (
    check_epsilon,
    check_interval,
    check_space,
    parameter,
)
from mondegreen.mechanisms.noise.base import (
    AbstractNoise,
    NoiseState,
    Uniforms,
    decoder_parameter,
)
from mondegreen.mechanisms.noise.laplace import Laplace
from mondegreen.space.search.decoders import NeighbourSearch, check_decoder
from mondegreen.space.space import Space

_MAX_K = 64


@final
@dataclass(frozen=True, slots=True)
class Vickrey(AbstractNoise):
    r"""Perturb as :class:`Laplace`, then choose among the words nearest to the point.

    With :math:`x = \phi(w) + Z` and :math:`r_1 \le \dots \le r_k` the distances from
    :math:`x` to the nearest words :math:`y_1, \dots, y_k`, of *all* words,

    .. math::

        P(y_1 \mid x) = \frac{(1-t)\, r_2}{t\, r_1 + (1-t)\, r_2}
        \quad (k = 2), \qquad
        P(y_i \mid x) \propto e^{-t_i r_i} \quad (t_1, \dots, t_k).

    Parameters
    ----------
    epsilon : float in [1e-9, 1e9], per unit of Euclidean distance
        As for :class:`Laplace`.
    t : float in [0, 1], or 2 to 64 floats in [0, 1e6] per unit of distance
        One number: the first form; 0 is :class:`Laplace`, 1 always takes the second
        neighbour. Several: the second form with as many neighbours.
    decoder : {"exact", "fast", "torch"}
        How the nearest word is found; see ``docs/explanation/decoders.md``.

    Raises
    ------
    InvalidParameterError
        If a parameter is out of range.

    Notes
    -----
    *Privacy.* Epsilon-metric privacy in Euclidean distance for every public ``t``:
    the choice is a function of the noisy point alone, so it is post-processing of
    :class:`Laplace`. Proof: ``docs/proofs/vickrey.md``.

    *Differs from the paper.* The printed algorithms exclude the input word from its
    neighbours. Then :math:`P(w \mid w) = 0` while :math:`P(w \mid w') > 0`, and no
    epsilon holds; the theorem and the text of the paper speak of all words, as is
    done here. Where the ratio is 0/0, :math:`P(y_1) = 1 - t`.

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

    epsilon: float = parameter(
        range="[1e-9, 1e9]",
        unit="per unit of Euclidean distance",
        help="loss in nats for two words one unit apart",
    )
    t: float | tuple[float, ...] = parameter(
        0.5,
        range="[0, 1], or 2 to 64 numbers in [0, 1e6]",
        help="one number: weight of the second neighbour; several: one rate for each",
    )
    decoder: str = decoder_parameter()

    name: ClassVar[str] = "vickrey"
    family: ClassVar[str] = "noise"
    metric: ClassVar[str] = "Euclidean distance"

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", check_epsilon(self.epsilon))
        check_decoder(self.decoder)
        if not isinstance(self.t, (tuple, list)):
            t = check_interval("t", self.t, 0.0, 1.0, "in [0, 1]")
            object.__setattr__(self, "t", t)
            return
        if not 2 <= len(self.t) <= _MAX_K:
            raise InvalidParameterError("t", len(self.t), f"2 to {_MAX_K} numbers")
        rates = tuple(
            check_interval("t", rate, 0.0, 1e6, "numbers in [0, 1e6]")
            for rate in self.t
        )
        object.__setattr__(self, "t", rates)  # lists come from JSON

    def prepare(self, space: Space) -> NoiseState:
        """Prepare the noise of Laplace with another decoder."""
        check_space(self, space)
        laplace = Laplace(self.epsilon, self.decoder).prepare(space)
        guarantee = replace(
            laplace.guarantee,
            mechanism=self.name,
            parameters=self.to_dict()["parameters"],
            proof="docs/proofs/vickrey.md",
        )

        def decode(points: Vectors, search: NeighbourSearch, uniforms: Uniforms) -> Ids:
            k = len(self.t) if isinstance(self.t, tuple) else 2
            neighbours = search.nearest(points, k)
            gaps = space.vectors[neighbours].astype(np.float64) - points[:, None, :]
            # The float32 search may swap neighbours within its rounding; the law is
            # about distances, so they are put in their true order.
            distances = np.sqrt(np.einsum("tkn,tkn->tk", gaps, gaps))
            order = np.argsort(distances, axis=1, kind="stable")
            neighbours = np.take_along_axis(neighbours, order, axis=1)
            law = self._law(np.take_along_axis(distances, order, axis=1))
            passed = uniforms >= np.cumsum(law, axis=1)[:, :-1]
            chosen: Ids = np.take_along_axis(
                neighbours, passed.sum(axis=1, keepdims=True), axis=1
            )[:, 0]
            return chosen

        return replace(laplace, guarantee=guarantee, decode=decode, uniforms=1)

    def _law(self, distances: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the probabilities of the neighbours at these distances, (T, k)."""
        if isinstance(self.t, tuple):
            scores = -np.array(self.t[: distances.shape[1]]) * distances
            weights: NDArray[np.float64] = np.exp(
                scores - scores.max(axis=1, keepdims=True)
            )
            weights /= weights.sum(axis=1, keepdims=True)
            return weights
        if distances.shape[1] == 1:
            return np.ones_like(distances)
        first = (1 - self.t) * distances[:, 1]
        total = self.t * distances[:, 0] + first
        equal = np.full_like(first, 1 - self.t)
        p = np.divide(first, total, out=equal, where=total > 0)
        return np.stack([p, 1 - p], axis=1)
