"""The evaluator: what settings of mechanisms do on one space, measured once and kept.

Where the law is closed and quick to evaluate, all pairs of words are compared, eight
laws in one pass; where it is closed and slow, or where time is short, the laws of some
inputs; where it is not closed, outputs.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from typing import Any, Final, Protocol, final

import numpy as np

from mondegreen import __version__
from mondegreen.arrays import Floats
from mondegreen.calibration import score_bounds as bounds
from mondegreen.calibration.monte_carlo import monte_carlo
from mondegreen.calibration.score_bounds import ETA, Effort, Question, ScoreBounds
from mondegreen.calibration.subsample import blind_loss, estimate_supports, subsample
from mondegreen.errors import InvalidParameterError, LawUnknownError, SpaceError
from mondegreen.mechanisms import base, mechanism
from mondegreen.mechanisms.base import AbstractMechanism, Progress, State, no_progress
from mondegreen.scores.interval import Ends
from mondegreen.scores.law import law_scores, pair_distances
from mondegreen.scores.risk import over_inputs
from mondegreen.space.space import Space

# Words of the largest space whose laws are sorted, every one, for S_w; and the same for
# laws that the mechanism itself must be asked for, row by row.
SMALL: Final = 4096
_SLOW: Final = 1024

_TOGETHER: Final = 8  # closed laws in one pass over all pairs: what an interrupt loses
_FORMAT: Final = 2  # of what is kept; another number makes all of it new

_PROBES: Final = 128
_FAR: Final = 0.75

Look = Callable[[Sequence[State], Question, Progress], Iterable[ScoreBounds]]


@final
@dataclass(frozen=True, slots=True)
class Setting:
    """A mechanism, by name or alias, and its parameters, with epsilon left open."""

    name: str
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def at(self, epsilon: float) -> AbstractMechanism:
        """Make the mechanism at one epsilon."""
        return mechanism(self.name, epsilon=epsilon, **self.parameters)

    def __str__(self) -> str:
        listed = ",".join(f"{key}={value}" for key, value in self.parameters.items())
        return f"{self.name}:{listed}" if listed else self.name


class Adversary(Protocol):
    """Measures more scores of a state: see :mod:`mondegreen.attacks.adversary`."""

    @property
    def digest(self) -> str:
        """SHA-256 of all that decides them."""

    def scores(
        self, state: State, words: int, seed: int, confidence: float
    ) -> dict[str, Ends]:
        """Bound them, from so many words, each with that confidence."""


@final
@dataclass(frozen=True, slots=True)
class Evaluator:
    """Measures settings on a public space, for adversaries with the given priors.

    ``priors`` are from PUBLIC text, of shape (V,) or (V + 1,). ``quick`` draws where
    all could be looked at in a large space; intervals are wider, and as honest.
    ``effort`` is how much is drawn, by default ``FULL`` or ``QUICK``; ``seed``
    fixes what, the same words for every setting, so that curves are smooth in epsilon.
    Each interval by itself has the ``confidence``. With ``cache``, each measurement is
    kept as soon as it is made, and taken from there; files hold scores, and of a prior
    no more than a digest in their name. With an ``adversary``, what it recovers is
    measured too.
    """

    space: Space
    priors: Mapping[str, Floats]
    quick: bool = False
    seed: int = 0
    cache: bool = True
    effort: Effort | None = None
    confidence: float = 0.95
    adversary: Adversary | None = None

    def __post_init__(self) -> None:
        size = self.space.vocab_size
        full = {name: over_inputs(each, size) for name, each in self.priors.items()}
        object.__setattr__(self, "priors", full)

    @property
    def _asked(self) -> Question:
        effort = self.effort or (bounds.QUICK if self.quick else bounds.FULL)
        return Question(self.priors, effort, self.seed, self.confidence)

    def measure(
        self,
        mechanisms: Sequence[AbstractMechanism],
        *,
        certify: bool = True,
        progress: Progress = no_progress,
    ) -> list[ScoreBounds]:
        """Measure mechanisms, in order.

        ``certify`` computes certificates that are not at hand, about 15 s for 33,860
        words on two cores and a second for each further law.
        """
        names = [self._name(each) for each in mechanisms]
        found: dict[int, ScoreBounds] = {}
        states: dict[int, State] = {}
        for place, name in enumerate(names):
            if (values := self._load_kept(mechanisms[place], name)) is None:
                states[place] = mechanisms[place].prepare(self.space)
            else:
                found[place] = ScoreBounds.from_dict(values)

        def hand_in(place: int, known: ScoreBounds) -> None:
            found[place] = known
            self._keep(mechanisms[place], names[place], known)

        for place, known in self._measure(states, progress):
            hand_in(place, known)
        if certify:
            unsure = {
                place: mechanisms[place].prepare(self.space)
                for place, known in found.items()
                if (ends := known.scores.get("certified_epsilon")) and ends[0] < ends[1]
            }
            base.certify(list(unsure.values()))
            for place, state in unsure.items():
                hand_in(place, found[place].plus(bounds.promise(state)))
        return [found[place] for place in range(len(names))]

    def try_at(
        self,
        setting: Setting,
        epsilon: float,
        *,
        certify: bool = False,
        progress: Progress = no_progress,
    ) -> ScoreBounds | None:
        """Measure a setting at one epsilon; None where it does not exist there."""
        made = setting.at(epsilon)
        try:
            return self.measure([made], certify=certify, progress=progress)[0]
        except (InvalidParameterError, SpaceError):
            return None  # such as tight at a small epsilon

    def _prepare(self, setting: Setting, epsilon: float) -> State | None:
        made = setting.at(epsilon)
        try:
            return made.prepare(self.space)
        except (InvalidParameterError, SpaceError):
            return None

    def curves(
        self,
        settings: Sequence[tuple[Setting, Sequence[float]]],
        progress: Progress = no_progress,
    ) -> list[ScoreBounds]:
        """Measure settings at their epsilons, laws in a distance in shared passes."""
        usable = [
            setting.at(epsilon)
            for setting, epsilons in settings
            for epsilon in epsilons
            if self._prepare(setting, epsilon) is not None
        ]
        return self.measure(usable, certify=not self.quick, progress=progress)

    def transition(self, setting: Setting) -> float:
        """Find about the epsilon at which outputs leave the far words for the near.

        Where they move three quarters as far as a random word would; where there is no
        distance, where three quarters of the words change.
        """
        epsilon = self._typical(setting)
        is_far = self._is_far(setting, epsilon)
        factor = 2.0 if is_far else 0.5
        for _ in range(8):
            following = epsilon * factor
            if self._is_far(setting, following) != is_far:
                break
            epsilon = following
        low, high = sorted((epsilon, epsilon * factor))
        for _ in range(5):
            middle = math.sqrt(low * high)
            if self._is_far(setting, middle):
                low = middle
            else:
                high = middle
        return math.sqrt(low * high)

    # What is measured of a mechanism from elsewhere is not kept: its law changes with
    # code that no name of a file covers.

    def _load_kept(
        self, made: AbstractMechanism, name: str
    ) -> Mapping[str, Any] | None:
        is_kept = self.cache and not made.author()
        return bounds.get_kept(self.space, name) if is_kept else None

    def _keep(self, made: AbstractMechanism, name: str, known: ScoreBounds) -> None:
        if self.cache and not made.author():
            bounds.keep(self.space, name, known.to_dict())

    def _name(self, made: AbstractMechanism) -> str:
        """Name the file of a measurement: a digest of all that decides it."""
        priors = {
            name: hashlib.sha256(prior.astype("<f8").tobytes()).hexdigest()
            for name, prior in self.priors.items()
        }
        asked = {**asdict(self._asked), "priors": priors}
        about = [_FORMAT, __version__, ETA, self.quick, asked, made.to_dict()]
        if self.adversary is not None:
            about.append(self.adversary.digest)
        text = json.dumps(about, sort_keys=True)
        return f"{hashlib.sha256(text.encode()).hexdigest()}.json"

    def _measure(
        self, states: Mapping[int, State], progress: Progress
    ) -> Iterator[tuple[int, ScoreBounds]]:
        """Measure states batch by batch; yield each as soon as it is done."""
        losses: dict[str, Ends] = {}  # of a random output, under each prior
        rows = self._asked.effort.rows if self.quick else None
        if states and self.space.has_vectors:
            losses = {
                name: blind_loss(self.space, prior, rows, self.confidence)
                for name, prior in self.priors.items()
            }
        done, total = 0, max(1, len(states))
        for look, places in self._batches(states):
            part = bounds.within(progress, done / total, len(places) / total)
            found = look([states[place] for place in places], self._asked, part)
            for place, known in zip(places, found, strict=True):
                more = self._measure_recovered(states[place]) | _shares(known, losses)
                yield place, known.plus(more)
            done += len(places)
            progress(done / total)

    def _measure_recovered(self, state: State) -> dict[str, Ends]:
        """Measure what the adversary recovers, if there is one."""
        if self.adversary is None:
            return {}
        draws = self._asked.effort.draws
        return self.adversary.scores(state, draws, self.seed, self.confidence)

    def _batches(self, states: Mapping[int, State]) -> list[tuple[Look, list[int]]]:
        """Sort states by how they can be measured, and into batches."""
        sizes: dict[Look, int] = {
            _by_all_inputs: _TOGETHER,
            subsample: _TOGETHER,
            _by_outputs: os.cpu_count() or 1,
        }
        chosen: dict[Look, list[int]] = {look: [] for look in sizes}
        for place, state in states.items():
            chosen[self._look_for(state)].append(place)
        return [
            (look, places[start : start + sizes[look]])
            for look, places in chosen.items()
            for start in range(0, len(places), sizes[look])
        ]

    def _look_for(self, state: State) -> Look:
        """Choose which words and outputs of a state to measure."""
        try:
            state.log_prob(np.zeros(1, dtype=np.int32))
        except LawUnknownError:
            return _by_outputs
        is_small = self.space.vocab_size <= (SMALL if state.takes_distances else _SLOW)
        is_quick = state.takes_distances and not self.quick
        return _by_all_inputs if is_small or is_quick else subsample

    def _typical(self, setting: Setting) -> float:
        """Take ln V over the mean distance, in the metric of the mechanism."""
        count = math.log(max(self.space.vocab_size, 3))
        for guess in (1.0, 10.0, 100.0):
            state = self._prepare(setting, guess)
            if state is not None:
                mean = state.stated.scale["mean"]
                return count / mean if 0 < mean < math.inf else count
        setting.at(1.0).prepare(self.space)  # raises what is wrong
        return count

    def _is_far(self, setting: Setting, epsilon: float) -> bool:
        """Whether outputs are mostly far words, from a few runs."""
        state = self._prepare(setting, epsilon)
        if state is None:
            return True
        rng = np.random.default_rng([self.seed, 2])
        words = rng.integers(self.space.vocab_size, size=_PROBES).astype(np.int32)
        outputs = state.sample(words, rng)
        distances = pair_distances(self.space, words, outputs)
        if distances is None:
            return float((words != outputs).mean()) > _FAR
        return float(distances.mean()) > _FAR * self.space.geometry.mean


def _by_all_inputs(
    states: Sequence[State], asked: Question, progress: Progress
) -> Iterator[ScoreBounds]:
    """Score closed laws exactly.

    Of more than ``SMALL`` words, :math:`S_w` is found for some only, since sorting
    every row takes longer than all else.
    """
    size = states[0].space.vocab_size
    everyone = np.arange(size, dtype=np.int32)
    some = asked.rng().integers(size, size=asked.effort.rows).astype(np.int32)
    eta = ETA if size <= SMALL else None
    laws = law_scores(states, asked.priors, eta=eta, progress=progress)
    for state, law in zip(states, laws, strict=True):
        scores = {name: (value, value) for name, value in law.summary().items()}
        if law.support is not None:
            support = law.support[:-1].astype(np.float64)
        else:
            support, found = estimate_supports(state, some, asked)
            scores.update(found)
        yield ScoreBounds.of(state, scores, everyone, law.stay, support, is_exact=True)


def _by_outputs(
    states: Sequence[State], asked: Question, progress: Progress
) -> Iterator[ScoreBounds]:
    """Run states, each on a core of its own."""
    shares, is_over = [0.0] * len(states), False

    def work(place: int) -> ScoreBounds:
        def advance(share: float) -> None:
            if is_over:  # another failed, or an interrupt: nobody waits for this
                raise CancelledError
            shares[place] = share
            progress(sum(shares) / len(shares))

        return monte_carlo(states[place], asked, advance)

    with ThreadPoolExecutor(len(states)) as pool:
        try:
            yield from pool.map(work, range(len(states)))
        finally:
            is_over = True


def _shares(known: ScoreBounds, losses: Mapping[str, Ends]) -> dict[str, Ends]:
    """Divide utility losses by those of a random word, on the safe side."""
    found = {}
    for name, (least, most) in losses.items():
        low, high = known.scores[f"utility_loss_{name}"]
        if least > 0:
            found[f"utility_loss_share_{name}"] = low / most, high / least
    return found
