"""The registry of scores: what each is, and how its numbers are shown to people."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, final

Direction = Literal["larger", "smaller", "neither"]
Unit = Literal["share", "words", "nats", "number"]

PERCENTILES: Final = (50, 75, 90, 95, 99)
"""Percentages of the vocabulary for which a bound of a word's score is given."""

N_W: Final = {f"n_w_{percent}": percent / 100 for percent in PERCENTILES}
S_W: Final = {f"s_w_{100 - percent:02d}": 1 - percent / 100 for percent in PERCENTILES}
"""Names of these bounds and their quantiles, where large or small is less private."""


@final
@dataclass(frozen=True, slots=True)
class Definition:
    """How to read one score."""

    name: str
    """As results and JSON call it."""
    symbol: str
    """As papers call it."""
    range: str
    """Least and largest value, with the unit."""
    more_private: Direction
    """Which direction is more private, other things being equal."""
    meaning: str
    function: str
    """Module and name of what computes it, under ``mondegreen.scores``."""


@final
@dataclass(frozen=True, slots=True)
class Column:
    """One number of a :class:`ScoreBounds` as tables and charts show it."""

    name: str
    """Its key in ``ScoreBounds.scores``."""
    unit: Unit
    heading: str
    """Of a table: short, in plain text."""
    title: str
    says: str
    """What the number means, for a reader who meets it for the first time."""
    axis: str
    is_log: bool = False


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
            "corpus.puc",
        ),
    )
)
"""All scores, those of a word first."""


COLUMNS: Final = {
    column.name: column
    for column in (
        Column(
            "n_w_sample",
            "share",
            "N_w text",
            "Words of a text that stay",
            "Of the words of a text like the sample, so many come out unchanged.",
            "share of running words",
        ),
        Column(
            "n_w_mean",
            "share",
            "N_w mean",
            "Words of the vocabulary that stay",
            "The chance that a word comes out as itself (N_w), averaged over the "
            "vocabulary, where rare words count as much as frequent ones.",
            "mean of N_w",
        ),
        Column(
            "n_w_95",
            "share",
            "N_w 95 %",
            "The most exposed words",
            "For 95% of the vocabulary the chance to stay is at most this; the other "
            "5% are more exposed.",
            "95th percentile of N_w",
        ),
        Column(
            "s_w_05",
            "words",
            "S_w 5 %",
            "Likely outputs of the most exposed words",
            "S_w is the size of the smallest set of outputs that holds nearly all of "
            "the probability. 95% of the vocabulary have at least this many likely "
            "outputs.",
            "5th percentile of S_w, words",
            is_log=True,
        ),
        Column(
            "bayes_risk_sample",
            "share",
            "risk sample",
            "Best guess wrong: word frequencies known",
            "An adversary who knows the mechanism and how frequent words are sees one "
            "output and names the likeliest input. This is how often that name is "
            "wrong (Bayes risk); nobody with this knowledge is wrong less often.",
            "Bayes risk",
        ),
        Column(
            "bayes_risk_uniform",
            "share",
            "risk uniform",
            "Best guess wrong: all words alike",
            "The same adversary, for whom every word of the vocabulary is as likely as "
            "any other beforehand.",
            "Bayes risk",
        ),
        Column(
            "utility_loss_share_sample",
            "share",
            "loss",
            "What a reader loses",
            "Expected distance between a word of the sample and what it becomes, as a "
            "share of the distance to a word drawn blindly. 0%: nothing changed. 100%: "
            "no better than words out of a hat.",
            "utility loss, share of a blind draw",
        ),
        Column(
            "utility_loss_share_uniform",
            "share",
            "loss",
            "What a reader loses, all words alike",
            "The same for a text in which every word of the vocabulary is as frequent "
            "as any other.",
            "utility loss, share of a blind draw",
        ),
        Column(
            "certified_epsilon",
            "number",
            "certified",
            "Certified epsilon: what is really spent",
            "What the law that is really sampled spends, computed over all pairs of "
            "words and rounded up; for laws that are not known, what the proof allows. "
            "In nats per unit of the mechanism's own metric: compare only curves of "
            "one metric.",
            "nats per unit of distance",
            is_log=True,
        ),
        Column(
            "near_loss",
            "nats",
            "near loss",
            "The promise for near words",
            "The most by which an output can move the odds between a word and its "
            "nearest neighbour: 1 nat is a factor of 2.7, 3 nats of 20, 7 nats of "
            "1,100.",
            "nats",
            is_log=True,
        ),
        Column(
            "worst_loss",
            "nats",
            "worst loss",
            "The promise for any two words",
            "The most by which an output can move the odds between any two words of "
            "the vocabulary, however unlike. Nats of different mechanisms mean the "
            "same.",
            "nats",
            is_log=True,
        ),
    )
}
"""Numbers that tables and charts show, by name, in the order of a report."""
