"""What a release promises, in which metric, and under which conditions."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, Final, final

from mondegreen.errors import ConfigurationError, InvalidParameterError

# What a field of a guarantee that is read from a file may be, by its annotation, and
# what is in it.
_TYPES: Final[Mapping[str, tuple[Any, Any]]] = {
    "Mapping[str, Any]": (Mapping, object),
    "Mapping[str, float]": (Mapping, int | float),
    "bool": (bool, object),
    "float": (int | float, object),
    "float | None": (int | float | None, object),
    "str": (str, object),
    "tuple[str, ...]": (tuple, str),
}

# The name of ``disclosed`` in JSON and Parquet. Readers of version 0.1 know no other
# and refuse a guarantee with a field more; we read both names already.
_DISCLOSED_KEY: Final = "strata"

# Shares of words that may stay, or keep a similar meaning, before there is a warning.
_READABLE: Final = 0.5
_RECOGNISABLE: Final = 0.95


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Guarantee:
    r"""The promise that travels with every release.

    For every output :math:`y` and any two words :math:`w, w'` that meet its
    ``conditions``,

    .. math:: P(y \mid w) \le e^{\epsilon\, d(w, w')} \, P(y \mid w') + \delta.

    The loss of two words that do not meet them has no bound.

    Parameters
    ----------
    mechanism, parameters : str, mapping
        Registry name, and parameters as JSON values.
    epsilon : float in (0, inf), nats per unit of ``metric``
        What is claimed.
    metric : str
        The distance of the formula, in words.
    scale : mapping of str to float
        ``closest``, ``nearest`` (median), ``mean`` and ``diameter`` in that metric:
        epsilon means nothing without them.
    space, space_digest : str
        The public space and its SHA-256.
    certified, certified_how : float or None, str
        Epsilon computed from the law that is sampled, rounded up; None where the
        claim rests on the proof alone. And how the one or the other is known.
    delta : float
        Probability mass outside the pure promise; 0 for all mechanisms here.
    equivalents, unit : tuple of str, str
        The same promise in other metrics, and what is protected.
    disclosed : tuple of str
        Everything about the input that passes in clear, as ``name: explanation``.
    conditions : tuple of str
        What two words must have in common, as in "words that ...": what tells other
        words apart passes in clear.
    ordinary_text : mapping
        What the setting does to public words: the share that stays as it is
        (``stay``), the share that stays or becomes a word of near meaning (``near``,
        None without vectors), whose words these are (``of``) and, where releases are
        read, the share that an adversary recovers who reads sentences with the same
        language model (``reader``). Empty where nobody has looked.
    assumptions, noise : tuple of str, str
        What must hold besides, and where the randomness comes from.
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
    disclosed: tuple[str, ...] = ()
    conditions: tuple[str, ...] = ()
    ordinary_text: Mapping[str, Any] = field(default_factory=dict)
    assumptions: tuple[str, ...] = field(default=())
    noise: str = "not drawn yet"
    is_private: bool = True

    def loss(self, distance: float) -> float:
        """Bound the log-ratio, in nats, of two words ``distance`` apart."""
        return self.epsilon * distance

    def text_loss(
        self,
        words: int,
        delta: float | None = None,
        *,
        within_conditions: bool = False,
        within_strata: bool = False,
    ) -> float:
        r"""Bound the loss, in nats, of two texts that differ in ``words`` words.

        Words are privatized independently, so losses add up: at most
        :math:`a = \epsilon \cdot` diameter for a word and :math:`k a` for
        :math:`k` words. With ``delta`` the tighter bound of zero-concentrated
        privacy [1]_ holds except with that probability:
        :math:`\rho + 2\sqrt{\rho \ln(1/\delta)}`, :math:`\rho = k a^2 / 2`.

        Where the guarantee has conditions, words that do not meet them have no bound:
        say ``within_conditions`` (formerly ``within_strata``) of words that do.

        References
        ----------
        .. [1] Bun, Steinke. "Concentrated Differential Privacy." TCC 2016,
           Propositions 1.3 and 1.4.
        """
        if words < 0:
            raise InvalidParameterError("words", words, "at least 0")
        if self.conditions and not (within_conditions or within_strata):
            raise ConfigurationError(
                "there is no bound for any two texts: it holds between words"
                f"{self._within()}; for texts like that pass within_conditions=True"
            )
        worst = self.epsilon * self.scale["diameter"]
        pure = words * worst
        if delta is None:
            return pure
        if not 0 < delta < 1:
            raise InvalidParameterError("delta", delta, "in (0, 1)")
        rho = words * worst**2 / 2
        return min(pure, rho + 2 * math.sqrt(rho * math.log(1 / delta)))

    def with_text(
        self,
        disclosed: tuple[str, ...],
        conditions: tuple[str, ...] = (),
        assumptions: tuple[str, ...] = (),
    ) -> Guarantee:
        """Add what a reader of texts leaves in clear; conditions bind all forms."""
        only = " (only between words that meet the conditions)" if conditions else ""
        return replace(
            self,
            disclosed=self.disclosed + disclosed,
            conditions=self.conditions + conditions,
            assumptions=self.assumptions + assumptions,
            equivalents=tuple(each + only for each in self.equivalents),
        )

    def with_ordinary_text(
        self,
        stay: float,
        near: float | None,
        of: str = "ordinary text",
        reader: float | None = None,
    ) -> Guarantee:
        """Add what the setting does to public words, and what a reader recovers."""
        found = {"stay": stay, "near": near, "of": of}
        if reader is not None:
            found["reader"] = reader
        return replace(self, ordinary_text=found)

    def with_noise(self, noise: str, *, is_private: bool) -> Guarantee:
        """Name the source of randomness; one that can be guessed ends the promise."""
        private = self.is_private and bool(is_private)
        return replace(self, noise=noise, is_private=private)

    def to_dict(self) -> dict[str, Any]:
        """Convert to JSON values; ``disclosed`` goes by its former name, ``strata``."""
        values: dict[str, Any] = json.loads(json.dumps(asdict(self)))
        values[_DISCLOSED_KEY] = values.pop("disclosed")
        return values

    def to_json(self) -> str:
        """Write one line of JSON."""
        return json.dumps(self.to_dict(), ensure_ascii=False)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Guarantee:
        """Build from what :meth:`to_dict` returned; refuse all else (TypeError)."""
        given = {
            "disclosed" if k == _DISCLOSED_KEY else k: v for k, v in values.items()
        }
        if len(given) < len(values):
            raise TypeError("what is disclosed is said twice")
        lists = {key: tuple(v) for key, v in given.items() if isinstance(v, list)}
        found = cls(**{**given, **lists})
        for each in fields(cls):
            value, (outer, inner) = getattr(found, each.name), _TYPES[str(each.type)]
            held = value.values() if isinstance(value, Mapping) else value
            many = held if outer in (Mapping, tuple) else ()
            if not isinstance(value, outer) or not all(
                isinstance(item, inner) for item in many
            ):
                raise TypeError(f"{each.name} is no {each.type}")
        exact = found.epsilon if found.certified is None else found.certified
        if not (0 < found.epsilon < math.inf and 0 <= exact and 0 <= found.delta < 1):
            raise TypeError("epsilon, certified or delta is out of range")
        return found

    @property
    def strata(self) -> tuple[str, ...]:
        """The former name of ``disclosed``."""
        return self.disclosed

    @property
    def setting(self) -> str:
        """The mechanism with the parameters that it was given, for people to read."""
        given = {k: v for k, v in self.parameters.items() if v is not None}
        shown = ", ".join(f"{k} {_short(v)}" for k, v in given.items())
        return f"{self.mechanism} ({shown})"

    @property
    def is_proved(self) -> bool:
        """False for published forms that do not keep what they claim."""
        return not self.certified_how.startswith("not proved")

    @property
    def reason_not_private(self) -> str:
        """Why nothing is promised; empty where something is."""
        if self.is_private:
            return ""
        return self.noise if self.is_proved else f"{self.mechanism} has no proof"

    @property
    def warning(self) -> str:
        """What a person must know first, such as that hardly a word changes; or ""."""
        stay = self.ordinary_text.get("stay", 0.0)
        near = self.ordinary_text.get("near") or 0.0
        if stay <= _READABLE and near <= _RECOGNISABLE:
            return ""
        share, become = near, "stay or become a word of near meaning"
        if stay > _READABLE:
            share, become = stay, "stay as they are"
        return (
            f"WARNING: {100 * share:.0f} of 100 words of {self.ordinary_text['of']} "
            f"{become}. Most of what was written can be read in the release: take a "
            "smaller epsilon."
        )

    def summary(self) -> str:
        """Say the guarantee in four lines, for people."""
        head = f"Privacy guarantee: {self._odds()}"
        if not self.is_private:
            head = f"NOT PRIVATE: {self.reason_not_private}"
        adds = "What several words lose adds up: who knows more of a text recovers"
        names = ", ".join(text.partition(":")[0] for text in self.disclosed)
        in_clear = f"In clear: {names}." if names else ""
        lines = (head, self._readable(), f"{adds} more.", in_clear)
        return "\n".join(line for line in lines if line)

    def __str__(self) -> str:
        within = self._within()
        formula = (
            f"P(out | w) <= exp({_short(self.epsilon)} * d(w, w')) * P(out | w')"
            f"  for any words w, w'{within} and any output"
        )
        metric = f"{self.metric}, on {self.space} ({self.space_digest[:12]})"
        proved: list[tuple[str, str]] = []
        if self.is_proved:
            nearest, far = self.scale["nearest"], self.loss(self.scale["diameter"])
            so = (
                f"a median nearest neighbour ({nearest:.3g} away): at most "
                f"{self.loss(nearest):.3g} nats; any two words{within}: at most "
                f"{far:.3g} nats"
            )
            exact = "" if self.certified is None else f"{self.certified:.6g}"
            proved = [("so", so), ("exact epsilon", exact)]
        adds = "losses of several words add up, and n nats change odds by a factor of"
        lines = [
            ("mechanism", self.setting),
            ("promise" if proved else "claimed", formula),
            ("d", metric),
            *proved,
            ("known by", self.certified_how),
            *(("also", text) for text in self.equivalents),
            ("readable", self._readable()),
            ("unit", f"{self.unit}; {adds} e^n at most"),
            *(("not hidden", text) for text in self.disclosed),
            *(("assumes", text) for text in self.assumptions),
            ("noise", self.noise),
        ]
        head = "Privacy guarantee" if self.is_private else "NOT PRIVATE"
        shown = (f"  {key:<13} {text}" for key, text in lines if text)
        return "\n".join([head, *shown])

    def _odds(self) -> str:
        if not self.is_proved:
            return f"{self.setting}: nothing is promised."
        spent = self.epsilon if self.certified is None else self.certified
        near, far = (spent * self.scale[unit] for unit in ("nearest", "diameter"))
        neighbours = f", between two neighbours by e^{near:.3g}" if near < far else ""
        return (
            f"{self.setting}: seeing an output changes the odds between any two "
            f"original words{self._within()} by a factor of e^{far:.3g} at "
            f"most{neighbours}."
        )

    def _within(self) -> str:
        return f" that {', and '.join(self.conditions)}" if self.conditions else ""

    def _readable(self) -> str:
        """What stays of public words, as a warning where it is most of them; or ""."""
        found = self.ordinary_text
        if self.warning or not found:
            return self.warning
        line = f"Of 100 words of {found['of']}, {100 * found['stay']:.0f} stay as "
        if found["near"] is None:
            return line + "they are."
        near = f"{100 * found['near']:.0f} stay or become a word of near meaning"
        if "reader" not in found:
            return f"{line}they are and {near}."
        recovers = f"{100 * found['reader']:.0f}"
        return (
            f"{line}they are and {near}; who reads sentences with the same language "
            f"model recovers {recovers}."
        )


def _short(value: object) -> str:
    if isinstance(value, Mapping):
        return f"({len(value)} given)"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_short, value))}]"
    return f"{value:.6g}" if isinstance(value, float) else str(value)
