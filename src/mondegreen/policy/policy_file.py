"""Your own policy files: what they must hold, and how they are built."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, Final

from mondegreen.errors import InvalidParameterError, SourceError
from mondegreen.files import read_bytes
from mondegreen.policy.lexicon import (
    FORMAT,
    SHIPPED,
    Kind,
    Lexicon,
    load_lexicon,
    parse_lexicon,
)
from mondegreen.policy.shapes import SHAPES
from mondegreen.settings import POLICIES
from mondegreen.text.never_printed import never_printed
from mondegreen.text.tokenizer import canonical, tokenize

LARGEST: Final = 32 << 20
"""Bytes of the largest policy file that is read."""

FORMS: Final = frozenset("spbzdgjramntuvlxoi")
"""Grammatical forms of lists: singular, plural, verb, and so on; of number words."""

FEWEST: Final = 20
"""Words that a policy needs at least: a sensitive word hides among them."""

_NAME: Final = re.compile("[a-z][a-z0-9_-]{0,63}")
_HEADING: Final = re.compile(r"\[([a-z_]+)(?: ([a-z_]+))?(?: ([a-z]))?\]")
_TABLES: Final = ("capital", "upper", "words", "unprinted", "counted")
_LISTS: Final = ("ordinary", "cased", "start")
_LARGE_FORMAT: Final = re.compile("[0-9]+|[a-z]{2}[0-9]{4}")
_BUILD: Final = "build one with: mondegreen policy build"


def read_policy_file(path: str | Path) -> Lexicon:
    """Read and check a policy file.

    Raises
    ------
    SourceError
        If it cannot be read, is too large, is not UTF-8, does not have the digest that
        its header names, or its lists are not what a policy needs; the message says
        which list, and the first word that is wrong. Words of a policy are public.
    """
    return check_policy_file(read_bytes(path, LARGEST + 1), path)


def check_policy_file(data: bytes, path: str | Path) -> Lexicon:
    """Check the bytes of a policy file; as :func:`read_policy_file`."""
    if len(data) > LARGEST:
        raise SourceError(path, f"a policy has at most {LARGEST >> 20} MB", hint=_BUILD)
    lexicon = parse_lexicon(data, path)
    stated = lexicon.header.get("digest")
    if stated is not None and stated != _digest(lexicon.header, _body(data)):
        problem = "the words are not those that the digest in the header names"
        raise SourceError(path, problem, row=2, hint="the file was changed")
    if lexicon.digest != load_lexicon(SHIPPED).digest:
        _check(path, lexicon)
    return lexicon


def write_policy_file(header: Mapping[str, Any], body: str) -> bytes:
    """Write a header, with its digest, and sections of words."""
    found = {**header, "digest": _digest(header, body.encode())}
    return f"{FORMAT}\n{json.dumps(found, ensure_ascii=False)}\n{body}".encode()


def build_policy_file(
    sources: Sequence[str | Path],
    *,
    name: str,
    version: str,
    licenses: Sequence[str] = (),
    opened: Sequence[str] = (),
    base: Lexicon | None,
) -> bytes:
    """Build a policy file from lists of PUBLIC words, on top of a base or of none.

    A source is UTF-8 text. A heading such as ``[ordinary]``, ``[health]`` or ``[health
    p]`` (a class, and a form: s, the default, for singular, p for plural, b for a verb)
    stands before its words, which blanks or lines part; ``#`` begins a comment. A word
    leaves every list of the base that it was in.

    Raises
    ------
    SourceError
        If a source is not such a text, or names a word in two lists.
    """
    _check_name(name)
    owners, origins = _read_sources(sources)
    if base is not None:
        origins.insert(0, {"base": base.header.get("name"), "sha256": base.digest})
    header = {
        "name": name,
        "version": version,
        "sources": origins,
        "licenses": list(licenses),
        "opened": sorted(opened),
    }
    sections = _merge(base, owners)
    # An ordinary word of a source shows with a capital, too, even if it is a name.
    cased = {word for word, kind in owners.items() if kind is None}
    sections += _marks(base, owners, cased)
    text = "".join(f"[{title}]\n{' '.join(some)}\n" for title, some in sections)
    return write_policy_file(header, text)


def _read_sources(
    sources: Sequence[str | Path],
) -> tuple[dict[str, Kind | None], list[dict[str, Any]]]:
    """The class of each word of the sources, None if ordinary; and their digests."""
    owners: dict[str, Kind | None] = {}
    origins: list[dict[str, Any]] = []
    for path in sources:
        data = read_bytes(path, LARGEST + 1)
        sha = hashlib.sha256(data).hexdigest()
        origins.append({"file": Path(path).name, "sha256": sha})
        for row, kind, word in _iterate_words(path, data):
            if owners.setdefault(word, kind) != kind:
                raise SourceError(path, f"the word {word!r} is in two lists", row=row)
    return owners, origins


def _merge(
    base: Lexicon | None, owners: Mapping[str, Kind | None]
) -> list[tuple[str, list[str]]]:
    """The lists of a base without the words of sources, then those of sources."""
    found: dict[str, list[str]] = {"ordinary": []}
    if base is not None:
        found["ordinary"] += base.ordinary
        for table, lists in (("words", base.words), ("unprinted", base.unprinted)):
            found |= {f"{table} {k[0]} {k[1]}": list(w) for k, w in lists.items()}
    were_empty = {title for title, words in found.items() if not words}
    found = {
        title: [word for word in words if word not in owners]
        for title, words in found.items()
    }
    banned = never_printed()
    for word, kind in owners.items():
        table = "unprinted" if word in banned else "words"
        title = "ordinary" if kind is None else f"{table} {kind[0]} {kind[1]}"
        found.setdefault(title, []).append(word)
    return [
        (title, words)
        for title, words in found.items()
        if words or title in were_empty or title == "ordinary"
    ]


def _marks(
    base: Lexicon | None, changed: Collection[str], cased: set[str]
) -> Iterator[tuple[str, list[str]]]:
    """What the base says of words with capitals, if no source names them."""
    tables: list[tuple[str, Collection[str]]] = []
    if base is not None:
        tables += [(f"capital {kind}", w) for kind, w in base.capital.items()]
        tables += [(f"upper {k[0]} {k[1]}", w) for k, w in base.upper.items()]
        tables.append(("start", sorted(base.start)))
    for title, words in tables:
        kept = [word for word in words if word not in changed]
        if kept:
            yield title, kept
    unchanged = () if base is None else base.cased - set(changed)
    yield "cased", sorted(cased.union(unchanged))


def _iterate_words(
    path: str | Path, data: bytes
) -> Iterator[tuple[int, Kind | None, str]]:
    """The words of a source: their row, and their class or None for ordinary ones."""
    try:
        lines = data.decode("utf-8-sig").split("\n")
    except UnicodeDecodeError:
        raise SourceError(path, "the file is not UTF-8") from None
    kind: Kind | None = None
    is_under = False
    for row, line in enumerate(lines, 1):
        line = line.partition("#")[0].strip()
        if line.startswith("["):
            kind, is_under = _find_kind(path, row, line), True
            continue
        for word in line.split():
            if not is_under:
                hint = "begin with a line such as [ordinary] or [health]"
                raise SourceError(path, "a word without a list", row=row, hint=hint)
            if tokenize([word]).words() != [word]:
                raise SourceError(path, f"{word!r} is not one word", row=row)
            yield row, kind, canonical(word)


def _find_kind(path: str | Path, row: int, line: str) -> Kind | None:
    """Read a heading of a source."""
    found = _HEADING.fullmatch(line)
    name, form = (found[1], found[2] or "s") if found else ("", "")
    if found is None or found[3] or name in _TABLES or form not in FORMS:
        problem = f"{line!r} is no heading of a list"
        hint = "write [ordinary], or [CLASS FORM], FORM one of " + " ".join(FORMS)
        raise SourceError(path, problem, row=row, hint=hint)
    return None if name == "ordinary" else (name, form)


def _digest(header: Mapping[str, Any], body: bytes) -> str:
    """SHA-256, in hex, of the rest of a header as JSON with sorted keys, and words."""
    rest = {key: value for key, value in header.items() if key != "digest"}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode() + b"\n" + body).hexdigest()


def _body(data: bytes) -> bytes:
    return data.split(b"\n", 2)[2]


def _check_name(name: object) -> None:
    if not isinstance(name, str) or not _NAME.fullmatch(name) or name in POLICIES:
        allowed = f"small letters, digits, - and _, and none of {', '.join(POLICIES)}"
        raise InvalidParameterError("name of the policy", name, allowed)


def _check(path: str | Path, lexicon: Lexicon) -> None:
    """Reject lists that make no policy, or whose outputs would overlap."""
    try:
        _check_name(lexicon.header.get("name"))
    except InvalidParameterError as error:
        raise SourceError(path, str(error), hint=_BUILD) from None
    checks = (_find_in_header, _find_in_kinds, _find_twice, _find_in_words, _find_marks)
    for check in checks:
        for problem in check(lexicon):
            raise SourceError(path, problem, hint=_BUILD)


def _find_in_header(lexicon: Lexicon) -> Iterator[str]:
    opened = lexicon.header.get("opened", [])
    if not isinstance(opened, list) or set(map(str, opened)) - {*lexicon.classes}:
        yield "the header opens a class that the file does not have"
        return
    hidden = [w for kind, w in lexicon.words.items() if kind[0] not in opened]
    if sum(map(len, hidden)) < FEWEST:
        yield f"a policy needs {FEWEST} sensitive words at least, to hide among"


def _find_in_kinds(lexicon: Lexicon) -> Iterator[str]:
    for kind in (*lexicon.words, *lexicon.unprinted, *lexicon.upper):
        if kind[1] not in FORMS:
            yield f"the list {' '.join(kind)!r} needs a class and a form"
    for kind, words in lexicon.words.items():
        if not words and not lexicon.unprinted.get(kind):
            yield f"the list {' '.join(kind)!r} is empty"


def _lists(lexicon: Lexicon) -> Iterator[tuple[str, tuple[str, ...]]]:
    """All lists of words that own their words, by their titles."""
    yield "ordinary", lexicon.ordinary
    for kind, words in lexicon.words.items():
        yield " ".join(kind), words
    for kind, words in lexicon.unprinted.items():
        yield f"{' '.join(kind)}, unprinted", words


def _find_twice(lexicon: Lexicon) -> Iterator[str]:
    """Find words that two symbols would print, or that are twice in a list."""
    owners: dict[str, str] = {}
    for title, words in _lists(lexicon):
        for word in words:
            other = owners.setdefault(word, title)
            if other != title:
                yield f"the word {word!r} is in two lists: {other!r} and {title!r}"
        if len(set(words)) < len(words):
            yield f"a word is twice in the list {title!r}"


def _find_marks(lexicon: Lexicon) -> Iterator[str]:
    known = set(chain.from_iterable(words for _, words in _lists(lexicon)))
    tables = (lexicon.capital, lexicon.upper, lexicon.counted)
    marks = chain.from_iterable(table.values() for table in tables)
    for word in chain(lexicon.cased, lexicon.start, *marks):
        if word not in known:
            yield f"the word {word!r} has a mark, but is in no list"


def _find_in_words(lexicon: Lexicon) -> Iterator[str]:
    """Find what is no folded word, is never printed, or is a token of a format."""
    formats = {
        shape.print(i).lower()
        for shape in SHAPES
        if shape.size <= 10**4
        for i in range(shape.size)
    }
    banned = never_printed()
    for title, words in _lists(lexicon):
        is_printed = title != "ordinary" and not title.endswith("unprinted")
        for word, cut in zip(words, tokenize(words).parts, strict=True):
            if cut is None or cut[1::2] != [word] or word != word.lower():
                yield f"{word!r} of {title!r} is not one word in small letters"
            if word in formats or _LARGE_FORMAT.fullmatch(word):
                yield f"the word {word!r} of {title!r} is printed for a format"
            if is_printed and word in banned:
                yield (
                    f"the word {word!r} of {title!r} is never printed: put it under "
                    "[unprinted CLASS FORM]"
                )
            if any(map(str.isalpha, word)) and _is_unfolded(word, title):
                yield f"the word {word!r} of {title!r} is not folded"


def _is_unfolded(word: str, title: str) -> bool:
    """Whether a word has another folded form; endings such as n't are ordinary."""
    return title != "ordinary" and canonical(word) != word
