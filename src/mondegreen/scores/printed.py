"""How often a word is printed again, where a reader has the last word."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final, final

from mondegreen.scores.interval import proportion
from mondegreen.text.tokenizer import canonical, tokenize

CARRIERS: Final = (
    "I read about {} last night.",
    "They talked about {} for an hour.",
    "We do not know much about {} yet.",
    "My friend told me that {} is on the list.",
    "She asked me what I think of {}, and I had no answer.",
    "The letter says that it has to do with {}.",
    "Please tell me more about {}.",
    "In the end it was {} that made the difference.",
)
"""Public sentences for a word to stand in."""

PLACES: Final = 5
"""Places of a text for which the chance of at least one is stated."""


@final
@dataclass(frozen=True, slots=True)
class Printed:
    """How often a command prints a word again in its place.

    ``low`` and ``high`` bound the chance with 95 % confidence; both are the chance
    itself where it is exact, and ``runs`` is None then.
    """

    value: float
    low: float
    high: float
    runs: int | None

    @classmethod
    def exactly(cls, chance: float) -> Printed:
        """Make it of a chance that the law tells."""
        return cls(chance, chance, chance, None)

    def among(self, places: int) -> float:
        """The chance that a word of so many places is printed at one at least.

        >>> round(Printed.exactly(0.1).among(2), 2)
        0.19
        """
        return float(1 - (1 - self.value) ** places)

    def to_dict(self) -> dict[str, Any]:
        """Convert to JSON values."""
        return asdict(self)

    def describe(self, same: str, *, is_ordinary: bool) -> dict[str, Any]:
        """Convert to JSON values, with the chance in a text that repeats the word.

        All places of a sensitive word in a record, or under a key, have one draw.
        """
        draws = PLACES if same == "place" or is_ordinary else 1
        repeated = {"places": PLACES, "at_least_once": self.among(draws)}
        return {**self.to_dict(), "same": same, "repeated": repeated}


def count_printed(
    word: str, release: Callable[[list[str]], Sequence[str]], runs: int
) -> Printed:
    """Release public sentences with a word, and count how often it is printed again.

    Parameters
    ----------
    word : str
        One word.
    release : callable
        Releases texts, each with noise of its own.
    runs : int
        Sentences to release; each of :data:`CARRIERS` has an equal share.

    Examples
    --------
    >>> count_printed("flu", lambda texts: texts, 8).value
    1.0
    """
    texts = [CARRIERS[i % len(CARRIERS)].format(word) for i in range(runs)]
    places = [len(tokenize([c.split("{}")[0]]).words()) for c in CARRIERS]
    hits = 0
    for i, text in enumerate(release(texts)):
        words = [canonical(each) for each in tokenize([text]).words()]
        place = places[i % len(CARRIERS)]
        hits += words[place : place + 1] == [canonical(word)]
    low, high = proportion(hits, runs).ends
    return Printed(hits / runs, low, high, runs)
