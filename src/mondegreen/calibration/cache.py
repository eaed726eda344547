"""Measurements that were made before, one small file each, under the cache folder."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mondegreen import __version__
from mondegreen.files import home, read_own, write_own
from mondegreen.space.space import Space


def digest_of(settings: Mapping[str, Any]) -> str:
    """Return what names settings: SHA-256, in hex, of their JSON."""
    return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()


def folder(space: Space) -> Path:
    """Return where what was measured on a space is kept, a file for each setting."""
    return _path(space, "")


def kept(space: Space, name: str) -> Any:
    """Return the JSON value kept under a name; None where there is none."""
    try:
        return json.loads(read_own(_path(space, f"{name}.json")) or b"null")
    except ValueError:  # a damaged file is as good as none
        return None


def keep(space: Space, name: str, value: object) -> None:
    """Keep a JSON value, whole or not at all; a cache that is full is no error."""
    write_own(_path(space, f"{name}.json"), json.dumps(value).encode())


def kept_array(space: Space, name: str, size: int) -> NDArray[np.float64] | None:
    """Return the array kept under a name, if it has the size that is asked for."""
    data = read_own(_path(space, f"{name}.f64"))
    if data is None or len(data) != 8 * size:
        return None
    return np.frombuffer(data, "<f8").astype(np.float64)


def keep_array(space: Space, name: str, values: NDArray[np.float64]) -> None:
    """Keep an array, as :func:`keep` keeps a value."""
    write_own(_path(space, f"{name}.f64"), values.astype("<f8").tobytes())


def _path(space: Space, name: str) -> Path:
    # Of the version that measured: another one may measure otherwise.
    return home() / "measurements" / f"{space.digest[:32]}-{__version__}" / name
