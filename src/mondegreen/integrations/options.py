"""Settings as the libraries write them that have files and forms for settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from mondegreen.errors import ConfigurationError
from mondegreen.integrations.spec import privatizer_of
from mondegreen.privatizer.containers import prepared_with
from mondegreen.privatizer.privatizer import Privatizer
from mondegreen.sampling.noise import KeyedNoise

OPTIONS: Final[Mapping[str, Any]] = {
    "mechanism": "tree",
    "epsilon": None,
    "parameters": None,
    "unknown": "word",
    "keep": (),
    "space": None,
    "case": "lower",
    "structure": "keep",
    "print_all": False,
    "read": "none",
    "language": None,
    "allow_unproved": False,
    "spec": None,
    "key_env": None,
}
"""What may be set, and what it is otherwise."""


def privatizer_with(options: Mapping[str, Any]) -> Privatizer:
    """Return the privatizer of some of :data:`OPTIONS`.

    ``spec`` is what ``Privatizer.to_dict`` returns, and stands in place of all others
    but ``key_env``, the environment variable of a key. The privatizer is prepared once
    in a process.

    Raises
    ------
    ConfigurationError
        If there is no option of a name, or an option beside ``spec``, or a value is
        out of range.

    Examples
    --------
    >>> privatizer_with({"epsilon": 10.0}).guarantee.epsilon
    10.0
    >>> privatizer_with({"epsilom": 10.0})
    Traceback (most recent call last):
    mondegreen.errors.ConfigurationError: there is no option epsilom; there are: ...
    """
    check_names(options)
    given = {**OPTIONS, **options}
    name, spec = given.pop("key_env"), given.pop("spec")
    noise = None if name is None else KeyedNoise.from_env(name)
    if spec is not None:
        _check_alone(given)
        return privatizer_of(spec, noise)
    law, epsilon = given.pop("parameters") or {}, given.pop("epsilon")
    if not isinstance(law, Mapping) or "epsilon" in law:
        raise ConfigurationError(
            "parameters are those of the mechanism besides epsilon, by their names"
        )
    if epsilon is not None:
        law = {**law, "epsilon": epsilon}
    return prepared_with(law, **given).with_noise(noise)


def check_names(options: Mapping[str, Any]) -> None:
    """Refuse an option that does not exist: one that is lost would matter."""
    unknown = sorted(str(name) for name in set(options) - set(OPTIONS))
    if unknown:
        raise ConfigurationError(
            f"there is no option {', '.join(unknown)}; there are: {', '.join(OPTIONS)}"
        )


def _check_alone(given: Mapping[str, Any]) -> None:
    # An empty keep-list is none, whatever collection it is.
    beside = [k for k, v in given.items() if (v or None) != (OPTIONS[k] or None)]
    if beside:
        raise ConfigurationError(
            f"settings of a spec are whole: leave out {', '.join(beside)}, or the spec"
        )
