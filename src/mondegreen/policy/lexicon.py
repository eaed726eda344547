"""The public list behind the policies: ordinary words, and classes of others."""

from __future__ import annotations

import functools
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, final

from mondegreen.errors import SourceError
from mondegreen.files import read_bytes

FORMAT: Final = "mondegreen-lexicon 1"
_VERSION: Final = re.compile(r"mondegreen-lexicon ([0-9]{1,9})")
SHIPPED: Final = Path(__file__).parent / "data" / "english.policy"

_KEYS: Final = {
    "ordinary": 0,
    "cased": 0,
    "start": 0,
    "capital": 2,
    "counted": 1,
    "upper": 2,
    "words": 2,
    "unprinted": 2,
}
"""Sections of a lexicon, and how many names stand behind the first one.

A class behind ``capital`` may lack its form, which is "s": so earlier files read."""

Kind = tuple[str, str]
"""A class of words, and a grammatical form: ``("health", "s")``.

A second letter of the form is a part of the class: ``("health", "st")``, treatment."""


@final
@dataclass(frozen=True, slots=True)
class Lexicon:
    """Words by class and form, each list with the most frequent words first.

    Parameters
    ----------
    header : mapping
        Name, version, sources and licenses.
    digest : str
        SHA-256 of the file, in hex.
    ordinary : tuple of str
        Harmless words, folded, the most frequent first.
    capital : mapping of (class, form) to tuple of str
        Ordinary words that are names of a class where they have a capital.
    upper : mapping of (class, form) to tuple of str
        Ordinary words that are names of a class where all their letters are capitals.
    cased : frozenset of str
        Ordinary words that stay ordinary where they have a capital inside a sentence.
    start : frozenset of str
        Those of ``capital`` that count as names as first words of sentences too.
    words : mapping of (class, form) to tuple of str
        Sensitive words that may be printed.
    unprinted : mapping of (class, form) to tuple of str
        Sensitive words that are never printed: slurs and obscenities.
    counted : mapping of str to tuple of str
        Ordinary words by the class that they had in earlier versions. Attacks count
        them by that class.
    """

    header: Mapping[str, Any]
    digest: str
    ordinary: tuple[str, ...]
    capital: Mapping[Kind, tuple[str, ...]]
    upper: Mapping[Kind, tuple[str, ...]]
    cased: frozenset[str]
    start: frozenset[str]
    words: Mapping[Kind, tuple[str, ...]]
    unprinted: Mapping[Kind, tuple[str, ...]]
    counted: Mapping[str, tuple[str, ...]]

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes of sensitive words, sorted."""
        return tuple(sorted({name for name, _ in (*self.words, *self.unprinted)}))


@functools.cache
def load_lexicon(path: Path = SHIPPED) -> Lexicon:
    """Read a lexicon: UTF-8, a header of two lines, then sections of words.

    Raises
    ------
    SourceError
        If the file cannot be read as a lexicon, with its line.

    Examples
    --------
    >>> lexicon = load_lexicon()
    >>> "the" in lexicon.ordinary, "diabetes" in lexicon.words["health", "s"]
    (True, True)
    """
    return parse_lexicon(read_bytes(path), path)


def _read_header(lines: Sequence[str], path: str | Path) -> dict[str, Any]:
    """Read the first two lines: the format, and what the policy is."""
    try:
        header = json.loads(lines[1]) if lines[0] == FORMAT else None
    except (ValueError, IndexError, RecursionError):
        header = None
    if isinstance(header, dict):
        return header
    if lines[0] != FORMAT and (found := _VERSION.fullmatch(lines[0])):
        reads = FORMAT.rpartition(" ")[2]
        problem = f"the file has format {found[1]}; this version reads format {reads}"
        raise SourceError(path, problem, row=1, hint="update mondegreen")
    hint = "build one with: mondegreen policy build"
    raise SourceError(path, "the file is not a policy", row=1, hint=hint)


def parse_lexicon(data: bytes, path: str | Path) -> Lexicon:
    """Read the bytes of a lexicon; ``path`` is for errors."""
    try:
        lines = data.decode("utf-8").split("\n")
    except UnicodeDecodeError:
        raise SourceError(path, "the file is not UTF-8") from None
    header = _read_header(lines, path)
    tables: dict[str, dict[Any, tuple[str, ...]]] = {}
    for place in range(2, len(lines) - 1, 2):
        title, *key = lines[place].strip("[]").split(" ")
        if lines[place][:1] != "[" or len(key) > 2 or title not in _KEYS:
            raise SourceError(path, "a section must begin with [NAME]", row=place + 1)
        if title == "capital" and len(key) == 1:
            key.append("s")
        if len(key) != _KEYS[title]:
            problem = f"a section [{title}] names {_KEYS[title]} things beside"
            raise SourceError(path, problem, row=place + 1)
        name: Any = tuple(key) if len(key) > 1 else "".join(key)
        tables.setdefault(title, {})[name] = tuple(lines[place + 1].split())
    return Lexicon(
        header=header,
        digest=hashlib.sha256(data).hexdigest(),
        ordinary=tables.get("ordinary", {}).get("", ()),
        capital=tables.get("capital", {}),
        upper=tables.get("upper", {}),
        cased=frozenset(tables.get("cased", {}).get("", ())),
        start=frozenset(tables.get("start", {}).get("", ())),
        words=tables.get("words", {}),
        unprinted=tables.get("unprinted", {}),
        counted=tables.get("counted", {}),
    )
