"""What one setting with a policy means for one word: exact numbers of its law."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, Final, final

import numpy as np

from mondegreen.arrays import Floats
from mondegreen.errors import ConfigurationError, InvalidParameterError
from mondegreen.mechanisms.base import State
from mondegreen.policy.policy import Policy
from mondegreen.policy.shown import PolicyView, ShownWord

_TOP: Final = 10

_SCANNED: Final = 1_000_000
"""Formats of more tokens are searched by halves."""


@final
@dataclass(frozen=True, slots=True)
class PolicyOutput:
    """A word that may be printed, and how likely."""

    word: str
    probability: float


@final
@dataclass(frozen=True, slots=True)
class PolicyOdds:
    """By how much a printed word can move the odds between this word and another.

    Parameters
    ----------
    pair : {"group", "sensitive", "ordinary"}
        The other word is of the same group, of another group, or ordinary.
    other : str or None
        Such a word; None if the policy has none.
    promised : float or None
        Bound of the guarantee in nats, where a sensitive word is printed. None where
        the guarantee says nothing of the pair.
    realised : float or None
        The exact loss in nats, over all words that may be printed; None if an output
        shows which of the two it was.
    hidden : float or None
        The exact loss in nats where a sensitive word is printed.
    """

    pair: str
    other: str | None
    promised: float | None
    realised: float | None
    hidden: float | None


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyWordScores:
    """What one setting means for one word inside a sentence; all numbers are exact.

    ``stay`` is the chance that this very word is printed, ``group`` that another word
    of its group is, ``sensitive`` that a word of another group or format is, and
    ``ordinary`` that another ordinary word is. They sum to 1.
    """

    shown: ShownWord
    stay: float
    group: float
    sensitive: float
    ordinary: float
    outputs: tuple[PolicyOutput, ...]
    odds: tuple[PolicyOdds, ...]

    @property
    def is_ordinary(self) -> bool:
        """Whether the policy shows this word."""
        return self.shown.inside.hides_among is None

    def to_dict(self) -> dict[str, Any]:
        """Convert to JSON values, without the word itself."""
        values = self.shown.to_dict()
        del values["word"]
        return {
            **values,
            "stay": self.stay,
            "become": {
                "group": self.group,
                "sensitive": self.sensitive,
                "ordinary": self.ordinary,
            },
            "outputs": [asdict(each) for each in self.outputs],
            "odds": [asdict(each) for each in self.odds],
        }


def score_policy_word(
    state: State, policy: Policy, word: str, *, top: int = _TOP
) -> PolicyWordScores:
    """Score one word under a mechanism that is prepared for a policy.

    Raises
    ------
    ConfigurationError
        If it is not one word; the policy looks at each one by itself.

    Examples
    --------
    >>> import mondegreen as mg
    >>> from mondegreen.policy.policy import load_policy
    >>> policy = load_policy("sensitive")
    >>> state = mg.mechanism("urr", epsilon=12.0).prepare(policy.alphabet)
    >>> found = score_policy_word(state, policy, "diabetes")
    >>> found.stay < 0.05, found.odds[0].realised
    (True, 0.0)
    """
    if top < 1:
        raise InvalidParameterError("top", top, "at least 1")
    view = PolicyView(policy)
    shown = view.words(word)
    if len(shown) != 1:
        raise ConfigurationError(
            f"explain takes one word, and this is {len(shown)}: use "
            "mondegreen policy show for several"
        )
    own = shown[0].inside.symbol
    law = np.exp(state.log_prob(np.array([own], dtype=np.int32))[0])
    ordinary = len(policy.ordinary)
    is_output = _is_output(policy, own, shown[0].word)
    stay = float(law[own]) / int(policy.sizes[own]) if is_output else 0.0
    return PolicyWordScores(
        shown=shown[0],
        stay=stay,
        group=float(law[own]) - stay,
        sensitive=_mass(law, own, ordinary, len(law)),
        ordinary=_mass(law, own, 0, ordinary),
        outputs=_outputs(view, law, own, top),
        odds=tuple(_odds(state, view, shown[0])),
    )


def _is_output(policy: Policy, symbol: int, word: str) -> bool:
    """Tell whether a word is among those that its own symbol prints."""
    first, size = int(policy.first[symbol]), int(policy.sizes[symbol])
    if size <= _SCANNED:
        folded = word.lower()
        return any(policy.print(first + i).lower() == folded for i in range(size))
    # The large formats are in the order of their spelling.
    place = bisect_left(
        range(size), word.upper(), key=lambda i: policy.print(first + i)
    )
    return place < size and policy.print(first + place) == word.upper()


def _mass(law: Floats, own: int, start: int, stop: int) -> float:
    """Sum the law over some symbols, without the symbol itself."""
    is_own = start <= own < stop
    return float(law[start:stop].sum() - (law[own] if is_own else 0.0))


def _outputs(
    view: PolicyView, law: Floats, own: int, top: int
) -> tuple[PolicyOutput, ...]:
    """List words that may be printed: of its own symbol first, then of others."""
    policy = view.policy
    found = [(word, own) for word in view.examples(own, top)]
    others = np.flatnonzero((law > 0) & (np.arange(len(law)) != own))
    missing = min(top - len(found), len(others))
    for i in range(missing):
        symbol = int(others[i * len(others) // missing])
        found.append((view.examples(symbol, 1)[0], symbol))
    return tuple(
        PolicyOutput(word, float(law[symbol]) / int(policy.sizes[symbol]))
        for word, symbol in found
    )


def _odds(state: State, view: PolicyView, shown: ShownWord) -> Iterator[PolicyOdds]:
    """Odds against one word of each kind; the law is the same for all of a kind."""
    policy, own = view.policy, shown.inside.symbol
    ordinary = len(policy.ordinary)
    groups, words = range(ordinary, policy.alphabet.size), range(ordinary)
    kinds = {
        "group": [own] if own in groups else [],
        "sensitive": [symbol for symbol in groups if symbol != own],
        "ordinary": [symbol for symbol in words if symbol != own],
    }
    bound = state.guarantee.word_loss
    for pair, symbols in kinds.items():
        if not symbols:
            continue
        others = view.examples(symbols[0])
        other = next((x for x in others if x.lower() != shown.word.lower()), None)
        whole, hidden = _losses(state, own, symbols[0], ordinary)
        is_promised = whole is not None or pair == "sensitive" or own in groups
        promised = 0.0 if pair == "group" else bound
        yield PolicyOdds(pair, other, promised if is_promised else None, whole, hidden)


def _losses(
    state: State, one: int, other: int, ordinary: int
) -> tuple[float | None, float | None]:
    """The largest log-ratio of two symbols: over all outputs, and over groups."""
    laws = state.log_prob(np.array([one, other], dtype=np.int32))
    possible = np.isfinite(laws).any(axis=0)
    gaps = np.zeros(laws.shape[1])
    gaps[possible] = np.abs(laws[0, possible] - laws[1, possible])
    return _finite(gaps.max()), _finite(gaps[ordinary:].max())


def _finite(loss: float) -> float | None:
    return float(loss) if math.isfinite(loss) else None
