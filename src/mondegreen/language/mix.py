r"""Two language models in one: linear interpolation, its weight found on other text.

.. math::

    p(w \mid u, v) = \lambda \, p_A(w \mid u, v) + (1 - \lambda) \, p_B(w \mid u, v)

The weight :math:`\lambda` is the one under which held-back text is most likely, by the
EM algorithm. The mixture is written as one model (the *static* mixing of SRILM): it
keeps the n-grams that either has, with these probabilities, and :math:`\gamma` spreads
what is left as single words or pairs of the mixture are spread.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple, final

import numpy as np

from mondegreen.arrays import Floats, Ids, Weights
from mondegreen.errors import LanguageError
from mondegreen.language.backoff import Tables
from mondegreen.language.ngrams import NGrams

_ROUNDS: Final = 100
_STEP: Final = 1e-6
_LEFT: Final = 1e-9  # of a rounded distribution at least so much is left


@final
class Mixture(NamedTuple):
    """A mixed model, and what it gained on the held-back text."""

    model: NGrams
    weight: float  # of the first model; the other has the rest
    perplexities: tuple[float, float, float]  # of the first, the second, and both


def mix(first: NGrams, second: NGrams, ids: Ids, ends: Sequence[bool]) -> Mixture:
    """Mix two models of one vocabulary by the weight that suits held-back text best.

    Parameters
    ----------
    first, second : NGrams
        Models over the words of one space.
    ids, ends
        Held-back words, and whether a sentence ends behind each. PUBLIC text too: the
        weight tells about it.

    Returns
    -------
    Mixture

    Raises
    ------
    LanguageError
        Where the models are over different words, or there is no held-back text.
    """
    if first.about.vocabulary != second.about.vocabulary:
        raise LanguageError("the two language models have the words of two spaces")
    if not len(ids):
        raise LanguageError("the held-back text has no words")
    both = [np.exp(model.chain_log_probs(ids, ends)) for model in (first, second)]
    weight = best_weight(*both)
    about = replace(
        first.about,
        words=first.about.words + second.about.words,
        sentences=first.about.sentences + second.about.sentences,
        least=min(first.about.least, second.about.least),
        sources=_join(first.about.sources, second.about.sources),
        licences=_join(first.about.licences, second.about.licences),
        mixed=(
            f"{weight:.3f} of {first.digest}",
            f"{1 - weight:.3f} of {second.digest}",
        ),
    )
    made = NGrams.from_tables(mix_tables(first, second, weight), about)
    found = tuple(model.perplexity(ids, ends) for model in (first, second, made))
    return Mixture(made, weight, found)  # type: ignore[arg-type]


def best_weight(first: Floats, second: Floats) -> float:
    """The weight of the first that makes events most likely, by EM.

    >>> round(best_weight(np.array([0.9, 0.9, 0.1]), np.array([0.1, 0.1, 0.9])), 3)
    0.708
    """
    weight = 0.5
    for _ in range(_ROUNDS):
        mine = weight * first
        found = float(np.mean(mine / (mine + (1 - weight) * second)))
        if abs(found - weight) < _STEP:
            break
        weight = found
    return found


def mix_tables(first: Tables, second: Tables, weight: float) -> Tables:
    """Mix all n-grams of two models, and make every distribution sum to 1."""
    return Mixer(first, second).mix_tables(weight)


@final
class Mixer:
    """Two models whose n-grams were looked up once, to be mixed by several weights."""

    def __init__(self, first: Tables, second: Tables) -> None:
        self._both = both = (first, second)
        size = first.vocab_size + 2
        self._pairs = keys = _union([_pair_keys(model, size) for model in both])
        self._owner, self._word = owner, word = keys // size, keys % size
        self._pair = (
            [np.exp(model.pair_log_prob(owner, word)) for model in both],
            [np.exp(model.unigram_log[word].astype(float)) for model in both],
            [np.exp(model.unigram_backoff.astype(float)) for model in both],
        )
        self._triples = triples = _union([_triple_keys(model, size) for model in both])
        u, v, w = triples // (size * size), triples // size % size, triples % size
        self._context = np.searchsorted(keys, triples // size)
        self._shorter = np.searchsorted(keys, triples % (size * size))
        self._triple = (
            [np.exp(model.log_prob(u, v, w)) for model in both],
            [np.exp(model.pair_log_prob(v, w)) for model in both],
            [np.exp(model.log_backoff(owner, word)) for model in both],
        )

    def mix_tables(self, weight: float) -> Tables:
        """Mix all n-grams, the first model by this weight, the second by the rest."""
        shares, both = (weight, 1 - weight), self._both
        frequency: Any = sum(
            share * model.frequency.astype(float)
            for share, model in zip(shares, both, strict=True)
        )
        unigram: Any = sum(
            share * np.exp(model.unigram_log.astype(float))
            for share, model in zip(shares, both, strict=True)
        )
        unigram = unigram / unigram.sum()
        owner, size = self._owner, both[0].vocab_size + 2
        pair, gamma = _level(shares, owner, size, *self._pair, unigram[self._word])
        triple, pair_gamma = _level(
            shares, self._context, len(pair), *self._triple, pair[self._shorter]
        )
        return Tables.of_keys(
            frequency / frequency.sum(),
            (unigram, gamma),
            (self._pairs, pair, pair_gamma),
            (self._triples, triple),
        )


def _level(
    shares: tuple[float, float],
    owner: Weights,
    contexts: int,
    scores: Sequence[Floats],
    lower: Sequence[Floats],
    gammas: Sequence[Floats],
    mixed_lower: Floats,
) -> tuple[Floats, Floats]:
    """Mix the n-grams of one length; returns them, and gamma of each context.

    The models are rounded, so their distributions sum to 1 but nearly; what is left is
    therefore computed from their own gamma, and all of it is divided by its sum. An
    n-gram that would lie below its back-off is lifted to it: gamma is smaller then.
    """

    def sum_up(values: Floats) -> Floats:
        return np.asarray(np.bincount(owner, values, minlength=contexts), float)

    # For each context (owner): p of the kept n-grams, and the mass `left` for all
    # others, which each model spreads as gamma times the lower order.
    kept: Any = sum(s * score for s, score in zip(shares, scores, strict=True))
    left: Any = sum(
        share * gamma * np.maximum(1 - sum_up(below), _LEFT)
        for share, gamma, below in zip(shares, gammas, lower, strict=True)
    )
    total = sum_up(kept) + left
    kept, left = kept / total[owner], left / total
    # gamma (1 - sum q) = left. Where p < gamma q an n-gram counts as gamma q, so that
    # gamma (1 - sum q + sum of lifted q) = left + sum of lifted p.
    spread = np.maximum(1 - sum_up(mixed_lower), _LEFT)
    gamma, lifted = left / spread, np.zeros(len(kept), np.bool_)
    while True:  # Newton's method on a convex sum of lines, so it ends
        below = kept < gamma[owner] * mixed_lower
        if (below == lifted).all():
            return np.maximum(kept, gamma[owner] * mixed_lower), gamma
        lifted = below
        gamma = left + sum_up(kept * lifted)
        gamma /= spread + sum_up(mixed_lower * lifted)


def _pair_keys(model: Tables, size: int) -> Weights:
    first = np.repeat(np.arange(size), np.diff(model.pair_starts))
    return first * size + model.pair_words


def _triple_keys(model: Tables, size: int) -> Weights:
    pairs = np.repeat(_pair_keys(model, size), np.diff(model.triple_starts))
    return pairs * size + model.triple_words


def _union(keys: Sequence[Weights]) -> Weights:
    """The distinct ones of some arrays that are in order: quicker than union1d."""
    every = np.sort(np.concatenate(keys), kind="stable")
    return np.asarray(every[np.diff(every, prepend=-1) != 0])


def _join(one: Sequence[str], other: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys([*one, *other]))
