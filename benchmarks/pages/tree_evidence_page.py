"""Write docs/explanation/word-trees.md, its plots and data from tree_evidence.json."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

import mondegreen as mg
from benchmarks import machine
from benchmarks.pages.page import DOCS, Table, fill
from benchmarks.pages.tree_evidence_rows import (
    CLOSED,
    MECHANISMS,
    NAMES,
    SAMPLED,
    TREES,
    Row,
    at,
    attack,
    clear_of,
    load,
    measured_at,
    rows_of,
)
from mondegreen.report.charts import picture
from mondegreen.report.figures import Axis, Chart, Line
from mondegreen.space.store import load_tree

PAGE: Final = "explanation/word-trees.md"
ASSETS: Final = DOCS / "assets"
ATTACKS: Final = (0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4)
NATS: Final = 10.0


def of_what() -> str:
    """Which tree it was, and what is still to be measured."""
    found = load()
    known = {row["mechanism"] for row in found["rows"].values()}
    absent = [_name(name) for name in MECHANISMS if name not in known]
    rest = f" Not measured yet: {', '.join(absent)}." if absent else ""
    shipped = load_tree(mg.load_space())
    other = (
        ""
        if shipped is None or shipped.digest == found["tree"]
        else f" The package ships another one by now, `{shipped.digest[:12]}`: these "
        "numbers are of its predecessor."
    )
    tree = f"The tree is `{found['tree'][:12]}`, as the guarantee prints it."
    return f"{tree}{other}{rest}\n"


def facts() -> Table:
    """What the data sets are."""
    found, lines = load(), []
    header = [
        "texts",
        "texts of it",
        "words",
        "largest class",
        "accuracy, clear",
        "± (95 %)",
        "attack, nothing seen",
        "perplexity, clear",
    ]
    for data, name in NAMES.items():
        row = clear_of(found, data)
        if row is None:
            continue
        p = row["accuracy"]
        half = 1.96 * np.sqrt(p * (1 - p) / row["test_texts"])
        lines.append(
            [
                name,
                f"{row['texts']:,}",
                f"{row['words']:,}",
                f"{row['largest_class']:.3f}",
                f"{p:.3f}",
                f"{half:.3f}",
                f"{row['attack_without_output']:.3f}",
                f"{row['perplexity']:,.0f}",
            ]
        )
    return Table(header, lines)


def at_equal_attack(key: str) -> Table:
    """Accuracies of all mechanisms at equal success of the guess."""
    found, lines = load(), []
    header = ["texts", "mechanism", *(f"attack {target:g}" for target in ATTACKS)]
    for data, name in NAMES.items():
        for mechanism in MECHANISMS:
            rows = rows_of(found, data, mechanism)
            if not rows:
                continue
            cells = []
            for target in ATTACKS:
                value = at(found, rows, target, key)
                spread = at(found, rows, target, f"{key}_deviation")
                cells.append("–" if value is None else f"{value:.3f} ± {spread:.3f}")
            lines.append([name, _name(mechanism), *cells])
    return Table(header, lines, text_columns=(1,))


def leads(
    key: str,
    others: Sequence[str],
    data_sets: Sequence[str] = tuple(NAMES),
    targets: Sequence[float] = ATTACKS,
) -> Table:
    """The best of the trees less the best of some others, at equal attack."""
    header = ["texts", *(f"attack {target:g}" for target in targets)]
    found, lines = load(), []
    for data in data_sets:
        cells = []
        for target in targets:
            values = {
                name: value
                for name in (*TREES, *others)
                if (value := at(found, rows_of(found, data, name), target, key))
                is not None
            }
            trees = [values.pop(name) for name in TREES if name in values]
            if not trees or not values:
                cells.append("–")
                continue
            other = max(values, key=lambda other: values[other])
            cells.append(f"{max(trees) - values[other]:+.3f} (`{other}`)")
        lines.append([NAMES[data], *cells])
    return Table(header, lines)


def qualities(target: float) -> Table:
    """What else stays at one success of the guess."""
    found, lines = load(), []
    header = [
        "texts",
        "mechanism",
        "accuracy",
        "words kept",
        "cosine",
        "class kept",
        "tag kept",
        "perplexity",
        "nats, any two words",
    ]
    for data, name in NAMES.items():
        for mechanism in MECHANISMS:
            rows = rows_of(found, data, mechanism)
            values = {
                key: at(found, rows, target, key)
                for key in (
                    "accuracy",
                    "kept",
                    "cosine",
                    "class_agreement",
                    "tag_agreement",
                    "perplexity",
                    "worst_loss",
                )
            }
            if values["accuracy"] is None:
                continue
            *shares, perplexity, loss = values.values()
            lines.append(
                [
                    name,
                    _name(mechanism),
                    *(f"{share:.3f}" for share in shares),
                    f"{perplexity:,.0f}",
                    f"{loss:.0f}",
                ]
            )
    return Table(header, lines, text_columns=(1,))


def at_equal_loss() -> Table:
    """The most accurate setting of each mechanism within a loss of any words."""
    found, lines = load(), []
    header = [
        "texts",
        "mechanism",
        "nats, any two words",
        "attack",
        "accuracy",
        "accuracy, clear test",
        "cosine",
        "largest class",
    ]
    for data, name in NAMES.items():
        clear = clear_of(found, data)
        for mechanism in MECHANISMS:
            rows = [
                row
                for row in rows_of(found, data, mechanism)
                if _loss(row) <= NATS + 1e-6
            ]
            if not rows or clear is None:
                continue
            row = max(rows, key=lambda row: row["accuracy"])
            lines.append(
                [
                    name,
                    _name(mechanism),
                    f"{_loss(row):.1f}",
                    f"{attack(found, row):.3f}",
                    f"{row['accuracy']:.3f}",
                    f"{row['accuracy_clear_test']:.3f}",
                    f"{row['cosine']:.3f}",
                    f"{clear['largest_class']:.3f}",
                ]
            )
    return Table(header, lines, text_columns=(1,))


def _name(mechanism: str) -> str:
    """The name of a mechanism as code, and what is said of it."""
    name, comma, rest = mechanism.partition(",")
    return f"`{name}`{comma}{rest}"


def _loss(row: Row) -> float:
    """Nats between any two words: certified where there is a certificate."""
    certified = row["certified_loss"]
    return float(row["worst_loss"] if certified is None else certified)


def in_context() -> Table:
    """The success of an adversary who knows the order of words."""
    found = load()
    header = [
        "texts",
        "mechanism",
        "attack, own frequencies",
        "public text, word alone",
        "in context",
        "gain",
        "less frequent words, alone",
        "less frequent, in context",
    ]
    rows = sorted(
        found["context"].values(),
        key=lambda row: (
            list(NAMES).index(row["data"]),
            MECHANISMS.index(row["mechanism"]),
            row["setting"],
        ),
    )
    lines = [
        [
            NAMES[row["data"]],
            _name(row["mechanism"]),
            f"{attack(found, measured_at(found, row)):.3f}",
            f"{row['context_free']:.3f}",
            f"{row['contextual']:.3f}",
            f"{row['contextual'] - row['context_free']:+.3f}",
            f"{row['context_free_rare']:.3f}",
            f"{row['contextual_rare']:.3f}",
        ]
        for row in rows
    ]
    return Table(header, lines, text_columns=(1,))


def mixtures() -> Table:
    """What mixtures of trees keep, beside one tree."""
    found = json.loads((machine.RESULTS / "tree_mixture.json").read_text())
    header = ["trees", "chance of the group", "attack", "accuracy", "cosine"]
    lines = [
        [
            f"{row['trees']}",
            f"{row['group']:g}",
            f"{row['attack']:.3f}",
            f"{row['accuracy']:.3f} ± {row['accuracy_deviation']:.3f}",
            f"{row['cosine']:.3f}",
        ]
        for row in found["rows"]
    ]
    return Table(header, lines)


def missed() -> Table:
    """How much of an attack that is known the learnt guesses find."""
    found, lines = load(), []
    for data, name in NAMES.items():
        for row in rows_of(found, data, "exponential"):
            known = attack(found, row)
            if "attack_at_least" in row and 0.15 < known < 0.45:
                share = f"{row['attack_at_least']:.3f}"
                lines.append([name, f"{known:.3f}", share])
    return Table(["texts", "attack, exact", "learnt"], lines)


def charts() -> dict[str, Chart]:
    """The plots by file name."""
    found, drawn = load(), {}
    for data, name in NAMES.items():
        clear = clear_of(found, data)
        curves = {
            mechanism: sorted(
                (attack(found, row), row["accuracy"])
                for row in rows_of(found, data, mechanism)
                if attack(found, row) <= 0.6
            )
            for mechanism in MECHANISMS
        }
        if clear is None or name.endswith("part"):
            continue
        lines = tuple(
            Line.exact(mechanism, MECHANISMS.index(mechanism), places)
            for mechanism, places in curves.items()
            if places
        )
        key = f"tree-frontier-{name.replace(',', '').replace(' ', '-')}"
        drawn[f"{key}.svg"] = Chart(
            key,
            f"What stays of {name}, by attack",
            "Higher is more useful, further left more private; a point is one epsilon.",
            Axis("success of the guess of a word"),
            Axis("accuracy, trained and tested on releases"),
            lines,
            ("clear text", clear["accuracy"]),
        )
    return drawn


TABLES: Final[dict[str, Callable[[], object]]] = {
    "of what": of_what,
    "leads": lambda: leads("accuracy", CLOSED, list(NAMES)[:4], ATTACKS[::2]),
}
DATA: Final[dict[str, Callable[[], Table]]] = {
    "tree-texts.csv": facts,
    "tree-differences.csv": lambda: (
        leads("accuracy", CLOSED).under("beside, tested on", "exact attack, releases")
        + leads("accuracy", SAMPLED).under(
            "beside, tested on", "learnt attack, releases"
        )
        + leads("accuracy_clear_test", CLOSED).under(
            "beside, tested on", "exact attack, clear text"
        )
    ),
    "tree-accuracy.csv": lambda: (
        at_equal_attack("accuracy").under("tested on", "releases")
        + at_equal_attack("accuracy_clear_test").under("tested on", "clear text")
    ),
    "tree-qualities.csv": lambda: (
        qualities(0.2).under("attack", "0.2") + qualities(0.3).under("attack", "0.3")
    ),
    "tree-within-10-nats.csv": at_equal_loss,
    "tree-in-context.csv": in_context,
    "tree-learnt-attack.csv": missed,
    "tree-mixtures.csv": mixtures,
}


def main() -> None:
    """Write tables and plots."""
    for name, chart in charts().items():
        (ASSETS / name).write_bytes(picture(chart, for_page=True))
    fill(PAGE, TABLES, DATA)


if __name__ == "__main__":
    main()
