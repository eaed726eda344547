"""Check the language of what users read: words, reading ease, and banned phrases.

``python docs/check_prose.py`` prints a table of the README and the user pages, and
every banned phrase in the README, docs, CHANGELOG and the strings of src and of
experiments/src, whose docstrings stand on a page. It ends with exit code 1 if a limit
is broken. tests/docs/test_prose.py holds the same limits.

Reading ease is Flesch's: 206.835 - 1.015 * words per sentence - 84.6 * syllables per
word (Flesch 1948). Code, tables, formulas and generated parts are left out of it.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

ROOT: Final = Path(__file__).resolve().parents[1]
GUIDE: Final = ROOT / "docs" / "guide"
MAX_WORDS: Final = 12_000
"""Words of the ten user pages together."""
MAX_README_WORDS: Final = 700
MAX_LAW_WORDS: Final = 700
"""Words of the page for data protection officers."""
MIN_EASE: Final = 50.0
MAX_SENTENCE: Final = 25
"""Words of a sentence of the README and the user pages (english.md, rule 7)."""

_VERB: Final = (
    "reads|knows|has|have|sees|guesses|can|may|uses|holds|learns|looks|wants|writes|"
    "is|are|was|does|did|makes|takes|gets|chose|chooses|made|gives|runs|asks|wrote"
)
# What english.md bans: rule 12 and its pairs. Each is a pattern and what to write.
BANNED: Final = {
    r"\bwhoever\b": "name the person: an attacker, the recipient, you",
    rf"(?:^|[.:;(]\s+|\b(?:by|to|for|of|with|and|or|from|but|against|than)\s+)"
    rf"who\s+(?:{_VERB})\b(?![^.]*\?)": "say who: an attacker who ...",
    r"\bof the kind\b": "in-domain",
    r"\btells? of\b": "discloses, describes",
    r"\bis looked at\b|\bare looked at\b": "say who looks at what",
    r"\bsuch as have\b": "that have",
    r"\bbe it\b": "whether",
    r"\bhence\b|\bthereby\b|\btherein\b|\bthereof\b|\bthe more so\b": "so",
    r"\bof which\b|\bof whom\b": "two sentences",
    r"\bin place of both\b|\bfor your eyes only\b": "say it plainly",
    r"\bin clear\b": "unchanged, or in plain text",
    r"\blikeliest\b": "most likely",
    r"\bhangs? together\b": "are correlated",
    r"\bwhat becomes of\b": "what happens to",
    r"\bwhat reads well\b": "fluent output",
    r"\bof somebody\b": "personal",
    r"\bof their headers\b": "which headers",
    r"(?:^|[.:;]\s+)(?:Refused|Left out|Shown|Printed|Counted|Passed) (?:is|are)\b": (
        "subject first: files with ... are rejected"
    ),
    r"\bmodel of the kind\b|\btexts? of (?:its|your|their) kind\b": "in-domain",
    r"\bwas withheld\b|\bwere withheld\b": "was not released",
    r"\bgoes on (?:its|their) key\b|\bgo on their keys\b": "say what is forwarded",
    r"\bSome \d": "About",
    r"\bsome \d+ (?:words|bytes|lines|texts|minutes|seconds)\b": "about",
    r"\bnaught\b|\bthrice\b|\bfain\b|\bwhence\b|\bwherefore\b": "plain words",
    r"\bthat be\b|\bif need be\b|\bin order that\b": "plain words",
    r"\b(?:one|text|words?) a line\b": "one per line",
    r"\bon the wire\b": "compressed",
    r"\bat home\b": "on your machine",
    r"\b(?:every|each|all|five) doors?\b|\bat (?:any|no) door\b": (
        "name them: command line, Python, service, ..."
    ),
    r"\bof one's own\b": "your own",
    r"\bcarrier sentences?\b": "public sentences",
    r"\btells? about (?:a|that|the) texts?\b|\btells? adds? up\b": "discloses",
    r"\bsome (?:two|three|five|ten) (?:dozen|hundred|words)\b": "about",
    r"\blike with like\b": "say what is comparable",
    r"\bgo(?:es)? on (?:from there|where it was)\b": "continues",
}
_PATTERNS: Final = {re.compile(each, re.I | re.M): BANNED[each] for each in BANNED}
_CASED: Final = {r"\bSome \d"}


class Prose(NamedTuple):
    """What was counted of one page."""

    words: int
    ease: float


class Found(NamedTuple):
    """A banned phrase at its place."""

    place: str
    phrase: str
    instead: str


def user_pages() -> list[Path]:
    """The ten pages for users."""
    return sorted(GUIDE.glob("*.md"))


def measure(path: Path) -> Prose:
    """Count the words of a page, and compute its reading ease."""
    text = path.read_text(encoding="utf-8")
    return Prose(len(_split(_plain(text, with_tables=True))), reading_ease(text))


def reading_ease(markdown: str) -> float:
    """Flesch's reading ease of the prose of a page; larger is easier."""
    sentences = _sentences(markdown)
    words = [word for sentence in sentences for word in sentence]
    if not words:
        return 100.0
    syllables = sum(map(count_syllables, words))
    return 206.835 - 1.015 * len(words) / len(sentences) - 84.6 * syllables / len(words)


def find_long(path: Path) -> list[str]:
    """Return the sentences of a page that have too many words."""
    sentences = _sentences(path.read_text(encoding="utf-8"))
    return [" ".join(each) for each in sentences if len(each) > MAX_SENTENCE]


def count_syllables(word: str) -> int:
    """Count groups of vowels; a silent e at the end does not count."""
    word = re.sub(r"[^a-z]", "", word.lower())
    groups = len(re.findall(r"[aeiouy]+", word))
    silent = re.search(
        r"[^aeiouyl]e$|[aeiouy]le$|[^aeiouytd]ed$|[^aeiouysxzchg]es$", word
    )
    return max(1, groups - (1 if silent and groups > 1 else 0))


def find_banned() -> Iterator[Found]:
    """Find every banned phrase of what users read."""
    pages = [ROOT / "README.md", ROOT / "CHANGELOG.md"]
    pages += sorted((ROOT / "docs").rglob("*.md")) + sorted(
        (ROOT / "changes").glob("*.md")
    )
    for path in pages:
        text = re.sub(
            r"^```.*?^```", _blank, path.read_text("utf-8"), flags=re.S | re.M
        )
        yield from _banned_in(text, path.relative_to(ROOT).as_posix(), 1)
    code = [ROOT / "src", ROOT / "experiments" / "src"]
    for path in sorted(each for folder in code for each in folder.rglob("*.py")):
        for line, text in _strings(path):
            yield from _banned_in(text, path.relative_to(ROOT).as_posix(), line)


def find_in(text: str) -> list[str]:
    """Return the banned phrases of one text."""
    return [each.phrase for each in _banned_in(text, "", 1)]


def _banned_in(text: str, place: str, line: int) -> Iterator[Found]:
    for pattern, instead in _PATTERNS.items():
        for match in pattern.finditer(text):
            if pattern.pattern in _CASED and not match[0].startswith("Some"):
                continue
            at = line + text.count("\n", 0, match.start())
            yield Found(f"{place}:{at}", " ".join(match[0].split()), instead)


def _strings(path: Path) -> Iterator[tuple[int, str]]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value


def _blank(match: re.Match[str]) -> str:
    return "\n" * match[0].count("\n")


def _plain(markdown: str, with_tables: bool) -> str:
    """Leave the words that a person reads."""
    text = re.sub(r"^```.*?^```", "", markdown, flags=re.S | re.M)
    if not with_tables:
        text = re.sub(
            r"^<!-- (.*?) -->.*?^<!-- (?:end of |/).*?-->", "", text, flags=re.S | re.M
        )
        text = re.sub(r"^\|.*$", "", text, flags=re.M)
    text = re.sub(r"<!--.*?-->|<[^>\n]+>", "", text, flags=re.S)
    text = re.sub(r"!\[.*?\]\(.*?\)", "", text)
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"`[^`\n]+`", "code", text)
    text = re.sub(r"\$[^$\n]+\$", "it", text)
    text = re.sub(r"^(#+ .*|[-*] .*|\d+\. .*)$", r"\n\1\n", text, flags=re.M)
    text = re.sub(r"^[#>*\-]+ ", "", text, flags=re.M)
    return text.replace("|", " ").replace("*", "")


def _sentences(markdown: str) -> list[list[str]]:
    prose = _plain(markdown, with_tables=False)
    parts = map(_split, re.split(r"[.!?](?:\s|$)|\n\n", prose))
    return [each for each in parts if each]


def _split(text: str) -> list[str]:
    return re.findall(r"[A-Za-z0-9][\w'’.,-]*", text)


def main() -> int:
    """Print what is measured; return 1 if a limit is broken."""
    pages = user_pages()
    total, broken = 0, False
    for path in (ROOT / "README.md", ROOT / "docs" / "index.md", *pages):
        prose = measure(path)
        total += prose.words if path in pages else 0
        long = find_long(path)
        broken |= prose.ease < MIN_EASE or bool(long)
        name = path.relative_to(ROOT).as_posix()
        print(f"{name:40} {prose.words:6,} words  reading ease {prose.ease:5.1f}")
        for each in long:
            print(f"  long sentence: {each}")
    print(f"user pages: {total:,} of at most {MAX_WORDS:,} words")
    found = list(find_banned())
    for each in found:
        print(f"{each.place}: {each.phrase!r}: {each.instead}")
    print(f"banned phrases: {len(found)}")
    return int(broken or total > MAX_WORDS or bool(found))


if __name__ == "__main__":
    sys.exit(main())
