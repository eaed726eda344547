"""The one way of the data: texts to words, words through a mechanism, back to texts."""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, final

import numpy as np

from mondegreen.arrays import Ids
from mondegreen.errors import (
    InvalidParameterError,
    MissingColumnError,
    MondegreenError,
    UnprovedGuaranteeError,
)
from mondegreen.guarantee import Guarantee
from mondegreen.mechanisms import AbstractMechanism, State
from mondegreen.mechanisms.ordinary import shares_kept
from mondegreen.sampling.noise import Batch, NoiseSource, OSNoise
from mondegreen.space.space import Space
from mondegreen.space.store import DEFAULT_SPACE, load_space
from mondegreen.text.columns import is_list, is_text
from mondegreen.text.detokenizer import Case, Detokenizer, Span
from mondegreen.text.ordinary import ordinary_words
from mondegreen.text.policy import KEEP, Lookup, Unknown
from mondegreen.text.tokenizer import TokenizedBatch, tokenize

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Privatizer", "Release"]

_STREAM_TEXTS: Final = 1024


@final
@dataclass(frozen=True, slots=True)
class Release:
    """One privatized text.

    Parameters
    ----------
    text : str
        What may be released. Not shown by ``repr``.
    spans : tuple of Span
        Where its words are, and what became of each.
    guarantee : Guarantee
        What it promises.
    """

    text: str
    spans: tuple[Span, ...]
    guarantee: Guarantee

    def __repr__(self) -> str:
        return f"Release(<{len(self.text)} characters>, <{len(self.spans)} words>)"


@final
class Privatizer:
    """Replaces every word of texts by a mechanism on a space.

    Parameters
    ----------
    mechanism : AbstractMechanism
        Such as ``mg.mechanism("tree", epsilon=10.0)``.
    space : Space, str or path, optional
        A space, its name, or its file; the embedded default if not given.
    unknown : {"word", "mask", "drop", "fail"}
        What becomes of words outside the vocabulary; see
        :class:`mondegreen.text.policy.Lookup`. They are never copied to the output.
    keep : iterable of str
        *Public* words that pass in clear, a declared stratum.
    case : {"lower", "restore"}
        ``restore`` copies the case of each input word, a declared stratum.
    noise : NoiseSource, optional
        :class:`OSNoise` if not given.
    allow_unproved : bool
        Needed for mechanisms without a proof.

    Raises
    ------
    UnprovedGuaranteeError
        If the mechanism has no proof and ``allow_unproved`` is not set.

    Notes
    -----
    *Privacy.* Words reach the mechanism as integers, which is all it sees. Every
    output word is drawn by it, or is a declared stratum. Errors stop the batch; no
    text is ever returned in place of its release.

    Examples
    --------
    >>> import mondegreen as mg
    >>> words = ["i", "met", "saw", "in"]
    >>> space = mg.Space.from_arrays("line", words, [[0], [9], [8], [20]])
    >>> p = mg.Privatizer(mg.mechanism("tem", epsilon=1.0), space, noise=mg.Seeded(1))
    >>> release = p("I met Ann in Oslo.")
    >>> release
    Release(<17 characters>, <5 words>)
    >>> release.text
    'i met saw in met.'
    """

    def __init__(
        self,
        mechanism: AbstractMechanism,
        space: Space | str | None = None,
        *,
        unknown: Unknown = "word",
        keep: Iterable[str] = (),
        case: Case = "lower",
        noise: NoiseSource | None = None,
        allow_unproved: bool = False,
    ) -> None:
        if not mechanism.is_private and not allow_unproved:
            raise UnprovedGuaranteeError(
                f"{mechanism.name} does not keep a metric-privacy promise; to compare "
                "with it all the same, pass allow_unproved=True (--allow-unproved)"
            )
        _refuse_string("keep", keep)
        self._keep = tuple(keep)  # as given: a canonical form need not be one word
        self.mechanism = mechanism
        self.space = (
            space if isinstance(space, Space) else load_space(space or DEFAULT_SPACE)
        )
        self.noise: NoiseSource = OSNoise() if noise is None else noise
        self.state: State = mechanism.prepare(self.space)
        self._lookup = Lookup(self.space, unknown, self._keep)
        self._detokenizer = Detokenizer(self.space.words, case, self._lookup.keep)
        self._guarantee: Guarantee | None = None
        self._numbers = itertools.count()

    @property
    def guarantee(self) -> Guarantee:
        """What every release of this privatizer promises."""
        if self._guarantee is None:
            is_private = self.noise.is_private and self.mechanism.is_private
            self._guarantee = (
                self.state.guarantee.with_text(
                    self._lookup.strata + self._detokenizer.strata,
                    self._lookup.conditions + self._detokenizer.conditions,
                )
                .with_ordinary_text(*self._ordinary_text())
                .with_noise(self.noise.describe(), is_private=is_private)
            )
        return self._guarantee

    def __call__(
        self, text: str, *, id: str | None = None, include_originals: bool = False
    ) -> Release:
        """Privatize one text.

        Parameters
        ----------
        text : str
            The text.
        id : str, optional
            Identifier of the record; needed by keyed noise.
        include_originals : bool
            Put the input words into the spans, which are private from then on.
        """
        (release,) = self.batch(
            [text],
            None if id is None else [id],
            include_originals=include_originals,
        )
        if release is None:
            raise InvalidParameterError("text", None, "a string")
        return release

    def batch(
        self,
        texts: Sequence[str | None],
        ids: Sequence[str] | None = None,
        *,
        include_originals: bool = False,
    ) -> list[Release | None]:
        """Privatize texts; ``None`` stays ``None`` and order is kept.

        Parameters
        ----------
        texts : sequence of str or None
            The texts.
        ids : sequence of str, optional
            One identifier per text; needed by keyed noise.
        include_originals : bool
            Put the input words into the spans, which are private from then on.
        """
        tokens, codes = self._release(texts, ids)
        ends = np.cumsum(tokens.counts())
        releases: list[Release | None] = []
        for parts, end in zip(tokens.parts, ends.tolist(), strict=True):
            if parts is None:
                releases.append(None)
                continue
            mine = codes[end - len(parts) // 2 : end]
            text, spans = self._detokenizer.spans(
                parts, mine, include_originals=include_originals
            )
            releases.append(Release(text, spans, self.guarantee))
        return releases

    def stream(
        self, texts: Iterable[str | None], ids: Iterable[str] | None = None
    ) -> Iterator[Release | None]:
        """Privatize any number of texts in constant memory, order kept.

        Parameters
        ----------
        texts : iterable of str or None
            Read as far as the releases are asked for, in chunks of 1,024.
        ids : iterable of str, optional
            One identifier per text; needed by keyed noise.
        """
        iterator, names = iter(texts), None if ids is None else iter(ids)
        while chunk := list(itertools.islice(iterator, _STREAM_TEXTS)):
            named = None if names is None else list(itertools.islice(names, len(chunk)))
            yield from self.batch(chunk, named)

    def arrow(
        self,
        batch: pa.RecordBatch,
        columns: Sequence[str] = ("text",),
        *,
        id_column: str | None = None,
        number: int | None = None,
    ) -> pa.RecordBatch:
        """Privatize text columns of a record batch; everything else is passed on.

        Parameters
        ----------
        batch : pyarrow.RecordBatch
            Nulls stay null; the row count and the schema stay the same.
        columns : sequence of str
            Columns of strings or of lists of strings.
        id_column : str, optional
            Column with a stable identifier per row; needed by keyed noise.
        number : int, optional
            Number of the batch, for seeded noise; counted if not given.

        Raises
        ------
        MissingColumnError
            If a column is absent.
        InvalidParameterError
            If a column holds anything but text.
        """
        return self.counted(batch, columns, id_column=id_column, number=number)[0]

    def counted(
        self,
        batch: pa.RecordBatch,
        columns: Sequence[str],
        *,
        id_column: str | None = None,
        number: int | None = None,
    ) -> tuple[pa.RecordBatch, int]:
        """Do as :meth:`arrow`, and return the number of words besides."""
        _refuse_string("columns", columns)
        columns = tuple(dict.fromkeys(columns))
        for name in (*columns, *([id_column] if id_column else [])):
            if batch.schema.get_field_index(name) < 0:
                raise MissingColumnError("the batch", name, batch.schema.names)
        ids = batch.column(id_column).to_pylist() if id_column else None
        if ids is not None and any(record is None for record in ids):
            raise InvalidParameterError("ids", "a null", "an identifier in every row")
        number = next(self._numbers) if number is None else number
        words = 0
        for name in columns:
            index = batch.schema.get_field_index(name)
            column, count = self._column(batch.column(index), name, ids, number)
            batch = batch.set_column(index, batch.schema.field(index), column)
            words += count
        return batch, words

    def _column(
        self, column: pa.Array, name: str, ids: list[object] | None, number: int
    ) -> tuple[pa.Array, int]:
        """Privatize one column of texts, or of lists of texts."""
        import pyarrow as pa

        kind, values = column.type, column.to_pylist()
        if is_text(kind):
            named = None if ids is None else [str(record) for record in ids]
            tokens, codes = self._release(values, named, name, number)
            texts = self._detokenizer.join(tokens, codes)
            return pa.array(texts, type=kind), len(codes)
        if not (is_list(kind) and is_text(kind.value_type)):
            raise InvalidParameterError(
                f"column {name!r}", str(kind), "strings or lists of strings"
            )
        flat = [text for texts in values for text in texts or ()]
        places = None
        if ids is not None:  # items of one row are texts of their own
            places = [
                json.dumps([str(record), place])
                for record, texts in zip(ids, values, strict=True)
                for place in range(len(texts or ()))
            ]
        tokens, codes = self._release(flat, places, name, number)
        results = iter(self._detokenizer.join(tokens, codes))
        nested = [
            None if texts is None else list(itertools.islice(results, len(texts)))
            for texts in values
        ]
        return pa.array(nested, type=kind), len(codes)

    def _ordinary_text(self) -> tuple[float, float | None, str]:
        """Return what stays of public words: of ordinary text, or of the vocabulary.

        Kept words stay, and masked and dropped ones do not.
        """
        words, of = ordinary_words(), "ordinary English text"
        known = [word for word in words if word in self.space.index]
        if len(known) < len(words) / 2:
            known, of = list(self.space.words[: len(words)]), "its vocabulary"
        elif self._lookup.unknown != "fail":  # that releases known words alone
            known = list(words)
        codes = self._lookup.codes(tokenize(known))
        through = codes >= 0
        stay, near = shares_kept(self.state, codes[through])
        kept, share = float(np.mean(codes == KEEP)), float(np.mean(through))
        near = None if near is None else kept + share * near
        return kept + share * stay, near, of

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the settings; the heavy state is prepared again where it is used."""
        options = {
            "unknown": self._lookup.unknown,
            "keep": self._keep,
            "case": self._detokenizer.case,
            "noise": self.noise,
            "allow_unproved": not self.mechanism.is_private,
        }
        return _restore, (self.mechanism, self.space, options)

    def _release(
        self,
        texts: Sequence[str | None],
        ids: Sequence[str] | None,
        column: str = "",
        number: int | None = None,
    ) -> tuple[TokenizedBatch, Ids]:
        """Return the tokens of the texts, and the codes that replace them."""
        _refuse_string("texts", texts)
        _refuse_others("text", [text for text in texts if text is not None])
        if ids is not None:
            _refuse_others("id", ids)
            if len(ids) != len(texts):
                allowed = f"one for each of {len(texts)} texts"
                raise InvalidParameterError("ids", f"{len(ids)} of them", allowed)
        tokens = tokenize(texts)
        codes = self._lookup.codes(tokens)
        ends = np.cumsum([0, *tokens.counts()])
        number = next(self._numbers) if number is None else number
        batch = Batch(number, self._scope(column), texts, ids)
        out = np.full_like(codes, self.space.vocab_size)  # fits no printer
        for covered, rng in self.noise.streams(batch):
            span = slice(ends[covered.start], ends[covered.stop])
            mine = codes[span]
            drawn = np.array(mine)
            through = mine >= 0
            drawn[through] = self._sampled(mine[through], rng)
            out[span] = drawn
        if len(out) and int(out.max()) >= self.space.vocab_size:
            raise MondegreenError("a word was not privatized; nothing was released")
        return tokens, out

    def _sampled(self, ids: Ids, rng: np.random.Generator) -> Ids:
        """Return what the mechanism draws, if all of it is words of the space.

        A negative number, such as a search returns that found nothing, would be read
        as the code of a kept word and print the original.
        """
        drawn = self.state.sample(ids, rng)
        is_word = (drawn >= 0) & (drawn < self.space.vocab_size)
        if drawn.shape != ids.shape or not is_word.all():
            raise MondegreenError(
                f"{self.mechanism.name} drew what is no word; nothing was released"
            )
        return drawn

    def _scope(self, column: str) -> bytes:
        """Return a digest of all that shapes a release besides text, id and key."""
        codes = getattr(self.state, "codes", None)  # public, but not of the space
        tree = getattr(self.state, "tree", None)
        settings = {
            "mechanism": self.mechanism.to_dict(),
            "space": self.space.digest,
            "codes": codes and codes.digest,
            **({"tree": tree.digest} if tree else {}),
            "unknown": self._lookup.unknown,
            "keep": self._lookup.keep_digest,
            "case": self._detokenizer.case,
            "column": column,
        }
        return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).digest()

    def __repr__(self) -> str:
        return (
            f"Privatizer({self.mechanism!r}, {self.space.name!r}, "
            f"unknown={self._lookup.unknown!r}, case={self._detokenizer.case!r})"
        )


def _restore(
    mechanism: AbstractMechanism, space: Space, options: dict[str, Any]
) -> Privatizer:
    return Privatizer(mechanism, space, **options)


def _refuse_string(name: str, values: Iterable[object]) -> None:
    """Refuse one string where several are meant: its characters are not they."""
    if isinstance(values, str):
        raise InvalidParameterError(name, "one string", "a sequence of strings")


def _refuse_others(name: str, values: Iterable[object]) -> None:
    """Refuse values that are no strings, naming their type alone."""
    for value in values:
        if not isinstance(value, str):
            raise InvalidParameterError(name, type(value).__name__, "a string")
