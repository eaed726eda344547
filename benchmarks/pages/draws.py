"""Choose the one draw of many that a page prints, by a rule and not by eye.

The rule: draw a text 101 times, with the seeds 1 to 101. Order the draws by
their probability under the embedded language model. Print the one in the middle. So a
page shows a draw that reads neither better nor worse than usual.
"""

from __future__ import annotations

from typing import Final

import mondegreen as mg
from mondegreen.language.build import read_words

DRAWS: Final = 101
RULE: Final = (
    f"This is real output: of {DRAWS} releases, the one with the median language-model "
    "score."
)


def draw_median(privatizer: mg.Privatizer, text: str) -> str:
    """Return the draw in the middle; equal scores go by the seed."""
    seeds = range(1, DRAWS + 1)
    drawn = [privatizer.with_noise(mg.Seeded(seed))(text).text for seed in seeds]
    space, model = mg.load_space(), mg.load_language()

    def score(release: str) -> float:
        ids, ends = read_words([[release]], space)
        return float(model.sentence_log_probs(ids, ends).sum())

    return sorted(drawn, key=score)[DRAWS // 2]
