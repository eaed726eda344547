"""What an artifact holds of a policy: its words, its groups, and their capitals.

The options of a policy are resolved here, so that a device builds none.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise, takewhile
from typing import Any, Final

from mondegreen.device.coding import numbers, runs
from mondegreen.device.unicode import letters
from mondegreen.errors import ConfigurationError
from mondegreen.policy.policy import ADDRESS_PARTS, RULES, UNKNOWN_FORMS, Policy
from mondegreen.policy.printing import HOSTS
from mondegreen.text.print_forms import capitalize
from mondegreen.text.unicode import lower

Parts = dict[str, bytes]

NOTES: Final = "none was tried: mondegreen attack measures one on texts of your domain"
"""What an artifact says of the attacker of its previews."""


def describe_policy(policy: Policy) -> dict[str, Any]:
    """Write the header of a policy: the public facts that are no lists of words.

    >>> from mondegreen.policy.policy import load_policy
    >>> sorted(describe_policy(load_policy("sensitive")))
    ['address', 'groups', 'hosts', 'name', 'ordinary', 'rest', 'rules']
    """
    first = len(policy.ordinary)
    forms = ["s", *dict.fromkeys(form for _, form in UNKNOWN_FORMS)]
    return {
        "rules": RULES,
        "ordinary": first,
        "groups": [
            [*policy.describe(first + place)[:2], len(group.words)]
            for place, group in enumerate(policy.groups)
        ],
        "rest": {form: policy.find_group("rest", form) - first for form in forms},
        "name": policy.find_group("other_name", "s") - first,
        "address": sorted(ADDRESS_PARTS & policy.symbols.keys()),
        "hosts": {
            ending: sorted(words.intersection(policy.ordinary))
            for ending, words in HOSTS.items()
        },
    }


def policy_parts(policy: Policy) -> Parts:
    """Write the words of a policy, and what their capitals mean.

    Raises
    ------
    ConfigurationError
        If a word is not looked up as the policy lists it, which no device could read.
    """
    first, printed = len(policy.ordinary), policy.words
    listed = dict(zip(map(lower, printed), _symbols(policy), strict=True))
    hidden = {word: at for word, at in policy.symbols.items() if word not in listed}
    is_whole = all(policy.symbols.get(word) == at for word, at in listed.items())
    if (
        not is_whole
        or len(listed) < len(printed)
        or min(hidden.values(), default=first) < first
    ):
        raise ConfigurationError(
            "a word of the policy has two symbols or two spellings, which a device "
            "cannot read: remove it from --ordinary and --sensitive"
        )
    known = sorted(hidden, key=lambda word: (hidden[word], word))
    counts = [0] * len(policy.groups)
    for at in hidden.values():
        counts[at - first] += 1
    every = [*listed, *known]
    return {
        "words": "\n".join(printed).encode(),
        **_front_coded(known),
        "counts": numbers(counts),
        "capitals": _groups(policy, policy.capitals, every),
        "upper": _groups(policy, policy.upper, every),
        "starts": runs(int(word in policy.starts) for word in every),
        "first": "\n".join(_first_forms(printed)).encode(),
        "letters": letters(),
    }


def _symbols(policy: Policy) -> Iterable[int]:
    """The symbol of each word that is printed."""
    first = len(policy.ordinary)
    yield from range(first)
    for place, group in enumerate(policy.groups):
        yield from [first + place] * len(group.words)


def _groups(policy: Policy, table: Mapping[str, int], every: list[str]) -> bytes:
    """The number of the group that each word has in a table, from 1; 0 for none."""
    first = len(policy.ordinary)
    return runs(table[word] - first + 1 if word in table else 0 for word in every)


def _front_coded(words: list[str]) -> Parts:
    """Leave out of each word the start that it shares with the one before, in ASCII."""
    shared, ends = [], []
    for last, word in pairwise(["", *words]):
        pairs = zip(last, word, strict=False)
        same = takewhile(lambda pair: pair[0] == pair[1] and pair[0].isascii(), pairs)
        size = sum(1 for _ in same)
        shared.append(size)
        ends.append(word[size:])
    return {"known": "\n".join(ends).encode(), "shared": numbers(shared)}


def _first_forms(printed: Iterable[str]) -> Iterable[str]:
    """The first words of sentences that are no matter of ASCII: place and spelling."""
    for place, word in enumerate(printed):
        plain = word
        if word.isascii() and word.islower():
            plain = word[:1].upper() + word[1:]
        if capitalize(word) != plain:
            yield f"{place} {capitalize(word)}"
