"""What a setting leaves of ordinary words: themselves, or words of near meaning."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mondegreen.arrays import Ids, slices
from mondegreen.mechanisms.base import State
from mondegreen.privatizer.reading import Reading
from mondegreen.space.metric import distances
from mondegreen.space.space import Space
from mondegreen.space.store import tree_of
from mondegreen.text.lookup import KEEP, Lookup
from mondegreen.text.tokenizer import tokenize

_FOLDER: Final = Path(__file__).parents[1] / "text" / "data"
PATH: Final = _FOLDER / "ordinary.txt"


@functools.cache
def ordinary_words() -> tuple[str, ...]:
    """Read 1,000 running words of public text, alike ones side by side.

    They stand for 16 million words of openly licensed English, which NOTICE names:
    each word as often as its share of them.
    """
    lines = PATH.read_text(encoding="utf-8").splitlines()
    pairs = (line.split() for line in lines)
    return tuple(word for word, share in pairs for _ in range(int(share)))


_NEAREST: Final = 24
"""Words that count as near in meaning: about as many as a group of the tree has."""

_SEED: Final = 20_202
"""The draws are of public words and go nowhere, so anyone may repeat them."""

_BLOCK: Final = 64


def ordinary_text(state: State, lookup: Lookup) -> tuple[float, float | None, str]:
    """Estimate which share of public words stays, which near meaning; and say whose.

    Words of ordinary English, or, where the space knows less than half of these, of
    its vocabulary. Kept words stay; masked and dropped ones do not.
    """
    words, of = ordinary_words(), "ordinary English text"
    known = [word for word in words if word in state.space.index]
    if len(known) < len(words) / 2:
        # A few words have as many draws as a thousand: one draw of each tells nothing.
        times = max(1, len(words) // state.space.vocab_size)
        known, of = list(state.space.words[: len(words)]) * times, "its vocabulary"
    elif lookup.unknown != "fail":  # that releases known words alone
        known = list(words)
    codes = lookup.codes(tokenize(known))
    through = codes >= 0
    stay, near = shares_kept(state, codes[through])
    kept, share = float(np.mean(codes == KEEP)), float(np.mean(through))
    near = None if near is None else kept + share * near
    return kept + share * stay, near, of


def ordinary_reading(
    state: State, lookup: Lookup, reading: Reading
) -> tuple[float, float | None, str, float] | None:
    """Estimate the same where releases are read, and what an adversary recovers.

    Of sentences that the embedded language model wrote, drawn with a fixed seed: on
    them a reader with this model is at its best. None where the space knows less than
    half of their words.
    """
    texts = (_FOLDER / "sentences.txt").read_text(encoding="utf-8").splitlines()
    batch = tokenize(texts)
    codes = lookup.codes(batch)
    through = (codes >= 0) & (codes < lookup.vocab_size)
    if np.mean(through) < 1 / 2:
        return None
    rng = np.random.Generator(np.random.PCG64(_SEED))
    drawn = np.where(codes < 0, codes, 0).astype(np.int32)
    drawn[codes >= 0] = state.sample(codes[codes >= 0], rng)
    read = reading(drawn, batch, "keep")
    stays = read == codes
    near: float | None = None
    if state.space.has_vectors:
        is_near = stays.copy()
        is_near[through] |= near_words(state, codes[through], read[through])
        near = float(is_near.mean())
    recovered = reading.recovered(drawn, batch, codes)
    return float(stays.mean()), near, "ordinary English sentences", recovered


def recovered_by_a_reader(state: State, lookup: Lookup) -> float | None:
    """Estimate which share of ordinary sentences a reader recovers who has our model.

    None where that takes long, as for all laws but those of trees, and where the model
    has other words than the space.
    """
    from mondegreen.decode.decoder import CANDIDATES
    from mondegreen.language.store import load_language
    from mondegreen.privatizer.reading import Reading

    language = load_language()
    if not language.is_for(state.space):
        return None
    if state.channel(language.frequencies(), CANDIDATES) is None:
        return None
    found = ordinary_reading(state, lookup, Reading(state, "sentence", language))
    return None if found is None else found[3]


def shares_kept(state: State, ids: Ids) -> tuple[float, float | None]:
    """Estimate which share of words stays, and which stays or is near in meaning.

    From one draw for each word, with a fixed seed: with 1,000 of them either is right
    to 0.03 (95 %). The second is None in a space without vectors.

    >>> import mondegreen as mg
    >>> state = mg.mechanism("tree", epsilon=10.0).prepare(mg.load_space())
    >>> same, near = shares_kept(state, np.arange(1000, dtype=np.int32))
    >>> same < 0.1 < 0.8 < near
    True
    """
    if not len(ids):
        return 0.0, 0.0 if state.space.has_vectors else None
    drawn = state.sample(ids, np.random.Generator(np.random.PCG64(_SEED)))
    same = drawn == ids
    if not state.space.has_vectors:
        return float(same.mean()), None
    near = same | near_words(state, ids, drawn)
    return float(same.mean()), float(near.mean())


def near_words(state: State, ids: Ids, outputs: Ids) -> NDArray[np.bool_]:
    """Tell whether each output is near its input in meaning.

    That is: in its group of the word tree, if there is one, or among its 24 nearest
    words by distance (1 % of the words, in a small space). The unknown word has no
    meaning to be near to.
    """
    space = state.space
    near = np.zeros(len(ids), dtype=bool)
    known = ids < space.vocab_size
    tree = state.tree or tree_of(space)
    if tree is not None and tree.levels > 1:
        group = tree.nodes[1]
        near[known] = group[ids[known]] == group[outputs[known]]
    asked = np.flatnonzero(known & ~near & (ids != outputs))
    near[asked] = _among_nearest(space, ids[asked], outputs[asked])
    return near


def _among_nearest(space: Space, ids: Ids, outputs: Ids) -> NDArray[np.bool_]:
    """Whether at most 23 other words are nearer to an input than its output."""
    allowed = min(_NEAREST, space.vocab_size // 100)
    found = np.empty(len(ids), dtype=bool)
    words = space.vectors.astype(np.float32)  # as good as ranks need, and quicker
    squares = np.einsum("ij,ij->i", words, words)
    for block in slices(len(ids), _BLOCK):
        table: NDArray[np.floating[Any]]
        if space.metric == "euclidean":
            table = words[ids[block]] @ words.T
            table *= -2
            table += squares
        else:
            table = distances(space.metric, space.points(ids[block]), space.vectors)
        own = np.arange(len(table))
        gaps = table[own, outputs[block]]
        table[own, ids[block]] = np.inf  # the word itself is not another
        found[block] = np.count_nonzero(table < gaps[:, None], axis=1) < allowed
    return found
