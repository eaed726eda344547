"""Draw the pictures of the user pages, as SVG in docs/assets.

``python -m benchmarks pictures`` writes them, from the policy that is shipped and from
the result files. They are 360 pixels wide, so that a phone shows them at full size, and
follow the light or dark setting of the system.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from html import escape
from typing import Any, Final

from click.testing import CliRunner

import mondegreen as mg
from benchmarks.pages.draws import draw_median
from benchmarks.pages.page import DOCS
from benchmarks.pages.policies_page import COLLECTIONS, DEFAULT, load
from benchmarks.pages.policy_page import EXAMPLE
from mondegreen.cli.main import cli
from mondegreen.text.tokenizer import tokenize

ASSETS: Final = DOCS / "assets"
WIDTH: Final = 360
LINE: Final = 24
COLUMNS: Final = 36
"""Characters of a line of text, at 16 pixels."""
WORD: Final = "diabetes"
EDGE: Final = 4
NAMES: Final = {
    "insurance": "insurance questions",
    "banking77": "questions to a bank",
    "clinc150": "requests to an assistant",
}
""""Plain names of the collections."""
STYLE: Final = """\
text{font:16px system-ui,sans-serif;fill:#1c1b1f}
.small{font-size:14px}.bold{font-weight:700}
.box{fill:#f4f4f8;stroke:#767680}.bar{fill:#1f5fbf}.end{stroke:#1c1b1f;stroke-width:2}
.arrow{stroke:#55555f;stroke-width:2;fill:none}
.c0{fill:#a3261e;font-weight:700}.c1{fill:#0b4a9e;font-weight:700}
.c2{fill:#7a2182;font-weight:700}.c3{fill:#6b4a00;font-weight:700}
.c4{fill:#1d6330;font-weight:700}
.back{fill:#ffffff}
@media (prefers-color-scheme:dark){
text{fill:#ececf1}.back{fill:#1e2129}
.box{fill:#2b2f3a;stroke:#9a9aa6}.bar{fill:#7fb0ff}.end{stroke:#ececf1}
.arrow{stroke:#c5c5d0}
.c0{fill:#ff9b93}.c1{fill:#9cc4ff}.c2{fill:#e3a6ea}.c3{fill:#f0c76a}.c4{fill:#8fd8a3}}
"""


def before_and_after() -> str:
    """One sentence before and after, with a color for each class of hidden words."""
    privatizer = mg.Privatizer(mg.mechanism("urr", epsilon=12.0))
    released = draw_median(privatizer, EXAMPLE)
    before, after = _words(EXAMPLE), _words(released)
    classes = [_find_class(word) for word in before]
    kinds = list(dict.fromkeys(each for each in classes if each is not None))
    shown = [None if each is None else f"c{kinds.index(each)}" for each in classes]
    parts, y = [], 0
    for title, words in (("Before", before), ("After, at epsilon 12", after)):
        rows = _wrap(words, shown)
        height = LINE * len(rows) + 44
        parts.append(_box(0, y, WIDTH, height))
        parts.append(_text(12, y + 24, title, "small bold"))
        for number, row in enumerate(rows):
            parts.append(_line(12, y + 50 + LINE * number, row))
        y += height + 10
    parts.append(_text(0, y + 14, "Hidden words, by class:", "small"))
    legend = [(f"{kind}", f"c{number}") for number, kind in enumerate(kinds)]
    parts.append(_line(0, y + 38, legend))
    what = f"Before: {EXAMPLE} After: {released}"
    return _picture(y + 48, what, parts)


def way_of_a_word() -> str:
    """What happens to one ordinary and to one sensitive word."""
    found = _show(WORD)
    steps = [
        ("A word of your text", f"such as {WORD}, or says"),
        ("The policy: a public list", "Is the word ordinary?"),
        (
            f"No, as for {WORD}",
            f"Its group: {found['group']}, {found['hides_among']} words",
        ),
        (
            "The mechanism draws a word",
            "any word of the group, the same chances for all",
        ),
        ("The release", f"such as {', '.join(found['examples'][4:7])}"),
    ]
    parts, y = [], 0
    for number, (title, detail) in enumerate(steps):
        parts.append(_box(0, y, WIDTH - 1, 56))
        parts.append(_text(12, y + 23, title, "bold"))
        parts.append(_text(12, y + 45, detail, "small"))
        y += 56
        if number < len(steps) - 1:
            parts.append(f'<path class="arrow" d="M40 {y}v22m-6-8l6 8 6-8"/>')
            if number == 1:
                aside = "Yes, as for says: printed unchanged"
                parts.append(_text(60, y + 18, aside, "small"))
            y += 26
    what = (
        f"The word {WORD} is not on the list of ordinary words. The mechanism draws "
        f"one of the {found['hides_among']} words of its group. An ordinary word is "
        "printed unchanged."
    )
    return _picture(y + 2, what, parts)


def recovered() -> str:
    """The share of sensitive words that an attacker recovers, by kind of text."""
    found = load("policies")["rows"][DEFAULT]
    parts = [
        _text(0, 18, "What an attacker recovers", "bold"),
        _text(0, 40, "of 100 sensitive words, at epsilon 12", "small"),
    ]
    values, y = [], 52
    scale = (WIDTH - 60) / 100
    for name in COLLECTIONS:
        attack = found[name]["attack"]
        share, low, high = (100 * attack[key] for key in ("value", "low", "high"))
        values.append(f"{NAMES.get(name, name)} {share:.0f}")
        parts.append(_text(0, y + 16, NAMES.get(name, name), "small"))
        size = f'height="14" width="{share * scale:.1f}"'
        bar = f'<rect class="bar" x="0" y="{y + 22}" {size}/>'
        ends = f'<path class="end" d="M{low * scale:.1f} {y + 29}H{high * scale:.1f}"/>'
        parts += [bar, ends, _text(high * scale + 8, y + 34, f"{share:.0f}", "bold")]
        y += 42
    parts.append(_text(0, y + 18, "Lines are 95 % intervals.", "small"))
    what = f"Of 100 sensitive words an attacker recovers: {', '.join(values)}."
    return _picture(y + 28, what, parts)


def _words(text: str) -> list[str]:
    """Split a text at its spaces; a release has the same spaces."""
    return text.split(" ")


def _find_class(word: str) -> str | None:
    """The class of a word that hides, and None for an ordinary one."""
    (parts,) = tokenize([word]).parts
    return _show(list(parts or [])[1])["class"]


def _show(word: str) -> dict[str, Any]:
    done = CliRunner().invoke(cli, ["policy", "show", word, "--json"])
    found = json.loads(done.stdout)[0]
    if found["class"] in ("ordinary", ""):
        found["class"] = None
    return found


def _wrap(words: list[str], shown: list[str | None]) -> list[list[tuple[str, str]]]:
    rows: list[list[tuple[str, str]]] = [[]]
    length = 0
    for word, style in zip(words, shown, strict=True):
        if length + len(word) > COLUMNS:
            rows.append([])
            length = 0
        rows[-1].append((word, style or ""))
        length += len(word) + 1
    return rows


def _line(x: float, y: float, words: list[tuple[str, str]]) -> str:
    spans = " ".join(
        f'<tspan class="{style}">{escape(word)}</tspan>' if style else escape(word)
        for word, style in words
    )
    return f'<text x="{x:g}" y="{y:g}">{spans}</text>'


def _text(x: float, y: float, text: str, style: str) -> str:
    return f'<text x="{x:g}" y="{y:g}" class="{style}">{escape(text)}</text>'


def _box(x: float, y: float, width: float, height: float) -> str:
    return (
        f'<rect class="box" x="{x + 0.5:g}" y="{y + 0.5:g}" rx="6" '
        f'width="{width - 1:g}" height="{height:g}"/>'
    )


def _picture(height: float, what: str, parts: list[str]) -> str:
    wide, high = WIDTH + 2 * EDGE, height + 2 * EDGE
    size = f'width="{wide}" height="{high:g}"'
    back = f'<rect class="back" x="-{EDGE}" y="-{EDGE}" {size}/>'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" '
        f'viewBox="-{EDGE} -{EDGE} {wide} {high:g}">'
        f"\n<title>{escape(what)}</title>\n<style>\n{STYLE}</style>\n"
        + "\n".join([back, *parts])
        + "\n</svg>\n"
    )


PICTURES: Final[dict[str, Callable[[], str]]] = {
    "before-after.svg": before_and_after,
    "way-of-a-word.svg": way_of_a_word,
    "recovered.svg": recovered,
}


def main() -> None:
    """Write the pictures."""
    for name, draw in PICTURES.items():
        (ASSETS / name).write_text(draw(), encoding="utf-8")


if __name__ == "__main__":
    main()
