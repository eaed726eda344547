"""Words of one group alike, words of one branch nearly so: the tree mechanism."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final, final

import numpy as np

from mondegreen.errors import InvalidParameterError, SpaceError
from mondegreen.guarantee import Guarantee
from mondegreen.mechanisms.base import (
    AbstractMechanism,
    check_space,
    epsilon_parameter,
    parameter,
)
from mondegreen.mechanisms.laws.tree import TreeLaw
from mondegreen.mechanisms.laws.tree_weights import (
    scale_of,
    shipped_weights,
    weights_of,
    weights_within,
)
from mondegreen.mechanisms.selection.tree_state import Numbers, TreeState
from mondegreen.sampling.integers import TOTAL
from mondegreen.space.space import Space
from mondegreen.space.store import tree_of
from mondegreen.space.tree import WordTree

_ROUNDING: Final = 1e-9

_SMALL: Final = 4096
"""Words of the largest space whose tree is built where it is needed."""

_GROUPED: Final = 2
"""Levels of a tree that has something between the words and the root."""


@final
@dataclass(frozen=True, slots=True)
class Tree(AbstractMechanism):
    r"""Choose a level of a public tree of words; draw uniformly below the ancestor.

    .. math::

        P(y \mid w) = \sum_{l \ge \mathrm{lca}(w, y)} \frac{p_l}{n_l(w)}

    where :math:`n_l(w)` counts the words of the node of :math:`w` at level :math:`l`:
    0 is the word itself, then its group, its branch, ..., the whole vocabulary.

    Parameters
    ----------
    epsilon : float in [1e-9, 1e9], nats
        Loss of any two words: the height of the root is 1. Alone, it sets every
        level: two words that meet at height :math:`h` lose at most
        :math:`\epsilon h`, and the probabilities are those that keep most, see
        :func:`mondegreen.mechanisms.laws.tree_weights.weights_within`.
    losses : tuple of float in [0, epsilon], nats, optional
        Largest loss of two words that meet in a group, in a branch, ..., in place of
        the heights of the tree; that of the root is epsilon. 0: they have one law.
    level_probabilities : tuple of float in [0, 1], optional
        Of the levels, words first, in place of both; refused where two words would
        lose more than epsilon.
    of_class : mapping of str to tuple of float, optional
        From a word to other probabilities for its class, that is all words of its node
        below the root: frequent words, which are easy to guess, can move more often
        than those that carry meaning. Kept as pairs.

    Raises
    ------
    InvalidParameterError
        If a parameter is out of range, or does not fit the tree.

    Notes
    -----
    *Privacy.* Epsilon-metric privacy for the ultrametric of the tree, and
    epsilon-local differential privacy: every word can come out for every input. There
    is no normaliser, so nothing is lost to a factor of 2. The unknown word is at
    distance 1 from every word; its law is uniform. Proof: ``docs/proofs/tree.md``.

    *Numerics.* Two draws with exact integers: the level, and a place in the node. The
    certificate is rational arithmetic over the nodes, and is rounded up once.

    The tree is that of the space (``space.tree``), the one of the package, or, for a
    space of up to 4,096 words, built on the spot.

    References
    ----------
    .. [1] Chatzikokolakis, Andrés, Bordenabe, Palamidessi. "Broadening the Scope of
       Differential Privacy Using Metrics." PETS 2013, Definition 1.
    .. [2] Warner. "Randomized Response." JASA 1965: a tree without groups.

    Examples
    --------
    >>> import mondegreen as mg
    >>> words, points = ["cat", "dog", "red", "tan"], [[1, 0], [1, 1], [-1, 0], [-1, 1]]
    >>> space = mg.Space.from_arrays("s", words, points)
    >>> from mondegreen.space.store import with_tree
    >>> from mondegreen.space.tree_build import build_tree
    >>> space = with_tree(space, build_tree(space, leaf=2))
    >>> state = Tree(epsilon=3.0, losses=(0.0,)).prepare(space)
    >>> np.exp(state.log_prob(np.array([0], dtype=np.int32))).round(3).tolist()
    [[0.476, 0.476, 0.024, 0.024]]
    """

    epsilon: float = epsilon_parameter("nats", help="loss in nats for any two words")
    losses: tuple[float, ...] | None = parameter(
        None,
        range="[0, epsilon] each, or null",
        unit="nats",
        help="loss of two words of one group, of one branch, ...",
    )
    level_probabilities: tuple[float, ...] | None = parameter(
        None,
        range="[0, 1] each, sum 1, or null",
        help="probability of each level, words first",
    )
    of_class: tuple[tuple[str, tuple[float, ...]], ...] | None = parameter(
        None,
        range="words, each with its probabilities, or null",
        help="other probabilities for the class of a word",
    )

    name: ClassVar[str] = "tree"
    family: ClassVar[str] = "selection"
    metric: ClassVar[str] = "ultrametric of a word tree"
    renamed: ClassVar[Mapping[str, str]] = {
        "odds": "losses",
        "probabilities": "level_probabilities",
    }

    def __post_init__(self) -> None:
        AbstractMechanism.__post_init__(self)
        losses = _numbers("losses", self.losses, self.epsilon)
        shares = _shares("level_probabilities", self.level_probabilities)
        if losses is not None and shares is not None:
            allowed = "null where level_probabilities are given"
            raise InvalidParameterError("losses", losses, allowed)
        if losses is not None and any(np.diff(losses) < 0):
            raise InvalidParameterError("losses", losses, "not decreasing")
        own = _of_class(self.of_class)
        if own is not None and shares is None:
            allowed = "null without level_probabilities"
            raise InvalidParameterError("of_class", own, allowed)
        object.__setattr__(self, "losses", losses)
        object.__setattr__(self, "level_probabilities", shares)
        object.__setattr__(self, "of_class", own)

    def to_dict(self) -> dict[str, Any]:
        """Return name and parameters, ``of_class`` only where it is given.

        The digest of what was released before there was such a parameter, and with it
        the keys of replays, stay what they were.
        """
        found = AbstractMechanism.to_dict(self)
        own = found["parameters"].pop("of_class")
        if own is not None:
            found["parameters"]["of_class"] = {word: list(row) for word, row in own}
        return found

    def prepare(self, space: Space) -> TreeState:
        """Find the tree, set the weights of its levels, and certify them."""
        check_space(self, space)
        tree = tree_for(space)
        law = TreeLaw(tree, self._weights(tree), self._own(space, tree))
        losses = law.losses()
        if losses[-1] > self.epsilon:
            raise InvalidParameterError(
                "level_probabilities",
                self.level_probabilities,
                f"such that two words lose at most epsilon = {self.epsilon:g} nats; "
                f"these lose {losses[-1]:.4f}",
            )
        heights = self._heights(tree, losses)
        return TreeState(space, law, heights, _guarantee(self, space, law, heights))

    def _weights(self, tree: WordTree) -> tuple[int, ...]:
        """The integer weights of the levels of a tree."""
        if (shares := self.level_probabilities) is not None:
            _check_count("level_probabilities", shares, tree.levels + 1)
            return weights_of(shares)
        if self.losses is not None:
            _check_count("losses", self.losses, tree.levels - 1)
            return weights_within(tree, (*self.losses, self.epsilon))
        limits = [self.epsilon * h for h in tree.heights[1:]]
        return shipped_weights(tree, self.epsilon) or weights_within(tree, limits)

    def _own(self, space: Space, tree: WordTree) -> dict[int, tuple[int, ...]]:
        """The weights of children of the root that have their own."""
        found: dict[int, tuple[int, ...]] = {}
        for word, shares in self.of_class or ():
            _check_count("of_class", shares, tree.levels + 1)
            place = space.id_of(word)
            if place == space.vocab_size or tree.levels < _GROUPED:
                allowed = "words of the space, on a tree with groups"
                raise InvalidParameterError("of_class", word, allowed)
            node = int(tree.nodes[tree.levels - 1, place])
            if node in found:
                raise InvalidParameterError("of_class", word, "one word of each class")
            found[node] = weights_of(shares)
        return found

    def _heights(self, tree: WordTree, losses: Sequence[float]) -> Numbers:
        """The heights of the levels that the promise is stated with.

        Where probabilities are given, they are what the law loses, as a share of the
        most that it loses: its certificate is its own loss, and not what was allowed.
        """
        spent, most = self.losses, self.epsilon
        if self.level_probabilities is not None:
            spent, most = tuple(losses[:-1]), losses[-1]
        if spent is None or not most:
            return tree.heights
        # Rounded up, so that the most times a height is not below what it stands for.
        inner = [math.nextafter(x / most, 2) if x else 0.0 for x in spent]
        return (0.0, *(min(1.0, height) for height in inner), 1.0)


def _guarantee(
    mechanism: Tree, space: Space, law: TreeLaw, heights: tuple[float, ...]
) -> Guarantee:
    """The promise of a law, certified."""
    tree, losses = law.tree, law.losses()
    spent = [x / h for x, h in zip(losses, heights[1:], strict=True) if h]
    certified = math.nextafter(max(spent), math.inf) if max(spent) else 0.0
    shown = ", ".join(f"{height:.4g}" for height in heights[1:])
    nats = ", ".join(f"{loss:.4g}" for loss in losses)
    rows = law.kinds()[0]
    chances = "; ".join(
        ", ".join(f"{weight / TOTAL:.4g}" for weight in row) for row in rows
    )
    return mechanism.promise(
        space,
        metric=f"ultrametric of the word tree {tree.digest[:12]} (heights {shown})",
        scale=scale_of(tree, heights),
        certified=min(certified, mechanism.epsilon),
        certified_how="proof, and exact rational arithmetic over all nodes of the tree "
        "for the integers that are sampled",
        equivalents=(
            f"{losses[-1]:.6g}-local differential privacy of a word",
            f"words that meet at level 1 to {tree.levels} lose at most: {nats} nats",
            f"chance of each level, words first: {chances}"
            + (" (by class of the word)" if len(rows) > 1 else ""),
        ),
        assumptions=(
            f"the word tree, SHA-256 {tree.digest}, is public and was fixed before the "
            "texts were seen",
            "every level has a chance that is an integer over 2^62; levels and places "
            "are drawn exactly",
        ),
    )


def tree_for(space: Space) -> WordTree:
    """The tree of a space; a small one gets a tree when it has none."""
    found = tree_of(space)
    if found is not None:
        return found
    if space.vocab_size > _SMALL:
        raise SpaceError(
            f"space {space.name!r} has no word tree. Build one: mondegreen space tree "
            f"{space.path or space.name} -o {space.name}.tree.safetensors; or take a "
            "mechanism that needs none, such as calibrated"
        )
    from mondegreen.space.tree_build import build_tree

    return build_tree(space)


def _numbers(name: str, values: Any, largest: float) -> Numbers | None:
    """Numbers as floats; refuses what is no list of them, or out of range."""
    if values is None:
        return None
    allowed = f"numbers in [0, {largest:g}], as many as the tree has levels for"
    if not isinstance(values, (tuple, list)):
        raise InvalidParameterError(name, values, allowed)
    for value in values:
        is_number = isinstance(value, (int, float, np.integer, np.floating))
        if not is_number or isinstance(value, bool) or not 0 <= value <= largest:
            raise InvalidParameterError(name, values, allowed)
    return tuple(map(float, values))


def _shares(name: str, values: Any) -> Numbers | None:
    """Probabilities of levels; refuses what are none, or leave the root none."""
    found = _numbers(name, values, 1.0)
    if found is None:
        return None
    if not found or abs(sum(found) - 1) > _ROUNDING or not found[-1] > 0:
        allowed = "numbers of sum 1, the last above 0"
        raise InvalidParameterError(name, found, allowed)
    return found


def _of_class(values: Any) -> tuple[tuple[str, Numbers], ...] | None:
    """Words and probabilities; refuses what is neither a mapping nor pairs."""
    if values is None:
        return None
    allowed = "words, each with numbers of sum 1, the last above 0"
    try:
        given = sorted((str(word), shares) for word, shares in dict(values).items())
    except (TypeError, ValueError):
        raise InvalidParameterError("of_class", values, allowed) from None
    found = [(word, _shares("of_class", shares)) for word, shares in given]
    if any(shares is None for _, shares in found):
        raise InvalidParameterError("of_class", values, allowed)
    return tuple(found)  # type: ignore[arg-type]


def _check_count(name: str, values: Numbers, count: int) -> None:
    if len(values) != count:
        raise InvalidParameterError(name, values, f"{count} numbers for this tree")
