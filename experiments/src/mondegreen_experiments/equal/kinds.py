"""Texts of one kind, over its frequent words alone, and what readers know of it."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from mondegreen.arrays import Floats, Ids
from mondegreen.calibration.tree_levels import tfidf_weights
from mondegreen.language.counts import Counter
from mondegreen.language.ngrams import NGrams
from mondegreen.space.binarize import with_codes
from mondegreen.space.groups import Worth
from mondegreen.space.space import Space
from mondegreen.space.store import with_tree
from mondegreen.space.tree_build import build_tree
from mondegreen_experiments.bench import Bench, Labelled

_BITS: Final = 256
"""Of the codes of BRR, as in its paper."""


@final
@dataclass(frozen=True, slots=True)
class Sizes:
    """How much is used of each data set.

    The ``vocabulary`` is of so many words, those most frequent in the ``public`` texts
    of all of them, in ``dim`` dimensions. Of a text the last ``words`` are taken.
    Adversaries are asked about ``read`` texts at a time.
    """

    dim: int
    vocabulary: int
    public: int
    train: int
    valid: int
    test: int
    words: int
    read: int


@final
@dataclass(frozen=True, eq=False)
class Kind:
    """Texts of one kind in four parts; readers know the public ones.

    Words that the space has not are left out, and so is punctuation: a text is one
    sentence. ``language`` is of the public texts.
    """

    space: Space
    language: NGrams
    train: Labelled
    valid: Labelled
    test: Labelled
    read: int


@functools.lru_cache(maxsize=4)
def kind_of(bench: Bench, name: str, among: tuple[str, ...], sizes: Sizes) -> Kind:
    """Read a data set, over the words that are frequent among several."""
    space, places = frequent_words(bench, among, sizes)

    def known(split: str, most: int) -> Labelled:
        return _known(bench.labelled(name, split, f"glove-{sizes.dim}", most), places)

    rows = known("train", sizes.train + sizes.public)
    public = rows.at(slice(sizes.train, None))
    return Kind(
        space,
        _language(public, space),
        rows.at(slice(sizes.train)).cut(sizes.words),
        known("valid", sizes.valid).cut(sizes.words),
        known("test", sizes.test).cut(sizes.words),
        sizes.read,
    )


@functools.lru_cache(maxsize=2)
def frequent_words(
    bench: Bench, among: tuple[str, ...], sizes: Sizes
) -> tuple[Space, NDArray[np.int64]]:
    """A space of words that are frequent in public texts, each data set alike.

    With codes and a tree. And the place of each word of the whole space in it, or -1.
    """
    whole = bench.space(f"glove-{sizes.dim}")
    share = np.zeros(whole.vocab_size + 1)
    for name in among:
        texts = bench.labelled(
            name, "train", f"glove-{sizes.dim}", sizes.train + sizes.public
        )
        public = texts.at(slice(sizes.train, None)).flat
        share += np.bincount(public, minlength=len(share)) / len(public)
    order = np.argsort(-share[:-1], kind="stable")[: sizes.vocabulary]
    places = np.full(len(share), -1)
    places[order] = np.arange(len(order))
    words = [whole.words[i] for i in order.tolist()]
    name = f"frequent-{len(order)}-of-{whole.name}"
    space = with_codes(Space.from_arrays(name, words, whole.vectors[order]), bits=_BITS)
    often = share[order] / share[order].sum()
    # As the tree of the package is built, but for the classes of words.
    tree = build_tree(space, leaf=12, branch=16, family=8, worth=_worth(often))
    return with_tree(space, tree), places


def _worth(often: Floats) -> Worth:
    """What a place in a group of the tree is worth to words of these frequencies."""
    weights = tfidf_weights(np.append(often, 0.0))[:-1]
    return Worth(weights / weights.sum(), often, price=1.0, cap=0.4)


def _known(texts: Labelled, places: NDArray[np.int64]) -> Labelled:
    """The known words of each text, by their places; no text that has none."""
    words: list[Ids] = [places[text].astype(np.int32) for text in texts.words]
    words = [text[text >= 0] for text in words]
    rows = np.flatnonzero([len(text) > 0 for text in words])
    return Labelled([words[i] for i in rows], texts.labels[rows])


def _language(texts: Labelled, space: Space) -> NGrams:
    counter = Counter(space.vocab_size)
    counter.add(texts.flat, ends_of(texts).tolist())
    return NGrams.from_counts(counter.finish(), space)


def ends_of(texts: Labelled) -> NDArray[np.bool_]:
    """Where texts end, for each of their words."""
    ends = np.zeros(len(texts.flat), dtype=np.bool_)
    ends[np.cumsum([len(each) for each in texts.words]) - 1] = True
    return ends
