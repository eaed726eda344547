"""All attacks on one setting, on texts that were privatized with it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from mondegreen.attacks import ORDER, PLUGINS
from mondegreen.attacks.attack import Attack
from mondegreen.attacks.averaging import averaging
from mondegreen.attacks.bayes import (
    learn_guesses,
    single_word,
    single_word_by_draws,
)
from mondegreen.attacks.categories import categories, category_sets
from mondegreen.attacks.information import mutual_information
from mondegreen.attacks.linkage import linkage
from mondegreen.attacks.outputs import compute_outputs, has_closed_law
from mondegreen.attacks.pairs import Pairs
from mondegreen.attacks.reader import (
    Knowledge,
    Reader,
    TableReader,
    add_way,
    at_face_value,
    attack_printed_words,
    learning_reader,
    reader,
)
from mondegreen.attacks.worst_words import worst_words
from mondegreen.errors import LawUnknownError, PluginError
from mondegreen.mechanisms.base import Progress, State
from mondegreen.plugins import call_plugin
from mondegreen.scores.risk import frequency_prior

if TYPE_CHECKING:
    from mondegreen.attacks import MakeAttack

Tell = Callable[[str], object]

_SEED: Final = 140


def attack_all(
    state: State,
    pairs: Pairs,
    knowledge: Knowledge,
    tell: Tell = lambda line: None,
    more: Sequence[str] = (),
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
        Told what is being done, and the share of it where that takes long.
    more : sequence of str
        Attacks of other packages, or that you registered.

    Returns
    -------
    dict of str to Attack
        By name, in the order of a report. Attacks that need a closed law have the value
        None without one.

    Raises
    ------
    UnknownNameError, PluginError
        If there is none of ``more``, or it is broken.

    Examples
    --------
    >>> import mondegreen as mg
    >>> from mondegreen.attacks import Knowledge, build_pairs
    >>> from mondegreen.text.lookup import Lookup
    >>> space = mg.Space.from_arrays("line", ["cold", "cool", "hot"], [[0], [1], [9]])
    >>> state = mg.mechanism("tem", epsilon=2.0).prepare(space)
    >>> pairs = build_pairs(["Cold or hot?", "Hot."], Lookup(space))
    >>> pairs = pairs.sample(state, np.random.default_rng(0))
    >>> found = attack_all(state, pairs, Knowledge.of_texts(pairs.frequencies(4)))
    >>> round(found["single_word"].value, 2)
    0.86
    """
    plugins = {name: PLUGINS.get(name) for name in more}
    found: list[Attack] = []
    prior, knows = knowledge.prior, knowledge.says
    rng = np.random.default_rng(_SEED)
    is_drawn = pairs.released is not None
    if has_closed_law(state):
        tell("single words")
        sets = category_sets(state.space)
        own_prior = frequency_prior(pairs.frequencies(len(prior)), smoothing=0.0)
        public, own = compute_outputs(
            state, [prior, own_prior], list(sets.values()), _share(tell, "single words")
        )
        found += [
            single_word(pairs, public, own, knows),
            worst_words(pairs, state.space, public, named=knowledge.is_public),
            categories(public, sets, pairs.inputs),
            mutual_information(own, public, len(pairs.inputs)),
        ]
        guess = public.guess
        tell("repeated releases")
        shown = _share(tell, "repeated releases")
        found.append(averaging(state, pairs, prior, rng, shown))
    else:
        tell("single words, from draws")
        shown = _share(tell, "single words, from draws")
        guess = learn_guesses(state, prior, rng, shown)
        found += [_unknown(name, pairs) for name in _NEED_LAW]
        if is_drawn:
            found.append(single_word_by_draws(pairs, guess, prior, knows))
    if is_drawn:
        tell("sentences")
        alone: dict[str, Reader] = {f"{knows}, word by word": TableReader(guess)}
        readers = {**alone, **knowledge.readers, **at_face_value(state)}
        read = reader(pairs, readers, prior)
        tell("what the release discloses about itself")
        learned = learning_reader(pairs, knowledge)
        found += [read] if learned is None else [add_way(read, learned), learned]
    if pairs.printed is not None:
        found.append(attack_printed_words(pairs, prior))
    tell("linkage")
    found.append(linkage(state, pairs))
    for name, make in plugins.items():
        tell(name)
        found.append(_make(name, make, state, pairs, knowledge))
    by_name = {each.name: each for each in found}
    return {name: by_name[name] for name in (*ORDER, *plugins) if name in by_name}


def _share(tell: Tell, what: str) -> Progress:
    """Tell the share of something that is done."""
    return lambda share: tell(f"{what} {share:.0%}")


def _make(
    name: str, make: MakeAttack, state: State, pairs: Pairs, knowledge: Knowledge
) -> Attack:
    """Make an attack that somebody else wrote, with random numbers of its own."""
    rng = np.random.default_rng(_SEED)
    try:
        made = call_plugin(f"attack {name!r}", make, state, pairs, knowledge, rng)
    except LawUnknownError:
        return _unknown(name, pairs)
    if not isinstance(made, Attack) or made.name != name:
        raise PluginError(f"attack {name!r} returned no Attack of that name")
    return made


_NEED_LAW: Final = ("worst_word", "categories", "mutual_information", "averaging")


def _unknown(name: str, pairs: Pairs) -> Attack:
    """Say that nobody knows: the mechanism has no closed law."""
    adversary = "not known: the probabilities of this mechanism have no closed form"
    return Attack(name, adversary, None, None, None, None, len(pairs.inputs), "")
