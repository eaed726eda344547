"""One self-contained page: no script, and nothing that is loaded from anywhere."""

from __future__ import annotations

import base64
import json
from importlib import resources
from pathlib import Path

from mondegreen.report.answer import answer
from mondegreen.report.charts import AGAINST
from mondegreen.report.figures import save
from mondegreen.report.markup import escaped, to_bytes
from mondegreen.report.palette import DARK, INK, LIGHT
from mondegreen.report.sections import (
    all_settings,
    curves,
    limits,
    reading,
    space_section,
    tradeoff,
    words,
)
from mondegreen.report.sentences import sentences
from mondegreen.report.study import Study
from mondegreen.report.svg.element import STYLE

# What the page may load: nothing. Its own style and links to its own data remain.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'"


def write_report(study: Study, path: str | Path, *, force: bool = False) -> None:
    """Write the report of a study: one HTML file that needs nothing else.

    Parameters
    ----------
    study : Study
    path : path
        The file; it appears whole or not at all.
    force : bool
        Whether a file that exists may be replaced.

    Raises
    ------
    DataError
        If it exists and may not be replaced, or cannot be written.
    """
    save(path, to_bytes(report_html(study)), force=force)


def report_html(study: Study) -> str:
    """Return the report of a study as HTML.

    Words, names and sentences are escaped, whatever they hold.
    """
    parts = {
        "answer": ("The choice", answer(study)),
        "frontier": ("Cost of privacy", tradeoff(study)),
        "sentences": ("Sentences", sentences(study)),
        "reading": ("How to read", reading(study)),
        "curves": ("Curves", curves(study)),
        "words": ("Words", words(study)),
        "all": ("All settings", all_settings(study)),
        "distances": ("Distances", space_section(study)),
        "limits": ("Limits", limits(study)),
    }
    shown = {key: part for key, part in parts.items() if part[1]}
    links = "".join(
        f'<li><a href="#{key}">{name}</a></li>' for key, (name, _) in shown.items()
    )
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en"><head><meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
            '<meta name="viewport" content="width=device-width,initial-scale=1">',
            '<meta name="color-scheme" content="light dark">',
            '<meta name="referrer" content="no-referrer">',
            f"<title>{escaped(_title(study))}</title>",
            f"<style>{_style()}</style></head><body>",
            '<a class="skip" href="#content">To the content</a><div class="wrap">',
            f'<header class="top">{_head(study)}'
            f'<nav aria-label="Parts of the page"><ol>{links}</ol></nav></header>',
            '<main id="content">',
            *(body for _, body in shown.values()),
            "</main>",
            _foot(study),
            "</div></body></html>\n",
        ]
    )


def _title(study: Study) -> str:
    return f"Choosing epsilon on {study.space}"


def _head(study: Study) -> str:
    curves_of = study.curves()
    settings = sum(map(len, curves_of.values()))
    said = (
        f"{_count(settings, 'setting')} of {_count(len(curves_of), 'mechanism')}, on "
        f"{_count(study.vocab_size, 'word')}."
    )
    if study.sample is not None:
        said += (
            f" Word frequencies from {study.sample}: "
            f"{_count(study.sample_texts, 'text')}, "
            f"{_count(study.sample_words, 'word')}."
        )
    return (
        f'<p class="brand">mondegreen</p><h1>{escaped(_title(study))}</h1>'
        f'<p class="lead">{escaped(said)}</p>'
    )


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _foot(study: Study) -> str:
    data = json.dumps(study.to_dict(), ensure_ascii=True).encode()
    link = base64.b64encode(data).decode()
    made = f"mondegreen {study.version}".strip()
    seed = "" if study.seed is None else f", seed {study.seed}"
    return (
        f"<footer><p>Made with {escaped(made)}{seed}. Space {escaped(study.space)}, "
        f"SHA-256 {escaped(study.space_digest)}. S<sub>w</sub> leaves out "
        f"{study.eta * 100:g}% of the probability.</p>"
        f'<p class="screen"><a download="study.json" '
        f'href="data:application/json;base64,{link}">All numbers as JSON</a></p>'
        "</footer>"
    )


def _style() -> str:
    """Return the style sheet: colours for light, dark and paper, and the rest."""
    light, dark = _colours(0), _colours(1)
    hidden = "".join(
        f"main:has(#against-{other}:checked) .by-{against}{{display:none}}"
        for against in AGAINST
        for other in AGAINST
        if other != against
    )
    css = resources.files("mondegreen.report").joinpath("report.css").read_text("utf-8")
    return (
        f":root{{color-scheme:light dark;{light}}}"
        f"@media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}"
        f"\n{STYLE}\n{css}{hidden}"
    )


def _colours(place: int) -> str:
    hues = (LIGHT, DARK)[place]
    named = {f"c{number}": hue for number, hue in enumerate(hues)}
    named |= {name: pair[place] for name, pair in INK.items()}
    return "".join(f"--{name}:{hue};" for name, hue in named.items())
