"""Count what comes back of dates, times and numbers that an answer writes otherwise.

    python -m benchmarks reformatting [--answers 10000] [--seed 7] [--verbose] [--dry]

A prompt holds a weekday, a month, a date in words, times, an amount, a phone number and
the number of a card. An answer repeats some of them as a person or a model would write
them: "Tue." for "Tuesday", "7am" for "7:00 am", "June 14th" for "14 June". The rules
are those of this file, and know nothing of the package. A sentence is *restored* if
the original stands in it in the same form, or as the user wrote it; *missed* if it is
as the model wrote it; and *wrong* else, such as a right month with a wrong day. A
surrogate that cannot be written so, such as the time 6:41 by its hour alone, is not
counted. Between them stand sentences that have nothing to do with the prompt, with
words such as "the Sun" and numbers of their own; one that changes is wrong by chance.
Nothing was tuned on the seed of the figures. Writes results/reformatting.json.
"""

from __future__ import annotations

import argparse
import calendar
import json
import re
from collections import Counter
from collections.abc import Callable
from typing import Any, Final

import mondegreen as mg
from benchmarks import machine
from benchmarks.measure.restoring import Writer, _nth, sent_values

PROMPTS: Final = (
    "Please move my visit from {day} to {days}, {half}. My phone is {phone}.",
    "{first} {last} paid ${amount} in {month} with card {card}; call {phone}.",
    "The train leaves at {clock} on {days}. The ticket costs ${money}.",
    "Write to {first} that we meet on {day} at {half}, not in {month}.",
    "My shift begins at {clock} and ends at {hour} each {day}. I earn ${money}.",
)
BACKGROUND: Final = (
    "Here is what I found.", "The Sun is a star.", "He sat down.", "Jan and Mar left.",
    "Doors open at 9 am.", "We close at 6:00 p.m. today.", "It takes 45 minutes.",
    "The fee is $20.00.", "Offices close on {m} {d}.", "Since {m} {y} it is free.",
    "Call (555) 010-0199 for help.", "Choose 1, 2 or 3.", "Wed is a verb. So is march.",
    "The act is of {d} {m} {y}.", "It rose by 1 200 to 4 500.", "Version 10.30 is out.",
    "Mon Dieu, Del Mar!", "See you on {s}.", "The next slot is {s} at {n}:30.",
)  # fmt: skip
MONTHS: Final = list(calendar.month_name)
Form = Callable[[str], str]

_TIME: Final = re.compile(r"(?i)(\d{1,2})(?::(\d\d))? ?([ap]m)?")
_DAYS: Final = re.compile(
    r"(?:(\d+)(?:st|nd|rd|th)?(?: of)? )?([A-Za-z]+)(?: (\d+)(?:st|nd|rd|th)?)?"
    r"(?:,? (\d{4}))?"
)


def _time(how: str) -> Form:
    """Write a time: ``h`` by its hour, ``m`` with minutes, ``d`` of 24 hours."""

    def write(text: str) -> str:
        parts = _TIME.fullmatch(text)
        if parts is None:
            return ""
        hour, minute = int(parts[1]), parts[2] or "00"
        if parts[3]:
            hour = hour % 12 + 12 * (parts[3].lower() == "pm")
        if hour > 23 or minute > "59":
            return ""
        if how == "d":
            return f"{hour:02}:{minute}"
        named = {"h": f"{(hour - 1) % 12 + 1}", "m": f"{(hour - 1) % 12 + 1}:{minute}"}
        half = how[1:].replace("x", "ap"[hour > 11]).replace("X", "AP"[hour > 11])
        return "" if how[0] == "h" and minute != "00" else named[how[0]] + half

    return write


def _date(form: str) -> Form:
    """Write a date in words."""

    def write(text: str) -> str:
        parts = _DAYS.fullmatch(text)
        if parts is None or parts[2].capitalize() not in MONTHS:
            return ""
        month, day = MONTHS.index(parts[2].capitalize()), int(parts[1] or parts[3])
        if not 1 <= day <= 31 or ("{y}" in form) != bool(parts[4]):
            return ""
        return form.format(
            M=MONTHS[month], S=MONTHS[month][:3], m=month, d=day, n=_nth(day),
            y=parts[4],
        ).replace("May.", "May")  # fmt: skip

    return write


def _groups(form: str) -> Form:
    """Write groups of digits with other signs."""

    def write(text: str) -> str:
        found = re.findall(r"\d+", text)
        if form == "()":
            return f"({found[0]}) {'-'.join(found[1:])}"
        return form.join(found)

    return write


def _short(size: int, end: str = "") -> Form:
    return lambda name: name[:size] + end


FORMS: Final[dict[str, tuple[tuple[str, tuple[Form, ...]], ...]]] = {
    "weekday": (("day", (_short(3), _short(3, "."), lambda d: d[:3].upper())),),
    "month": (("month", (_short(3), _short(3, "."))),),
    "time": tuple(
        (
            name,
            tuple(
                _time(how)
                for how in ("hxm", "h xm", "h XM", "h x.m.", "mxm", "m XM", "m x.m.",
                            "d")
            ),
        )
        for name in ("half", "hour", "clock")
    ),
    "date": (
        (
            "days",
            tuple(
                _date(form)
                for form in ("{d} {M}", "{M} {d}", "{M} {n}", "{n} of {M}", "{S} {d}",
                             "{d} {S}", "{S}. {n}", "{d} {M} {y}", "{M} {d}, {y}",
                             "{S} {d}, {y}", "{M} {n}, {y}", "{y}-{m:02}-{d:02}")
            ),
        ),
    ),
    "amount": tuple(
        (
            name,
            (
                lambda text: text.replace(",", ""),
                lambda text: text.partition(".")[0],
                lambda text: text if "." in text else f"{text}.00",
                lambda text: text.translate(str.maketrans(",.", ".,")),
                lambda text: str(float(text.replace(",", ""))),
            ),
        )
        for name in ("amount", "money")
    ),
    "phone": (
        ("phone", (_groups(""), _groups(" "), _groups("."), _groups("()"))),
    ),
    "card": (("card", (_groups(""), _groups(" "), _groups("."))),),
}  # fmt: skip
"""What a value becomes in answers. An empty text: it cannot be written so."""

FRAMES: Final = {
    "weekday": ("See you on {}.", "It is ({}).", "{} works for me.", "Next {} then!"),
    "month": ("In {} it rains.", "It is due by {} at last.", "{} is late."),
    "time": ("It begins at {}.", "{} is early.", "Come at {}, please.", "({})"),
    "date": ("It is on {}.", "{} is free.", "By {}, please.", "({})"),
    "amount": ("You owe ${}.", "It comes to {} dollars.", "${} is due."),
    "phone": ("Call {}.", "The number {} is yours.", "Tel: {}"),
    "card": ("The card is {}.", "{} was charged."),
}


class _Answers:
    """Writes prompts and answers, and counts what becomes of them."""

    def __init__(self, seed: int, *, is_verbose: bool) -> None:
        self.writer, self._is_verbose = Writer(seed), is_verbose
        self.counts: dict[str, Counter[str]] = {
            kind: Counter() for kind in (*FORMS, "nothing to do with it")
        }

    def values(self) -> dict[str, str]:
        """Write what the user writes."""
        rng = self.writer.rng
        month, day = rng.choice(MONTHS[1:]), rng.randrange(1, 29)
        year = rng.randrange(1990, 2026)
        form = rng.choice(
            ("{d} {M}", "{M} {d}", "{M} {n}", "{n} of {M}", "{d} {M} {y}",
             "{M} {d}, {y}")
        )  # fmt: skip
        hour, half = rng.randrange(1, 13), rng.choice(("am", "pm"))
        minute = rng.choice(("00", "30", f"{rng.randrange(60):02}"))
        return {
            **self.writer.values(),
            "day": rng.choice(list(calendar.day_name)),
            "month": rng.choice([m for m in MONTHS[1:] if m != "May"]),
            "days": form.format(M=month, d=day, n=_nth(day), y=year),
            "half": f"{hour}:{minute} {half}",
            "hour": f"{hour}{half}",
            "clock": f"{rng.randrange(24):02}:{minute}",
            "money": rng.choice((f"{rng.randrange(1_000, 99_000):,}", "45", "850")),
        }

    def run(self) -> None:
        """Make one conversation, and count its answer."""
        rng, values = self.writer.rng, self.values()
        prompt = rng.choice(PROMPTS)
        with mg.conversation() as c:
            sent = sent_values(prompt, values, c.hide(prompt.format(**values)))
            rows = [self._sentence(prompt, values, sent) for _ in range(8)]
            shown = c.restore("\n".join(row[1] for row in rows)).split("\n")
        for (kind, told, right), found in zip(rows, shown, strict=True):
            self._count(kind, told, right, found)

    def _sentence(
        self, prompt: str, values: dict[str, str], sent: dict[str, str]
    ) -> tuple[str, str, set[str]]:
        """A sentence as the model writes it, and what is right."""
        rng = self.writer.rng
        while rng.random() < 0.6:
            kind = rng.choice(list(FORMS))
            name, forms = rng.choice(FORMS[kind])
            form, frame = rng.choice(forms), rng.choice(FRAMES[kind])
            if f"{{{name}}}" not in prompt:
                continue
            given, old = form(sent[name]), form(values[name])
            if not given or given == sent[name]:
                continue
            right = {frame.format(old or values[name]), frame.format(values[name])}
            # An hour alone may not be enough, and cents have one digit or two.
            if kind == "amount" or (kind == "time" and not old):
                right |= {frame.format(f(values[name])) for f in forms}
            return kind, frame.format(given), right
        text = rng.choice(BACKGROUND).format(
            m=rng.choice(MONTHS[1:]),
            d=rng.randrange(1, 29),
            y=rng.randrange(1950, 2026),
            s=rng.choice(("Sat", "Sun", "Thu", "Mon")),
            n=rng.randrange(1, 13),
        )
        return "nothing to do with it", text, {text}

    def _count(self, kind: str, told: str, right: set[str], found: str) -> None:
        count = self.counts[kind]
        count["sentences"] += 1
        how = "restored" if found in right else "missed" if found == told else "wrong"
        count[how] += 1
        if self._is_verbose and how != "restored":
            print(how, kind, told, sorted(right), found, sep=" | ")


def measure(answers: int, seed: int, *, is_verbose: bool = False) -> dict[str, Any]:
    """Count sentences of answers, by what they hold."""
    found = _Answers(seed, is_verbose=is_verbose)
    for _ in range(answers):
        found.run()
    other = found.counts.pop("nothing to do with it")
    total: Counter[str] = Counter()
    for each in found.counts.values():
        total += each
    return {
        "answers": answers,
        "seed": seed,
        "forms": {kind: dict(each) for kind, each in found.counts.items()},
        "all": dict(total),
        "nothing to do with it": {
            "sentences": other["sentences"],
            "wrong by chance": other["wrong"],
        },
    }


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--answers", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--verbose", action="store_true", help="show what went wrong")
    parser.add_argument("--dry", action="store_true", help="write no results")
    given = parser.parse_args()
    found = measure(given.answers, given.seed, is_verbose=given.verbose)
    print(json.dumps(found, indent=1))
    if not given.dry:
        machine.save("reformatting", found)


if __name__ == "__main__":
    main()
