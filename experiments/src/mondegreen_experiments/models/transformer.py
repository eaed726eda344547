"""A transformer of a local folder, trained to tell the classes of texts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray

from mondegreen.arrays import Floats, slices
from mondegreen.errors import ConfigurationError
from mondegreen_experiments.models.training import (
    Training,
    repeatable,
    until_no_better,
)

_TRAINING: Final = Training(epochs=4, batch=16, rate=3e-5, patience=1, longest=128)

Texts = tuple[Sequence[str], NDArray[np.int64]]


def fit_transformer(
    folder: Path,
    train: Texts,
    valid: Texts,
    classes: int,
    seed: int,
    training: Training = _TRAINING,
) -> Callable[[Sequence[str]], Floats]:
    """Train all weights of a model, such as BERT; the result tells classes of texts.

    The folder holds what ``save_pretrained`` of the library transformers writes, model
    and tokenizer. Nothing is fetched. The epoch of the least loss on ``valid`` is kept.
    """
    with repeatable(seed) as device:
        model, tokens = _load(folder, classes)
        model.to(device)
        optimizer = torch.optim.AdamW(model.parameters(), lr=training.rate)

        def told(texts: Sequence[str]) -> torch.Tensor:
            given = tokens(
                list(texts),
                truncation=True,
                max_length=training.longest,
                padding=True,
                return_tensors="pt",
            ).to(device)
            scores: torch.Tensor = model(**given).logits
            return scores

        def epoch() -> None:
            model.train()
            texts, labels = train
            order = torch.randperm(len(texts)).tolist()
            for part in slices(len(texts), training.batch):
                rows = order[part]
                own = torch.from_numpy(labels[rows]).to(device)
                loss = torch.nn.functional.cross_entropy(
                    told([texts[i] for i in rows]), own
                )
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()

        def tell(texts: Sequence[str]) -> Floats:
            model.eval()
            with torch.no_grad():
                parts = [
                    torch.softmax(told(texts[part]).double(), dim=1).cpu().numpy()
                    for part in slices(len(texts), 4 * training.batch)
                ]
            found: Floats = np.concatenate(parts)
            return found

        def loss() -> float:
            texts, labels = valid
            own = tell(texts)[np.arange(len(texts)), labels]
            return float(-np.log(np.maximum(own, 1e-12)).mean())

        until_no_better(model, training, epoch, loss)
    return tell


def mean_pooled(folder: Path) -> Callable[[Sequence[str]], Floats]:
    """A sentence model: the mean of the last states of a transformer, as SBERT's.

    ``paraphrase-distilroberta-base-v1`` of Sentence-BERT is such a mean.
    """
    from transformers import AutoModel, AutoTokenizer

    try:
        model: Any = AutoModel.from_pretrained(
            folder, local_files_only=True, use_safetensors=True
        )
        tokens: Any = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    except (OSError, ValueError) as error:
        raise _refused("--sentence-model", folder, error) from None
    model.eval()

    def encode(texts: Sequence[str]) -> Floats:
        with torch.no_grad():
            parts = [
                _mean_state(model, tokens, texts[p]) for p in slices(len(texts), 64)
            ]
        found: Floats = np.concatenate(parts)
        return found

    return encode


def _mean_state(model: Any, tokens: Any, texts: Sequence[str]) -> Floats:
    given = tokens(
        list(texts),
        truncation=True,
        max_length=_TRAINING.longest,
        padding=True,
        return_tensors="pt",
    )
    states = model(**given).last_hidden_state.double()
    mask = given["attention_mask"].unsqueeze(-1).double()
    mean: Floats = ((states * mask).sum(1) / mask.sum(1).clamp(min=1)).numpy()
    return mean


def _refused(option: str, folder: Path, error: Exception) -> ConfigurationError:
    return ConfigurationError(
        f"{option} {folder}: it holds no model and tokenizer that transformers can "
        f"load ({type(error).__name__}); write them there with save_pretrained, as "
        "safetensors"
    )


def _load(folder: Path, classes: int) -> tuple[Any, Any]:
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    try:
        model = AutoModelForSequenceClassification.from_pretrained(
            folder,
            num_labels=classes,
            local_files_only=True,
            ignore_mismatched_sizes=True,
            use_safetensors=True,
        )
        return model, AutoTokenizer.from_pretrained(folder, local_files_only=True)
    except (OSError, ValueError) as error:
        raise _refused("--classifier", folder, error) from None
