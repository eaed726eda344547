"""Write both pages on the papers, their figures and data from reproductions.json."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from typing import Final

from benchmarks.pages import reproductions_rows as stored
from benchmarks.pages.page import DOCS, Table, fill
from benchmarks.pages.reproductions_charts import charts
from benchmarks.pages.reproductions_equal import equal_reader, equal_sentence, every
from benchmarks.pages.reproductions_puc import puc_by_alpha
from benchmarks.pages.reproductions_rows import (
    OURS,
    ROOMS,
    Row,
    claims,
    compared,
    counts,
)
from mondegreen.report.charts import picture
from mondegreen.wording import amount, figure
from mondegreen_experiments.measures.as_run import GUMBEL as GUMBEL_AS_RUN
from mondegreen_experiments.result import APART, FAILS, HOLDS, UNTOLD

PAGE: Final = "reproductions.md"
ASSETS: Final = DOCS / "assets"
EXPERIMENTS: Final = "reproductions-experiments.md"
VERDICTS: Final = {
    HOLDS: HOLDS,
    FAILS: f"**{FAILS}**",
    UNTOLD: f"*{UNTOLD}*",
    APART: APART,
}
NUMBERS: Final = {
    HOLDS: "agrees",
    FAILS: "**differs**",
    UNTOLD: "*cannot be told*",
    APART: APART,
}
"""How the verdicts are written: of claims, and of numbers."""

MANY: Final = 4
"""Numbers of a paper that stand beside a claim; of more, how many and how large."""

AXES_OF: Final = "benchmark-axes"
"""The experiment on orders at equal words and equal readers."""

AXIS_OF_POLICIES: Final = "sensitive words that a reader recovers"
OTHER_LIST: Final = frozenset({"Mahalanobis", "SanText", "SynTF", "calibrated"})
"""Mechanisms that AXES_OF measured with a newer list of sensitive words than CMP."""

TWO_LISTS: Final = "two lists of sensitive words"
ABOVE_ALL: Final = "one of the two is above all of the levels at every epsilon"
"""Why there is no margin: nothing was measured at a level or below."""

EQUAL: Final = "benchmark-equal"
GUMBEL: Final = "truncated Gumbel"
"""The experiment on equal privacy, and its mechanism that never protects as much."""

FEW_SEEDS: Final = 3

ORDER_OF: Final = "order of"
"""In its claims, where a published mechanism is compared with another one."""

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

NOTES: Final = {
    "cmp": "Vectors (GloVe 840B), and most texts and models, are stand-ins.",
    "tem": "We read its poster and pseudocode, not the paper. Our vectors are GloVe "
    "840B.",
    "benchmark": "Our vectors are GloVe 840B, by PCA.",
    "brr": "Most rows are set aside: our vectors, searches and sizes differ.",
    "vickrey": "All rows measure [our form](proofs/vickrey.md), which may return the "
    "word itself. Algorithm 1 of the paper excludes the word, its theorem does not "
    "([why](proofs/vickrey_literal.md)). [At epsilon 100, its "
    "ratio of the losses at t = 1 and 0.25 is nearer to ours, its loss at t = 1 to the "
    "printed form](reproductions-experiments.md#vickrey-lexicon). Our vectors are "
    "GloVe 840B, our words of opinion fewer, and in texts every word is released.",
}
"""What a reader must know of all rows of a paper."""


def in_short() -> str:
    """What holds, what does not and what cannot be told, for people in a hurry."""
    rows = stored.load()
    known, beside = claims(rows), compared(rows)
    told, near = counts(known, "verdict"), counts(beside, "agrees")
    small = sum(row["scale"] == "quick" for row in rows)
    tested = [each for each in known if each["printed"]]
    printed = sum(each["source"] == "printed" for each in tested)
    of_papers = sum(bool(claims([row])) for row in rows)
    aside = [each for each in known if stored.is_aside(each)]
    above, below, around = stored.sides(aside)
    judged = [each for each in known if each["margin"] and each["verdict"] != APART]
    three = sum(each["margin"]["runs"] <= FEW_SEEDS for each in judged)
    within = sum(stored.is_within(row, each) for row in rows for each in claims([row]))
    only = f" ({within} of them only [within an allowance](#how-to-read-this-page))"
    first = (
        f"We made {amount(len(rows), 'experiment')}: {of_papers} test claims of five "
        f"papers, and {len(rows) - of_papers} are comparisons of ours. Our vectors, "
        f"texts and models differ from the papers', {small} experiments are at a small "
        f"scale, and {three} of {len(judged)} margins come from three seeds. **Of "
        f"{amount(len(known) - told[APART], 'test')} of their claims, "
        f"{told[HOLDS]} hold here{only if within else ''}, {_negated(told[FAILS])}, "
        f"and {told[UNTOLD]} cannot be told here.** Of these {told[UNTOLD]}, we set "
        f"{len(aside)} aside by [a rule](#how-to-read-this-page) that we made after "
        f"the first measurements: without it, {above} would hold, {below} would not, "
        f"and {around} could not be told."
    )
    second = (
        f"{told[APART]} more claims are counted apart, such as definitions. For "
        f"{len(tested)} of all {len(known)} claims we have numbers of the paper ("
        f"{len(tested) - printed} computed by us or read off a figure), which pass our "
        "test. "
        f"{amount(len(beside), 'number')} of the papers "
        f"stand beside ours: {near[HOLDS]} agree, {near[FAILS]} differ, {near[UNTOLD]} "
        f"cannot be told, and {near[APART]} are counted apart, such as floors and "
        "arithmetic."
    )
    equal = equal_sentence(rows)
    missing = stored.absent(rows)
    rest = f"\nNot measured yet: {_codes(missing)}.\n" if missing else ""
    header = ["paper", HOLDS, FAILS, UNTOLD, APART]
    lines = [
        [f"**{name}**, {who}", *map(str, counts(mine, "verdict").values())]
        for paper, (name, who) in ROOMS.items()
        if (mine := claims(rows, paper))
    ]
    parts = [f"{first}\n", f"{second}\n", f"{equal}\n", str(Table(header, lines)), rest]
    return "\n".join(filter(None, parts))


def _negated(count: int) -> str:
    return f"{count} {'does' if count == 1 else 'do'} not hold"


def overview() -> Table:
    """Each experiment in a line."""
    header = [
        "experiment", *(f"claims: {each}" for each in (HOLDS, FAILS, UNTOLD, APART)),
        "scale", "runs", "minutes",
    ]  # fmt: skip
    lines = [
        [
            f"[`{row['recipe']}`]({EXPERIMENTS}#{row['recipe']})",
            *map(str, counts(claims([row]), "verdict").values()),
            row["scale"],
            f"{stored.runs(row):,}",
            figure(row["seconds"] / 60),
        ]
        for row in stored.load()
    ]
    return Table(header, lines)


def papers() -> str:
    """A table of claims for each paper."""
    rows, parts = stored.load(), []
    for paper, (name, who) in ROOMS.items():
        lines = [
            _judged(row, each)
            for row in rows
            for each in row["claims"]
            if not each["where"].startswith(OURS)
            if stored.paper(row, each["where"]) == paper
        ]
        if lines:
            header = [
                *("claim, and how it is tested", "paper's numbers: margin"),
                *("our margin (95 %)", "verdict", "why"),
            ]
            table = str(Table(header, lines, (0, 1, 2, 3, 4)))
            about = [f"{each[paper]}\n" for each in (TITLES, NOTES) if paper in each]
            parts += [f"### {name}: {who}\n", *about, table]
    return "\n".join(filter(None, parts))


def _judged(row: Row, claim: Row) -> list[str]:
    """A claim, by how much the paper's numbers and ours pass its test, and why."""
    anchor = stored.cited(row, claim)
    where = f"{_cell(claim['where'])}; {row['scale']} scale"
    tested = f". Test: {_cell(claim['how'])}" if claim["how"] else ""
    claimed = f"[{_cell(claim['claim'])}]({EXPERIMENTS}#{row['recipe']})"
    return [
        f'<a id="{anchor}"></a>`{anchor}`: {claimed} ({where}){tested}',
        _printed(claim),
        _margin(claim),
        _verdict(row, claim),
        _cell(claim["why"]) or "–",
    ]


def _margin(claim: Row) -> str:
    """Our margin; beside a claim that is set aside, it decides nothing."""
    if claim["margin"] is None:
        return "–"
    told = stored.ours(claim["margin"])
    return f"*not counted:* {told}" if stored.is_aside(claim) else told


def _printed(claim: Row) -> str:
    """The paper's numbers, and what the test of the claim gives for them."""
    known = [v for each in claim["printed"] for v in each["measures"].values()]
    if not known:
        return "–"
    cells = ", ".join(f"{value:.10g}" for value in known)
    if len(known) > MANY:
        cells = f"{len(known)} numbers, {min(known):g} to {max(known):g}"
    source = "" if claim["source"] == "printed" else f" ({claim['source']})"
    return f"{cells}{source}: {figure(claim['printed_margin'])}"


def orders() -> str:
    """Which of two mechanisms leaves more accuracy, by what is set equal."""
    row = next((each for each in stored.load() if each["recipe"] == AXES_OF), None)
    if row is None:
        return "Not measured yet.\n"
    found: dict[str, dict[str, str]] = {}
    for claim in row["claims"]:
        order, _, axis = str(claim["claim"]).partition(" at equal ")
        if is_of_two_lists(claim):
            found.setdefault(order, {})[axis] = f"– ({TWO_LISTS})"
            continue
        margin = claim["margin"]
        told = ABOVE_ALL if margin is None else stored.ours(margin)
        found.setdefault(order, {})[axis] = f"{VERDICTS[claim['verdict']]}: {told}"
    names = list(dict.fromkeys(axis for each in found.values() for axis in each))
    lines = [[order, *(each[name] for name in names)] for order, each in found.items()]
    header = ["order", *(f"equal {name}" for name in names)]
    table = Table(header, lines, tuple(range(1, len(header))))
    compared = [claim for claim in row["claims"] if not is_of_two_lists(claim)]
    return f"{_surviving(compared)}\n\n{table}"


def is_of_two_lists(claim: Row) -> bool:
    """Whether the sensitive words of both mechanisms are those of two lists."""
    order, _, axis = str(claim["claim"]).partition(" at equal ")
    return axis == AXIS_OF_POLICIES and order.partition(" ")[0] in OTHER_LIST


def left_out() -> str:
    """Why truncated Gumbel noise stands in no comparison of orders."""
    row = next(each for each in stored.load() if each["recipe"] == EQUAL)
    least = {
        str(each["point"]["data"]): found
        for each in row["points"]
        if each["point"]["law"] == GUMBEL
        if each["point"]["by"] == "words a reader recovers"
        if (found := re.search(r"at least ([\d.]+) \(epsilon ([\d.]+)\)", _told(each)))
    }
    shares = " and ".join(f"{each[1]} ({name})" for name, each in least.items())
    (epsilon,) = {each[2] for each in least.values()}
    return (
        "Truncated Gumbel noise is left out. With 50 dimensions and 2,000 words, its "
        f"smallest epsilon is {epsilon} (default space: 34.7). There a reader recovers "
        f"{shares} of the words "
        f"([`{EQUAL}`]({EXPERIMENTS}#{EQUAL})).\n"
    )


def _told(point: Row) -> str:
    return str(point["texts"].get("epsilon_is", ""))


def _surviving(known: Sequence[Row]) -> str:
    """Say how many orders can be told, of those of the papers and of others."""
    names, parts = {True: "of published mechanisms", False: "with ours"}, []
    for is_of_paper, name in names.items():
        mine = [each for each in known if (ORDER_OF in each["where"]) is is_of_paper]
        told = counts(mine, "verdict")
        said = f"none of {len(mine)} comparisons {name} can be told"
        if told[HOLDS] + told[FAILS]:
            said = (
                f"of {len(mine)} comparisons {name} {told[HOLDS]} hold, "
                f"{_negated(told[FAILS])}, and {told[UNTOLD]} cannot be told"
            )
        parts.append(said)
    return f"At this scale, {'; '.join(parts)}."


def regression() -> Table:
    """The coefficients of the benchmark's Table 4 beside ours, with errors, t and P."""
    header = ["Table 4", "paper", "source", "ours (95 %)", "standard error", "t", "P"]
    row = next(row for row in stored.load() if row["recipe"] == "benchmark-regression")
    (point,) = row["points"]
    found = point["measures"]
    lines = [
        [
            each["measure"],
            f"{each['paper']:.10g}",
            each["source"],
            stored.ours(each["ours"]),
            *(
                figure(found[name]["value"]) if name in found else "–"
                for name in (
                    f"{kind}_{each['measure']}" for kind in ("error", "t", "p")
                )
            ),
        ]
        for each in row["published"]
        if each["ours"] is not None
    ]
    return Table(header, lines)


def searches() -> Table:
    """What multi-index hashing costs beside exhaustive search, and what it finds."""
    row = next(row for row in stored.load() if row["recipe"] == "brr-search")
    names = ("time_ratio", "agrees", "unchanged", "unchanged_exhaustive")
    lines = [
        [
            figure(each["point"]["epsilon"]),
            each["point"]["flips"],
            *(stored.ours(each["measures"][name]) for name in names),
        ]
        for each in row["points"]
    ]
    header = ["epsilon", "bits flipped in a part, at most", "time, exhaustive = 1"]
    header += ["same words found", "words that stay", "with exhaustive search"]
    return Table(header, lines)


def experiments() -> str:
    """A section for each paper, with a part for each of its experiments."""
    rows, parts = stored.load(), []
    for room, (name, who) in ROOMS.items():
        mine = [row for row in rows if stored.room(row) == room]
        if mine:
            parts += [f"## {name}: {who}\n", *map(experiment, mine)]
    return "\n".join(parts)


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
    """Two tables: what the paper claims, and checks of our own."""
    by_us = [each["where"].startswith(OURS) for each in row["claims"]]
    for is_ours in (False, True):
        lines = [
            [
                _cell(each["claim"]),
                _cell(each["where"]),
                _cell(each["how"]) or "–",
                *_outcome(row, each),
            ]
            for each, mine in zip(row["claims"], by_us, strict=True)
            if mine is is_ours
        ]
        if lines and is_ours:
            yield "Checks of our own. No paper makes these claims:\n"
        if lines:
            header = ["claim", "where", "test", "our margin (95 %)", "verdict"]
            yield str(Table(header, lines, (1, 2, 3, 4)))


def _outcome(row: Row, claim: Row) -> tuple[str, str]:
    """Our margin and the verdict; neither where two lists were used."""
    if row["recipe"] == AXES_OF and is_of_two_lists(claim):
        return "–", f"– ({TWO_LISTS})"
    margin = claim["margin"]
    return "–" if margin is None else stored.ours(margin), _verdict(row, claim)


def _verdict(row: Row, claim: Row) -> str:
    within = " (within the allowance)" if stored.is_within(row, claim) else ""
    return f"{VERDICTS[claim['verdict']]}{within}"


def _numbers(row: Row) -> Iterator[str]:
    """Numbers of a paper beside ours, and why some of them cannot be compared."""
    known = compared([row])
    shown = known[:: -(-len(known) // LONGEST)] if known else []
    points = [each["point"] for each in row["points"]]
    why = list(dict.fromkeys(each["why"] for each in known if each["why"]))
    lines = [
        [
            _cell(each["where"]),
            _cell(stored.at(each["point"], points)),
            f"`{each['measure']}`",
            f"{each['paper']:.10g} ± {each['tolerance']:g}",
            stored.ours(each["ours"]),
            f"{NUMBERS[each['agrees']]}{_which(why, each)}",
        ]
        for each in shown
    ]
    if not lines:
        return
    header = ["where", "at", "what", "paper", "ours (95 %)", "verdict"]
    yield str(Table(header, lines, (1, 2, 5)))
    if len(shown) < len(known):
        yield (
            f"{len(shown)} of {len(known)} numbers, evenly chosen: "
            "[all of them](data/reproductions.csv).\n"
        )
    if why:
        told = "; ".join(f"({i}) {_cell(each)}" for i, each in enumerate(why, 1))
        yield f"Why: {told}.\n"


def _which(why: Sequence[str], number: Row) -> str:
    return f" ({why.index(number['why']) + 1})" if number["why"] else ""


def _about(row: Row) -> str:
    """What a recipe says of its measures, on one line and as Markdown."""
    plain = re.sub(r":\w+:`~?([^`]*)`", r"`\1`", row["about"].replace("``", "`"))
    return f"What is measured: {_cell(' '.join(plain.split()))}"


def _texts(row: Row) -> Iterator[str]:
    """Words that were found, where they are few enough to be read."""
    lines = [list(map(_cell, each)) for each in stored.texts(row)]
    if 0 < len(lines) <= LONGEST:
        yield str(Table(["at", "what", "found"], lines, (1, 2)))


def _codes(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _cell(text: str) -> str:
    """Text that is no markup of a table or of a formula."""
    text = text.replace(GUMBEL_AS_RUN, "Gumbel, as in the released code")
    return text.replace("|", "\\|").replace("$", "&#36;").replace("\n", " ")


def measured_on() -> str:
    """On which machines."""
    found = dict.fromkeys(
        f"{row['machine']['processor']}, {row['machine']['cores']} cores, Python "
        f"{row['machine']['python']}, torch {row['machine']['versions']['torch']}"
        for row in stored.load()
    )
    return f"Measured on {'; '.join(found)}.\n"


def cite() -> str:
    """What a citation of a verdict names: version, days and a digest of results."""
    about = [row["machine"] for row in stored.load()]
    versions = sorted({each["versions"]["mondegreen"] for each in about})
    days = sorted({each["date"] for each in about})
    digest = hashlib.sha256(stored.RESULT.read_bytes()).hexdigest()
    return (
        f"These are results of mondegreen {' and '.join(versions)}, measured "
        f"{_between(days)}. SHA-256 of `benchmarks/results/{stored.RESULT.name}`:\n\n"
        f"`{digest}`\n"
    )


def _between(days: Sequence[str]) -> str:
    return f"from {days[0]} to {days[-1]}" if len(days) > 1 else f"on {days[0]}"


TABLES: Final = {
    "in short": in_short,
    "cite": cite,
    "orders": orders,
    "left out": left_out,
    "measured on": measured_on,
    "papers": papers,
}
DETAILS: Final = {
    "overview": overview,
    "equal reader": lambda: equal_reader(stored.load()),
    "regression": regression,
    "searches": searches,
    "puc by alpha": lambda: puc_by_alpha(stored.load()),
}
"""Tables of the page of experiments, besides these themselves."""

DATA: Final = {
    "reproductions.csv": stored.numbers,
    "reproductions-claims.csv": stored.judged,
    "reproductions-cells.csv": stored.cells,
    "reproductions-equal.csv": every,
}


def main() -> None:
    """Write tables, figures and data; figures that are no more are removed."""
    drawn = charts(stored.load())
    for path in ASSETS.glob("reproductions-*.svg"):
        if path.name not in drawn:
            path.unlink()
    for name, chart in drawn.items():
        (ASSETS / name).write_bytes(picture(chart, for_page=True))
    fill(PAGE, TABLES, DATA)
    fill(EXPERIMENTS, {**DETAILS, "experiments": experiments})


if __name__ == "__main__":
    main()
