"""A language model that tells the next word, as small as it remembers its texts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import final

import numpy as np
import torch
from torch import nn

from mondegreen.arrays import Ids, slices
from mondegreen_experiments.models.training import PAD, Training, padded, repeatable


@final
class NextWord(nn.Module):
    """An LSTM over word vectors that are learned; scores of all words at each place."""

    def __init__(self, size: int, dim: int = 64) -> None:
        super().__init__()
        self.vectors = nn.Embedding(size + 1, dim, padding_idx=PAD)
        self.lstm = nn.LSTM(dim, dim, batch_first=True)
        self.out = nn.Linear(dim, size + 1)

    def forward(self, words: torch.Tensor) -> torch.Tensor:
        states, _ = self.lstm(self.vectors(words))
        scores: torch.Tensor = self.out(states)
        return scores


def next_word_ranks(
    texts: Sequence[Ids], size: int, seed: int, training: Training, dim: int = 64
) -> Callable[[Sequence[Ids]], list[Ids]]:
    """Train on texts of words below ``size``; the result tells ranks of true words.

    It gives, for each text that is asked, the rank of each word but the first among all
    words by their scores behind the words before it: 0 is the most likely. All epochs
    are trained. The same seed gives the same model.
    """
    with repeatable(seed) as device:
        model = NextWord(size, dim).to(device)
        optimizer = torch.optim.Adam(model.parameters(), lr=training.rate)
        loss_of = nn.CrossEntropyLoss(ignore_index=PAD)
        for _ in range(training.epochs):
            order = torch.randperm(len(texts)).tolist()
            for part in slices(len(texts), training.batch):
                some = [texts[i] for i in order[part]]
                rows = padded(some, training.longest, device)
                scores = model(rows[:, :-1])
                loss = loss_of(scores.flatten(0, 1), rows[:, 1:].flatten())
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
        model.eval()

    def ranks(asked: Sequence[Ids]) -> list[Ids]:
        return [_ranks(model, text, training.longest, device) for text in asked]

    return ranks


def _ranks(model: NextWord, text: Ids, longest: int, device: torch.device) -> Ids:
    row = padded([text], longest, device)
    with torch.no_grad():
        scores = model(row[:, :-1])[0]
    own = scores.gather(1, row[0, 1:, None])
    ranks: Ids = (scores[:, 1:] > own).sum(dim=1).cpu().numpy().astype(np.int32)
    return ranks
