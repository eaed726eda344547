"""What every adapter takes: a privatizer or its settings, and when it may draw."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Mapping
from typing import Any, Literal, TypeAlias

from mondegreen.errors import (
    ConfigurationError,
    InvalidParameterError,
    OptionalDependencyError,
)
from mondegreen.passes import Pass, from_json, to_json
from mondegreen.privatizer.arrow import logical_names
from mondegreen.privatizer.build import build_privatizer
from mondegreen.privatizer.privatizer import Privatizer
from mondegreen.sampling.noise import KeyedNoise, NoiseSource
from mondegreen.settings import Settings

Unkeyed = Literal["write-once"]

Given: TypeAlias = Privatizer | Settings | Mapping[str, Any]
"""A privatizer, its settings, or a mapping of either: see :func:`make_privatizer`."""


def make_privatizer(given: Given, noise: NoiseSource | None = None) -> Privatizer:
    """Return the privatizer that is given, or that of settings.

    Parameters
    ----------
    given : Privatizer, Settings or mapping
        A mapping holds settings by their names, as ``Settings.from_dict`` reads them,
        or is what ``Privatizer.to_dict`` returns. Settings hold no noise.
    noise : NoiseSource, optional
        If given, the noise of the result; otherwise a privatizer keeps its own, and
        settings get fresh noise.

    Raises
    ------
    ConfigurationError
        If it is neither.

    Examples
    --------
    >>> import mondegreen as mg
    >>> p = mg.Privatizer(mg.mechanism("tree", epsilon=10.0))
    >>> make_privatizer(p) is p, make_privatizer(p.to_dict()).guarantee == p.guarantee
    (True, True)
    """
    if isinstance(given, Privatizer):
        return given if noise is None else given.with_noise(noise)
    if isinstance(given, Settings):
        return build_privatizer(given, noise)
    if isinstance(given, Mapping):
        if "format" in given:
            return Privatizer.from_dict(given, noise)
        return build_privatizer(Settings.from_dict(given), noise)
    allowed = "a Privatizer, its settings, or what its to_dict() returns"
    raise InvalidParameterError("privatizer", type(given).__name__, allowed)


def name_columns(columns: Any) -> dict[Any, str]:
    """Give each column its logical name; none is named twice."""
    names = logical_names(columns)
    if len(names) < len(columns):
        raise InvalidParameterError("columns", "one name twice", "each column once")
    check_names([*names, *names.values()])
    return names


def check_names(columns: Iterable[object]) -> None:
    """Refuse a name with half of a surrogate pair, which nothing can write."""
    for name in columns:
        try:
            str(name).encode()
        except UnicodeEncodeError:
            allowed = "names that UTF-8 can write"
            raise InvalidParameterError("columns", name, allowed) from None


def check_ids(privatizer: Privatizer, ids: object) -> None:
    """Refuse ids that change nothing: a retry would draw other noise all the same."""
    if ids is not None and not isinstance(privatizer.noise, KeyedNoise):
        raise ConfigurationError(
            "ids need keyed noise: Privatizer(..., "
            "noise=mg.KeyedNoise.from_env(...)). Without keyed noise, leave the ids "
            "out"
        )


def check_lazy(
    privatizer: Privatizer, where: str, id_column: object, unkeyed: Unkeyed | None
) -> None:
    """Refuse to draw afresh whenever somebody looks, unless the caller says so.

    An engine that computes on demand computes again for a second look, a retry or an
    epoch. Noise by key and record id repeats then; other noise is drawn again, and
    every draw tells more of the same text.
    """
    if unkeyed not in (None, "write-once"):
        raise InvalidParameterError("unkeyed", unkeyed, "'write-once' or None")
    if isinstance(privatizer.noise, KeyedNoise):
        if id_column is None:
            raise ConfigurationError(
                "keyed noise needs a stable id per record: name its column with "
                "id_column="
            )
    elif unkeyed is None:
        raise ConfigurationError(
            f"{where} is computed again at each use, with other noise each time. Each "
            "draw discloses more about the same texts. Give the privatizer "
            "noise=mg.KeyedNoise.from_env(...) and pass id_column=, or pass "
            'unkeyed="write-once" and write the result once, before anything reads '
            "it"
        )
    check_ids(privatizer, id_column)


def state_promise(
    columns: Iterable[str | None], privatizer: Privatizer, earlier: object = None
) -> str:
    """Write the guarantee of each column after those of earlier passes, as JSON.

    ``earlier`` is what the data says already; anything but such a list counts as a
    pass that is not private.
    """
    stated = earlier if isinstance(earlier, str | bytes | None) else ""
    made = [Pass(column, privatizer.guarantee) for column in columns]
    return to_json([*from_json(stated), *made])


def import_needed(library: str) -> Any:
    """Import the library that an adapter stands beside; absent, say how to get it.

    Raises
    ------
    OptionalDependencyError
        If it, or what it needs itself, is not installed.
    """
    try:
        return importlib.import_module(library)
    except ModuleNotFoundError as error:
        absent = OptionalDependencyError.from_import(error)
        raise absent or error from None
