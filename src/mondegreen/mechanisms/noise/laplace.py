"""Calibrated multivariate perturbation (CMP, "Madlib")."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

from mondegreen.mechanisms import base
from mondegreen.mechanisms.noise.base import (
    AbstractNoise,
    NoiseState,
    decoder_parameter,
)
from mondegreen.space.space import Space


@final
@dataclass(frozen=True, slots=True)
class Laplace(AbstractNoise):
    r"""Add multivariate Laplace noise to a word vector; release the nearest word.

    .. math::

        M(w) = \arg\min_y \lVert \phi(y) - (\phi(w) + Z) \rVert_2, \qquad
        p_Z(z) = \frac{\epsilon^n\, \Gamma(n/2)}{2 \pi^{n/2}\, \Gamma(n)}
                 e^{-\epsilon \lVert z \rVert_2}

    Parameters
    ----------
    epsilon : float in [1e-9, 1e9], per unit of Euclidean distance
        The mean length of the noise is ``dim / epsilon``.
    decoder : {"exact", "fast", "torch"}
        How the nearest word is found; see ``docs/explanation/decoders.md``.

    Raises
    ------
    InvalidParameterError
        If a parameter is out of range.

    Notes
    -----
    *Privacy.* Epsilon-metric privacy of a word in Euclidean distance: translation
    cancels the constant of the density, the triangle inequality bounds the exponent,
    and decoding is post-processing. Proof: ``docs/proofs/laplace.md``.

    *Numerics.* The direction is uniform on the sphere, the radius
    :math:`\Gamma(n, 1/\epsilon)`.

    *Differs from the paper.* The normal vector is brought to the unit sphere, not "in
    the unit ball". Unknown words are perturbed around the unknown point of the space.

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
    """

    epsilon: float = base.epsilon_parameter("per unit of Euclidean distance")
    decoder: str = decoder_parameter()

    name: ClassVar[str] = "laplace"
    is_private: ClassVar[bool] = True
    aliases: ClassVar[tuple[str, ...]] = ("cmp", "madlib")

    def prepare(self, space: Space) -> NoiseState:
        return self.laplace_state(space)
