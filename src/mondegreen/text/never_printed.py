"""Words that are never printed, and what is printed in their place."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mondegreen.arrays import Ids
from mondegreen.errors import ConfigurationError
from mondegreen.space.metric import distances
from mondegreen.space.space import Space
from mondegreen.space.store import load_tree
from mondegreen.space.tree import WordTree

_LIST: Final = Path(__file__).parent / "data" / "never_printed.txt"
_COMMON: Final = 4096

# They may be printed, but stand in for no obscenity or slur: people, and words that are
# harmless in some places only.
_NO_STAND_IN: Final = frozenset(
    "asian beasts bisexual ebony gay girlfriends hoe homosexuality idiot interracial "
    "lesbian lesbians moms muslim pregnant savages spade sucking teen teens thug thugs "
    "transsexual".split()
)


@functools.cache
def never_printed() -> frozenset[str]:
    """Read the public list: slurs, obscenities, and pieces of words; NOTICE has more.

    >>> "bollocks" in never_printed(), "cat" in never_printed()
    (True, False)
    """
    lines = _LIST.read_text(encoding="utf-8").splitlines()
    return frozenset(line for line in lines if line and not line.startswith("#"))


def replacements(space: Space) -> dict[int, int]:
    """Say which word is printed for each word of a space that is never printed.

    The first in the vocabulary, which mostly is the most frequent, of its group in the
    word tree: of the lowest node that has a word to print. Where the space has no tree,
    the nearest of the first 4,096 words that may be printed. A public function of the
    space: no draw depends on it.

    Raises
    ------
    ConfigurationError
        If no word of the space may be printed.

    Examples
    --------
    >>> words = ["cat", "bollocks", "nonsense"]
    >>> replacements(Space.from_arrays("line", words, [[0], [8], [9]]))
    {1: 2}
    """
    # At once, which is quicker: no word of a space holds a line end.
    lowered = "\n".join(space.words).lower().split("\n")
    mine = _places(lowered, never_printed())
    if not mine:
        return {}
    if len(mine) == space.vocab_size:
        raise ConfigurationError(
            f"space {space.name!r} has only words that are never printed; to print "
            "them anyway, pass print_all=True (--print-all)"
        )
    is_free = np.ones(space.vocab_size, dtype=np.bool_)
    is_free[mine] = False
    others = _places(lowered, _NO_STAND_IN)
    if is_free.sum() > len(others):
        is_free[others] = False
    tree = load_tree(space)
    if tree is not None:
        return {word: _in_group(tree, word, is_free) for word in mine}
    free = np.flatnonzero(is_free)[:_COMMON].astype(np.int32)
    nearest = _nearest(space, np.array(mine, dtype=np.int32), free)
    return dict(zip(mine, nearest.tolist(), strict=True))


def _places(words: list[str], some: frozenset[str]) -> list[int]:
    is_there = np.fromiter(map(some.__contains__, words), np.bool_, len(words))
    found: list[int] = np.flatnonzero(is_there).tolist()
    return found


def _in_group(tree: WordTree, word: int, is_free: NDArray[np.bool_]) -> int:
    """Find the first word to print of the lowest node over a word that has one."""
    nodes = enumerate(tree.nodes[:, word].tolist())
    groups = (tree.members(level, node) for level, node in nodes)
    return int(next(free.min() for g in groups if len(free := g[is_free[g]])))


def _nearest(space: Space, words: Ids, choice: Ids) -> Ids:
    """Find the nearest of some words to each; without vectors, the first."""
    if not space.has_vectors:
        return np.full_like(words, choice[0])
    gaps = distances(space.metric, space.points(words), space.points(choice))
    nearest: Ids = choice[gaps.argmin(axis=1)]
    return nearest
