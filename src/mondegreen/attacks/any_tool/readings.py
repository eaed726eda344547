"""What a release says once a browser has shown it, and letters have lost marks."""

from __future__ import annotations

import html
import re
import unicodedata
from typing import Final
from urllib.parse import unquote

_ROUNDS: Final = 3
"""Programs that escape a text twice, or three times, are common; more are not."""

# Between other signs, a tag parts words.
_drop_tags_in_words = re.compile(
    r"(?<=[^\W_])(?:</?[A-Za-z][A-Za-z0-9]{0,9}(?:\s[^<>]{0,80})?/?>)+(?=[^\W_])"
).sub


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
    'Ok\xadonkwo Anna Anna <b>Anna Anna & 5 %'
    """
    for _ in range(_ROUNDS):
        known = text
        if "&" in text:
            text = html.unescape(text)
        if "%" in text:
            text = unquote(text, errors="ignore")
        if text == known:
            break
    if "<" in text:
        text = _drop_tags_in_words("", text)
    if text.isascii():
        return text
    apart = unicodedata.normalize("NFD", text)
    kept = "".join(c for c in apart if unicodedata.category(c) != "Mn")
    return text if kept == apart else unicodedata.normalize("NFC", kept)
