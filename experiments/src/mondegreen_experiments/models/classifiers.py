"""Classifiers of texts: a bag of n-grams, and recurrent networks."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias, final

import numpy as np
import torch
from torch import nn

from mondegreen.arrays import Floats, Vectors
from mondegreen_experiments.bench import Labelled
from mondegreen_experiments.models.training import (
    PAD,
    Training,
    embedding,
    probabilities,
    repeatable,
    train,
)

Build: TypeAlias = Callable[[int], nn.Module]
"""Makes a model for a number of classes."""


@final
class BagOfNgrams(nn.Module):
    """The mean of vectors of words and of pairs of words (fastText, Joulin 2017).

    Pairs are hashed into ``buckets``. ``sparse`` gradients touch the vectors of a batch
    alone.
    """

    def __init__(
        self,
        size: int,
        classes: int,
        dim: int = 64,
        buckets: int = 1 << 16,
        sparse: bool = False,
    ) -> None:
        super().__init__()
        self.size, self.buckets = size, buckets
        self.vectors = nn.Embedding(
            size + 1 + buckets, dim, padding_idx=PAD, sparse=sparse
        )
        self.out = nn.Linear(dim, classes)

    def forward(self, words: torch.Tensor) -> torch.Tensor:
        first, second = words[:, :-1], words[:, 1:]
        pairs = (first * 1_000_003 + second) % self.buckets + self.size + 1
        pairs = torch.where((first == PAD) | (second == PAD), PAD, pairs)
        both = torch.cat([words, pairs], dim=1)
        counts = (both != PAD).sum(dim=1, keepdim=True).clamp(min=1)
        mean: torch.Tensor = self.vectors(both).sum(dim=1) / counts
        return self.out(mean)


@final
class Recurrent(nn.Module):
    """An LSTM over word vectors, in one direction or in both.

    The last state of each direction, behind the end of the text itself, goes through
    dropout to the classes.
    """

    def __init__(
        self,
        vectors: Vectors,
        classes: int,
        hidden: int = 64,
        dropout: float = 0.2,
        both_ways: bool = False,
        is_frozen: bool = False,
    ) -> None:
        super().__init__()
        self.vectors = embedding(vectors, is_frozen=is_frozen)
        self.lstm = nn.LSTM(
            vectors.shape[1], hidden, batch_first=True, bidirectional=both_ways
        )
        self.dropout = nn.Dropout(dropout)
        self.out = nn.Linear(hidden * (1 + both_ways), classes)

    def forward(self, words: torch.Tensor) -> torch.Tensor:
        lengths = (words != PAD).sum(dim=1).clamp(min=1).cpu()
        packed = nn.utils.rnn.pack_padded_sequence(
            self.vectors(words), lengths, batch_first=True, enforce_sorted=False
        )
        _, (last, _) = self.lstm(packed)
        return self.out(self.dropout(torch.cat(list(last), dim=1)))


def fitted(
    build: Build,
    known: Labelled,
    valid: Labelled | None,
    seed: int,
    training: Training,
) -> Callable[[Labelled], Floats]:
    """Train a model; the result tells the classes of texts, (texts, classes).

    The same seed gives the same model, bit for bit on one machine's CPU.
    """
    seen = [known.labels] if valid is None else [known.labels, valid.labels]
    classes = int(np.concatenate(seen).max()) + 1
    with repeatable(seed) as device:
        model = train(build(classes), known, valid, training, device)

    def tell(texts: Labelled) -> Floats:
        return probabilities(model, texts, training, device)

    return tell


def accuracy(told: Floats, texts: Labelled) -> float:
    """The share of texts whose most likely class is the true one."""
    return float((told.argmax(axis=1) == texts.labels).mean())
