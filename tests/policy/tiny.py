"""A policy of a few words, whose law can be enumerated."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from mondegreen.policy.alphabet import Alphabet
from mondegreen.text.tokenizer import tokenize

GROUPS = {"name": ("Anna", "Boris", "Carla"), "illness": ("flu", "gout")}
INPUTS = {
    "anna": 2,
    "boris": 2,
    "okafor": 2,  # outside the vocabulary
    "dora": 2,
    "flu": 3,
    "gout": 3,
    "measles": 3,
    "croup": 3,
    "mumps": 3,
}


class TinyPolicy:
    """What scopes use of a policy: symbols the, and, name, illness."""

    digest = "0" * 64
    ordinary = ("the", "and")
    alphabet = Alphabet("tiny", digest, 2, 2)
    sizes = np.array([1, 1, 3, 2])
    first = np.array([0, 1, 2, 5])
    output_count = 7
    words = ("the", "and", *GROUPS["name"], *GROUPS["illness"])
    symbols: ClassVar = {
        "the": 0,
        "and": 1,
        "anna": 2,
        "boris": 2,
        "carla": 2,
        "flu": 3,
        "gout": 3,
    }

    def draw_members(self, symbols, rng):
        draws = rng.integers(0, 1 << 62, size=len(symbols), dtype=np.int64)
        return self.first[symbols] + draws % self.sizes[symbols]

    def print(self, code):
        lap, code = divmod(code, self.output_count)
        return self.words[code] + (f"xx{lap + 1}" if lap else "")

    def symbol_at(self, code):
        return int(np.searchsorted(self.first, code % 7, side="right")) - 1


def look_up(text):
    """Cut a text into words, and give them their symbols."""
    batch = tokenize([text])
    known = {"the": 0, "and": 1, **INPUTS}
    symbols = [known[word.lower()] for word in batch.words()]
    return batch, np.array(symbols, dtype=np.int32)
