"""Sensitive words that an attacker recovers, over the words of a corpus alone.

The package attacks over all words of a space, which takes a minute for each law. In a
comparison of many laws the attacker tries the words of its corpus, and the released
word itself: the words that the attacker of a policy tries too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, final

import numpy as np

from mondegreen.arrays import Floats, Ids, slices
from mondegreen.attacks.attack import Attack
from mondegreen.attacks.pairs import Pairs, build_pairs
from mondegreen.attacks.reader import SentenceReader, TableReader
from mondegreen.attacks.sensitive import (
    Guesses,
    InDomainReader,
    guess_hidden_words,
    guess_words_of_space,
    in_domain_language,
    sensitive_words,
)
from mondegreen.errors import LawUnknownError
from mondegreen.language.build import read_words
from mondegreen.mechanisms.base import State
from mondegreen.mechanisms.channel import Channel, rank
from mondegreen.mechanisms.symbols.response import ResponseState
from mondegreen.privatizer.privatizer import Privatizer
from mondegreen.text.lookup import Lookup
from mondegreen.text.tokenizer import TokenizedBatch, tokenize

_CANDIDATES: Final = 24
_ROWS: Final = 256
_DRAWS: Final = 1 << 15
_LEAST: Final = 4


@final
@dataclass(frozen=True, slots=True)
class Read:
    """What an attacker has of a release.

    ``sensitive`` is the attack on sensitive words; ``every_word`` the share of all
    words that are recovered, and ``unchanged`` the share that came out as they were.
    """

    sensitive: Attack
    every_word: float
    unchanged: float


def attack_release(
    made: Privatizer, texts: Sequence[str], corpus: Sequence[str], seed: int
) -> Read:
    """Draw a release of texts, and measure which of their words are recovered.

    Parameters
    ----------
    made : Privatizer
        Its law is known to the attacker.
    texts, corpus : sequence of str
        Texts that are attacked, and other texts of the same domain, which the attacker
        has.
    seed : int
        Of the release.
    """
    rng = np.random.default_rng([seed, 1])
    if made.policy is not None and isinstance(made.state, ResponseState):
        reader = InDomainReader(made.policy, corpus, made.state.response)
        pairs = build_pairs(texts, reader.lookup).sample(made.state, rng)
        batch = reader.lookup.cut(texts)  # a time is one word of a policy
        hidden = made.policy.alphabet.is_group(pairs.inputs)
        stays = (pairs.outputs == pairs.inputs) & ~hidden
        return _read(batch, guess_hidden_words(reader, batch, pairs.outputs), stays)
    state, space = made.state, made.space
    pairs = build_pairs(texts, Lookup(space)).sample(state, rng)
    language = in_domain_language(corpus, space)
    ids, _ = read_words([corpus], space)
    channel = channel_of(state, pairs, np.unique(ids), language.frequencies())
    guesses = guess_words_of_space(
        SentenceReader(channel, language),
        TableReader(channel.candidates[channel.observation, 0]),
        pairs,
        space.vocab_size,
        len(ids),
    )
    return _read(tokenize(list(texts)), guesses, pairs.outputs == pairs.inputs)


def _read(batch: TokenizedBatch, guesses: Guesses, stays: Any) -> Read:
    """A released group shows another of its words, but for chance."""
    every = float(guesses.hits.mean()) if len(guesses.hits) else 0.0
    share = float(stays.mean()) if len(stays) else 0.0
    return Read(sensitive_words(batch, guesses), every, share)


def channel_of(state: State, pairs: Pairs, known: Ids, prior: Floats) -> Channel:
    """The likely inputs, among known words, of each output that was released.

    Exact where the law is closed, else estimated from draws of these words. Outputs
    that were not released share the first row, which nobody asks for.
    """
    observed = np.unique(pairs.outputs)
    words = np.union1d(known, observed).astype(np.int32)
    observation = np.zeros(state.space.vocab_size, dtype=np.int32)
    observation[observed] = np.arange(len(observed))
    try:
        law, how = _exact(state, words, observed), "exact, over the words of a corpus"
    except LawUnknownError:
        law, how = _from_draws(state, words, observed, prior), "estimated from draws"
    count = min(_CANDIDATES, len(words))
    joint = law * prior[words]
    best = np.argpartition(-joint, count - 1, axis=1)[:, :count]
    kept = np.take_along_axis(law, best, axis=1)
    return rank(observation, words[best], kept, prior, count, how)


def _exact(state: State, words: Ids, observed: Ids) -> Floats:
    """Probabilities, (observed outputs, words)."""
    parts = [
        np.exp(state.log_prob(words[part])[:, observed]).T
        for part in slices(len(words), _ROWS)
    ]
    return np.concatenate(parts, axis=1)


def _from_draws(state: State, words: Ids, observed: Ids, prior: Floats) -> Floats:
    """Shares of draws; a word that never came out as itself may have, once."""
    share = prior[words] / prior[words].sum()
    repeats = np.maximum(np.rint(share * _DRAWS), _LEAST).astype(np.int64)
    owners = np.repeat(np.arange(len(words)), repeats)
    rng = np.random.default_rng(_DRAWS)
    outputs = state.sample(words[owners], rng)
    place = np.searchsorted(observed, outputs).clip(max=len(observed) - 1)
    seen = observed[place] == outputs
    counts = np.zeros((len(observed), len(words)))
    np.add.at(counts, (place[seen], owners[seen]), 1)
    own = np.searchsorted(words, observed)  # each observed word is among the words
    rows = np.arange(len(observed))
    counts[rows, own] = np.maximum(counts[rows, own], 1)
    law: Floats = counts / repeats
    return law
