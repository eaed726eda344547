r"""A certificate of context: which hidden words the words around them give away.

An attacker who knows the law P(y | x), the policy and a public language model Q has,
of a release y, the posterior

.. math:: P(x_i = w \mid y) = \frac{\sum_{x : x_i = w} Q(x) \prod_j P(y_j \mid x_j)}
                                   {\sum_x Q(x) \prod_j P(y_j \mid x_j)}

Two numbers belong to each hidden word :math:`x^*_i` of a text :math:`x^*`:

*before a draw*, the expected posterior of the true word over all releases,

.. math:: e_i(x^*) = \sum_y P(y \mid x^*) \, P(x_i = x^*_i \mid y)

*after a draw*, the posterior of the true word given this release,

.. math:: b_i(x^*, y) = P(x_i = x^*_i \mid y), \qquad
          e_i(x^*) = \operatorname{E}[b_i(x^*, Y) \mid X = x^*]

Where :math:`b_i > 1/2` the best guess of this attacker is the true word. Averaged over
texts from Q, both are right: a share b of the places with posterior b is guessed. An
attacker with a better model recovers more.

The certificate is for the owner of the texts. It changes no release. It must not choose
single places to be hidden better: such a choice depends on private words, and is a
release of its own without a guarantee (docs/explanation/broken-promises.md).
"""

from __future__ import annotations

import functools
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from mondegreen.arrays import Floats, Ids
from mondegreen.attacks.posteriors import Marginal, Marks, PolicyPosterior, Truth
from mondegreen.attacks.sensitive import is_counted, word_classes
from mondegreen.decode.channel import load_channel
from mondegreen.decode.decoder import CANDIDATES, Decoder
from mondegreen.decode.released import Released
from mondegreen.errors import ConfigurationError, DataError, InvalidParameterError
from mondegreen.language.ngrams import NGrams
from mondegreen.language.store import load_language
from mondegreen.mechanisms.base import State
from mondegreen.mechanisms.symbols.response import Response, ResponseState
from mondegreen.policy.policy import Policy
from mondegreen.privatizer.privatizer import Privatizer
from mondegreen.privatizer.release import Release
from mondegreen.settings import Same
from mondegreen.space.space import Space
from mondegreen.space.store import load_space
from mondegreen.text.lookup import Lookup
from mondegreen.text.print_forms import as_released
from mondegreen.text.sentences import find_ends
from mondegreen.text.tokenizer import TokenizedBatch, canonical, tokenize

EXPOSED: Final = 0.5
"""Above this posterior of the true word, the best guess is right."""

DRAWS: Final = 16
"""Releases that are simulated for an expectation."""

_ADVISED: Final = 3  # classes that are advised to be hidden
_LARGER: Final = 5
_BEAM: Final = 12
_SEED: Final = 20_261

Language: TypeAlias = NGrams | str | Path | None


class Place(NamedTuple):
    """A hidden word of a text, and how surely an attacker names it.

    Attributes
    ----------
    text, word : int
        Numbers of the text and of the word in it, from 0.
    start, end : int
        Character offsets of the word in the original.
    kind : str
        Its class.
    posterior : float
        Of the true word: expected before a draw, exact after it.
    """

    text: int
    word: int
    start: int
    end: int
    kind: str
    posterior: float


@final
@dataclass(frozen=True, slots=True, repr=False)
class ContextCertificate:
    """The posterior of every hidden word of some texts; see the module.

    Parameters
    ----------
    places : tuple of Place
        All hidden words, in order. Private: they tell about the originals.
    texts, words : int
        How many there are.
    is_of_release : bool
        Whether posteriors are those of one release, or expected before a draw.

    Examples
    --------
    >>> import mondegreen as mg
    >>> privatizer = mg.Privatizer(mg.mechanism("urr", epsilon=12.0))
    >>> certificate = mg.certify_context("She has diabetes, and Ann knows.", privatizer)
    >>> [place.kind for place in certificate.places]
    ['health', 'first_name']
    """

    places: tuple[Place, ...]
    texts: int
    words: int
    is_of_release: bool

    def find_exposed(self, above: float = EXPOSED) -> list[Place]:
        """List the places with a posterior above a bound, the most certain one first.

        Parameters
        ----------
        above : float in [0, 1)
            Bound of the posterior.

        Returns
        -------
        list of Place
            Private: the places tell about the originals.

        Raises
        ------
        InvalidParameterError
            If the bound is no probability below 1.
        """
        if not 0 <= above < 1:
            raise InvalidParameterError("above", above, "in [0, 1)")
        found = [place for place in self.places if place.posterior > above]
        return sorted(found, key=lambda place: (-place.posterior, *place[:2]))

    def to_dict(self, above: float = EXPOSED) -> dict[str, Any]:
        """Convert counts and shares to JSON values: no places and no text.

        They are functions of the private words all the same. Do not publish them with
        the release.

        Parameters
        ----------
        above : float in [0, 1)
            Bound of the posterior.

        Returns
        -------
        dict of str to JSON values
            Counts and shares, by class too.
        """
        exposed = self.find_exposed(above)
        hidden = Counter(place.kind for place in self.places)
        shown = Counter(place.kind for place in exposed)
        return {
            "computed": "of this release" if self.is_of_release else "before a draw",
            "texts": self.texts,
            "words": self.words,
            "hidden_words": len(self.places),
            "above": above,
            "exposed": len(exposed),
            "share": len(exposed) / len(self.places) if self.places else None,
            "mean_posterior": (
                sum(place.posterior for place in self.places) / len(self.places)
                if self.places
                else None
            ),
            "by_class": {
                kind: {"hidden_words": count, "exposed": shown[kind]}
                for kind, count in hidden.most_common()
            },
        }

    def __repr__(self) -> str:
        return f"ContextCertificate(<{len(self.places)} hidden words>)"


def certify_context(
    texts: str | Sequence[str | None],
    privatizer: Privatizer,
    *,
    releases: Release | str | Sequence[Release | str | None] | None = None,
    language: Language = None,
    draws: int = DRAWS,
) -> ContextCertificate:
    r"""Compute the posterior of every hidden word of texts, for their owner.

    Without ``releases``, the result is :math:`e_i`, before any draw: a mean over
    simulated releases, which are discarded. With ``releases``, it is :math:`b_i`, for
    these releases. The module defines both.

    Parameters
    ----------
    texts : str or sequence of str
        The originals. None stands for a missing text.
    privatizer : Privatizer
        The setting. Its noise is not used.
    releases : Release, str or sequence of these, optional
        What it released for the texts, in their order.
    language : NGrams, str or path, optional
        The PUBLIC model that the attacker knows; the embedded one if not given. One of
        texts from the same domain is the strong case.
    draws : int, at least 1
        Releases that are simulated. The standard error of an expected posterior is at
        most ``0.5 / sqrt(draws)``, and far smaller where symbols rarely change.

    Returns
    -------
    ContextCertificate

    Raises
    ------
    DataError
        If a release has other words than its text.
    ConfigurationError
        If releases were read by a language model: the sampled words are not at hand.
    LanguageError
        If the model is over other words than the space.

    Notes
    -----
    *Hidden words.* Under a policy these are the words with a group: numbers and rare
    words too, but not amounts under ``numbers="near"``. On a space these are the
    sensitive words of the frozen list of
    :func:`mondegreen.attacks.sensitive.is_counted`.

    *Numerics.* Under a policy the posterior is exact for the candidates of
    :class:`mondegreen.attacks.posteriors.PolicyPosterior`, which says what it leaves
    out. On a space the decoder keeps 24 candidates for each word, and 12 remain;
    a true word that is not among them has the posterior 0. Scores are rounded to
    1/1024 nat.

    *Scope.* Where equal words have one surrogate (``same="record"`` or ``"key"``), the
    contexts of all its places count together, as if they were independent.

    Examples
    --------
    >>> import mondegreen as mg
    >>> privatizer = mg.Privatizer(mg.mechanism("urr", epsilon=12.0))
    >>> text = "We flew from New York to Washington D.C. with Ann."
    >>> before = mg.certify_context(text, privatizer)
    >>> after = mg.certify_context(text, privatizer, releases=privatizer(text))
    >>> len(before.places) == len(after.places) > 0
    True
    """
    if draws < 1:
        raise InvalidParameterError("draws", draws, "an integer, at least 1")
    given = [texts] if isinstance(texts, str) else list(texts)
    known = _open_language(language)
    attacker: _PolicyAttacker | _SpaceAttacker
    if privatizer.policy is not None:
        attacker = _PolicyAttacker(privatizer, privatizer.policy, given, known)
    else:
        attacker = _SpaceAttacker(privatizer, given, known)
    if releases is None:
        posteriors = attacker.expect(draws)
    else:
        one = isinstance(releases, Release | str)
        posteriors = attacker.judge([releases] if one else releases)  # type: ignore[arg-type, list-item]
    tokens, hidden = attacker.tokens, attacker.hidden
    places = _list_places(tokens, hidden, attacker.kinds(), posteriors)
    return ContextCertificate(
        tuple(places),
        len(tokens.parts),
        sum(tokens.counts()),
        releases is not None,
    )


def find_exposed_places(
    text: str,
    privatizer: Privatizer,
    *,
    release: Release | str | None = None,
    language: Language = None,
    above: float = EXPOSED,
) -> list[Place]:
    """List the hidden words of one text that an attacker names, before it is sent.

    Parameters
    ----------
    text : str
        The original.
    privatizer : Privatizer
    release : Release or str, optional
        What it released for the text. Without it, posteriors are expected.
    language : NGrams, str or path, optional
        The PUBLIC model that the attacker knows.
    above : float, in [0, 1)
        The bound on the posterior of the true word.

    Returns
    -------
    list of Place
        The most certain place first. Private: for the owner of the text alone.

    Examples
    --------
    >>> import mondegreen as mg
    >>> privatizer = mg.Privatizer(mg.mechanism("urr", epsilon=12.0))
    >>> find_exposed_places("It was cold and it rained.", privatizer)
    []
    """
    found = certify_context(text, privatizer, releases=release, language=language)
    return found.find_exposed(above)


def merge(parts: Sequence[ContextCertificate]) -> ContextCertificate:
    """Join the certificates of parts of a file, in order.

    >>> merge([]).to_dict()["hidden_words"]
    0
    """
    places: list[Place] = []
    texts = words = 0
    for part in parts:
        places += (each._replace(text=each.text + texts) for each in part.places)
        texts += part.texts
        words += part.words
    is_of_release = any(part.is_of_release for part in parts)
    return ContextCertificate(tuple(places), texts, words, is_of_release)


def advise(
    certificate: ContextCertificate,
    texts: Sequence[str | None],
    privatizer: Privatizer,
) -> list[str]:
    """Say which settings may help; nothing where no word is exposed.

    It names classes of the public lexicon and options. It never names a word.

    Parameters
    ----------
    certificate : ContextCertificate
    texts : sequence of str
        The texts of the certificate.
    privatizer : Privatizer
        The setting.
    """
    exposed = certificate.find_exposed()
    if not exposed:
        return []
    policy = privatizer.policy
    if policy is None:
        return [
            "A smaller --epsilon helps. Choose it for all texts, not for single places."
        ]
    lines = [
        "Ordinary words give the hidden ones away. --mechanism krr at a smaller "
        "--epsilon hides these too, and costs utility."
    ]
    beside = _count_classes_beside(exposed, texts, privatizer)
    if beside:
        hide = " ".join(f"--hide {name}" for name, _ in beside.most_common(_ADVISED))
        lines.append(f"Words of open classes stand beside them. Hide these: {hide}.")
    lines += [
        "A group of more words helps a little, where the group is small: --hide-among "
        f"{_LARGER * policy.hide_among}.",
        "Change the setting for all texts. If you hide only these places better, the "
        "change shows where they are.",
    ]
    return lines


def _count_classes_beside(
    exposed: Sequence[Place], texts: Sequence[str | None], privatizer: Privatizer
) -> Counter[str]:
    """Count the open classes of the words within two of an exposed one."""
    policy = privatizer.policy
    assert policy is not None  # noqa: S101 - checked by the caller
    found: Counter[str] = Counter()
    by_text: dict[int, list[int]] = defaultdict(list)
    for place in exposed:
        by_text[place.text].append(place.word)
    for text, places in by_text.items():
        classes = word_classes(privatizer.lookup.cut([texts[text]])).tolist()
        beside = {i + step for i in places for step in (-2, -1, 1, 2)} - set(places)
        near = (classes[i] for i in beside if 0 <= i < len(classes))
        found.update(name for name in near if name in policy.opened)
    return found


_embedded = functools.cache(load_language)


def _open_language(language: Language) -> NGrams:
    if isinstance(language, NGrams):
        return language
    return _embedded() if language is None else load_language(language)


@functools.lru_cache(maxsize=4)
def _load_posterior(
    policy: Policy, response: Response, language: NGrams
) -> PolicyPosterior:
    """Prepare the attacker of a setting once in a process."""
    space = load_space(language.about.space)
    language.check_space(space)
    return PolicyPosterior(policy, response, language, space.words)


@functools.lru_cache(maxsize=2)
def _load_decoder(state: State, language: NGrams) -> Decoder:
    return Decoder(load_channel(state, language, CANDIDATES), language, beam=_BEAM)


@final
class _PolicyAttacker:
    """Reads the symbols of texts under a policy, text by text."""

    def __init__(
        self,
        privatizer: Privatizer,
        policy: Policy,
        texts: Sequence[str | None],
        language: NGrams,
    ) -> None:
        state = privatizer.state
        assert isinstance(state, ResponseState)  # noqa: S101 - a policy has no other
        self._state, self._policy = state, policy
        lookup = privatizer.lookup
        assert not isinstance(lookup, Lookup)  # noqa: S101 - that is one of a space
        self._lookup = lookup
        reader = _load_posterior(policy, state.response, language)
        self._reader = reader
        self._cut = self._lookup.cut
        self.tokens = self._cut(texts)
        self._symbols = self._lookup.codes(self.tokens)
        self._truth = reader.find_words(self.tokens)
        words = [canonical(word) for word in self.tokens.words()]
        cells = policy.alphabet.cells
        self.hidden: Marks = policy.alphabet.is_group(self._symbols)
        self.hidden &= ~np.isin(self._symbols, cells)
        self._ends = find_ends(self.tokens)
        same = privatizer.settings.same
        # What is read together: a sentence, or all places that share surrogates.
        stops: Mapping[Same, list[int]] = {
            "place": (np.flatnonzero(self._ends) + 1).tolist(),
            "record": np.cumsum(self.tokens.counts()).tolist(),
            "key": [len(words)],
        }
        self._units = [slice(*each) for each in pairwise([0, *stops[same]])]
        self._entities = self._number_entities(same, words)

    def _number_entities(self, same: Same, words: Sequence[str]) -> Ids:
        """Give places that share a draw one number: the first of these places."""
        found = np.arange(len(words), dtype=np.int32)
        if same == "place":
            return found
        for unit in self._units:
            first: dict[tuple[int, str], int] = {}
            for i in (np.flatnonzero(self.hidden[unit]) + unit.start).tolist():
                found[i] = first.setdefault((int(self._symbols[i]), words[i]), i)
        return found

    def kinds(self) -> Iterator[str]:
        """Name the classes of the hidden places, in order."""
        for symbol in self._symbols[self.hidden].tolist():
            kind, form, _ = self._policy.describe(symbol)
            yield form if kind == "shape" else kind

    def expect(self, draws: int) -> Floats:
        """Average the posteriors of the true words over simulated releases."""
        rng = np.random.default_rng(_SEED)
        times: Counter[tuple[int, bytes]] = Counter()
        for _ in range(draws):
            released = self._state.sample(self._symbols, rng)[self._entities]
            for number, unit in enumerate(self._units):
                times[number, released[unit].tobytes()] += 1
        found = np.zeros(len(self._symbols))
        for (number, data), count in times.items():
            unit = self._units[number]
            released = np.frombuffer(data, dtype=self._symbols.dtype)
            found[unit] += count / draws * self._read(unit, released)
        return found

    def judge(self, releases: Sequence[Release | str | None]) -> Floats:
        """Compute the posteriors of the true words given a release."""
        texts = [None if each is None else str(each) for each in releases]
        printed = self._cut(texts)
        if printed.counts() != self.tokens.counts():
            raise DataError("a release has other words than its text")
        released = self._lookup.print_codes(printed)
        found = np.zeros(len(self._symbols))
        for unit in self._units:
            found[unit] = self._read(unit, released[unit])
        return found

    def _read(self, unit: slice, released: Ids) -> Floats:
        """Compute the posteriors of one text, 0 at ordinary places."""
        found = np.zeros(len(released))
        hidden, truth = self.hidden[unit], self._truth[unit]
        if not hidden.any():
            return found
        marginals = self._reader.marginals(
            released, self._ends[unit], Truth(truth, self._symbols[unit]), hidden
        )
        together: dict[int, list[int]] = defaultdict(list)
        for place in marginals:
            together[int(self._entities[unit][place])].append(place)
        for places in together.values():
            word = int(truth[places[0]])
            if word < self._reader.unknown:
                joined = functools.reduce(_join, (marginals[i] for i in places))
                found[places] = joined.posterior(word)
        return found


def _join(one: Marginal, other: Marginal) -> Marginal:
    """Let two places tell about one word whose law was drawn once."""
    # ln P(w, z, context 1) + ln P(w, context 2 | z): the law counts once, since the
    # symbol was drawn once for both. A word that one column lacks drops out.
    ids, first, second = np.intersect1d(one.ids, other.ids, return_indices=True)
    law = one.log_law[first]
    log_joint = one.log_joint[first] + other.log_joint[second] - other.log_law[second]
    return Marginal(ids, law, log_joint)


@final
class _SpaceAttacker:
    """Reads the words of a space by the decoder."""

    def __init__(
        self, privatizer: Privatizer, texts: Sequence[str | None], language: NGrams
    ) -> None:
        language.check_space(privatizer.space)
        self._state, self._lookup = privatizer.state, privatizer.lookup
        self._space = privatizer.space
        self._is_read = privatizer.settings.read != "none"
        self._decoder = _load_decoder(self._state, language)
        self.tokens = tokenize(texts)
        self._inputs = self._lookup.codes(self.tokens)
        self._ends = find_ends(self.tokens)
        self.hidden: Marks = is_counted(self.tokens) & (self._inputs >= 0)

    def kinds(self) -> Iterator[str]:
        """Name the classes of the hidden places, in order."""
        return iter(word_classes(self.tokens)[self.hidden].tolist())

    def expect(self, draws: int) -> Floats:
        """Average the posteriors of the true words over simulated releases."""
        rng = np.random.default_rng(_SEED)
        found = np.zeros(len(self._inputs))
        through = self._inputs >= 0
        for _ in range(draws):
            released = self._inputs.copy()
            released[through] = self._state.sample(self._inputs[through], rng)
            found += self._read(released) / draws
        return found

    def judge(self, releases: Sequence[Release | str | None]) -> Floats:
        """Compute the posteriors of the true words given a release."""
        if self._is_read:
            raise ConfigurationError(
                "a release that a language model read does not hold the sampled words: "
                'use read="none", or leave releases out'
            )
        texts = [None if each is None else str(each) for each in releases]
        whole = _WholeWords(self._space)
        printed = TokenizedBatch(
            [
                parts and as_released(parts)
                for parts in tokenize(list(map(whole.put_marks, texts))).parts
            ]
        )
        if printed.counts() != self.tokens.counts():
            raise DataError("a release has other words than its text")
        # The lookup of the privatizer may refuse words that stand in no space.
        codes = Lookup(self._space).codes(printed)
        codes[np.array(printed.words()) == _MARK] = whole.found
        codes[self._inputs < 0] = self._inputs[self._inputs < 0]
        if (codes == self._space.vocab_size).any():
            raise DataError("a release has words that the space does not have")
        return self._read(codes)

    def _read(self, released: Ids) -> Floats:
        read = Released(released, self._ends)
        return compute_word_posteriors(self._decoder, read, self._inputs)


_MARK: Final = "\ue000"
"""Stands for a printed word; it is a word of its own, and no space has it."""


@final
class _WholeWords:
    """Finds printed words that the tokenizer would cut, such as an e-mail address."""

    def __init__(self, space: Space) -> None:
        self._ids = _index_cut_words(space)
        longest_first = sorted(self._ids, key=len, reverse=True)
        pattern = "|".join(map(re.escape, longest_first))
        self._find = re.compile(pattern, re.IGNORECASE) if pattern else None
        self.found: list[int] = []

    def put_marks(self, text: str | None) -> str | None:
        """Put a mark for each of these words, and remember which it was."""
        if not text or self._find is None:
            return text
        return self._find.sub(self._mark, text)

    def _mark(self, match: re.Match[str]) -> str:
        self.found.append(self._ids[match[0].lower()])
        return _MARK


@functools.lru_cache(maxsize=2)
def _index_cut_words(space: Space) -> dict[str, int]:
    """Number the words of a space that are several words for the tokenizer."""
    every = enumerate(tokenize(list(space.words)).parts)
    return {space.words[i].lower(): i for i, parts in every if len(parts or ()) != 3}


def compute_hidden_posteriors(
    policy: Policy, batch: TokenizedBatch, symbols: Ids, language: Language = None
) -> Floats:
    """Compute the posterior of each sensitive word of a conversation.

    There every sensitive word is replaced by a word of the group that is seen, and
    ordinary words pass: the law without noise.

    Parameters
    ----------
    policy : Policy
    batch : TokenizedBatch
        The original texts.
    symbols : int32 array, shape (words,)
        The symbols that are seen.
    language : NGrams, str or path, optional
        The PUBLIC model that the attacker knows; the embedded one if not given.

    Returns
    -------
    float64 array, shape (words,)
        In [0, 1]: 0 for ordinary words, and for words that the model does not know.
    """
    alphabet = policy.alphabet
    law = Response.within(math.inf, alphabet.ordinary, alphabet.groups)
    reader = _load_posterior(policy, law, _open_language(language))
    truth = Truth(reader.find_words(batch), symbols)
    hidden = alphabet.is_group(symbols)
    found = np.zeros(len(symbols))
    for place, each in reader.marginals(
        symbols, find_ends(batch), truth, hidden
    ).items():
        word = int(truth.words[place])
        if word < reader.unknown:
            found[place] = each.posterior(word)
    return found


def compute_word_posteriors(
    decoder: Decoder, released: Released, inputs: Ids
) -> Floats:
    """Compute the posterior of each true word of a release by words of a space.

    Parameters
    ----------
    decoder : Decoder
        Of the law and a PUBLIC language model.
    released : Released
        The sampled words.
    inputs : int32 array, shape (T,)
        The true words. One outside the space is never guessed.

    Returns
    -------
    float64 array, shape (T,)
    """
    ids, shares = decoder.marginals(released)
    is_true = ids == inputs[:, None]
    is_true &= (inputs < decoder.vocab_size)[:, None]
    return np.asarray((shares * is_true).sum(axis=1))


def _list_places(
    tokens: TokenizedBatch, hidden: Marks, kinds: Iterator[str], posteriors: Floats
) -> Iterator[Place]:
    """Say where the hidden words are."""
    first = 0
    for text, (parts, count) in enumerate(
        zip(tokens.parts, tokens.counts(), strict=True)
    ):
        edges: NDArray[np.int64] = np.cumsum([0, *map(len, parts or ())])
        for word in np.flatnonzero(hidden[first : first + count]).tolist():
            start, end = edges[2 * word + 1 : 2 * word + 3].tolist()
            posterior = float(posteriors[first + word])
            yield Place(text, word, start, end, next(kinds), posterior)
        first += count
