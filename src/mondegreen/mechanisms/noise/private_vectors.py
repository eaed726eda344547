"""Private release of embedding vectors: a noisy vector as the output."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Final, final

import numpy as np

from mondegreen.arrays import Floats, Ids, Vectors, slices
from mondegreen.errors import InvalidParameterError, SpaceError
from mondegreen.guarantee import Guarantee
from mondegreen.mechanisms import base
from mondegreen.mechanisms.noise.base import BLOCK
from mondegreen.sampling.laplace import multivariate_laplace
from mondegreen.space.search.decoders import NeighbourSearch, decoder_search
from mondegreen.space.space import Space

_TILE_ROWS: Final = 1024

_ASSUMPTIONS: Final = (
    "noise is drawn in double precision as if in real numbers; the vectors are rounded "
    "to a public grid, so that their last bits, which would give the word away, are "
    "not released",
    "the projection and its Lipschitz constant come from the public space alone",
)


@final
@dataclass(frozen=True, slots=True)
class PrivateVectors(base.AbstractMechanism):
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
        As for :class:`~mondegreen.mechanisms.noise.laplace.Laplace`.
    projection_dim : int from 1 to the dimension of the space, optional
        Rows k of a public Gaussian projection: the mean length of the noise is
        ``k * s / epsilon``, in place of ``n / epsilon``.
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

    *Numerics.* The proof idealises doubles as real numbers. Coordinates are multiples
    of a power of two, ``VectorState.step``, at least :math:`2^{12}` times coarser than
    doubles: this removes the bits that visibly differ [2]_, and proves no more.

    *Differs from the paper.* The paper bounds s with high probability over the
    projection. That is public: s is measured over all pairs, and the promise certain.

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

    epsilon: float = base.epsilon_parameter("per unit of Euclidean distance")
    projection_dim: int | None = base.parameter(
        None, range="1 to the dimension, or null", help="rows of the projection"
    )
    projection_seed: int = base.parameter(
        0, range="at least 0", help="which public projection"
    )

    name: ClassVar[str] = "private_vectors"
    is_private: ClassVar[bool] = True
    family: ClassVar[str] = "noise"
    metric: ClassVar[str] = "Euclidean distance"

    def __post_init__(self) -> None:
        base.AbstractMechanism.__post_init__(self)
        if self.projection_dim is not None:
            _check_whole("projection_dim", self.projection_dim, 1)
        _check_whole("projection_seed", self.projection_seed, 0)

    def prepare(self, space: Space) -> VectorState:
        """Project the space, and measure the Lipschitz constant over all pairs."""
        base.check_space(self, space)
        matrix: Vectors = np.eye(space.dim)
        constant, k = 1.0, self.projection_dim
        if k is not None:
            if k > space.dim:
                raise InvalidParameterError("projection_dim", k, f"at most {space.dim}")
            matrix = gaussian_projection(space.dim, k, self.projection_seed)
            constant = lipschitz_constant(matrix, space)
        # Rounded down: the rate may only be smaller than epsilon / s.
        rate = self.epsilon / constant * (1 - 2.0**-50)
        every = np.arange(space.vocab_size, dtype=np.int32)
        blocks = np.split(every, range(BLOCK, space.vocab_size, BLOCK))
        words = np.concatenate([space.points(block) @ matrix.T for block in blocks])
        guarantee = self.promise(
            space,
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
class VectorState(base.State):
    """Private vectors prepared for one space; ``step`` is that of their public grid."""

    space: Space
    guarantee: Guarantee
    matrix: Vectors  # the public projection, (k, n)
    rate: float  # of the noise per unit of length, at most epsilon / s
    step: float  # a power of two
    search: NeighbourSearch  # over the projected words

    def vectors(self, ids: Ids, rng: np.random.Generator) -> Floats:
        """Draw a noisy vector for each input, shape (T, k), on the grid.

        Inputs are words ``0..V-1``, or ``V`` for the unknown word.

        Parameters
        ----------
        ids : int32 array, shape (T,)
            Inputs.
        rng : numpy.random.Generator
            Source of noise.

        Returns
        -------
        float64 array, shape (T, k)
            Noisy vectors.
        """
        base.check_ids(ids, self.space.vocab_size)
        out = np.empty((len(ids), len(self.matrix)))
        for part in slices(len(ids), BLOCK):
            block = ids[part]
            noise = multivariate_laplace(rng, self.rate, (len(block), len(self.matrix)))
            noise += self.space.points(block) @ self.matrix.T
            # A power of two divides and multiplies without error.
            out[part] = np.rint(noise / self.step) * self.step
        return out

    def decode(self, vectors: Vectors) -> Ids:
        """Find the word nearest to each vector; this is post-processing.

        Parameters
        ----------
        vectors : float64 array, shape (T, k)
            What :meth:`vectors` returned.

        Returns
        -------
        int32 array, shape (T,)
            Words ``0..V-1``.
        """
        return self.search.nearest(vectors, 1)[:, 0]

    def sample(self, ids: Ids, rng: np.random.Generator) -> Ids:
        return self.decode(self.vectors(ids, rng))


def _grid_step(words: Vectors, rate: float, name: str) -> float:
    """2^-10 of a noise unit, or coarser where vectors are long."""
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
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise InvalidParameterError(name, value, f"an integer, at least {least}")


def gaussian_projection(dim: int, projection_dim: int, seed: int) -> Vectors:
    """Normal numbers of variance 1/k, (k, n): squared lengths are kept in the mean.

    The seed makes them public; no privacy rests on it.
    """
    matrix: Vectors = np.random.default_rng(seed).standard_normal((projection_dim, dim))
    matrix /= np.sqrt(projection_dim)
    return matrix


def lipschitz_constant(matrix: Vectors, space: Space) -> float:
    """Bound the stretch s of a linear map over all pairs of inputs from above.

    Products in float32 look for pairs that may stretch more than the best so far, with
    a slack above their rounding error; only those are computed, in float64 and from
    their difference, and the largest is rounded up. Equal points do not count. Time
    grows with the square of the vocabulary.
    """
    ids = np.unique(space.canonical)
    points = space.points(ids) - space.unknown
    images = points @ matrix.T
    squares = np.einsum("ij,ij->i", points, points)
    image_squares = np.einsum("ij,ij->i", images, images)
    best = _largest_stretch(matrix, space, ids[:-1], ids[1:])
    for i in range(0, len(ids), _TILE_ROWS):
        # |Xi - Xj|^2 - best^2 |xi - xj|^2 as one product, X the image of x.
        square = best**2
        rest = (image_squares - square * squares)[:, None]
        ones = np.ones_like(rest)
        tile = slice(i, i + _TILE_ROWS)
        left = np.hstack([-2 * images, 2 * square * points, rest, ones])[tile]
        right = np.hstack([images, points, ones, rest])[i:].astype(np.float32)
        slack = 5.0 * (left.shape[1] + 8) * 2.0**-24
        slack *= float(image_squares.max()) + square * float(squares.max())
        # Some builds of BLAS raise the flag of an invalid operation on padding of their
        # own, so the values are asked instead: a pair without a number is computed too.
        with np.errstate(invalid="ignore"):
            gains = left.astype(np.float32) @ right.T
        rows, columns = np.nonzero(~(gains <= -slack))
        apart = rows < columns
        first, second = ids[i:][rows[apart]], ids[i:][columns[apart]]
        best = max(best, _largest_stretch(matrix, space, first, second))
    if best == 0:  # nothing to stretch; any map will do
        return float(np.linalg.norm(matrix, 2)) * (1 + 1e-9) or 1.0
    return best * (1 + 1e-9)


def _largest_stretch(matrix: Vectors, space: Space, first: Ids, second: Ids) -> float:
    """The largest stretch of some pairs, from their differences."""
    largest = 0.0
    for part in slices(len(first), _TILE_ROWS):
        gaps = space.points(first[part]) - space.points(second[part])
        stretch = np.linalg.norm(gaps @ matrix.T, axis=1)
        stretch /= np.linalg.norm(gaps, axis=1)
        largest = max(largest, float(stretch.max()))
    return largest
