"""Keys of releases where work is done elsewhere: named there, never sent there."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FunctionType
from typing import Any

from mondegreen.errors import ConfigurationError
from mondegreen.sampling.noise import KeyedNoise, check_variable

Secret = str | Callable[[], bytes | str]
"""The name of an environment variable, or a function that fetches the key."""

_KEY_BYTES = 32


def key_from_environment(name: str) -> KeyedNoise:
    """Read a key of 64 hex digits: it means what a key file of these bytes means."""
    return KeyedNoise.from_env(name)


def check_secret(secret: Secret) -> None:
    """Refuse what would carry a key to where it is used, instead of its name.

    A key in the place of its name is refused too, and not shown.
    A function of a module that is imported there is sent as its name. A lambda, a
    method, ``functools.partial`` and a function of a notebook or a script are sent
    whole, with all values that they see.
    """
    if isinstance(secret, str):
        check_variable(secret)
        return
    named: Any = secret
    if isinstance(secret, FunctionType) and named.__module__ != "__main__":
        home: Any = sys.modules.get(named.__module__)
        if getattr(home, named.__qualname__, None) is secret:
            return
    raise ConfigurationError(
        "name the key by an environment variable, or give a function from a module "
        "that workers can import. Any other function would be sent to the workers "
        "together with the key"
    )


def build_noise(secret: Secret) -> KeyedNoise:
    """Get the key, in the process that draws; call it there, not before.

    A function returns 32 bytes or more, or 64 hexadecimal digits. What goes wrong in it
    is told by its type alone: a message may hold what the secret store said.

    Raises
    ------
    ConfigurationError
        If there is no key, or what there is is none.
    """
    if isinstance(secret, str):
        return key_from_environment(secret)
    name = f"{secret.__module__}.{getattr(secret, '__qualname__', 'secret')}"
    try:
        found = secret()
        key = bytes.fromhex(found) if isinstance(found, str) else found
    except Exception as error:
        problem = f"the key could not be fetched by {name}: {type(error).__name__}"
        raise ConfigurationError(problem) from None
    if not isinstance(key, bytes) or len(key) < _KEY_BYTES:
        allowed = "at least 32 random bytes, or 64 hex digits"
        raise ConfigurationError(f"{name} returned no key. A key is {allowed}")
    return KeyedNoise(key)
