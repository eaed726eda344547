"""Write the tables of docs/explanation/policies.md from the result files."""

from __future__ import annotations

import functools
import hashlib
import json
from typing import Any, Final

from benchmarks import machine
from benchmarks.measure.policy_readings import JUDGES, SHEETS, shuffled
from benchmarks.pages.page import Table, fill

PAGE = "explanation/policies.md"
COLLECTIONS: Final = (
    "film reviews",
    "news",
    "tweets",
    "insurance",
    "banking77",
    "clinc150",
)
ANNOTATED: Final = ("presidio_synthetic", "llm_redactor")
DEFAULT: Final = "sensitive|urr|12|none"
BESIDE: Final = "sensitive|krr|12|none"
ONLY_DEFAULT: Final = ("accuracy, film reviews", "accuracy, news")
PROMPTS: Final = "the twenty prompts"

VERDICTS: Final = machine.ROOT / "benchmarks" / "measure"
LARGEST: Final = 10**6  # each class one group
CLASSES: Final = 8
STAR: Final = " \\*"
JUDGED: Final = {"policies": "699293dfea77a09e", "near": "17e854b825bc0ff8"}
"""The sheets that were judged, with digests of their releases; see policy_readings."""
READINGS: Final = tuple(name for sheet in JUDGED for name in SHEETS[sheet].settings)


def load(name: str) -> dict[str, Any]:
    """The results of the last run of a script."""
    path = machine.RESULTS / f"{name}.json"
    found: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return found


def _name(key: str) -> str:
    """The name of a setting, for people."""
    policy, mechanism, epsilon, read = key.split("|")
    if policy != "all":
        return f"`{policy}`, `{mechanism}` {epsilon}"
    return f"`{mechanism}` {epsilon}" + (", read" if read != "none" else "")


def rows() -> list[tuple[str, dict[str, Any]]]:
    """The settings that were measured on all sets, for people, in a fixed order.

    A star marks those that were measured with earlier lists alone.
    """
    found, results = [], load("policies")
    whole = {k: row for k, row in results["rows"].items() if {*ANNOTATED} <= row.keys()}
    for key, row in {**results["earlier"], **whole}.items():
        policy, mechanism, epsilon, _ = key.split("|")
        is_policy = policy != "all"
        name = _name(key) + ("" if key in whole else STAR)
        if mechanism in ("urr", "krr", "tree") and row.keys() >= {*ANNOTATED}:
            order = (not is_policy, policy != "sensitive", mechanism != "urr")
            found.append(((*order, float(epsilon) if is_policy else 0.0), name, row))
    found.sort(key=lambda each: each[0])
    return [(name, row) for _, name, row in found]


def beside(part: str) -> dict[str, tuple[str, Any]]:
    """A part of what stands beside: by key, a star for earlier lists, and the figures.

    Keys are in the order in which they were first measured.
    """
    found = load("policies_beside")
    new, old = found["parts"].get(part, {}), found["earlier"].get(part, {})
    return {
        key: ("", new[key]) if key in new else (STAR, old[key])
        for key in {**old, **new}
    }


def digests() -> str:
    """Which lists the figures are of."""
    found = load("policies")["policies"]
    shown = [f"`{found[name]['digest'][:12]}` (`{name}`)" for name in found]
    told = f"The figures are for the shipped lists, with digests {' and '.join(shown)}."
    if load("policies")["earlier"] or any(load("policies_beside")["earlier"].values()):
        told += " Rows with a star were measured with the lists before these."
    return told + "\n"


def _share(value: float | None, digits: int = 2) -> str:
    return "–" if value is None else f"{value:.{digits}f}"


def _with_interval(attack: dict[str, Any], key: str = "value") -> str:
    low, high = _share(attack["low"]), _share(attack["high"])
    return f"{_share(attack[key])} [{low}, {high}]"


def recovered() -> Table:
    """What the in-domain reader recovers of the sensitive words, with its interval."""
    body = [
        [
            name,
            *(
                _with_interval(row[each]["attack"])
                if "attack" in row.get(each, {})
                else "–"
                for each in COLLECTIONS
            ),
        ]
        for name, row in rows()
        if "attack" in row["insurance"]
    ]
    return Table(["setting", *COLLECTIONS], body)


def alone() -> Table:
    """What the guess from the output alone recovers of the sensitive words."""
    body = [
        [
            name,
            *(
                _share(row[c]["attack"]["group_alone"]["value"])
                if "attack" in row.get(c, {})
                else "–"
                for c in COLLECTIONS
            ),
        ]
        for name, row in rows()
        if "attack" in row["insurance"] and (name.endswith(" 12") or "," not in name)
    ]
    return Table(["setting", *COLLECTIONS], body)


def hidden() -> Table:
    """The reader again, over the words that the policy hides alone."""
    body = [
        [
            name,
            *(
                "{} of {:,}".format(
                    _share(row[c]["attack"]["hidden_only"]["value"]),
                    row[c]["attack"]["hidden_only"]["n"],
                )
                for c in COLLECTIONS
            ),
        ]
        for name, row in rows()
        if name.startswith("`names`") and name.endswith("12")
    ]
    return Table(["setting", *COLLECTIONS], body)


def use() -> Table:
    """What the releases are good for, and how well they are linked."""
    header = [
        "setting",
        *(each for each in COLLECTIONS if each != "insurance"),
        "insurance: 1 / 10 / 50",
        "words kept, news / insurance",
        "linkage, news / insurance",
    ]
    body = []
    for name, row in rows():
        found = row["insurance"]["same_passage"]
        links = " / ".join(_share(row[c].get("linkage")) for c in ("news", "insurance"))
        body.append(
            [
                name,
                *(
                    _share(row.get(each, {}).get("accuracy"), 3)
                    for each in COLLECTIONS
                    if each != "insurance"
                ),
                " / ".join(_share(found[k]) for k in ("1", "10", "50")),
                " / ".join(
                    _share(row.get(c, {}).get("kept")) for c in ("news", "insurance")
                ),
                links,
            ]
        )
    clear = rows()[0][1]
    first = [_share(clear[c]["clear"], 3) for c in COLLECTIONS if c != "insurance"]
    body.insert(0, ["original text", *first, "1 / 1 / 1", "1.00 / 1.00", "1.00 / 1.00"])
    return Table(header, body)


def units() -> Table:
    """Annotated units that are printed unchanged."""
    header = ["setting"]
    for name in ANNOTATED:
        header += [f"{name}: units left", "prompts with one", "other words kept"]
    body = []
    parts = beside("detectors")
    star = next((star for star, _ in parts.values() if star), "")
    layered = [name for name in next(iter(parts.values()))[1] if name != "Presidio"]
    both = [
        (name + mark, {each: parts[each][1][name] for each in ANNOTATED})
        for name, mark in (("Presidio", ""), *((name, star) for name in layered))
    ]
    for name, row in (*both, *rows()):
        cells = [name]
        for each in ANNOTATED:
            found = row[each]
            ends = f"[{100 * found['low']:.1f}, {100 * found['high']:.1f}]"
            cells += [
                f"{100 * found['units_left']:.1f} % {ends}",
                f"{100 * found['prompts_with_one']:.1f} %",
                _share(found["other_words_kept"]),
            ]
        body.append(cells)
    return Table(header, body)


def groups() -> Table:
    """What larger groups change: the share that the reader recovers of each set."""
    found = load("policies")["by_group_size"]
    sizes = [each["hide_among"] for each in next(iter(found.values()))]
    header = [
        f"{size:,} words at least" if size < LARGEST else "one group for each class"
        for size in sizes
    ]
    body = [
        [name, f"{rows[0]['n']:,}", *(_share(each["value"]) for each in rows)]
        for name, rows in found.items()
    ]
    return Table(["set", "sensitive words", *header], body)


def kinds() -> Table:
    """What the reader recovers by class under the default, all sets together."""
    sums: dict[str, list[float]] = {}
    for name in COLLECTIONS:
        attack = load("policies")["rows"][DEFAULT][name]["attack"]
        for kind, of in attack["by_class"].items():
            count = sums.setdefault(kind, [0.0, 0.0])
            count[0] += of["value"] * of["n"]
            count[1] += of["n"]
    total = sum(hits for hits, _ in sums.values())
    ranked = sorted(sums.items(), key=lambda each: -each[1][0])[:CLASSES]
    body = [
        [kind, f"{n:,.0f}", _share(hits / n), f"{100 * hits / total:.0f} %"]
        for kind, (hits, n) in ranked
    ]
    return Table(["class", "words", "recovered", "of all that is recovered"], body)


def context() -> Table:
    """What the reader recovers, and what it recovers of less."""
    found = beside("context")
    body = []
    for name in COLLECTIONS:
        if name in found:
            star, row = found[name]
            cells = [
                _share(row[key])
                for key in ("neighbors_alone", "group_alone", "most_common_word")
            ]
            size = f"{row['n']:,}"
            body.append([name + star, size, _with_interval(row, "reader"), *cells])
    header = ["set", "sensitive words", "in-domain reader", "neighbors alone"]
    return Table([*header, "group alone", "most common word"], body)


def implicit() -> str:
    """How many of the units left describe somebody in ordinary words."""
    _, found = beside("left_by_kind")["llm_redactor"]
    left, units = (sum(each[i] for each in found.values()) for i in (0, 1))
    described, all_ = found["implicit"]
    share = 100 * (left - described) / (units - all_)
    which = f"All {left}" if described == left else f"{described} of them"
    return (
        f"In llm_redactor, the default leaves {left} units unchanged. {which} "
        'are descriptions in ordinary words, such as "our largest enterprise '
        f'client". Of the other units, {share:.2f} % are left.\n'
    )


def _order(item: tuple[str, Any]) -> tuple[bool, bool, bool]:
    policy, mechanism, *_ = item[0].split("|")
    return policy == "all", policy == "names", mechanism == "krr"


def tells() -> Table:
    """Authorship, membership and perplexity."""
    authors, fluency = beside("authors"), beside("perplexity")
    named = _share(authors[DEFAULT][1]["clear"]["value"])
    clear = fluency[DEFAULT][1]["clear"]
    body = [["original text", named, "1.00", f"{clear:,.0f}"]]
    for key, (star, row) in sorted(beside("members").items(), key=_order):
        _, found = authors.get(key, ("", None))
        body.append(
            [
                _name(key) + star,
                "–" if found is None else _share(found["learned_releases"]["value"]),
                _with_interval(row, "auc"),
                f"{fluency[key][1]['released']:,.0f}",
            ]
        )
    return Table(["setting", "authors named", "membership, AUC", "perplexity"], body)


def slow() -> Table:
    """Mechanisms that were measured on two collections and the annotated sets."""
    body = []
    for key, row in load("policies")["rows"].items():
        if key.split("|")[1] not in ("calibrated", "exponential", "tem"):
            continue
        cells = [_name(key)]
        for each in ("insurance", "banking77"):
            found = row.get(each, {})
            attack = found.get("attack")
            cells.append("–" if attack is None else _with_interval(attack))
        cells.append(_share(row.get("banking77", {}).get("accuracy")))
        cells.append(_share(row.get("insurance", {}).get("kept")))
        for each in ANNOTATED:
            cells.append(
                f"{100 * row[each]['units_left']:.1f} %" if each in row else "–"
            )
        body.append(cells)
    header = ["setting", "insurance: recovered", "banking77: recovered"]
    header += ["banking77: intents", "insurance: words kept"]
    return Table([*header, *(f"{each}: units left" for each in ANNOTATED)], body)


def digest_of(sheet: str) -> str:
    """A digest of what was judged: other releases are to be judged anew."""
    shown = [
        [row[name] for name in SHEETS[sheet].settings]
        for row in load("policy_readings")["rows"]
        if row["kind"] == PROMPTS
    ]
    return hashlib.sha256(json.dumps(shown).encode()).hexdigest()[:16]


@functools.cache
def marks_of(judge: int) -> dict[str, list[str]]:
    """Join what a judge said with what was judged: five marks for each prompt."""
    found = load("policy_readings")["rows"]
    marks = {name: [[""] * 5 for _ in range(20)] for name in READINGS}
    for sheet, digest in JUDGED.items():
        if digest_of(sheet) != digest:
            raise ValueError(
                f"sheet {sheet}: other releases than those that were judged: "
                f"{digest_of(sheet)}"
            )
        lines = (VERDICTS / SHEETS[sheet].verdicts).read_text("utf-8").splitlines()
        order = shuffled(found, SHEETS[sheet])
        for (place, name, draw), line in zip(order, lines, strict=True):
            marks[name][place][draw] = line.split()[judge]
    return {name: ["".join(each) for each in all_] for name, all_ in marks.items()}


def count_same(judge: int, name: str) -> int:
    """Count the prompts that ask the same in most of their five draws."""
    return sum(each.count("y") > 2 for each in marks_of(judge)[name])


def prompts() -> Table:
    """The first draw of each prompt, and how many of five draws ask the same.

    There is a count for each judge.
    """
    some = [r for r in load("policy_readings")["rows"] if r["kind"] == PROMPTS]
    body = []
    for i, row in enumerate(some):
        cells = [row["text"]]
        for name in READINGS:
            first = "unchanged" if row[name][0] == row["text"] else row[name][0]
            counts = (str(marks_of(j)[name][i].count("y")) for j in range(len(JUDGES)))
            cells += [first, " ".join(counts)]
        body.append(cells)
    header = ["prompt"]
    for name in READINGS:
        header += [f"`{name}`, first draw", "same, of 5"]
    return Table(header, body, tuple(range(1, len(header), 2)))


def verdicts() -> str:
    """How many prompts ask the same in most of their draws, by each judge."""
    body = []
    for judge, who in enumerate(JUDGES):
        cells = [who]
        for name in READINGS:
            marks = marks_of(judge)[name]
            most = count_same(judge, name)
            draws = sum(each.count("y") for each in marks)
            cells.append(f"{most} of {len(marks)} ({draws} of {5 * len(marks)} draws)")
        body.append(cells)
    every = [
        {marks_of(judge)[name][i][draw] == "y" for judge in range(len(JUDGES))}
        for name in READINGS
        for i in range(len(marks_of(0)[name]))
        for draw in range(5)
    ]
    agreed = sum(len(each) == 1 for each in every)
    told = f"All judges agree on {agreed} of {len(every)} releases."
    return f"{Table(['judge', *(f'`{name}`' for name in READINGS)], body)}\n\n{told}\n"


def all_readings() -> Table:
    """Every text with its five draws under both policies."""
    header = ["kind", "text"]
    header += [f"{name}, draw {i + 1}" for name in READINGS for i in range(5)]
    header += [f"{name}, asks the same" for name in READINGS]
    found = load("policy_readings")["rows"]
    some = [row["text"] for row in found if row["kind"] == PROMPTS]
    body = []
    for row in found:
        marks = ["–" for _ in READINGS]
        if row["kind"] == PROMPTS:
            at = some.index(row["text"])
            every = range(len(JUDGES))
            marks = [
                " ".join(marks_of(judge)[name][at] for judge in every)
                for name in READINGS
            ]
        draws = [draw for name in READINGS for draw in row[name]]
        body.append([row["kind"], row["text"], *draws, *marks])
    return Table(header, body)


def goals() -> Table:
    """The marks that were set before measuring, and whether the default meets them."""
    found = load("policies")["rows"][DEFAULT]
    beside_it = load("policies")["rows"][BESIDE]
    attacks = [found[name]["attack"] for name in COLLECTIONS]
    presidio, llm = (found[name] for name in ANNOTATED)
    at_least = [
        ("accuracy, film reviews", 0.865, found["film reviews"]["accuracy"]),
        ("accuracy, news", 0.78, found["news"]["accuracy"]),
        ("accuracy, clinc150", 0.88, found["clinc150"]["accuracy"]),
        ("accuracy, banking77", 0.84, found["banking77"]["accuracy"]),
        ("other words kept, presidio_synthetic", 0.90, presidio["other_words_kept"]),
        ("other words kept, llm_redactor", 0.88, llm["other_words_kept"]),
    ]
    marks = (0.865, 0.825, 0.87, 0.85)  # of krr, in the order of the default's
    of_default = [each for each in at_least if each[0] not in ONLY_DEFAULT]
    for (name, _, _), mark in zip(of_default, marks, strict=True):
        key = "accuracy" if name.startswith("accuracy") else "other_words_kept"
        value = beside_it[name.rpartition(", ")[2]][key]
        at_least.append((f"`krr` at 12: {name}", mark, value))
    at_most = [
        ("units left, presidio_synthetic", 0.005, presidio["units_left"]),
        ("units left, llm_redactor", 0.003, llm["units_left"]),
        ("recovered, best and worst set", 0.15, [each["value"] for each in attacks]),
        (
            "recovered from the group alone, best and worst set",
            0.11,
            [each["group_alone"]["value"] for each in attacks],
        ),
    ]
    body = [
        [name, f"at least {mark:g}", f"{value:.3f}", _says(value >= mark)]
        for name, mark, value in at_least
    ]
    for name, mark, value in at_most:
        shares = value if isinstance(value, list) else [value]
        ends = dict.fromkeys(f"{each:.3f}" for each in (min(shares), max(shares)))
        many = sum(round(each, 2) <= mark for each in shares)
        met = f"in {many} of {len(shares)} sets, to two digits"
        is_met = met if len(shares) > 1 else _says(shares[0] <= mark)
        body.append([name, f"at most {mark:g}", " to ".join(ends), is_met])
    return Table(["`urr` at 12, if not said", "goal", "measured", "met"], body)


def _says(is_met: bool) -> str:
    return "yes" if is_met else "**no**"


def sizes() -> str:
    """How many texts and sensitive words the figures are of."""
    first = rows()[0][1]
    said = []
    for name in COLLECTIONS:
        attack = first[name]["attack"]
        said.append(
            f"{name}: {attack['texts']:,} texts with {attack['n']:,} sensitive words, "
            f"corpus {attack['corpus_words']:,} words"
        )
    return "; ".join(said) + ".\n"


TABLES = {
    "recovered": recovered,
    "alone": alone,
    "context": context,
    "tells": tells,
    "implicit": implicit,
    "digests": digests,
    "slow": slow,
    "kinds": kinds,
    "hidden": hidden,
    "groups": groups,
    "use": use,
    "units": units,
    "prompts": prompts,
    "verdicts": verdicts,
    "goals": goals,
    "sizes": sizes,
}
DATA = {"policies-readings.csv": all_readings}

if __name__ == "__main__":
    fill(PAGE, TABLES, DATA)
