"""How often words come out as themselves, beside the law.

The outputs of one input say little where the law keeps nearly every word. Over all
words together, and with more draws where the law changes few of them, a sampler that
returns its input is told from the law, or the audit says that it cannot be.
"""

from __future__ import annotations

import bisect
import math
from dataclasses import dataclass
from typing import Final, final

import numpy as np

from mondegreen.arrays import Ids
from mondegreen.audit.exact import LawTable
from mondegreen.audit.report import Finding
from mondegreen.mechanisms.base import State
from mondegreen.scores.interval import lower_bound
from mondegreen.wording import amount

_MOST: Final = 1 << 22
"""Draws at most: seconds for most mechanisms."""

_MARGIN: Final = 2
"""So many times the draws that tell a sampler which never changes a word."""

_BLOCK: Final = 1 << 17

_SUM: Final = 1e-12
"""How far a sum of probabilities may be off."""


@final
@dataclass(frozen=True, slots=True)
class KeptWords:
    """Draws over all words in turn, and the share of them that the law changes.

    The chances of the words differ. The bounds of equal chances are wider (Hoeffding,
    Annals of Mathematical Statistics 1956).
    """

    ids: Ids
    changed: float
    draws: int
    level: float

    @property
    def is_blind(self) -> bool:
        """Whether a sampler that returns every word could follow the law."""
        return self.fewest < 1

    @property
    def fewest(self) -> int:
        """The fewest changed words that the law explains: fewer are rejected."""
        return bisect.bisect_left(
            range(self.draws), True, key=lambda changes: not self._is_excess(changes)
        )

    def _is_excess(self, changes: int) -> bool:
        kept = lower_bound(self.draws - changes, self.draws, self.level)
        return kept > 1 - self.changed + _SUM

    def describe(self) -> str:
        """Say which samplers these draws reject."""
        words = f"{amount(self.draws, 'draw')} of {amount(len(self.ids), 'word')}"
        mean = self.changed * self.draws
        expected = f"the law changes {mean:,.{0 if mean >= 10 else 2}f} of {words}"
        if self.is_blind:
            return f"{expected}: too few to reject a sampler that changes none"
        return f"{expected}, and fewer than {self.fewest:,} are rejected"

    def find(self, state: State, rng: np.random.Generator) -> list[Finding]:
        """Draw, and report a sampler that changes too few words."""
        changes = 0
        for start in range(0, self.draws, _BLOCK):
            places = np.arange(start, min(start + _BLOCK, self.draws))
            given = self.ids[places % len(self.ids)]
            changes += int((state.sample(given, rng) != given).sum())
        if not self._is_excess(changes):
            return []
        text = (
            f"{changes:,} of {amount(self.draws, 'word')} were changed, where the law "
            f"changes a share of {self.changed:.3g}"
        )
        return [Finding("sampler", True, text)]


def plan_kept_words(
    table: LawTable, vocab_size: int, runs: int, level: float
) -> KeptWords | None:
    """Plan the draws; None where there is one word, which every sampler returns."""
    rows = np.flatnonzero(table.ids < vocab_size)
    if vocab_size < 2 or not len(rows):
        return None
    ids = table.ids[rows]
    changed = float(-np.expm1(np.minimum(table.log_law[rows, ids], 0)).mean())
    changed = min(max(changed, 0.0), 1.0)
    # (1 - changed) ** needed is the level
    each = -math.log1p(-changed) if changed < 1 else math.inf
    needed = -math.log(level) / each if each > 0 else math.inf
    more = min(_MARGIN * needed, _MOST) if needed < _MOST else 0
    draws = max(runs, more)
    whole = math.ceil(draws / len(ids)) * len(ids)
    return KeptWords(ids, changed, whole, level)
