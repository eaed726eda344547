"""A privatizer as JSON values, and what a process keeps ready."""

from __future__ import annotations

import hashlib
import json
import os
import re
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, Generic, TypeVar, final

from mondegreen.errors import (
    ConfigurationError,
    InvalidParameterError,
    UnknownNameError,
)
from mondegreen.mechanisms.base import AbstractMechanism, State
from mondegreen.settings import Settings, list_options
from mondegreen.space.space import Space
from mondegreen.space.store import load_space, locate
from mondegreen.wording import DEFAULT_SPACE

_FORMAT: Final = "mondegreen-privatizer/2"
_ANY_FORMAT: Final = re.compile("mondegreen-privatizer/[0-9]{1,9}")
_KEPT: Final = 4

_Value = TypeVar("_Value")


def write_spec(settings: Settings, digests: Mapping[str, str]) -> dict[str, Any]:
    """Write settings as JSON values, with the digests of what they name."""
    return {"format": _FORMAT, **settings.to_dict(), "digests": dict(digests)}


def read_spec(spec: Mapping[str, Any]) -> tuple[Settings, dict[str, str]]:
    """Read what :func:`write_spec` wrote, whole; a setting that is lost would matter.

    Raises
    ------
    ConfigurationError
        If a setting is absent, unknown or of another type, or a digest is absent.
    """
    given = spec.get("format") if isinstance(spec, Mapping) else None
    if isinstance(given, str) and given != _FORMAT and _ANY_FORMAT.fullmatch(given):
        raise ConfigurationError(
            f"the settings have the format {given}, and this version reads {_FORMAT}. "
            "Build the privatizer again with the same settings, compare its guarantee, "
            "and store its to_dict(). Or use the version that wrote them: see the page "
            "Upgrade of the documentation"
        )
    if given != _FORMAT:
        raise ConfigurationError(
            f"settings must be an object of the format {_FORMAT!r}, as "
            "Privatizer.to_dict returns it"
        )
    values = {k: v for k, v in spec.items() if k not in ("format", "digests")}
    settings = Settings.from_dict(values)
    absent = [name for name in list_options() if name not in values]
    if absent:
        raise ConfigurationError(
            f"settings of the format {_FORMAT!r} are whole: {', '.join(absent)} "
            "is absent"
        )
    has_policy = settings.resolve().policy != "all"
    digests, named = spec.get("digests"), {"policy" if has_policy else "space"}
    if settings.read != "none":
        named.add("language")
    if (
        not isinstance(digests, Mapping)
        or set(digests) != named
        or not all(isinstance(digest, str) for digest in digests.values())
    ):
        allowed = f"an object of the digests of: {', '.join(sorted(named))}"
        raise InvalidParameterError("digests", type(digests).__name__, allowed)
    return settings, dict(digests)


def find_space_name(space: Space) -> str:
    """Return how another process finds a space: its name, or the path of its file."""
    if space.path is None:
        raise ConfigurationError(
            f"space {space.name!r} is only in memory. For other processes, write it "
            "with save_space and read it with load_space"
        )
    try:
        is_known = locate(space.name).samefile(space.path)
    except (UnknownNameError, OSError):
        is_known = False
    return space.name if is_known else str(space.path.absolute())


def settings_digest(
    settings: Settings,
    mechanism: AbstractMechanism,
    words_digest: str,
    state: State,
    keep_digest: str,
) -> bytes:
    """Digest all that shapes a release besides column, text, id and key.

    SHA-256 of JSON with sorted keys and no spaces. Codes, tree and integers of a law
    are public, and may come with the package and not with the space. How the sampled
    words are printed is left out, so that it can change without other noise; ``case``
    is in the digest as far as it has always been. ``words_digest`` is that of the
    space, or of the policy.
    """
    law = mechanism.to_dict()
    shaping = {
        "mechanism": {
            **law,
            "parameters": mechanism.collect_digested(law["parameters"]),
        },
        "space": words_digest,
        **dict.fromkeys(("codes", "tree", "law")),
        **state.digests,
        "unknown": settings.unknown,
        "keep": keep_digest,
        "case": "restore" if settings.case == "restore" else "lower",
        "allow_unproved": settings.allow_unproved,
    }
    return hashlib.sha256(canonical_json(shaping).encode()).digest()


def build_scope(settings: bytes, column: str) -> bytes:
    """Digest settings and a logical column: the scope of keyed noise."""
    if not isinstance(column, str):
        raise InvalidParameterError("column", type(column).__name__, "a string")
    return hashlib.sha256(settings + column.encode("utf-8", "surrogatepass")).digest()


def find_space(name_or_path: str | Path | None) -> Space:
    """Load a space; its file is read again only where it has changed."""
    path = locate(DEFAULT_SPACE if name_or_path is None else name_or_path)
    try:
        status = path.stat()
    except OSError:
        return load_space(path)  # which says what is wrong
    key = (str(path.absolute()), status.st_ino, status.st_size, status.st_mtime_ns)
    return _SPACES.get(str(key), lambda: load_space(path))


def canonical_json(values: Mapping[str, Any]) -> str:
    """Write JSON that is the same for the same values."""
    try:
        return json.dumps(values, sort_keys=True, separators=(",", ":"))
    except (TypeError, ValueError):
        pass
    raise ConfigurationError("settings must be JSON values")


@final
class _Slot(Generic[_Value]):
    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.value: _Value | None = None


@final
class Kept(Generic[_Value]):
    """The values that were asked for last, each built once however many ask."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._slots: dict[str, _Slot[_Value]] = {}
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._unlock)

    def _unlock(self) -> None:
        """Forget the locks that another thread of the parent may have held."""
        self._lock = threading.Lock()
        for slot in self._slots.values():
            slot.lock = threading.Lock()

    def get(self, key: str, build: Callable[[], _Value]) -> _Value:
        """Find the value of a key, building it where it is not kept."""
        with self._lock:
            slot = self._slots.pop(key, None) or _Slot()
            self._slots[key] = slot  # the last one now
            while len(self._slots) > _KEPT:
                del self._slots[next(iter(self._slots))]
        with slot.lock:
            if slot.value is None:
                slot.value = build()
            return slot.value


_SPACES: Final[Kept[Space]] = Kept()
