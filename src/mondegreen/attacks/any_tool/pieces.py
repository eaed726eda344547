"""Words that a release shows in part, or with other signs between them.

``diabet**`` tells *diabetes*, and ``5550991942`` tells 555-099-1942. Half of the
letters of a word tell it: of the words of a language, few have the same half.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import permutations
from typing import Final

from mondegreen.attacks.readings import plain
from mondegreen.text.tokenizer import canonical

_SIGNS: Final = "*#_•●█■▇…"
_find_pieces = re.compile(
    rf"(?<![^\W_{_SIGNS}])[^\W_]*(?:[{_SIGNS}]+[^\W_]*)+"
).finditer
_cut = re.compile(rf"[{_SIGNS}]+").split

_LEAST_LETTERS: Final = 3
_LEAST_DIGITS: Final = 4
_LEAST_SIGNS: Final = 6
"""Fewer digits stand in a text by chance, once nothing parts them."""

_MOST_PARTS: Final = 3  # of a date, which may be written in any order


def find_shown_in_part(
    hidden: Mapping[int, str], release: str, original: str
) -> Iterator[int]:
    """Find hidden words whose letters a mask shows, half of them or more.

    Parameters
    ----------
    hidden : mapping of int to str
        Folded words by place.
    release, original : str
        What is in both texts is no mask.

    Yields
    ------
    int
        Places. Each mask shows one word.

    Examples
    --------
    >>> text = "Meg** has d*ab*tes and J***."
    >>> hidden = {0: "megan", 2: "diabetes", 4: "jonathan"}
    >>> list(find_shown_in_part(hidden, text, ""))
    [0, 2]
    """
    waiting: dict[str, list[int]] = defaultdict(list)
    for place, word in hidden.items():
        if len(word) >= _LEAST_LETTERS:
            waiting[plain(word)].append(place)
    for found in _find_pieces(release):
        if found[0] in original or not waiting:
            continue
        parts = [plain(canonical(part)) for part in _cut(found[0])]
        shown = next((each for each in waiting if _shows(parts, each)), None)
        if shown is not None:
            yield waiting[shown].pop(0)
            if not waiting[shown]:
                del waiting[shown]


def _shows(parts: Sequence[str], word: str) -> bool:
    """Whether the parts stand in a word in order, and are half of it but not all."""
    shown = sum(map(len, parts))
    if not shown < len(word) <= 2 * shown:
        return False
    first, *inner, last = parts
    if not (word.startswith(first) and word.endswith(last)):
        return False
    place, end = len(first), len(word) - len(last)
    for part in inner:
        at = word.find(part, place, end)
        if at < 0:
            return False
        place = at + len(part)
    return place <= end


def is_joined(words: Sequence[str], texts: Iterable[str]) -> bool:
    """Whether a number of several words stands in a release with other signs in it.

    Parameters
    ----------
    words : sequence of str
        Folded words of the number. Up to three count in any order: a date.
    texts : iterable of str
        The folded letters and digits of each way to read the release.

    Returns
    -------
    bool
        False for words that have too few digits to tell.

    Examples
    --------
    >>> is_joined(["555", "099", "1942"], ["ring15550991942"])
    True
    >>> is_joined(["03", "18", "2011"], ["born20110318t000000"])
    True
    """
    whole = "".join(words)
    digits = sum(map(str.isdigit, whole))
    if digits < _LEAST_DIGITS or len(whole) < _LEAST_SIGNS:
        return False
    forms = {whole}
    if len(words) <= _MOST_PARTS and whole.isdigit():
        forms |= {"".join(each) for each in permutations(words)}
    return any(form in text for form in forms for text in texts)
