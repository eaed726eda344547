"""Settings as the libraries write them that have files and forms for settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from mondegreen.errors import ConfigurationError
from mondegreen.privatizer.build import build_privatizer
from mondegreen.privatizer.privatizer import Privatizer
from mondegreen.sampling.noise import KeyedNoise, NoiseSource
from mondegreen.settings import Settings, check_names, list_options

OPTIONS: Final[Mapping[str, Any]] = {
    **{name: option.offered for name, option in list_options().items()},
    "spec": None,
    "key_env": None,
}
"""What may be set, and what it is otherwise: the fields of settings, and two more."""


def build_with_options(
    options: Mapping[str, Any], noise: NoiseSource | None = None
) -> Privatizer:
    """Return the privatizer of some of :data:`OPTIONS`.

    ``spec`` is what ``Privatizer.to_dict`` returns, and stands in place of all others
    but ``key_env``, the environment variable of a key. The privatizer is prepared once
    in a process. ``noise`` is for callers that have a key of their own.

    Raises
    ------
    ConfigurationError
        If there is no option of a name, or an option beside ``spec``, or a value is
        out of range.

    Examples
    --------
    >>> build_with_options({"epsilon": 12.0}).guarantee.epsilon
    12.0
    >>> build_with_options({"epsilom": 12.0})
    Traceback (most recent call last):
    mondegreen.errors.UnknownNameError: there is no setting named 'epsilom'; ...
    """
    check_names(options, OPTIONS)
    given = {**OPTIONS, **options}
    name, spec = given.pop("key_env"), given.pop("spec")
    if name is not None:
        noise = KeyedNoise.from_env(name)
    if spec is None:
        return build_privatizer(Settings.from_dict(given), noise)
    _check_alone(given)
    return Privatizer.from_dict(spec, noise)


def _check_alone(given: Mapping[str, Any]) -> None:
    # An empty keep-list is none, whatever collection it is.
    beside = [k for k, v in given.items() if (v or None) != (OPTIONS[k] or None)]
    if beside:
        raise ConfigurationError(
            f"a spec holds all settings: leave out {', '.join(beside)}, or the spec"
        )
