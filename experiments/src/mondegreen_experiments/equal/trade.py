"""What releases leave of use, beside what adversaries recover of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from mondegreen.attacks.adversary import ALONE
from mondegreen.attacks.reader import Reader
from mondegreen.scores.corpus import cosines
from mondegreen_experiments.bench import Labelled
from mondegreen_experiments.equal.kinds import Kind, ends_of
from mondegreen_experiments.equal.protected import (
    READER,
    SINGLE,
    readers_at,
    recovered,
    worst_loss,
)
from mondegreen_experiments.models.linear import fitted_linear
from mondegreen_experiments.recipe import Found
from mondegreen_experiments.releases import released


def trade_of(
    kind: Kind,
    law: str,
    epsilon: float,
    parts: Sequence[Labelled],
    rng: np.random.Generator,
    seed: int,
) -> Found:
    """Release train, valid and test texts; tell what is left, and what is recovered.

    ``accuracy`` of a classifier that is trained on releases and asked with another;
    ``accuracy_read`` after each released word was replaced by its most likely input,
    for training and for test. ``cosine``: of a text and its release, each the mean of
    its vectors. ``single`` and ``reader``: the share of the words that adversaries
    recover, by chance ``by_chance``; their release is drawn with ``seed``, all others
    with ``rng``. ``nats``: the largest loss between any two words.
    """
    state, readers = readers_at(kind, law, epsilon)
    noisy = [released(texts, state, rng) for texts in parts]
    read = [read_word_by_word(texts, readers) for texts in noisy]
    share, test = recovered(kind, law, epsilon, parts[2], seed), parts[2]
    nats, how = worst_loss(state)
    return {
        "epsilon": epsilon,
        "accuracy": accuracy_of(noisy, kind.space.vocab_size),
        "accuracy_read": accuracy_of(read, kind.space.vocab_size),
        "cosine": text_cosine(kind, test, noisy[2]),
        "unchanged": float((noisy[2].flat == test.flat).mean()),
        "single": share[SINGLE],
        "reader": share[READER],
        "by_chance": share["by chance"],
        "nats_are": how,
        **({"nats": nats} if math.isfinite(nats) else {}),
    }


def accuracy_of(parts: Sequence[Labelled], size: int) -> float:
    """The share of the last texts that is told right: train, valid and test texts."""
    train, valid, test = parts
    told = fitted_linear(train, valid, size)(test)
    return float((told.argmax(axis=1) == test.labels).mean())


def read_word_by_word(texts: Labelled, readers: Mapping[str, Reader]) -> Labelled:
    """Put the most likely input in place of each released word: costs no privacy."""
    return texts.with_words(readers[ALONE].guesses(texts.flat, ends_of(texts)))


def text_cosine(kind: Kind, clear: Labelled, other: Labelled) -> float:
    """The mean cosine of texts and others, each the mean of its vectors.

    From the mean of public text, which all texts share.
    """
    vectors = kind.space.vectors.astype(np.float64)
    vectors -= kind.language.frequencies()[:-1] @ vectors
    left, right = (
        np.array([vectors[words].mean(axis=0) for words in texts.words])
        for texts in (clear, other)
    )
    return float(np.nanmean(cosines(left, right)))
