"""The privacy ratio between two metrics (BRR paper)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from mondegreen.errors import InvalidParameterError
from mondegreen.space.geometry import Geometry


@final
@dataclass(frozen=True, slots=True)
class PrivacyRatio:
    r"""Two epsilons of two metrics that get the same label; not equal privacy.

    For a metric :math:`d` on a set :math:`X` of inputs

    .. math::

        P_d^{\max} = \max_{x, x'} d(x, x'), \qquad
        P_d^{\mathrm{avg}} = \frac{1}{|X|^2} \sum_{x, x'} d(x, x'),

    and a mechanism of metric :math:`A` at :math:`\epsilon_A` is put beside one of
    metric :math:`B` at :math:`\epsilon_B = \epsilon_A P_A / P_B`.

    Parameters
    ----------
    of_max : float in (0, inf)
        :math:`P_A^{\max} / P_B^{\max}`.
    of_mean : float in (0, inf)
        :math:`P_A^{\mathrm{avg}} / P_B^{\mathrm{avg}}`.

    Notes
    -----
    *What it is not.* ``of_max`` makes two *upper bounds* on the worst loss equal:
    :math:`\epsilon_A P_A^{\max} = \epsilon_B P_B^{\max}`. ``of_mean`` makes the mean of
    such bounds equal, which bounds nothing. How much two mechanisms really reveal is
    another matter: for one the bound is tight and for the other it is never reached.
    It is a convention for the labels of a plot. To compare mechanisms, match what is
    measured: the Bayes risk, or the certified epsilon in one metric.

    *Differs from the paper.* The mean there is over all :math:`|X|^2` ordered pairs,
    the zeros of equal words among them. Both means here leave these out, which changes
    the ratio not at all: both are :math:`|X| / (|X| - 1)` times as large. Nor is the
    mean "conservative": which of the two ratios is larger depends on the metrics.

    References
    ----------
    .. [1] Silva Carvalho, Vasiloudis, Feyisetan. "BRR: Preserving Privacy of Text Data
       Efficiently on Device." ICML workshop 2021, section 4.

    Examples
    --------
    >>> euclidean = Geometry(closest=1.0, nearest=4.0, mean=7.0, diameter=15.0)
    >>> hamming = Geometry(closest=1.0, nearest=60.0, mean=128.0, diameter=180.0)
    >>> ratio = PrivacyRatio.between(euclidean, hamming)
    >>> round(ratio.of_mean, 4), round(ratio.epsilon(22.0), 2)
    (0.0547, 1.2)
    """

    of_max: float
    of_mean: float

    def __post_init__(self) -> None:
        for name, value in (("of_max", self.of_max), ("of_mean", self.of_mean)):
            if not 0 < value < float("inf"):
                raise InvalidParameterError(name, value, "a positive number")

    @classmethod
    def between(cls, first: Geometry, second: Geometry) -> PrivacyRatio:
        """Return the ratios of the first metric to the second.

        Parameters
        ----------
        first, second : Geometry
            Of the same inputs in two metrics: ``space.geometry`` and
            ``space.codes.geometry``. Diameters that are bounds give a bound.

        Raises
        ------
        InvalidParameterError
            If all inputs lie at one point in one of them.
        """
        if not (second.diameter > 0 and second.mean > 0):
            raise InvalidParameterError("second", second, "of at least two points")
        return cls(first.diameter / second.diameter, first.mean / second.mean)

    def epsilon(self, epsilon: float, *, of: str = "mean") -> float:
        """Return the epsilon of the second metric that gets the label of the first.

        Parameters
        ----------
        epsilon : float, per unit of the first metric
            What to translate.
        of : {"mean", "max"}
            Which of the two ratios.
        """
        if of not in ("mean", "max"):
            raise InvalidParameterError("of", of, "mean or max")
        return epsilon * (self.of_mean if of == "mean" else self.of_max)
