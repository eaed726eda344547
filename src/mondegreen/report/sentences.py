"""Sample sentences under several settings, with the words that stayed marked."""

from __future__ import annotations

import unicodedata
from itertools import groupby
from typing import Final

from mondegreen.report.chart import exactly
from mondegreen.report.markup import escaped, word
from mondegreen.report.study import SampleRelease, Study, curve_name

_OPEN: Final = 1
"""Sentences that are shown at once; the others unfold. A page has to be scanned."""


def sentences(study: Study) -> str:
    """Return the section of the sample sentences; empty if there are none."""
    if not study.sentences or not study.releases:
        return ""
    parts = [_sentence(study, place) for place in range(len(study.sentences))]
    return (
        '<section id="sentences"><h2>What becomes of sentences</h2>'
        "<p>One draw for each setting; another draw gives other words. "
        "<mark>Marked</mark> words came out as they went in.</p>"
        f"{''.join(parts)}</section>"
    )


def _sentence(study: Study, place: int) -> str:
    """Return one sentence and what each setting made of it."""
    original = study.sentences[place]
    known = {
        (curve_name(each), each.epsilon): each  # a setting may be measured and chosen
        for each in study.releases
        if place < len(each.texts)
    }
    releases = list(known.values())
    releases.sort(key=lambda release: release.epsilon)
    order = list(dict.fromkeys(map(curve_name, study.releases)))
    releases.sort(key=lambda release: order.index(curve_name(release)))
    bodies = []
    for name, group in groupby(releases, curve_name):
        rows = list(group)
        cells = []
        for row, release in enumerate(rows):
            first = ""
            if row == 0:
                first = (
                    f'<th scope="rowgroup" class="curve" rowspan="{len(rows)}">'
                    f"{escaped(name)}</th>"
                )
            cells.append(_row(study, release, original, place, first))
        bodies.append(f"<tbody>{''.join(cells)}</tbody>")
    shown = (
        f"<blockquote>{word(original)}</blockquote>"
        '<div class="scroll text" role="region" tabindex="0" '
        f'aria-label="Sentence {place + 1} under every setting"><table class="stack">'
        f"<caption>Sentence {place + 1} under every setting</caption><thead><tr>"
        '<th scope="col">mechanism</th><th scope="col">ε</th>'
        f'<th scope="col">release</th></tr></thead>{"".join(bodies)}</table></div>'
    )
    is_open = " open" if place < _OPEN else ""
    return (
        f'<details class="group"{is_open}><summary>Sentence {place + 1}</summary>'
        f'<div class="card">{shown}</div></details>'
    )


def _row(
    study: Study, release: SampleRelease, original: str, place: int, first: str
) -> str:
    chosen = study.is_chosen(release)
    pick = '<span class="pick">chosen</span>' if chosen else ""
    kind = ' class="chosen"' if chosen else ""
    return (
        f"<tr{kind}>{first}"
        f'<th scope="row"><span class="only-narrow">ε = </span>'
        f"{exactly(release.epsilon)}{pick}</th>"
        f"<td>{marked(original, release.texts[place])}</td></tr>"
    )


def marked(original: str, release: str) -> str:
    """Return a release as markup, its unchanged words marked.

    Words are compared place by place, without case and punctuation. Where the two have
    unequal numbers of words, which word is which is not known, and none is marked.

    Examples
    --------
    >>> marked("I met Ann.", "i saw ann.")
    '<bdi><mark>i</mark> saw <mark>ann.</mark></bdi>'
    """
    before, after = original.split(), release.split()
    if len(before) != len(after):
        return word(release)
    shown = (
        f"<mark>{escaped(new)}</mark>" if _bare(old) == _bare(new) else escaped(new)
        for old, new in zip(before, after, strict=True)
    )
    return f"<bdi>{' '.join(shown)}</bdi>"


def _bare(text: str) -> str:
    """Return a word without case and punctuation; all of it, if nothing is left."""
    kept = "".join(char for char in text if unicodedata.category(char)[0] not in "PSZC")
    return (kept or text).casefold()
