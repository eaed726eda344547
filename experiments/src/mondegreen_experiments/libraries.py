"""Libraries that an experiment needs, and the extra that installs them."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.util import find_spec


def describe_absent(needed: Iterable[str]) -> str:
    """List needed libraries that are not installed, and the command that installs them.

    Parameters
    ----------
    needed : iterable of str
        Names of modules.

    Returns
    -------
    str
        Empty if all are installed.

    Examples
    --------
    >>> describe_absent(["json"])
    ''
    """
    absent = [name for name in needed if find_spec(name) is None]
    if not absent:
        return ""
    extra = "sklearn" if absent == ["sklearn"] else "models"
    return f"{', '.join(absent)} (pip install './experiments[{extra}]')"
