"""Cuts texts into words and structure, as a policy takes its words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from mondegreen.policy.numbers import merge_amounts, open_amounts
from mondegreen.policy.references import REFERENCES_DISCLOSED, open_references
from mondegreen.policy.written_dates import DATES_DISCLOSED, join_dates
from mondegreen.settings import Numbers
from mondegreen.text.tokenizer import TokenizedBatch, tokenize

CUT_DISCLOSED: Final = REFERENCES_DISCLOSED + DATES_DISCLOSED
"""What the cut of a policy passes besides the structure of the tokenizer."""

# A search for a first digit passes over most of a text at once.
_MAY_HAVE_DATE: Final = re.compile(
    "[0-9](?::[0-9]{2}|[-/.][0-9]{1,2}[-/.][0-9]|(?<=0)['’][sS])"
)


def cut_texts(texts: Sequence[str | None], numbers: Numbers = "hide") -> TokenizedBatch:
    """Cut texts into words, which are private, and structure, which is not.

    They are the words of the tokenizer, but that a date, a time or ``1980's`` is one
    word, and that a character reference of HTML is structure. Amounts are one word
    under ``near``, and a part of the structure under ``plain``.

    >>> cut_texts(["Ann&#39;s train: 12:05, 24 May"]).words()
    ['Ann', 'train', '12:05', '24', 'May']
    """
    batch = tokenize(texts)
    changed = {
        place: parts
        for place, (text, found) in enumerate(zip(texts, batch.parts, strict=True))
        if text and found and (parts := _change(text, found)) is not found
    }
    if changed:
        every = (changed.get(place, each) for place, each in enumerate(batch.parts))
        batch = TokenizedBatch(list(every))
    if numbers == "hide":
        return batch
    return merge_amounts(batch) if numbers == "near" else open_amounts(batch)


def _change(text: str, parts: list[str]) -> list[str]:
    if ";" in text:
        parts = open_references(parts)
    return join_dates(text, parts) if _MAY_HAVE_DATE.search(text) else parts
