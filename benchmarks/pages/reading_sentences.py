"""Thirty invented sentences of six kinds of text, for the page that is read."""

from __future__ import annotations

from typing import Final

__all__ = ["SENTENCES"]

SENTENCES: Final[dict[str, tuple[str, ...]]] = {
    "reviews": (
        "The acting was wonderful, but the plot made no sense after the first hour.",
        "I watched it with my father, and we both cried at the end.",
        "Terrible service: the waiter forgot our order twice and then blamed us.",
        "The camera broke after three weeks and nobody answered my letters.",
        "One of the funniest books I have read in years.",
    ),
    "news": (
        "The central bank raised interest rates on Tuesday to slow inflation.",
        "Police arrested two men after a robbery at a museum in Vienna.",
        "Shares of the airline fell nine percent when the merger was cancelled.",
        "Scientists have found water under the ice of a distant moon.",
        "The champion lost her first match of the season in straight sets.",
    ),
    "short messages": (
        "Huge fire near the old bridge, please stay away!",
        "Just felt an earthquake in Oakland, is everyone ok?",
        "My flight is delayed again and my phone is dying.",
        "Can't believe we won, what a night!",
        "The storm took the roof of my neighbour's house.",
    ),
    "questions to an insurer": (
        "Does my policy cover surgery for a broken wrist?",
        "Can I add my husband to my health insurance after the wedding?",
        "How much is life insurance for a smoker of forty?",
        "Will my rates increase if I report the accident?",
        "Is flood damage included when I rent an apartment?",
    ),
    "notes of a doctor": (
        "The patient reports severe headaches since she stopped her medication.",
        "His mother had diabetes, and his brother died of a heart attack.",
        "She drinks a bottle of wine every evening and sleeps badly.",
        "We found a small tumor in the left lung and discussed chemotherapy.",
        "He has been depressed since the divorce but denies thoughts of suicide.",
    ),
    "queries and prompts": (
        "Who wrote the first novel about a journey to the moon?",
        "Write a polite letter to my boss asking for a higher salary.",
        "Which vaccines do children need before school in Canada?",
        "Summarize the meeting where Sandra presented the budget of Project Falcon.",
        "Translate this contract into Spanish and remove the names of both lawyers.",
    ),
}
