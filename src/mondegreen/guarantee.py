"""What a release promises, in which metric, and under which conditions."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, final

from mondegreen.errors import InvalidParameterError

__all__ = ["Guarantee", "merged"]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Guarantee:
    r"""The promise that travels with every release.

    For every output :math:`y` and any two words :math:`w, w'` of the same strata,

    .. math:: P(y \mid w) \le e^{\epsilon\, d(w, w')} \, P(y \mid w') + \delta.

    Parameters
    ----------
    mechanism : str
        Registry name.
    parameters : mapping
        Parameters of the mechanism, as JSON values.
    epsilon : float in (0, inf), nats per unit of ``metric``
        What is claimed.
    metric : str
        The distance of the formula, in words.
    scale : mapping of str to float
        ``closest``, ``nearest`` (median), ``mean`` and ``diameter`` in that metric:
        epsilon means nothing without them.
    space, space_digest : str
        The public space and its SHA-256.
    certified : float or None
        Epsilon computed from the law that is sampled, rounded up; None where the
        claim rests on the proof alone.
    certified_how : str
        How the claim, or the certificate, is known.
    delta : float
        Probability mass outside the pure promise; 0 for all mechanisms here.
    equivalents : tuple of str
        The same promise in other metrics.
    unit : str
        What is protected.
    strata : tuple of str
        Everything about the input that passes in clear.
    assumptions : tuple of str
        What must hold besides.
    noise : str
        Where the randomness comes from.
    is_private : bool
        False where nothing is promised: unproved mechanisms, seeded noise.
    proof : str
        Page of the documentation with the proof.
    """

    mechanism: str
    parameters: Mapping[str, Any]
    epsilon: float
    metric: str
    scale: Mapping[str, float]
    space: str
    space_digest: str
    certified_how: str
    proof: str
    certified: float | None = None
    delta: float = 0.0
    equivalents: tuple[str, ...] = ()
    unit: str = "one word, at its place in one text"
    strata: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = field(default=())
    noise: str = "not drawn yet"
    is_private: bool = True

    def loss(self, distance: float) -> float:
        """Return the largest log-ratio, in nats, of two words ``distance`` apart."""
        return self.epsilon * distance

    def text_loss(self, words: int, delta: float | None = None) -> float:
        r"""Return a bound, in nats, for two texts that differ in ``words`` words.

        Words are privatized independently, so losses add up: at most
        :math:`a = \epsilon \cdot` diameter for a word and :math:`k a` for
        :math:`k` words. With ``delta`` the tighter bound of zero-concentrated
        privacy holds except with that probability:
        :math:`\rho + 2\sqrt{\rho \ln(1/\delta)}`, :math:`\rho = k a^2 / 2`.

        References
        ----------
        .. [1] Bun, Steinke. "Concentrated Differential Privacy." TCC 2016,
           Propositions 1.3 and 1.4.
        """
        if words < 0:
            raise InvalidParameterError("words", words, "at least 0")
        worst = self.epsilon * self.scale["diameter"]
        pure = words * worst
        if delta is None:
            return pure
        if not 0 < delta < 1:
            raise InvalidParameterError("delta", delta, "in (0, 1)")
        rho = words * worst**2 / 2
        return min(pure, rho + 2 * math.sqrt(rho * math.log(1 / delta)))

    def with_text(self, strata: tuple[str, ...]) -> Guarantee:
        """Return the same promise with what a reader of texts leaves in clear."""
        return replace(self, strata=self.strata + strata)

    def with_noise(self, noise: str, *, is_private: bool) -> Guarantee:
        """Return the same promise under a source of randomness."""
        return replace(
            self, noise=noise, is_private=self.is_private and bool(is_private)
        )

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values."""
        return json.loads(json.dumps(asdict(self)))  # type: ignore[no-any-return]

    def to_json(self) -> str:
        """Return one line of JSON."""
        return json.dumps(self.to_dict(), ensure_ascii=False)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Guarantee:
        """Build from what :meth:`to_dict` returned."""
        lists = {key: tuple(v) for key, v in values.items() if isinstance(v, list)}
        return cls(**{**values, **lists})

    @property
    def setting(self) -> str:
        """The mechanism with the parameters that it was given, for people to read."""
        given = {k: v for k, v in self.parameters.items() if v is not None}
        shown = ", ".join(f"{k} {_short(v)}" for k, v in given.items())
        return f"{self.mechanism} ({shown})"

    def __str__(self) -> str:
        lines = [
            ("mechanism", self.setting),
            *self._promise(),
            ("known by", self.certified_how),
            *(("also", text) for text in self.equivalents),
            ("unit", f"{self.unit}; losses of several words add up"),
            *(("not hidden", text) for text in self.strata),
            *(("assumes", text) for text in self.assumptions),
            ("noise", self.noise),
        ]
        head = "Privacy guarantee" if self.is_private else "NOT PRIVATE"
        return "\n".join([head, *(f"  {key:<10} {text}" for key, text in lines)])

    def _promise(self) -> list[tuple[str, str]]:
        """Return the lines that say what is promised, or what was only claimed."""
        formula = (
            f"P(out | w) <= exp({_short(self.epsilon)} * d(w, w')) * P(out | w')"
            "  for any words w, w' and any output"
        )
        metric = f"{self.metric}, on {self.space} ({self.space_digest[:12]})"
        if not self.is_proved:
            return [("claimed", formula), ("d", metric)]
        scale = self.scale
        near, far = self.loss(scale["nearest"]), self.loss(scale["diameter"])
        lines = [
            ("promise", formula),
            ("d", metric),
            (
                "so",
                f"a median nearest neighbour ({scale['nearest']:.3g} away): at most "
                f"{near:.3g} nats; any two words: at most {far:.3g} nats",
            ),
        ]
        if self.certified is not None:
            spent = f"{self.certified:.6g} is the epsilon that the sampled law has"
            lines.append(("certified", spent))
        return lines

    @property
    def is_proved(self) -> bool:
        """False for published forms that do not keep what they claim."""
        return not self.certified_how.startswith("not proved")


def merged(earlier: str | bytes | None, passes: Sequence[tuple[str, Guarantee]]) -> str:
    """Return a list of guarantees, by column, with those of a further pass.

    Parameters
    ----------
    earlier : str, bytes or None
        The list as JSON, as an earlier pass left it.
    passes : sequence of (str, Guarantee)
        Columns, and what their releases promise.
    """
    known = [] if earlier is None else json.loads(earlier)
    if not isinstance(known, list):
        known = [{"column": None, "guarantee": known}]
    known += [{"column": name, "guarantee": made.to_dict()} for name, made in passes]
    return json.dumps(known, ensure_ascii=False)


def _short(value: object) -> str:
    if isinstance(value, Mapping):
        return f"({len(value)} given)"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_short, value))}]"
    return f"{value:.6g}" if isinstance(value, float) else str(value)
