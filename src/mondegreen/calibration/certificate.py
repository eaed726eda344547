"""The exact epsilon of a mechanism on a space."""

from __future__ import annotations

from collections.abc import Callable

from mondegreen.errors import LawUnknownError
from mondegreen.mechanisms.base import AbstractMechanism
from mondegreen.space.space import Space


def certify(
    mechanism: AbstractMechanism,
    space: Space,
    progress: Callable[[float], object] = lambda share: None,
) -> float:
    r"""Return the epsilon that the integer law of a mechanism really has on a space.

    .. math::

        \max_{w, w', y} \frac{|\ln P(y \mid w) - \ln P(y \mid w')| + \kappa}
        {\min(d(w, w'), g)}

    over all pairs of inputs, the unknown word included, and all outputs;
    :math:`\kappa` is what rounding to integers may add. For ``syntf``, the largest
    log-ratio of the integers themselves, over all inputs and outputs.

    Parameters
    ----------
    mechanism : AbstractMechanism
        One whose law has a certificate: ``exponential``, ``tem``, ``calibrated``,
        ``tight``, ``syntf``, ``tree``, ``brr``.
    space : Space
        Any size; the cost grows with the square of the vocabulary, 10 s for 33,860
        words on two cores. What was computed once is kept in the cache folder.
    progress : callable
        Called with the share that is done, from 0 to 1.

    Returns
    -------
    float
        Nats per unit of the metric of the guarantee, rounded up; never below the
        truth.

    Raises
    ------
    LawUnknownError
        If there is no certificate: the law is no closed form.

    Notes
    -----
    *Privacy.* Proof: ``docs/proofs/calibrated.md``.

    Examples
    --------
    >>> import mondegreen as mg
    >>> space = mg.Space.from_arrays("line", ["a", "b", "c"], [[0], [1], [2]])
    >>> spent = certify(mg.mechanism("exponential", epsilon=2.0), space)
    >>> 1.0 < spent < 2.0
    True
    """
    certified = mechanism.prepare(space).certificate(progress)
    if certified is None:
        raise LawUnknownError(
            f"{mechanism.name} has no law in closed form, so no certificate; test it "
            "with: mondegreen audit"
        )
    return certified
