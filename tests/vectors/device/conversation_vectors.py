"""Conversations that the device client must hide and restore as this package does.

``python tests/vectors/device/conversation_vectors.py`` writes the file beside it, and
``--check`` compares it with what this Python gives.
"""

from __future__ import annotations

import gzip
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from mondegreen.policy.scope import Surrogates
from mondegreen.prompts.calendar import read_names
from mondegreen.prompts.conversation import Conversation
from mondegreen.text.tokenizer import tokenize
from vectors.device import policy_texts
from vectors.device.device_vectors import as_utf16

PATH = Path(__file__).with_name("conversations.json.gz")
COUNT, TURNS, JOINED_COUNT, RANGES_COUNT, FORMS_COUNT = 80, 4, 10, 6, 8
ECHOES_COUNT = TAGS_COUNT = 6
LINKS = 12
"""Answers of each conversation that are made of parts of links."""
POLICIES = ("names", "sensitive")
PUBLIC = "You serve Oslo and Ann, also on a jeudi or on a sábado."
PROMPTS = (
    "My name is Anna Okonkwo. I live in Malacca and I am 47 years old.",
    "Boris Meyer of Siemens paid $12,345.67 on 12/03/1985. Write to b.meyer@x.example.",
    "Draft a letter to Mr. Okonkwo in New York, phone 020-7946-0958, case KX4711.",
    "Anna met Boris in Oslo at 10:30. They have 3 cats and 1200 parts, born 3/4/2001.",
    "On Monday, TUESDAY or sunday; in March, July or october, not on Friday or Easter. "
    "My name is Julio Freitag and I march.",
    "Account 4711-0815-2342-9999, due 31/12/1999; see https://intra.example/anna?x=1.",
    "On 2024-05-12 at 9:30, 10:30:15 or 11:15pm we met José in Zürich, as on "
    "12.05.2024 and 5/6/07; it&#39;s 31-12-1999 &amp; 10:30.",
    # Some of these years go out as other ways to write some of these amounts.
    f"{' '.join(f'${amount:,}.50' for amount in range(1940, 2000))} and then "
    f"{' '.join(str(year) for year in range(1940, 2000))}.",
)
JOINED = (
    "Ask @anna_s and @OkonkwoBank at okonkwo.com, or boris.meyer, or okonkwo-bank.de. "
    "Thanks.Okonkwo left for 東okonkwo.com and //okonkwo.org or www.okonkwo.de. "
    "See okonkwo-bank.example:8080/a, boris_x@okonkwo-bank.de and 47-anna.example."
)
"""Words that a sign joins to others."""
RANGES = (
    "Open 10:30-11:45,9:00-17:30 or 9:30am-5:15pm, 12/05/2024-13/05/2024,10:30-11; "
    "call 555-10:30 or 44 20 7946 0958,12/05/2024 at KX4711-8:15,9:15,10:15. "
    "Pay $5-10:30:15-10:45:15 to 10:30-Okonkwo-11:45 at x.okonkwo.com/10:30-11:45."
)
"""Dates and times that a sign joins to other numbers."""
FORMS = (
    "See you Tuesday, Thu, on 14 June 2024 or the 3rd of August at 7:00 am, 10pm or "
    "19:00; in Sept. 5, March 12th, may 9, 2021 and Oct. Come 7:30pm, 0:15 or 12 PM. "
    "Pay $1,200, $45, $850.5 or 70000; call +44 (415) 555-0142, 415.555.0142, "
    "4155550199 or 555-0142, card 4111-1111-1111-1111 or 5500000000000004."
)
"""What answers write in other forms."""
TAGS = (
    "<div>Okonkwo <b>Anna</b> <p class=x>B</p><br/></div>, <h2\n>Will</h2>, <TD>5</TD> "
    "<li>Li</li> b < b, <Okonkwo> and <Anna@mail.example> <div:x> [Anna] [b]: <b>."
)
"""Tags, and what only looks like them."""
ECHOES = (
    "See https://shop.example/item?id=7 10 20 30 pieces, http://x.de/anna?x=1 0044 76."
    "\nPay $4,711.50 12 times; S 10.MarchI, Yorkdon't, at a.io/b, shop.example/7 👋5 "
    "or localhost:8080 10-12 and (okonkwo.com66,234 10), //23May; [7](x?Anna 12) 5."
)
"""What comes back only with what is beside it."""
RANGE = re.compile(r"([0-9]+[:/][0-9:/]*(?:am|pm)?)[-,][0-9][-0-9:/,apm]*[0-9pm]")
LINK_PARTS = (
    "evil.example", "EVIL.COM", "evil.com.", "a-b.co.uk", "xn--bcher-kva.example",
    "bücher.example", "evil。com", "evil\\.com", "evil&#46;com", "evil&#x2E;com",
    "192.168.0.1", "10.0.0.1", "1.5", "0x7f.1", "localhost", "LocalHost", "intranet",
    "[::1]", "[fe80::1%eth0]", "[::ffff:10.0.0.1]", "[1]", "and", "p.m.", "e.g.",
    ":80", ":443", ":000080", ":", ":x", "/", "//", "/?q=", "?", "#", "\\", "&sol;",
    "&#58;", "&", "=", "-", "_", "+", "%20", ".", "..", ".com", ".example", "@",
    "anna@", "anna:x@", "https://", "HTTP:", "ftp://", "www.", " ", " ", " ",
    "\n", ", ", "(", ")", "[x](", "![](<", ">", '"', "'", "`", "<a href=", "[a]: ",
    "![x][", "[", "]", "]", "[^", "\\[", "\\]", "]: ", "\n\n", "\n \t\r\n", "\n> ",
    "\r", "<", "</", "\n[a\\]b]:", "\n[x\ny\\]]:",
    "\n> <img alt=x\n> src=", "\u00a0", "\x0b", "\x0c", "\u2003", "\ufeff", "\x02", "`",
    "[x]: ", "\n[x]: <", "\n:  [x]:", "\na. [x]:", "\n[^1]: ", "](", "] (<", "(<", "{:",
    "){", "}", "\\(", ")", "ſ", "localhoſt", "\n<a href=", '="', "='", "😀𝐀",
    '{"', '": "', r"\n", '\\"', r"\u003c", r"\u", r"\u20", "1", r"\/", r"\\",
    "東", "·", "é", "’s", "—", "\u00ad", "\u200b", "\u3000", "😀", "x" * 63, "x" * 62,
)  # fmt: skip
"""Parts of links, of hosts without a scheme, and of what only looks like these."""
LINK_FORMS = (
    '> <img alt=x\n> src="//evil.example/?q= @">', "- > a\nb <img alt=x\n> src=@>",
    "![x](<https://evil.example/\n) @>)", "[x](<a ![y](//evil.example/(>)@)",
    "![x](\u00a0<@ @>)", "![x](\x0b<@ @>)", "![x](\ufeff<@ @>)", "[x]:\u00a0\n<@ @>",
    "![x]\x02(< @>)", "<\x1aimg src=@>", "![x](y`)`@ @)", "![x](<y`>`) @)",
    "[x]: <y>@ @", "[x]: y @ @", "[x]:\n  y @", "[^1]: @ //evil.example/?q= @",
    "[^1]: a]:@", "[x]: a]:@", ":   [x]: @", "\ufeff[x]: @", "a. [x]: @", "ab. [x]: @",
    "![x] (< y @>)", "![x](a.png){:@} @", "![x][y]{@ } @", "f() {@} {@}", "{: @ } @",
    "![\\[x] @](y) @", "![x](a\\() @) @", "\\[x@\\] \\(@", "localho\u017ft:80/@",
    "http\u017f:@", "<\u017fcript>@", "<@ x>", "<@>", "</@ x>", '<img src="@\n.x/a">',
    "![x](@'.x/a) ![x](<@>)", "[x](@) [x](@@)", "[x]: @'.x/a",
    "@'.x/a, `@`.x, @!!!!!!!!!x",
    '<a href="@"> <a href=\'@\'> <a href="@\'>',
    "//x/?q=](@) [//x](@)", "[x]: y [y]: <@>", '<a b="//x/? ](@)"> [x](@)',
    '<a b="//x/?\n[a]: @\n"> @', '![x](q<a/href="@") @', "<style>a ](@) @</style> @",
    "@:\U0001d400 @.\U0001d400 @\U0001d400 @'\U0001d400",
    "[x](a b ![y](< y)) @>)", "<style></script>@</style> @", "[x]: y\\\n@\n@",
    "[^1]: y\\\n@\n@", "\x0c\u2003[x]: @ @",
    r'{"a": "\u003cimg src=@\u003e @", "b": "\n[x]: @\n@", "c": "\u005B@\u005d @"}',
    r'{"a": "@\u002ex @\u2019s @\u20ac @\u00e9.x @:\/\/x @\n @\\ \b@", "[x]: @": ""}',
    r'"<i a=\"b>\" c=@> \ud83d\ude00 @ \u00e9@ \q \u12 @ \u003c', r"\beta \u003ci @",
    r'{"a": "\n@, \t@\\n@ \\\r@\b@ \x@ \n@"}', r'{"a": "\n@.x \/@ \n\f@ \nn@ \r@"}',
    "- [ ] [x]: @", "[x]  > [y]: @ @", '<x>"[x]: @" | "[y]: @" a="[z]: @"',
    r'so "\u003ci @" \u003e @',
    "<p>@</p><table>@ @", "<TextArea\n>@", "<img/>@", "<forms>@</forms> <b>@ <form",
    r"@\.x @\-y.x @\_x @\. @\@x @\+", "@&#46;x", "@&#46x @&#460; @&#x2ex",
    "@-y&period;x @&periodx", "@&commat; @&amp; @&#0000000000046;", "@&#x2", "@&",
    r'x: [ ] "\u003c', r'{"a" : "@\u', "@\\", r'@\u', r'@\u2', r'@\u20', r'"\u003',
)  # fmt: skip
"""Links that strangers wrote to get an original, and what is alike and harmless."""
YOUNG = "\u1c89\u1c8a\U0001e030"
MONTHS = (
    "January February March April May June July August September October November "
    "December"
).split()


def texts() -> list[str]:
    """Return what people write, and anything that both languages can hold.

    Characters that are younger than Unicode 14 have a case in some engines alone.
    """
    return [
        text
        for text in policy_texts.texts(COUNT * TURNS)
        if as_utf16(text) == text
        and not any(0xD800 <= ord(c) < 0xE000 or c in YOUNG for c in text)
    ]


def answers(sent: str, rng: np.random.Generator) -> Iterator[str]:
    """Write what a model could make of a hidden text."""
    yield sent
    yield sent.upper() if sent.isascii() else sent
    yield sent.lower() if sent.isascii() else sent
    words = tokenize([sent]).words()
    picked = [words[int(i)] for i in rng.integers(len(words), size=6)] if words else []
    ends = ["s", "es", "'s", "'", ".", ",", "!", "-", "@x.org", "://", "n't", "東"]
    yield " ".join(w + ends[int(rng.integers(len(ends)))] for w in picked)
    yield "".join(f"[x](https://e.example/{w}) {w}\n" for w in picked)
    yield "\n".join(f"{w}. {w}) {w}" for w in picked)
    yield from translations(sent)
    yield from joined(sent)
    yield from ranges(sent)
    for run in sent.split():
        parts = run.strip(".,;").split("/")
        if len(parts) == 3 and all(p.isascii() and p.isdigit() for p in parts):
            a, b, year = (int(p) for p in parts)
            for month, day in ((a, b), (b, a)):
                name = MONTHS[(month - 1) % 12]
                yield f"{name} {day}, {year}; {day} {name} {year}; {name} {day}."
                yield f"{name[:3]}. {day}, {year}, {year}-{month:02}-{day:02}"
                yield f"{name} {day}, {year + 1}; {day} {name} {year + 1}"
                yield f"{name} {day}th, {year + 1}; {name} {day}th; {name} {day}x"
                yield f"{a}.{b}.{year} or {month:02}/{day:02}/{year}"
        yield from year_first(run.strip(".,;"))
        digits = run.strip("$.,;").replace(",", "")
        if digits.replace(".", "").isdigit() and digits.isascii():
            whole, comma = digits.partition(".")[0], digits.replace(".", ",")
            yield f"{digits} and {whole} and {int(whole):,} and {comma}"


def joined(sent: str) -> Iterator[str]:
    """Write the runs of a hidden text that a sign joins, in and around other signs."""
    for run in sent.split():
        whole = run.rstrip(".,")
        if any(sign in whole for sign in ("@", ".", ":")) and not whole[0].isdigit():
            yield f"{whole} ({whole}), {whole.upper()}! **{whole}** {whole}/x x.{whole}"
            yield f"[x]({whole}) ![]({whole}) <a href={whole}> https://e.example/{whole}"


def ranges(sent: str) -> Iterator[str]:
    """Write the dates and times of a hidden text that a sign joins, and parts of them.

    Not those with other letters, which :func:`joined` writes.
    """
    for found in RANGE.finditer(sent):
        whole, first = found[0], found[1]
        yield f"{whole} {first} ({whole}) {whole}. {first}-{first} [x]({whole})"
        yield f"{whole}-3 3-{whole} {whole}:15 {whole}x https://e.example/{whole}"


def other_forms(sent: str) -> Iterator[str]:
    """Write weekdays, months, dates and times of a hidden text otherwise."""
    for name in read_names()["en"]:
        a, upper = name[:3], name[:3].upper()
        yield f"{a} {a}. on {a}, {upper} {name} ({a}) {name}s, on {a}s, to {upper}."
        yield f"{name[:4]}. {name[:5]}, the {a}. | {a} | {a}-{a}x [{a}](https://{a}.x)"
    day_first = r"([0-9]+)(?:th|st|nd|rd)?(?: of)? ([A-Z][a-z]+)"
    month_first = r"([A-Z][a-z]+)[.]? ([0-9]+)"
    pairs = re.findall(day_first, sent)
    pairs += [(day, month) for month, day in re.findall(month_first, sent)]
    for d, m in pairs:
        a = m[:3]
        yield f"{m} {d}, {a} {d}th. {d} {a}., 1 {m} {d}5; {d}/{m}, {d} {m} {d}"
        yield f"the {d}th of {m} 2024 or {a}. {d}, 1999-01-{d}, {d}th {m}"
    for hour, minute in re.findall(r"([0-9]{1,2}):?([0-9]{2})?", sent):
        h, m = int(hour), minute or "00"
        for half in ("am", "PM", "a.m.", "P.M."):
            yield f"{h}{half} {h} {half}, {h}:{m}{half} or {hour} {half} ok"
            yield f"({h % 12}:{m} {half}) {h:02}:{m}-{h}{half}x {h}:{m} {half}"


def dates_in_part(sent: str) -> Iterator[str]:
    """Write dates of a hidden text so that one part of them keeps its surrogate."""
    names = read_names()
    years = re.findall(r"\b[0-9]{4}\b", sent)[:2]
    for d, m, y in re.findall(r"([0-9]+) ([A-Z][a-z]+) ([0-9]{4})", sent):
        others = {each[names["en"].index(m)] for each in names.values()}
        for name in (m, m[:3], *sorted(others)):
            yield f"- {d}. {name} {y}: {d}) {name} {y}\n{d}) {name} {y}; {name} {d} {y}"
            yield f"[{d}] {name} {y}: [{d}](x) {name} {y}: [{d} {name}](x) {y}, {d}"
            yield f"evil.com/{d} {name} {y}: {d} {name} [{y}]: {name} [{y}]: {name} [1]"
            yield f"15 {name} {y}: {name} 15, {y}; {name} [{d}], {y}: 1. {name} {y}\n"
            yield f"1. {name} {y}\n{d}\u00a0{name} {y} **{d}** de {name} de {y} {d}xx"
            yield f"{d}th {name}, {y}: the {d}st of {name}, [{y}]. 5: {name} [2] {y}"
            yield f"| {d}. | {name} | {y} |\n{d}\n{name}\n{y} [{d}] ({name}) <{y}> {d}"
        yield from (f"{d} {m} {each} [{d}] {m} {each} {m} {each}" for each in years)


def other_signs(sent: str) -> Iterator[str]:
    """Write amounts, telephone numbers and cards of a hidden text with other signs."""
    for amount in re.findall(r"[$]([0-9,.]+[0-9])", sent):
        plain, spaced = amount.replace(",", ""), amount.replace(",", " ")
        yield f"${plain}.00, {amount}.00 {plain}.0 {spaced} {amount}.5 ${amount}.0"
    for number in re.findall(r"[0-9][-0-9 ().]{6,}[0-9]", sent):
        found = re.findall("[0-9]+", number)
        for sign in ("", "-", ".", " ", ") "):
            whole, rest = sign.join(found), sign.join(found[1:])
            yield f"{whole} or {rest}, x{whole} {whole}1 +{rest}"
        first, second, rest = number[:3], number[3:6], number[6:]
        yield f"{number} {first}-{second}-{rest} ({first}) {number}"


def links(sent: str, rng: np.random.Generator, count: int) -> Iterator[str]:
    """Write runs of parts of links, with surrogates anywhere between them."""
    runs = [*tokenize([sent]).words(), *sent.split()] or ["Ann"]
    for _ in range(count):
        parts = [
            runs[int(rng.integers(len(runs)))]
            if rng.random() < 0.35
            else LINK_PARTS[int(rng.integers(len(LINK_PARTS)))]
            for _ in range(int(rng.integers(3, 16)))
        ]
        yield "".join(parts)[:160]


def labels(sent: str) -> Iterator[str]:
    """Write words and runs of a hidden text in labels, and as names of tags."""
    for each in dict.fromkeys([*tokenize([sent]).words()[:4], *sent.split()[:3]]):
        yield f"![x][{each}] {each}\n\n[{each}]: {each} [x][dear {each}]\n\n{each}"
        yield f"![{each}][] [{each} [x] {each}] {each} [^{each}]\n\n[^1]: {each} {each}"
        yield f"[a\\]b]: {each} {each}\n\n[x\ny\\]]: {each} {each} \\[{each}\\] {each}"
        yield f"> [x]:\n> {each} {each}\r\n \r\n[{each}\n\n{each}] [ {each}](x {each})"
        yield f"<{each} class=a> </{each}> {each} <{each}> x<{each}.x {each} [<{each}>]"


def forms(sent: str) -> Iterator[str]:
    """Write a word and a run of a hidden text in links that strangers wrote."""
    for each in dict.fromkeys([*tokenize([sent]).words()[:1], *sent.split()[:1]]):
        for form in LINK_FORMS:
            yield form.replace("@", each) + f" {each}\n{each}\n\n{each}"


def year_first(run: str) -> Iterator[str]:
    """Write a date that begins with the year in other ways."""
    year, *rest = run.split("-")
    if len(year) == 4 and len(rest) == 2 and run.replace("-", "").isdecimal():
        name, day = MONTHS[(int(rest[0]) - 1) % 12], int(rest[1])
        yield f"{name} {day}, {year}; {day} {name}; {rest[0]}/{rest[1]}/{year}; {run}T"


def translations(sent: str) -> Iterator[str]:
    """Write the weekdays and months of a hidden text in other languages."""
    names = read_names()
    places = [i for i, name in enumerate(names["en"]) if name in sent]
    for each in names.values() if places else ():
        for i, name in enumerate(each):
            if i in places or i % 5 == 0:
                start = name[0].upper() + name[1:]
                yield f"{start} le {name}, {start}. {start}: {name.upper()}, x{name}"
                yield f"{name}s {name}-3 3.{name} [{name}](https://x.example/{name})"


def conversations() -> Iterator[dict[str, Any]]:
    """Yield each conversation: texts and hidden ones, answers and restored ones."""
    rng = np.random.default_rng(31)
    every = texts()
    others = [JOINED] * JOINED_COUNT + [RANGES] * RANGES_COUNT + [FORMS] * FORMS_COUNT
    others += [ECHOES] * ECHOES_COUNT + [TAGS] * TAGS_COUNT
    for number in range(COUNT + len(others)):
        policy = POLICIES[number % len(POLICIES)]
        key = bytes(rng.integers(0, 256, size=32, dtype=np.uint8))
        c = Conversation(policy, public=[PUBLIC])
        words = tokenize([PUBLIC]).words()
        c._surrogates = Surrogates(c.policy, key, public=words)
        if number >= COUNT:
            said = [others[number - COUNT]]
        else:
            said = every[number::COUNT][:TURNS]
            said += [PROMPTS[(number + i) % len(PROMPTS)] for i in (0, 2)]
        sent = [c.hide(text) for text in said]
        given = [answer for text in sent for answer in answers(text, rng)]
        if said == [FORMS]:
            given += [*other_forms(sent[0]), *other_signs(sent[0])]
            given += dates_in_part(sent[0])
        made = np.random.default_rng([31, number])
        given += [answer for text in sent[-2:] for answer in labels(text)]
        given += forms(sent[-1])
        given += links(" ".join(sent[-2:]), made, LINKS)
        given = [answer for answer in given if as_utf16(answer) == answer]
        shown = [c.restore(answer) for answer in given]
        rows = {"said": said, "sent": sent, "answers": given, "shown": shown}
        yield {"policy": policy, "key": key.hex(), **rows}


def build() -> bytes:
    """Write all of it as JSON."""
    digests = {name: Conversation(name).policy.digest for name in POLICIES}
    found = {
        "policies": digests,
        "public": PUBLIC,
        "conversations": list(conversations()),
    }
    return json.dumps(found).encode()


def main() -> int:
    """Write the file, or compare it."""
    data = build()
    if "--check" in sys.argv:
        return int(gzip.decompress(PATH.read_bytes()) != data)
    PATH.write_bytes(gzip.compress(data, 9, mtime=0))
    return 0


if __name__ == "__main__":
    sys.exit(main())
