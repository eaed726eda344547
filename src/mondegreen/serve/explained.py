"""What one setting means for a public word: numbers of its law, and no draw of ours."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from mondegreen.privatizer.privatizer import Privatizer
from mondegreen.scores.policy_word import score_policy_word
from mondegreen.scores.printed import Printed
from mondegreen.scores.word import score_word
from mondegreen.text.lookup import KEEP, Lookup

_RUNS: Final = 2000
"""Outputs that are drawn where probabilities cannot be computed: a second or less."""


def explain_text(privatizer: Privatizer, word: str) -> dict[str, Any]:
    """Say what ``mondegreen explain --json`` prints, without the word itself.

    It is a function of the word and of public things alone: no noise of a release has
    a part in it.
    """
    if privatizer.policy is not None:
        found = score_policy_word(privatizer.state, privatizer.policy, word)
        guarantee = privatizer.guarantee
        stated = {
            "is_kept": False,
            "guarantee": guarantee.to_dict(),
            "document": guarantee.describe_text_loss(),
        }
        printed = Printed.exactly(found.stay).describe(
            privatizer.settings.same, is_ordinary=found.is_ordinary
        )
        return {**stated, **found.to_dict(), "printed": printed}
    code, _ = Lookup(privatizer.space, keep=privatizer.keep).find_code(word)
    if code == KEEP:
        return {"is_kept": True, "guarantee": None, "stay": 1.0}
    rng = np.random.default_rng()
    scores = score_word(privatizer.state, code, rng, runs=_RUNS)
    shown = {"is_kept": False, "guarantee": privatizer.guarantee.to_dict()}
    return {**shown, **scores.to_dict()}
