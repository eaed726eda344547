"""How scores are shown to people: headings, titles and what each number means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, final

Unit = Literal["share", "words", "nats", "number"]

PERCENTILES: Final = (50, 75, 90, 95, 99)
"""Percentages of the vocabulary for which a bound of a word's score is given."""

N_W: Final = {f"n_w_{percent}": percent / 100 for percent in PERCENTILES}
S_W: Final = {f"s_w_{100 - percent:02d}": 1 - percent / 100 for percent in PERCENTILES}
"""Names of these bounds and their quantiles, where large or small is less private."""


@final
@dataclass(frozen=True, slots=True)
class Column:
    """One number of a :class:`ScoreBounds` as tables and charts show it."""

    name: str  # its key in ``ScoreBounds.scores``
    unit: Unit
    heading: str  # of a table: short, in plain text
    title: str
    says: str  # for a reader who meets the number for the first time
    axis: str
    is_log: bool = False


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
            "An attacker who knows the mechanism and the word frequencies sees one "
            "output and names the most likely input. This is how often that name is "
            "wrong (Bayes risk); no attacker with this knowledge is wrong less often.",
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
            "reader",
            "share",
            "reader",
            "A reader of sentences is right",
            "An attacker who knows the mechanism and a public language model reads "
            "whole sentences of the release and names the most likely word at each "
            "place. This is the share of words, in texts from the same domain, that "
            "are named right.",
            "share of words recovered",
        ),
        Column(
            "worst_word",
            "share",
            "worst word",
            "The word that is guessed most often",
            "Success rate on the most exposed content word, without its context, for "
            "an attacker who knows the mechanism and public word frequencies.",
            "chance that the word is guessed",
        ),
        Column(
            "utility_loss_share_sample",
            "share",
            "moved",
            "What a reader loses",
            "Expected distance between a word of the sample and what it becomes, as a "
            "share of the distance to a word drawn blindly. 0%: nothing changed. 100%: "
            "no better than words out of a hat.",
            "utility loss, share of a blind draw",
        ),
        Column(
            "utility_loss_share_uniform",
            "share",
            "moved",
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
            "The guarantee for near words",
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
            "The guarantee for any two words",
            "The most by which an output can move the odds between any two words of "
            "the vocabulary, however unlike. Nats of different mechanisms mean the "
            "same.",
            "nats",
            is_log=True,
        ),
    )
}
"""Numbers that tables and charts show, by name, in the order of a report."""
