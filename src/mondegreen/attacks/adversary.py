"""Adversaries that targets are about: a reader of sentences, and the worst word."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Final, final

import numpy as np
from scipy.special import ndtri

from mondegreen.attacks.attack import Attack
from mondegreen.attacks.outputs import compute_outputs, has_closed_law
from mondegreen.attacks.pairs import Pairs
from mondegreen.attacks.reader import (
    Reader,
    SentenceReader,
    TableReader,
    at_face_value,
    reader,
)
from mondegreen.attacks.worst_words import find_worst
from mondegreen.decode.channel import build_channel
from mondegreen.decode.decoder import CANDIDATES
from mondegreen.errors import ConfigurationError
from mondegreen.language.ngrams import NGrams
from mondegreen.mechanisms.base import State
from mondegreen.scores.interval import Ends

KEYS: Final = ("reader", "worst_word")
"""Targets that an adversary measures."""

ALONE: Final = "how frequent words are"
"""What the reader knows who guesses each word from its own output."""

_FEWEST: Final = 2000
_AT_ONCE: Final = 10_000
_Z: Final = 1.96
_SEED: Final = 141
_CLOSE: Final = 0.004
_INSIDE: Final = 0.1


@final
@dataclass(frozen=True, slots=True)
class Adversary:
    """Measures settings by what adversaries recover of PUBLIC texts.

    Parameters
    ----------
    pairs : Pairs
        Public in-domain texts.
    language : NGrams
        The public language model that the reader knows.
    asked : collection of str
        Which of ``reader`` and ``worst_word`` are measured.
    at_once : bool
        Measure a reader only where that takes a second: a tree, on fewer words.
    """

    pairs: Pairs
    language: NGrams
    asked: Collection[str] = KEYS
    at_once: bool = False

    @property
    def digest(self) -> str:
        """SHA-256, in hex, of all that decides a measurement."""
        parts = (self.pairs.inputs, self.pairs.starts, self.pairs.ends)
        asked = f"{self.language.digest} {sorted(self.asked)} {self.at_once}"
        found = hashlib.sha256(asked.encode())
        for part in parts:
            found.update(part.tobytes())
        return found.hexdigest()

    def scores(
        self, state: State, words: int, seed: int, confidence: float
    ) -> dict[str, Ends]:
        """Bound the share of words that a reader recovers, and find the worst word.

        Of about so many words of the texts, 2,000 at least. ``worst_word`` is exact,
        and missing where the law is not closed.
        """
        found: dict[str, Ends] = {}
        if "reader" in self.asked and self._is_quick(state):
            words = min(words, _AT_ONCE) if self.at_once else words
            rng = np.random.default_rng([seed, 5])
            some = self.pairs.some(max(words, _FEWEST))
            found["reader"] = within(read(state, some, self.language, rng), confidence)
        if "worst_word" in self.asked and has_closed_law(state):
            (told,) = compute_outputs(state, [self.language.frequencies()])
            worst = find_worst(state.space, told)
            found["worst_word"] = worst, worst
        return found

    def _is_quick(self, state: State) -> bool:
        prior = self.language.frequencies()
        return not self.at_once or state.channel(prior, CANDIDATES) is not None


def read(
    state: State, pairs: Pairs, language: NGrams, rng: np.random.Generator
) -> Attack:
    """Draw a release, and let the strongest reader that knows a model guess it."""
    readers = build_readers(state, language)
    return reader(pairs.sample(state, rng), readers, language.frequencies())


def build_readers(state: State, language: NGrams) -> Mapping[str, Reader]:
    """Build readers of a release with a public model; :data:`ALONE` sees no context.

    That one is the Bayes adversary of single words, with the frequencies of the model:
    the best where the law is closed, and learned from public draws elsewhere.
    """
    channel = build_channel(state, language.frequencies(), CANDIDATES)
    return {
        ALONE: TableReader(channel.candidates[channel.observation, 0]),
        "a language model": SentenceReader(channel, language),
        **at_face_value(state),
    }


def success_against(
    reader: float,
    prepared: Callable[[float], State],
    pairs: Pairs,
    language: NGrams,
    least: float,
) -> float:
    """Find how often a single word may be guessed so that a reader recovers so much.

    Searches what ``prepared`` makes states of, from ``least`` on, with the same random
    numbers each time: a value at which the reader, measured on public texts, recovers
    at most that share of the words, and less by 0.004 at most unless values are as
    near.

    Raises ConfigurationError if it recovers more even with the least.
    """
    rng = np.random.default_rng

    def count_recovered(success: float) -> float:
        found = read(prepared(success), pairs, language, rng(_SEED)).value
        return 1.0 if found is None else found

    low, high, below, above = least, 1.0, count_recovered(least), 1.0
    if below > reader:
        raise ConfigurationError(
            f"reader {reader:g} cannot be reached: an attacker with the language "
            f"model recovers {below:.4f} of the words of SAMPLE whatever comes out"
        )
    while high - low > _CLOSE and reader - below > _CLOSE:
        # Where a line between the ends says, a little inside of them.
        share = (reader - below) / (above - below)
        middle = low + (high - low) * min(max(share, _INSIDE), 1 - _INSIDE)
        found = count_recovered(middle)
        if found > reader:
            high, above = middle, found
        else:
            low, below = middle, found
    return low


def within(attack: Attack, confidence: float) -> Ends:
    """Widen an interval of 95 % to another confidence, as that of a normal law."""
    value, low, high = attack.value, attack.low, attack.high
    assert value is not None  # noqa: S101 - a reader always has a value
    assert low is not None and high is not None  # noqa: S101, PT018
    factor = float(ndtri((1 + confidence) / 2)) / _Z
    return max(0.0, value - factor * (value - low)), min(
        1.0, value + factor * (high - value)
    )
