"""All attacks on a release under a policy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from mondegreen.arrays import Weights
from mondegreen.attacks.attack import Attack, find_strongest
from mondegreen.attacks.information import mutual_information
from mondegreen.attacks.linkage import linkage
from mondegreen.attacks.outputs import compute_outputs
from mondegreen.attacks.pairs import Pairs
from mondegreen.attacks.related_rows import Beside
from mondegreen.attacks.run import Tell
from mondegreen.attacks.sensitive import (
    InDomainReader,
    guess_hidden_words,
    sensitive_words,
    single_guess,
)
from mondegreen.mechanisms.symbols.response import ResponseState
from mondegreen.policy.policy import Policy
from mondegreen.scores.risk import frequency_prior
from mondegreen.text.tokenizer import TokenizedBatch

_LISTED: Final = 10


def attack_policy(
    policy: Policy,
    state: ResponseState,
    reader: InDomainReader,
    batch: TokenizedBatch,
    pairs: Pairs,
    *,
    links: Weights | None = None,
    beside: Sequence[Beside] = (),
    is_public: bool = False,
    tell: Tell = lambda line: None,
) -> dict[str, Attack]:
    """Make every attack on a release under a policy.

    Parameters
    ----------
    policy : Policy
        The policy of the release.
    state : ResponseState
        The mechanism that released.
    reader : InDomainReader
        The attacker, with a corpus of the same domain.
    batch : TokenizedBatch
        The originals.
    pairs : Pairs
        The symbols of the originals, and the released ones.
    links : int array, shape (words,), optional
        Which places the release prints alike, under a scope wider than a place.
    beside : sequence of Beside
        What is beside each original in its file.
    is_public : bool
        Whether the corpus is public, so that words may be named.
    tell : callable
        Told what is being done.

    Returns
    -------
    dict of str to Attack
        ``sensitive_words``, and the keys that scripts read of every mechanism:
        ``single_word`` (the guess from the group alone), ``reader`` (the best of all
        guesses: of sensitive words, not of all words), ``worst_word``,
        ``mutual_information`` and ``linkage``. Those that need a release are left out
        where its words are not those of the originals.
    """
    found: list[Attack] = []
    if pairs.released is not None:
        tell("hidden words")
        guesses = guess_hidden_words(
            reader,
            batch,
            pairs.released,
            with_neighbors=True,
            links=links,
            beside=beside,
        )
        hidden = policy.alphabet.is_group(pairs.inputs)
        read = sensitive_words(batch, guesses, hidden)
        found += [read, single_guess(batch, guesses), strongest_reader(read)]
    found.append(worst_guesses(policy, reader, named=is_public))
    tell("information")
    counts = pairs.frequencies(policy.alphabet.size), reader.symbol_counts
    own, known = compute_outputs(
        state, [frequency_prior(c, smoothing=0.0) for c in counts]
    )
    found.append(mutual_information(own, known, len(pairs.inputs)))
    tell("linkage")
    found.append(linkage(state, pairs))
    return {each.name: each for each in found}


def strongest_reader(read: Attack, shown: Attack | None = None) -> Attack:
    """Take the best of all ways to guess the sensitive words.

    Parameters
    ----------
    read : Attack
        ``sensitive_words``, or what this function returned.
    shown : Attack, optional
        The reader of a release of any tool: it knows no setting, and public text.

    Returns
    -------
    Attack
        ``reader``, whose details ``by`` list all ways. ``by_class``, ``hidden_only``
        and ``known_only`` are of the way that recovers most of just these words.
    """
    ways = list(read.details["by"])
    if shown is not None and shown.value is not None:
        ends = {"value": shown.value, "low": shown.low, "high": shown.high}
        classes = shown.details["by_kind"]
        name = "what is left, and public text"
        ways.append({"by": name, **ends, "n": shown.n, "by_class": classes})
    best = find_strongest(ways)
    return replace(
        read,
        name="reader",
        adversary=f"the strongest of {len(ways)} readers, from {best['by']}",
        value=best["value"],
        low=best["low"],
        high=best["high"],
        n=best["n"],
        details={**read.details, "by": ways, **_take_strongest(read, ways)},
    )


def take_classes(found: Mapping[str, Attack]) -> Attack:
    """Take the attack whose details tell most of each class of sensitive words.

    Parameters
    ----------
    found : mapping of str to Attack
        With ``sensitive_words``.

    Returns
    -------
    Attack
        ``reader`` where it was made of sensitive words; that of a space was not.
    """
    read = found["sensitive_words"]
    best = found.get("reader", read)
    return best if "by_class" in best.details else read


def _take_strongest(
    read: Attack, ways: Sequence[Mapping[str, Any]]
) -> dict[str, Mapping[str, Any]]:
    """Take the best way for each class, for hidden and for known words.

    The attacker who recovers most of all words need not recover most of a class.
    """
    found: dict[str, Mapping[str, Any]] = {
        name: find_strongest([way[name] for way in ways if name in way])
        for name in ("hidden_only", "known_only")
    }
    by_class = {}
    for name in read.details["by_class"]:
        of_class = [
            {**way["by_class"][name], "by": way["by"]}
            for way in ways
            if name in way["by_class"]
        ]
        by_class[name] = find_strongest(of_class)
    return {**found, "by_class": by_class}


def worst_guesses(
    policy: Policy, reader: InDomainReader, *, named: bool = False
) -> Attack:
    """Find the hidden words that are guessed most often from their group alone; exact.

    The most frequent word of each group in the corpus is guessed whenever the group
    shows, and no other word of the group ever is. Words are ``named`` only where the
    corpus is public, and only those of the shipped lexicon.
    """
    guesses, chances = reader.best_guesses()
    summed: dict[str, float] = {}
    for word, chance in zip(guesses, chances.tolist(), strict=True):
        if policy.symbols.get(word, -1) >= len(policy.ordinary):
            summed[word] = summed.get(word, 0.0) + chance
    worst = sorted(summed, key=lambda word: (-round(summed[word], 12), word))
    most = summed[worst[0]] if worst else 0.0
    return Attack(
        "worst_word",
        "sees only the group of each hidden word. This line counts only the word that "
        "is easiest to guess",
        most,
        most,
        most,
        0.0,
        len(summed),
        "chance that the word is guessed",
        {"words": [[word, summed[word]] for word in worst[:_LISTED] if named]},
    )
