"""Labelled texts of a file, and their parts to learn from, to stop by and to ask."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, final

import numpy as np
from numpy.typing import NDArray

from mondegreen.errors import SourceError
from mondegreen.io.fields import read_field
from mondegreen.io.guess import Format

PARTS: Final = ("train", "valid", "test")

_CALLED: Final = {
    "train": "train",
    "training": "train",
    "valid": "valid",
    "validation": "valid",
    "val": "valid",
    "dev": "valid",
    "test": "test",
}
"""What the parts are called in a column of splits."""

_TENTHS: Final = (7, 8)
"""Seven tenths to learn from, one to stop by, two to ask."""

_LEAST: Final = 20


@final
@dataclass(frozen=True, eq=False)
class Texts:
    """Texts and the numbers of their labels; ``split`` is empty if there is none."""

    texts: Sequence[str]
    labels: NDArray[np.int64]
    classes: int
    split: Sequence[str]

    def parts(self, seed: int, most: int) -> dict[str, NDArray[np.intp]]:
        """Rows of each part: those of the split, else drawn anew for each seed.

        A split without ``valid`` gives a tenth of its training rows. ``most`` is how
        many rows are taken in all, of each part the same share; 0 for all.
        """
        rng = np.random.default_rng(seed)
        order = rng.permutation(len(self.texts))
        if self.split:
            names = np.array(self.split)
            found = {name: order[names[order] == name] for name in PARTS}
            if not len(found["valid"]):
                held = max(1, len(found["train"]) // 10)
                found["valid"] = found["train"][:held]
                found["train"] = found["train"][held:]
        else:
            ends = [len(order) * tenths // 10 for tenths in _TENTHS]
            found = dict(zip(PARTS, np.split(order, ends), strict=True))
        share = min(1.0, most / len(order)) if most else 1.0
        return {k: v[: max(1, round(share * len(v)))] for k, v in found.items()}


@functools.lru_cache(maxsize=1)
def read_texts(
    path: str, text: str, label: str, split: str | None, form: Format | None
) -> Texts:
    """Read a file of labelled texts.

    Raises
    ------
    DataError
        If a column is not there, or a row lacks its text or its label. No text is
        quoted.
    """
    columns = [list(read_field(path, name, form)) for name in (text, label)]
    names = list(read_field(path, split, form)) if split else []
    for name, column in zip((text, label), columns, strict=True):
        row = next((i for i, each in enumerate(column, 1) if _is_absent(each)), 0)
        if row:
            raise SourceError(path, f"no value in column {name!r}", row=row)
    if len(columns[0]) < _LEAST:
        raise SourceError(path, f"it has fewer than {_LEAST} texts")
    classes, labels = np.unique([str(each) for each in columns[1]], return_inverse=True)
    if len(classes) < 2:
        raise SourceError(path, f"column {label!r} has one label; it needs two or more")
    texts = [str(each) for each in columns[0]]
    return Texts(texts, labels.astype(np.int64), len(classes), _parts(path, names))


def _is_absent(value: Any) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())


def _parts(path: str, names: Sequence[Any]) -> list[str]:
    """Read the parts that a column names."""
    found = [_CALLED.get(str(each).strip().lower(), "") for each in names]
    if "" in found:
        allowed = ", ".join(_CALLED)
        row = found.index("") + 1
        raise SourceError(path, f"the split is none of {allowed}", row=row)
    if found and not {"train", "test"} <= set(found):
        raise SourceError(path, "its split has no rows of train, or none of test")
    return found
