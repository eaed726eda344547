"""What a release promises, in which metric, and under which conditions."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, Final, final

from mondegreen.errors import ConfigurationError, InvalidParameterError
from mondegreen.protection import (
    LEVELS,
    MOST_BETWEEN_GROUPS,
    Protection,
    protection,
    worst,
)

# What a field of a guarantee that is read from a file may be, by its annotation, and
# what is in it.
_TYPES: Final[Mapping[str, tuple[Any, Any]]] = {
    "Mapping[str, Any]": (Mapping, object),
    "Mapping[str, float]": (Mapping, int | float),
    "bool": (bool, object),
    "float": (int | float, object),
    "float | None": (int | float | None, object),
    "int | None": (int | None, object),
    "str": (str, object),
    "tuple[str, ...]": (tuple, str),
}

GROUPED: Final = "0 within a group of the policy"
"""What the metric of a mechanism over a policy says."""

ONE_DIGIT: Final = "one digit"
"""The small format of a single digit: it is there if amounts hide."""

DETECTED: Final = "first layer: the detector "
DECIDES: Final = " decides"
"""Around the name of a detector, in an assumption of a guarantee."""

_UNPROVED: Final = "not proved: "


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Guarantee:
    r"""The guarantee that every release carries.

    For every output :math:`y` and any two words :math:`w, w'` that meet its
    ``conditions``,

    .. math:: P(y \mid w) \le e^{\epsilon\, d(w, w')} \, P(y \mid w') + \delta.

    If two words do not meet the conditions, their loss has no bound.

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
    hides_among : int or None
        How many words of the space an original may have been, whatever the output.
        Of a policy: the words of its smallest group of words. Numbers and dates are
        exceptions: their formats can be smaller, such as 10 for one digit.
    small_formats : mapping of str to float
        Of a policy: these formats, if the policy hides them, and how many words each
        has.
    disclosed : tuple of str
        Everything about the input that passes unchanged, as ``name: explanation``.
    conditions : tuple of str
        What two words must have in common, as in "words that ...": what distinguishes
        other words passes unchanged.
    assumptions, noise : tuple of str, str
        What must hold besides, and where the randomness comes from.
    noise_is_secret : bool
        False where others can repeat the noise, as with a seed: nothing is promised.
    proof : str
        Page of the documentation with the proof.
    claimed_by : str
        Who claims the promise; empty for mechanisms of this package, which prove it.
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
    hides_among: int | None = None
    small_formats: Mapping[str, float] = field(default_factory=dict)
    disclosed: tuple[str, ...] = ()
    conditions: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()
    noise: str = "not drawn yet"
    noise_is_secret: bool = True
    claimed_by: str = ""

    @property
    def word_loss(self) -> float:
        """Bound the loss, in nats, of any two words that meet the conditions.

        It uses the certified epsilon if there is a certificate.
        """
        return self.effective_epsilon * self.scale["diameter"]

    @property
    def effective_epsilon(self) -> float:
        """The certified epsilon, or the claimed epsilon without a certificate."""
        return self.epsilon if self.certified is None else self.certified

    @property
    def protection(self) -> Protection:
        """One word for :attr:`word_loss`; ``none`` where nothing is promised.

        What is measured of a setting can only make it worse: see
        :meth:`mondegreen.scores.preview.Preview.protection`.
        """
        if self.is_void:
            return "none"
        if self.has_groups:
            # Words of one group lose nothing, so a larger loss than elsewhere is weak.
            # Ordinary words are shown, so it is never strong.
            if not self.word_loss <= MOST_BETWEEN_GROUPS:
                return "vacuous"
            loss = min(self.word_loss, LEVELS[-1].loss)
            return worst(("moderate", protection(loss=loss)))
        return protection(loss=self.word_loss)

    @property
    def has_groups(self) -> bool:
        """Whether all sensitive words of one group of a policy have the same law."""
        return GROUPED in self.metric

    def loss(self, distance: float) -> float:
        """Bound the log-ratio, in nats, of two words ``distance`` apart: as claimed.

        Parameters
        ----------
        distance : float
            Distance of two words in the metric of the guarantee.

        Returns
        -------
        float, nats
            Bound of the loss.
        """
        return self.epsilon * distance

    def text_loss(
        self,
        words: int,
        delta: float | None = None,
        *,
        within_conditions: bool = False,
    ) -> float:
        r"""Bound the loss, in nats, of two texts that differ in ``words`` words.

        Words are privatized independently, so losses add up: at most
        :math:`a =` :attr:`word_loss` for a word and :math:`k a` for
        :math:`k` words. With ``delta`` the tighter bound of zero-concentrated
        privacy [1]_ holds except with that probability:
        :math:`\rho + 2\sqrt{\rho \ln(1/\delta)}`, :math:`\rho = k a^2 / 2`.

        If the guarantee has conditions, words that do not meet them have no bound. Set
        ``within_conditions`` if your words meet the conditions.

        Parameters
        ----------
        words : int
            Number of words that differ.
        delta : float in (0, 1), optional
            Chance with which the bound may fail; 0 if not given.
        within_conditions : bool
            Whether the words meet the conditions.

        Returns
        -------
        float, nats
            Bound of the loss; infinite where nothing is promised.

        References
        ----------
        .. [1] Bun, Steinke. "Concentrated Differential Privacy." TCC 2016,
           Propositions 1.3 and 1.4.
        """
        if words < 0:
            raise InvalidParameterError("words", words, "at least 0")
        if self.conditions and not within_conditions:
            raise ConfigurationError(
                "there is no bound for any two texts. The bound holds between "
                f"words{self._within()}. For such texts, pass within_conditions=True"
            )
        pure = words * self.word_loss
        if delta is None:
            return pure
        if not 0 < delta < 1:
            raise InvalidParameterError("delta", delta, "in (0, 1)")
        rho = words * self.word_loss**2 / 2
        return min(pure, rho + 2 * math.sqrt(rho * math.log(1 / delta)))

    @property
    def text_loss_note(self) -> str:
        """Between which texts the loss of k words is a bound, in plain words.

        Every word counts, also an ordinary word of a policy. If ordinary words are
        protected, the two texts may differ in them. If ordinary words are shown, the
        bound is for texts that differ in sensitive words. The number of sensitive words
        depends on the private text, so the bound uses the number of all words.
        """
        if self.has_groups and self.conditions:
            return (
                "Bound for two texts that differ only in sensitive words, as if all "
                "words were sensitive. Texts with different ordinary words have no "
                "bound, because the release shows these words."
            )
        others = ", ordinary ones included" if self.has_groups else self._within()
        return f"Bound for two texts that differ in all their words{others}."

    def describe_text_loss(self, words: int = 100) -> dict[str, Any]:
        """Bound the loss of a text of so many words, and say for which texts it holds.

        Parameters
        ----------
        words : int
            Number of words of the text.

        Returns
        -------
        dict of str to JSON values
            ``words``; ``any``, the bound in nats; ``note``, :attr:`text_loss_note`.

        Examples
        --------
        >>> import mondegreen as mg
        >>> promise = mg.Privatizer(mg.mechanism("krr", epsilon=10.0)).guarantee
        >>> round(promise.describe_text_loss(7)["any"], 6)
        70.0
        """
        loss = self.text_loss(words, within_conditions=True)
        return {"words": words, "any": loss, "note": self.text_loss_note}

    def with_text(
        self,
        disclosed: tuple[str, ...],
        conditions: tuple[str, ...] = (),
        assumptions: tuple[str, ...] = (),
    ) -> Guarantee:
        """Add what a reader of texts leaves unchanged; conditions bind all forms.

        Parameters
        ----------
        disclosed : tuple of str
            What else is disclosed.
        conditions : tuple of str
            Conditions of the guarantee.
        assumptions : tuple of str
            Assumptions of the guarantee.

        Returns
        -------
        Guarantee
            A copy.
        """
        only = " (only between words that meet the conditions)" if conditions else ""
        return replace(
            self,
            disclosed=self.disclosed + disclosed,
            conditions=self.conditions + conditions,
            assumptions=self.assumptions + assumptions,
            equivalents=tuple(each + only for each in self.equivalents),
        )

    def without_proof(self) -> Guarantee:
        """Promise nothing: the mechanism is declared to have no proof.

        Returns
        -------
        Guarantee
            A copy that promises nothing.
        """
        if not self.is_proved:
            return self
        return replace(self, certified_how=f"{_UNPROVED}{self.mechanism} has no proof")

    def with_noise(self, noise: str, *, is_secret: bool) -> Guarantee:
        """Name the source of randomness; if others can repeat it, nothing is promised.

        Parameters
        ----------
        noise : str
            Name of the source.
        is_secret : bool
            Whether nobody can repeat the noise without a key.

        Returns
        -------
        Guarantee
            A copy.
        """
        return replace(self, noise=noise, noise_is_secret=bool(is_secret))

    def to_dict(self) -> dict[str, Any]:
        """Convert to JSON values; :attr:`protection` is among them.

        ``claimed_by`` is there only where somebody else claims the promise, and
        ``small_formats`` only of a policy that has some.

        Returns
        -------
        dict of str to JSON values
            One entry per field.
        """
        values: dict[str, Any] = json.loads(json.dumps(asdict(self)))
        for name in ("claimed_by", "small_formats"):
            if not values[name]:
                del values[name]
        return {**values, "protection": self.protection}

    def to_json(self) -> str:
        """Write one line of JSON.

        Returns
        -------
        str
            JSON without a line break.
        """
        return json.dumps(self.to_dict(), ensure_ascii=False)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Guarantee:
        """Build from what :meth:`to_dict` returned; refuse all else (TypeError).

        ``protection`` is not read from the values, but computed again.

        Parameters
        ----------
        values : mapping
            What :meth:`to_dict` returned.

        Returns
        -------
        Guarantee
            The guarantee.

        Raises
        ------
        TypeError
            If a field is absent, unknown or of the wrong type.
        """
        given = {key: value for key, value in values.items() if key != "protection"}
        lists = {key: tuple(v) for key, v in given.items() if isinstance(v, list)}
        found = cls(**{**given, **lists})
        for each in fields(cls):
            value, (outer, inner) = getattr(found, each.name), _TYPES[str(each.type)]
            held = value.values() if isinstance(value, Mapping) else value
            many = held if outer in (Mapping, tuple) else ()
            if not isinstance(value, outer) or not all(
                isinstance(item, inner) for item in many
            ):
                raise TypeError(f"{each.name} must be {each.type}")
        if not (
            0 < found.epsilon < math.inf
            and 0 <= found.effective_epsilon
            and 0 <= found.delta < 1
            and found.scale.keys() >= {"nearest", "diameter"}
        ):
            raise TypeError("epsilon, certified, delta or scale is out of range")
        return found

    @property
    def setting(self) -> str:
        """The mechanism with the parameters that it was given, for people to read."""
        given = {k: v for k, v in self.parameters.items() if v is not None}
        shown = ", ".join(f"{k} {_short(v)}" for k, v in given.items())
        return f"{self.mechanism} ({shown})"

    @property
    def is_proved(self) -> bool:
        """False for published forms that do not keep what they claim."""
        return not self.certified_how.startswith(_UNPROVED)

    @property
    def is_void(self) -> bool:
        """True where nothing is promised: no proof, or noise that can be repeated."""
        return not (self.is_proved and self.noise_is_secret)

    @property
    def reason_not_private(self) -> str:
        """Why nothing is promised; empty where something is."""
        if not self.is_void:
            return ""
        return self.noise if self.is_proved else f"{self.mechanism} has no proof"

    def summary(self) -> str:
        """Write the guarantee in three lines, for people: loss, groups, disclosure.

        Returns
        -------
        str
            Three lines.
        """
        head = f"{self._title()}: {self._odds()}"
        if self.is_void:
            head = f"NOT PRIVATE: {self.reason_not_private}"
        names = ", ".join(text.partition(":")[0] for text in self.disclosed)
        disclosed = f"Disclosed: {names}." if names else ""
        lines = (head, self._hiding(), self._detecting(), disclosed)
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
                f"nearest neighbor (median, {nearest:.3g} away): at most "
                f"{self.loss(nearest):.3g} nats; any two words{within}: at most "
                f"{far:.3g} nats"
            )
            proved = [("loss", so)]
            if self.certified is not None:
                near = self.certified * nearest
                exact = (
                    f"epsilon {self.certified:.6g}: nearest neighbor at most "
                    f"{near:.3g} nats; any two words{within}: at most "
                    f"{self.word_loss:.3g} nats"
                )
                proved.append(("certified", exact))
        adds = (
            "losses of several words add up; n nats change odds by a factor of at most"
        )
        lines = [
            ("mechanism", self.setting),
            ("guarantee" if proved else "claimed", formula),
            ("d", metric),
            *proved,
            ("claimed by", self.claimed_by),
            ("evidence", self.certified_how),
            *(("also", text) for text in self.equivalents),
            ("unit", f"{self.unit}; {adds} e^n"),
            *(("disclosed", text) for text in self.disclosed),
            *(("assumes", text) for text in self.assumptions),
            ("noise", self.noise),
            ("protection", self.protection),
        ]
        head = "NOT PRIVATE" if self.is_void else self._title()
        shown = (f"  {key:<13} {text}" for key, text in lines if text)
        return "\n".join([head, *shown])

    def _title(self) -> str:
        claimed = f", claimed by {self.claimed_by}" if self.claimed_by else ""
        return f"Privacy guarantee{claimed}"

    def _odds(self) -> str:
        if self.has_groups:
            return (
                f"{self.setting}: a printed word does not show which word of a group "
                "was the original. Between words of different groups, it changes the "
                f"odds by a factor of at most e^{self.word_loss:.3g}."
            )
        return (
            f"{self.setting}: an output changes the odds between any two original "
            f"words{self._within()} by a factor of at most e^{self.word_loss:.3g}."
        )

    def _hiding(self) -> str:
        """Say among how many words one hides, and how well; empty if nowhere."""
        if self.is_void or self.hides_among is None or math.isinf(self.word_loss):
            return ""
        if self.has_groups:
            return (
                f"A sensitive word hides among at least {self.hides_among:,} words of "
                f"its group (mondegreen policy show WORD). {self._hiding_in_formats()} "
                "Losses add up over the words of a text."
            )
        near = self.effective_epsilon * self.scale["nearest"]
        close = f"; for nearest neighbors the factor is at most e^{near:.3g}"
        return (
            f"A word hides among {self.hides_among:,} words{self._within()}"
            f"{close if near < self.word_loss else ''}. Losses add up over the words "
            "of a text."
        )

    def _detecting(self) -> str:
        """Name the detector that reads a text before the policy; empty without one."""
        for text in self.assumptions:
            if not self.is_void and text.startswith(DETECTED):
                name = text.removeprefix(DETECTED).partition(DECIDES)[0]
                return (
                    f"The detector {name} finds further sensitive words. Nothing is "
                    "promised about what it finds."
                )
        return ""

    def _hiding_in_formats(self) -> str:
        """Say how numbers and times hide: only of those that this policy hides."""
        kind = "number" if ONE_DIGIT in self.small_formats else "year or code"
        said = f"A {kind} hides among all others of its format."
        if not self.small_formats:
            return said
        sizes = (f"{name} {size:g}" for name, size in self.small_formats.items())
        small = ", ".join(sizes)
        return f"{said} Some formats have few values: {small}."

    def _within(self) -> str:
        return f" that {', and '.join(self.conditions)}" if self.conditions else ""


def _short(value: object) -> str:
    if isinstance(value, Mapping):
        return f"({len(value)} given)"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_short, value))}]"
    return f"{value:.6g}" if isinstance(value, float) else str(value)
