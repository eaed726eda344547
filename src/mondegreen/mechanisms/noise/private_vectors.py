"""Private release of embedding vectors: a noisy vector as the output."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Final, final

import numpy as np
from numpy.typing import NDArray

from mondegreen.arrays import Ids, LogProbs, Vectors
from mondegreen.errors import InvalidParameterError, LawUnknownError, SpaceError
from mondegreen.guarantee import Guarantee
from mondegreen.mechanisms.base import (
    AbstractMechanism,
    check_epsilon,
    check_ids,
    check_space,
    parameter,
)
from mondegreen.sampling.laplace import multivariate_laplace
from mondegreen.space.neighbours.base import NeighbourSearch
from mondegreen.space.neighbours.decoders import decoder_search
from mondegreen.space.projection import gaussian_projection, lipschitz_constant
from mondegreen.space.space import Space

__all__ = ["PrivateVectors", "VectorState"]

_BLOCK: Final = 4096

_ASSUMPTIONS: Final = (
    "noise is drawn in double precision as if in real numbers; the vectors are rounded "
    "to a public grid, so that their last bits, which would give the word away, are "
    "not released",
    "the projection and its Lipschitz constant come from the public space alone",
)


@final
@dataclass(frozen=True, slots=True)
class PrivateVectors(AbstractMechanism):
    r"""Release the vector of a word with multivariate Laplace noise.

    .. math::

        M(w) = \Phi\, \phi(w) + Z, \qquad
        p_Z(z) \propto e^{-\frac{\epsilon}{s} \lVert z \rVert_2}, \qquad
        s \ge \max_{w, w'} \frac{\lVert \Phi (\phi(w) - \phi(w')) \rVert}
                                {\lVert \phi(w) - \phi(w') \rVert}

    rounded to a public grid. Without a projection :math:`\Phi` is the identity.

    Parameters
    ----------
    epsilon : float in [1e-9, 1e9], per unit of Euclidean distance
        As for :class:`mondegreen.mechanisms.noise.laplace.Laplace`.
    projection_dim : int from 1 to the dimension of the space, optional
        Rows k of a public Gaussian projection. The noise has the length
        ``k * s / epsilon`` in the mean, in place of ``n / epsilon``.
    projection_seed : int, at least 0
        Which projection. It is public, like the space.

    Raises
    ------
    InvalidParameterError
        If a parameter is out of range.

    Notes
    -----
    *Privacy.* Epsilon-metric privacy for the Euclidean distance of the *unprojected*
    vectors; rounding, and decoding to words, are post-processing. Proof:
    ``docs/proofs/private-vectors.md``.

    *Numerics.* Coordinates are whole multiples of a power of two, ``VectorState.step``,
    at least :math:`2^{12}` times coarser than the doubles before rounding.
    The proof idealises doubles as real numbers; rounding removes the bits where
    they differ visibly and does not make the idealisation exact.

    *Differs from the paper.* The paper bounds s by :math:`1 + \beta` with high
    probability over the projection. The projection is public, so s is measured, over
    all pairs of inputs, and the promise holds with certainty.

    References
    ----------
    .. [1] Feyisetan, Kasiviswanathan. "Private Release of Text Embedding Vectors."
       TrustNLP 2021.
    .. [2] Mironov. "On Significance of the Least Significant Bits for Differential
       Privacy." CCS 2012.

    Examples
    --------
    >>> import mondegreen as mg
    >>> space = mg.Space.from_arrays("line", ["cold", "hot"], [[0, 1], [8, 1]])
    >>> state = PrivateVectors(epsilon=4.0).prepare(space)
    >>> noisy = state.vectors(np.array([0, 1]), np.random.default_rng(0))
    >>> noisy.shape, bool((noisy % state.step == 0).all())
    ((2, 2), True)
    >>> state.decode(noisy).tolist()
    [0, 1]
    """

    epsilon: float = parameter(
        range="[1e-9, 1e9]",
        unit="per unit of Euclidean distance",
        help="loss in nats for two words one unit apart",
    )
    projection_dim: int | None = parameter(
        None, range="1 to the dimension, or null", help="rows of the projection"
    )
    projection_seed: int = parameter(
        0, range="at least 0", help="which public projection"
    )

    name: ClassVar[str] = "private_vectors"
    family: ClassVar[str] = "noise"
    metric: ClassVar[str] = "Euclidean distance"
    space_metrics: ClassVar[tuple[str, ...]] = ("euclidean",)

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", check_epsilon(self.epsilon))
        if self.projection_dim is not None:
            _check_whole("projection_dim", self.projection_dim, 1)
        _check_whole("projection_seed", self.projection_seed, 0)

    def prepare(self, space: Space) -> VectorState:
        """Project the space, and measure the Lipschitz constant over all pairs.

        Raises
        ------
        SpaceError
            If the space is not Euclidean, or so wide that a grid cannot resolve the
            noise.
        InvalidParameterError
            If ``projection_dim`` exceeds the dimension of the space.
        """
        check_space(self, space)
        matrix: Vectors = np.eye(space.dim)
        constant = 1.0
        if self.projection_dim is not None:
            if self.projection_dim > space.dim:
                raise InvalidParameterError(
                    "projection_dim", self.projection_dim, f"at most {space.dim}"
                )
            matrix = gaussian_projection(
                space.dim, self.projection_dim, self.projection_seed
            )
            constant = lipschitz_constant(matrix, space)
        # Rounded down: the rate may only be smaller than epsilon / s.
        rate = self.epsilon / constant * (1 - 2.0**-50)
        words = _project(space, np.arange(space.vocab_size, dtype=np.int32), matrix)
        guarantee = Guarantee(
            mechanism=self.name,
            parameters=self.to_dict()["parameters"],
            epsilon=self.epsilon,
            metric=self.metric,
            scale=space.geometry.to_dict(),
            space=space.name,
            space_digest=space.digest,
            certified_how=f"proof; measured Lipschitz constant {constant:.6g}",
            proof="docs/proofs/private-vectors.md",
            assumptions=_ASSUMPTIONS,
        )
        step = _grid_step(words, rate, space.name)
        return VectorState(
            space, guarantee, matrix, rate, step, decoder_search("exact", words)
        )


@final
@dataclass(frozen=True, slots=True)
class VectorState:
    """Private vectors prepared for one space.

    Parameters
    ----------
    space : Space
        Where inputs live.
    guarantee : Guarantee
        What one call promises for each word.
    matrix : float64 array, shape (k, n)
        The public projection.
    rate : float, per unit of length of the noise
        At most epsilon over the Lipschitz constant.
    step : float
        Of the public grid, a power of two.
    search : NeighbourSearch
        Over the projected words.
    """

    space: Space
    guarantee: Guarantee
    matrix: Vectors
    rate: float
    step: float
    search: NeighbourSearch

    def vectors(self, ids: Ids, rng: np.random.Generator) -> NDArray[np.float64]:
        """Draw a noisy vector for each input, shape (T, k), on the grid.

        Parameters
        ----------
        ids : integer array, shape (T,)
            Words ``0..V-1``, or ``V`` for the unknown word.
        rng : numpy.random.Generator
            Consumed; never kept.
        """
        check_ids(ids, self.space.vocab_size)
        out = np.empty((len(ids), len(self.matrix)))
        for start in range(0, len(ids), _BLOCK):
            block = ids[start : start + _BLOCK]
            noise = multivariate_laplace(rng, self.rate, (len(block), len(self.matrix)))
            noise += _project(self.space, block, self.matrix)
            # A power of two divides and multiplies without error.
            out[start : start + _BLOCK] = np.rint(noise / self.step) * self.step
        return out

    def decode(self, vectors: Vectors) -> Ids:
        """Return the word nearest to each vector; post-processing."""
        return self.search.nearest(vectors, 1)[:, 0]

    def sample(self, ids: Ids, rng: np.random.Generator) -> Ids:
        """Draw a vector for each input and decode it to a word."""
        return self.decode(self.vectors(ids, rng))

    def log_prob(self, ids: Ids) -> LogProbs:
        """Raise: a probability is an integral over a Voronoi cell."""
        raise LawUnknownError("private_vectors has no law of words in closed form")


def _project(space: Space, ids: Ids, matrix: Vectors) -> NDArray[np.float64]:
    """Return the projected vectors of inputs, (T, k)."""
    out = np.empty((len(ids), len(matrix)))
    for start in range(0, len(ids), _BLOCK):
        block = ids[start : start + _BLOCK]
        out[start : start + _BLOCK] = space.points(block) @ matrix.T
    return out


def _grid_step(words: Vectors, rate: float, name: str) -> float:
    """Return the step: 2^-10 of a noise unit, or coarser where vectors are long."""
    largest = float(np.abs(words).max())
    fine = 2.0 ** math.floor(math.log2(1 / rate) - 10)
    coarse = 2.0 ** math.ceil(math.log2(largest) - 40) if largest > 0 else 0.0
    step = max(fine, coarse)
    if step > 2.0**-4 / rate:
        raise SpaceError(
            f"space {name!r}: coordinates up to {largest:.2g} are too long for noise "
            f"of {1 / rate:.2g}; take a smaller epsilon or rescale the vectors"
        )
    return step


def _check_whole(name: str, value: object, least: int) -> None:
    """Refuse what is no whole number from ``least`` on."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise InvalidParameterError(name, value, f"an integer, at least {least}")
