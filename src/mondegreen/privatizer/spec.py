"""A privatizer as JSON values, and what a process keeps ready."""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, Generic, TypeVar, final

from mondegreen.errors import (
    ConfigurationError,
    InvalidParameterError,
    SpaceIntegrityError,
    UnknownNameError,
)
from mondegreen.mechanisms import mechanism as registered
from mondegreen.mechanisms.base import AbstractMechanism, State
from mondegreen.privatizer.reading import named_language
from mondegreen.space.space import Space
from mondegreen.space.store import load_space, locate
from mondegreen.wording import DEFAULT_SPACE

_FORMAT: Final = "mondegreen-privatizer/1"
_KEPT: Final = 4
_FIELDS: Final = {
    "format": str,
    "mechanism": Mapping,
    "space": Mapping,
    "unknown": str,
    "keep": list,
    "case": str,
    "allow_unproved": bool,
    "structure": str,
    "print_all": bool,
    "read": str,
    "language": Mapping,
}
# What settings mean that were written before there were these fields.
_BEFORE: Final[Mapping[str, Any]] = {
    "structure": "keep",
    "print_all": True,
    "read": "none",
    "language": {},
}

_Value = TypeVar("_Value")


def spec_of(
    mechanism: AbstractMechanism, space: Space, policies: Mapping[str, Any]
) -> dict[str, Any]:
    """Write settings as JSON values; a space in memory alone has no description."""
    law, named = mechanism.to_dict(), _named(space)
    return {"format": _FORMAT, "mechanism": law, "space": named, **policies}


def _named(space: Space) -> dict[str, str]:
    """Say how another process finds a space: by name and digest, or by path."""
    if space.path is None:
        raise ConfigurationError(
            f"space {space.name!r} is in memory alone, where no other process finds "
            "it: write it with save_space and read it with load_space"
        )
    spec = {"name": space.name, "digest": space.digest}
    try:
        is_known = locate(space.name).samefile(space.path)
    except (UnknownNameError, OSError):
        is_known = False
    return spec if is_known else {**spec, "path": str(space.path.absolute())}


def settings_digest(
    mechanism: AbstractMechanism,
    space: Space,
    state: State,
    policies: Mapping[str, Any],
) -> bytes:
    """Digest all that shapes a release besides column, text, id and key.

    SHA-256 of JSON with sorted keys and no spaces. Codes, tree and integers of a law
    are public, and may come with the package and not with the space.
    """
    law = mechanism.to_dict()
    settings = {
        "mechanism": {**law, "parameters": mechanism.digested(law["parameters"])},
        "space": space.digest,
        **dict.fromkeys(("codes", "tree", "law")),
        **state.digests,
        **_drawing(policies),
    }
    return hashlib.sha256(canonical_json(settings).encode()).digest()


def scope_of(settings: bytes, column: str) -> bytes:
    """Digest settings and a logical column: the scope of keyed noise."""
    if not isinstance(column, str):
        raise InvalidParameterError("column", type(column).__name__, "a string")
    return hashlib.sha256(settings + column.encode("utf-8", "surrogatepass")).digest()


def check_spec(spec: Mapping[str, Any]) -> None:
    """Refuse what ``to_dict`` does not return; a setting that is lost would matter."""
    if not isinstance(spec, Mapping) or spec.get("format") != _FORMAT:
        raise ConfigurationError(
            f"settings must be an object of the format {_FORMAT!r}, as "
            "Privatizer.to_dict returns it"
        )
    named, law = spec.get("space", {}), spec.get("mechanism", {})
    has_all = (
        set(spec) | set(_BEFORE) == set(_FIELDS)
        and all(isinstance(spec[name], _FIELDS[name]) for name in spec)
        and set(law or ()) == {"name", "parameters"}
        and isinstance(law["name"], str)
        and isinstance(law["parameters"], Mapping)
        and set(named or ()) - {"path"} == {"name", "digest"}
        and _names_its_model({**_BEFORE, **spec})
        and all(isinstance(v, str) for v in (*named.values(), *spec["keep"]))
    )
    if not has_all:
        raise ConfigurationError(
            "settings lack a field, or have one too many, or of another type; they "
            "have: " + ", ".join(_FIELDS)
        )


def _names_its_model(spec: Mapping[str, Any]) -> bool:
    """Whether a language model is named where texts are read, and only there."""
    language = spec["language"]
    fields = set() if spec["read"] == "none" else {"name", "digest"}
    return set(language) == fields and all(
        isinstance(value, str) for value in language.values()
    )


def _drawing(policies: Mapping[str, Any]) -> dict[str, Any]:
    """Tell what of the policies shapes the draws: not how their words are printed.

    ``case`` does since before there was more than one way to print without cost: a
    release under ``restore`` is another one than under all others.
    """
    drawn = {name: value for name, value in policies.items() if name not in _BEFORE}
    if drawn["case"] != "restore":
        drawn["case"] = "lower"
    return drawn


def policies_in(spec: Mapping[str, Any]) -> dict[str, Any]:
    """Read the policies of settings, which may be older than some of them."""
    law_and_space = ("format", "mechanism", "space")
    return {k: v for k, v in {**_BEFORE, **spec}.items() if k not in law_and_space}


def space_of(named: Mapping[str, str]) -> Space:
    """Load the space that settings name, if it is the same one here."""
    found = cached_space(Path(named["path"]) if "path" in named else named["name"])
    if found.digest != named["digest"]:
        raise SpaceIntegrityError(
            f"space {named['name']!r} is another one here than the settings name: "
            f"its digest is {found.digest[:12]}, not {named['digest'][:12]}"
        )
    return found


def cached_space(name_or_path: str | Path | None) -> Space:
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
_PREPARED: Final[Kept[Any]] = Kept()


def prepared(
    build: Callable[..., _Value],
    law: Mapping[str, Any],
    digest: str,
    space: Callable[[], Space],
    policies: Mapping[str, Any],
) -> _Value:
    """Find the privatizer of a mechanism on the space of a digest, or build it."""

    def built() -> _Value:
        mechanism = registered(law["name"], **law["parameters"])
        language = named_language(policies.get("language", {}))
        return build(mechanism, space(), **{**policies, "language": language})

    key = {"mechanism": law, "space": digest, **policies}
    found: _Value = _PREPARED.get(canonical_json(key), built)
    return found
