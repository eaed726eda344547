"""The claims that matter most, in words for people who read nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from benchmarks.pages.reproductions_rows import OURS, Row

PLAIN: Final = {
    ("cmp-deniability", "N_w rises with epsilon"): (
        "more words stay at larger epsilon"
    ),
    ("across-accuracy", "TEM is never below CMP"): (
        "at one epsilon TEM leaves no less use than CMP"
    ),
    ("tem-threshold", "no word leaves more often"): (
        "TEM's threshold bounds how often a word leaves it"
    ),
    ("vickrey-utility", "up to 50 % less loss is added"): (
        "Vickrey can halve what a classifier loses at one inference error"
    ),
    ("cmp-words", "where a word stays now and then"): (
        "CMP replaces a word mostly by near ones"
    ),
    ("cmp-auditor", "at epsilon 23 users are not told"): (
        "at epsilon 23 CMP hides whose texts a model learned from"
    ),
    ("across-membership", "no members are told under TEM"): (
        "TEM hides who was in a training set, here a small one"
    ),
    ("brr-privacy-ratio", "epsilons that are equal by the ratio"): (
        "BRR's privacy ratio makes epsilons equal"
    ),
    ("benchmark-equal", "one nominal epsilon protects alike"): (
        "one epsilon protects alike, whatever the mechanism"
    ),
    ("benchmark-equal", "TEM leaves more accuracy than CMP, also"): (
        "TEM leaves more use than CMP where a reader recovers equally much"
    ),
    ("benchmark-regression", "N_w, S_w and PP each have"): (
        "the benchmark's regression tells its scores' effects apart"
    ),
}
"""By recipe, and by how a claim begins."""

PARTS: Final = {
    (False, True): "What holds",
    (False, False): "What does not",
    (True, False): "Not claimed there but easily inferred, and not so here",
}
"""How what is said begins: whether a claim is ours, and whether it holds."""


def in_words(rows: Sequence[Row]) -> str:
    """What holds, and what does not, of those claims that were measured."""
    known: dict[tuple[bool, bool], list[str]] = {}
    for (recipe, begins), words in PLAIN.items():
        for row in rows:
            for claim in row["claims"] if row["recipe"] == recipe else ():
                if claim["claim"].startswith(begins):
                    part = claim["where"].startswith(OURS), claim["holds"]
                    known.setdefault(part, []).append(words)
    said = [f"{PARTS[p]}: {'; '.join(known[p])}." for p in PARTS if p in known]
    return " ".join(said)
