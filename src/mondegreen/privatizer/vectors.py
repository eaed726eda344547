"""Releases that are vectors and not texts: term frequencies, and word vectors."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mondegreen.arrays import Ids
from mondegreen.errors import InvalidParameterError, UnprovedGuaranteeError
from mondegreen.mechanisms import mechanism_class
from mondegreen.mechanisms.base import State
from mondegreen.mechanisms.noise.private_vectors import VectorState
from mondegreen.mechanisms.term_frequency import draw_term_frequencies
from mondegreen.sampling.noise import Batch, NoiseSource, OSNoise
from mondegreen.sampling.records import record_ids
from mondegreen.text.lookup import Lookup
from mondegreen.text.tokenizer import tokenize


def term_frequencies(
    state: State,
    texts: Sequence[str],
    size: int,
    *,
    noise: NoiseSource | None = None,
    ids: Sequence[str | int] | None = None,
    column: str = "text",
    number: int = 0,
) -> NDArray[np.int64]:
    """Return how often each word occurs in a synthetic document for each text (SynTF).

    Parameters
    ----------
    state : State
        A prepared mechanism; ``syntf`` in the paper.
    texts : sequence of str
        Documents. One without words counts as one unknown word.
    size : int, at least 1
        Words of every synthetic document: a public number, the same for all.
    noise : NoiseSource, optional
        :class:`OSNoise` if not given.
    ids : sequence of str or int, optional
        One identifier per text; needed by keyed noise.
    column : str
        Logical column, for keyed noise: another one has other noise.
    number : int
        Number of the batch, for seeded noise: another one for every call.

    Returns
    -------
    int64 array, shape (texts, V)
        Rows sum to ``size``; dense, so pass some hundred texts at a time.

    Raises
    ------
    UnprovedGuaranteeError
        If the mechanism has no proof.
    InvalidParameterError
        If a text is no string, or ``size`` is below 1.

    Notes
    -----
    *Privacy.* Any two documents, of any lengths, differ by at most
    :func:`mondegreen.mechanisms.term_frequency.term_frequency_loss`: ``size * epsilon``
    nats for ``syntf``. Nothing passes unchanged, not even the length of the text.

    Examples
    --------
    >>> import mondegreen as mg
    >>> words, vectors = ["cat", "cow", "tax"], [[1, 0], [1, 1], [-1, 0]]
    >>> space = mg.Space.from_arrays("s", words, vectors)
    >>> state = mg.mechanism("syntf", epsilon=2.0).prepare(space)
    >>> counts = term_frequencies(state, ["A cow, a cat.", "Tax!"], 5)
    >>> counts.shape, counts.sum(axis=1).tolist()
    ((2, 3), [5, 5])
    """
    given = state.guarantee
    scope = {
        "release": "term frequencies",
        "size": int(size),
        "column": column,
        "parameters": mechanism_class(given.mechanism).collect_digested(
            given.parameters
        ),
    }
    out = np.empty((len(texts), state.space.vocab_size), dtype=np.int64)
    drawn = _iterate_drawn(state, texts, noise, ids, scope, number)
    for row, (words, rng) in zip(out, drawn, strict=True):
        row[:] = draw_term_frequencies(state, words, size, rng)
    return out


def word_vectors(
    state: VectorState,
    texts: Sequence[str],
    *,
    noise: NoiseSource | None = None,
    ids: Sequence[str | int] | None = None,
    column: str = "text",
    number: int = 0,
) -> list[NDArray[np.float64]]:
    """Return a noisy vector for every word of each text.

    Parameters
    ----------
    state : VectorState
        Of :class:`mondegreen.mechanisms.noise.private_vectors.PrivateVectors`.
    texts : sequence of str
    noise, ids, column, number
        As for :func:`term_frequencies`.

    Returns
    -------
    list of float64 arrays, shape (words of the text, k)
        On the public grid of ``state.step``; ``state.decode`` turns rows into words.

    Raises
    ------
    InvalidParameterError
        If a text is no string.

    Notes
    -----
    *Privacy.* That of ``state.guarantee`` for every word; the losses of the words of a
    text add up, and their number and order pass unchanged.

    Examples
    --------
    >>> import mondegreen as mg
    >>> from mondegreen.mechanisms.noise.private_vectors import PrivateVectors
    >>> space = mg.Space.from_arrays("line", ["cold", "hot"], [[0, 1], [8, 1]])
    >>> state = PrivateVectors(epsilon=4.0).prepare(space)
    >>> [rows.shape for rows in word_vectors(state, ["Hot and cold", ""])]
    [(3, 2), (0, 2)]
    """
    scope = {
        "release": "word vectors",
        "column": column,
        "parameters": dict(state.guarantee.parameters),
    }
    drawn = _iterate_drawn(state, texts, noise, ids, scope, number)
    return [state.vectors(words, rng) for words, rng in drawn]


def _iterate_drawn(
    state: State,
    texts: Sequence[str],
    noise: NoiseSource | None,
    ids: Sequence[str | int] | None,
    scope: Mapping[str, Any],
    number: int,
) -> Iterator[tuple[Ids, np.random.Generator]]:
    """Yield the inputs of every text in order, with its noise."""
    name = state.guarantee.mechanism
    if not state.guarantee.is_proved:
        raise UnprovedGuaranteeError(f"{name} has no proof of metric privacy")
    if isinstance(texts, str) or not all(isinstance(text, str) for text in texts):
        raise InvalidParameterError("texts", "others", "a sequence of strings")
    records = record_ids(ids, len(texts))
    settings = {
        **scope,
        "mechanism": name,
        "space": state.space.digest,
        "law": state.digests.get("law"),
    }
    digest = hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).digest()
    tokens = tokenize(texts)
    codes = Lookup(state.space).codes(tokens)
    ends = np.cumsum([0, *tokens.counts()])
    source: NoiseSource = OSNoise() if noise is None else noise
    for covered, rng in source.streams(Batch(number, digest, texts, records)):
        for place in covered:
            yield codes[ends[place] : ends[place + 1]], rng
