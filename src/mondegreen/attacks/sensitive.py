r"""Sensitive words that an attacker recovers from a release under a policy.

The attacker sees the ordinary words in plain text, knows the policy and the law, and
has an in-domain corpus: texts from the same domain as the release. From its corpus the
attacker knows how often each word has each symbol, and which words stand together
(trigrams, forward-backward over the hidden places).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Final, final

import numpy as np
from numpy.typing import NDArray

from mondegreen.arrays import Floats, Ids
from mondegreen.attacks.attack import Attack, by_texts
from mondegreen.decode.decoder import Decoder
from mondegreen.decode.released import Released
from mondegreen.language.counts import Counter as TripleCounter
from mondegreen.language.ngrams import NGrams
from mondegreen.mechanisms.channel import Channel
from mondegreen.policy.lookup import PolicyLookup
from mondegreen.policy.policy import Policy
from mondegreen.space.space import WordSpace
from mondegreen.text.sentences import ends_of
from mondegreen.text.tokenizer import canonical, tokenize

_CANDIDATES: Final = 48
_BEAM: Final = 12
_BATCH: Final = 4096


@final
class InDomainReader:
    """Guesses hidden words from symbols and neighbors, by a corpus of the same domain.

    Parameters
    ----------
    policy : Policy
        The policy of the release.
    corpus : iterable of str
        Texts of other people from the same domain; none of those attacked.
    candidates : int
        Words that are tried for each hidden place: the most frequent of its symbol.
    """

    def __init__(
        self, policy: Policy, corpus: Iterable[str], *, candidates: int = _CANDIDATES
    ) -> None:
        self.lookup = PolicyLookup(policy)
        seen: Counter[tuple[int, str]] = Counter()
        chunks = []
        for texts in _chunks(corpus):
            batch = tokenize(texts)
            folded = [canonical(word) for word in batch.words()]
            codes = self.lookup.codes(batch)
            seen.update(zip(codes.tolist(), folded, strict=True))
            chunks.append((folded, ends_of(batch)))
        self.corpus_words = sum(seen.values())
        found = {word for _, word in seen} | set(policy.ordinary)
        words = sorted(w for w in found if w.isprintable() and " " not in w)
        self.index = {word: i for i, word in enumerate(words)}
        self.unknown = len(words)
        counter = TripleCounter(len(words))
        for folded, ends in chunks:
            counter.add(self.ids(folded), ends.tolist())
        space = WordSpace("in-domain", tuple(words))
        self.language = NGrams.from_counts(counter.finish(), space)
        self._channel = self._make_channel(policy.alphabet.size, seen, candidates)
        every = np.ones(len(words) + 1, dtype=np.bool_)
        self._decoder = Decoder(
            self._channel, self.language, printable=every, beam=_BEAM
        )

    def ids(self, folded: Sequence[str]) -> Ids:
        """Number words by the vocabulary of the attacker."""
        get, unknown = self.index.get, self.unknown
        return np.fromiter((get(w, unknown) for w in folded), np.int32, len(folded))

    def _make_channel(
        self, symbols: int, seen: Counter[tuple[int, str]], count: int
    ) -> Channel:
        """List the most frequent words of each symbol, with P(symbol | word)."""
        totals: Counter[str] = Counter()
        for (_, word), times in seen.items():
            totals[word] += times
        by_symbol: dict[int, list[tuple[int, str]]] = {}
        for (symbol, word), times in seen.items():
            if word in self.index:
                by_symbol.setdefault(symbol, []).append((times, word))
        candidates = np.zeros((symbols, count), dtype=np.int32)
        law = np.full((symbols, count), -np.inf)
        candidates[:, 0], law[:, 0] = self.unknown, 0.0
        for symbol, found in by_symbol.items():
            best = sorted(found, reverse=True)[:count]
            for k, (times, word) in enumerate(best):
                candidates[symbol, k] = self.index[word]
                law[symbol, k] = np.log(times / totals[word])
        return Channel(np.arange(symbols, dtype=np.int32), candidates, law, "exact")

    def guess_alone(self, symbols: Ids) -> Ids:
        """Guess the most frequent word of each symbol: its neighbors are not seen."""
        return np.asarray(self._channel.candidates[symbols, 0])

    def guess(self, symbols: Ids, ends: NDArray[np.bool_]) -> Ids:
        """Guess the most likely word at each place, given the whole sentence."""
        return self._decoder.guesses(Released(symbols, ends))


def attack_sensitive_words(
    policy: Policy,
    reader: InDomainReader,
    originals: Sequence[str],
    released: Ids,
    counted: NDArray[np.bool_] | None = None,
) -> Attack:
    """Measure which share of sensitive words the reader recovers.

    Parameters
    ----------
    policy : Policy
        The policy of the release.
    reader : InDomainReader
        The attacker.
    originals : sequence of str
        The texts before the release.
    released : int32 array, shape (words,)
        The released symbols, one for each word of all texts.
    counted : bool array, shape (words,), optional
        Which words count as sensitive; those of the groups of the policy if not given.
        One list for all policies lets them be compared.
    """
    batch = tokenize(originals)
    folded = [canonical(word) for word in batch.words()]
    symbols, truth = reader.lookup.codes(batch), reader.ids(folded)
    ends = ends_of(batch)
    if counted is None:
        counted = policy.alphabet.is_group(symbols)
    known = truth < reader.unknown
    hits = (reader.guess(released, ends) == truth) & known & counted
    alone = (reader.guess_alone(released) == truth) & known & counted
    owners = np.repeat(np.arange(len(originals)), batch.counts())

    def by_text(marks: NDArray[np.bool_]) -> Floats:
        return np.bincount(owners, marks, len(originals)).astype(np.float64)

    total = max(1, int(counted.sum()))
    low, high = by_texts(by_text(hits), by_text(counted))
    details = {
        "corpus_words": reader.corpus_words,
        "known_only": float(hits.sum() / max(1, int((counted & known).sum()))),
        "group_alone": float(alone.sum() / total),
        "by_class": _by_class(policy, symbols, hits, counted),
    }
    return Attack(
        "sensitive_words",
        "sees ordinary words, knows policy and law, has an in-domain corpus of "
        f"{reader.corpus_words:,} words (trigrams, forward-backward)",
        float(hits.sum() / total),
        low,
        high,
        float(alone.sum() / total),
        total,
        "share of sensitive words",
        details,
    )


def _by_class(
    policy: Policy, symbols: Ids, hits: NDArray[np.bool_], counted: NDArray[np.bool_]
) -> dict[str, Any]:
    """The share recovered, and the number of words, of each class."""
    found: dict[str, list[int]] = {}
    for symbol in np.unique(symbols[counted]).tolist():
        mine = counted & (symbols == symbol)
        sums = found.setdefault(policy.describe(symbol)[0], [0, 0])
        sums[0] += int(hits[mine].sum())
        sums[1] += int(mine.sum())
    return {k: {"value": a / b, "n": b} for k, (a, b) in sorted(found.items())}


def _chunks(texts: Iterable[str]) -> Iterable[list[str]]:
    chunk: list[str] = []
    for text in texts:
        chunk.append(text)
        if len(chunk) == _BATCH:
            yield chunk
            chunk = []
    if chunk:
        yield chunk
