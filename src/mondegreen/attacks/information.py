r"""How much an output discloses about its word on average: mutual information.

.. math::

    I(X; Y) = H(Y) - H(Y \mid X)
      = \sum_x \pi(x) \sum_y P(y \mid x) \ln \frac{P(y \mid x)}{P(y)}

Two mechanisms under which single words are guessed equally often can differ threefold
in it: the rest tells which of the other words it was.
"""

from __future__ import annotations

import numpy as np

from mondegreen.arrays import Floats
from mondegreen.attacks.attack import Attack
from mondegreen.attacks.outputs import Outputs


def mutual_information(own: Outputs, public: Outputs, words: int) -> Attack:
    """Compute it exactly, for words with the frequencies of the originals.

    ``words`` is how many words these frequencies are of.
    """
    nats = _nats(own)
    return Attack(
        "mutual_information",
        "how much a printed word reveals of its original, on average",
        nats,
        nats,
        nats,
        0.0,
        words,
        "nats a word",
        {
            "entropy": _entropy(own.prior),
            "of_public_text": _nats(public),
            "entropy_of_public_text": _entropy(public.prior),
        },
    )


def _nats(outputs: Outputs) -> float:
    return max(0.0, _entropy(outputs.total) - outputs.noise)


def _entropy(probabilities: Floats) -> float:
    some = probabilities[probabilities > 0]
    return float(-(some * np.log(some)).sum())
