"""Words that a scope prints alike: an attacker reads all their places together."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mondegreen.arrays import Floats, Ids, Weights
from mondegreen.mechanisms.symbols.response import ResponseState
from mondegreen.policy.lookup import PolicyLookup
from mondegreen.policy.policy import Policy
from mondegreen.policy.scope import make_scope
from mondegreen.settings import Same
from mondegreen.text.tokenizer import TokenizedBatch, canonical

_WORDS: Final = 2000
"""Words of a group that may be behind a printed one: the most frequent ones."""

_REPEATS: Final = 20
"""Words that must repeat before their replacements tell anything."""

WORST: Final = 0.05
"""What a context says against a word at most, as a share of how frequent it is."""

UNSEEN: Final = 0.5
"""How often a word is said to be in the known texts that is not there."""

_FLOOR: Final = 1e-4
"""Posterior of a word at a place where the reader did not try it."""


def draw_linked(
    policy: Policy,
    state: ResponseState,
    batch: TokenizedBatch,
    symbols: Ids,
    same: Same,
    rng: np.random.Generator,
) -> tuple[Ids, Weights]:
    """Draw a release under a scope: its symbols, and which places it prints alike.

    Parameters
    ----------
    policy, state : Policy, ResponseState
        The policy and the mechanism of the release.
    batch, symbols : TokenizedBatch, int array of shape (words,)
        The originals, and their symbols.
    same : {"record", "key"}
        The scope. A key is drawn from ``rng``.
    rng : numpy.random.Generator
        Source of the draws.

    Returns
    -------
    symbols, links : int arrays, shape (words,)
        The released symbols, and links as of :func:`link_places`.
    """
    scope = make_scope(same, policy, repeating=policy.alphabet.cells, key=rng.bytes(32))
    codes = scope.draw(batch, symbols, state.sample, rng)
    places = np.searchsorted(policy.first, codes % policy.output_count, side="right")
    released = (places - 1).astype(np.int32)
    return released, link_places(policy, batch, released, codes.tolist(), same)


def link_printed(
    lookup: PolicyLookup, batch: TokenizedBatch, released: Ids, same: Same
) -> Weights:
    """Link the places of a printed release that show the same word; see below."""
    printed = map(canonical, batch.words())
    return link_places(lookup.policy, batch, released, printed, same)


def find_scope(
    batch: TokenizedBatch, printed: TokenizedBatch, hidden: NDArray[np.bool_]
) -> Same:
    """Find out whether equal words of a release have equal replacements.

    A word that repeats is compared with the place where it was replaced before: in the
    same text, or in an earlier one. Where noise is drawn anew for each place, few of
    these replacements are equal: one of thirty or more words, or of some numbers.

    Parameters
    ----------
    batch, printed : TokenizedBatch
        Originals and releases, word by word.
    hidden : bool array, shape (words,)
        Which words the policy hides.

    Returns
    -------
    {"place", "record", "key"}
        ``place`` too if fewer than twenty words repeat.

    Examples
    --------
    >>> from mondegreen.text.tokenizer import tokenize
    >>> texts, every = tokenize(["Ann met Bob."] * 30), np.ones(90, dtype=np.bool_)
    >>> find_scope(texts, tokenize(["Eva saw Max."] * 30), every)
    'key'
    """
    equal: dict[Same, list[bool]] = {"key": [], "record": []}
    last: dict[str, tuple[int, str]] = {}
    texts = np.repeat(np.arange(len(batch.parts)), batch.counts()).tolist()
    words = zip(batch.words(), printed.words(), texts, hidden.tolist(), strict=True)
    for word, shown, text, is_hidden in words:
        folded, form = canonical(word), canonical(shown)
        if not is_hidden or folded == form:  # a law may keep a word
            continue
        before = last.get(folded)
        if before is not None:
            scope: Same = "record" if before[0] == text else "key"
            equal[scope].append(before[1] == form)
        last[folded] = text, form
    for scope, found in equal.items():
        if len(found) >= _REPEATS and sum(found) > len(found) / 2:
            return scope
    return "place"


def link_places(
    policy: Policy,
    batch: TokenizedBatch,
    released: Ids,
    outputs: Iterable[Hashable],
    same: Same,
) -> Weights:
    """Number places: those of one number hide the same word, if none strayed.

    Under ``record`` these are the hidden places of one text with one output, under
    ``key`` those of all texts. Ordinary words and cells of amounts are drawn at each
    place, so they are linked to no other one.
    """
    texts = np.repeat(np.arange(len(batch.parts)), batch.counts())
    is_linked = policy.alphabet.is_group(released)
    cells = policy.alphabet.cells
    is_linked &= (released < cells.start) | (released >= cells.stop)
    links = np.arange(len(released), dtype=np.int64)
    first: dict[Hashable, int] = {}
    for i, output in enumerate(outputs):
        if is_linked[i]:
            text = int(texts[i]) if same == "record" else 0
            links[i] = first.setdefault((text, int(released[i]), output), i)
    return links


def combine_places(ids: Ids, shares: Floats, links: Weights) -> Ids:
    r"""Guess one word for all linked places: the one with the largest product.

    .. math:: \arg\max_w \sum_{i} \ln \max(P(w \mid \text{text}, i), 10^{-4})

    Parameters
    ----------
    ids, shares : arrays, shape (words, candidates)
        The words that a reader tries at each place, and their posteriors.
    links : int array, shape (words,)
        Places of one number are linked; see :func:`link_places`.

    Returns
    -------
    int array, shape (words,)
    """
    gains = np.log(np.maximum(shares, _FLOOR) / _FLOOR)
    # A word may be a candidate twice at a place: its posterior is the sum.
    base = np.int64(ids.max(initial=0)) + 1
    keys = (links[:, None] * base + ids).ravel()
    distinct, inverse = np.unique(keys, return_inverse=True)
    scores = np.bincount(inverse.ravel(), gains.ravel())
    order = np.lexsort((-scores, distinct // base))
    owners = (distinct // base)[order]
    best = order[np.append(True, owners[1:] != owners[:-1])]
    guess = dict(
        zip(
            (distinct[best] // base).tolist(),
            (distinct[best] % base).tolist(),
            strict=True,
        )
    )
    return np.array([guess[link] for link in links.tolist()], dtype=np.int32)


def solve_cipher(
    ids: Ids,
    shares: Floats,
    links: Weights,
    symbols: Ids,
    known: Mapping[int, Mapping[int, int]],
    *,
    weight: float = 0.0,
) -> Ids:
    r"""Give each printed word one word, by how often it is printed and where.

    Under a key all places of a word are printed alike, as in a cipher that replaces
    words. A group has N linked places, :math:`n_o` of them with the output o. The
    attacker gives each output another word, so that the sum of

    .. math:: n_o \ln p_w + a \sum_{i \in o} \ln \max(P(w \mid i) / p_w, 1/20)

    is largest, where :math:`p_w` is the share of w among the words of this group in
    known texts. That is the likelihood of Poisson counts, and of contexts with the
    weight a. An output may also hide a word of its own that no known text has.

    Parameters
    ----------
    ids, shares : arrays, shape (words, candidates)
        The words that a reader tries at each place, and their posteriors.
    links : int array, shape (words,)
        Places of one number are linked; see :func:`link_places`.
    symbols : int array, shape (words,)
        The released symbols.
    known : mapping of int to mapping of int to int
        How often each word of each group is in the known texts.
    weight : float
        What contexts weigh beside counts.

    Returns
    -------
    int array, shape (words,)
        The guess of :func:`combine_places` at outputs that are left without a word.
    """
    found = combine_places(ids, shares, links)
    for symbol, counts in known.items():
        (places,) = np.nonzero(symbols == symbol)
        if not len(places):
            continue
        words = np.array(sorted(counts, key=lambda w: (-counts[w], w))[:_WORDS])
        prior = np.array([counts[word] for word in words.tolist()], dtype=np.float64)
        total = sum(counts.values())
        prior /= total
        _, rows, sizes = np.unique(
            links[places], return_inverse=True, return_counts=True
        )
        gains = sizes[:, None] * (np.log(prior) + weight * np.log(WORST))
        order = np.argsort(words)
        for row, place in zip(rows.tolist(), places.tolist(), strict=True):
            at = np.searchsorted(words[order], ids[place])
            at = order[at.clip(max=len(words) - 1)]
            is_known = words[at] == ids[place]
            chances = np.zeros(len(words))
            np.add.at(chances, at[is_known], shares[place][is_known])
            gains[row] += weight * np.log(np.maximum(chances / prior / WORST, 1.0))
        columns = assign_words(gains, sizes * np.log(UNSEEN / total))[rows]
        is_told = columns >= 0
        found[places[is_told]] = words[columns[is_told]]
    return found


def assign_words(gains: Floats, unseen: Floats) -> Weights:
    """Give each output another word, so that the sum of gains is largest.

    Parameters
    ----------
    gains : array, shape (outputs, words)
        What it gains that a word is behind an output, such as a log-likelihood.
    unseen : array, shape (outputs,)
        The same for a word of its own, which no known text has.

    Returns
    -------
    int array, shape (outputs,)
        The number of a word, or -1 for one that no known text has.

    Examples
    --------
    >>> assign_words(np.array([[3.0, 2.0], [3.0, 0.0], [1.0, 0.0]]), np.zeros(3))
    array([ 1,  0, -1])
    """
    from scipy.optimize import linear_sum_assignment

    outputs, words = gains.shape
    others = np.repeat(unseen[:, None], outputs, axis=1)
    _, columns = linear_sum_assignment(-np.concatenate([gains, others], axis=1))
    return np.where(columns < words, columns, -1)
