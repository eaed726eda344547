"""What a release says once a browser has shown it, and letters have lost marks."""

from __future__ import annotations

import functools
import html
import re
import unicodedata
from typing import Final
from urllib.parse import unquote

from mondegreen.text.tokenizer import LONGEST

_ROUNDS: Final = 3
"""Programs that escape a text twice, or three times, are common; more are not."""

_DROPPED: Final = ("Mn", "Me", "Cf")

_LETTERS: Final = str.maketrans(
    {
        **dict(zip("łŁøØđĐðÐħĦŧŦıŀĿ", "lLoOdDdDhHtTilL", strict=True)),
        **{"ß": "ss", "ẞ": "SS", "æ": "ae", "Æ": "AE", "œ": "oe", "Œ": "OE"},
        **{"þ": "th", "Þ": "TH"},
    }
)
"""Letters that Unicode does not take apart, as they are written without marks."""

# Between other signs, a tag parts words. Inside a tag, no part of this can match "<": a
# search that fails ends at the next one, so the time is linear in the text.
_drop_tags_in_words = re.compile(
    r"""(?<=[^\W_])
        (?: <[A-Za-z/!?](?: (?:[^<>"']|"[^<"]*"|'[^<']*')*+ | [^<>]*+ )> )++
        (?=[^\W_])""",
    re.VERBOSE,
).sub

_find_runs = re.compile(r"[^\W_]+").findall

# Python reads at most 4,300 digits. No character has such a number.
_drop_zeros = re.compile(r"(?<=&\#)0+(?=[0-9])").sub
_replace_long_numbers = re.compile(r"&\#[0-9]{8,};?").sub


def list_readings(text: str) -> list[str]:
    r"""List the ways to read a text: as it is, decoded, and without tags in words.

    Each may show words that the others do not.

    Parameters
    ----------
    text : str

    Returns
    -------
    list of str
        Different texts; the text itself is the first.

    Examples
    --------
    >>> list_readings("A&#110;n<!-- x -->a")
    ['A&#110;n<!-- x -->a', 'Ann<!-- x -->a', 'Anna']
    >>> list_readings("Anna")
    ['Anna']
    """
    decoded = drop_marks(_decode(text))
    bare = decoded
    if "<" in decoded:
        bare = _drop_tags_in_words("", _shorten_comments(decoded))
    return list(dict.fromkeys([text, decoded, bare]))


def decode_signs(text: str) -> str:
    r"""Write out HTML and percent forms, and drop tags and marks on letters.

    Parameters
    ----------
    text : str

    Returns
    -------
    str
        The text itself if it has none of them. A tag is dropped inside words alone.

    Examples
    --------
    >>> decode_signs("Ok&shy;onkwo &#65;nna %41nna <b>A</b>nna A\u0301nna & 5 %")
    'Okonkwo Anna Anna <b>Anna Anna & 5 %'
    """
    return list_readings(text)[-1]


def squeeze(text: str) -> str:
    """Keep the letters and digits of a text alone.

    >>> squeeze("+1 (555) 099_Ann")
    '1555099Ann'
    """
    return "".join(_find_runs(text))


def drop_marks(text: str) -> str:
    r"""Drop marks on letters, and signs that nobody sees, such as soft hyphens.

    >>> drop_marks("Jos\u00e9 M\u00fcl\xadler")
    'Jose Muller'
    >>> drop_marks("\u0141ukasz Wei\u00df")
    'Lukasz Weiss'
    """
    if text.isascii():
        return text
    # Normalising takes time quadratic in a run of marks, so they are dropped before.
    apart = unicodedata.normalize("NFD", _drop_signs(text))
    return unicodedata.normalize("NFC", _drop_signs(apart)).translate(_LETTERS)


@functools.lru_cache(1 << 16)
def plain(key: str) -> str:
    r"""Drop the marks of a folded word; a word of marks alone keeps them.

    >>> plain("m\u00fcller")
    'muller'
    """
    if key.isascii() or len(key) > LONGEST:
        return key
    return drop_marks(key) or key


def _drop_signs(text: str) -> str:
    """Drop marks and signs that nobody sees."""
    return "".join(
        sign
        for sign in text
        if sign.isascii()
        or not (unicodedata.combining(sign) or unicodedata.category(sign) in _DROPPED)
    )


def _decode(text: str) -> str:
    """Write out HTML and percent forms."""
    for _ in range(_ROUNDS):
        known = text
        if "&" in text:
            text = _replace_long_numbers("\ufffd", _drop_zeros("", text))
            text = html.unescape(text)
        if "%" in text:
            text = unquote(text, errors="ignore")
        if text == known:
            break
    return text


def _shorten_comments(text: str) -> str:
    """Make each comment a short tag; one without an end stays."""
    kept, place = [], 0
    while (start := text.find("<!--", place)) >= 0:
        end = text.find("-->", start + 2)
        if end < 0:
            break
        kept.append(text[place:start] + "<!>")
        place = end + len("-->")
    return "".join([*kept, text[place:]])
