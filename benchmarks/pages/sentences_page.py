"""Write docs/explanation/sentences.md, its plots and data from sentences.json."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import mondegreen as mg
from benchmarks.pages.page import DOCS, Table, fill
from benchmarks.pages.sentences_claims import claims
from benchmarks.pages.sentences_rows import (
    DEFAULT,
    FAMILIES,
    FORMS,
    MECHANISMS,
    MORE,
    READERS,
    SETS,
    Row,
    at,
    best_other,
    in_form,
    load,
    plain,
    rows_of,
    samples,
)
from mondegreen.language.store import load_language
from mondegreen.report.charts import picture
from mondegreen.report.figures import Axis, Chart, Line
from mondegreen.space.store import tree_for

PAGE: Final = "explanation/sentences.md"
ASSETS: Final = DOCS / "assets"
SHOWN: Final = (0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5)
"""Successes of a reader that the page shows; the data have all."""
LEADS: Final = {
    "accuracy": "accuracy, trained on originals",
    "trained": "accuracy, trained on releases",
    "cosine": "cosine",
}
PARTS: Final = {
    "clear": "original",
    "raw": "raw release",
    "embedded": "decoded, embedded model",
    "kind": "decoded, in-domain model",
}


def of_what() -> str:
    """Which trees and which model it was, and whether the package has others by now."""
    found, space = load(), mg.load_space()
    tree, model = tree_for(space).digest, load_language().digest
    same = (tree, model) == (found["trees"][0], found["language"])
    other = "" if same else " The package has others by now: these numbers are older."
    names = " and ".join(f"`{each[:12]}`" for each in found["trees"])
    model = found["language"][:12]
    return (
        f"The trees are {names}; the second is *families*. The embedded model "
        f"is `{model}`.{other}\n"
    )


def default() -> Table:
    """What the default setting leaves of every data set."""
    found = load()
    header = [
        "texts",
        "form of the text",
        "words recovered",
        "accuracy",
        "trained on same form",
        "cosine",
        "class kept",
        "perplexity",
        "distinct words",
    ]
    lines = []
    for data, name in SETS.items():
        row, clear = _default_row(found, data), found["clear"][data]
        if row is None:
            continue
        recovered = {
            "raw": "–",
            "embedded": f"{row['readers']['embedded, sentences']:.2f}",
            "kind": f"{row['readers']['kind, sentences']:.2f}",
        }
        for part, says in PARTS.items():
            some = {**clear, **row}.get(part) if part != "clear" else clear
            lines.append(
                [
                    name,
                    says,
                    recovered.get(part, "1"),
                    _number(some["accuracy"]),
                    _number(some.get("trained")),
                    _number(some["cosine"]),
                    _number(some["class_kept"]),
                    f"{some['perplexity']:,.0f}",
                    f"{some['type_token_ratio'] / clear['type_token_ratio']:.2f}",
                ]
            )
    return Table(header, lines, (1,))


def families() -> Table:
    """The default of both trees of the package, decoded by an in-domain model."""
    header = ["texts", "tree", "words recovered", "accuracy", "cosine"]
    header += ["perplexity ratio", "nats disclosed per word", "worst word", "above 0.6"]
    found, lines = load(), []
    for data, name in SETS.items():
        for mechanism, says in ((DEFAULT, "default"), (FAMILIES, "families")):
            for row in rows_of(found, data, mechanism):
                read = row["kind"]
                fluency = read["perplexity"] / found["clear"][data]["perplexity"]
                lines.append(
                    [
                        name,
                        says,
                        *_all(row, ["reader"], 3),
                        *_all(read, ["accuracy", "cosine"], 3),
                        f"× {_short(fluency)}",
                        *_all(row, ["information", "worst", "often"], 3),
                    ]
                )
    return Table(header, lines, (1,))


def leads() -> Table:
    """The decoded tree less the best other, raw or decoded, at equal reader success."""
    found = load()
    header = ["texts", "what", *(f"{reader:g}" for reader in SHOWN)]
    lines = []
    for data, name in SETS.items():
        for key, says in LEADS.items():
            cells = []
            for reader in SHOWN:
                own = at(found, data, "tree", reader, in_form("kind", key))
                other = best_other(found, data, reader, key)
                known = own is not None and other is not None
                cells.append(f"{own - other[0]:+.3f}" if known else "–")
            lines.append([name, says, *cells])
    return Table(header, lines, (1,))


def equal(reader: float) -> Table:
    """All mechanisms, raw and decoded, where the reader recovers as much."""
    found = load()
    header = [
        "texts",
        "mechanism",
        "accuracy",
        "trained on same form",
        "cosine",
        "perplexity ratio",
        "class kept",
        "one word alone",
        "nats disclosed per word",
        "worst word",
        "linked by 5 words",
        "nats, any two words",
    ]
    return Table(header, list(_equal(found, reader)), (1,))


def _equal(found: dict[str, Any], reader: float) -> Iterator[list[str]]:
    for data, name in SETS.items():
        clear = found["clear"][data]
        for mechanism, code in MECHANISMS.items():
            for form, says in FORMS.items():

                def of_form(
                    key: str,
                    data: str = data,
                    mechanism: str = mechanism,
                    form: str = form,
                ) -> float | None:
                    return at(found, data, mechanism, reader, in_form(form, key))

                def of_row(
                    key: str, data: str = data, mechanism: str = mechanism
                ) -> float | None:
                    return at(found, data, mechanism, reader, plain(key))

                fluency = of_form("perplexity")
                if fluency is None:
                    continue
                nats = of_row("nats")
                yield [
                    name,
                    f"{code}, {says}",
                    _number(of_form("accuracy")),
                    _number(of_form("trained")),
                    _number(of_form("cosine")),
                    f"× {_short(fluency / clear['perplexity'])}",
                    _number(of_form("class_kept")),
                    _number(of_row("single")),
                    _number(of_row("information")),
                    _number(of_row("worst")),
                    _number(of_row("linkage")),
                    "–" if nats is None else f"{nats:.0f}",
                ]


def short(reader: float) -> Table:
    """What the page shows of it: the tree decoded, and the others as they fare best."""
    table = equal(reader)
    columns = [
        "texts",
        "mechanism",
        "accuracy",
        "cosine",
        "perplexity ratio",
        "nats disclosed per word",
        "worst word",
        "linked by 5 words",
        "nats, any two words",
    ]
    places = [list(table.header).index(column) for column in columns]
    shown = {"`tree`, decoded", "`exponential`, raw", "`exponential`, decoded"}
    rows = [[row[place] for place in places] for row in table.rows if row[1] in shown]
    return Table(columns, rows, (1,))


def every_row() -> Table:
    """Every setting on every data set."""
    header = ["texts", "mechanism", "setting", "form of the text"]
    own = ["reader", "reader_low", "reader_high", "single", "information"]
    own += ["worst", "often", "linkage", "nats"]
    of_text = ["accuracy", "trained", "cosine", "perplexity", "type_token_ratio"]
    of_text += ["class_kept", "kept"]
    found, lines = load(), []
    for data, name in SETS.items():
        clear = found["clear"][data]
        blank = ["–"] * len(own)
        original = PARTS["clear"]
        lines.append([name, original, "–", original, *blank, *_all(clear, of_text)])
        for mechanism in (DEFAULT, FAMILIES, *MECHANISMS, *MORE.values()):
            for row in rows_of(found, data, mechanism):
                for part in (each for each in PARTS if each in row):
                    lines.append(
                        [
                            name,
                            mechanism,
                            f"{row['setting']:g}",
                            PARTS[part],
                            *_all(row, own),
                            *_all(row[part], of_text),
                        ]
                    )
    return Table([*header, *own, *of_text], lines, (1, 3))


def thirty() -> str:
    """All sentences: in, raw, read."""
    lines = [""]
    for row in samples()["sentences"]:
        lines.append(f"1. {row['sentence']}<br>*{row['raw']}*<br>**{row['read']}**")
    return "\n".join([*lines, "", ""])


def thirty_data() -> Table:
    """The same for programs."""
    rows = [
        [row["kind"], row["sentence"], row["raw"], row["read"]]
        for row in samples()["sentences"]
    ]
    return Table(["kind", "sentence", "raw", "read"], rows, (1, 2, 3))


def leak() -> Table:
    """What a model of private texts lets out, beside the public one."""
    names = {"public": "embedded model", "private": "model of the 200 private texts"}
    names["both"] = "mixture of both"
    header = ["language model", "whole phrase", "words of the phrase"]
    header += ["words of the texts", "whole sentences"]
    lines = [
        [
            names[name],
            f"{row['phrase_whole']:.0%}",
            f"{row['phrase_words']:.0%}",
            f"{row['words']:.0%}",
            f"{row['sentences_whole']:.1%}",
        ]
        for name, row in samples()["leak"]["models"].items()
    ]
    return Table(header, lines)


def charts() -> dict[str, Chart]:
    """The plots by file name."""
    found, drawn = load(), {}
    for data, name in SETS.items():
        lines = [
            Line.exact(f"{mechanism}, {says}", style, places)
            for mechanism, styles in (("tree", (0, 1)), ("exponential", (2, 3)))
            for (form, says), style in zip(FORMS.items(), styles, strict=True)
            if (
                places := [
                    (row["reader"], row[form]["accuracy"])
                    for row in rows_of(found, data, mechanism)
                ]
            )
        ]
        key = f"sentences-{name.replace(' ', '-')}"
        drawn[f"{key}.svg"] = Chart(
            key,
            f"What a classifier gets, by what a reader recovers: {name}",
            "Higher is more useful, further left more private; a point is one setting, "
            "of the tree within 10 nats.",
            Axis("words that a reader recovers"),
            Axis("accuracy of a classifier of clear text"),
            tuple(lines),
            ("clear text", found["clear"][data]["accuracy"]),
        )
    return drawn


def _default_row(found: dict[str, Any], data: str) -> Row | None:
    rows = rows_of(found, data, DEFAULT)
    return rows[0] if rows else None


def _all(row: Row, keys: list[str], digits: int = 4) -> list[str]:
    return [_number(row.get(key), digits) for key in keys]


def _number(value: float | None, digits: int = 3) -> str:
    return "–" if value is None else f"{value:.{digits}f}"


def _short(value: float) -> str:
    return f"{value:.2f}" if value < 10 else f"{value:,.0f}"


TABLES: Final[dict[str, Any]] = {
    "of what": of_what,
    "claims": claims,
    "default": default,
    "families": families,
    "leads": leads,
    "equal": lambda: short(0.3),
    "thirty": thirty,
    "leak": leak,
}
DATA: Final[dict[str, Any]] = {
    "sentences-rows.csv": every_row,
    "sentences-equal-reader.csv": lambda: _stacked(),
    "sentences-read.csv": thirty_data,
}


def _stacked() -> Table:
    tables = [equal(reader).under("reader", f"{reader:g}") for reader in READERS]
    total = tables[0]
    for table in tables[1:]:
        total = total + table
    return total


def main() -> None:
    """Write tables and plots."""
    for name, chart in charts().items():
        (ASSETS / name).write_bytes(picture(chart, for_page=True))
    fill(PAGE, TABLES, DATA)


if __name__ == "__main__":
    main()
