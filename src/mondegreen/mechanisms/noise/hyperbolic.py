"""Hyperbolic noise around a point of the Poincaré ball."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

from mondegreen.errors import InvalidParameterError
from mondegreen.mechanisms import base
from mondegreen.mechanisms.noise.base import NoiseState, noise_guarantee
from mondegreen.sampling.laplace import hyperbolic_laplace, mobius_translate
from mondegreen.space.metric import METRICS
from mondegreen.space.search.decoders import PoincareSearch
from mondegreen.space.space import Space


@final
@dataclass(frozen=True, slots=True)
class Hyperbolic(base.AbstractMechanism):
    r"""Add hyperbolic noise to a point of the Poincaré ball; release the nearest word.

    .. math::

        M(w) = \arg\min_y d_H(\phi(y), \phi(w) \oplus Z), \qquad
        p_Z(z) \propto e^{-\epsilon\, d_H(0, z)}
        \text{ with respect to hyperbolic volume}

    Parameters
    ----------
    epsilon : float in [1e-9, 1e9], per unit of hyperbolic distance
        Must exceed ``dim - 1`` of the space: volume grows as :math:`e^{(n-1) r}`,
        and noise that falls more slowly does not exist.

    Raises
    ------
    InvalidParameterError
        If ``epsilon`` is out of range, or too small for the space.

    Notes
    -----
    *Privacy.* Epsilon-metric privacy of a word in hyperbolic distance: translations of
    the ball keep distances and volume, so the constant of the density does not depend
    on the word. Proof: ``docs/proofs/hyperbolic.md``. For smaller epsilons use
    ``exponential``, which promises the same.

    *Numerics.* The radius is a sum of exponentials
    (:func:`mondegreen.sampling.laplace.hyperbolic_radius`), the direction uniform
    on the sphere. Words are compared in double precision from differences.

    *Differs from the paper.* The density is with respect to hyperbolic volume: with
    Lebesgue measure, as printed, only ``2 * epsilon`` is proved. The sampler is exact,
    and no Metropolis-Hastings chain that is stopped.

    References
    ----------
    .. [1] Feyisetan, Diethe, Drake. "Leveraging Hierarchical Representations for
       Preserving Privacy and Utility in Text." ICDM 2019.

    Examples
    --------
    >>> import mondegreen as mg, numpy as np
    >>> space = mg.Space.from_arrays(
    ...     "tree", ["animal", "dog", "cat"], [[0, 0], [0.9, 0], [0, 0.9]],
    ...     metric="poincare",
    ... )
    >>> state = Hyperbolic(epsilon=12.0).prepare(space)
    >>> rng = np.random.default_rng(0)
    >>> state.sample(np.array([0, 1, 2, 3], dtype=np.int32), rng).tolist()
    [0, 1, 2, 0]
    """

    epsilon: float = base.epsilon_parameter(
        "per unit of hyperbolic distance", range="[1e-9, 1e9], above dim - 1"
    )

    name: ClassVar[str] = "hyperbolic"
    is_private: ClassVar[bool] = True
    family: ClassVar[str] = "noise"
    metric: ClassVar[str] = METRICS["poincare"]
    space_metrics: ClassVar[tuple[str, ...]] = ("poincare",)

    def prepare(self, space: Space) -> NoiseState:
        base.check_space(self, space)
        if not self.epsilon > space.dim - 1:
            raise InvalidParameterError(
                "epsilon",
                self.epsilon,
                f"above {space.dim - 1} for hyperbolic noise in {space.dim} "
                "dimensions (for less use exponential, which is epsilon-private for "
                "the same distance at every epsilon)",
            )
        search = PoincareSearch(space.vectors)
        return NoiseState(
            space,
            noise_guarantee(self, space, search),
            lambda rng, shape: hyperbolic_laplace(rng, self.epsilon, shape),
            search,
            translate=mobius_translate,
        )
