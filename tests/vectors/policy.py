"""Keyed releases of 20 texts under the policies: the same through every door.

``python tests/vectors/policy.py`` writes ``policy.json`` beside it. The vectors change
where the lists of words change, and with them the digests of the policies.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

import doors

FILE = Path(__file__).with_suffix(".json")
LAW = {"mechanism": "urr", "epsilon": 12.0}
SETTINGS = (
    {**LAW, "policy": "sensitive"},
    {**LAW, "policy": "names", "mechanism": "krr"},
    {**LAW, "policy": "sensitive", "epsilon": 2.0, "structure": "plain"},
    {
        **LAW,
        "policy": "sensitive",
        "opened": ["health"],
        "hidden": ["food"],
        "ordinary": ["router"],
        "sensitive": ["printer"],
        "hide_among": 60,
    },
)
TEXTS = (
    "Write a polite email to my babysitter about the broken heating.",
    "I was arrested for drunk driving in Boston. Do I need a barrister?",
    "They lost my passport and charged my card 0323-0800-7681-2681 twice.",
    "My doctor Anna Schmidt says I have diabetes.",
    "Rose met Rose in May. May I come? You may.",
    "mail anna.schmidt+x@example.org or @anna_s, +49 170 5551234, 12/05/2021",
    "ANNA SCHMIDT HAS DIABETES",
    "anna schmidt has diabetes and lives in oslo",
    "d i a b e t e s",
    "Dr. Okafor's router isn't working; we can't print on my printer.",
    "The Old Man and the Sea\nA Guide to Home Loans\nwhat to read next?",
    "Massive Dynamic hired two engineers at 7pm on the 21st for $4,711.50 😀",
    "Аnna hаs dіabetes; Ⅷ, ﬁne, naïve, Müller, 東京, שלום, مرحبا",
    "DE89 3704 0044 0532 0130 00 and https://example.org/a_b/c.pdf?id=7",
    "snake_case camelCase #hashtag J. R. R. Tolkien",
    "I've lost 5kg since the 80s, i'm told.",
    "zorblax zorblaxes zorblaxed zorblaxing Zorblax",
    "",
    "...",
    "the",
)


def releases(settings: dict) -> list[str]:
    """Release each text under a key, by its place as the id of its record."""
    made = doors.made(settings)
    return [each.text for each in made.batch(TEXTS, list(range(len(TEXTS))))]


def vectors() -> list[dict]:
    """Return each setting with its digests and releases."""
    return [
        {
            "settings": settings,
            "policy": doors.made(settings).policy.digest,
            "scope": doors.made(settings)._scope("text").hex(),
            "releases": releases(settings),
        }
        for settings in SETTINGS
    ]


if __name__ == "__main__":
    found = {"texts": TEXTS, "releases": vectors()}
    text = json.dumps(found, indent=1, ensure_ascii=False) + "\n"
    FILE.write_text(text, "utf-8")
