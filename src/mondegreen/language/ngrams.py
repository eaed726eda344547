"""A public language model: trigrams with modified Kneser-Ney smoothing, in one file.

kenlm, the well-known library for such models, is not used: its Python binding scores
one word at a call, some million a second at best, where a decoder asks for hundreds of
candidates behind every word, in arrays; and it builds models by a separate program.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, BinaryIO, Final, final

import numpy as np

from mondegreen.arrays import Floats, Ids
from mondegreen.errors import LanguageError
from mondegreen.language.backoff import Tables
from mondegreen.language.coding import KINDS, Parts, decode, encode
from mondegreen.language.counts import Counts, chain_ids
from mondegreen.language.kneser_ney import estimate
from mondegreen.space.space import Space, WordSpace
from mondegreen.tensors import HeaderError, read_header, require, write_tensors

FORMAT: Final = "mondegreen-language/1"
RELEASE: Final = "a release of "
"""How a source begins that is no public text, but what a mechanism released."""

_TYPES: Final = {"str": str, "int": int, "tuple[str, ...]": tuple}


@final
@dataclass(frozen=True, slots=True)
class About:
    """What a model was made from, and for which words."""

    space: str  # name of the space whose words it has
    space_digest: str
    vocabulary: str  # SHA-256, in hex, of these words: what a space must share
    words: int  # of the texts
    sentences: int
    least: int  # n-grams that occur fewer times were left out
    sources: tuple[str, ...] = ()
    licences: tuple[str, ...] = ()
    mixed: tuple[str, ...] = ()  # weight and digest of each model it was mixed from
    order: int = 3

    @property
    def releases(self) -> tuple[str, ...]:
        """The releases among its sources, which it learned from."""
        return tuple(each for each in self.sources if each.startswith(RELEASE))

    @classmethod
    def from_json(cls, text: str) -> About:
        """Read a description; raises ValueError where a field has a wrong type.

        Parameters
        ----------
        text : str
            JSON of a description.

        Returns
        -------
        About
            The description.

        Raises
        ------
        ValueError
            If a field has the wrong type.
        """
        found = json.loads(text)
        require(isinstance(found, dict), "no description")
        for field in fields(cls):
            value = found[field.name]
            value = tuple(value) if isinstance(value, list) else value
            require(type(value) is _TYPES[str(field.type)], f"a wrong {field.name}")
            if isinstance(value, tuple):
                require(all(isinstance(each, str) for each in value))
            found[field.name] = value
        return cls(**found)


@final
@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class NGrams(Tables):
    """Trigrams over the words of one space, read-only; equal ones have one digest.

    It must come from PUBLIC text: decoding puts what the model knows into the release.

    >>> from mondegreen.language.counts import Counter
    >>> space = Space.from_arrays("line", ["cold", "is", "it"], [[0], [1], [3]])
    >>> counter = Counter(space.vocab_size)
    >>> counter.add(np.array([2, 1, 0], np.int32), [False, False, True])
    >>> model = NGrams.from_counts(counter.finish(), space)
    >>> bool(model.log_prob(2, 1, 0) > model.log_prob(2, 1, 2))
    True
    """

    about: About
    digest: str  # SHA-256, in hex, of the description and all numbers
    parts: Parts  # the numbers as they are stored
    path: Path | None = None

    @classmethod
    def from_counts(
        cls,
        counts: Counts,
        space: Space | WordSpace,
        *,
        least: int = 1,
        sources: Sequence[str] = (),
        licences: Sequence[str] = (),
    ) -> NGrams:
        """Smooth counts over the words of a space; see :func:`estimate`.

        Parameters
        ----------
        counts : Counts
            Counts of PUBLIC texts.
        space : Space or WordSpace
            The words that were counted.
        least : int
            Triples seen less often are dropped.
        sources : sequence of str
            Names of the texts.
        licences : sequence of str
            Their licences.

        Returns
        -------
        NGrams
            The smoothed model.
        """
        about = About(
            space.name,
            space.digest,
            digest_vocabulary(space),
            counts.words,
            counts.sentences,
            least,
            tuple(sources),
            tuple(licences),
        )
        return cls.from_tables(estimate(counts, least), about)

    @classmethod
    def from_tables(cls, tables: Tables, about: About) -> NGrams:
        """Round tables to what a file holds; the result *is* the model.

        Parameters
        ----------
        tables : Tables
            Logarithms of probabilities and weights.
        about : About
            What the model was made from.

        Returns
        -------
        NGrams
            The model that a file would hold.
        """
        parts = encode(tables)
        digest = _digest(about, parts)
        return cls(about=about, digest=digest, parts=parts, **decode(parts))

    @classmethod
    def open(cls, path: str | Path) -> NGrams:
        """Map a file into memory and check it against its digest.

        Raises LanguageError where it cannot be read, is no language model, or is not
        the one that its digest promises.

        Parameters
        ----------
        path : str or Path
            File of a model.

        Returns
        -------
        NGrams
            Mapped into memory.

        Raises
        ------
        LanguageError
            If it cannot be read, is no language model, or was changed.
        """
        path = Path(path)
        try:
            header = read_header(path)
            require(header.metadata.get("format") == FORMAT, "another format")
            about = About.from_json(header.metadata["about"])
            tensors = header.tensors(KINDS)
            parts = {name: tensor.map(path) for name, tensor in tensors.items()}
            require(parts.keys() == KINDS.keys(), "a tensor is missing")
            digest = _digest(about, parts)
            is_whole = digest == header.metadata["digest"]
            tables = decode(parts) if is_whole else {}
        except OSError as error:
            raise LanguageError(f"{path}: cannot be read: {error.strerror}") from error
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            reason = f": {error}" if isinstance(error, HeaderError) else ""
            problem = f"not a language model of format {FORMAT}{reason}"
            raise LanguageError(f"{path}: {problem}") from error
        if not is_whole:
            raise LanguageError(
                f"{path}: the file was changed after it was written; get it again"
            )
        path = path.resolve()
        return cls(about=about, digest=digest, parts=parts, path=path, **tables)

    def write(self, stream: BinaryIO) -> None:
        """Write the file; the same model always gives the same bytes.

        Parameters
        ----------
        stream : binary file
            Where to write.
        """
        metadata = {
            "format": FORMAT,
            "about": json.dumps(asdict(self.about), sort_keys=True),
            "digest": self.digest,
        }
        write_tensors(stream, metadata, self.parts)

    def is_for(self, space: Space | WordSpace) -> bool:
        """Whether a space has the words of the model.

        Parameters
        ----------
        space : Space or WordSpace
            A space.

        Returns
        -------
        bool
            Whether the words are the same, in the same order.
        """
        return digest_vocabulary(space) == self.about.vocabulary

    def check_space(self, space: Space | WordSpace) -> None:
        """Refuse a space with other words: an id would mean another word.

        Parameters
        ----------
        space : Space or WordSpace
            A space.

        Raises
        ------
        LanguageError
            If it has other words than the model.
        """
        if not self.is_for(space):
            raise LanguageError(
                f"the language model is for the words of space {self.about.space!r}, "
                f"and space {space.name!r} has others; build one: mondegreen language "
                "build --space"
            )

    def sentence_log_probs(self, ids: Ids, ends: Iterable[bool]) -> Floats:
        """Score sentences, their ends included: natural logarithms.

        Parameters
        ----------
        ids : (T,) int32 array
            Words of all sentences; ``V`` is the unknown word.
        ends : T bools
            Whether a sentence ends behind each; one ends behind the last.

        Returns
        -------
        (sentences,) float64 array
        """
        if not len(ids):
            return np.zeros(0)
        begins = chain_ids(ids, ends, self.boundary)[:-1] == self.boundary
        scores = self.chain_log_probs(ids, ends)
        return np.asarray(np.add.reduceat(scores, np.flatnonzero(begins)))

    def chain_log_probs(self, ids: Ids, ends: Iterable[bool]) -> Floats:
        """Score each word and each end of a sentence, in order.

        Parameters
        ----------
        ids : int32 array, shape (T,)
            Words of sentences, in order.
        ends : iterable of bool, length T
            Whether a sentence ends after each word.

        Returns
        -------
        float64 array, nats
            Log-probabilities of words and ends.
        """
        chain = chain_ids(ids, ends, self.boundary)
        before = np.concatenate([chain[:1], chain[:-2]])
        return self.log_prob(before, chain[:-1], chain[1:])

    def perplexity(self, ids: Ids, ends: Iterable[bool]) -> float:
        """How many words it hesitates between, ends of sentences counted as words.

        Parameters
        ----------
        ids : int32 array, shape (T,)
            Words of sentences, in order.
        ends : iterable of bool, length T
            Whether a sentence ends after each word.

        Returns
        -------
        float
            Exponential of the mean surprise.
        """
        scores = self.sentence_log_probs(ids, ends)
        return float(np.exp(-scores.sum() / (len(ids) + len(scores))))

    def __reduce__(self) -> Any:
        # One that lies in a file travels as its path.
        if self.path is not None:
            return _reopen, (self.path, self.digest)
        return _restore, (self.about, {n: np.array(p) for n, p in self.parts.items()})

    def __repr__(self) -> str:
        pairs, triples = len(self.pair_words), len(self.triple_words)
        return f"NGrams({self.about.space!r}, pairs={pairs}, triples={triples})"


def digest_vocabulary(space: Space | WordSpace) -> str:
    """SHA-256, in hex, of the words of a space, in order."""
    return hashlib.sha256("\n".join(space.words).encode()).hexdigest()


def _digest(about: About, parts: Parts) -> str:
    head = {"about": asdict(about), "format": FORMAT}
    head["parts"] = {n: [p.dtype.str, list(p.shape)] for n, p in parts.items()}
    found = hashlib.sha256(json.dumps(head, sort_keys=True).encode())
    for part in parts.values():
        found.update(np.ascontiguousarray(part).data)
    return found.hexdigest()


def _restore(about: About, parts: Parts) -> NGrams:
    """Make a model again from what it was pickled as."""
    return NGrams(
        about=about, digest=_digest(about, parts), parts=parts, **decode(parts)
    )


def _reopen(path: Path, digest: str) -> NGrams:
    """Open a model that was pickled by its path; it must not have changed since."""
    model = NGrams.open(path)
    if model.digest != digest:
        raise LanguageError(f"{path}: not the language model of the settings")
    return model
