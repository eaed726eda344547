r"""Sensitive words that an attacker recovers from a release.

The attacker knows the law and has an in-domain corpus: texts from the same domain as
the release. Under a policy the attacker sees the ordinary words in plain text. From the
corpus the attacker knows how often each word has each symbol, and which words stand
together (trigrams, forward-backward over the hidden places).

Which words count as sensitive is one frozen list, whatever made the release: see
:func:`is_counted`. So no policy chooses its own denominator.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from mondegreen.arrays import Floats, Ids, Weights
from mondegreen.attacks.attack import Attack, by_texts
from mondegreen.attacks.cooccurrence import (
    KNOWN,
    PRINTED,
    Places,
    match_words,
    number_words,
)
from mondegreen.attacks.linked import combine_places, solve_cipher
from mondegreen.attacks.pairs import Pairs
from mondegreen.attacks.parts import draw_parts
from mondegreen.attacks.reader import Knowledge, Reader, TableReader
from mondegreen.attacks.related_rows import RELATED, Beside, RelatedRows
from mondegreen.attacks.similar_texts import Level, SimilarTexts
from mondegreen.attacks.whole_texts import Texts, WholeTexts
from mondegreen.decode.channel import load_channel
from mondegreen.decode.decoder import Decoder
from mondegreen.decode.released import Released
from mondegreen.language.build import build_language, read_words
from mondegreen.language.counts import Counter as TripleCounter
from mondegreen.language.mix import mix
from mondegreen.language.ngrams import NGrams
from mondegreen.language.store import load_language
from mondegreen.mechanisms.base import State
from mondegreen.mechanisms.channel import Channel
from mondegreen.mechanisms.symbols.response import Response
from mondegreen.policy.lexicon import load_lexicon
from mondegreen.policy.lookup import PolicyLookup
from mondegreen.policy.policy import Policy, load_policy
from mondegreen.sampling.integers import TOTAL
from mondegreen.scores.interval import Ends
from mondegreen.space.space import Space, WordSpace
from mondegreen.text.sentences import find_ends
from mondegreen.text.tokenizer import TokenizedBatch, canonical, tokenize

_CANDIDATES: Final = 48
_STRAYS: Final = 8
"""Words that are tried besides: the most frequent of all, which may have strayed."""

_BEAM: Final = 12
_BATCH: Final = 4096
_HELD: Final = 10  # one in so many texts of a corpus weighs two language models

NUMBER: Final = "number"
"""The class of numbers, codes and parts of addresses in :func:`word_classes`."""

_NOT_COUNTED: Final = ("ordinary", "rest", NUMBER)

NEIGHBORS: Final = "the other words alone"
SIMILAR: Final = "the most similar known text"
WHOLE: Final = "the words of the whole text"
BEST: Final = "the best of these for each class"
"""Names of ways to guess sensitive words."""

CIPHERS: Final = {
    "how often each word is printed": 0.0,
    "how often and where each word is printed": 0.3,
}
"""Ways to guess words that are printed alike everywhere; what contexts weigh."""

TOGETHER: Final = "which words are printed together"
"""A further such way."""

_GROUP: Final = 1 << 32
"""Beyond all numbers of words and places: a word of a group is one number."""

Marks = NDArray[np.bool_]


class _Hidden(NamedTuple):
    """Hidden places: where they are, in which text, and the word of its group."""

    at: Weights
    texts: Weights
    words: Weights


def word_classes(batch: TokenizedBatch) -> NDArray[np.str_]:
    """Name the class of every word, by the shipped lexicon alone.

    ``ordinary``; a class of sensitive words such as ``health``; ``other_name`` for
    unknown words with a capital; ``rest`` for rare words and other unknown ones; or
    ``number``. The same for every policy and mechanism.

    >>> word_classes(tokenize(["Ann has diabetes and 3 zorbles."])).tolist()
    ['first_name', 'ordinary', 'health', 'ordinary', 'number', 'rest']
    """
    policy, own = load_policy("sensitive"), _own_classes()
    codes = PolicyLookup(policy).codes(batch)
    found = []
    for word, symbol in zip(batch.words(), codes.tolist(), strict=True):
        name = policy.describe(symbol)[0]
        if name != "shape":
            # Small classes share a group, which is called after the largest.
            name = own.get(canonical(word), name)
        found.append(NUMBER if name in ("shape", "number_word") else name)
    return np.array(found, dtype=np.str_)


@functools.cache
def _own_classes() -> Mapping[str, str]:
    """The classes of sensitive words, and those that ordinary words had before."""
    lexicon = load_lexicon()
    lists = (*lexicon.words.items(), *lexicon.unprinted.items())
    found = {word: name for name, words in lexicon.counted.items() for word in words}
    return found | {word: name for (name, _), words in lists for word in words}


def is_counted(batch: TokenizedBatch) -> Marks:
    """Tell which words count as sensitive when releases are compared.

    One frozen list for all policies and mechanisms: the classes of the shipped lexicon
    (names, places, organizations, dates, health, family, ...) and unknown words with a
    capital. A word counts by the class of the first lexicon that has it, also if a
    later one calls it ordinary. Numbers and the class ``rest`` do not count, and are
    reported beside it.

    Parameters
    ----------
    batch : TokenizedBatch
        The original texts; see :func:`mondegreen.text.tokenizer.tokenize`.

    Returns
    -------
    bool array, shape (words,)
        Flat over all texts.

    Examples
    --------
    >>> is_counted(tokenize(["Ann has diabetes and 3 zorbles."])).tolist()
    [True, False, True, False, False, False]
    """
    return ~np.isin(word_classes(batch), _NOT_COUNTED)


@final
class InDomainReader:
    """Guesses hidden words from symbols and neighbors, by a corpus of the same domain.

    Parameters
    ----------
    policy : Policy
        The policy of the release.
    corpus : iterable of str
        Texts of other people from the same domain; none of those attacked.
    response : Response
        The law of the release, so that the reader allows for words that strayed.
    candidates : int
        Words that are tried for each hidden place: the most frequent of its symbol.
    beside : sequence of Beside
        What is beside each text of the corpus, in its file; nothing if not given.
    """

    def __init__(
        self,
        policy: Policy,
        corpus: Iterable[str],
        response: Response,
        *,
        candidates: int = _CANDIDATES,
        beside: Sequence[Beside] = (),
    ) -> None:
        self.lookup = PolicyLookup(policy)
        seen: Counter[tuple[int, str]] = Counter()
        chunks, signs = [], list[Ids]()
        for texts in _chunks(corpus):
            batch = self.lookup.cut(texts)
            folded = [canonical(word) for word in batch.words()]
            codes = self.lookup.codes(batch)
            seen.update(zip(codes.tolist(), folded, strict=True))
            chunks.append((folded, find_ends(batch)))
            signs += np.split(codes, batch.begins[1:-1])
        self.corpus_words = sum(seen.values())
        self.symbol_counts: Weights = np.zeros(policy.alphabet.size, dtype=np.int64)
        for (symbol, _), times in seen.items():
            self.symbol_counts[symbol] += times
        found = {word for _, word in seen} | set(policy.ordinary)
        words = sorted(w for w in found if w.isprintable() and " " not in w)
        self.index = {word: i for i, word in enumerate(words)}
        self.unknown = len(words)
        counter = TripleCounter(len(words))
        own: list[Ids] = []
        for folded, ends in chunks:
            own.append(self.ids(folded))
            counter.add(own[-1], ends.tolist())
        space = WordSpace("in-domain", tuple(words))
        self.language = NGrams.from_counts(counter.finish(), space)
        self._seen, self._candidates = seen, candidates
        self._ordinary = len(policy.ordinary)
        starts = np.cumsum([len(each) for each in signs])[:-1]
        flat = np.concatenate(own) if own else np.zeros(0, dtype=np.int32)
        by_text = np.split(flat, starts) if signs else []
        self._similar = SimilarTexts(signs, by_text)
        shown = np.concatenate(signs) if signs else flat
        self._shown, self._flat = shown, flat
        self._starts = np.cumsum([0, *map(len, signs)])
        self._hidden = self._list_hidden(shown, flat, [*map(len, signs)])
        self._related: RelatedRows | None = None
        if beside:
            places = [np.flatnonzero(self._is_hidden(each)).tolist() for each in signs]
            self._related = RelatedRows(beside, signs, by_text, places)
        self._set_channel(response)

    def _set_channel(self, response: Response) -> None:
        self._response = response
        self._channel = self._make_channel(response)
        every = np.ones(len(self.index) + 1, dtype=np.bool_)
        self._decoder, self._blind = (
            Decoder(channel, self.language, printable=every, beam=_BEAM)
            for channel in (self._channel, self._hide_groups(self._channel))
        )

    def under(self, response: Response) -> InDomainReader:
        """Return the same attacker on a release by another law."""
        found = copy(self)
        found._set_channel(response)
        return found

    def ids(self, folded: Sequence[str]) -> Ids:
        """Number words by the vocabulary of the attacker."""
        get, unknown = self.index.get, self.unknown
        return np.fromiter((get(w, unknown) for w in folded), np.int32, len(folded))

    def _make_channel(self, response: Response) -> Channel:
        """List the most likely words of each symbol, with P(symbol | word)."""
        totals: Counter[str] = Counter()
        by_symbol: dict[int, list[tuple[float, str]]] = {}
        symbols, count = len(self.symbol_counts), self._candidates
        for (symbol, word), times in self._seen.items():
            totals[word] += times
            if word in self.index:
                by_symbol.setdefault(symbol, []).append((times, word))
        by_symbol |= self._blur_cells(by_symbol)
        frequent = [w for w, _ in totals.most_common(2 * _STRAYS) if w in self.index]
        kept, stray = response.kept / TOTAL, response.stray / TOTAL
        targets = range(response.first, response.first + response.count)
        candidates = np.zeros((symbols, count + _STRAYS), dtype=np.int32)
        law = np.full(candidates.shape, -np.inf)
        candidates[:, 0], law[:, 0] = self.unknown, 0.0
        for symbol in range(symbols):
            own = sorted(by_symbol.get(symbol, ()), reverse=True)[:count]
            if not own:
                continue
            # P(symbol | word): the word has this symbol and stays, or strays to it.
            strays = stray if symbol in targets else 0.0
            share = {word: times / totals[word] for times, word in own}
            if strays:
                share |= dict.fromkeys(frequent[:_STRAYS], 0.0) | share
            chances = {w: s * kept + (1 - s) * strays for w, s in share.items()}
            ranked = sorted(chances, key=lambda w: (-chances[w] * totals[w], w))
            candidates[symbol, : len(ranked)] = [self.index[w] for w in ranked]
            with np.errstate(divide="ignore"):
                law[symbol, : len(ranked)] = np.log([chances[w] for w in ranked])
        return Channel(np.arange(symbols, dtype=np.int32), candidates, law, "exact")

    def _blur_cells(
        self, by_symbol: Mapping[int, list[tuple[float, str]]]
    ) -> dict[int, list[tuple[float, str]]]:
        """Spread the words of each cell of amounts over the cells that it is drawn."""
        alphabet = self.lookup.policy.alphabet
        if alphabet.near is None:
            return {}
        first, law = alphabet.cells.start, alphabet.near.weights / TOTAL
        words = [
            (cell - first, times, word)
            for cell in alphabet.cells
            for times, word in by_symbol.get(cell, ())
        ]
        return {
            first + drawn: [
                (times * law[own, drawn], word) for own, times, word in words
            ]
            for drawn in range(len(alphabet.cells))
        }

    def _hide_groups(self, channel: Channel) -> Channel:
        """Give all hidden places one output: any hidden word may have made it."""
        ordinary, totals = self._ordinary, Counter[str]()
        for (symbol, word), times in self._seen.items():
            if symbol >= ordinary and word in self.index:
                totals[word] += times
        width = channel.candidates.shape[1]
        ranked = sorted(totals, key=lambda word: (-totals[word], word))[:width]
        candidates, law = channel.candidates.copy(), channel.log_law.copy()
        candidates[ordinary:], law[ordinary:] = self.unknown, -np.inf
        candidates[ordinary:, : len(ranked)] = [self.index[word] for word in ranked]
        law[ordinary:, : max(1, len(ranked))] = 0.0
        return Channel(channel.observation, candidates, law, "exact")

    def guess_alone(self, symbols: Ids) -> Ids:
        """Guess the most frequent word of each symbol: its neighbors are not seen."""
        return np.asarray(self._channel.candidates[symbols, 0])

    def best_guesses(self) -> tuple[list[str], Floats]:
        """Return the guess at each symbol alone, and P(symbol | that word)."""
        names = [*self.index, ""]  # the unknown word has no name
        guesses = [names[i] for i in self._channel.candidates[:, 0].tolist()]
        return guesses, np.exp(self._channel.log_law[:, 0])

    def guess(
        self, symbols: Ids, ends: NDArray[np.bool_], links: Weights | None = None
    ) -> Ids:
        """Guess the most likely word at each place, given the whole sentence.

        Linked places get one guess: what is printed there tells that their words are
        the same; see :func:`mondegreen.attacks.linked.link_places`.
        """
        released = Released(symbols, ends)
        if links is None:
            return self._decoder.guesses(released)
        return combine_places(*self._decoder.marginals(released), links)

    @functools.cached_property
    def _level(self) -> Level:
        """How similar a known place has to be, so that its words are copied."""
        places, rights = {}, {}
        for text in self._similar.choose_texts():
            found, words = self._similar.get_text(text)
            symbols = found.astype(np.int32)
            places[text] = np.flatnonzero(self._is_hidden(symbols))
            alone = self.guess_alone(symbols[places[text]])
            rights[text] = alone == words[places[text]]
        return self._similar.learn_level(places, rights)

    def _is_hidden(self, symbols: Ids) -> Marks:
        return np.asarray(self.lookup.policy.alphabet.is_group(symbols))

    def guess_by_similar_texts(self, symbols: Ids, starts: Weights, read: Ids) -> Ids:
        """Copy hidden words from the most similar place of a known text.

        Only places that are similar enough are used.

        Parameters
        ----------
        symbols : int array, shape (words,)
            The release, text after text.
        starts : int array, shape (texts + 1,)
            Where each text begins; the last one is the number of words.
        read : int array, shape (words,)
            What is guessed elsewhere.

        Returns
        -------
        int array, shape (words,)
        """
        found = read.copy()
        for text in np.split(np.arange(len(symbols)), starts[1:-1]):
            places = np.flatnonzero(self._is_hidden(symbols[text]))
            copied = self._similar.copy(symbols[text], places.tolist(), self._level)
            is_similar = copied.words >= 0
            found[text[places[is_similar]]] = copied.words[is_similar]
        return found

    @functools.cached_property
    def _whole_texts(self) -> WholeTexts:
        known = Texts(self._shown, self._starts, self._hidden.at)
        return WholeTexts(known, self._flat, self._ordinary)

    def guess_by_whole_texts(self, symbols: Ids, starts: Weights, read: Ids) -> Ids:
        """Guess hidden words by the ordinary words of their whole text.

        See :mod:`mondegreen.attacks.whole_texts`. The parameters are those of
        :meth:`guess_by_similar_texts`; ``read`` is left where amounts are hidden.
        """
        at = self._find_hidden(symbols)
        return self._whole_texts.guess(Texts(symbols, starts, at), read)

    def copy_from_related_rows(
        self, symbols: Ids, starts: Weights, read: Ids, beside: Sequence[Beside]
    ) -> tuple[Ids, str] | None:
        """Copy hidden words from known rows that have something in common.

        Parameters
        ----------
        symbols, starts, read : int arrays
            As of :meth:`guess_by_similar_texts`.
        beside : sequence of Beside
            What is beside each text.

        Returns
        -------
        (int array of shape (words,), str), or None
            The words, and the column that gave most of them; None if no row has enough
            in common with known ones.
        """
        if self._related is None or not beside:
            return None
        self._learn_related_rows(self._related)
        found, columns = read.copy(), Counter[str]()
        for own, text in zip(
            beside, np.split(np.arange(len(symbols)), starts[1:-1]), strict=True
        ):
            places = np.flatnonzero(self._is_hidden(symbols[text])).tolist()
            for place, copied in self._related.copy(own, symbols[text], places).items():
                columns[copied.column] += copied.word != read[text[place]]
                found[text[place]] = copied.word
        return (found, columns.most_common(1)[0][0]) if columns else None

    def _learn_related_rows(self, related: RelatedRows) -> None:
        """Learn how reliable related rows are: draw a release of the known texts."""
        rng = np.random.default_rng(0)
        seen, rights = dict[int, Ids](), dict[int, dict[int, bool]]()
        for text in related.choose_texts():
            found, words = self._similar.get_text(text)
            symbols = self._response.sample(found.astype(np.int32), rng)
            (places,) = np.nonzero(self._is_hidden(symbols))
            alone = self.guess_alone(symbols[places]) == words[places]
            seen[text] = symbols
            rights[text] = dict(zip(places.tolist(), alone.tolist(), strict=True))
        related.learn(rights, seen)

    def guess_as_cipher(
        self, symbols: Ids, ends: Marks, links: Weights
    ) -> dict[str, Ids]:
        """Guess one word for each printed one, in each of the ways ``CIPHERS``.

        See :func:`mondegreen.attacks.linked.solve_cipher`.
        """
        ids, shares = self._decoder.marginals(Released(symbols, ends))
        known: dict[int, dict[int, int]] = {}
        for (symbol, word), times in self._seen.items():
            if symbol >= self._ordinary and word in self.index:
                known.setdefault(symbol, {})[self.index[word]] = times
        return {
            name: solve_cipher(ids, shares, links, symbols, known, weight=weight)
            for name, weight in CIPHERS.items()
        }

    def guess_by_company(
        self, symbols: Ids, counts: Sequence[int], links: Weights, read: Ids
    ) -> Ids:
        """Guess one word for each printed one, by the words in the same texts.

        See :func:`mondegreen.attacks.cooccurrence.match_words`.

        Parameters
        ----------
        symbols, links : int arrays, shape (words,)
            The release, text after text, and which places it prints alike.
        counts : sequence of int
            How many words each text has.
        read : int array, shape (words,)
            What is guessed where no word of the same texts tells anything.

        Returns
        -------
        int array, shape (words,)
        """
        own, found = self._list_hidden(symbols, links, counts), read.copy()
        if not len(own.at) or not len(self._hidden.at):
            return found
        printed, numbers = number_words(own.words, PRINTED)
        known, known_numbers = number_words(self._hidden.words, KNOWN)
        matched = match_words(
            Places(own.texts, numbers),
            Places(self._hidden.texts, known_numbers),
            (printed // _GROUP, known // _GROUP),
        )
        guesses = np.where(matched >= 0, known[matched] % _GROUP, -1)[numbers]
        is_told = (numbers >= 0) & (guesses >= 0)
        found[own.at[is_told]] = guesses[is_told]
        return found

    def _list_hidden(
        self, symbols: Ids, words: Ids | Weights, counts: Sequence[int]
    ) -> _Hidden:
        """List the hidden places that a key prints alike everywhere: no amounts."""
        at = self._find_hidden(symbols)
        texts = np.repeat(np.arange(len(counts)), counts)
        keys = symbols[at].astype(np.int64) * _GROUP + words[at]
        return _Hidden(at, texts[at], keys)

    def _find_hidden(self, symbols: Ids) -> Weights:
        """Find the hidden places, without amounts."""
        cells = self.lookup.policy.alphabet.cells
        is_cell = (symbols >= cells.start) & (symbols < cells.stop)
        return np.flatnonzero(self._is_hidden(symbols) & ~is_cell)

    def guess_by_neighbors(self, symbols: Ids, ends: NDArray[np.bool_]) -> Ids:
        """Guess as :meth:`guess` does, without looking at the groups that came out.

        The attacker sees the ordinary words, and that a place is hidden. The
        candidates of such a place are the most frequent hidden words, all equally
        likely by the output.
        """
        return self._blind.guesses(Released(symbols, ends))


@final
@dataclass(frozen=True, slots=True)
class Guesses:
    """What an attacker guesses at each word, and which guesses are right.

    ``hits`` are those of the reader, ``alone`` of the best guess from the output of
    the word itself. ``known`` tells which words the attacker has in its vocabulary: no
    other word can be recovered. ``others`` holds the hits of other ways to guess, such
    as a reader that sees the ordinary words and no group. All have the shape (words,),
    flat over all texts. ``column`` names what related rows have in common most often.
    """

    hits: Marks
    alone: Marks
    known: Marks
    knows: str
    corpus_words: int
    others: Mapping[str, Marks] = field(default_factory=dict)
    column: str | None = None


def guess_hidden_words(
    reader: InDomainReader,
    batch: TokenizedBatch,
    released: Ids,
    *,
    with_neighbors: bool = False,
    links: Weights | None = None,
    beside: Sequence[Beside] = (),
) -> Guesses:
    """Read a release under a policy: one released symbol for each word of ``batch``.

    ``with_neighbors`` also guesses from the ordinary words without the groups, which
    takes as long again. ``links`` tells which places the release prints alike, and
    ``beside`` what is beside each text in its file.
    """
    truth = reader.ids([canonical(word) for word in batch.words()])
    known, ends = truth < reader.unknown, find_ends(batch)
    read = reader.guess(released, ends, links)
    others: dict[str, Ids] = {}
    if with_neighbors:
        others[NEIGHBORS] = reader.guess_by_neighbors(released, ends)
    others[SIMILAR] = reader.guess_by_similar_texts(released, batch.begins, read)
    others[WHOLE] = reader.guess_by_whole_texts(released, batch.begins, read)
    related = reader.copy_from_related_rows(released, batch.begins, read, beside)
    if related is not None:
        others[RELATED] = related[0]
    texts = np.repeat(np.arange(len(batch.parts)), batch.counts())
    if links is not None and (texts[links] != texts).any():
        ciphers = reader.guess_as_cipher(released, ends, links)
        *_, last = ciphers.values()  # by counts and contexts
        company = reader.guess_by_company(released, batch.counts(), links, last)
        others |= {**ciphers, TOGETHER: company}
    return Guesses(
        (read == truth) & known,
        (reader.guess_alone(released) == truth) & known,
        known,
        "sees the ordinary words, knows the policy and its probabilities",
        reader.corpus_words,
        {name: (found == truth) & known for name, found in others.items()},
        None if related is None else related[1],
    )


def guess_words_of_space(
    reader: Reader, alone: Reader, pairs: Pairs, unknown: int, corpus_words: int
) -> Guesses:
    """Read a release of words of a space; ``unknown`` is the id of unknown words.

    ``alone`` is a reader that looks at one output at a time.
    """
    known = pairs.inputs < unknown
    return Guesses(
        (reader.guesses(pairs.outputs, pairs.ends) == pairs.inputs) & known,
        (alone.guesses(pairs.outputs, pairs.ends) == pairs.inputs) & known,
        known,
        "knows the law",
        corpus_words,
    )


def attack_with_corpus(
    state: State, pairs: Pairs, batch: TokenizedBatch, corpus: Sequence[str]
) -> Attack:
    """Attack the sensitive words of a release by a mechanism over a space.

    The attacker mixes a language model of the corpus with the embedded one, where that
    is of the same space; so the axis is the same as that of a policy.
    """
    model = in_domain_language(corpus, state.space)
    knowledge = Knowledge.of_language(state, model)
    (reader,) = knowledge.readers.values()
    channel = load_channel(state, model, 1)
    alone = TableReader(channel.candidates[channel.observation, 0])
    words = sum(tokenize(corpus).counts())
    unknown = state.space.vocab_size
    guesses = guess_words_of_space(reader, alone, pairs, unknown, words)
    return sensitive_words(batch, guesses)


def in_domain_language(corpus: Sequence[str], space: Space) -> NGrams:
    """Build a model of a corpus, mixed with the embedded one where that fits.

    One text in ten is held out to weigh the two.
    """
    held = max(1, len(corpus) // _HELD)
    model = build_language([corpus[held:] or corpus], space)
    public = load_language()
    if not public.is_for(space):
        return model
    ids, ends = read_words([corpus[:held]], space)
    return mix(public, model, ids, ends).model


def sensitive_words(
    batch: TokenizedBatch, guesses: Guesses, hidden: Marks | None = None
) -> Attack:
    """Measure which share of the sensitive words an attacker recovers.

    Parameters
    ----------
    batch : TokenizedBatch
        The originals. :func:`is_counted` says which of their words are sensitive.
    guesses : Guesses
        What the attacker makes of a release of them.
    hidden : bool array, shape (words,), optional
        Which words the policy hides; all if not given. A policy may show some that
        count as sensitive.

    Returns
    -------
    Attack
        ``value`` is the share of all counted words, those outside the vocabulary of
        the attacker included. Details: ``known_only`` (those outside left out),
        ``hidden_only`` (those that the policy shows left out), ``group_alone`` (the
        guess from the output of the word alone), ``neighbors_alone`` (the guess from
        the ordinary words without the groups, where it was made), ``by`` (all of these
        guesses, each with its own classes, and :data:`BEST`: a limit is compared with
        the best one),
        ``column`` (what rows have in common that tells most, if they do), ``by_class``,
        and ``beside``: numbers and rare words, which are not counted.
    """
    classes = word_classes(batch)
    counted = ~np.isin(classes, _NOT_COUNTED)
    if hidden is None:
        hidden = np.ones(len(counted), dtype=np.bool_)
    hits, alone = guesses.hits, guesses.alone
    names = sorted(set(classes[counted].tolist()))
    beside = {name: _share(hits, classes == name) for name in (NUMBER, "rest")}
    ways = {"whole sentences": hits, "the group alone": alone}
    ways |= guesses.others
    ways[BEST] = _combine(batch, ways, classes)
    context = {}
    if NEIGHBORS in ways:
        context["neighbors_alone"] = _share(ways[NEIGHBORS], counted)

    def describe(name: str, marks: Marks) -> dict[str, Any]:
        """What one way to guess recovers, with intervals."""
        return {
            "by": name,
            **_with_ends(batch, marks, counted),
            "known_only": _share(marks, counted & guesses.known),
            "hidden_only": _share(marks, counted & hidden),
            "by_class": {
                each: _with_ends(batch, marks, classes == each) for each in names
            },
        }

    by = [describe(name, marks) for name, marks in ways.items()]
    whole = by[0]
    return Attack(
        "sensitive_words",
        f"{guesses.knows}, and {guesses.corpus_words:,} words of similar texts",
        whole["value"],
        whole["low"],
        whole["high"],
        _most_frequent(batch, counted),
        int(counted.sum()),
        "share of sensitive words",
        {
            "list": f"shipped lexicon, SHA-256 {load_lexicon().digest}",
            "corpus_words": guesses.corpus_words,
            "known_only": whole["known_only"],
            "hidden_only": whole["hidden_only"],
            "group_alone": _share(alone, counted),
            **context,
            **({} if guesses.column is None else {"column": guesses.column}),
            "by": by,
            "by_class": whole["by_class"],
            "beside": beside,
        },
    )


def single_guess(batch: TokenizedBatch, guesses: Guesses) -> Attack:
    """Measure the best guess of each sensitive word from its own output alone."""
    counted = is_counted(batch)
    low, high = _bounds(batch, guesses.alone, counted)
    return Attack(
        "single_word",
        "guesses each sensitive word from its group alone; knows the policy, its "
        "probabilities and how frequent each word is in the corpus",
        _share(guesses.alone, counted)["value"],
        low,
        high,
        _most_frequent(batch, counted),
        int(counted.sum()),
        "share of sensitive words",
    )


def _combine(
    batch: TokenizedBatch, ways: Mapping[str, Marks], classes: NDArray[Any]
) -> Marks:
    """Guess each class in the way that recovers most of it.

    In one half of the texts, this way is the best one of the other half: so it is not
    chosen by the words that it is measured on.
    """
    halves = np.repeat(draw_parts(len(batch.parts)), batch.counts())
    found = np.zeros(len(classes), dtype=np.bool_)
    for name in np.unique(classes):
        for half in (0, 1):
            mine = (classes == name) & (halves == half)
            theirs = (classes == name) & (halves != half)
            best = max(ways.values(), key=lambda marks: np.count_nonzero(marks[theirs]))
            found[mine] = best[mine]
    return found


def _with_ends(batch: TokenizedBatch, hits: Marks, among: Marks) -> dict[str, Any]:
    low, high = _bounds(batch, hits, among)
    return {"low": low, "high": high, **_share(hits, among)}


def _share(hits: Marks, among: Marks) -> dict[str, Any]:
    """The share of some words that is recovered, and how many words there are."""
    count = int(among.sum())
    return {"value": float(hits[among].mean()) if count else 0.0, "n": count}


def _bounds(batch: TokenizedBatch, hits: Marks, counted: Marks) -> Ends:
    """Bound the share of counted words, 95 %, by texts."""
    owners = np.repeat(np.arange(len(batch.parts)), batch.counts())
    sums = [
        np.bincount(owners, marks, len(batch.parts)).astype(np.float64)
        for marks in (hits & counted, counted)
    ]
    return by_texts(*sums)


def _most_frequent(batch: TokenizedBatch, counted: Marks) -> float:
    """The share of the most frequent sensitive word: a guess that sees no release."""
    pairs = zip(batch.words(), counted.tolist(), strict=True)
    words = Counter(canonical(word) for word, is_in in pairs if is_in)
    return max(words.values(), default=0) / max(1, words.total())


def _chunks(texts: Iterable[str]) -> Iterable[list[str]]:
    chunk: list[str] = []
    for text in texts:
        chunk.append(text)
        if len(chunk) == _BATCH:
            yield chunk
            chunk = []
    if chunk:
        yield chunk
