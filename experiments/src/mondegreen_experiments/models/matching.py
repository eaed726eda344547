"""Answers ranked for questions: one encoder, and cosines (Feng et al. 2015)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final, final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from mondegreen.arrays import Floats, Vectors, slices
from mondegreen.attacks.learnt.authorship import counts
from mondegreen_experiments.bench import Labelled
from mondegreen_experiments.models.ranks import average_precision
from mondegreen_experiments.models.training import (
    Training,
    embedding,
    padded,
    repeatable,
    until_no_better,
)

_MARGIN: Final = 0.2
_WIDTH: Final = 2  # words that a filter sees


@final
@dataclass(frozen=True, slots=True)
class Asked:
    """Questions, answers, and the rows of the answers that each question ranks.

    An answer is right where its label is that of the question.
    """

    questions: Labelled
    answers: Labelled
    lists: NDArray[np.intp]  # (questions, candidates)

    @classmethod
    def drawn(
        cls,
        questions: Labelled,
        answers: Labelled,
        right: int,
        wrong: int,
        rng: np.random.Generator,
    ) -> Asked:
        """Draw right and wrong answers for each question.

        Questions with fewer right answers are left out.
        """
        fits = questions.labels[:, None] == answers.labels
        enough = fits.sum(axis=1) >= right
        rows = [
            np.concatenate(
                [
                    rng.choice(np.flatnonzero(which), count, replace=False)
                    for which, count in ((row, right), (~row, wrong))
                ]
            )
            for row in fits[enough]
        ]
        return cls(questions.at(np.flatnonzero(enough)), answers, np.array(rows))

    @property
    def is_right(self) -> NDArray[np.bool_]:
        """Which candidates are right, in the form of ``lists``."""
        found: NDArray[np.bool_] = (
            self.answers.labels[self.lists] == self.questions.labels[:, None]
        )
        return found

    def asking(self, questions: Labelled) -> Asked:
        """The same lists for questions in other words, such as those of a release."""
        return replace(self, questions=questions)


@final
class Encoder(nn.Module):
    """A convolution over word vectors, its largest values over a text, of length 1."""

    def __init__(self, vectors: Vectors, filters: int = 64) -> None:
        super().__init__()
        self.vectors = embedding(vectors, is_frozen=True)
        # So much padding that every text has a place without words: what is largest
        # must not depend on the longest text beside it.
        self.filters = nn.Conv1d(vectors.shape[1], filters, _WIDTH, padding=_WIDTH)

    def forward(self, words: torch.Tensor) -> torch.Tensor:
        values = torch.tanh(self.filters(self.vectors(words).transpose(1, 2)))
        return nn.functional.normalize(values.amax(dim=2), dim=1)


def matched(
    vectors: Vectors,
    known: Asked,
    valid: Asked,
    seed: int,
    training: Training,
    filters: int = 64,
) -> Callable[[Asked], Floats]:
    """Train an encoder; the result scores the candidates of questions, as ``lists``.

    The loss is a hinge: the cosine with a right answer is to be larger, by 0.2, than
    that with any wrong one of the batch. Training stops when the average precision on
    ``valid`` no longer rises. The same seed gives the same model.
    """
    with repeatable(seed) as device:
        model = Encoder(vectors, filters).to(device)
        trained = [each for each in model.parameters() if each.requires_grad]
        optimizer = torch.optim.Adam(trained, lr=training.rate)
        until_no_better(
            model,
            training,
            lambda: _epoch(model, optimizer, known, training, device),
            lambda: (
                -average_precision(
                    _cosines(model, valid, training, device), valid.is_right
                )
            ),
        )
    return lambda asked: _cosines(model, asked, training, device)


def _epoch(
    model: Encoder,
    optimizer: torch.optim.Optimizer,
    known: Asked,
    training: Training,
    device: torch.device,
) -> None:
    model.train()
    order = torch.randperm(len(known.questions)).numpy()
    is_right = known.is_right
    for part in slices(len(order), training.batch):
        rows = order[part]
        # One right answer of each question, another one every time.
        chance = torch.rand(is_right[rows].shape).numpy() * is_right[rows]
        answers = known.lists[rows, chance.argmax(axis=1)]
        cosines = _encoded(model, known.questions.at(rows), training, device) @ (
            _encoded(model, known.answers.at(answers), training, device).T
        )
        labels = torch.from_numpy(known.questions.labels[rows]).to(device)
        wrong = cosines.masked_fill(labels[:, None] == labels, -1.0).amax(dim=1)
        loss = torch.relu(_MARGIN - cosines.diagonal() + wrong).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def _encoded(
    model: Encoder, texts: Labelled, training: Training, device: torch.device
) -> torch.Tensor:
    found: torch.Tensor = model(padded(texts.words, training.longest, device))
    return found


def _cosines(
    model: Encoder, asked: Asked, training: Training, device: torch.device
) -> Floats:
    model.eval()
    with torch.no_grad():
        questions, answers = (
            torch.cat(
                [
                    _encoded(model, texts.at(part), training, device)
                    for part in slices(len(texts), 4 * training.batch)
                ]
            )
            for texts in (asked.questions, asked.answers)
        )
        lists = torch.from_numpy(asked.lists).to(device)
        found = torch.einsum("qf,qcf->qc", questions, answers[lists])
    cosines: Floats = found.double().cpu().numpy()
    return cosines


def tf_idf(asked: Asked, size: int, rng: np.random.Generator) -> Floats:
    """Score candidates by the cosine of TF-IDF, whose counts are of the answers.

    Equal scores, as of all that share no word with a question, are in random order.
    """
    from sklearn.feature_extraction.text import TfidfTransformer

    model = TfidfTransformer(sublinear_tf=True).fit(counts(asked.answers.words, size))
    questions, answers = (
        model.transform(counts(texts.words, size))
        for texts in (asked.questions, asked.answers)
    )
    cosines = np.asarray((questions @ answers.T).todense())
    found: Floats = np.take_along_axis(cosines, asked.lists, axis=1)
    return found + 1e-9 * rng.random(found.shape)
