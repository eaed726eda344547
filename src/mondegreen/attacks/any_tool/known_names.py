"""Words of a text that are the name of a person whom its own row names elsewhere.

Many names are ordinary words: *Will* at a start of a line, *hope banks* in lower case.
No list tells them from other words there. A column of names in the same row does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

KNOWN_NAME: Final = "known_name"
"""The kind of a word that another column of its row states as a name."""

_MOST: Final = 4
"""A name has at most so many words; longer values are text."""

_TITLES: Final = frozenset("dr miss mr mrs ms prof sir".split())

_OFFICES: Final = frozenset(
    "admin billing contact hello help info mail office order orders sales service "
    "shop support team".split()
)
"""A mail address with one of these words is that of no person."""

_separators = re.compile(r"\s*(?:[;/&|,\n]|\band\b)\s*").split
_words = re.compile(r"[^\W\d_][^\W\d_'’-]+(?:['’-][^\W\d_]+)*").findall
_address = re.compile(r"([^\s@]+)@[^\s@]+\.[^\s@]+").fullmatch
_is_name = re.compile(r"[^\W\d_][\w'’.-]*(?:,? [^\W\d_][\w'’.-]*)*").fullmatch


def find_known_names(words: Sequence[str], names: Sequence[str]) -> Iterator[int]:
    """Find the places of words that are names of the same row.

    A word counts if it is a part of a name and is written as it is there, or in
    capitals. In any case of letters, all words of a whole name of two or more count, in
    its order, or with the first or last one moved to the other end: "Hope, Will". So do
    two names of one word that stand side by side, as of two columns.

    Parameters
    ----------
    words : sequence of str
        As the text writes them.
    names : sequence of str
        The values of the columns of names. A value can hold several, such as
        "Hope; May", or be an e-mail address. A value that is no name is left out.

    Yields
    ------
    int
        Places in ``words``, in their order.

    Examples
    --------
    >>> list(find_known_names("Regards Will".split(), ["Will Hope"]))
    [1]
    >>> list(find_known_names("I will call will hope".split(), ["Dr. Will Hope"]))
    [3, 4]
    >>> list(find_known_names("Hope called May".split(), ["Hope; May"]))
    [0, 2]
    >>> list(find_known_names("Ask hope banks".split(), ["hope.banks@example.org"]))
    [1, 2]
    """
    split = [words for name in names for words in _split_all(name)]
    parts = {part for name in split for part in name if not part.islower()}
    parts |= {part.upper() for part in parts}
    # A possessive is the name, too.
    bare = [re.split("['’]s$", word)[0] for word in words]
    found = {place for place, word in enumerate(bare) if word in parts}
    folded = [word.lower() for word in bare]
    for name in split:
        whole = [part.lower() for part in name]
        if len(whole) > 1:
            orders = whole, [*whole[1:], whole[0]], [whole[-1], *whole[:-1]]
            for first in range(len(folded) - len(whole) + 1):
                if folded[first : first + len(whole)] in orders:
                    found.update(range(first, first + len(whole)))
    # First and last names may be in two columns.
    single = {name[0].lower() for name in split if len(name) == 1}
    for place, (word, following) in enumerate(pairwise(folded)):
        if word != following and {word, following} <= single:
            found.update((place, place + 1))
    yield from sorted(found)


def _split_all(value: str) -> list[list[str]]:
    """Split a value into the words of each of its names."""
    if address := _address(value.strip()):
        words = _words(re.sub(r"[\W\d_]+", " ", address[1]))
        is_person = 0 < len(words) <= _MOST and _OFFICES.isdisjoint(words)
        return [[word.capitalize() for word in words]] if is_person else []
    whole = _split(value)
    parts = [_split(part) for part in _separators(value.strip()) if part]
    # Where one part is no name, the value is text. "Hope, Will" is also one name.
    several = parts if len(parts) > 1 and all(parts) else []
    return [*([whole] if whole else []), *several]


def _split(value: str) -> list[str]:
    """Split a name into its words, without titles and initials; [] for no name."""
    value = " ".join(value.split())
    if not _is_name(value):
        return []
    words = [word for word in _words(value) if word.lower() not in _TITLES]
    return words if len(words) <= _MOST else []
