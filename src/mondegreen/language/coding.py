"""Tables in little room: logarithms in 8 bits, starts as lengths, small integers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mondegreen.arrays import Floats
from mondegreen.language.backoff import Tables, find_starts
from mondegreen.tensors import require

Parts: TypeAlias = Mapping[str, NDArray[Any]]

_CODED: Final = ("pair_log", "pair_backoff", "triple_log")  # in the order of the books
_WHOLE: Final = frozenset({"U8", "U16", "U32"})
_LARGEST: Final = 1e4
"""Of the logarithm of a probability, or of a weight: in size, in nats."""

_SINGLES: Final = ("frequency", "unigram_log", "unigram_backoff")  # not rounded
KINDS: Final = {
    "frequency": ({"F32"}, 1),
    "unigram_log": ({"F32"}, 1),
    "unigram_backoff": ({"F32"}, 1),
    "books": ({"F32"}, 2),  # what the codes of each kind of logarithm stand for
    "pair_counts": (_WHOLE, 1),
    "pair_words": (_WHOLE, 1),
    "pair_log": ({"U8"}, 1),
    "pair_backoff": ({"U8"}, 1),
    "triple_counts": (_WHOLE, 1),
    "triple_words": (_WHOLE, 1),
    "triple_log": ({"U8"}, 1),
}


def encode(tables: Tables) -> dict[str, NDArray[Any]]:
    """Round tables to what a file holds; logarithms of single words stay whole.

    Others have 256 values at equal distances, 0 among them: the error is at most half
    a distance, one 508th of their range.
    """
    books, codes = zip(
        *(encode_values(getattr(tables, name)) for name in _CODED), strict=True
    )
    parts = dict(zip(_CODED, codes, strict=True))
    parts |= {name: getattr(tables, name).astype(np.float32) for name in _SINGLES}
    parts |= {
        "books": np.stack(books),
        "pair_counts": _small(np.diff(tables.pair_starts)),
        "pair_words": _small(tables.pair_words),
        "triple_counts": _small(np.diff(tables.triple_starts)),
        "triple_words": _small(tables.triple_words),
    }
    return {name: parts[name] for name in KINDS}


def decode(parts: Parts) -> dict[str, Any]:
    """The tables of parts, which may come from a file that somebody forged.

    Raises HeaderError where they do not fit each other.
    """
    size = len(parts["unigram_log"])
    _check_shapes(parts, size)
    tables: dict[str, Any] = {}
    for name in ("pair", "triple"):
        starts = find_starts(parts[f"{name}_counts"])
        words = np.asarray(parts[f"{name}_words"])
        require(int(starts[-1]) == len(words), f"{name}_counts do not add up")
        rises = words[1:] > words[:-1]
        inner = starts[1:-1]
        rises[inner[(0 < inner) & (inner < len(words))] - 1] = True  # another row
        require(bool(rises.all()), f"{name}_words are not in order")
        require(not len(words) or int(words.max()) < size, f"{name}_words has no word")
        tables |= {f"{name}_starts": starts, f"{name}_words": words}
    for name, book in zip(_CODED, parts["books"], strict=True):
        tables[name] = np.asarray(book)[parts[name]]
    for name in _SINGLES:
        tables[name] = np.array(parts[name])
    for array in tables.values():
        array.flags.writeable = False
    return tables


def _check_shapes(parts: Parts, size: int) -> None:
    """Refuse parts whose lengths cannot be those of one model."""
    require(parts.keys() == KINDS.keys(), "a tensor is missing")
    pairs, triples = len(parts["pair_words"]), len(parts["triple_words"])
    for name, length in (
        ("frequency", size - 1),
        ("unigram_backoff", size),
        ("pair_counts", size),
        ("pair_log", pairs),
        ("pair_backoff", pairs),
        ("triple_counts", pairs),
        ("triple_log", triples),
    ):
        require(len(parts[name]) == length, f"{name} has a wrong length")
    require(size > 2 and parts["books"].shape == (3, 256), "books has a wrong shape")
    for name in (*_SINGLES, "books"):
        is_sound = bool((np.abs(parts[name]) <= _LARGEST).all())  # and no NaN
        require(is_sound, f"{name} has numbers that are no logarithms")
    require(bool((parts["frequency"] > 0).all()), "frequency is not above 0")


def encode_values(values: Floats) -> tuple[NDArray[Any], NDArray[Any]]:
    """Make the book of some numbers and their codes."""
    low, high = (values.min(), values.max()) if len(values) else (0.0, 0.0)
    step = (high - low) / 254
    if step == 0:
        return np.full(256, low, np.float32), np.zeros(len(values), np.uint8)
    first = np.floor(low / step)  # so that 0 is in the book if it is in the range
    book = ((first + np.arange(256)) * step).astype(np.float32)
    return book, (np.rint(values / step) - first).clip(0, 255).astype(np.uint8)


def _small(values: NDArray[Any]) -> NDArray[Any]:
    """The narrowest unsigned integers that hold some numbers."""
    largest = int(values.max()) if len(values) else 0
    return values.astype(np.min_scalar_type(largest))
