"""The record of what one setting of a mechanism does, and where records are kept."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final, final

import numpy as np

from mondegreen import __version__
from mondegreen.arrays import Floats, Ids
from mondegreen.files import home, read_own, write_own
from mondegreen.mechanisms.base import Progress, State
from mondegreen.scores.interval import Ends, bound_mean, check_confidence
from mondegreen.space.space import Space

ETA: Final = 0.05  # the mass that S_w leaves out

Scores = Mapping[str, Ends]


@final
@dataclass(frozen=True, slots=True)
class Effort:
    """How much is drawn where not everything can be looked at."""

    rows: int  # inputs, of each prior, whose law is looked at where it is closed
    words: int  # words that are run where it is not
    runs: int  # outputs of each of these words
    draws: int  # pairs of input and output for each prior


FULL: Final = Effort(rows=2048, words=1024, runs=64, draws=50_000)
QUICK: Final = Effort(rows=384, words=192, runs=32, draws=2_000)
# To find where to look; nothing that is reported rests on it. Few runs cannot show that
# there are many outputs, so a target about S_w needs more of them.
ROUGH: Final = Effort(rows=96, words=96, runs=12, draws=500)
ROUGH_SUPPORT: Final = replace(ROUGH, runs=64)


@final
@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of settings: for which adversaries, how thoroughly, how surely."""

    priors: Mapping[str, Floats]  # of the input, by name, shape (V + 1,) each
    effort: Effort
    seed: int = 0
    confidence: float = 0.95  # of each interval by itself

    @property
    def alpha(self) -> float:
        """Chance that one end of an interval is wrong."""
        return check_confidence(self.confidence) / 2

    def rng(self) -> np.random.Generator:
        """Draw the same words for every batch, so that curves are smooth."""
        return np.random.default_rng([self.seed, 0])

    def mean(self, values: Floats, least: float, largest: float) -> Ends:
        """Bound the mean of independent values of a known range."""
        return bound_mean(values, least, largest, self.confidence).ends


@final
@dataclass(frozen=True, slots=True)
class ScoreBounds:
    """What one setting of a mechanism on one space is known to do.

    ``scores`` holds the two ends of what is known of each score; one that is missing
    is not known. Ends that agree are exact if ``is_exact``. Over the words of the
    vocabulary there are ``n_w_mean``, ``n_w_50`` to ``n_w_99`` and ``n_w_max``;
    ``s_w_mean``, ``s_w_50`` to ``s_w_01`` and ``s_w_min``, where small is less private;
    ``distance_mean``, and means and tails of entropies and ranks where all were
    computed. Of the promise, ``certified_epsilon``, and ``worst_loss``, ``near_loss``
    and ``privacy_ratio`` in nats: epsilon times the diameter, the median distance to
    the nearest word and the mean distance. For each prior NAME, ``n_w_NAME``,
    ``bayes_risk_NAME``, ``inference_error_NAME``, ``prior_risk_NAME``,
    ``utility_loss_NAME`` in units of distance and ``utility_loss_share_NAME``, as a
    share of that of a random word. Each interval by itself holds the true value with
    95 % confidence, or with that of the evaluator.
    """

    mechanism: str
    parameters: Mapping[str, Any]  # all but epsilon, as JSON values
    epsilon: float
    metric: str  # of the guarantee; epsilon is in nats per unit of it
    is_exact: bool  # whether the law is closed and every input was looked at
    scores: Scores
    # Percentiles from 0 to 100 of N_w, and of S_w with 1 - eta of the mass, and up to
    # 12 words with the largest N_w: of the words that were looked at.
    n_w: tuple[float, ...]
    s_w: tuple[float, ...] | None
    worst: tuple[tuple[str, float], ...]

    @classmethod
    def of(
        cls,
        state: State,
        scores: Scores,
        words: Ids,
        stay: Floats,
        support: Floats | None,
        *,
        is_exact: bool = False,
    ) -> ScoreBounds:
        """Put together what was found of a state, and what it promises."""
        stated = state.stated  # without a certificate that takes long
        parameters = dict(stated.parameters)
        epsilon = float(parameters.pop("epsilon"))
        return cls(
            stated.mechanism,
            parameters,
            epsilon,
            stated.metric,
            is_exact,
            {**scores, **promise(state)},
            _percentiles(stay, up=True),
            None if support is None else _percentiles(support, up=False),
            _worst(state.space, words, stay),
        )

    def plus(self, scores: Scores) -> ScoreBounds:
        """Add scores, or replace them."""
        return replace(self, scores={**self.scores, **scores})

    def to_dict(self) -> dict[str, Any]:
        """Give JSON values; an end that is infinite becomes None."""
        ends = {
            name: [end if math.isfinite(end) else None for end in both]
            for name, both in self.scores.items()
        }
        return {**asdict(self), "scores": ends}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> ScoreBounds:
        """Build from what :meth:`to_dict` gave."""
        read = {
            "scores": {
                name: (
                    -math.inf if low is None else low,
                    math.inf if high is None else high,
                )
                for name, (low, high) in values["scores"].items()
            },
            "n_w": tuple(values["n_w"]),
            "s_w": values["s_w"] and tuple(values["s_w"]),
            "worst": tuple(map(tuple, values["worst"])),
        }
        return cls(**{**values, **read})


def promise(state: State) -> dict[str, Ends]:
    """Bound the certified epsilon, and losses in nats; nothing where none is proved.

    Where a certificate could be computed and was not, it is at least the rate of the
    law and at most what the proof allows. ``privacy_ratio`` is the label of Silva
    Carvalho et al. ("BRR", ICML workshop 2021, section 4), who put a mechanism of
    metric A at epsilon_A beside one of metric B at epsilon_A P_A / P_B, where P is the
    mean distance of two words: then epsilon times P is the same number. The mean of
    such bounds bounds nothing, so equal labels are no equal privacy; with the diameter
    for P, which is ``worst_loss``, upper bounds of the worst loss are equal. The paper
    takes means over all pairs, equal words among them, which changes no ratio.

    What the author of a plug-in claims without a certificate is no certified epsilon.
    """
    guarantee = state.stated
    if not guarantee.is_proved:
        return {}
    low, high = state.certified_bounds
    is_claimed = guarantee.claimed_by and guarantee.certified is None
    found = {} if is_claimed else {"certified_epsilon": (low, high)}
    for name, unit in (("worst_loss", "diameter"), ("near_loss", "nearest")):
        if math.isfinite(distance := guarantee.scale[unit]):
            found[name] = low * distance, high * distance
    if math.isfinite(mean := guarantee.scale["mean"]):
        found["privacy_ratio"] = guarantee.epsilon * mean, guarantee.epsilon * mean
    return found


def under(name: str, prior: Floats, scores: Scores) -> dict[str, Ends]:
    """Name scores by their prior; a risk is at most that before any output is seen."""
    before = float(1 - prior.max())
    low, high = scores["bayes_risk"]
    high = min(high, before)
    risks = {"prior_risk": (before, before), "bayes_risk": (min(low, high), high)}
    return {f"{key}_{name}": ends for key, ends in {**scores, **risks}.items()}


def _percentiles(values: Floats, *, up: bool) -> tuple[float, ...]:
    """Take the percentiles from 0 to 100, each a value that occurs."""
    places = np.arange(101) * (len(values) - 1) / 100
    nearest = np.ceil(places) if up else np.floor(places)
    return tuple(np.sort(values)[nearest.astype(int)].tolist())


def _worst(space: Space, ids: Ids, stay: Floats) -> tuple[tuple[str, float], ...]:
    """Take the words with the largest chance to stay, the largest first."""
    distinct, first = np.unique(ids, return_index=True)
    order = np.argsort(-stay[first], kind="stable")[:12]
    return tuple((space.words[distinct[i]], float(stay[first[i]])) for i in order)


def within(progress: Progress, start: float, share: float) -> Progress:
    """Report a part of the work, which begins at ``start``, as so much of the whole."""
    return lambda done: progress(start + share * done)


def folder(space: Space) -> Path:
    """Name the folder of what this version measured on a space, a file for each."""
    return home() / "measurements" / f"{space.digest[:32]}-{__version__}"


def get_kept(space: Space, name: str) -> Any:
    """Read the JSON value kept under a name; None where there is none."""
    try:
        return json.loads(read_own(folder(space) / name) or b"null")
    except ValueError:  # a damaged file is as good as none
        return None


def keep(space: Space, name: str, value: object) -> None:
    """Keep a JSON value, whole or not at all; a cache that is full is no error."""
    write_own(folder(space) / name, json.dumps(value).encode())
