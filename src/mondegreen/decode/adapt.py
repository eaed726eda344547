r"""A language model that learns from a release: domain adaptation without a clear word.

A release of many texts shows how often each output comes, and beside which others. The
law is public, so anyone may guess the words behind them, count their n-grams, and mix
these into a public model,

.. math:: Q' = \lambda\, Q + (1 - \lambda)\, \hat Q

with the weight that makes a held-out part of the release is most likely: the sum of
:math:`Q'(x) \prod_i P(y_i \mid x_i)` over all sentences :math:`x`. This is one step of
the EM algorithm for a hidden Markov model (Dempster, Laird and Rubin, "Maximum
Likelihood from Incomplete Data", JRSS B, 1977), with best guesses for expectations. It
is a function of released words and of public things, so it costs no epsilon; and what a
reader learns so, an adversary learns too.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from mondegreen.arrays import Floats
from mondegreen.decode.channel import load_channel
from mondegreen.decode.decoder import CANDIDATES, Decoder
from mondegreen.decode.released import Released
from mondegreen.language.counts import Counter
from mondegreen.language.mix import Mixer
from mondegreen.language.ngrams import RELEASE, NGrams
from mondegreen.mechanisms.base import Progress, State, no_progress
from mondegreen.mechanisms.channel import Channel, rank

_WIDE: Final = 4 * CANDIDATES
"""Inputs of an output that another model may prefer."""

_LEAST: Final = 3
_HOLD: Final = 10
_HELD: Final = 20_000
"""Words of the release that find the weight: one sentence in ten, and no more."""

_WEIGHTS: Final = (0.85, 0.7, 0.5)
"""Of the public model, which alone tells words of one group from each other: a release
is likelier still with less of it, but its words are then guessed less often."""

_GAIN: Final = 0.002
"""Nats a word by which held-back words must be likelier, or nothing was learned."""


@final
class Adapted(NamedTuple):
    """A model that learned from a release, and what it gained there."""

    model: NGrams  # the public one itself, where nothing was learned
    weight: float  # of the public model in it
    likelihoods: tuple[float, float]  # of held-back outputs, nats a word: before, after


@final
class Adapter:
    """Learns from released words; it computes the channel of a setting once.

    Parameters
    ----------
    state : State
        The mechanism that drew the words.
    language : NGrams
        A model of PUBLIC text over the same words.
    progress : callable
        Told the share of the channel that is known.
    """

    def __init__(
        self, state: State, language: NGrams, progress: Progress = no_progress
    ) -> None:
        language.check_space(state.space)
        self.language, self._state = language, state
        self._wide = load_channel(state, language, _WIDE, progress)
        self._law: Floats = np.exp(self._wide.log_law)

    def channel(self, language: NGrams) -> Channel:
        """Find the likely inputs of each output under another model."""
        wide, prior = self._wide, language.frequencies()
        how, seen = wide.how, wide.observation
        return rank(seen, wide.candidates, self._law, prior, CANDIDATES, how)

    def adapt(self, released: Released, known: str = "") -> Adapted:
        """Learn the n-grams of a release, those guessed three times or more.

        Parameters
        ----------
        released : Released
            Words that were drawn; the more, the more there is to learn.
        known : str
            What the model says behind the setting, such as " as was claimed".

        Returns
        -------
        Adapted

        Examples
        --------
        >>> import mondegreen as mg
        >>> space, language = mg.load_space(), mg.load_language()
        >>> state = mg.mechanism("tree", epsilon=10.0).prepare(space)
        >>> clear = np.array([space.index[w] for w in "where is the oven".split()] * 50)
        >>> drawn = state.sample(clear.astype(np.int32), np.random.default_rng(0))
        >>> found = Adapter(state, language).adapt(
        ...     Released(drawn, np.arange(200) % 4 == 3)
        ... )
        >>> found.weight < 1, found.model.about.releases[0][:22]
        (True, 'a release of 180 words')
        """
        learnt, held = _split(released)
        own = self._count(learnt, known)
        before = self._likelihood(self.language, held)
        best = Adapted(self.language, 1.0, (before, before))
        last = -np.inf
        if own is None or not len(held.ids):
            return best
        mixer = Mixer(self.language, own)
        for weight in _WEIGHTS:
            model = _mix(self.language, own, mixer, weight)
            after = self._likelihood(model, held)
            if after > max(best.likelihoods[1], before + _GAIN):
                best = Adapted(model, weight, (before, after))
            if after <= last:
                break  # it rises to one peak and falls
            last = after
        return best

    def _count(self, released: Released, known: str) -> NGrams | None:
        """Count the most likely inputs of released words, with the unknown word."""
        guesses = Decoder(self.channel(self.language), self.language).guesses(released)
        counter = Counter(self._state.space.vocab_size)
        is_word = released.ids >= 0
        # A sentence is cut at a word that was not drawn, as when it is read.
        ends = released.ends.copy()
        ends[:-1] |= ~is_word[1:]
        counter.add(guesses[is_word], ends[is_word].tolist())
        counts = counter.finish()
        if not counts.words:
            return None
        setting = self._state.stated.setting + known
        source = f"{RELEASE}{counts.words:,} words by {setting}, as they were guessed"
        space = self._state.space
        return NGrams.from_counts(counts, space, least=_LEAST, sources=[source])

    def _likelihood(self, language: NGrams, released: Released) -> float:
        return Decoder(self.channel(language), language).log_likelihood(released)


def _mix(public: NGrams, own: NGrams, mixer: Mixer, weight: float) -> NGrams:
    """Mix a public model and what was learned."""
    about = replace(
        public.about,
        sources=(*public.about.sources, *own.about.sources),
        words=public.about.words + own.about.words,
        sentences=public.about.sentences + own.about.sentences,
        mixed=(f"{weight:g} of {public.digest}", f"{1 - weight:g} of {own.digest}"),
    )
    return NGrams.from_tables(mixer.mix_tables(weight), about)


def _split(released: Released) -> tuple[Released, Released]:
    """Hold back one sentence in ten, of so many words at most; the rest is learned."""
    starts, lengths = released.sentences()
    chosen = np.arange(len(starts)) % _HOLD == _HOLD - 1
    chosen &= np.cumsum(lengths * chosen) <= _HELD
    is_held = np.zeros(len(released.ids) + 1, dtype=np.int64)
    np.add.at(is_held, starts[chosen], 1)
    np.add.at(is_held, (starts + lengths)[chosen], -1)
    held = np.cumsum(is_held)[:-1] > 0
    return _part(released, ~held), _part(released, held)


def _part(released: Released, some: NDArray[np.bool_]) -> Released:
    """Take some sentences; one ends where the next word is not taken."""
    ends = released.ends.copy()
    ends[:-1] |= some[:-1] & ~some[1:]
    return Released(released.ids[some], ends[some])
