r"""Which words are guessed most often: a mean over all words hides them.

.. math:: r(x) = \sum_y P(y \mid x)\, [\arg\max_{x'} \pi(x') P(y \mid x') = x]

A word that has most of the frequency of its group is recovered nearly always, and the
others of the group never.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from mondegreen.attacks.attack import Attack
from mondegreen.attacks.outputs import Outputs
from mondegreen.attacks.pairs import Pairs
from mondegreen.space.space import Space

OFTEN: Final = (0.8, 0.6)
_LISTED: Final = 10


def content_words(space: Space) -> NDArray[np.bool_]:
    """Tell which words of a space are not function words, shape (V,)."""
    from mondegreen.space.word_classes import CLOSED_CLASSES, FUNCTION_CLASSES

    grammar = {w for w, name in CLOSED_CLASSES.items() if name in FUNCTION_CLASSES}
    return np.array([word not in grammar for word in space.words])


def find_worst(space: Space, outputs: Outputs) -> float:
    """Find how often the word of content is guessed that is guessed most often."""
    return float(
        outputs.compute_recovered()[:-1].max(where=content_words(space), initial=0.0)
    )


def worst_words(
    pairs: Pairs, space: Space, public: Outputs, *, named: bool = True
) -> Attack:
    """Find the word of content that is guessed most often; exact.

    With public frequencies the words that it names say nothing of the texts; where the
    frequencies are those of the texts, no word may be ``named``.
    """
    recovered, content = public.compute_recovered(), content_words(space)
    of_content = np.where(content, recovered[:-1], -1.0)
    worst = np.argsort(-of_content, kind="stable")[:_LISTED].tolist()
    most = float(of_content[worst[0]])
    often = {f"share_above_{x:g}": (recovered > x)[pairs.inputs].mean() for x in OFTEN}
    types = {f"words_above_{x:g}": int((of_content > x).sum()) for x in OFTEN}
    blind = int(public.prior.argmax())
    return Attack(
        "worst_word",
        "the same guesser, at the word of content that is guessed most often",
        most,
        most,
        most,
        float(blind < len(content) and bool(content[blind])),
        int(content.sum()),
        "chance that the word is guessed",
        {
            **{name: float(share) for name, share in often.items()},
            **types,
            "words": [[space.words[i], float(of_content[i])] for i in worst if named],
        },
    )
