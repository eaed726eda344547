"""The channel of any mechanism: exact where its law is closed, else from draws."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from typing import Final

import numpy as np

from mondegreen.arrays import Floats, Ids, slices
from mondegreen.errors import LawUnknownError
from mondegreen.files import home, read_own, write_own
from mondegreen.language.ngrams import NGrams
from mondegreen.mechanisms.base import Progress, State, no_progress
from mondegreen.mechanisms.channel import Channel, rank
from mondegreen.scores.law import to_words

_ROWS: Final = 256
_BATCH: Final = 1 << 14
_SEED: Final = 20_213
"""The draws are of public words and go nowhere, so anyone may repeat them."""
_DRAWS: Final = 1 << 18
_LEAST: Final = 8


def load_channel(
    state: State, language: NGrams, count: int, progress: Progress = no_progress
) -> Channel:
    """Find the channel under the word frequencies of a model, and keep what takes long.

    It is kept under :func:`~mondegreen.files.home`, by the digests of all that it
    depends on; that of a mechanism from elsewhere is computed anew.
    """
    prior = language.frequencies()
    found = state.channel(prior, count)
    if found is not None:
        return found
    if state.author:
        return _compute_channel(state, prior, count, progress)
    stated = state.stated
    made_of = {
        "mechanism": stated.mechanism,
        "parameters": dict(stated.parameters),
        "space": stated.space_digest,
        "parts": dict(state.digests),
        "language": language.digest,
        "count": count,
        "draws": [_DRAWS, _LEAST, _SEED],
    }
    key = hashlib.sha256(json.dumps(made_of, sort_keys=True).encode()).hexdigest()
    path = home() / "channels" / f"{key[:32]}.npz"
    found = _read(read_own(path))
    if found is None:
        found = _compute_channel(state, prior, count, progress)
        stream = io.BytesIO()
        np.savez(
            stream,
            observation=found.observation,
            candidates=found.candidates,
            log_law=found.log_law.astype(np.float32),
            how=np.array(found.how),
        )
        write_own(path, stream.getvalue())
        found = _read(stream.getvalue()) or found  # rounded, as the next one reads it
    return found


def _read(data: bytes | None) -> Channel | None:
    """Read a channel that was kept; None where it is incomplete."""
    if data is None:
        return None
    try:
        with np.load(io.BytesIO(data)) as parts:
            logs = parts["log_law"].astype(np.float64)
            how = str(parts["how"])
            return Channel(parts["observation"], parts["candidates"], logs, how)
    except (ValueError, KeyError, OSError, zipfile.BadZipFile):
        return None


def build_channel(
    state: State, prior: Floats, count: int, progress: Progress = no_progress
) -> Channel:
    """Find the ``count`` most likely inputs of every output, under a public prior.

    Exact where the law is closed: of a tree by its nodes, in milliseconds; of others in
    one pass over all pairs of words. That of a mechanism that can only be sampled is
    estimated from 300,000 draws or more of public words with a fixed seed.

    Parameters
    ----------
    state : State
        The prepared mechanism.
    prior : float64 array, shape (V + 1,)
        Frequencies of words in PUBLIC text, the unknown word last, all above 0.
    count : int
        Candidates of each output, at most.
    progress : callable
        Told the share that is done.

    Returns
    -------
    Channel
        Inputs of every output, with their log-probabilities.
    """
    return state.channel(prior, count) or _compute_channel(
        state, prior, count, progress
    )


def _compute_channel(
    state: State, prior: Floats, count: int, progress: Progress
) -> Channel:
    """Find it from the rows of a law, or from draws."""
    try:
        state.log_prob(np.zeros(1, dtype=np.int32))
    except LawUnknownError:
        return _from_draws(state, prior, count, progress)
    return _from_rows(state, prior, count, progress)


def _from_rows(state: State, prior: Floats, count: int, progress: Progress) -> Channel:
    """Keep the best of each output while the inputs pass by, the frequent ones first.

    Then few rows later on hold anything better than what an output has already.
    """
    size = state.space.vocab_size
    law = np.zeros((size, count))
    scores = np.zeros((size, count), dtype=np.float32)
    candidates = np.zeros((size, count), dtype=np.int32)
    inputs = np.argsort(-prior, kind="stable").astype(np.int32)
    for part in slices(len(inputs), _ROWS):
        ids = inputs[part]
        near = to_words(state.space, ids) if state.takes_distances else None
        rows = state.log_rows(ids, near)[1]
        joint = (rows * prior[ids, None]).astype(np.float32)
        row, output = np.nonzero(joint > scores.min(axis=1))
        # Each output takes its new ones in turn, in place of its least.
        order = np.argsort(output, kind="stable")
        row, output = row[order], output[order]
        turn = np.arange(len(output)) - np.searchsorted(output, output)
        for number in range(int(turn.max(initial=-1)) + 1):
            now = turn == number
            mine, its = output[now], row[now]
            least = scores[mine].argmin(axis=1)
            better = joint[its, mine] > scores[mine, least]
            mine, its, least = mine[better], its[better], least[better]
            scores[mine, least] = joint[its, mine]
            law[mine, least] = rows[its, mine]
            candidates[mine, least] = ids[its]
        progress(part.stop / len(inputs))
    observation = np.arange(size, dtype=np.int32)
    how = "exact, from the law of every word"
    return rank(observation, candidates, law, prior, count, how)


def _from_draws(state: State, prior: Floats, count: int, progress: Progress) -> Channel:
    """Count what public words come out as; a word that never did may be itself."""
    size = state.space.vocab_size
    rng = np.random.Generator(np.random.PCG64(_SEED))
    repeats = np.maximum(np.rint(prior * _DRAWS), _LEAST).astype(np.int64)
    inputs = np.repeat(np.arange(size + 1, dtype=np.int32), repeats)
    outputs = np.empty_like(inputs)
    for part in slices(len(inputs), _BATCH):
        outputs[part] = state.sample(inputs[part], rng)
        progress(part.stop / len(inputs))
    pairs, times = np.unique(
        outputs.astype(np.int64) * (size + 1) + inputs, return_counts=True
    )
    output, word = np.divmod(pairs, size + 1)
    share = times / repeats[word]
    order = np.lexsort((-share * prior[word], output))
    output, word, share = output[order], word[order], share[order]
    place = np.arange(len(output)) - np.searchsorted(output, output)
    candidates = np.tile(np.arange(size)[:, None], (1, count)).astype(np.int32)
    law = np.zeros((size, count))
    law[:, -1] = 1 / repeats[:size]  # itself, as if drawn once
    kept = place < count - 1
    candidates[output[kept], place[kept]] = word[kept]
    law[output[kept], place[kept]] = share[kept]
    how = f"estimated from {len(inputs):,} draws of public words"
    observation: Ids = np.arange(size, dtype=np.int32)
    return rank(observation, candidates, law, prior, count, how)
