"""Write the public sentences that a guarantee tries a reader on.

About a thousand words that the embedded language model writes: statistics of openly
licensed English (see NOTICE), and no sentence of anyone's. On them a reader with that
model is at its best, so that what it recovers is more than of most texts.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from benchmarks import machine
from mondegreen.language.ngrams import NGrams
from mondegreen.language.store import load_language
from mondegreen.space.store import load_space

_WORDS: Final = 1000
_LENGTHS: Final = range(6, 25)
_SEED: Final = 20_214
_PATH: Final = machine.ROOT / "src/mondegreen/text/data/sentences.txt"


def drawn(language: NGrams, rng: np.random.Generator) -> list[int] | None:
    """Draw one sentence; None where it has an unknown word or an unusual length."""
    everything = np.arange(language.vocab_size + 2)
    ids = [language.boundary, language.boundary]
    while len(ids) - 2 <= max(_LENGTHS):
        first, second = (np.full(len(everything), each) for each in ids[-2:])
        shares = np.exp(language.log_prob(first, second, everything))
        word = int(rng.choice(everything, p=shares / shares.sum()))
        if word == language.boundary:
            return ids[2:] if len(ids) - 2 in _LENGTHS else None
        if word == language.vocab_size:
            return None
        ids.append(word)
    return None


def main() -> None:
    """Draw until there are enough words."""
    language, words = load_language(), load_space().words
    rng, lines, count = np.random.default_rng(_SEED), [], 0
    while count < _WORDS:
        ids = drawn(language, rng)
        if ids is not None:
            lines.append(" ".join(words[i] for i in ids))
            count += len(ids)
    _PATH.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{len(lines)} sentences, {count} words: {_PATH.name}")


if __name__ == "__main__":
    main()
