"""What the language model without a network answers: by rule, from what it is asked.

The last text of a request is a task, or a task, a blank line, and a text that it is
about. A task without a text is about the last text that came. No rule depends on
*which* name, number or address a text holds, only on its form and place. So the answer
to a text with other names is the answer to that text, with those names.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final

import regex

from benchmarks.measure.gateway.model_forms import Message, texts_of

_RESULTS: Final = ("tool", "function_call_output")
_SENTENCE: Final = regex.compile(r"(?<=[.!?])\s+")
_WORD: Final = regex.compile(r"(?<!\w)[^\W\d_]+(?!\w)")
_LABEL: Final = regex.compile(r"(?m)^[ -]*([^\W\d][^:\n]{0,24}):[ \t]+(\S.*)$")
_FORMS: Final = {
    "mail": r"[\w.'+-]+@[\w-]+(?:\.[\w-]+)+",
    "phone": r"(?<![\d-])(?:\+\d{1,2}[ -])?\(?\d{3}\)?[-. ]\d{3}[-. ]\d{4}(?![\d-])",
    "amount": r"\$\d[\d,]*(?:\.\d\d)?",
    "date": r"\b\d{1,2}/\d{1,2}/\d{4}\b",
    "name": r"\b\p{Lu}[\w'’-]+(?: \p{Lu}[\w'’.-]*)*(?: \p{Lu}[\w'’-]+)",
}
_PLACEHOLDERS: Final = {
    "mail": "EMAIL_ADDRESS",
    "phone": "PHONE_NUMBER",
    "date": "DATE_TIME",
    "name": "PERSON",
}
"""Kinds of the placeholders of Presidio, which a model understands as well."""

_FIELDS: Final = {
    kind: regex.compile(
        rf"<{_PLACEHOLDERS[kind]}_\d+>|{form}" if kind in _PLACEHOLDERS else form
    )
    for kind, form in _FORMS.items()
}
_GERMAN: Final = {
    "the": "die", "and": "und", "is": "ist", "are": "sind", "was": "war", "my": "mein",
    "name": "Name", "live": "wohne", "lives": "wohnt", "in": "in", "on": "am",
    "at": "bei", "to": "an", "for": "für", "of": "von", "with": "mit", "from": "aus",
    "old": "alt", "years": "Jahre", "paid": "bezahlte", "write": "schreiben",
    "please": "bitte", "draft": "entwerfen", "letter": "Brief", "phone": "Telefon",
    "case": "Fall", "born": "geboren", "owes": "schuldet", "account": "Konto",
    "summary": "Zusammenfassung", "met": "traf", "they": "sie", "have": "haben",
    "children": "Kinder", "order": "Bestellung", "due": "fällig", "dollars": "Dollar",
    "what": "was", "card": "Karte", "number": "Nummer", "limit": "Grenze",
    "send": "senden",
    "report": "Bericht", "address": "Adresse", "team": "Gruppe", "user": "Nutzer",
    "who": "wer", "where": "wo", "i": "ich", "you": "Sie", "we": "wir", "not": "nicht",
    "reference": "Zeichen", "balance": "Saldo", "customer": "Kunde", "since": "seit",
    "january": "Januar", "february": "Februar", "march": "März", "may": "Mai",
    "june": "Juni", "july": "Juli", "october": "Oktober", "december": "Dezember",
}  # fmt: skip
"""Words with a translation. All others stay as they are, as names do."""


def answer(body: dict[str, Any]) -> Message:
    """Answer a request: a message, with ``content`` or ``tool_calls``."""
    rows = list(texts_of(body))
    role, last = rows[-1]
    if role in _RESULTS:
        return {"content": f"I looked it up. {last}"}
    task, _, text = last.partition("\n\n")
    if not text:
        text = _last_text([each for r, each in rows[:-1] if r != "assistant"])
    word = (_WORD.findall(task.lower()) or ["repeat"])[0]
    if word == "look" and body.get("tools"):
        return {"tool_calls": [_call(body["tools"][0], text)]}
    if word == "say":
        said = [each for r, each in rows if r == "assistant" and each]
        text = said[-1] if said else text
        return {"content": text.upper() if "capitals" in task else text}
    if word == "what":
        spoken = [each for r, each in rows if r != "assistant"]
        return {"content": _tell(task, "\n".join(spoken[:-1]))}
    return {"content": _RULES.get(word, _repeat)(text)}


def _last_text(earlier: list[str]) -> str:
    """The last text that a task was about, or that a tool returned."""
    for each in reversed(earlier):
        task, _, text = each.partition("\n\n")
        if text or _SENTENCE.search(task):
            return text or task
    return ""


def _repeat(text: str) -> str:
    return text


def _translate(text: str) -> str:
    def word(found: Any) -> str:
        german = _GERMAN.get(found[0].lower())
        if german is None:
            return str(found[0])
        return german.capitalize() if found[0][0].isupper() else german

    return str(_WORD.sub(word, text))


def sentences(text: str) -> list[str]:
    """Cut a text behind full stops, question marks and exclamation marks."""
    return [each for each in _SENTENCE.split(text.strip()) if each]


def _summarize(text: str) -> str:
    found = sentences(text)
    picked = found if len(found) < 3 else [found[0], found[-1]]
    return "In short: " + " ".join(picked)


def _list(text: str) -> str:
    return "\n".join(f"{i}. {each}" for i, each in enumerate(sentences(text), 1))


def fields(text: str) -> dict[str, str]:
    """The first name, e-mail address, phone number, amount and date of a text."""
    found = {kind: form.search(text) for kind, form in _FIELDS.items()}
    return {kind: str(each[0]) for kind, each in found.items() if each}


def _draft(text: str) -> str:
    name = fields(text).get("name", "customer")
    first = (sentences(text) or [""])[0]
    return (
        f"Dear {name},\n\nabout {name}'s request: {first}\n\n"
        f"RE: {name.upper()}\n\nKind regards"
    )


def _extract(text: str) -> str:
    """Write fields as JSON: an amount is a number, and labels are keys."""
    found: dict[str, Any] = dict(fields(text))
    if "amount" in found:
        found["amount"] = float(found["amount"].strip("$").replace(",", ""))
    found["labels"] = {name: value for name, value in _LABEL.findall(text)}
    return json.dumps(found, ensure_ascii=False)


def _tell(task: str, spoken: str) -> str:
    """Answer a question for a field by what was said last."""
    for kind, form in _FIELDS.items():
        if kind in task.lower():
            found = [str(each[0]) for each in form.finditer(spoken)]
            return f"The {kind} is {found[-1]}." if found else f"There is no {kind}."
    return "I do not know."


def _call(tool: dict[str, Any], text: str) -> dict[str, Any]:
    """Call a tool with the fields of a text that it has parameters for."""
    function = tool.get("function", tool)
    wanted = function["parameters"]["properties"]
    given = {k: v for k, v in fields(text).items() if k in wanted}
    arguments = json.dumps(given, ensure_ascii=False)
    named = {"name": function["name"], "arguments": arguments}
    return {"id": "call_0", "type": "function", "function": named}


_RULES: Final[dict[str, Callable[[str], str]]] = {
    "repeat": _repeat,
    "translate": _translate,
    "summarize": _summarize,
    "list": _list,
    "draft": _draft,
    "extract": _extract,
}
