"""What is compared: a mechanism with its parameters, or a policy."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, final

from mondegreen.errors import ConfigurationError, InvalidParameterError
from mondegreen.mechanisms import mechanism_class
from mondegreen.mechanisms.by_module import registered_name
from mondegreen.settings import (
    DEFAULT_MECHANISM,
    EVERY_WORD_MECHANISM,
    SYMBOL_MECHANISMS,
    Settings,
)
from mondegreen_experiments.choices import digest_of

_COMMA: Final = re.compile(r",(?![^\[]*\])")
"""A comma that is not within brackets, such as those of a list of numbers."""

_ALLOWED: Final = "NAME or MODULE:CLASS, then ,NAME=VALUE for each parameter"


@final
@dataclass(frozen=True, slots=True)
class Contender:
    """A mechanism by its name or ``MODULE:CLASS``, and how it is set.

    ``epsilons`` are its own, in place of those that all others have; ``policy`` is a
    policy by name or file, for mechanisms that work on one.
    """

    name: str
    parameters: Mapping[str, Any]
    policy: str | None = None
    epsilons: tuple[float, ...] = ()

    @property
    def label(self) -> str:
        """How it is called in tables.

        >>> read_contender("vickrey,t=0.25").label
        'vickrey, t=0.25'
        """
        more = [f"{key}={value}" for key, value in self.parameters.items()]
        if self.policy is not None:
            more.insert(0, f"policy {self.policy}")
        return ", ".join([self.name, *more])

    @property
    def proof(self) -> str:
        """Whose proof it has: ours, that of its author, or none.

        >>> read_contender("tem").proof
        'ours'
        """
        kind = mechanism_class(registered_name(self.name))
        if not kind.is_private:
            return "none"
        return "ours" if kind.__module__.startswith("mondegreen.") else "its author's"

    def files(self, space: str | None) -> list[str]:
        """Name by what they hold: the file of the class, of a policy and of a space.

        A run that was kept is of these. Modules that the class imports are not covered.
        """
        kind = mechanism_class(registered_name(self.name))
        paths = [inspect.getsourcefile(kind), self.policy, self._space(space)]
        return [
            digest_of(Path(each)) for each in paths if each and Path(each).is_file()
        ]

    def _space(self, space: str | None) -> str | None:
        """The space that it works on: none for a mechanism of policies."""
        return None if self.name in SYMBOL_MECHANISMS else space

    def settings(self, epsilon: float, space: str | None, **more: Any) -> Settings:
        """The settings of a release; the class of ``MODULE:CLASS`` is registered."""
        return Settings(
            mechanism=registered_name(self.name),
            epsilon=epsilon,
            parameters=dict(self.parameters),
            policy=self.policy,
            space=self._space(space),
            **more,
        ).resolve()


def read_contender(text: str) -> Contender:
    """Read what ``--mechanism`` holds.

    >>> read_contender("tem").epsilons
    ()
    >>> read_contender("krr,policy=names,epsilon=8,epsilon=12").epsilons
    (8.0, 12.0)
    >>> read_contender("laplace:norm=manhattan").label
    'laplace, norm=manhattan'
    """
    from mondegreen.cli.options import collect_parameters, split_mechanism

    name, rest = split_mechanism(text)
    given = [part.strip() for part in _COMMA.split(rest)] if rest else []
    if not name or not all("=" in part for part in given):
        raise InvalidParameterError("--mechanism", text, _ALLOWED)
    own = {key: [p for p in given if p.startswith(f"{key}=")] for key in _APART}
    others = tuple(part for part in given if part.partition("=")[0] not in _APART)
    policies = [part.partition("=")[2] for part in own["policy"]]
    if len(policies) > 1:
        raise InvalidParameterError("--mechanism", text, "one policy")
    return Contender(
        name,
        collect_parameters(others),
        policies[0] if policies else None,
        tuple(_number(part.partition("=")[2]) for part in own["epsilon"]),
    )


def _read_policy(text: str) -> Contender:
    """Read what ``--policy`` holds: a name or file, and what a contender is given."""
    name, comma, rest = text.partition(",")
    mechanism = EVERY_WORD_MECHANISM if name == "all" else DEFAULT_MECHANISM
    return read_contender(f"{mechanism},policy={name}{comma}{rest}")


_APART: Final = ("policy", "epsilon")
"""What a contender is given that is no parameter of its mechanism."""


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InvalidParameterError("epsilon", text, "a number") from None


def read_contenders(
    mechanisms: Sequence[str], policies: Sequence[str]
) -> tuple[Contender, ...]:
    """All that is compared, each once: mechanisms, and policies with their default."""
    found = [read_contender(text) for text in mechanisms]
    found += [_read_policy(text) for text in policies]
    if not found:
        raise ConfigurationError("nothing to compare: name a --mechanism or a --policy")
    by_label = {each.label: each for each in found}
    if len(by_label) < len(found):
        raise ConfigurationError(
            "a mechanism is named twice; give it several epsilons in place of that"
        )
    return tuple(found)
