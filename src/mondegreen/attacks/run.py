"""All attacks on one setting, on texts that were privatized with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from mondegreen.attacks.attack import Attack
from mondegreen.attacks.averaging import averaging
from mondegreen.attacks.bayes import (
    learned_guesses,
    single_word,
    single_word_by_draws,
)
from mondegreen.attacks.categories import categories, category_sets
from mondegreen.attacks.information import mutual_information
from mondegreen.attacks.linkage import linkage
from mondegreen.attacks.outputs import has_closed_law, outputs_of
from mondegreen.attacks.pairs import Pairs
from mondegreen.attacks.reader import (
    Knowledge,
    Reader,
    TableReader,
    at_face_value,
    learning_reader,
    printed_words,
    reader,
)
from mondegreen.attacks.worst_words import worst_words
from mondegreen.mechanisms.base import State
from mondegreen.scores.risk import frequency_prior

Tell = Callable[[str], object]

_SEED: Final = 140


def attack_all(
    state: State,
    pairs: Pairs,
    knowledge: Knowledge,
    tell: Tell = lambda line: None,
) -> dict[str, Attack]:
    """Make every attack that a law and a release permit.

    Parameters
    ----------
    state : State
        The mechanism that released.
    pairs : Pairs
        Originals and released words; attacks on words are left out without these.
    knowledge : Knowledge
        What adversaries know besides the mechanism.
    tell : callable
        Told what is being done.

    Returns
    -------
    dict of str to Attack
        By name, in the order of a report. Attacks that need a closed law have the value
        None without one.
    """
    found: list[Attack] = []
    prior, knows = knowledge.prior, knowledge.says
    rng = np.random.default_rng(_SEED)
    is_drawn = pairs.released is not None
    if has_closed_law(state):
        tell("single words")
        sets = category_sets(state.space)
        own_prior = frequency_prior(pairs.frequencies(len(prior)), smoothing=0.0)
        public, own = outputs_of(state, [prior, own_prior], list(sets.values()))
        found += [
            single_word(pairs, public, own, knows),
            worst_words(pairs, state.space, public, named=knowledge.is_public),
            categories(public, sets, pairs.inputs),
            mutual_information(own, public, len(pairs.inputs)),
        ]
        guess = public.guess
        tell("repeated releases")
        found.append(averaging(state, pairs, prior, rng))
    else:
        tell("single words, from draws")
        guess = learned_guesses(state, prior, rng)
        found += [_unknown(name, pairs) for name in _NEED_LAW]
        if is_drawn:
            found.append(single_word_by_draws(pairs, guess, prior, knows))
    if is_drawn:
        tell("sentences")
        alone: dict[str, Reader] = {f"{knows}, word by word": TableReader(guess)}
        readers = {**alone, **knowledge.readers, **at_face_value(state)}
        found.append(reader(pairs, readers, prior))
        tell("what the release tells of itself")
        found += filter(None, [learning_reader(pairs, knowledge)])
    if pairs.printed is not None:
        found.append(printed_words(pairs, prior))
    tell("linkage")
    found.append(linkage(state, pairs))
    by_name = {each.name: each for each in found}
    return {name: by_name[name] for name in ORDER if name in by_name}


ORDER: Final = (
    "single_word",
    "reader",
    "learning_reader",
    "worst_word",
    "categories",
    "mutual_information",
    "linkage",
    "averaging",
)
"""The attacks, as they are shown."""

_NEED_LAW: Final = ("worst_word", "categories", "mutual_information", "averaging")


def _unknown(name: str, pairs: Pairs) -> Attack:
    """Say that nobody knows: the mechanism has no closed law."""
    adversary = "not known: the probabilities of this mechanism have no closed form"
    return Attack(name, adversary, None, None, None, None, len(pairs.inputs), "")
