"""Classifiers that learn from texts as they are written."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from mondegreen.arrays import Floats, Ids
from mondegreen.errors import ConfigurationError, InvalidParameterError
from mondegreen.space.store import load_space
from mondegreen.text.lookup import Lookup
from mondegreen.text.tokenizer import canonical, tokenize
from mondegreen_experiments.bench import Labelled

TF_IDF: Final = "tf-idf"
LSTM: Final = "lstm"
_LONGEST: Final = 200


@final
@dataclass(frozen=True, eq=False)
class Written:
    """Texts with the numbers of their labels."""

    texts: Sequence[str]
    labels: NDArray[np.int64]


Tell = Callable[[Sequence[str]], Floats]
"""From texts to the chance of each class, (texts, classes)."""


def fit(
    name: str, parts: Mapping[str, Written], classes: int, space: str, seed: int
) -> Tell:
    """Train a classifier by its name: TF-IDF, LSTM, or the folder of a transformer.

    It learns from ``parts["train"]``; what it has to choose, it chooses on
    ``parts["valid"]``.
    """
    if name == TF_IDF:
        return _fit_tf_idf(parts, classes)
    if name == LSTM:
        return _fit_lstm(parts, space, seed)
    from mondegreen_experiments.models.transformer import fit_transformer

    train, valid = (
        (parts[each].texts, parts[each].labels) for each in ("train", "valid")
    )
    return fit_transformer(Path(name), train, valid, classes, seed)


def check_classifier(name: str) -> str:
    """Refuse a classifier that is neither built in nor a folder."""
    if name in (TF_IDF, LSTM):
        return name
    if not (Path(name) / "config.json").is_file():
        allowed = f"{TF_IDF}, {LSTM}, or the folder of a model of transformers"
        raise InvalidParameterError("--classifier", name, allowed)
    return str(Path(name).absolute())


def needs(name: str) -> tuple[str, ...]:
    """Libraries that a classifier needs."""
    if name == TF_IDF:
        return ("sklearn",)
    return ("torch",) if name == LSTM else ("torch", "transformers")


def _fit_tf_idf(parts: Mapping[str, Written], classes: int) -> Tell:
    """Logistic regression on TF-IDF of the words of the training texts."""
    from mondegreen_experiments.models.linear import fitted_linear

    words = sorted({word for text in _words(parts["train"].texts) for word in text})
    if not words:
        raise ConfigurationError("the released training texts have no words")
    place = {word: i for i, word in enumerate(words)}

    def known(texts: Sequence[str]) -> list[Ids]:
        """Words that were not learned play no part."""
        return [
            np.array([place[w] for w in text if w in place], np.int32)
            for text in _words(texts)
        ]

    train, valid = (
        Labelled(known(each.texts), each.labels)
        for each in (parts["train"], parts["valid"])
    )
    tell = fitted_linear(train, valid, len(words))

    def told(texts: Sequence[str]) -> Floats:
        found = tell(Labelled(known(texts), np.zeros(len(texts), np.int64)))
        return np.pad(found, ((0, 0), (0, classes - found.shape[1])))

    return told


def _words(texts: Sequence[str]) -> list[list[str]]:
    return [
        [canonical(word) for word in (parts or [])[1::2]]
        for parts in tokenize(list(texts)).parts
    ]


def _fit_lstm(parts: Mapping[str, Written], name: str, seed: int) -> Tell:
    """An LSTM over the vectors of a space, which stay as they are."""
    from mondegreen_experiments.models.classifiers import Recurrent, fitted
    from mondegreen_experiments.models.training import Training

    space = load_space(name)
    lookup = Lookup(space, "word", ())
    unknown = np.array([space.vocab_size], dtype=np.int32)
    vectors = np.vstack([space.vectors, space.points(unknown)]).astype(np.float32)

    def known(texts: Sequence[str], labels: NDArray[np.int64]) -> Labelled:
        tokens = tokenize(list(texts))
        codes = np.asarray(lookup.codes(tokens)).astype(np.int32)
        words = np.split(codes, np.cumsum(tokens.counts())[:-1])
        return Labelled(words, labels)

    def build(count: int) -> Recurrent:
        return Recurrent(vectors, count, dropout=0.2, is_frozen=True)

    train, valid = (
        known(each.texts, each.labels) for each in (parts["train"], parts["valid"])
    )
    training = Training(rate=3e-3, longest=_LONGEST)
    tell = fitted(build, train, valid, seed, training)
    return lambda texts: tell(known(texts, np.zeros(len(texts), np.int64)))
