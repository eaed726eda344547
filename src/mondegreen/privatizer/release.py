"""The release of one text, and the sampled words of texts."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, final

import numpy as np

from mondegreen.arrays import Codes, Ids
from mondegreen.errors import InvalidParameterError, MondegreenError
from mondegreen.guarantee import Guarantee
from mondegreen.mechanisms.base import State
from mondegreen.policy.cutting import cut_texts
from mondegreen.policy.detection import DetectorLookup
from mondegreen.policy.lookup import PolicyLookup
from mondegreen.policy.printing import PolicyPrinter
from mondegreen.policy.scope import Scope
from mondegreen.privatizer.reading import Reading
from mondegreen.sampling.noise import Batch, NoiseSource
from mondegreen.sampling.records import check_order
from mondegreen.settings import SYMBOL_MECHANISMS
from mondegreen.text.detokenizer import Detokenizer, Span
from mondegreen.text.lookup import Lookup
from mondegreen.text.tokenizer import TokenizedBatch, tokenize

_NOT_DRAWN: Final = -9


@final
@dataclass(frozen=True, slots=True)
class Release:
    """One privatized text.

    Parameters
    ----------
    text : str
        What may be released; also what ``str`` gives. Not shown by ``repr``.
    spans : tuple of Span
        Where its words are, and what happened to each.
    guarantee : Guarantee
        What it promises.
    """

    text: str
    spans: tuple[Span, ...]
    guarantee: Guarantee

    def remap(
        self, original: str, spans: Iterable[tuple[int, int, str]]
    ) -> list[tuple[int, int, str]]:
        """Compute the offsets of annotated spans in the release.

        A span covers the words that it touches, and the structure between them. So
        labeled data stays labeled. The result discloses which words were annotated, and
        with which label. No guarantee covers that. If annotations are private, do not
        release them.

        Parameters
        ----------
        original : str
            The text that this is a release of.
        spans : iterable of (int, int, str)
            Start, end and kind: character offsets of the original.

        Returns
        -------
        list of (int, int, str)
            Character offsets of ``text``, in the order given. A span without words, or
            of dropped words alone, is left out.

        Raises
        ------
        InvalidParameterError
            If the original has another number of words, or a span is outside of it.

        Examples
        --------
        >>> import mondegreen as mg
        >>> private = mg.Privatizer(mg.mechanism("tree", epsilon=10.0))
        >>> text = "I met Ann in Oslo."
        >>> release = private(text)
        >>> [(start, end, kind)] = release.remap(text, [(13, 17, "GPE")])
        >>> release.text[start:end] == release.text.split()[-1].rstrip(".")
        True
        """
        has_policy = self.guarantee.mechanism in SYMBOL_MECHANISMS
        (parts,) = (cut_texts if has_policy else tokenize)([original]).parts
        moved = self.remap_parts(parts, spans)
        return [span for span in moved if span is not None]

    def remap_parts(
        self, parts: Sequence[str] | None, spans: Iterable[tuple[int, int, str]]
    ) -> list[tuple[int, int, str] | None]:
        """Do as :meth:`remap`, of an original that was cut; None for what is left out.

        ``parts`` are structure and words in turn, as of
        :class:`~mondegreen.text.tokenizer.TokenizedBatch`.

        Parameters
        ----------
        parts : sequence of str
            Structure and words of the original, in turn.
        spans : iterable of (int, int, str)
            Start, end and kind of each annotation of the original.

        Returns
        -------
        list of (int, int, str) or None
            The same annotations, moved.

        Raises
        ------
        InvalidParameterError
            If the original has other words, or a span is outside it.
        """
        edges = np.cumsum([0, *map(len, parts or ())])
        starts, ends = edges[1:-1:2], edges[2::2]
        if len(starts) != len(self.spans):
            wanted = f"the text that was released, of {len(self.spans):,} words"
            raise InvalidParameterError("original", f"{len(starts):,} words", wanted)
        length = int(edges[-1])
        found: list[tuple[int, int, str] | None] = []
        for start, end, kind in spans:
            if not 0 <= start <= end <= length:
                allowed = f"within 0..{length}, the start first"
                raise InvalidParameterError("spans", [start, end], allowed)
            first = int(np.searchsorted(ends, start, side="right"))
            last = int(np.searchsorted(starts, end, side="left"))
            covered = [each for each in self.spans[first:last] if each.start < each.end]
            if covered and start < end:
                found.append((covered[0].start, covered[-1].end, kind))
            else:
                found.append(None)
        return found

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"Release(<{len(self.text)} characters>, <{len(self.spans)} words>)"


def releases(
    detokenizer: Detokenizer | PolicyPrinter,
    tokens: TokenizedBatch,
    codes: Codes,
    guarantee: Guarantee,
    *,
    include_originals: bool,
) -> list[Release | None]:
    """Print texts one by one, and say where their words are."""
    ends = np.cumsum(tokens.counts())

    def release(parts: list[str], end: int) -> Release:
        mine = codes[end - len(parts) // 2 : end]
        shown = {"include_originals": include_originals}
        return Release(*detokenizer.spans(parts, mine, **shown), guarantee)

    return [
        None if parts is None else release(parts, end)
        for parts, end in zip(tokens.parts, ends.tolist(), strict=True)
    ]


def build_guarantee(
    state: State,
    lookup: Lookup | PolicyLookup | DetectorLookup,
    detokenizer: Detokenizer | PolicyPrinter,
    reading: Reading,
    scope: type[Scope] | None = None,
) -> Guarantee:
    """State what is promised of texts, whatever the noise."""
    parts = (detokenizer, *([] if scope is None else [scope]))
    return state.guarantee.with_text(
        sum(
            (part.disclosed for part in parts),
            lookup.list_disclosed(detokenizer.structure),
        ),
        sum((part.conditions for part in parts), lookup.conditions),
        sum((part.assumptions for part in (*parts, lookup)), reading.assumptions),
    )


def is_null(value: object) -> bool:
    """Whether a value stands for a missing text: None, NaN, or pandas' NA and NaT.

    >>> [is_null(value) for value in (None, float("nan"), np.float32("nan"), "", 0)]
    [True, True, True, False, False]
    """
    if value is None:
        return True
    if isinstance(value, float | np.floating):
        return bool(value != value)
    pandas = sys.modules.get("pandas")  # whoever holds its nulls has loaded it
    return pandas is not None and (
        value is getattr(pandas, "NA", None) or value is getattr(pandas, "NaT", None)
    )


def list_texts(
    given: Sequence[Any],
    name_of: Callable[[int], str] | None = None,
    first: int = 0,
) -> Sequence[str | None]:
    """Put None for each null; errors name the type alone, and no value.

    For errors, ``name_of`` names a text by its number; ``first`` is the first number.

    >>> list_texts(["a", float("nan"), None])
    ['a', None, None]
    """
    if isinstance(given, str):
        raise InvalidParameterError("texts", "one string", "a sequence of strings")
    check_order("texts", given)
    if set(map(type, given)) <= {str, type(None)}:
        return given
    texts: list[str | None] = []
    for number, text in enumerate(given, first):
        if isinstance(text, str):
            texts.append(text)
        elif is_null(text):
            texts.append(None)
        else:
            named = "text" if name_of is None else name_of(number)
            raise InvalidParameterError(named, type(text).__name__, "a string")
    return texts


def draw(
    state: State,
    lookup: Lookup | PolicyLookup | DetectorLookup,
    noise: NoiseSource,
    batch: Batch,
    scope: Scope | None = None,
) -> tuple[TokenizedBatch, Codes]:
    """Cut the texts of a batch into tokens, and draw the codes that replace them.

    Under a policy, ``scope`` says where equal sensitive words get equal outputs.

    It fails if a word got no noise, or the mechanism drew what is no word.
    """
    tokens = lookup.cut(batch.texts)
    codes = lookup.codes(tokens)
    ends = np.cumsum([0, *tokens.counts()])
    # No printer takes this code: whatever is left of it stops the batch.
    kind = np.int32 if scope is None else np.int64
    out: Any = np.full(len(codes), _NOT_DRAWN, dtype=kind)

    def sample(ids: Ids, rng: np.random.Generator) -> Ids:
        return _sample(state, ids, rng)

    for covered, rng in noise.streams(batch):
        span = slice(ends[covered.start], ends[covered.stop])
        mine = codes[span]
        if scope is None:
            drawn = np.array(mine)
            through = mine >= 0
            drawn[through] = sample(mine[through], rng)
            out[span] = drawn
        else:
            texts = TokenizedBatch(tokens.parts[covered.start : covered.stop])
            out[span] = scope.draw(texts, mine, sample, rng)
    if (out == _NOT_DRAWN).any():
        raise MondegreenError("a word was not privatized; nothing was released")
    return tokens, out


def _sample(state: State, ids: Ids, rng: np.random.Generator) -> Ids:
    """Let the mechanism draw, and check that all of it is outputs of its law.

    A negative number, such as a search returns that found nothing, would be read
    as the code of a kept word and print the original.
    """
    drawn = state.sample(ids, rng)
    is_word = (drawn >= 0) & (drawn < state.output_count)
    if drawn.shape != ids.shape or not is_word.all():
        raise MondegreenError(
            f"{state.guarantee.mechanism} returned an invalid word id; nothing was "
            "released"
        )
    return drawn
