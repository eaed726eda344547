"""Every score by name: symbol, range, and which direction is more private."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, final

Direction = Literal["larger", "smaller", "neither"]


@final
@dataclass(frozen=True, slots=True)
class Definition:
    """How to read one score.

    Parameters
    ----------
    name : str
        As results and JSON call it.
    symbol : str
        As papers call it.
    range : str
        Least and largest value, with the unit.
    more_private : {"larger", "smaller", "neither"}
        Which direction is more private, other things being equal.
    meaning : str
        One line.
    function : str
        Module and name of what computes it, under ``mondegreen.scores``.
    """

    name: str
    symbol: str
    range: str
    more_private: Direction
    meaning: str
    function: str


SCORES: Final = tuple(
    Definition(*row)
    for row in (
        (
            "stay",
            "N_w",
            "0 to 1",
            "smaller",
            "chance that the output is the input word",
            "deniability.stay_probability",
        ),
        (
            "support",
            "S_w",
            "1 to V words",
            "larger",
            "smallest set of outputs that holds 1 - eta of the mass",
            "deniability.effective_support",
        ),
        (
            "distinct",
            "S_w (runs)",
            "1 to min(R, V) words",
            "larger",
            "distinct outputs in R runs; censored at R",
            "deniability.distinct_outputs",
        ),
        (
            "entropy",
            "H_0, H_1, H_2, H_inf",
            "0 to ln V nats",
            "larger",
            "Rényi entropy of the output",
            "deniability.renyi_entropy",
        ),
        (
            "distance",
            "E[d]",
            "0 to the diameter",
            "larger",
            "expected distance of the output from the input",
            "deniability.expected_distance",
        ),
        (
            "rank",
            "E[rank]",
            "0 to V - 1 words",
            "larger",
            "expected number of words closer to the input than the output",
            "deniability.expected_rank",
        ),
        (
            "bayes_risk",
            "E*",
            "0 to the risk before any output",
            "larger",
            "error of the best adversary who knows law and prior",
            "risk.bayes_risk",
        ),
        (
            "inference_error",
            "E_M",
            "0 to the largest loss",
            "larger",
            "error of an adversary who draws from the posterior; up to twice E*",
            "risk.inference_error",
        ),
        (
            "posterior_support",
            "S_y",
            "1 to V + 1 words",
            "larger",
            "smallest set of inputs that holds 1 - eta of the posterior of an output",
            "risk.posterior_support",
        ),
        (
            "utility_loss",
            "L_M",
            "0 to the largest loss",
            "neither",
            "expected loss of a reader; larger is less useful",
            "risk.utility_loss",
        ),
        (
            "pp",
            "PP",
            "0 to 100 %",
            "larger",
            "share of the words of a corpus that changed",
            "corpus.CorpusScores",
        ),
        (
            "low",
            "LOW",
            "0 to 100 %",
            "smaller",
            "share of rare types that occur in the release, whatever they replaced",
            "corpus.CorpusScores",
        ),
        (
            "rare_unchanged",
            "",
            "0 to 100 %",
            "smaller",
            "share of occurrences of rare types that were released unchanged",
            "corpus.CorpusScores",
        ),
        (
            "english",
            "%English",
            "0 to 100 %",
            "neither",
            "share of words in a list; near that of the original is more useful",
            "corpus.CorpusScores",
        ),
        (
            "cs",
            "CS",
            "-100 to 100 %",
            "smaller",
            "mean cosine of a text and its release under a sentence model",
            "similarity.sentence_cosines",
        ),
        (
            "puc",
            "PUC",
            "0 to 100 %",
            "neither",
            "weighted mean of utility and privacy; larger is called better",
            "composite.puc",
        ),
    )
)
"""All scores, those of a word first."""
