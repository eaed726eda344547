r"""The reader: an attacker who guesses each word from its output and those around it.

With a public language model :math:`Q` of sentences, and outputs drawn word by word, the
posterior is that of a hidden Markov model,

.. math:: P(x \mid y) \propto Q(x) \prod_i P(y_i \mid x_i)

and the best guess of one word is the most likely in its marginal (forward-backward).
With any other model than the true one this is a lower bound of what a better informed
reader recovers, so the strongest of those at hand counts.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Protocol, final

import numpy as np
from numpy.typing import NDArray

from mondegreen.arrays import Floats, Ids, Weights
from mondegreen.attacks.attack import Attack
from mondegreen.attacks.bayes import blind_success
from mondegreen.attacks.outputs import has_closed_law
from mondegreen.attacks.pairs import Pairs
from mondegreen.decode.adapt import Adapter
from mondegreen.decode.channel import load_channel
from mondegreen.decode.decoder import CANDIDATES, Decoder
from mondegreen.decode.released import Released
from mondegreen.language.ngrams import NGrams
from mondegreen.mechanisms.base import Progress, State, no_progress
from mondegreen.mechanisms.channel import Channel
from mondegreen.scores.risk import frequency_prior

_BEAM: Final = 12
_SEED: Final = 20_216


class Reader(Protocol):
    """Guesses words from released ids and public knowledge alone."""

    def guesses(self, released: Ids, ends: NDArray[np.bool_]) -> Ids:
        """Guess each word; ``ends`` tells after which one a sentence ends."""


@final
@dataclass(frozen=True, slots=True)
class TableReader:
    """Guesses each word from its own output: a word for each, shape (V,)."""

    guess: Ids

    def guesses(self, released: Ids, ends: NDArray[np.bool_]) -> Ids:
        return self.guess[released]


def at_face_value(state: State) -> Mapping[str, Reader]:
    """Take released words for the originals: best where next to nothing is changed."""
    every = np.arange(state.space.vocab_size, dtype=np.int32)
    return {"takes the released words as they are": TableReader(every)}


@final
class SentenceReader:
    """Guesses the most likely word of each posterior, by trigrams of public text."""

    def __init__(self, channel: Channel, language: NGrams) -> None:
        self._decoder = Decoder(channel, language, beam=_BEAM)

    def guesses(self, released: Ids, ends: NDArray[np.bool_]) -> Ids:
        return self._decoder.guesses(Released(released, ends))


@final
@dataclass(frozen=True, slots=True)
class Knowledge:
    """What adversaries know besides the mechanism.

    Parameters
    ----------
    prior : float64 array, shape (V + 1,)
        Word frequencies, the unknown word last.
    says : str
        Where these come from.
    is_public : bool
        False where they are of the texts that are attacked, whose words must not be
        shown.
    readers : mapping of str to Reader
        Adversaries who read sentences, by what they know.
    learns : callable, optional
        Makes a reader that learned from a release besides.

    Examples
    --------
    >>> known = Knowledge.of_texts(np.array([3, 1, 0]))
    >>> known.is_public, int(known.prior.argmax())
    (False, 0)
    """

    prior: Floats
    says: str
    is_public: bool
    readers: Mapping[str, Reader] = field(default_factory=dict)
    learns: Callable[[Released], tuple[Reader, float]] | None = None

    @classmethod
    def of_language(
        cls, state: State, language: NGrams, progress: Progress = no_progress
    ) -> Knowledge:
        """Know a public language model, of the words of the same space.

        Parameters
        ----------
        state : State
            The law.
        language : NGrams
            A public language model.
        progress : callable, optional
            Called with the share of the channel that is known.

        Returns
        -------
        Knowledge
            Its word frequencies and transitions.

        Raises
        ------
        LanguageError
            If the model has other words than the space.
        """
        language.check_space(state.space)
        name = "one" if language.path is None else language.path.stem
        says = f"the public language model {name}"
        if state.author or not has_closed_law(state):
            # A law that is not kept on disk, or that takes minutes to draw from: one
            # pass over it serves both readers.
            adapter = Adapter(state, language, progress)
            channel = adapter.channel(language)
            learns = functools.partial(_learn_reader, lambda: adapter)
        else:
            channel = load_channel(state, language, CANDIDATES, progress)
            learns = functools.partial(_learn_reader, lambda: Adapter(state, language))
        readers = {f"{says}, of trigrams": SentenceReader(channel, language)}
        return cls(language.frequencies(), says, True, readers, learns)

    @classmethod
    def of_texts(cls, counts: Weights) -> Knowledge:
        """Know the frequencies of the texts attacked; expect other words, if seldom.

        Parameters
        ----------
        counts : int64 array, shape (V + 1,)
            Word counts of the texts.

        Returns
        -------
        Knowledge
            Word frequencies, without transitions.
        """
        prior = frequency_prior(counts, smoothing=1 / len(counts))
        return cls(prior, "how frequent each word is in these texts", is_public=False)


def _learn_reader(
    find_adapter: Callable[[], Adapter], released: Released
) -> tuple[Reader, float]:
    """Make the reader that learned from a release, and the weight of what it knew."""
    adapter = find_adapter()
    found = adapter.adapt(released)
    channel = adapter.channel(found.model)
    return SentenceReader(channel, found.model), found.weight


def learning_reader(pairs: Pairs, knowledge: Knowledge) -> Attack | None:
    """Measure what a reader recovers who learns from the release that it reads.

    All released words together show which outputs are frequent, and beside which
    others. None where no language model is known that could learn.
    """
    if knowledge.learns is None:
        return None
    learned, weight = knowledge.learns(Released(pairs.outputs, pairs.ends))
    says = f"reads whole sentences; knows the mechanism, {knowledge.says} and"
    learns = (
        f"{says} what these {len(pairs.inputs):,} released words disclose about each "
        "other"
    )
    hits = learned.guesses(pairs.outputs, pairs.ends) == pairs.inputs
    details = {"weight_of_public_model": weight}
    blind = _blind(pairs, learned)
    return _build_attack(
        "learning_reader", pairs, hits, learns, knowledge.prior, details, blind
    )


def add_way(read: Attack, learned: Attack) -> Attack:
    """Add what the learning reader recovers to the ways of the reader.

    So a limit on the reader also fails where the learning reader is above it.
    """
    ways = {"whole sentences": read, "learning from the release": learned}
    by = [
        {"by": name, "value": way.value, "low": way.low, "high": way.high}
        for name, way in ways.items()
    ]
    return replace(read, details={**read.details, "by": by})


def reader(pairs: Pairs, readers: Mapping[str, Reader], prior: Floats) -> Attack:
    """Measure how many words the strongest of some readers recovers.

    Parameters
    ----------
    pairs : Pairs
        Originals and released words.
    readers : mapping of str to Reader
        By what they know, for people.
    prior : float64 array, shape (V + 1,)
        For the guess that looks at no output.
    """
    hits = {
        knows: each.guesses(pairs.outputs, pairs.ends) == pairs.inputs
        for knows, each in readers.items()
    }
    shares = {knows: float(found.mean()) for knows, found in hits.items()}
    strongest = max(shares, key=lambda knows: shares[knows])
    says = f"reads whole sentences; knows the mechanism and {strongest}"
    blind = _blind(pairs, readers[strongest])
    return _build_attack(
        "reader", pairs, hits[strongest], says, prior, {"readers": shares}, blind
    )


def _blind(pairs: Pairs, reader: Reader) -> float:
    """By chance is what a reader gets right of outputs that belong elsewhere."""
    elsewhere = np.random.default_rng(_SEED).permutation(pairs.outputs)
    return float((reader.guesses(elsewhere, pairs.ends) == pairs.inputs).mean())


def attack_printed_words(pairs: Pairs, prior: Floats) -> Attack:
    """Take the words of a decoded release for those of the originals."""
    says = "reads the release as it is printed, and takes its words for the original"
    hits: NDArray[np.bool_] = np.asarray(pairs.printed == pairs.inputs)
    return _build_attack("reader", pairs, hits, says, prior, {})


def _build_attack(
    name: str,
    pairs: Pairs,
    hits: NDArray[np.bool_],
    says: str,
    prior: Floats,
    details: Mapping[str, Any],
    blind: float = 0.0,
) -> Attack:
    share, (low, high) = float(hits.mean()), pairs.interval(hits)
    chance, count = max(blind, blind_success(pairs, prior)), len(hits)
    return Attack(name, says, share, low, high, chance, count, details=details)
