r"""Was the word an illness, a city? What outputs disclose about public sets.

For a set C of words and the prior :math:`\pi`, who tests whether a word was in C errs
in one of the two ways with probability at least :math:`1 - \mathrm{TV}` in sum:

.. math:: \mathrm{TV} = \tfrac12 \sum_y |P(y \mid C) - P(y \mid \text{not } C)|

and after an output believes :math:`P(C \mid y)`, by Bayes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np

from mondegreen.arrays import Floats, Ids
from mondegreen.attacks.attack import Attack
from mondegreen.attacks.outputs import Outputs
from mondegreen.space.space import Space

_LISTS: Final = Path(__file__).parent / "data" / "categories.json"


def category_sets(space: Space) -> dict[str, Ids]:
    """Find the words of a space in each public list; lists without any are left out."""
    lists: dict[str, str] = json.loads(_LISTS.read_text("utf-8"))["words"]
    index = space.index
    found = {
        name: np.array([index[w] for w in words.split() if w in index], dtype=np.int32)
        for name, words in lists.items()
    }
    return {name: ids for name, ids in found.items() if 0 < len(ids) < len(index)}


def categories(public: Outputs, sets: Mapping[str, Ids], inputs: Ids) -> Attack:
    """Test the membership of a word in each set, exactly; the easiest counts.

    ``public`` holds the joint probabilities of these sets, in their order; ``inputs``
    are the words of the originals.
    """
    expected = {
        name: told
        for name, mass in zip(sets, public.of_sets, strict=True)
        if (told := _describe(mass, public.total))
    }
    for name, told in expected.items():
        told["share_of_words"] = float(np.isin(inputs, sets[name]).mean())
    tv = max([told["tv"] for told in expected.values()], default=None)
    worst = [name for name, told in expected.items() if told["tv"] == tv]
    return Attack(
        "categories",
        "tests whether a word was in a public list; the easiest list counts"
        + (f": {worst[0]}" if worst else ""),
        tv,
        tv,
        tv,
        0.0,
        len(expected),
        "total variation",
        {"sets": expected},
    )


def _describe(mass: Floats, total: Floats) -> dict[str, Any]:
    """Compute what outputs disclose about one set; nothing if its prior is 0."""
    prior = float(mass.sum())
    if not 0 < prior < total.sum():
        return {}
    other = total - mass
    beliefs = np.divide(mass, total, out=np.zeros_like(mass), where=total > 0)
    return {
        "tv": float(np.abs(mass / prior - other / other.sum()).sum() / 2),
        "prior": prior,
        "mean_belief": float(mass @ beliefs / prior),
        "largest_belief": float(beliefs.max()),
    }
