"""Word trees: a public hierarchy of groups of words, and its ultrametric."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any, Final, final

import numpy as np
from numpy.typing import NDArray

from mondegreen.arrays import Floats, Ids
from mondegreen.errors import InvalidParameterError, SpaceError, SpaceIntegrityError

TREE_FORMAT: Final = "mondegreen-tree/1"

_GROUP_HEIGHT: Final = 0.03
_LOWEST_BRANCH: Final = 0.6
_HIGHEST_BRANCH: Final = 0.9
_MOST_LEVELS: Final = 12


@final
@dataclass(frozen=True, eq=False)
class WordTree:
    r"""A hierarchy over the words of a space, with a height for every level.

    Level 0 holds the words (words at one point of the space are one node), the last
    level one node, the root. The distance of two words is the height of their lowest
    common ancestor,

    .. math:: d_T(w, w') = h_{\mathrm{lca}(w, w')}, \qquad 0 = h_0 < \dots < h_D = 1,

    which is an ultrametric. The unknown word hangs on the root: it is at distance 1
    from every word.

    ``order`` lists the words so that every node is a run of them; ``bounds`` says for
    each level where its nodes begin, and ends with ``V``; ``about`` holds free facts.

    >>> tree = WordTree.from_labels([[0, 1, 2, 3], [0, 0, 1, 1], [0, 0, 0, 0]])
    >>> tree.levels, tree.heights
    (2, (0.0, 0.03, 1.0))
    >>> tree.distances(np.array([0]), np.arange(5)).tolist()
    [[0.0, 0.03, 1.0, 1.0, 1.0]]
    """

    order: Ids
    bounds: tuple[Ids, ...]
    heights: tuple[float, ...]
    about: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        size = len(self.order)
        if not size or not np.array_equal(np.sort(self.order), np.arange(size)):
            raise SpaceError("a tree must hold every word of its space once")
        if not 2 <= len(self.bounds) == len(self.heights) <= _MOST_LEVELS:
            most = _MOST_LEVELS
            raise SpaceError(f"a tree has 2 to {most} levels, each with a height")
        for lower, upper in pairwise(self.bounds):
            if (np.diff(lower) <= 0).any() or not np.isin(upper, lower).all():
                raise SpaceError("a node of a tree must lie in one of the next level")
        ends = [(int(bound[0]), int(bound[-1])) for bound in self.bounds]
        if set(ends) != {(0, size)} or len(self.bounds[-1]) != 2:
            problem = "every level of a tree must hold all words, the last at once"
            raise SpaceError(problem)
        heights = self.heights
        if (heights[0], heights[-1]) != (0, 1) or not (np.diff(heights) > 0).all():
            raise InvalidParameterError("heights", heights, "increasing from 0 to 1")
        for array in (self.order, *self.bounds):
            array.setflags(write=False)

    @classmethod
    def from_labels(
        cls,
        labels: Sequence[Sequence[int] | NDArray[np.integer]],
        heights: Sequence[float] | None = None,
        about: Mapping[str, str] | None = None,
    ) -> WordTree:
        """Build from the node of every word at every level, from level 0 to the root.

        Levels that repeat the one below are left out; ``heights`` has one for each that
        remains. Within a node the words keep their order.
        """
        rows = [np.asarray(row, dtype=np.int64) for row in labels]
        order = np.lexsort([np.arange(len(rows[0])), *rows]).astype(np.int32)
        bounds: list[Ids] = []
        for row in rows:
            sorted_row = row[order]
            starts = np.flatnonzero(np.diff(sorted_row, prepend=sorted_row[0] - 1))
            found = np.append(starts, len(row)).astype(np.int32)
            if len(bounds) < 2 or len(found) < len(bounds[-1]):
                bounds.append(found)
        while len(bounds) > 2 and len(bounds[1]) == len(bounds[0]):
            del bounds[1]
        chosen = default_heights(len(bounds) - 1) if heights is None else heights
        return cls(order, tuple(bounds), tuple(map(float, chosen)), dict(about or {}))

    @property
    def vocab_size(self) -> int:
        """Number of words, ``V``."""
        return len(self.order)

    @property
    def levels(self) -> int:
        """Number of levels above the words, ``D``; also the level of the root."""
        return len(self.bounds) - 1

    @cached_property
    def digest(self) -> str:
        return hashlib.sha256(self.to_bytes()).hexdigest()

    @cached_property
    def nodes(self) -> NDArray[np.int32]:
        """The number of the node of every input at every level, shape (D + 1, V + 1).

        The unknown word is in the root at every level.
        """
        table = np.zeros((self.levels + 1, self.vocab_size + 1), dtype=np.int32)
        for row, bound in zip(table, self.bounds, strict=True):
            row[self.order] = np.repeat(
                np.arange(len(bound) - 1, dtype=np.int32), np.diff(bound)
            )
        table[:, -1] = -1
        table[-1] = 0
        table.setflags(write=False)
        return table

    def sizes(self, level: int) -> NDArray[np.int64]:
        """Number of words of each node of a level."""
        return np.diff(self.bounds[level]).astype(np.int64)

    def sizes_by_word(self) -> NDArray[np.int64]:
        """Size of the node of every word, shape ``(D + 1, V)``."""
        nodes = self.nodes[:, :-1]
        return np.stack([self.sizes(level)[row] for level, row in enumerate(nodes)])

    def members(self, level: int, node: int) -> Ids:
        """Words of a node, in the order of the tree."""
        start, stop = self.bounds[level][node : node + 2].tolist()
        return self.order[start:stop]

    def meeting_levels(self, first: Ids, second: Ids) -> NDArray[np.int64]:
        """Level of the lowest common ancestor, shape (first, second).

        An input meets itself at level 0, the unknown word too.
        """
        left, right = np.asarray(first), np.asarray(second)
        found = np.zeros((len(left), len(right)), dtype=np.int64)
        for row in self.nodes[:-1]:
            found += row[left][:, None] != row[right]
        return found

    def distances(self, first: Ids, second: Ids) -> Floats:
        """The ultrametric between inputs, shape (first, second)."""
        table: Floats = np.array(self.heights)[self.meeting_levels(first, second)]
        return table

    def to_bytes(self) -> bytes:
        """The tree as bytes; the same tree always gives the same bytes.

        One line of JSON, then the order as 32-bit little-endian integers (16-bit for
        up to 65,536 words), then the sizes of the nodes of each level but the root,
        as 32-bit integers. Sizes of a level of single words are left out.
        """
        sizes = [self.sizes(level) for level in range(self.levels)]
        listed = [row if row.max() > 1 else row[:0] for row in sizes]
        header = {
            "about": dict(sorted(self.about.items())),
            "format": TREE_FORMAT,
            "heights": list(self.heights),
            "nodes": [len(row) for row in listed],
            "words": self.vocab_size,
        }
        text = json.dumps(header, sort_keys=True, ensure_ascii=False)
        parts = [self.order.astype(_order_type(self.vocab_size)).tobytes()]
        parts += [row.astype("<u4").tobytes() for row in listed]
        return text.encode() + b"\n" + b"".join(parts)

    @classmethod
    def from_bytes(cls, data: bytes) -> WordTree:
        """Read what :meth:`to_bytes` wrote; SpaceIntegrityError for anything else."""
        try:
            head, _, body = data.partition(b"\n")
            header: dict[str, Any] = json.loads(head.decode())
            if header["format"] != TREE_FORMAT:
                raise ValueError(header["format"])
            words, nodes = int(header["words"]), [int(n) for n in header["nodes"]]
            kind = np.dtype(_order_type(words))
            counts = [kind.itemsize * words, *(4 * n for n in nodes)]
            edges = np.cumsum([0, *counts]).tolist()
            if edges[-1] != len(body) or min(counts) < 0:
                raise ValueError("wrong length")
            order = np.frombuffer(body[: edges[1]], dtype=kind).astype(np.int32)
            bounds = []
            for start, stop in pairwise(edges[1:]):
                sizes = np.frombuffer(body[start:stop], dtype="<u4").tolist()
                bounds.append(np.cumsum([0, *(sizes or [1] * words)]).astype(np.int32))
            bounds.append(np.array([0, words], dtype=np.int32))
            heights = tuple(float(h) for h in header["heights"])
            about = {str(key): str(value) for key, value in header["about"].items()}
            return cls(order, tuple(bounds), heights, about)
        except (ValueError, KeyError, TypeError, AttributeError, SpaceError) as error:
            problem = "these are not the bytes of a word tree"
            raise SpaceIntegrityError(problem) from error

    def __eq__(self, other: object) -> bool:
        return isinstance(other, WordTree) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def __reduce__(self) -> tuple[Any, ...]:
        return WordTree.from_bytes, (self.to_bytes(),)

    def __repr__(self) -> str:
        nodes = " > ".join(str(len(bound) - 1) for bound in self.bounds)
        return f"WordTree({nodes}, digest={self.digest[:12]!r})"


def default_heights(levels: int) -> tuple[float, ...]:
    """Heights that hide a word in its group and cost most beyond the branches.

    >>> [default_heights(levels) for levels in (1, 2, 4)]
    [(0.0, 1.0), (0.0, 0.03, 1.0), (0.0, 0.03, 0.6, 0.9, 1.0)]
    """
    if levels == 1:
        return (0.0, 1.0)
    between = np.linspace(_LOWEST_BRANCH, _HIGHEST_BRANCH, max(levels - 2, 1))
    inner = [round(float(h), 4) for h in between[: levels - 2]]
    return (0.0, _GROUP_HEIGHT, *inner, 1.0)


def _order_type(words: int) -> str:
    return "<u2" if words <= 1 << 16 else "<u4"
