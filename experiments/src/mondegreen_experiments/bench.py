"""What recipes work on: data sets, and spaces of other dimensions."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, final

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from mondegreen.arrays import Ids, Vectors
from mondegreen.errors import ConfigurationError, SourceError, UnknownNameError
from mondegreen.files import read_lines
from mondegreen.space.space import Space
from mondegreen.space.store import load_space
from mondegreen.text.lookup import Lookup
from mondegreen.text.tokenizer import tokenize
from mondegreen.wording import DEFAULT_SPACE
from mondegreen_experiments.choices import Choices, digest_of, write_key
from mondegreen_experiments.measures.preprocess import preprocess

_HUB: Final = {
    "imdb": ("stanfordnlp/imdb", "text"),
    "ag_news": ("fancyzhx/ag_news", "text"),
    "sst2": ("stanfordnlp/sst2", "sentence"),
    "sms_spam": ("ucirvine/sms_spam", "sms"),
}
"""Data sets that the library ``datasets`` can fetch, and where their texts are."""

_SPLITS: Final = {"train": "train", "validation": "valid", "test": "test"}

_W2V: Final = {"w2v": None, "w2v_frequent": 20_000}
"""How many words of word2vec on film reviews, the most frequent ones.

To measure the distances of all takes minutes, and rare words have poor vectors.
"""


@final
@dataclass(frozen=True)
class Labelled:
    """Texts as words of a space, one array of ids each, with their labels."""

    words: Sequence[Ids]
    labels: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.words)

    def at(self, rows: NDArray[np.intp] | slice) -> Labelled:
        """Some of the texts."""
        index = np.arange(len(self.words))[rows]
        return Labelled([self.words[i] for i in index], self.labels[index])

    def cut(self, longest: int) -> Labelled:
        """The last words of the same texts, at most ``longest``: reviews end so."""
        return Labelled([each[-longest:] for each in self.words], self.labels)

    def drawn(self, count: int, rng: Generator) -> Labelled:
        """So many of the texts at random, or all where there are fewer."""
        return self.at(rng.permutation(len(self))[:count])

    def with_words(self, flat: Ids) -> Labelled:
        """The same texts with other words, such as those of a release."""
        ends = np.cumsum([len(each) for each in self.words])
        return Labelled(np.split(flat, ends[:-1]), self.labels)

    @property
    def flat(self) -> Ids:
        """All words of all texts."""
        if not self.words:
            return np.empty(0, np.int32)
        return np.concatenate(self.words).astype(np.int32)


@final
class Bench:
    """Data sets and spaces by name, each read once.

    Parameters
    ----------
    data : Path, optional
        A folder with Parquet files ``NAME.parquet`` (columns ``text``, ``label`` and
        ``split``), and ``vectors/`` and ``opinion_lexicon/`` beside them.
    fetch : bool
        Whether a data set that is not there may be fetched by the library
        ``datasets``. No network is used otherwise.
    choices : Choices
        What was named in place of what recipes would take.
    """

    def __init__(
        self,
        data: Path | None = None,
        *,
        fetch: bool = False,
        choices: Choices = Choices(),  # noqa: B008 - frozen
    ) -> None:
        self._data, self.fetches, self.choices = data, fetch, choices
        self.table = functools.cache(self._table)
        self.space = functools.cache(self._space)
        self.written = functools.cache(self._written)
        self.labelled = functools.cache(self._labelled)

    def __reduce__(self) -> tuple[Any, ...]:  # what was read stays where it is
        same = {"fetch": self.fetches, "choices": self.choices}
        return functools.partial(Bench, **same), (self._data,)  # type: ignore[arg-type]

    def key(self, names: Sequence[str]) -> str:
        """Name these data sets by what they hold, and all that was chosen."""
        held = {name: digest_of(path) for name in names for path in self._paths(name)}
        return write_key(self.choices, held)

    def lacks(self, names: Sequence[str]) -> list[str]:
        """Those data sets that are neither in the folder nor may be fetched."""
        return [name for name in names if not (self._has(name) or self._gets(name))]

    def remedy(self, names: Sequence[str]) -> str:
        """What to give so that data sets are here; some of them can be fetched."""
        some = ", ".join(name for name in names if name in _HUB)
        get = "pip install './experiments[fetch]'" if self.fetches else "--fetch"
        return f"--data FOLDER, or {get} for {some}" if some else "--data FOLDER"

    def _has(self, name: str) -> bool:
        return any(path.exists() for path in self._paths(name))

    def _paths(self, name: str) -> list[Path]:
        places = () if self._data is None else (name, f"{name}.parquet")
        return [path for each in places if (path := self.path(each)).exists()]

    def _gets(self, name: str) -> bool:
        return self.fetches and name in _HUB and find_spec("datasets") is not None

    def _table(self, name: str) -> dict[str, list[Any]]:
        """Columns of a data set, as lists."""
        if self._data is not None and (path := self.path(f"{name}.parquet")).is_file():
            import pyarrow as pa
            import pyarrow.parquet as pq

            try:
                return dict(pq.read_table(path).to_pydict())
            except (pa.ArrowException, ValueError, OSError):  # also what is not UTF-8
                problem = "it cannot be read as Parquet; write it again"
                raise SourceError(path, problem) from None
        if not self.fetches:
            lacking = (self._data or Path()) / f"{name}.parquet"
            raise ConfigurationError(f"{lacking} is not here ({self.remedy([name])})")
        return self._fetched(name)

    def _fetched(self, name: str) -> dict[str, list[Any]]:
        from mondegreen.errors import OptionalDependencyError

        try:
            import datasets
        except ModuleNotFoundError as error:
            raise OptionalDependencyError.from_import(error) or error from None
        if name not in _HUB:
            raise UnknownNameError("data set to fetch", name, _HUB)
        address, column = _HUB[name]
        rows = {
            _SPLITS[split]: list(zip(found[column], found["label"], strict=True))
            for split, found in datasets.load_dataset(address).items()
            if split in _SPLITS
        }
        return _mixed(rows)

    def path(self, name: str) -> Path:
        """Where a file of the data is."""
        if self._data is None:
            raise ConfigurationError(f"{name}: no folder of data was named (--data)")
        return self._data / name

    def _labelled(
        self,
        name: str,
        split: str | None,
        space: str = "glove-300",
        most: int = 0,
        column: str = "text",
    ) -> Labelled:
        """Texts of a split as words of a space; the first ``most``, 0 for all."""
        texts, labels = self.written(name, split, column)
        words = self._words(texts[: most or None], space)
        return Labelled(words, labels[: most or None])

    def _written(
        self, name: str, split: str | None, column: str = "text"
    ) -> tuple[list[str], NDArray[np.int64]]:
        """Texts of a split as they are written, and their labels.

        Line breaks of web pages are markup, not words. Labels are numbered in the
        order of their names, whether or not these texts have them all.
        """
        table = self._with(name, column, "label")
        splits = table.get("split", [split] * len(table[column]))
        rows = [i for i, each in enumerate(splits) if split is None or each == split]
        if not rows:
            raise SourceError(name, f"it has no rows of the split {split}")
        texts = [table[column][i].replace("<br />", " ") for i in rows]
        texts = preprocess(texts, self.choices.preprocess, self.path)
        _, labels = np.unique(table["label"], return_inverse=True)
        return texts, labels[rows]

    def _with(self, name: str, *columns: str) -> dict[str, list[Any]]:
        """A data set that has these columns: of labels of any type, or of texts."""
        table = self.table(name)
        for column in columns:
            kind, what = (object, "label") if column == "label" else (str, "text")
            values = table.get(column, [None])
            if not all(each is not None and isinstance(each, kind) for each in values):
                file = name if self._data is None else self.path(f"{name}.parquet")
                need = f"a column {column}, with a {what} in each row"
                raise SourceError(file, f"it needs {need}")
        return table

    def named_labels(self, name: str, space: str = "glove-300") -> Labelled:
        """Names of the labels of a data set as texts, in their order."""
        names = sorted(set(self._with(name, "label")["label"]))
        texts = [each.replace("-", " ") for each in names]
        return Labelled(self._words(texts, space), np.arange(len(names)))

    def _words(self, texts: list[str], space: str) -> list[Ids]:
        tokens = tokenize(texts)
        codes = np.asarray(Lookup(self.space(space), "word", ()).codes(tokens))
        return np.split(codes.astype(np.int32), np.cumsum(tokens.counts())[:-1])

    def vectors(self, name: str) -> tuple[Sequence[str], Vectors]:
        """Words and vectors of ``glove-300`` or ``w2v-300``, for a space of some.

        To measure the distances of a whole space takes a minute.
        """
        if name != "w2v-300" or self.choices.space_file("w2v", "300"):
            space = self.space(name)
            return space.words, space.vectors
        named = read_lines(self.path("vectors/w2v_imdb.words.txt"))
        words = [word for word in named if word]  # the last line is empty
        table = np.load(self.path("vectors/w2v_imdb_300d.npy"))[: len(words)]
        return words, table.astype(np.float32)

    def _space(self, name: str) -> Space:
        """A space: ``glove-DIM``, ``w2v-DIM``, ``w2v_frequent-DIM``, or of the store.

        Fewer dimensions than 300 are by PCA.
        """
        family, _, dim = name.partition("-")
        given = self.choices.space_file(family, dim)
        if given is not None:
            return self._given(*given, name, int(dim))
        if family == "glove" and dim.isdigit():
            return reduced(load_space(DEFAULT_SPACE), int(dim), name)
        if family in _W2V and dim.isdigit():
            return self._w2v(family, int(dim), name)
        return load_space(name)

    def _given(self, own: str, path: str, name: str, dim: int) -> Space:
        """A space that was named; of fewer dimensions by PCA.

        One that was named for this dimension must have it. All dimensions of a family
        have the same words, since texts are read once.
        """
        space = load_space(Path(path))
        if own == name and space.dim != dim:
            has = f"it has {space.dim} dimensions"
            raise ConfigurationError(f"--space {own}: {has}, not {dim}")
        first = f"{name.partition('-')[0]}-300"
        if name != first and space.words != self.space(first).words:
            problem = f"its words are not those of {first}, in the same order"
            raise ConfigurationError(f"--space {own}: {problem}; name that too")
        return reduced(space, dim, name)

    def _w2v(self, family: str, dim: int, name: str) -> Space:
        if dim != 300:
            return reduced(self.space(f"{family}-300"), dim, name)
        most = _W2V[family]
        words, vectors = self.vectors("w2v-300")
        return Space.from_arrays(name, words[:most], vectors[:most])


def spaces_of(family: str, dim: int) -> list[str]:
    """Names of the spaces that :meth:`Bench.space` reads for one of them.

    >>> spaces_of("w2v_frequent", 50)
    ['w2v_frequent-50', 'w2v_frequent-300', 'w2v-300']
    """
    own = [f"{family}-{dim}"]
    if family in _W2V:
        own += [f"{family}-300", "w2v-300"]
    return list(dict.fromkeys(own))


def _mixed(rows: dict[str, list[tuple[str, int]]]) -> dict[str, list[Any]]:
    """Columns of a data set that was fetched, its rows in a random order.

    Some are sorted by class, which the first rows of them would not show. Rows whose
    label is withheld are left out; a split that is not there is a tenth of the training
    texts.
    """
    rng = np.random.default_rng(0)
    mixed = {}
    for split, each in rows.items():
        known = [row for row in each if row[1] >= 0]
        if known:
            mixed[split] = [known[i] for i in rng.permutation(len(known))]
    tenth = len(mixed["train"]) // 10
    for split in ("valid", "test"):
        if split not in mixed:
            mixed[split] = mixed["train"][:tenth]
            mixed["train"] = mixed["train"][tenth:]
    return {
        "text": [text for each in mixed.values() for text, _ in each],
        "label": [label for each in mixed.values() for _, label in each],
        "split": [split for split, each in mixed.items() for _ in each],
    }


def reduced(space: Space, dim: int, name: str) -> Space:
    """Project the vectors of a space onto their first principal directions.

    Distances only get smaller, so an epsilon here and one in the whole space are in
    different units: guarantees say which.
    """
    if dim > space.dim:
        has = f"{space.name} has only {space.dim} dimensions"
        raise ConfigurationError(f"{name}: {has}")
    if dim == space.dim:
        return space
    vectors = space.vectors.astype(np.float64)
    centred = vectors - vectors.mean(axis=0)
    _, directions = np.linalg.eigh(centred.T @ centred)
    projected: Vectors = centred @ directions[:, ::-1][:, :dim]
    return Space.from_arrays(name, space.words, projected.astype(np.float32))
