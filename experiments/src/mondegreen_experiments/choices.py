"""What a call puts in place of what a recipe would take: vectors, models, words."""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, final

import numpy as np

from mondegreen.arrays import Floats
from mondegreen.errors import ConfigurationError, InvalidParameterError
from mondegreen.space.file import read_header
from mondegreen.space.space import Space
from mondegreen.space.store import locate, save_space, space_names

if TYPE_CHECKING:
    from mondegreen.scores.corpus import SentenceModel
    from mondegreen_experiments.bench import Labelled

FAMILIES: Final = ("glove", "w2v", "w2v_frequent")
"""Vectors that recipes take; ``FAMILY-DIM`` is one of its dimensions alone."""

_DIMENSIONS: Final = 300
"""Dimensions of our vectors; recipes ask for these, or for fewer of them."""

CLASSIFIERS: Final = ("tf-idf", "lstm")
PREPROCESSING: Final = ("stop-words", "lemmas")

Tell = Callable[["Labelled"], Floats]


@final
@dataclass(frozen=True, slots=True)
class Choices:
    """What was named in a call; empty where a recipe's own is taken.

    Parameters
    ----------
    spaces : tuple of (str, str)
        Families of vectors, or one of their dimensions, and the files of spaces.
    classifier : str
        One of :data:`CLASSIFIERS`, or the folder of a transformer.
    sentence_model : str
        ``MODULE:FUNCTION``, from texts to vectors, or the folder of a transformer.
    preprocess : tuple of str
        What is done to the words of texts before a release: :data:`PREPROCESSING`.
    """

    spaces: tuple[tuple[str, str], ...] = ()
    classifier: str = ""
    sentence_model: str = ""
    preprocess: tuple[str, ...] = ()

    def space_file(self, family: str, dim: str) -> tuple[str, str] | None:
        """The file for a family and dimension, and the name it was given under."""
        known = dict(self.spaces)
        for name in (f"{family}-{dim}", family):
            if name in known:
                return name, known[name]
        return None

    def __bool__(self) -> bool:
        return self != Choices()

    def names(self) -> list[str]:
        """Say in words what was named, without the folders of models."""
        found = [f"your vectors for {name}" for name, _ in self.spaces]
        if self.classifier:
            found.append(f"the classifier {Path(self.classifier).name}")
        if self.sentence_model:
            found.append(f"the sentence model {Path(self.sentence_model).name}")
        return [*found, *(f"texts after {step}" for step in self.preprocess)]

    def describe(self) -> Mapping[str, Any]:
        """What of it decides numbers: files by what they hold."""
        return {
            "spaces": {name: digest_of(Path(path)) for name, path in self.spaces},
            "classifier": _named(self.classifier),
            "sentence_model": _named(self.sentence_model),
            "preprocess": list(self.preprocess),
        }


def _named(model: str) -> str:
    return digest_of(Path(model)) if model and Path(model).is_dir() else model


@functools.lru_cache(maxsize=64)
def digest_of(path: Path) -> str:
    """Name a file, or all files of a folder, by what they hold; empty if not there."""
    whole = hashlib.sha256()
    files = sorted(path.rglob("*")) if path.is_dir() else [path]
    for each in files:
        if each.is_file():
            whole.update(str(each.relative_to(path)).encode())
            with each.open("rb") as file:
                whole.update(hashlib.file_digest(file, "sha256").digest())
    return whole.hexdigest()[:16] if any(map(Path.is_file, files)) else ""


def given_spaces(
    named: Sequence[str], most: int, folder: Path, tell: Callable[[str], object]
) -> tuple[tuple[str, str], ...]:
    """Read ``NAME=FILE`` of vectors, and keep each file as a space in a folder.

    ``FILE`` is GloVe or fastText text, word2vec text or binary, a space, or the name of
    one. ``most`` is how many of its first words are taken, 0 for all.
    """
    found = []
    for each in named:
        name, equals, path = each.partition("=")
        family, _, dim = name.partition("-")
        if not equals or family not in FAMILIES or (dim and not dim.isdigit()):
            allowed = f"NAME=FILE, NAME one of {', '.join(FAMILIES)}, or glove-100"
            raise InvalidParameterError("--space", each, allowed)
        file = _space_file(path, most, folder, tell)
        has, needs = read_header(file).dim, int(dim or _DIMENSIONS)
        if has < needs or (dim and has != needs):
            problem = f"{path} has {has} dimensions, and {name} needs {needs}"
            raise ConfigurationError(f"--space {each}: {problem}")
        found.append((name, str(file)))
    return tuple(found)


def _space_file(
    path: str, most: int, folder: Path, tell: Callable[[str], object]
) -> Path:
    """The file of a space; vectors are read and measured once for a file."""
    if path in space_names() or path.endswith(".safetensors"):
        return Path(locate(path)).absolute()
    if not Path(path).is_file():
        raise ConfigurationError(f"--space: there is no file or space {path}")
    key = hashlib.sha256(f"{digest_of(Path(path))} {most}".encode()).hexdigest()[:16]
    kept = folder / "spaces" / f"{key}.safetensors"
    if not kept.is_file():
        kept.parent.mkdir(parents=True, exist_ok=True)
        space, dropped = _read_vectors(Path(path), most)
        tell(f"{path}: {space.vocab_size:,} words read, {dropped:,} bad rows left out")
        save_space(space, kept, force=True)
    return kept.absolute()


def _read_vectors(path: Path, most: int) -> tuple[Space, int]:
    """Read a file of vectors; tell how many of its rows break its format."""
    from mondegreen.space.vectors.build import build_space
    from mondegreen.space.vectors.readers import BadRows
    from mondegreen.space.vectors.source import open_vectors

    bad = BadRows(skip=True)
    with open_vectors(path, bad) as source:
        space = build_space(source, "given", bad=bad, limit=most or None).space
    return space, bad.counts.total()


def chosen_classifier(
    choices: Choices, space: Space, known: Labelled, valid: Labelled, seed: int
) -> Tell | None:
    """Train the classifier that was named; None where a recipe trains its own.

    The folder of a transformer gets texts as words of the space, a word that it has not
    as ``unknown``.
    """
    name = choices.classifier
    if not name:
        return None
    if name == "tf-idf":
        from mondegreen_experiments.models.linear import fitted_linear

        return fitted_linear(known, valid, space.vocab_size + 1)
    if name == "lstm":
        return _lstm(space, known, valid, seed)
    from mondegreen_experiments.models.transformer import fit_transformer

    words = [*space.words, "unknown"]

    def written(texts: Labelled) -> list[str]:
        return [" ".join(words[i] for i in text) for text in texts.words]

    classes = int(max(known.labels.max(), valid.labels.max())) + 1
    own, held = ((written(each), each.labels) for each in (known, valid))
    tell = fit_transformer(Path(name), own, held, classes, seed)
    return lambda texts: tell(written(texts))


def _lstm(space: Space, known: Labelled, valid: Labelled, seed: int) -> Tell:
    """The LSTM of the comparative benchmark, with vectors that stay."""
    from mondegreen_experiments.models.classifiers import Recurrent, fitted
    from mondegreen_experiments.models.training import Training

    unknown = np.array([space.vocab_size], dtype=np.int32)
    vectors = np.vstack([space.vectors, space.points(unknown)]).astype(np.float32)
    longest = max(1, *map(len, known.words))

    def build(classes: int) -> Recurrent:
        return Recurrent(vectors, classes, dropout=0.2, is_frozen=True)

    return fitted(build, known, valid, seed, Training(rate=3e-3, longest=longest))


@functools.lru_cache(maxsize=1)
def sentence_model(choices: Choices) -> SentenceModel | None:
    """Load the sentence model that was named; None if none was."""
    name = choices.sentence_model
    if not name:
        return None
    if Path(name).is_dir():
        from mondegreen_experiments.models.transformer import mean_pooled

        return mean_pooled(Path(name))
    from mondegreen.cli.score import import_sentence_model

    return import_sentence_model(name)


def check_choices(classifier: str, sentence_model: str) -> tuple[str, str]:
    """Refuse a classifier or model that is not there; folders become absolute."""
    if classifier and classifier not in CLASSIFIERS:
        if not (Path(classifier) / "config.json").is_file():
            allowed = f"{', '.join(CLASSIFIERS)}, or the folder of a transformer"
            raise InvalidParameterError("--classifier", classifier, allowed)
        classifier = str(Path(classifier).absolute())
    if sentence_model and ":" not in sentence_model:
        if not (Path(sentence_model) / "config.json").is_file():
            allowed = "MODULE:FUNCTION, or the folder of a transformer"
            raise InvalidParameterError("--sentence-model", sentence_model, allowed)
        sentence_model = str(Path(sentence_model).absolute())
    elif sentence_model:
        from mondegreen.cli.score import import_sentence_model

        import_sentence_model(sentence_model)
    return classifier, sentence_model


def write_key(choices: Choices, data: Mapping[str, str]) -> str:
    """Name data and choices, for the keys of kept runs."""
    return json.dumps({"data": dict(data), **choices.describe()}, sort_keys=True)
