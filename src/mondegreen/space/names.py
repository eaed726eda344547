"""What a space may be called, and what may be a word of it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from mondegreen.errors import InvalidParameterError, SpaceError

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")

# White space, line and paragraph separators, control characters, and halves of
# surrogate pairs: every one of them can end a word or a row in some format. A no-break
# space inside a word is part of it.
_STRUCTURE: Final = re.compile(
    "[\x00-\x20\x7f-\x9f\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ud800-\udfff]"
)
_NO_BREAK: Final = "\u00a0"


def checked_name(name: str) -> str:
    """Return a name of a space if it can also be the name of a file."""
    if not _NAME.fullmatch(name):
        allowed = "letters, digits, dots, hyphens and underscores, not a mark first"
        raise InvalidParameterError("name", name, allowed)
    return name


def problem_of(word: str) -> str | None:
    """Return why a string can be no word of a space; None where it can.

    Examples
    --------
    >>> problem_of("naïve"), problem_of("New York")
    (None, 'the word holds white space or a control character (U+0020)')
    """
    if not word.strip():
        return "the word is empty, or white space"
    found = _STRUCTURE.search(word)
    if found or word != word.strip(_NO_BREAK):
        code = ord(found[0]) if found else ord(_NO_BREAK)
        return f"the word holds white space or a control character (U+{code:04X})"
    return None


def check_words(name: str, words: Sequence[str]) -> None:
    """Refuse words that are repeated, or that could break a format.

    Raises
    ------
    SpaceError
        With the number of the word, counted from 0.
    """
    if len(set(words)) != len(words):
        raise SpaceError(f"space {name!r}: a word occurs twice")
    for i, word in enumerate(words):
        if problem := problem_of(word):
            raise SpaceError(f"space {name!r}, word {i}: {problem}")
