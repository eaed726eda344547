"""Laws without a short form, looked at once: their channels, and what outputs tell.

A pass over all pairs of words takes a minute, so one pass serves all language models
and all data sets: it keeps the 48 likeliest inputs of each output under the mean of
all word frequencies, and the channel of a model ranks these anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, final

import numpy as np
from numpy.typing import NDArray

from mondegreen.arrays import slices
from mondegreen.attacks.outputs import Outputs
from mondegreen.decode.channel import build_channel
from mondegreen.decode.decoder import CANDIDATES
from mondegreen.errors import LawUnknownError
from mondegreen.files import home
from mondegreen.mechanisms.channel import Channel, rank
from mondegreen.scores.law import to_words

Floats = NDArray[np.float64]

_KEPT: Final = 48
_ROWS: Final = 256


@final
@dataclass(frozen=True)
class Law:
    """The likely inputs of each output, and sums over all inputs.

    ``inputs`` and ``law``, shape (V, 48): inputs with P(y | x). ``totals``, one row for
    each prior, P(y); ``noise`` the entropy of an output given its input, in nats.
    """

    inputs: NDArray[np.int32]
    law: Floats
    totals: Floats
    noise: Floats

    def channel(self, prior: Floats) -> Channel:
        """The likeliest of the inputs under a prior."""
        observation = np.arange(len(self.inputs), dtype=np.int32)
        how = "exact, of the inputs that were kept"
        return rank(observation, self.inputs, self.law, prior, CANDIDATES, how)

    def outputs(self, prior: Floats, at: int | None = None) -> Outputs:
        """The best guess of each output; sums of prior number ``at``, if given."""
        channel = self.channel(prior)
        guess = channel.candidates[:, 0]
        best = np.exp(channel.log_law[:, 0]) * prior[guess]
        total = np.zeros_like(best) if at is None else self.totals[at]
        noise = 0.0 if at is None else float(self.noise[at])
        return Outputs(prior, guess, best, total, np.zeros((0, len(best))), noise)


def channel_for(state: Any, law: Law | None, prior: Floats) -> Channel:
    """The channel of a state, from its law where one was surveyed."""
    return (
        build_channel(state, prior, CANDIDATES) if law is None else law.channel(prior)
    )


def stored(name: str) -> Law | None:
    """A law that was surveyed before."""
    path = _path(name)
    if not path.exists():
        return None
    with np.load(path) as parts:
        return Law(parts["inputs"], parts["law"], parts["totals"], parts["noise"])


def survey(states: dict[str, Any], likely: Floats, priors: Floats) -> None:
    """Pass over all inputs with some states at once, and store what was found.

    ``likely`` chooses what is kept; ``priors``, shape (P, V + 1), are summed over.
    """
    space = next(iter(states.values())).space
    size = space.vocab_size
    seen = {name: _Seen(size, len(priors)) for name in states}
    for part in slices(size + 1, _ROWS):
        ids = np.arange(part.start, min(part.stop, size + 1), dtype=np.int32)
        near = to_words(space, ids)
        for name, state in states.items():
            seen[name].add(ids, *state.log_rows(ids, near), likely, priors)
    for name, found in seen.items():
        path = _path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        np.savez(
            path,
            inputs=found.inputs,
            law=found.joint / likely[found.inputs],
            totals=found.totals,
            noise=found.noise,
        )


def is_closed(state: Any) -> bool:
    """Whether a law has a closed form."""
    try:
        state.log_prob(np.zeros(1, dtype=np.int32))
    except LawUnknownError:
        return False
    return True


@final
class _Seen:
    """What was seen of one law so far."""

    def __init__(self, size: int, priors: int) -> None:
        self.inputs = np.zeros((size, _KEPT), dtype=np.int32)
        self.joint = np.zeros((size, _KEPT), dtype=np.float32)
        self.totals = np.zeros((priors, size))
        self.noise = np.zeros(priors)

    def add(
        self,
        ids: NDArray[np.int32],
        logs: Floats,
        law: Floats,
        likely: Floats,
        priors: Floats,
    ) -> None:
        """Look at the laws of some inputs."""
        own = priors[:, ids]
        self.totals += own @ law
        self.noise -= own @ np.einsum("ij,ij->i", law, logs)
        joint = (law * likely[ids, None]).T.astype(np.float32)
        both = np.hstack([self.joint, joint])
        inputs = np.broadcast_to(ids, joint.shape)
        top = np.argpartition(-both, _KEPT - 1, axis=1)[:, :_KEPT]
        self.joint = np.take_along_axis(both, top, axis=1)
        self.inputs = np.take_along_axis(np.hstack([self.inputs, inputs]), top, axis=1)


def _path(name: str) -> Path:
    return home() / "channels" / f"evidence-{name.replace('|', '-')}.npz"


def names(mechanism: str, settings: Sequence[float]) -> list[str]:
    """How laws are called."""
    return [f"{mechanism}|{setting:g}" for setting in settings]
