r"""Consistent surrogates: equal originals with equal replacements are a cipher.

Where a tool prints one surrogate z for every occurrence of a word, all contexts of z
tell about one word. The attacker takes the word w with the largest

.. math:: \sum_{i : z_i = z} s_i(w) - N \, p(w) \, P(m \mid w)

where :math:`s_i` is the score of the reader at the place i. The last term is the
expected number of occurrences among N words: a surrogate that is seen once is no
frequent word. Each word is given to one surrogate, the most frequent surrogate first.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Final, final

import numpy as np

from mondegreen.attacks.any_tool.reader import PublicReader
from mondegreen.attacks.any_tool.rows import MASKED, REPLACED, Row
from mondegreen.attacks.any_tool.survivors import Shares
from mondegreen.attacks.attack import Attack

_PLACES: Final = 1500
_CONTEXTS: Final = 12  # of one surrogate that are looked at
_CONSISTENT: Final = 0.5


@final
@dataclass(frozen=True, slots=True)
class _Place:
    row: int  # index among the rows
    at: int
    word: str
    surrogate: str


def solve_surrogates(rows: Sequence[Row], reader: PublicReader) -> Attack | None:
    """Test whether surrogates are consistent, and solve them.

    ``value`` is the share of replaced words that are recovered. Details: ``in_rows``
    and ``across_rows`` are the shares of pairs of equal words with equal surrogates,
    with the share among unequal words as ``chance``. None where no word has a
    surrogate: masks without a number are none.
    """
    places = list(_places(rows))
    if not places:
        return None
    within = _consistency(places, by_row=True)
    across = _consistency(places, by_row=False)
    scope = "none"
    if _is_consistent(across):
        scope = "all rows"
    elif _is_consistent(within):
        scope = "a row"
    groups: dict[Hashable, list[_Place]] = defaultdict(list)
    used = places[:_PLACES]
    for number, place in enumerate(used):
        key: Hashable = number
        if scope != "none":
            key = (place.row if scope == "a row" else 0, place.surrogate)
        groups[key].append(place)
    shares = Shares()
    taken: set[int] = set()
    for group in sorted(groups.values(), key=len, reverse=True):
        word = _solve(group, reader, taken, len(used) / len(places))
        if scope == "all rows":
            taken.add(word)
        hits = sum(reader.get_id(place.word) == word for place in group)
        shares.add(hits, len(group))
    low, high = shares.ends()
    frequent = Counter(place.word for place in used).most_common(1)[0][1]
    return Attack(
        "surrogates",
        "solves surrogates as a cipher, by their frequency and up to 12 contexts",
        shares.value,
        low,
        high,
        frequent / len(used),
        len(used),
        "share of replaced words",
        {"consistent_in": scope, "in_rows": within, "across_rows": across},
    )


def _places(rows: Sequence[Row]) -> Any:
    for index, row in enumerate(rows):
        for at, fate in enumerate(row.fate):
            if fate not in (REPLACED, MASKED):
                continue
            printed = row.released.keys[row.target[at]]
            # <PERSON_1> stands for somebody; <PERSON> and *** for anybody.
            if fate == REPLACED or any(map(str.isdigit, printed)):
                yield _Place(index, at, row.words[at], printed)


def _consistency(places: Sequence[_Place], *, by_row: bool) -> dict[str, Any]:
    """Compare pairs of equal words with pairs of unequal ones."""
    words: dict[Hashable, Counter[str]] = defaultdict(Counter)
    printed: dict[Hashable, Counter[str]] = defaultdict(Counter)
    for place in places:
        scope = place.row if by_row else 0
        words[scope, place.word][place.surrogate] += 1
        printed[scope][place.surrogate] += 1
    shares = Shares()
    for counts in words.values():
        pairs = _pairs(counts.total())
        if pairs:
            shares.add(sum(map(_pairs, counts.values())), pairs)
    equal, same = shares.total, sum(shares.hits)
    every = sum(_pairs(each.total()) for each in printed.values())
    alike = sum(sum(map(_pairs, each.values())) for each in printed.values())
    low, high = shares.ends()
    chance = (alike - same) / (every - equal) if every > equal else None
    return {
        "value": shares.value,
        "low": low,
        "high": high,
        "chance": chance,
        "pairs": equal,
    }


def _pairs(count: int) -> int:
    return count * (count - 1) // 2


def _is_consistent(found: dict[str, Any]) -> bool:
    """Whether equal words have equal surrogates, well above chance."""
    if found["value"] is None:
        return False
    return bool(
        found["value"] > _CONSISTENT and found["low"] > 2 * (found["chance"] or 0.0)
    )


def _solve(
    group: Sequence[_Place],
    reader: PublicReader,
    taken: set[int],
    share: float,
) -> int:
    """Find the word that fits all contexts of a surrogate best; -1 if none does.

    The count uses a ``share`` of all places, so it expects that many occurrences.
    """
    totals: dict[int, float] = defaultdict(float)
    some = group[:_CONTEXTS]
    for place in some:
        ids, scores = reader.scores(place.row, place.at)
        scores = scores - np.logaddexp.reduce(scores)
        least = float(scores.min())
        for word, score in zip(ids.tolist(), scores.tolist(), strict=True):
            totals[word] += score - least
    own = {reader.get_id(place.surrogate) for place in some}
    first = group[0]
    expected = reader.compute_expected([*totals], first.row, first.at)
    # As many contexts as are looked at count as much as so many occurrences.
    weight = share * len(some) / len(group) if len(group) > 1 else 0.0
    best, found = -np.inf, -1
    for (word, total), times in zip(totals.items(), expected, strict=True):
        score = total - weight * times
        if word not in own and word not in taken and score > best:
            best, found = score, word
    return found
