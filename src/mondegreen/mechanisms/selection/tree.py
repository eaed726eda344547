"""Words of one group alike, words of one branch nearly so: the tree mechanism."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Final, final

import numpy as np
from numpy.typing import NDArray

from mondegreen.arrays import Floats, Ids, LogProbs, Weights, slices
from mondegreen.errors import InvalidParameterError
from mondegreen.guarantee import Guarantee
from mondegreen.mechanisms import base
from mondegreen.mechanisms.channel import Channel
from mondegreen.mechanisms.laws.tree import (
    TreeLaw,
    compute_scale,
    compute_weights,
    load_shipped_weights,
    weights_within,
)
from mondegreen.mechanisms.laws.tree_channel import tree_channel
from mondegreen.sampling.integers import TOTAL, draw_uniform
from mondegreen.space.space import Space
from mondegreen.space.store import tree_for
from mondegreen.space.tree import WordTree

_BLOCK: Final = 1 << 15
"""Words sampled at once: their tables stay in the cache of a core."""

_DIGITS: Final = re.compile("[0-9a-f]{6,64}")

_GROUPED: Final = 2
"""Levels of a tree that has something between the words and the root."""

Numbers = tuple[float, ...]


@final
@dataclass(frozen=True, slots=True)
class Tree(base.AbstractMechanism):
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
        :math:`\epsilon h`, and the probabilities are those that keep most.
    losses : tuple of float in [0, epsilon], nats, optional
        Largest loss of two words that meet in a group, a branch, ..., in place of
        heights; that of the root is epsilon. 0: they have one law.
    level_probabilities : tuple of float in [0, 1], optional
        Probability of each level, words first, instead of epsilon; no two words may
        lose more.
    of_class : mapping of str to tuple of float, optional
        From a word to other probabilities for its class, that is all words of its node
        below the root: frequent words, easy to guess, can then move more often.
    tree : str, optional
        First digits of the digest of a tree of the package; its first if not given.

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

    *Numerics.* Level and place are drawn from exact integers. The certificate is
    rational arithmetic over the nodes, and is rounded up once.

    The tree is that of the space, the one of the package, or, for a space of up to
    4,096 words, built on the spot.

    References
    ----------
    .. [1] Chatzikokolakis, Andrés, Bordenabe, Palamidessi. "Broadening the Scope of
       Differential Privacy Using Metrics." PETS 2013, Definition 1.

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

    epsilon: float = base.epsilon_parameter(
        "nats", help="loss in nats for any two words"
    )
    losses: tuple[float, ...] | None = base.parameter(
        None,
        range="[0, epsilon] each, or null",
        unit="nats",
        help="loss of two words of one group, of one branch, ...",
    )
    level_probabilities: tuple[float, ...] | None = base.parameter(
        None,
        range="[0, 1] each, sum 1, or null",
        help="probability of each level, words first",
    )
    of_class: tuple[tuple[str, tuple[float, ...]], ...] | None = base.parameter(
        None,
        range="words, each with its probabilities, or null",
        help="other probabilities for the class of a word",
    )
    tree: str | None = base.parameter(
        None,
        range="first digits of a digest, or null",
        help="a tree of the package that is not the default one",
    )

    name: ClassVar[str] = "tree"
    is_private: ClassVar[bool] = True
    family: ClassVar[str] = "selection"
    metric: ClassVar[str] = "ultrametric of a word tree"
    digest_names: ClassVar[Mapping[str, str]] = {
        "losses": "odds",
        "level_probabilities": "probabilities",
    }

    def __post_init__(self) -> None:
        base.AbstractMechanism.__post_init__(self)
        losses, shares, own = self.losses, self.level_probabilities, self.of_class
        if losses is not None:
            losses = _numbers("losses", losses, self.epsilon)
            if shares is not None:
                allowed = "null where level_probabilities are given"
                raise InvalidParameterError("losses", losses, allowed)
            if any(np.diff(losses) < 0):
                raise InvalidParameterError("losses", losses, "not decreasing")
        if own is not None:
            own = _of_class(own)
            if shares is None:
                allowed = "null without level_probabilities"
                raise InvalidParameterError("of_class", own, allowed)
        if shares is not None:
            shares = _shares("level_probabilities", shares)
        if self.tree is not None and not _DIGITS.fullmatch(str(self.tree)):
            allowed = "6 to 64 hexadecimal digits, or null"
            raise InvalidParameterError("tree", self.tree, allowed)
        object.__setattr__(self, "losses", losses)
        object.__setattr__(self, "level_probabilities", shares)
        object.__setattr__(self, "of_class", own)

    def to_dict(self) -> dict[str, Any]:
        """Return name and parameters; ``of_class`` and ``tree`` only if given."""
        # The digest of what was released before there was such a parameter, and with
        # it the keys of replays, stay what they were.
        found = base.AbstractMechanism.to_dict(self)
        parameters = found["parameters"]
        own = parameters.pop("of_class")
        if own is not None:
            parameters["of_class"] = {word: list(row) for word, row in own}
        if self.tree is None:
            del parameters["tree"]
        return found

    @classmethod
    def collect_digested(cls, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """Return parameters under their first names, without that of the tree.

        The digest of settings holds that of the tree itself, so a release repeats
        where its tree is named, and where it is the default.
        """
        found = super(Tree, cls).collect_digested(parameters)
        found.pop("tree", None)
        return found

    def prepare(self, space: Space) -> TreeState:
        """Find the tree, set the weights of its levels, and certify them."""
        base.check_space(self, space)
        tree = tree_for(space, self.tree or "")
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
        promise = self._certify(space, law, losses, heights)
        return TreeState(space, law, heights, promise)

    def _weights(self, tree: WordTree) -> tuple[int, ...]:
        if (shares := self.level_probabilities) is not None:
            _check_count("level_probabilities", shares, tree.levels + 1)
            return compute_weights(shares)
        if self.losses is not None:
            _check_count("losses", self.losses, tree.levels - 1)
            return weights_within(tree, (*self.losses, self.epsilon))
        limits = [self.epsilon * h for h in tree.heights[1:]]
        return load_shipped_weights(tree, self.epsilon) or weights_within(tree, limits)

    def _own(self, space: Space, tree: WordTree) -> dict[int, tuple[int, ...]]:
        """The weights of children of the root that have their own."""
        found: dict[int, tuple[int, ...]] = {}
        for word, shares in self.of_class or ():
            _check_count("of_class", shares, tree.levels + 1)
            place = space.get_id(word)
            if place == space.vocab_size or tree.levels < _GROUPED:
                allowed = "words of the space, on a tree with groups"
                raise InvalidParameterError("of_class", word, allowed)
            node = int(tree.nodes[tree.levels - 1, place])
            if node in found:
                raise InvalidParameterError("of_class", word, "one word of each class")
            found[node] = compute_weights(shares)
        return found

    def _heights(self, tree: WordTree, losses: Numbers) -> Numbers:
        """The heights of the levels that the promise is stated with.

        Where probabilities are given, they are what the law loses, as a share of the
        most that it loses: its certificate is its own loss, and not what was allowed.
        """
        spent, most = self.losses, self.epsilon
        if self.level_probabilities is not None:
            spent, most = losses[:-1], losses[-1]
        if spent is None or not most:
            return tree.heights
        # Rounded up, so that the most times a height is not below what it stands for.
        inner = [math.nextafter(x / most, 2) if x else 0.0 for x in spent]
        return (0.0, *(min(1.0, height) for height in inner), 1.0)

    def _certify(
        self, space: Space, law: TreeLaw, losses: Numbers, heights: Numbers
    ) -> Guarantee:
        """The promise of a law, with its certificate."""
        tree, (rows, _) = law.tree, law.kinds()
        most = max(x / h for x, h in zip(losses, heights[1:], strict=True) if h)
        certified = math.nextafter(most, math.inf) if most else 0.0
        shown = ", ".join(f"{height:.4g}" for height in heights[1:])
        nats = ", ".join(f"{loss:.4g}" for loss in losses)
        chances = [", ".join(f"{weight / TOTAL:.4g}" for weight in row) for row in rows]
        by_class = " (by class of the word)" if len(rows) > 1 else ""
        return self.promise(
            space,
            metric=f"ultrametric of the word tree {tree.digest[:12]} (heights {shown})",
            scale=compute_scale(tree, heights),
            certified=min(certified, self.epsilon),
            certified_how="proof, and exact rational arithmetic over all nodes of the "
            "tree for the integers that are sampled",
            equivalents=(
                f"{losses[-1]:.6g}-local differential privacy of a word",
                f"maximum loss by tree level, 1 (same group) to {tree.levels}: {nats} "
                "nats",
                "probability of each level, from the word up: "
                f"{'; '.join(chances)}{by_class}",
            ),
            assumptions=(
                f"the word tree, SHA-256 {tree.digest}, is public and was fixed before "
                "the texts were seen",
                "the probability of every level is an integer over 2^62; levels and "
                "places are drawn exactly",
            ),
        )


@final
class TreeState(base.State):
    """The tree mechanism prepared for one space.

    ``heights`` are the distances of two words by the level where they meet.
    """

    def __init__(
        self, space: Space, law: TreeLaw, heights: Numbers, guarantee: Guarantee
    ) -> None:
        self.space, self.law, self.heights = space, law, heights
        self.guarantee = guarantee
        tree = law.tree
        rows, self._kinds = law.kinds()
        # (kinds, D + 1): integers of the levels. Levels of weight 0 are never drawn.
        weights = np.array(rows)
        self._chosen = np.flatnonzero(weights.any(axis=0)).tolist()
        # Where the integers of each level end: a row per kind of input.
        self._edges = np.cumsum(weights[:, self._chosen], axis=1)
        # Of each level and input: where its node starts in the order of the tree, q = a
        # div n, and q n, the places that are dealt evenly.
        shape = (len(self._chosen), tree.vocab_size + 1)
        self._starts = np.zeros(shape, dtype=np.int64)
        self._quotients = np.zeros(shape, dtype=np.int64)
        self._limits = np.zeros(shape, dtype=np.int64)
        for row, level in enumerate(self._chosen):
            nodes = tree.nodes[level, :-1]
            sizes = np.append(tree.sizes(level)[nodes], tree.vocab_size)
            self._starts[row, :-1] = tree.bounds[level][nodes]
            # Places of the level that fall on each word of the node, and on all.
            self._quotients[row] = weights[self._kinds, level] // sizes
            self._limits[row] = self._quotients[row] * sizes
        self._quotients = np.maximum(self._quotients, 1).astype(np.uint64)

    @property
    def tree(self) -> WordTree:
        return self.law.tree

    @property
    def tree_law(self) -> TreeLaw:
        return self.law

    @property
    def digests(self) -> Mapping[str, str]:
        """The tree, and its integers: what decides a draw."""
        tree, law = self.tree.digest, self.law
        own = {str(node): row for node, row in sorted(law.own.items())}
        parts = {"own": own, "tree": tree, "weights": law.weights}
        text = json.dumps(parts, sort_keys=True)
        return {"tree": tree, "law": hashlib.sha256(text.encode()).hexdigest()}

    def channel(self, prior: Floats, count: int) -> Channel:
        return tree_channel(self.law, prior, count)

    def distances(self, first: Ids, second: Ids) -> Floats:
        table: Floats = np.array(self.heights)[self.tree.meeting_levels(first, second)]
        return table

    def sample(self, ids: Ids, rng: np.random.Generator) -> Ids:
        """Draw an output for each input; see :class:`mondegreen.mechanisms.State`.

        Every word consumes one 64-bit word of ``rng``, in order, which decides the
        level and the place in its node. Where the places of a level cannot be dealt
        evenly to the words of a node, less than one draw in 2**44, the place is drawn
        again, after all others.
        """
        base.check_ids(ids, self.space.vocab_size)
        out = np.empty(len(ids), dtype=np.int32)
        again: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []
        for block in slices(len(ids), _BLOCK):
            draws = draw_uniform(rng, len(out[block]))
            # i in the run of level l, r its place there, 0 <= r < a. For r < q n the
            # word is number r div q of the node: each of the n words has q places. The
            # others, fewer than n of 2^62, are drawn again.
            levels, rest = self._levels(ids[block], draws)
            flat = levels * (self.space.vocab_size + 1)
            flat += ids[block].astype(np.int64, copy=False)
            uneven = rest >= self._limits.take(flat)
            # Unsigned division is the faster one.
            place = (rest.view(np.uint64) // self._quotients.take(flat)).view(np.int64)
            if uneven.any():
                (where,) = np.nonzero(uneven)
                again.append((where + block.start, levels[where]))
                place[where] = 0
            place += self._starts.take(flat)
            out[block] = self.tree.order.take(place)
        for where, levels in again:
            out[where] = self._draw_again(ids[where], levels, rng)
        return out

    def log_prob(self, ids: Ids) -> LogProbs:
        base.check_ids(ids, self.space.vocab_size)
        words, inverse = np.unique(ids, return_inverse=True)
        table = np.empty((len(words), self.space.vocab_size))
        for row, word in zip(table, words.tolist(), strict=True):
            row[:] = np.log(self.law.probabilities(word))
        return table[inverse]

    def _levels(self, ids: Ids, draws: Weights) -> tuple[NDArray[np.int64], Weights]:
        """The level of each draw, and the place of the draw in that level."""
        levels = np.zeros(len(draws), dtype=np.int64)
        if len(self._edges) == 1:
            edges = np.append(0, self._edges[0])
            for edge in edges[1:-1]:
                levels += draws >= edge
            return levels, draws - edges.take(levels)
        kinds, starts = self._kinds.take(ids), np.zeros_like(draws)
        for ends in self._edges.T[:-1]:
            edge = ends.take(kinds)
            passed = draws >= edge
            levels += passed
            np.copyto(starts, edge, where=passed)
        return levels, draws - starts

    def _draw_again(
        self, ids: Ids, levels: NDArray[np.int64], rng: np.random.Generator
    ) -> Ids:
        """Draw places in nodes without bias, by rejection."""
        tree = self.tree
        found = np.empty(len(ids), dtype=np.int32)
        pairs = zip(ids.tolist(), levels.tolist(), strict=True)
        for i, (word, row) in enumerate(pairs):
            level = self._chosen[row] if word < tree.vocab_size else tree.levels
            members = tree.members(level, int(tree.nodes[level, word]))
            found[i] = members[int(rng.integers(0, len(members)))]
        return found


def _numbers(name: str, values: Any, largest: float) -> Numbers:
    """Numbers as floats; refuses what is no list of them, or out of range."""
    allowed = f"numbers in [0, {largest:g}], as many as the tree has levels for"
    if not isinstance(values, tuple | list):
        raise InvalidParameterError(name, values, allowed)
    return tuple(base.check_interval(name, x, 0.0, largest, allowed) for x in values)


def _shares(name: str, values: Any) -> Numbers:
    """Probabilities of levels; refuses what are none, or leave the root none."""
    found = _numbers(name, values, 1.0)
    if not found or abs(sum(found) - 1) > 1e-9 or not found[-1] > 0:
        allowed = "numbers of sum 1, the last above 0"
        raise InvalidParameterError(name, found, allowed)
    return found


def _of_class(values: Any) -> tuple[tuple[str, Numbers], ...]:
    """Words and probabilities; refuses what is neither a mapping nor pairs."""
    try:
        given = sorted((str(word), shares) for word, shares in dict(values).items())
    except (TypeError, ValueError):
        allowed = "words, each with numbers of sum 1, the last above 0"
        raise InvalidParameterError("of_class", values, allowed) from None
    return tuple((word, _shares("of_class", shares)) for word, shares in given)


def _check_count(name: str, values: Numbers, count: int) -> None:
    if len(values) != count:
        raise InvalidParameterError(name, values, f"{count} numbers for this tree")
