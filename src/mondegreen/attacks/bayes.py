r"""The best guess of a single word, without its context.

An attacker who knows the law and the word frequencies guesses, for each output, the
input that makes it most likely. No adversary who looks at one output alone and knows as
much is right more often: 1 less the Bayes risk.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np

from mondegreen.arrays import Floats, Ids
from mondegreen.attacks.attack import Attack
from mondegreen.attacks.outputs import Outputs
from mondegreen.attacks.pairs import Pairs
from mondegreen.calibration.monte_carlo import best_guesses, sample_outputs
from mondegreen.calibration.subsample import draw_inputs
from mondegreen.mechanisms.base import Progress, State, no_progress

_DRAWS: Final = 400_000
_OWN: Final = "the exact word frequencies of these texts"


def single_word(pairs: Pairs, public: Outputs, own: Outputs, knows: str) -> Attack:
    """Attack every word by itself; exact, whatever was drawn.

    Parameters
    ----------
    pairs : Pairs
        The originals.
    public, own : Outputs
        What outputs disclose to an attacker with public word frequencies, and to one
        with the exact frequencies of the originals.
    knows : str
        Where the public frequencies come from.
    """
    chances = public.compute_recovered()[pairs.inputs]
    found = _build_attack(pairs, chances, public.prior, knows)
    # Its own way, so that a limit is compared with the better informed attacker too.
    exact = {"by": _OWN, "value": own.success, "low": own.success, "high": own.success}
    most = {"by": knows, "value": found.value, "low": found.low, "high": found.high}
    details = {"exactly_these_frequencies": own.success, "by": [most, exact]}
    return replace(found, details=details)


def single_word_by_draws(pairs: Pairs, guess: Ids, prior: Floats, knows: str) -> Attack:
    """Attack released words, where the law is not closed, with guesses from draws.

    It is right at most as often as the best guess.
    """
    hits = (guess[pairs.outputs] == pairs.inputs).astype(np.float64)
    return _build_attack(pairs, hits, prior, knows, draws=_DRAWS)


def learn_guesses(
    state: State,
    prior: Floats,
    rng: np.random.Generator,
    progress: Progress = no_progress,
) -> Ids:
    """Learn the best guess of each output, shape (V,), from draws of a prior.

    An output that never came is taken for the input.
    """
    every = np.arange(state.space.vocab_size, dtype=np.int32)
    inputs = draw_inputs(prior, _DRAWS, rng)
    outputs = sample_outputs(state, inputs, rng, progress)
    guesses, _ = best_guesses(
        np.concatenate([every, inputs]), np.concatenate([every, outputs])
    )
    return guesses.astype(np.int32)


def _build_attack(
    pairs: Pairs, hits: Floats, prior: Floats, knows: str, **details: float
) -> Attack:
    low, high = pairs.interval(hits)
    return Attack(
        "single_word",
        f"guesses each word from its output alone; knows the mechanism and {knows}",
        float(hits.mean()),
        low,
        high,
        blind_success(pairs, prior),
        len(hits),
        details=details,
    )


def blind_success(pairs: Pairs, prior: Floats) -> float:
    """Tell how often the most likely word is right, whatever came out."""
    return float((pairs.inputs == int(prior.argmax())).mean())
