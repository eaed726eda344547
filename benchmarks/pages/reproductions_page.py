"""Write docs/reproductions.md, its figures and data from reproductions.json."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from benchmarks.pages import reproductions_rows as stored
from benchmarks.pages.page import DOCS, Table, fill
from benchmarks.pages.reproductions_charts import charts
from benchmarks.pages.reproductions_equal import equal_reader, equal_sentence, every
from benchmarks.pages.reproductions_rows import ROOMS, Row, claims, compared, share
from benchmarks.pages.reproductions_words import in_words
from mondegreen.report.charts import picture
from mondegreen.wording import amount, figure

PAGE: Final = "reproductions.md"
ASSETS: Final = DOCS / "assets"
LONGEST: Final = 60
"""Rows of a table of the page; the data have all."""


TITLES: Final = {
    "cmp": "*Privacy- and Utility-Preserving Textual Analysis via Calibrated "
    "Multivariate Perturbations*, WSDM 2020.",
    "vickrey": "*On a Utilitarian Approach to Privacy Preserving Text Generation*, "
    "PrivateNLP 2021.",
    "tem": "*TEM: High Utility Metric Differential Privacy on Text*, SDM 2023.",
    "brr": "*BRR: Preserving Privacy of Text Data Efficiently on Device*, 2021.",
    "benchmark": "*A Comparative Analysis of Word-Level Metric Differential Privacy: "
    "Benchmarking the Privacy-Utility Trade-off*, LREC-COLING 2024.",
}
"""What the papers are called."""


def in_short() -> str:
    """What holds and what does not, for people who read nothing else."""
    rows = stored.load()
    held, claimed = share(claims(rows), "holds")
    agree, printed = share(compared(rows), "agrees")
    fails, alone = claimed - held, sum(map(stored.agrees_alone, compared(rows)))
    most = max((len(compared([row])), f"`{row['recipe']}`") for row in rows)
    small = sum(row["scale"] == "quick" for row in rows)
    first = (
        f"We measured {amount(len(rows), 'experiment')} of the papers again, {small} "
        "at a small scale, with other vectors than theirs. **Of "
        f"{amount(claimed, 'claim')} that the papers make, {held} "
        f"{'holds' if held == 1 else 'hold'} here and {fails} "
        f"{'does' if fails == 1 else 'do'} not; of {amount(printed, 'number')} that "
        f"they print, {agree} {'agrees' if agree == 1 else 'agree'} with ours**, "
        f"{alone} by our mean alone; {most[0]} are of one experiment, {most[1]}. "
        f"{in_words(rows)}"
    )
    equal = equal_sentence(rows)
    missing = stored.absent(rows)
    rest = f"\nNot measured yet: {_codes(missing)}.\n" if missing else ""
    header = ["paper", "what holds here", "what does not", "numbers that agree"]
    lines = [line for paper in ROOMS if (line := _paper_in_short(rows, paper))]
    table = str(Table(header, lines, (1, 2)))
    parts = [f"{first.rstrip()}\n", f"{equal}\n" if equal else "", table, rest]
    return "\n".join(filter(None, parts))


def _paper_in_short(rows: Sequence[Row], paper: str) -> list[str]:
    """A row of claims; those with two verdicts stand among what does not hold."""
    known, printed = claims(rows, paper), compared(rows, paper)
    if not known and not printed:
        return []
    found: dict[str, set[bool]] = {}
    for claim in known:
        found.setdefault(_cell(claim["claim"]), set()).add(claim["holds"])
    holds = [claim for claim, verdicts in found.items() if verdicts == {True}]
    fails = [
        f"{claim} (in one experiment; in another it does)"
        if True in verdicts
        else claim
        for claim, verdicts in found.items()
        if False in verdicts
    ]
    name, who = ROOMS[paper]
    return [
        f"**{name}**, {who}",
        *(_listed(each) for each in (holds, fails)),
        _of(printed, "agrees"),
    ]


def _listed(claims: Sequence[str]) -> str:
    return "<br>".join(f"• {claim}" for claim in claims) or "–"


def overview() -> Table:
    """Each experiment in a line."""
    header = ["experiment", "claims hold", "numbers agree", "scale", "runs", "minutes"]
    lines = [
        [
            f"[`{row['recipe']}`](#{row['recipe']})",
            _of(claims([row]), "holds"),
            _of(compared([row]), "agrees"),
            row["scale"],
            f"{stored.runs(row):,}",
            figure(row["seconds"] / 60),
        ]
        for row in stored.load()
    ]
    return Table(header, lines)


def papers() -> str:
    """A section for each paper, with a part for each of its experiments."""
    rows, parts = stored.load(), []
    for room, (name, who) in ROOMS.items():
        mine = [row for row in rows if stored.room(row) == room]
        if mine:
            about = f"{TITLES[room]}\n" if room in TITLES else ""
            parts += [f"## {name}: {who}\n", about, *map(experiment, mine)]
    return "\n".join(filter(None, parts))


def experiment(row: Row) -> str:
    """Claims, numbers, figure, what differs, and the command."""
    name = row["recipe"]
    parts = [f"### {row['title']} {{ #{name} }}\n", *_claims(row), *_numbers(row)]
    parts += [f"{_about(row)}\n", *_texts(row)]
    if f"reproductions-{name}.svg" in charts([row]):
        parts.append(f"![{row['title']}](assets/reproductions-{name}.svg)\n")
    parts.append(f"What differs: {_cell(row['differs'])}\n")
    needs = " --data FOLDER" if row["data"] else ""
    command = f"`mondegreen reproduce {name} --scale full{needs}`"
    if row["scale"] == "full":
        parts.append(f"Measured at full scale: {command}.\n")
    else:
        parts.append(f"Measured at quick scale; all of it: {command}.\n")
    return "\n".join(parts)


def _claims(row: Row) -> Iterator[str]:
    lines = [
        [
            _cell(each["claim"]),
            _cell(each["where"]),
            "yes" if each["holds"] else "**no**",
        ]
        for each in row["claims"]
    ]
    if lines:
        yield str(Table(["claim", "where", "holds here"], lines, (1, 2)))


def _numbers(row: Row) -> Iterator[str]:
    """Published numbers beside ours, and why some do not agree."""
    known = compared([row])
    shown = known[:: -(-len(known) // LONGEST)] if known else []
    points = [each["point"] for each in row["points"]]
    why = list(dict.fromkeys(_because(each) for each in known if not each["agrees"]))
    lines = [
        [
            _cell(each["where"]),
            _cell(stored.at(each["point"], points)),
            f"`{each['measure']}`",
            f"{figure(each['value'])} ± {figure(each['tolerance'])}",
            stored.ours(each["ours"]),
            "yes" if each["agrees"] else f"**no** ({why.index(_because(each)) + 1})",
        ]
        for each in shown
    ]
    if not lines:
        return
    header = ["where", "at", "what", "published", "ours (95 %)", "agrees"]
    yield str(Table(header, lines, (1, 2)))
    if len(shown) < len(known):
        yield (
            f"{len(shown)} of {len(known)} numbers, evenly chosen: "
            "[all of them](data/reproductions.csv).\n"
        )
    if why:
        told = "; ".join(f"({i}) {_cell(each)}" for i, each in enumerate(why, 1))
        yield f"Why not: {told}.\n"


def _because(number: Row) -> str:
    return str(number["because"]) or "not known"


def _about(row: Row) -> str:
    """What a recipe says of its measures, on one line and as Markdown."""
    plain = re.sub(r":\w+:`~?([^`]*)`", r"`\1`", row["about"].replace("``", "`"))
    return f"What is measured: {_cell(' '.join(plain.split()))}"


def _texts(row: Row) -> Iterator[str]:
    """Words that were found, where they are few enough to be read."""
    lines = [list(map(_cell, each)) for each in stored.texts(row)]
    if 0 < len(lines) <= LONGEST:
        yield str(Table(["at", "what", "found"], lines, (1, 2)))


def _of(rows: Sequence[Row], key: str) -> str:
    good, every = share(rows, key)
    return f"{good} of {every}" if every else "–"


def _codes(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _cell(text: str) -> str:
    """Text that is no markup of a table or of a formula."""
    return text.replace("|", "\\|").replace("$", "&#36;").replace("\n", " ")


def measured_on() -> str:
    """On which machines."""
    found = dict.fromkeys(
        f"{row['machine']['processor']}, {row['machine']['cores']} cores, Python "
        f"{row['machine']['python']}, torch {row['machine']['versions']['torch']}"
        for row in stored.load()
    )
    return f"Measured on {'; '.join(found)}.\n"


TABLES: Final = {
    "in short": in_short,
    "equal reader": lambda: equal_reader(stored.load()),
    "overview": overview,
    "measured on": measured_on,
    "papers": papers,
}
DATA: Final = {"reproductions.csv": stored.numbers, "reproductions-equal.csv": every}


def main() -> None:
    """Write tables, figures and data; figures that are no more are removed."""
    drawn = charts(stored.load())
    for path in ASSETS.glob("reproductions-*.svg"):
        if path.name not in drawn:
            path.unlink()
    for name, chart in drawn.items():
        (ASSETS / name).write_bytes(picture(chart, follows_theme=True))
    fill(PAGE, TABLES, DATA)


if __name__ == "__main__":
    main()
