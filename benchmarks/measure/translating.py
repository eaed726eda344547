"""Count weekdays and months that come back from answers in another language.

    python -m benchmarks translating [--answers 10000] [--seed 5] [--verbose] [--dry]

A prompt holds weekdays and months. An answer is in English or in one of the languages
of the public table. Half of it repeats what the prompt said: in a sentence, at its
beginning, in capitals, in a date. The rest does not: names by public frequency, and one
sentence in eight with a day or month of its own. That one may be a surrogate by chance,
and nothing tells that it is not meant. English has these too, so the rows can be
compared. A surrogate that is no weekday and no month, such as summer, has no place in
the table: it is counted by itself. Nothing was tuned on the seed of the figures. Writes
results/translating.json.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from typing import Any, Final

import mondegreen as mg
from benchmarks import machine
from benchmarks.measure.restoring import ONCE_IN, Writer, sent_values, words
from mondegreen.prompts.calendar import read_names

PROMPTS: Final = (
    "Can we meet on {day}? If not, then in {month}.",
    "The rent is due in {month}, and {first} {last} of {place} pays on a {day}.",
    "My mother comes on {day} and stays until {month}.",
    "Move the appointment of {first} from {day} to {other_day}, or to {month}.",
)
MEANT: Final = {
    "en": (
        "It is on {day}.", "{Day}, we are open.", "{DAY}: closed", "See you {day}!",
        "It begins in {month}.", "{Month} is late.", "On {n} {month} {y}.", "{MONTH}",
    ),
    "fr": (
        "Le rendez-vous est {day}.", "{Day}, nous sommes là.", "{DAY} : fermé",
        "À {day} !", "Cela commence en {month}.", "{Month} est loin.",
        "Le {n} {month} {y}.", "{MONTH}",
    ),
    "de": (
        "Der Termin ist am {day}.", "{Day} sind wir da.", "{DAY}: geschlossen",
        "Bis {day}!", "Es beginnt im {month}.", "{Month} ist spät.",
        "Am {n}. {month} {y}.", "{MONTH}",
    ),
    "es": (
        "La cita es el {day}.", "{Day}, abrimos.", "{DAY}: cerrado",
        "¡Hasta el {day}!", "Empieza en {month}.", "{Month} es tarde.",
        "El {n} de {month} de {y}.", "{MONTH}",
    ),
    "it": (
        "La riunione è {day}.", "{Day} siamo aperti.", "{DAY}: chiuso", "A {day}!",
        "Comincia a {month}.", "{Month} è tardi.", "Il {n} {month} {y}.", "{MONTH}",
    ),
    "pt": (
        "A reunião é na {day}.", "{Day}, abrimos.", "{DAY}: fechado", "Até {day}!",
        "Começa em {month}.", "{Month} é tarde.", "Em {n} de {month} de {y}.",
        "{MONTH}",
    ),
    "nl": (
        "De afspraak is op {day}.", "{Day} zijn we open.", "{DAY}: gesloten",
        "Tot {day}!", "Het begint in {month}.", "{Month} is laat.",
        "Op {n} {month} {y}.", "{MONTH}",
    ),
}  # fmt: skip
OTHER: Final = {
    "en": "The office is closed on {x}.",
    "fr": "Le bureau est fermé ({x}).",
    "de": "Das Büro ist zu ({x}).",
    "es": "La oficina cierra ({x}).",
    "it": "L'ufficio è chiuso ({x}).",
    "pt": "O escritório fecha ({x}).",
    "nl": "Het kantoor is dicht ({x}).",
}
_ASKED: Final = ("day", "other_day", "month")
_DAYS: Final = 7


def _forms(name: str) -> dict[str, str]:
    start = name[0].upper() + name[1:]
    return {"": name, "start": start, "upper": name.upper()}


def _fill(text: str, day: str, month: str, n: str, y: str) -> str:
    days, months = _forms(day), _forms(month)
    return text.format(
        day=days[""], Day=days["start"], DAY=days["upper"],
        month=months[""], Month=months["start"], MONTH=months["upper"], n=n, y=y,
    )  # fmt: skip


class _Answers:
    """Writes prompts and answers, and counts what becomes of them."""

    def __init__(self, seed: int, *, verbose: bool) -> None:
        self.writer, self.names = Writer(seed), read_names()
        self.english = self.names["en"]
        self.counts: dict[str, Counter[str]] = {each: Counter() for each in MEANT}
        self.surrogates: Counter[str] = Counter()
        self._verbose = verbose

    def run(self, language: str) -> None:
        """Make one conversation, and count its answer."""
        rng = self.writer.rng
        prompt = rng.choice(PROMPTS)
        days = rng.sample(self.english[:_DAYS], 2)
        # "May" is an ordinary word: it passes.
        months = [each for each in self.english[_DAYS:] if each != "May"]
        values = {**self.writer.values(), "day": days[0], "other_day": days[1]}
        values["month"] = rng.choice(months)
        with mg.conversation() as c:
            hidden = c.hide(prompt.format(**values))
            sent = sent_values(prompt, values, hidden)
            asked = [each for each in _ASKED if f"{{{each}}}" in prompt]
            for each in asked:
                self.surrogates["all"] += 1
                self.surrogates["of the table"] += sent[each] in self.english
            rows = [self._sentence(language, values, sent, asked) for _ in range(8)]
            shown = c.restore("\n\n".join(row[0] for row in rows)).split("\n\n")
        for (given, *rights, is_meant), found in zip(rows, shown, strict=True):
            self._count(language, given, rights, found, is_meant=is_meant)

    def _sentence(
        self,
        language: str,
        values: dict[str, str],
        sent: dict[str, str],
        asked: list[str],
    ) -> tuple[str, str, str, bool]:
        """A sentence as the model writes it, as it is right, as the user wrote it."""
        rng, table = self.writer.rng, self.names[language]
        known = [each for each in asked if sent[each] in self.english]
        if not known or rng.random() < 0.5:
            text = self._background(language)
            return text, text, text, False
        name = rng.choice(known)
        kind = name.removeprefix("other_")
        fits = [each for each in MEANT[language] if f"{{{kind}" in each.lower()]
        text = rng.choice(fits)
        n, y = str(rng.randrange(1, 29)), str(rng.randrange(1990, 2026))

        def fill(value: str) -> str:
            return _fill(text, value, value, n, y)

        new, old = (self.english.index(each[name]) for each in (sent, values))
        return fill(table[new]), fill(table[old]), text, True

    def _background(self, language: str) -> str:
        """A sentence without a word of the prompt; one in so many holds a date."""
        if self.writer.rng.randrange(ONCE_IN) == 0:
            name = self.writer.rng.choice(self.names[language])
            return OTHER[language].format(x=name)
        while True:
            text = self.writer.background()
            if not any(name in text for name in self.english):
                return text

    def _count(
        self,
        language: str,
        given: str,
        rights: list[str],
        found: str,
        *,
        is_meant: bool,
    ) -> None:
        counts = self.counts[language]
        right = rights[0]
        counts["sentences"] += 1
        counts["meant"] += is_meant and given != right
        counts["restored"] += found != given
        if is_meant and given != right:
            counts["missed"] += found == given
            is_right = found == right
            is_as_written = not is_right and self._is_as_written(found, right)
            counts["as the user wrote it"] += is_as_written
            is_wrong = found not in (given, right) and not is_as_written
        else:
            is_wrong = found != right
            by_chance = (
                is_wrong
                and not is_meant
                and given.startswith(OTHER[language].partition("{")[0])
            )
            counts["wrong by chance"] += by_chance
        counts["wrong"] += is_wrong
        if self._verbose and (is_wrong or (is_meant and found == given != right)):
            print(language, "|", given, "|", right, "|", found)

    def _is_as_written(self, found: str, right: str) -> bool:
        """Whether the two differ in a name alone, which is English in the first."""
        pairs = list(zip(words(found), words(right), strict=False))
        differing = [one for one, other in pairs if one != other]
        return bool(differing) and differing[0].capitalize() in self.english


def measure(answers: int, seed: int, *, verbose: bool = False) -> dict[str, Any]:
    """Count in each language."""
    made = _Answers(seed, verbose=verbose)
    languages = list(MEANT)
    for number in range(answers):
        made.run(languages[number % len(languages)])
    foreign = sum(
        (each for name, each in made.counts.items() if name != "en"), Counter[str]()
    )
    rows = {"all but en": foreign, **made.counts}
    return {
        "answers": answers,
        "surrogates": dict(made.surrogates),
        "languages": {
            name: {
                **each,
                "wrong of restored": each["wrong"] / each["restored"],
                "missed of meant": each["missed"] / each["meant"],
            }
            for name, each in rows.items()
        },
    }


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--answers", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("--verbose", action="store_true", help="show what went wrong")
    parser.add_argument("--dry", action="store_true", help="write no results")
    given = parser.parse_args()
    found = {
        "seed": given.seed,
        **measure(given.answers, given.seed, verbose=given.verbose),
    }
    print(json.dumps(found, indent=1))
    if not given.dry:
        machine.save("translating", found)


if __name__ == "__main__":
    main()
