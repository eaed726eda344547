"""Calibrated multivariate perturbation (CMP, "Madlib")."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, final

from mondegreen.errors import InvalidParameterError
from mondegreen.mechanisms import base
from mondegreen.mechanisms.noise.base import (
    AbstractNoise,
    NoiseState,
    decoder_parameter,
    noise_guarantee,
)
from mondegreen.sampling.laplace import chebyshev_laplace, manhattan_laplace
from mondegreen.space.geometry import estimate_in_norm, round_up
from mondegreen.space.metric import NORMS, check_norm
from mondegreen.space.search.decoders import NormSearch
from mondegreen.space.space import Space


@final
@dataclass(frozen=True, slots=True)
class Laplace(AbstractNoise):
    r"""Add multivariate Laplace noise to a word vector; release the nearest word.

    .. math::

        M(w) = \arg\min_y \lVert \phi(y) - (\phi(w) + Z) \rVert, \qquad
        p_Z(z) \propto e^{-\epsilon \lVert z \rVert}

    with the Euclidean norm, unless ``norm`` names another one.

    Parameters
    ----------
    epsilon : float in [1e-9, 1e9], per unit of distance
        Of the distance that ``norm`` names: numbers of two norms do not compare. The
        mean length of the noise is ``dim / epsilon``.
    decoder : {"exact", "fast", "torch"}
        How the nearest word is found; see ``docs/explanation/decoders.md``. Other norms
        take "exact" only.
    norm : {"euclidean", "manhattan", "chebyshev"}
        Norm of the noise, of the guarantee and of the nearest word: :math:`\ell_2`,
        :math:`\ell_1` or :math:`\ell_\infty`. The search in another norm than the
        Euclidean one is about fifty times as slow.

    Raises
    ------
    InvalidParameterError
        If a parameter is out of range.

    Notes
    -----
    *Privacy.* Epsilon-metric privacy of a word in the distance of the norm: translation
    cancels the constant of the density, the triangle inequality bounds the exponent,
    and decoding is post-processing. Proof: ``docs/proofs/laplace.md``.

    *Numerics.* The length is :math:`\Gamma(n, 1/\epsilon)` in each norm. The direction
    is uniform on the Euclidean sphere. Manhattan: independent Laplace coordinates.
    Chebyshev: a point uniform in a cube of random width.

    *Differs from the paper.* The normal vector is brought to the unit sphere, not "in
    the unit ball". Unknown words are perturbed around the unknown point of the space.
    Algorithm 1 samples for the Euclidean metric only.

    References
    ----------
    .. [1] Feyisetan, Balle, Drake, Diethe. "Privacy- and Utility-Preserving Textual
       Analysis via Calibrated Multivariate Perturbations." WSDM 2020, Algorithm 1.

    Examples
    --------
    >>> import mondegreen as mg, numpy as np
    >>> space = mg.Space.from_arrays("line", ["cold", "cool", "hot"], [[0], [1], [9]])
    >>> state = Laplace(epsilon=5.0).prepare(space)
    >>> rng = np.random.default_rng(0)
    >>> state.sample(np.array([0, 0, 2, 3], dtype=np.int32), rng).tolist()
    [0, 0, 2, 1]
    >>> Laplace(epsilon=5.0, norm="manhattan").prepare(space).guarantee.metric
    'Manhattan distance'
    """

    epsilon: float = base.epsilon_parameter("per unit of distance")
    decoder: str = decoder_parameter()
    norm: str = base.parameter(
        "euclidean",
        range=", ".join(NORMS),
        help="norm of the noise, of the nearest word, and of the guarantee's distance",
    )

    name: ClassVar[str] = "laplace"
    is_private: ClassVar[bool] = True
    aliases: ClassVar[tuple[str, ...]] = ("cmp", "madlib")
    metric: ClassVar[str] = "Euclidean, Manhattan or Chebyshev distance"

    def __post_init__(self) -> None:
        AbstractNoise.__post_init__(self)
        check_norm(self.norm)
        if self.norm != "euclidean" and self.decoder != "exact":
            allowed = f"exact with norm {self.norm}; the others are for euclidean"
            raise InvalidParameterError("decoder", self.decoder, allowed)

    def to_dict(self) -> dict[str, Any]:
        # Without the default norm, as before there was another: digests stay.
        found = AbstractNoise.to_dict(self)
        if self.norm == "euclidean":
            del found["parameters"]["norm"]
        return found

    def prepare(self, space: Space) -> NoiseState:
        if self.norm == "euclidean":
            return self.laplace_state(space, metric=NORMS[self.norm])
        base.check_space(self, space)
        # Of a Euclidean distance, the most that a distance in the norm can be.
        is_manhattan = self.norm == "manhattan"
        stretch = math.sqrt(space.dim) if is_manhattan else 1.0
        euclidean = round_up(self.epsilon * stretch)
        scale = estimate_in_norm(
            space.vectors, space.unknown, self.norm, space.geometry
        )
        search = NormSearch(self.norm, space.vectors)
        draw = manhattan_laplace if is_manhattan else chebyshev_laplace
        guarantee = noise_guarantee(
            self,
            space,
            search,
            metric=NORMS[self.norm],
            scale=scale.to_dict(),
            equivalents=(f"epsilon {euclidean:.6g} per unit of Euclidean distance",),
        )
        return NoiseState(
            space,
            guarantee,
            lambda rng, shape: draw(rng, self.epsilon, shape),
            search,
            norm=self.norm,
        )
