"""Measurements that were made before, one small file each, under the cache folder."""

from __future__ import annotations

import contextlib
import hashlib
import json
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mondegreen.space.space import Space
from mondegreen.space.store import home

__all__ = ["digest_of", "folder", "keep", "keep_array", "kept", "kept_array"]


def digest_of(settings: Mapping[str, Any]) -> str:
    """Return what names settings: SHA-256, in hex, of their JSON."""
    return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()


def folder(space: Space) -> Path:
    """Return where what was measured on a space is kept, a file for each setting."""
    return _path(space, "")


def kept(space: Space, name: str) -> Any:
    """Return the JSON value kept under a name; None where there is none."""
    try:
        return json.loads(_path(space, f"{name}.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):  # a damaged file is as good as none
        return None


def keep(space: Space, name: str, value: object) -> None:
    """Keep a JSON value, whole or not at all; a cache that is full is no error."""
    _write(_path(space, f"{name}.json"), json.dumps(value).encode())


def kept_array(space: Space, name: str, size: int) -> NDArray[np.float64] | None:
    """Return the array kept under a name, if it has the size that is asked for."""
    try:
        found: NDArray[np.float64] = np.fromfile(_path(space, f"{name}.f64"), "<f8")
    except OSError:
        return None
    return found if found.shape == (size,) else None


def keep_array(space: Space, name: str, values: NDArray[np.float64]) -> None:
    """Keep an array, as :func:`keep` keeps a value."""
    _write(_path(space, f"{name}.f64"), values.astype("<f8").tobytes())


def _path(space: Space, name: str) -> Path:
    return home() / "measurements" / space.digest[:32] / name


def _write(path: Path, data: bytes) -> None:
    """Write a file under another name and rename it, so that no reader sees half."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_bytes(data)
        temporary.replace(path)
    except OSError:
        pass
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
