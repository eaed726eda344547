"""What a policy makes of the words of texts."""

from __future__ import annotations

from mondegreen.policy.lookup import PolicyLookup


def hidden(lookup: PolicyLookup, *texts: str) -> list[str]:
    """The words of texts that hide."""
    batch = lookup.cut(texts)
    known = len(lookup.policy.ordinary)
    symbols = lookup.codes(batch).tolist()
    return [w for w, s in zip(batch.words(), symbols, strict=True) if s >= known]


def classes(lookup: PolicyLookup, text: str) -> dict[str, tuple[str, str]]:
    """Class and form of each word of a text, all of which is cut."""
    batch = lookup.cut([text])
    assert "".join(batch.parts[0]) == text
    describe = lookup.policy.describe
    found = [describe(symbol)[:2] for symbol in lookup.codes(batch).tolist()]
    return dict(zip(batch.words(), found, strict=True))
