r"""From targets to the settings of a policy: mechanism, epsilon and size of groups.

An attacker who has half of a sample guesses the sensitive words of the rest; see
:mod:`mondegreen.attacks.sensitive`. One quarter of the sample decides where to look.
What is reported is of the last quarter, by which nothing was chosen.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, cast, final

import numpy as np

from mondegreen.arrays import Floats, Ids
from mondegreen.attacks.adversary import within
from mondegreen.attacks.attack import Attack
from mondegreen.attacks.parts import draw_parts
from mondegreen.attacks.policies import strongest_reader
from mondegreen.attacks.sensitive import (
    InDomainReader,
    guess_hidden_words,
    is_counted,
    sensitive_words,
    word_classes,
)
from mondegreen.calibration.sample import Passage
from mondegreen.calibration.score_bounds import ScoreBounds
from mondegreen.calibration.search import Attempt, Calibration, calibrate
from mondegreen.calibration.targets import POLICY_KEYS, Target
from mondegreen.errors import ConfigurationError
from mondegreen.io.base import AbstractSource
from mondegreen.mechanisms import mechanism
from mondegreen.mechanisms.symbols.response import ResponseState
from mondegreen.policy.policy import HIDE_AMONG, Policy, find_policy
from mondegreen.settings import Settings
from mondegreen.text.tokenizer import TokenizedBatch, tokenize

LARGEST: Final = 12.0
"""Epsilons up to this one are tried: a larger one keeps hardly more words."""

EPSILONS: Final = (8.0, 10.0, 12.0)
"""Epsilons to show where there is no target."""

WHOLE_CLASSES: Final = 1_000_000
"""Groups of so many words: each class and form is one group."""

_KEPT: Final = 600_000  # words of the sample in memory
_LOOK: Final = 8_000  # words that a look at one setting takes
_CHECK: Final = 20_000
_TOLERANCE: Final = 0.06
_MUCH: Final = 0.9  # share of ordinary words above which nothing else is tried

Show = Callable[[str], object]


@final
@dataclass(frozen=True, slots=True)
class PolicySample:
    """Texts of one domain in three parts.

    Parameters
    ----------
    name : str
        Where they come from.
    texts, words : int
        How many there are in all.
    corpus : sequence of str
        What the attacker learns from.
    look, check : sequence of str
        What settings are looked for with, and what they are reported on.
    """

    name: str
    texts: int
    words: int
    corpus: Sequence[str] = field(repr=False)
    look: Sequence[str] = field(repr=False)
    check: Sequence[str] = field(repr=False)

    @classmethod
    def of(cls, name: str, texts: Sequence[str], count: int = 0) -> PolicySample:
        """Split texts at random, a quarter to look with and a quarter to check.

        >>> sample = PolicySample.of("x", ["a b", "c", "d", "e"])
        >>> sample.words, sample.corpus, sample.look, sample.check
        (5, ['a b', 'd'], ['c'], ['e'])
        """
        words = sum(tokenize(list(texts)).counts())
        parts: list[list[str]] = [[], [], []]
        for text, part in zip(texts, draw_parts(len(texts), 4).tolist(), strict=True):
            parts[max(0, part - 1)].append(text)
        corpus, look, check = parts
        return cls(name, count or len(texts), words, corpus, look, check)

    def to_dict(self) -> dict[str, Any]:
        """Give JSON values: sizes alone."""
        parts = {"corpus": self.corpus, "look": self.look, "check": self.check}
        sizes = {f"{name}_texts": len(part) for name, part in parts.items()}
        return {"name": self.name, "texts": self.texts, "words": self.words, **sizes}


def read_policy_sample(
    source: AbstractSource, advance: Callable[[], object] = lambda: None
) -> PolicySample:
    """Read texts from all over a source, 600,000 words of them at most.

    Raises
    ------
    ConfigurationError
        If they hold no sensitive words to measure with.
    """
    passage, count = Passage(_KEPT), 0
    for batch in source.batches():
        texts = source.texts(batch)
        count += len(texts)
        passage.add(texts, tokenize(texts).counts())
        advance()
    sample = PolicySample.of(source.name, passage.texts, count)
    for part in (sample.look, sample.check):
        if not is_counted(tokenize(_some(part, _LOOK))).any():
            raise ConfigurationError(
                f"SAMPLE has too few sensitive words to measure with ({count:,} "
                "texts): use more texts"
            )
    return sample


@final
@dataclass(frozen=True, slots=True)
class PolicyScores:
    """What one setting of a policy does to texts of a domain.

    ``sensitive`` is the share of sensitive words that the in-domain reader recovers,
    None where it was not measured. ``ordinary`` is the expected share of ordinary words
    that are printed unchanged; exact for these texts.
    """

    mechanism: str
    epsilon: float
    hide_among: int
    sensitive: Attack | None
    ordinary: float

    def bounds(self, confidence: float) -> ScoreBounds:
        """Give both as intervals, for a search."""
        scores = {"ordinary": (self.ordinary, self.ordinary)}
        if self.sensitive is not None:
            scores["sensitive"] = within(self.sensitive, confidence)
        return ScoreBounds(
            mechanism=self.mechanism,
            parameters={"hide_among": self.hide_among},
            epsilon=self.epsilon,
            metric="discrete",
            is_exact=self.sensitive is None,
            scores=scores,
            n_w=(),
            s_w=None,
            worst=(),
        )

    def to_dict(self) -> dict[str, Any]:
        """Convert to JSON values."""
        found = self.sensitive
        return {
            "mechanism": self.mechanism,
            "epsilon": self.epsilon,
            "hide_among": self.hide_among,
            "sensitive": None if found is None else found.to_dict(),
            "ordinary": {"value": self.ordinary},
        }


@final
@dataclass(frozen=True, slots=True)
class PolicyRow:
    """What a search found for one mechanism and size of groups."""

    mechanism: str
    hide_among: int
    chosen: PolicyScores | None
    problem: str = ""

    @property
    def is_binding(self) -> bool:
        """Whether a larger epsilon might miss a target."""
        return self.chosen is None or self.chosen.epsilon < LARGEST

    def to_dict(self) -> dict[str, Any]:
        """Convert to JSON values."""
        return {
            "mechanism": self.mechanism,
            "hide_among": self.hide_among,
            "feasible": self.chosen is not None,
            "binding": self.is_binding,
            "problem": self.problem or None,
            "epsilon": self.chosen and self.chosen.epsilon,
            "measurement": self.chosen and self.chosen.to_dict(),
        }


@final
class PolicyPlan:
    """Finds the settings of a policy that keep targets.

    Parameters
    ----------
    settings : Settings
        Resolved settings with a policy: its words and classes.
    sample : PolicySample
        Texts of the domain.
    targets : sequence of Target
        ``sensitive`` and ``ordinary``; all must hold.
    mechanisms : sequence of str
        The mechanisms to try, in this order.
    sizes : sequence of int
        Least sizes of groups to try, in this order.
    seed : int
        Fixes the releases that are measured.
    show : callable
        Gets each step, for people.
    """

    def __init__(
        self,
        settings: Settings,
        sample: PolicySample,
        targets: Sequence[Target] = (),
        *,
        mechanisms: Sequence[str] = ("urr", "krr"),
        sizes: Sequence[int] = (HIDE_AMONG, WHOLE_CLASSES),
        seed: int = 0,
        show: Show = lambda line: None,
    ) -> None:
        self.settings, self.sample, self.targets = settings, sample, list(targets)
        self.mechanisms, self.sizes = mechanisms, sizes
        self._seed, self._show = seed, show
        self._readers: dict[int, InDomainReader] = {}
        self._parts = {
            is_rough: _Part(tokenize(_some(texts, words)))
            for is_rough, texts, words in (
                (True, sample.look, _LOOK),
                (False, sample.check, _CHECK),
            )
        }

    def policy(self, hide_among: int) -> Policy:
        """The policy with groups of at least so many words."""
        settings = replace(self.settings, hide_among=hide_among)
        return cast(Policy, find_policy(settings))  # never --policy all

    def rows(self) -> list[PolicyRow]:
        """Search each mechanism and size, until one keeps all targets and most words.

        A search with a target of ``ordinary`` finds the smallest epsilon that keeps it;
        with one of ``sensitive`` alone the largest one, up to :data:`LARGEST`.
        """
        found: list[PolicyRow] = []
        for name in self.mechanisms:
            for size in self.sizes:
                found.append(self._search(name, size, self.targets))
                chosen = found[-1].chosen
                is_enough = any(target.key == "ordinary" for target in self.targets)
                if chosen is not None and (is_enough or chosen.ordinary >= _MUCH):
                    return found
        return found

    def best(self, rows: Sequence[PolicyRow]) -> PolicyScores | None:
        """Choose the setting that keeps most ordinary words; the first of equals."""
        found = [row.chosen for row in rows if row.chosen is not None]
        return max(found, key=lambda each: round(each.ordinary, 2), default=None)

    def alternatives(self) -> list[PolicyRow]:
        """Search what keeps the target of ``sensitive`` alone."""
        alone = [target for target in self.targets if target.key == "sensitive"]
        if not alone or len(alone) == len(self.targets):
            return []
        return [self._search(name, self.sizes[0], alone) for name in self.mechanisms]

    def curve(self, epsilons: Sequence[float] = EPSILONS) -> list[PolicyScores]:
        """Measure every mechanism at epsilons, with the first size of groups."""
        return [
            self._measure(name, epsilon, self.sizes[0], Attempt(1))
            for name in self.mechanisms
            for epsilon in epsilons
        ]

    def _search(
        self, name: str, hide_among: int, targets: Sequence[Target]
    ) -> PolicyRow:
        """Search epsilon for one mechanism and size of groups."""
        steers = any(target.is_about_use for target in targets)
        seen: dict[float, PolicyScores] = {}

        def measure(epsilon: float, attempt: Attempt) -> ScoreBounds | None:
            if epsilon > LARGEST:
                return None
            alone = steers and attempt.is_rough
            found = self._measure(name, epsilon, hide_among, attempt, alone=alone)
            if not attempt.is_rough:
                seen[epsilon] = found
            return found.bounds(attempt.confidence)

        done: Calibration = calibrate(measure, targets, LARGEST, _TOLERANCE)
        if done.chosen is None:
            return PolicyRow(name, hide_among, None, done.problem)
        return PolicyRow(name, hide_among, seen[done.chosen.epsilon])

    def _measure(
        self,
        name: str,
        epsilon: float,
        hide_among: int,
        attempt: Attempt,
        *,
        alone: bool = False,
    ) -> PolicyScores:
        """Measure one setting; ``alone``, no more than the ordinary words."""
        what = "looking at" if attempt.is_rough else "checking"
        size = _size(hide_among)
        self._show(f"{name}, groups of {size}: {what} epsilon {epsilon:g}")
        policy, part = self.policy(hide_among), self._parts[attempt.is_rough]
        law: Any = mechanism(name, epsilon=epsilon)
        state: ResponseState = law.prepare(policy.alphabet)
        if hide_among not in self._readers:
            corpus = self.sample.corpus
            self._readers[hide_among] = InDomainReader(policy, corpus, state.response)
        reader = self._readers[hide_among]
        symbols = reader.lookup.codes(part.batch)
        attack = None
        if not alone:
            rng = np.random.default_rng([self._seed, attempt.number])
            released = state.sample(symbols, rng)
            guesses = guess_hidden_words(
                reader.under(state.response), part.batch, released
            )
            hidden = policy.alphabet.is_group(symbols)
            read = sensitive_words(part.batch, guesses, hidden)
            attack = replace(strongest_reader(read), name=read.name)
        kept = float(_compute_kept(policy, state, symbols)[part.ordinary].mean())
        return PolicyScores(name, epsilon, hide_among, attack, kept)


@final
class _Part:
    """Texts, and which of their words count as ordinary."""

    def __init__(self, batch: TokenizedBatch) -> None:
        self.batch = batch
        self.ordinary = word_classes(batch) == "ordinary"


def _compute_kept(policy: Policy, state: ResponseState, symbols: Ids) -> Floats:
    """Chance that a word is printed unchanged; 0 for words that the policy hides."""
    is_shown = ~policy.alphabet.is_group(symbols)
    return np.asarray(np.where(is_shown, state.response.kept_by(symbols), 0.0))


def _some(texts: Sequence[str], words: int) -> list[str]:
    """Pick texts at equal distances, of so many words at most."""
    passage = Passage(words)
    passage.add(list(texts), tokenize(list(texts)).counts())
    return passage.texts


def _size(hide_among: int) -> str:
    return "whole classes" if hide_among == WHOLE_CLASSES else f"{hide_among:,}"


def check_policy_targets(targets: Sequence[Target]) -> None:
    """Refuse targets that are not about policies."""
    for target in targets:
        if target.key not in POLICY_KEYS:
            raise ConfigurationError(
                f"target {target.key} is for mechanisms on a space; sensitive and "
                "ordinary are for policies. Run the command once for each"
            )
