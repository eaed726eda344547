r"""MkDocs hook: formulas between dollar signs become MathML, which browsers draw alone.

Pages are read in three places: the site, the repository and the terminal. ``$...$``
is drawn by code hosts, is readable as it stands, and becomes MathML here, so that the
site loads no script and no font from anywhere. Docstrings use ``:math:``, which is
brought to the same form. A macro that is not in the tables is an error.
"""

from __future__ import annotations

import html
import re
from typing import Any

from markdown import Markdown
from markdown.extensions import Extension
from markdown.inlinepatterns import InlineProcessor
from markdown.preprocessors import Preprocessor

__all__ = ["UnknownMacroError", "on_config", "to_mathml"]

_LETTERS = {
    "alpha": "α",
    "beta": "β",
    "chi": "χ",
    "delta": "δ",
    "Delta": "Δ",
    "ell": "ℓ",
    "epsilon": "ε",
    "eta": "η",
    "gamma": "γ",
    "Gamma": "Γ",
    "infty": "∞",
    "kappa": "κ",
    "lambda": "λ",
    "mu": "μ",
    "nu": "ν",
    "phi": "φ",
    "Phi": "Φ",
    "pi": "π",
    "rho": "ρ",
    "sigma": "σ",
    "Sigma": "Σ",
    "tau": "τ",
    "theta": "θ",
    "varepsilon": "ε",
}
_OPERATORS = {
    "approx": "≈",
    "cap": "∩",
    "cdot": "·",
    "dots": "…",
    "ge": "≥",
    "in": "∈",
    "int": "∫",
    "ldots": "…",
    "le": "≤",
    "mid": "|",
    "ne": "≠",
    "notin": "∉",
    "oplus": "⊕",
    "perp": "⊥",
    "pm": "±",
    "propto": "∝",
    "setminus": "∖",
    "sim": "∼",
    "sum": "∑",
    "times": "×",
    "to": "→",
    "top": "⊤",
    "{": "{",
    "}": "}",
}
_FENCES = {"lVert": "‖", "rVert": "‖", "|": "‖"}
_NAMES = {
    *("arccos", "arg", "cos", "det", "exp", "ln", "max", "min", "sinh", "tanh"),
}
_SPACES = {",": "0.17em", ";": "0.28em", " ": "0.28em", "quad": "1em", "qquad": "2em"}
_IGNORED = {"left", "right", "Big", "big", "limits"}
_TEXTS = {"text", "mathrm", "operatorname"}
_TOKEN = re.compile(r"\\([A-Za-z]+|.)|([0-9]+(?:\.[0-9]+)?)|(\s+)|(.)", re.DOTALL)
_ROLE = re.compile(r":math:`([^`]+)`", re.DOTALL)
_OTHER_ROLE = re.compile(r":(?:class|func|meth|data|mod|exc):`~?([^`]+)`")
_DIRECTIVE = re.compile(
    r"^(?P<indent>[ ]*)\.\. math::[ ]*(?P<same>[^\n]*)\n"
    r"(?P<body>(?:(?P=indent)[ ]+\S[^\n]*\n|[ ]*\n(?=(?P=indent)[ ]+\S))*)",
    re.MULTILINE,
)


class UnknownMacroError(ValueError):
    """Raised where a formula holds what cannot be drawn."""


class _Parser:
    """Turns a small part of LaTeX into MathML by recursive descent."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.tokens = [
            (macro, number, other)
            for macro, number, space, other in _TOKEN.findall(source)
            if not space
        ]
        self.at = 0

    def row(self, end: str | None = None) -> str:
        parts: list[str] = []
        while self.at < len(self.tokens):
            if end is not None and self.tokens[self.at][2] == end:
                self.at += 1
                return f"<mrow>{''.join(parts)}</mrow>"
            parts.append(self.scripted())
        if end is not None:
            raise UnknownMacroError(f"unbalanced braces in: {self.source}")
        return "".join(parts)

    def scripted(self) -> str:
        base = self.atom()
        scripts: dict[str, str] = {}
        primes = 0
        while self.at < len(self.tokens):
            mark = self.tokens[self.at][2]
            if mark == "'":
                primes += 1
                self.at += 1
            elif mark and mark in "_^":
                self.at += 1
                scripts[mark] = self.atom()
            else:
                break
        if primes:
            prime = f"<mo>{'′' * primes}</mo>"
            raised = scripts.get("^")
            scripts["^"] = f"<mrow>{prime}{raised}</mrow>" if raised else prime
        return _with_scripts(base, scripts)

    def atom(self) -> str:
        if self.at >= len(self.tokens):
            raise UnknownMacroError(
                f"something is missing at the end of: {self.source}"
            )
        macro, number, other = self.tokens[self.at]
        self.at += 1
        if number:
            return f"<mn>{number}</mn>"
        if macro:
            return self.macro(macro)
        if other == "{":
            return self.row("}")
        if other == "'":
            return "<mo>′</mo>"
        if other.isalpha():
            return f"<mi>{other}</mi>"
        stretch = ' stretchy="false"' if other in "()[]|/" else ""
        return f"<mo{stretch}>{html.escape('−' if other == '-' else other)}</mo>"

    def macro(self, name: str) -> str:
        if name in _IGNORED:
            return self.atom()
        if name in _TEXTS:
            return self.text()
        if name == "frac":
            return f"<mfrac>{self.atom()}{self.atom()}</mfrac>"
        if name == "sqrt":
            return f"<msqrt>{self.atom()}</msqrt>"
        if name == "tilde":
            return f'<mover accent="true">{self.atom()}<mo>~</mo></mover>'
        return self.symbol(name)

    def symbol(self, name: str) -> str:
        if name in _LETTERS:
            return f"<mi>{_LETTERS[name]}</mi>"
        if name in _OPERATORS:
            return f"<mo>{_OPERATORS[name]}</mo>"
        if name in _FENCES:
            plain = 'stretchy="false" form="infix" lspace="0" rspace="0"'
            return f"<mo {plain}>{_FENCES[name]}</mo>"
        if name in _NAMES:
            return f'<mi>{name}</mi><mspace width="0.17em"/>'
        if name in _SPACES:
            return f'<mspace width="{_SPACES[name]}"/>'
        raise UnknownMacroError(f"\\{name} in: {self.source}")

    def text(self) -> str:
        """Return the words of a text macro; spaces are escaped in there."""
        letters = []
        self.at += 1
        while self.tokens[self.at][2] != "}":
            macro, number, other = self.tokens[self.at]
            letters.append(" " if macro == " " else macro or number or other)
            self.at += 1
        self.at += 1
        return f"<mtext>{html.escape(''.join(letters))}</mtext>"


def _with_scripts(base: str, scripts: dict[str, str]) -> str:
    below, above = scripts.get("_"), scripts.get("^")
    if base.startswith("<mo>∑") and below:
        tag, tail = ("munderover", above) if above else ("munder", "")
        return f"<{tag}>{base}{below}{tail}</{tag}>"
    if below and above:
        return f"<msubsup>{base}{below}{above}</msubsup>"
    if below:
        return f"<msub>{base}{below}</msub>"
    return f"<msup>{base}{above}</msup>" if above else base


def to_mathml(source: str, *, block: bool = False) -> str:
    """Return a formula as MathML, with its source for copying and screen readers."""
    # Spaces matter inside \text{...} only.
    kept = re.sub(
        r"\\text\{([^{}]*)\}",
        lambda m: "\\text{" + m[1].replace(" ", "\\ ") + "}",
        " ".join(source.split()),
    )
    rows = [_Parser(part).row() for part in kept.split("\\\\")]
    body = "".join(f"<mrow>{row}</mrow>" for row in rows)
    if len(rows) > 1:
        cells = "".join(f"<mtr><mtd>{row}</mtd></mtr>" for row in rows)
        body = f"<mtable>{cells}</mtable>"
    note = html.escape(" ".join(source.split()))
    return (
        f'<math xmlns="http://www.w3.org/1998/Math/MathML" '
        f'display="{"block" if block else "inline"}"><semantics><mrow>{body}</mrow>'
        f'<annotation encoding="application/x-tex">{note}</annotation>'
        f"</semantics></math>"
    )


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
