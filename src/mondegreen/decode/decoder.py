"""The decoder: what a sentence of released words may have been."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from mondegreen.arrays import Floats, Ids, within
from mondegreen.decode.book import Book, Indices
from mondegreen.decode.lattice import Lattice
from mondegreen.decode.paths import best, likelihoods, log_sum, marginals, path
from mondegreen.decode.released import Released
from mondegreen.decode.tables import Singles
from mondegreen.language.ngrams import NGrams
from mondegreen.mechanisms.channel import Channel

CANDIDATES: Final = 24
"""Candidate inputs of each output; more find nothing better."""

BEAM: Final = 8
"""Of these, how many are left when pairs of words have been looked at."""

_WORDS: Final = 1024
"""Words decoded together: their arrays take some 20 MB."""


@final
class Decoder:
    """Reads released words with a public language model.

    It sees :class:`Released` alone, so what it finds is a function of the release
    and of public things: it costs no epsilon. An attacker with the same language model
    computes the same posterior.

    Parameters
    ----------
    channel : Channel
        The likely inputs of each output; see
        :func:`mondegreen.decode.channel.build_channel`.
    language : NGrams
        A model of PUBLIC text over the same words.
    printable : bool array, shape (V + 1,), optional
        Which words a reading may hold: all but the unknown word, if not given.
    beam : int
        Candidates of a word that triples of words decide between.

    Notes
    -----
    *Numerics.* Scores are whole numbers of 1/1024 nat, and sums of them are exact: a
    sentence is read the same on every machine, whatever stands beside it. First the
    best path by pairs of words through each of 24 candidates decides which ``beam`` of
    them are left; then triples decide between these.

    References
    ----------
    .. [1] Shannon. "A Mathematical Theory of Communication." Bell System Technical
       Journal, 1948: the noisy channel.
    .. [2] Rabiner. "A Tutorial on Hidden Markov Models and Selected Applications in
       Speech Recognition." Proceedings of the IEEE, 1989.

    Examples
    --------
    >>> import mondegreen as mg
    >>> from mondegreen.decode.channel import build_channel
    >>> space, language = mg.load_space(), mg.load_language()
    >>> state = mg.mechanism("tree", epsilon=10.0).prepare(space)
    >>> channel = build_channel(state, language.frequencies(), 24)
    >>> decoder = Decoder(channel, language)
    >>> drawn = np.array([space.index[w] for w in "an hospital of its clock".split()])
    >>> ends = np.array([False, False, False, False, True])
    >>> read = decoder.sentence(Released(drawn.astype(np.int32), ends))
    >>> len(read)
    5
    """

    def __init__(
        self,
        channel: Channel,
        language: NGrams,
        *,
        printable: NDArray[np.bool_] | None = None,
        beam: int = BEAM,
    ) -> None:
        self._channel, self._language, self._beam = channel, language, beam
        if printable is None:
            size = len(channel.observation)
            printable = np.arange(size + 1) < size
        self._printable = printable
        self._is_printed = printable[channel.candidates] & np.isfinite(channel.log_law)
        # Candidates come by falling posterior, so the first that can be printed.
        first = self._is_printed.argmax(axis=1)
        self._single = channel.candidates[np.arange(len(first)), first]
        self._single[~self._is_printed.any(axis=1)] = -1

    @property
    def vocab_size(self) -> int:
        """Number of words, which is the id of the unknown word."""
        return self._language.vocab_size

    @cached_property
    def _book(self) -> Book:
        return Book(self._channel, self._language)

    @cached_property
    def _readable(self) -> Singles:
        """The law of candidates that a reading may hold."""
        law = self._book.law.copy()
        # Where there is none the path needs some candidate; `_print` sees to it.
        is_left_out = ~self._is_printed & self._is_printed.any(axis=1, keepdims=True)
        law[:-1][is_left_out] = -np.inf
        return law

    def words(self, released: Released) -> Ids:
        """The most likely input of each word by itself, shape (T,); codes stay.

        Parameters
        ----------
        released : Released
            Released words.

        Returns
        -------
        int32 array, shape (T,)
            Inputs.
        """
        found = released.ids.copy()
        through = found >= 0
        single = self._single[self._channel.observation[found[through]]]
        found[through] = np.where(single < 0, found[through], single)
        return found

    def sentence(self, released: Released) -> Ids:
        """The most likely sentences, shape (T,); codes stay where they are.

        Parameters
        ----------
        released : Released
            Released words.

        Returns
        -------
        int32 array, shape (T,)
            Inputs.
        """
        found = released.ids.copy()
        for rows, lattice in self._lattices(released, self._readable):
            chosen = path(lattice, best, lambda values: values.argmax(axis=1))
            found[rows] = self._print(_words(lattice, chosen), released.ids[rows])
        return found

    def draw(self, released: Released, rng: np.random.Generator) -> Ids:
        """Draw sentences from the posterior, shape (T,); codes stay.

        Parameters
        ----------
        released : Released
            Released words.
        rng : numpy.random.Generator
            Source of the draw.

        Returns
        -------
        int32 array, shape (T,)
            Inputs.
        """

        def choose(values: Singles) -> Indices:
            return np.asarray((values + rng.gumbel(size=values.shape)).argmax(axis=1))

        found = released.ids.copy()
        for rows, lattice in self._lattices(released, self._readable):
            drawn = _words(lattice, path(lattice, log_sum, choose))
            found[rows] = self._print(drawn, released.ids[rows])
        return found

    def marginals(self, released: Released) -> tuple[Ids, Floats]:
        """The posterior of each word: inputs and their probabilities, (T, beam) each.

        Here the unknown word is an input like any other. Rows of codes are 0.

        Parameters
        ----------
        released : Released
            Released words.

        Returns
        -------
        tuple of int32 and float64 array, shape (T, beam)
            Inputs, and their posterior probabilities.
        """
        shape = (len(released.ids), min(self._beam, self._book.words.shape[1]))
        ids, shares = np.zeros(shape, dtype=np.int32), np.zeros(shape)
        for rows, lattice in self._lattices(released, self._book.law):
            place = _word_places(lattice)
            ids[rows] = lattice.words[place]
            shares[rows] = marginals(lattice)[place - lattice.offsets[1]]
        return ids, shares

    def _print(self, read: Ids, released: Ids) -> Ids:
        """Leave a word as it was released where nothing else may be printed."""
        return np.where(self._printable[read], read, released)

    def guesses(self, released: Released) -> Ids:
        """The most likely input of each word within its sentence, shape (T,).

        Parameters
        ----------
        released : Released
            Released words.

        Returns
        -------
        int32 array, shape (T,)
            Inputs, the unknown word included.
        """
        ids, shares = self.marginals(released)
        best_one = shares.argmax(axis=1)[:, None]
        return np.asarray(np.take_along_axis(ids, best_one, axis=1)[:, 0])

    def log_law(self, released: Released, inputs: Ids) -> Floats:
        """Score inputs by ln P(y | x), up to a constant of each word; 0 for codes.

        Parameters
        ----------
        released : Released
            Released words.
        inputs : int32 array, shape (T,)
            An input for each.

        Returns
        -------
        float64 array, shape (T,), nats
            Scores.
        """
        scores = np.zeros(len(inputs))
        through = np.flatnonzero(released.ids >= 0)
        rows = self._book.observation[released.ids[through]]
        is_input = self._book.words[rows] == inputs[through, None]
        scores[through] = np.where(is_input, self._book.law[rows], -np.inf).max(axis=1)
        return scores

    def log_likelihood(self, released: Released) -> float:
        r"""Score released words by the model and the law, nats a word.

        .. math:: \frac{1}{T} \ln \sum_x Q(x) \prod_i P(y_i \mid x_i)

        over the sentences that candidates make, up to a constant of each output.

        Parameters
        ----------
        released : Released
            Released words.

        Returns
        -------
        float, nats per word
            Mean log-likelihood.
        """
        total, words = 0.0, 0
        for rows, lattice in self._lattices(released, self._book.law):
            total += float(likelihoods(lattice).sum())
            words += len(rows)
        return total / max(words, 1)

    def _lattices(
        self, released: Released, law: Singles
    ) -> Iterator[tuple[Indices, Lattice]]:
        """Yield chunks of sentences, and the places of their words in the release."""
        for starts, lengths in released.chunks(_WORDS):
            rows = np.repeat(starts, lengths) + within(lengths)
            seen = self._book.observation[released.ids[rows]]
            lattice = Lattice.of(self._book, law, lengths, seen)
            yield rows, lattice.prune(self._beam)


def _word_places(lattice: Lattice) -> Indices:
    """The places of words, sentence by sentence."""
    lengths = lattice.lengths
    sentence = np.repeat(np.arange(len(lengths)), lengths)
    return lattice.offsets[within(lengths) + 1] + sentence


def _words(lattice: Lattice, chosen: Indices) -> Ids:
    """The words that were chosen, sentence by sentence."""
    place = _word_places(lattice)
    column = chosen[place - lattice.offsets[1]]
    return np.asarray(lattice.words[place, column])
