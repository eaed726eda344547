r"""MkDocs hook: formulas between dollar signs become MathML, which browsers draw alone.

Pages are read in three places: the site, the repository and the terminal. ``$...$``
is drawn by code hosts, is readable as it stands, and becomes MathML here, so that the
site loads no script and no font from anywhere. Docstrings use ``:math:``, which is
brought to the same form. A macro that is unknown is an error.
"""

from __future__ import annotations

import html
import re
from typing import Any

from latex2mathml.converter import convert
from markdown import Markdown
from markdown.extensions import Extension
from markdown.inlinepatterns import InlineProcessor
from markdown.preprocessors import Preprocessor

__all__ = ["UnknownMacroError", "on_config", "to_mathml"]

# What the library lacks, draws without room around it, or draws as another letter.
_WRITTEN = {
    "arg": r"\operatorname{arg}",
    "epsilon": r"\varepsilon",
    "ln": r"\operatorname{ln}",
}
# A prime is small and high where its font is not made for formulas, and vanishes in an
# exponent. So it stands beside its letter, not above it.
_PRIME = re.compile(r"<msup>(<mi>[^<]*</mi>)<mi>&#x02032;</mi></msup>")
_PRIME_WITH_INDEX = re.compile(
    r"<msubsup>(<mi>[^<]*</mi>)(<m[in]>[^<]*</m[in]>)<mi>&#x02032;</mi></msubsup>"
)
_BESIDE = r'<mrow>\1<mo lspace="0" rspace="0">&#x02032;</mo></mrow>'
_MACRO = re.compile(r"\\([A-Za-z]+)")
_ROLE = re.compile(r":math:`([^`]+)`", re.DOTALL)
_OTHER_ROLE = re.compile(r":(?:class|func|meth|data|mod|exc):`~?([^`]+)`")
_DIRECTIVE = re.compile(
    r"^(?P<indent>[ ]*)\.\. math::[ ]*(?P<same>[^\n]*)\n"
    r"(?P<body>(?:(?P=indent)[ ]+\S[^\n]*\n|[ ]*\n(?=(?P=indent)[ ]+\S))*)",
    re.MULTILINE,
)


class UnknownMacroError(ValueError):
    """Raised where a formula holds what cannot be drawn."""


def to_mathml(source: str, *, block: bool = False) -> str:
    """Return a formula as MathML, with its source for copying and screen readers."""
    source = " ".join(source.split())
    written = _MACRO.sub(lambda m: _WRITTEN.get(m[1], m[0]), source)
    drawn = convert(written, display="block" if block else "inline")
    drawn = _PRIME.sub(_BESIDE, drawn)
    drawn = _PRIME_WITH_INDEX.sub(rf"<msub>{_BESIDE}\2</msub>", drawn)
    # The library draws the name of a macro it does not know, and closes what is open.
    braces = re.sub(r"\\.", "", source)
    if "\\" in drawn or braces.count("{") != braces.count("}"):
        raise UnknownMacroError(f"an unknown macro, or unbalanced braces, in: {source}")
    tag, _, body = drawn.removesuffix("</math>").partition(">")
    note = (
        f'<annotation encoding="application/x-tex">{html.escape(source)}</annotation>'
    )
    return f"{tag}><semantics>{body}{note}</semantics></math>"


class _Blocks(Preprocessor):
    """Draws ``$$...$$`` and ``.. math::`` before paragraphs are found."""

    def run(self, lines: list[str]) -> list[str]:
        text = "\n".join([*lines, ""])
        text = _DIRECTIVE.sub(_directive, text)
        text = _ROLE.sub(lambda m: f"${' '.join(m[1].split())}$", text)
        text = _OTHER_ROLE.sub(lambda m: f"`{m[1].rpartition('.')[2]}`", text)
        text = re.sub(r"``([^`\n]+)``", r"`\1`", text)
        text = re.sub(r"^\.\. \[(\d+)\]", r"\1.", text, flags=re.MULTILINE)
        text = re.sub(r"^::$", "", text, flags=re.MULTILINE)  # a literal block follows
        # Fenced code has been put aside already; code spans hold no double signs.
        text = re.sub(
            r"\$\$(.+?)\$\$",
            lambda m: self.md.htmlStash.store(to_mathml(m[1], block=True)),
            text,
            flags=re.DOTALL,
        )
        return text.split("\n")


def _directive(match: re.Match[str]) -> str:
    body = " ".join([match["same"], *match["body"].split("\n")])
    return f"\n{match['indent']}$${body.strip()}$$\n\n"


class _Inline(InlineProcessor):
    """Draws ``$...$``; a sum of money has a digit behind the sign and no second one."""

    def handleMatch(self, m: re.Match[str], data: str) -> tuple[str, int, int]:
        stash = self.md.htmlStash.store(to_mathml(m[1]))
        return stash, m.start(0), m.end(0)


class MathExtension(Extension):
    """Adds both to Markdown; docstrings go through the same instance."""

    def extendMarkdown(self, md: Markdown) -> None:
        """Register after fenced code has been taken out, before emphasis."""
        md.preprocessors.register(_Blocks(md), "math-blocks", 24)
        md.inlinePatterns.register(
            _Inline(r"(?<![\\$])\$(?!\s)([^$\n]+?(?:\n[^$\n]+?)*?)(?<!\s)\$(?!\d)", md),
            "math-inline",
            186,
        )


def on_config(config: Any) -> Any:
    """Add the extension; MkDocs calls this."""
    config["markdown_extensions"].append(MathExtension())
    return config
