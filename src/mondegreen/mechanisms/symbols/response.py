r"""Randomized response over symbols: its integers, its certificate, its sampling.

A symbol :math:`x` is kept, or replaced by one of the *targets*, all alike. With
:math:`k` targets, :math:`T = 2^{62}`,
:math:`r = \max(1, (1 - 10^{-12}) e^\epsilon)` and

.. math:: b = \min(\lceil T / (r + k - 1) \rceil, \lfloor T / k \rfloor),
          \qquad
          P(z \mid x) = b / T \text{ for each target } z \ne x,

and :math:`P(x \mid x)` is what is left: :math:`a / T` with :math:`a = T - (k - 1) b`
where :math:`x` is a target itself. Since :math:`b` is rounded up,
:math:`a / b \le e^\epsilon`.
"""

from __future__ import annotations

import hashlib
import math
from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Final, final

import numpy as np

from mondegreen.arrays import Floats, Ids, LogProbs, Weights
from mondegreen.errors import InvalidParameterError, SpaceError
from mondegreen.guarantee import Guarantee
from mondegreen.mechanisms import base
from mondegreen.policy.alphabet import Alphabet
from mondegreen.sampling.integers import TOTAL, draw_uniform, log_above

_MARGIN: Final = 1e-12
"""Taken off e^epsilon, which outweighs the error of ``exp`` in floating point."""

_LARGEST: Final = 43.0
"""e^43 is above 2**62: a larger epsilon has the same integers."""


@final
@dataclass(frozen=True, slots=True)
class Response:
    """The integers of randomized response with targets ``first..first + count - 1``."""

    first: int
    count: int
    stray: int
    """Weight of each target that is not the input: the integer b."""

    @classmethod
    def within(cls, epsilon: float, first: int, count: int) -> Response:
        """Find the smallest weight of strays whose largest ratio is at most e^epsilon.

        >>> response = Response.within(2.0, first=3, count=4)
        >>> round(response.loss, 9)
        2.0
        """
        ratio = Fraction(math.exp(min(epsilon, _LARGEST)) * (1 - _MARGIN))
        # For a tiny epsilon the margin may take the ratio below 1, the uniform law.
        stray = math.ceil(TOTAL / (max(ratio, Fraction(1)) + count - 1))
        return cls(first, count, min(stray, TOTAL // count))

    @property
    def kept(self) -> int:
        """Weight of a target that stays: the integer a."""
        return TOTAL - (self.count - 1) * self.stray

    @property
    def loss(self) -> float:
        """ln(a / b), rounded up: the exact largest loss, in nats."""
        return log_above(Fraction(self.kept, self.stray))

    def others(self, ids: Ids) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        """Number of targets that are not the input itself."""
        is_target = (ids >= self.first) & (ids < self.first + self.count)
        return np.asarray(self.count - is_target.astype(np.int64))

    def kept_by(self, ids: Ids) -> Floats:
        """Chance that each symbol stays, shape (T,)."""
        return np.asarray(1 - self.others(ids) * (self.stray / TOTAL))

    def sample(self, ids: Ids, rng: np.random.Generator) -> Ids:
        """Draw a symbol for each symbol; one 64-bit word of ``rng`` each, in order."""
        draws = draw_uniform(rng, len(ids))
        found = ids.astype(np.int32, copy=True)
        # A word strays if its draw is at least TOTAL - others * b, and few are: those
        # whose draws are at least TOTAL - m * b are looked at closely.
        (strays,) = np.nonzero(draws >= TOTAL - self.count * self.stray)
        beyond = draws[strays] - (TOTAL - self.others(ids[strays]) * self.stray)
        strays, beyond = strays[beyond >= 0], beyond[beyond >= 0]
        places = self.first + beyond // self.stray
        own = ids[strays]
        # Targets in order, the input left out.
        places += (own >= self.first) & (places >= own)
        found[strays] = places
        return found

    def weights(self, ids: Ids, size: int) -> Weights:
        """The law of some symbols over all ``size`` symbols, shape (T, size).

        Integers, and each row has the sum 2**62. The draws of a symbol give itself
        first, then the other targets in order.
        """
        law = np.zeros((len(ids), size), dtype=np.int64)
        law[:, self.first : self.first + self.count] = self.stray
        law[np.arange(len(ids)), ids] = TOTAL - self.others(ids) * self.stray
        return law


class ResponseMechanism(base.AbstractMechanism):
    """What ``krr`` and ``urr`` share: they work on the symbols of a policy."""

    __slots__ = ()

    family: ClassVar[str] = "symbols"
    space_metrics: ClassVar[tuple[str, ...]] = ()  # a policy in place of a space

    @abstractmethod
    def prepare(self, space: Any) -> ResponseState:
        """Return the mechanism ready to sample on the alphabet of a policy."""

    def check_alphabet(self, space: Any) -> Alphabet:
        """Refuse what is no alphabet of a policy."""
        if isinstance(space, Alphabet):
            return space
        raise SpaceError(
            f"{self.name} works on the symbols of a policy, not on a space: use "
            "--policy sensitive (policy='sensitive' in Python)"
        )

    def promise_on(self, alphabet: Alphabet, loss: float, **stated: Any) -> Guarantee:
        """Make the guarantee on the alphabet of a policy."""
        parameters = self.to_dict()["parameters"]
        if loss > parameters["epsilon"]:  # rounding, where epsilon is all but 0
            allowed = f"at least {loss:.3g} for {alphabet.size} symbols"
            raise InvalidParameterError("epsilon", parameters["epsilon"], allowed)
        near = alphabet.near
        if near is not None:
            stated["equivalents"] = (*stated["equivalents"], *near.equivalents)
            stated["disclosed"] = (*stated.get("disclosed", ()), *near.disclosed)
        promise = Guarantee(
            mechanism=self.name,
            parameters=parameters,
            epsilon=parameters["epsilon"],
            metric=self.metric,
            scale={"closest": 0.0, "nearest": 0.0, "mean": 1.0, "diameter": 1.0},
            space=alphabet.name,
            space_digest=alphabet.digest,
            hides_among=alphabet.hides_among,
            small_formats=dict(alphabet.small_formats),
            proof=f"docs/proofs/{self.name}.md",
            certified=loss,
            assumptions=(
                f"the policy, SHA-256 {alphabet.digest}, is public and was fixed "
                "before the texts were seen",
                "the texts are released under this policy only: a word hides among "
                "fewer words if another release of the same text has other groups",
            ),
            **stated,
        )
        return self.sign(promise)


@final
class ResponseState(base.State):
    """Randomized response prepared for the alphabet of one policy."""

    def __init__(
        self, alphabet: Alphabet, response: Response, guarantee: Guarantee
    ) -> None:
        self.alphabet, self.response, self.guarantee = alphabet, response, guarantee

    @property
    def input_count(self) -> int:
        return self.alphabet.size

    @property
    def output_count(self) -> int:
        return self.alphabet.size

    def sample(self, ids: Ids, rng: np.random.Generator) -> Ids:
        base.check_ids(ids, self.input_count - 1)
        near = self.alphabet.near
        if near is not None:
            ids = near.blur(ids, self.alphabet.cells.start, rng)
        return self.response.sample(ids, rng)

    def log_prob(self, ids: Ids) -> LogProbs:
        """Natural logarithms over the symbols, shape (T, m); -inf where impossible."""
        base.check_ids(ids, self.input_count - 1)
        table = np.empty((len(ids), self.output_count))
        with np.errstate(divide="ignore"):
            for row, symbol in zip(table, ids.tolist(), strict=True):
                row[:] = np.log(self._compute_law(symbol))
        return table

    def _compute_law(self, symbol: int) -> Floats:
        """The law of one symbol; that of a cell is a mixture of those of all cells."""
        size, cells, near = self.output_count, self.alphabet.cells, self.alphabet.near
        if near is None or symbol not in cells:
            own = np.array([symbol], dtype=np.int32)
            return np.asarray(self.response.weights(own, size)[0] / TOTAL)
        chances = near.weights[symbol - cells.start] / TOTAL
        rows = self.response.weights(np.array(cells, dtype=np.int32), size)
        mixture: Floats = chances @ (rows / TOTAL)
        return mixture

    def distances(self, first: Ids, second: Ids) -> Floats:
        return base.discrete_distances(first, second)

    @property
    def digests(self) -> dict[str, str]:
        """The weight of strays decides a draw: ``exp`` may differ between machines."""
        law = f"{self.response.stray:016x}"
        if self.alphabet.near is not None:
            weights = self.alphabet.near.weights.astype("<i8").tobytes()
            law += f" {hashlib.sha256(weights).hexdigest()}"
        return {"law": law}
