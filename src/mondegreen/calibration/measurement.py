"""What one setting of a mechanism does on one space, as a small record of numbers."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final, final

import numpy as np
from numpy.typing import NDArray

from mondegreen import __version__
from mondegreen.calibration.baseline import random_loss
from mondegreen.calibration.batches import Batches
from mondegreen.calibration.cache import digest_of, keep, kept
from mondegreen.calibration.found import ETA, FULL, QUICK, Effort, Ends, Found, Progress
from mondegreen.calibration.promise import promise
from mondegreen.mechanisms.base import AbstractMechanism, State
from mondegreen.mechanisms.base import certify as certify_all
from mondegreen.scores.risk import check_prior
from mondegreen.space.space import Space

_FORMAT: Final = 1
"""Of what is kept; another number makes all of it new."""

Floats = NDArray[np.float64]


@final
@dataclass(frozen=True, slots=True)
class Measurement:
    r"""What one setting of a mechanism on one space is known to do.

    Parameters
    ----------
    mechanism : str
        Registry name.
    parameters : dict of str to JSON value
        All but epsilon, such as ``{"t": 0.5}``.
    epsilon : float, nats per unit of ``metric``
    metric : str
        Of the guarantee.
    is_exact : bool
        Whether the law is closed and every input was looked at. Scores whose ends
        agree are exact then; in a large vocabulary :math:`S_w` is exact for some
        words only, and its percentiles have an interval.
    scores : mapping of str to (float, float)
        The ends of what is known of each; a score that is missing is not known.
        ``n_w_mean``, ``n_w_50`` to ``n_w_99`` and ``n_w_max`` over the words;
        ``s_w_mean``, ``s_w_50`` to ``s_w_01`` and ``s_w_min``, where small is less
        private; ``distance_mean``; ``certified_epsilon``; ``worst_loss``,
        ``near_loss`` and ``privacy_ratio``, which are epsilon times the diameter, the
        median distance to the nearest word and the mean distance, in nats; and, for
        each prior NAME, ``n_w_NAME``, ``bayes_risk_NAME``, ``inference_error_NAME``,
        ``prior_risk_NAME``, ``utility_loss_NAME`` in units of distance and
        ``utility_loss_share_NAME``, as a share of that of a random word.
    n_w : tuple of 101 floats
        Percentiles of :math:`N_w` over the vocabulary, from 0 to 100. Where
        ``is_exact`` is False they are those of a sample of words.
    s_w : tuple of 101 floats, or None
        Percentiles of :math:`S_w`, with 1 - eta of the mass.
    worst : tuple of (str, float)
        Up to 12 words with the largest :math:`N_w`, of those that were looked at.

    Notes
    -----
    Each interval by itself holds the true value with 95 % confidence, or with that
    asked of :func:`measure`.
    """

    mechanism: str
    parameters: Mapping[str, Any]
    epsilon: float
    metric: str
    is_exact: bool
    scores: Mapping[str, Ends]
    n_w: tuple[float, ...]
    s_w: tuple[float, ...] | None
    worst: tuple[tuple[str, float], ...]

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values; an end that is infinite becomes None."""
        return {
            "mechanism": self.mechanism,
            "parameters": dict(self.parameters),
            "epsilon": self.epsilon,
            "metric": self.metric,
            "is_exact": self.is_exact,
            "scores": {name: list(map(_end, e)) for name, e in self.scores.items()},
            "n_w": list(self.n_w),
            "s_w": None if self.s_w is None else list(self.s_w),
            "worst": [list(each) for each in self.worst],
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Measurement:
        """Build from what :meth:`to_dict` returned."""
        return cls(
            mechanism=str(values["mechanism"]),
            parameters=dict(values["parameters"]),
            epsilon=float(values["epsilon"]),
            metric=str(values["metric"]),
            is_exact=bool(values["is_exact"]),
            scores={
                str(name): (_number(low, -math.inf), _number(high, math.inf))
                for name, (low, high) in values["scores"].items()
            },
            n_w=tuple(map(float, values["n_w"])),
            s_w=None if values["s_w"] is None else tuple(map(float, values["s_w"])),
            worst=tuple((str(word), float(stay)) for word, stay in values["worst"]),
        )


def measure(
    mechanisms: Sequence[AbstractMechanism],
    space: Space,
    priors: Mapping[str, Floats],
    *,
    quick: bool = False,
    effort: Effort | None = None,
    seed: int = 0,
    confidence: float = 0.95,
    certify: bool = True,
    progress: Progress = lambda share: None,
    cache: bool = True,
) -> list[Measurement]:
    """Return what settings of mechanisms do on one space.

    Exact where the law is closed and quick to evaluate, eight laws in one pass over
    all pairs of words; from the laws of some inputs where it is closed, or if
    ``quick``; from runs where it is not.

    Parameters
    ----------
    mechanisms : sequence of AbstractMechanism
        Settings to measure.
    space : Space
        Public words and vectors.
    priors : mapping of str to float64 array, shape (V,) or (V + 1,)
        What the adversary expects, by name; from PUBLIC text.
    quick : bool
        Whether to look at fewer inputs; intervals are wider, and as honest.
    effort : Effort, optional
        How much is drawn; by default :data:`FULL` or :data:`QUICK`.
    seed : int
        Of all that is drawn.
    confidence : float in (0, 1)
        Of each interval by itself.
    certify : bool
        Whether to compute certificates that are not at hand, about 15 s for 33,860
        words on two cores and a second for each further law.
    progress : callable
        Called with the share that is done, from 0 to 1.
    cache : bool
        Whether to keep each measurement as soon as it is made, and to take those that
        were kept. Files hold scores; of a prior they hold no more than a digest in
        their name.

    Returns
    -------
    list of Measurement
        One for each setting, in order.

    Examples
    --------
    >>> import mondegreen as mg
    >>> space = mg.Space.from_arrays("ab", ["a", "b"], [[0.0], [1.0]])
    >>> tem = mg.mechanism("exponential", epsilon=2.0)
    >>> (found,) = measure([tem], space, {"uniform": np.array([0.5, 0.5])})
    >>> found.is_exact, round(found.scores["bayes_risk_uniform"][0], 3)
    (True, 0.269)
    """
    size = effort or (QUICK if quick else FULL)
    full = {name: _with_unknown(each, space) for name, each in priors.items()}
    about = {
        "format": _FORMAT,
        "version": __version__,
        "eta": ETA,
        "priors": {name: _digest(prior) for name, prior in full.items()},
        "quick": quick,
        "effort": asdict(size),
        "seed": seed,
        "confidence": confidence,
    }
    names = [digest_of({**about, **each.to_dict()}) for each in mechanisms]
    found: dict[int, Measurement] = {}
    for i, name in enumerate(names):
        values = kept(space, name) if cache else None
        if values is not None:
            found[i] = Measurement.from_dict(values)

    def hand_in(place: int, each: Measurement) -> None:
        found[place] = each
        if cache:
            keep(space, names[place], each.to_dict())

    missing = [i for i in range(len(names)) if i not in found]
    if missing:
        states = {i: mechanisms[i].prepare(space) for i in missing}
        losses = _losses(space, full, confidence, size if quick else None)
        Batches(space, full, seed, confidence, size, quick=quick).run(
            states,
            lambda i, scores: hand_in(i, _measurement(states[i], scores, losses)),
            progress,
        )
    if certify:
        for place, each in _certified(found, mechanisms, space):
            hand_in(place, each)
    return [found[i] for i in range(len(names))]


def _losses(
    space: Space,
    priors: Mapping[str, Floats],
    confidence: float,
    effort: Effort | None,
) -> dict[str, Ends]:
    """Return the loss of a random output under each prior, where there is one."""
    found = {
        name: random_loss(space, prior, effort, confidence=confidence)
        for name, prior in priors.items()
    }
    return {name: ends for name, ends in found.items() if ends is not None}


def _measurement(state: State, found: Found, losses: Mapping[str, Ends]) -> Measurement:
    """Return the record of a state whose scores were found."""
    guarantee = state.stated
    scores = {**found.scores, **promise(state)}
    for name, (least, most) in losses.items():
        ends = scores.get(f"utility_loss_{name}")
        if ends is not None and least > 0:
            share = ends[0] / most, ends[1] / least
            scores[f"utility_loss_share_{name}"] = share
    parameters = dict(guarantee.parameters)
    return Measurement(
        mechanism=guarantee.mechanism,
        parameters={k: v for k, v in parameters.items() if k != "epsilon"},
        epsilon=float(parameters["epsilon"]),
        metric=guarantee.metric,
        is_exact=found.is_exact,
        scores=scores,
        n_w=found.n_w,
        s_w=found.s_w,
        worst=found.worst,
    )


def _certified(
    found: Mapping[int, Measurement],
    mechanisms: Sequence[AbstractMechanism],
    space: Space,
) -> Iterator[tuple[int, Measurement]]:
    """Yield measurements whose certificate had not been computed, with it."""
    states = {
        place: mechanisms[place].prepare(space)
        for place, each in found.items()
        if (ends := each.scores.get("certified_epsilon")) and ends[0] < ends[1]
    }
    certify_all(list(states.values()))
    for place, state in states.items():
        each = found[place]
        yield place, replace(each, scores={**each.scores, **promise(state)})


def _with_unknown(prior: Floats, space: Space) -> Floats:
    """Return a prior over all inputs; one over the words leaves the unknown out."""
    given = np.asarray(prior, dtype=np.float64)
    if given.shape == (space.vocab_size,):
        given = np.append(given, 0.0)
    return check_prior(given, space.vocab_size + 1)


def _digest(prior: Floats) -> str:
    """Return what names a prior and does not tell it."""
    return hashlib.sha256(prior.astype("<f8").tobytes()).hexdigest()


def _end(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _number(value: float | None, absent: float) -> float:
    return absent if value is None else float(value)
