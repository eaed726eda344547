"""A mechanism of a file of yours, by ``MODULE:CLASS``: loaded and registered."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

from mondegreen.errors import ConfigurationError
from mondegreen.mechanisms import mechanism_class, register
from mondegreen.plugins import remember_plugin


def registered_name(name: str) -> str:
    """Return the name of a mechanism; register the class of ``MODULE:CLASS`` first.

    The folder of the call is searched for the module, behind what is installed.
    """
    module, colon, attribute = name.partition(":")
    if not colon:
        return mechanism_class(name).name
    if module.endswith(".py"):
        raise ConfigurationError(
            f"--mechanism {name}: write {module.removesuffix('.py')}:{attribute}, and "
            "call from the folder of the file"
        )
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.append(here)
    remember_plugin(module, f"the mechanism {name}")
    try:
        loaded = importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module.partition(".")[0]:
            raise
        raise ConfigurationError(
            f"--mechanism {name}: there is no module {module}; call from the folder "
            "of its file, or install it"
        ) from None
    found = getattr(loaded, attribute, None)
    if found is None:
        raise ConfigurationError(f"--mechanism {name}: {module} has no {attribute}")
    return str(register(found).name)
