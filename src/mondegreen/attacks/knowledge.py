"""What adversaries know besides the mechanism."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import final

from mondegreen.arrays import Floats, Weights
from mondegreen.attacks.reader import Reader
from mondegreen.scores.risk import frequency_prior


@final
@dataclass(frozen=True, slots=True)
class Knowledge:
    """Word frequencies, where they come from, and readers of sentences.

    ``prior`` has the shape (V + 1,), the unknown word last. Unless ``is_public``, it is
    of the texts that are attacked, and their words must not be shown. ``readers`` go by
    what they know.
    """

    prior: Floats
    says: str
    is_public: bool
    readers: Mapping[str, Reader] = field(default_factory=dict)


def of_these_texts(counts: Weights) -> Knowledge:
    """Know the frequencies of the texts attacked, and expect every other word once."""
    prior = frequency_prior(counts, smoothing=1 / len(counts))
    return Knowledge(prior, "how frequent each word is in these texts", is_public=False)
