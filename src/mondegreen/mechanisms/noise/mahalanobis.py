"""Noise shaped like the space: the regularized Mahalanobis mechanism."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar, final

import numpy as np

from mondegreen.arrays import Vectors
from mondegreen.mechanisms import base
from mondegreen.mechanisms.noise.base import (
    AbstractNoise,
    NoiseState,
    decoder_parameter,
)
from mondegreen.space.geometry import estimate, scale_covariance
from mondegreen.space.space import Space


@final
@dataclass(frozen=True, slots=True)
class Mahalanobis(AbstractNoise):
    r"""Add noise that is longer where the space is wide; release the nearest word.

    .. math::

        p_Z(z) \propto \exp(-\epsilon \lVert z \rVert_A), \quad
        \lVert z \rVert_A = \sqrt{z^\top A^{-1} z}, \quad
        A = \lambda \Sigma + (1 - \lambda) I_n

    where :math:`\Sigma` is the covariance of the public vectors, scaled to trace
    :math:`n`. ``lambda_ = 0`` is :class:`Laplace`.

    Parameters
    ----------
    epsilon : float in [1e-9, 1e9], per unit of Mahalanobis distance
        Not comparable to an epsilon per unit of Euclidean distance; the guarantee
        states both.
    lambda_ : float in [0, 1 - 1e-6]
        Share of the covariance.
    decoder : {"exact", "fast", "torch"}
        How the nearest word is found; see ``docs/explanation/decoders.md``.

    Raises
    ------
    InvalidParameterError
        If a parameter is out of range.

    Notes
    -----
    *Privacy.* Epsilon-metric privacy in :math:`\lVert \phi(w) - \phi(w') \rVert_A`, as
    :class:`Laplace` has it for its norm; so :math:`\epsilon / \sqrt{a_{\min}}`-metric
    privacy in Euclidean distance, with :math:`a_{\min}` the smallest eigenvalue of
    :math:`A`. Proof: ``docs/proofs/mahalanobis.md``.

    *Numerics.* :math:`z = r A^{1/2} u` with :math:`A^{1/2}` by Cholesky. The product
    must not be brought back to unit length: that would break the promise.

    *Differs from the paper.* The covariance is that of the public space, never of
    the private text.

    References
    ----------
    .. [1] Xu, Aggarwal, Feyisetan, Teissier. "A Differentially Private Text
       Perturbation Method Using a Regularized Mahalanobis Metric." PrivateNLP 2020.

    Examples
    --------
    >>> import mondegreen as mg
    >>> space = mg.Space.from_arrays("ab", ["a", "b"], [[0, 0], [4, 0]])
    >>> state = Mahalanobis(epsilon=8.0).prepare(space)
    >>> rng = np.random.default_rng(0)
    >>> state.sample(np.array([0, 1], dtype=np.int32), rng).tolist()
    [0, 1]
    """

    epsilon: float = base.epsilon_parameter("per unit of Mahalanobis distance")
    lambda_: float = base.parameter(
        0.2,
        range="[0, 1 - 1e-6]",
        help="share of the covariance of the space in the metric",
        # Nearer to 1 the metric could not be factorised where the space is flat.
        within=(0, 1 - 1e-6),
    )
    decoder: str = decoder_parameter()

    name: ClassVar[str] = "mahalanobis"
    is_private: ClassVar[bool] = True
    metric: ClassVar[str] = "regularized Mahalanobis distance"

    def prepare(self, space: Space) -> NoiseState:
        return mahalanobis_state(self, space, self.lambda_)


def mahalanobis_state(
    mechanism: AbstractNoise, space: Space, lambda_: float
) -> NoiseState:
    """Noise of this shape that the nearest word decodes, under its guarantee."""
    base.check_space(mechanism, space)
    matrix = regularize_covariance(space, lambda_)
    root = np.linalg.cholesky(matrix)
    whitening = np.linalg.inv(root)
    smallest = float(np.linalg.eigvalsh(matrix)[0])
    # The largest stretch of a Euclidean distance, rounded up.
    stretch = (1 + 1e-9) / math.sqrt(smallest)
    euclidean = mechanism.epsilon * stretch
    seen = estimate(space.vectors, space.unknown, whitening)
    diameter = min(seen.diameter, space.geometry.diameter * stretch)
    state = mechanism.laplace_state(
        space,
        metric=Mahalanobis.metric,
        scale=replace(seen, diameter=diameter).to_dict(),
        equivalents=(f"epsilon {euclidean:.6g} per unit of Euclidean distance",),
    )
    draw = state.draw_noise
    return replace(
        state,
        draw_noise=lambda rng, shape: draw(rng, shape) @ root.T,
        whitening=whitening,
    )


def regularize_covariance(space: Space, lambda_: float) -> Vectors:
    r""":math:`A = \lambda \Sigma + (1 - \lambda) I_n`, (n, n) float64."""
    sigma = scale_covariance(space.vectors)
    return lambda_ * sigma + (1 - lambda_) * np.eye(space.dim)
