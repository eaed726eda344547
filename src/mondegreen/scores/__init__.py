"""Numbers that judge a mechanism or a release, and scores of your own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, TypeAlias

from mondegreen.lazy import load_lazily
from mondegreen.plugins import Plugins, find_function_problem

if TYPE_CHECKING:
    from mondegreen.scores.corpus import CorpusScorer, CorpusScores
    from mondegreen.scores.law import LawScores, Risk, law_scores
    from mondegreen.scores.word import WordScores, score_word

Score: TypeAlias = Callable[[Sequence[str], Sequence[str]], Sequence[float]]
"""From texts and their releases to a number for each, NaN where there is none."""

__all__ = [
    "CorpusScorer",
    "CorpusScores",
    "LawScores",
    "Risk",
    "WordScores",
    "law_scores",
    "names",
    "register",
    "score_word",
]

_HOMES: Final = {
    "CorpusScorer": "corpus",
    "CorpusScores": "corpus",
    "LawScores": "law",
    "Risk": "law",
    "WordScores": "word",
    "law_scores": "law",
    "score_word": "word",
}

__getattr__, __dir__ = load_lazily(__name__, _HOMES, eager=["names", "register"])

# Keys of the JSON of `mondegreen score`.
_TAKEN: Final = (
    *("private", "note", "rows", "checks", "cs", "texts", "withheld", "unaligned"),
    *("words", "paired", "changed", "pp", "unknown", "unknown_unchanged", "foreign"),
    *("low", "rare_types", "rare_unchanged", "distance", "word_cosine", "text_cosine"),
    *("english_original", "english_release"),
)

PLUGINS: Final[Plugins[Score]] = Plugins("score", _TAKEN, find_function_problem)


def register(name: str, score: Score) -> None:
    """Add a score of releases of your own for this process.

    A package registers by an entry point instead, in the group ``mondegreen.scores``,
    so that ``mondegreen score --score NAME`` finds it.

    Parameters
    ----------
    name : str
        Lower-case letters, digits and ``_``.
    score : callable
        ``score(originals, releases)`` takes two lists of texts, and returns one number
        for each pair. NaN is left out of the mean.

    Raises
    ------
    ConfigurationError
        If the name is taken.

    Examples
    --------
    >>> register("pp", print)
    Traceback (most recent call last):
    mondegreen.errors.ConfigurationError: cannot register 'pp': ...
    """
    PLUGINS.register(score, name)


def names() -> list[str]:
    """List the scores that other packages offer, or that are registered.

    Returns
    -------
    list of str

    Examples
    --------
    >>> "pp" in names()  # of this package: it is always computed
    False
    """
    return PLUGINS.names()
