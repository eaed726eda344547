"""How a model is trained: batches, early stopping, and the same result for a seed."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, final

import numpy as np
import torch
from torch import nn

from mondegreen.arrays import Floats, Ids, Vectors, slices
from mondegreen_experiments.bench import Labelled

PAD: Final = 0
"""The symbol behind the end of a short text; words are numbered from 1."""


@final
@dataclass(frozen=True, slots=True)
class Training:
    """Settings of Adam with early stopping on the loss of held-back texts."""

    epochs: int = 30
    batch: int = 64
    rate: float = 1e-3
    patience: int = 2
    longest: int = 200  # words of a text that are read


@contextlib.contextmanager
def repeatable(seed: int) -> Iterator[torch.device]:
    """Give what is drawn and computed inside the same value for a seed.

    On a CPU it is bit for bit the same; a GPU is used where there is one.
    """
    was = torch.are_deterministic_algorithms_enabled()
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        torch.use_deterministic_algorithms(True, warn_only=True)
        try:
            yield torch.device("cuda" if torch.cuda.is_available() else "cpu")
        finally:
            torch.use_deterministic_algorithms(was)


def padded(texts: Sequence[Ids], longest: int, device: torch.device) -> torch.Tensor:
    """Texts of ids, counted from 1, as rows of one length; at least one column."""
    width = max(1, min(longest, max(map(len, texts), default=1)))
    rows = np.full((len(texts), width), PAD, dtype=np.int64)
    for row, text in zip(rows, texts, strict=True):
        row[: min(len(text), width)] = text[:width] + 1
    return torch.from_numpy(rows).to(device)


def embedding(vectors: Vectors, *, is_frozen: bool) -> nn.Embedding:
    """A layer that looks up the vectors of words, numbered from 1 as in texts."""
    table = torch.zeros(len(vectors) + 1, vectors.shape[1])
    table[1:] = torch.from_numpy(vectors.astype("float32"))
    return nn.Embedding.from_pretrained(table, freeze=is_frozen, padding_idx=PAD)


def train(
    model: nn.Module,
    train: Labelled,
    valid: Labelled | None,
    training: Training,
    device: torch.device,
) -> nn.Module:
    """Train until the loss of ``valid`` has not fallen for ``patience`` epochs.

    Returns the model as it was at the lowest loss; without ``valid``, after the last
    epoch. Call within :func:`repeatable`.
    """
    model.to(device)
    optimizers = _optimizers(model, training.rate)
    return until_no_better(
        model,
        training,
        lambda: _epoch(model, optimizers, train, training, device),
        None if valid is None else lambda: _loss(model, valid, training, device),
    )


def _optimizers(model: nn.Module, rate: float) -> list[torch.optim.Optimizer]:
    """Adam; for vectors with sparse gradients its lazy form, which needs these."""
    sparse = {
        id(each.weight)
        for each in model.modules()
        if isinstance(each, nn.Embedding) and each.sparse
    }
    few = [p for p in model.parameters() if id(p) not in sparse]
    many = [p for p in model.parameters() if id(p) in sparse]
    found: list[torch.optim.Optimizer] = [torch.optim.Adam(few, lr=rate)]
    if many:
        found.append(torch.optim.SparseAdam(many, lr=rate))
    return found


def until_no_better(
    model: nn.Module,
    training: Training,
    epoch: Callable[[], None],
    loss: Callable[[], float] | None,
) -> nn.Module:
    """Run epochs until the loss has not fallen for ``patience`` of them.

    Returns the model as it was at the lowest loss; without one, after the last epoch.
    """
    best, kept, waited = float("inf"), model.state_dict(), 0
    for _ in range(training.epochs):
        epoch()
        if loss is None:
            continue
        now = loss()
        if now < best:
            best, kept, waited = now, copy.deepcopy(model.state_dict()), 0
        else:
            waited += 1
            if waited >= training.patience:
                break
    model.load_state_dict(kept)
    return model


def _epoch(
    model: nn.Module,
    optimizers: Sequence[torch.optim.Optimizer],
    train: Labelled,
    training: Training,
    device: torch.device,
) -> None:
    model.train()
    loss_of = nn.CrossEntropyLoss()
    order = torch.randperm(len(train)).numpy()
    for part in slices(len(train), training.batch):
        rows = order[part]
        said = model(_batch(train, rows, training, device))
        loss = loss_of(said, torch.from_numpy(train.labels[rows]).to(device))
        for each in optimizers:
            each.zero_grad()
        loss.backward()
        for each in optimizers:
            each.step()


def probabilities(
    model: nn.Module, texts: Labelled, training: Training, device: torch.device
) -> Floats:
    """What a model says of each text, (texts, classes)."""
    model.eval()
    found = []
    with torch.no_grad():
        for part in slices(len(texts), 4 * training.batch):
            said = model(_batch(texts, np.arange(len(texts))[part], training, device))
            found.append(torch.softmax(said.double(), dim=1).cpu().numpy())
    return np.concatenate(found)


def _loss(model: nn.Module, texts: Labelled, training: Training, device: Any) -> float:
    own = probabilities(model, texts, training, device)
    own = own[np.arange(len(texts)), texts.labels]
    return float(-np.log(np.maximum(own, 1e-12)).mean())


def _batch(
    texts: Labelled, rows: Any, training: Training, device: torch.device
) -> torch.Tensor:
    return padded([texts.words[i] for i in rows], training.longest, device)
