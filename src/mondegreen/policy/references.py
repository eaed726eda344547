"""Character references of HTML, such as ``&amp;`` and ``#39;``: public structure."""

from __future__ import annotations

import math
import re
from typing import Final

from mondegreen.text.structure import BLANKS, GAP, KINDS, is_long
from mondegreen.text.tokenizer import CLITICS

_SIGNS: Final = "\"$&'<>\xa0–—‘’“”…"
REFERENCES: Final = {
    **{"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'", "nbsp": "\xa0"},
    **{"ndash": "–", "mdash": "—", "lsquo": "‘", "rsquo": "’", "hellip": "…"},
    **{"ldquo": "“", "rdquo": "”"},
    **{str(ord(sign)): sign for sign in _SIGNS},
    **{f"x{ord(sign):x}": sign for sign in _SIGNS},
    **{"145": "‘", "146": "’", "147": "“", "148": "”", "150": "–", "151": "—"},
}
"""The character that each reference stands for: all that pass, by their names and
numbers."""

_BARE: Final = frozenset(("36", "39"))
"""Numbers that are references without &, too: news has so many. A number of another
#NN; is private."""

_SPELLINGS: Final = sum(
    2 ** (1 + sum(map(str.isalpha, name)) * (name[0] == "x")) for name in REFERENCES
)
"""With or without &, and hexadecimal digits in both cases."""

REFERENCES_DISCLOSED: Final = (
    f"character references: which of {len(REFERENCES)} of HTML stand between words, "
    "such as &amp; and &#39;; names, 36 and 39 also without &. Each counts as one "
    "character of punctuation, and adds at most "
    f"{GAP * math.log2(1 + _SPELLINGS / KINDS):.1f} bits to what stands between two "
    "words",
)

_ANY: Final = "|".join(sorted(REFERENCES, key=len, reverse=True))
_READ: Final = re.compile(f"&?#?({_ANY});", re.IGNORECASE)
_OWNS: Final = re.compile(" ?['’]")
_S: Final = ("s", "S")
_ENDINGS: Final = ("s", *(ending[1:].lstrip("'") for ending in CLITICS))


def read_references(gap: str) -> str:
    """Read the references of a gap as the characters that they stand for.

    >>> read_references(" &quot;"), read_references(" #39;s ")
    (' "', "'s ")
    """
    if ";" not in gap:
        return gap
    read = _READ.sub(lambda found: REFERENCES[found[1].lower()], gap)
    is_apart = read != gap and _OWNS.match(read) and read[2:3] in _S
    return read[1:] if is_apart else read


def read_ending(word: str) -> str:
    """Read a word that may be an ending with its reference.

    >>> read_ending("n #39;t"), read_ending("&#39;LL"), read_ending("cat")
    ("n't", "'LL", 'cat')
    """
    return read_references(word).replace(" ", "") if ";" in word else word


def open_references(parts: list[str]) -> list[str]:
    """Make structure of the references in a text that was cut, and of their ``'s``.

    Another ending behind one is one word with it, as the tokenizer has ``n't``.

    >>> from mondegreen.text.tokenizer import tokenize
    >>> open_references(tokenize(["AT&amp;T #39;s plan"]).parts[0])
    ['', 'AT', '&amp;', 'T', ' #39;s ', 'plan', '']
    >>> open_references(tokenize(["I don&#39;t"]).parts[0])
    ['', 'I', ' ', 'do', '', 'n&#39;t', '']
    """
    opened, done = parts[:1], 1
    for i in range(1, len(parts), 2):
        # Most words are none, and this loop sees them all.
        if parts[i + 1][:1] != ";" or i < done:
            continue
        opened += parts[done:i]
        word, behind = parts[i : i + 2]
        done = i + 2
        gap = opened[-1] + word + behind
        if not _is_reference(opened[-1], word, behind) or _is_too_long(gap):
            opened += [word, behind]
            continue
        opened[-1] = gap
        if len(opened) > 1 and done < len(parts) and parts[done].lower() in _ENDINGS:
            done = _take_ending(opened, parts, done)
    opened += parts[done:]
    return opened if len(opened) < len(parts) else parts


def _take_ending(opened: list[str], parts: list[str], i: int) -> int:
    """Take the ending behind an apostrophe: 's to the structure, others as a word.

    Returns the place of the next word in ``parts``.
    """
    before, gap, (word, behind) = opened[-2], opened[-1], parts[i : i + 2]
    read = read_references(gap)
    # Behind a blank, the apostrophe may open a quotation, and a letter be an initial.
    is_apart = read[:1] == " " and not (word.islower() and _is_blank(behind, parts, i))
    if is_apart or not _OWNS.fullmatch(read):
        return i
    if word in _S:
        if _is_too_long(gap + word + behind):
            return i
        opened[-1] = gap + word + behind
    elif word not in ("t", "T"):
        opened[-1:] = ["", gap + word, behind]
    elif len(before) > 1 and before[-1] in ("n", "N"):
        opened[-2:] = [before[:-1], "", before[-1] + gap + word, behind]
    else:
        return i
    return i + 2


def _is_reference(before: str, word: str, behind: str) -> bool:
    """Whether a word is the name or number of a reference."""
    is_hex = word[:1] in ("x", "X")
    name = word.lower() if is_hex else word
    is_numbered = is_hex or word[-1:].isdigit()
    is_known = name in REFERENCES and behind.startswith(";")
    if not is_numbered:
        return is_known and not before.endswith("#")
    return is_known and before.endswith("#" if name in _BARE else "&#")


def _is_blank(behind: str, parts: list[str], i: int) -> bool:
    """Whether a word ends at a blank, or at the end of its text."""
    return behind[:1] in BLANKS if behind else i + 2 == len(parts)


def _is_too_long(gap: str) -> bool:
    """Whether a gap has more units than may pass; a reference is one."""
    short = _READ.sub(";", gap)
    return len(short) > GAP and is_long(short)
