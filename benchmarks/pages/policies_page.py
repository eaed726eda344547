"""Write the tables of docs/explanation/policies.md from the result files."""

from __future__ import annotations

import hashlib
import json
from typing import Any, Final

from benchmarks import machine
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
READINGS: Final = ("names", "sensitive --open health")
PROMPTS: Final = "the twenty prompts"

# What one reader says of five draws of each prompt, in the order of the prompts: y asks
# the same, n nearly, and a dot something else. They were read in a random order.
VERDICTS: Final = {
    "names": (
        "yyyyy yyyyy yyyyy yyyyy yyyyy .nnnn ..... yyyyy yyyyy yyyyy "
        "..... yyyyy yyyyy yyyyy yyyyy nnnnn yyyyy yyyyy yyyyy ....."
    ).split(),
    "sensitive --open health": (
        "yyyyy yyyyy ..... yyyyy ...n. ..... ..... n...n yyyyy ..... "
        "..... ..... ..... .n... nnnn. ..n.. ..... yyyyy ..... ....."
    ).split(),
}
VERDICTS_DIGEST: Final = "807a564b9d65bacc"


def load(name: str) -> dict[str, Any]:
    """The results of the last run of a script."""
    path = machine.RESULTS / f"{name}.json"
    found: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return found


def rows() -> list[tuple[str, dict[str, Any]]]:
    """The settings that were measured on all sets, for people, in a fixed order."""
    found = []
    for key, row in load("policies")["rows"].items():
        policy, mechanism, epsilon, read = key.split("|")
        is_policy = policy != "all"
        name = f"`{policy}`, `{mechanism}` {epsilon}"
        if not is_policy:
            name = f"`{mechanism}` {epsilon}" + (", read" if read != "none" else "")
        if row.keys() >= {"insurance", *ANNOTATED}:
            order = (not is_policy, policy != "sensitive", mechanism != "urr")
            found.append(((*order, float(epsilon) if is_policy else 0.0), name, row))
    found.sort(key=lambda each: each[0])
    return [(name, row) for _, name, row in found]


def _share(value: float | None, digits: int = 2) -> str:
    return "–" if value is None else f"{value:.{digits}f}"


def _with_interval(attack: dict[str, Any]) -> str:
    low, high = _share(attack["low"]), _share(attack["high"])
    return f"{_share(attack['value'])} [{low}, {high}]"


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
    body.insert(0, ["clear text", *first, "1 / 1 / 1", "1.00 / 1.00", "1.00 / 1.00"])
    return Table(header, body)


def units() -> Table:
    """Annotated units that are printed unchanged."""
    header = ["setting"]
    for name in ANNOTATED:
        header += [f"{name}: units left", "prompts with one", "other words kept"]
    body = []
    for name, row in rows():
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


def groups() -> str:
    """What larger groups change, in a sentence."""
    found = load("policies")
    first, *_, last = found["by_group_size"]
    classes = found["rows"][DEFAULT]["insurance"]["attack"]["by_class"]
    said = [
        f"{100 * classes[name]['value']:.0f} % of {classes[name]['n']} {words}"
        for name, words in (("health", "words for health"), ("occupation", "jobs"))
    ]
    return (
        f"In insurance questions the reader recovers {' and '.join(said)}. "
        f"Groups of at least {first['hide_among']} words let it recover "
        f"{_share(first['value'])} of {first['n']} sensitive words, and one group for "
        f"each class {_share(last['value'])}.\n"
    )


def judged() -> str:
    """A digest of what was judged: other releases are to be judged anew."""
    shown = [
        [row[name] for name in READINGS]
        for row in load("policy_readings")["rows"]
        if row["kind"] == PROMPTS
    ]
    return hashlib.sha256(json.dumps(shown).encode()).hexdigest()[:16]


def prompts() -> Table:
    """The first draw of each prompt, and how many of five draws ask the same."""
    if judged() != VERDICTS_DIGEST:
        raise ValueError(f"other releases than those that were judged: {judged()}")
    some = [r for r in load("policy_readings")["rows"] if r["kind"] == PROMPTS]
    body = []
    for i, row in enumerate(some):
        cells = [row["text"]]
        for name in READINGS:
            first = "unchanged" if row[name][0] == row["text"] else row[name][0]
            cells += [first, str(VERDICTS[name][i].count("y"))]
        body.append(cells)
    header = ["prompt"]
    for name in READINGS:
        header += [f"`{name}`, first draw", "same, of 5"]
    return Table(header, body, (1, 3))


def verdicts() -> str:
    """How many prompts ask the same in most of their draws."""
    said = []
    for name in READINGS:
        marks = VERDICTS[name]
        most = sum(each.count("y") > 2 for each in marks)
        draws = sum(each.count("y") for each in marks)
        said.append(
            f"Under `{name}`, {most} of {len(marks)} prompts ask the same in most "
            f"draws ({draws} of {5 * len(marks)} draws)."
        )
    return " ".join(said) + "\n"


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
            marks = [VERDICTS[name][some.index(row["text"])] for name in READINGS]
        draws = [draw for name in READINGS for draw in row[name]]
        body.append([row["kind"], row["text"], *draws, *marks])
    return Table(header, body)


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
    "hidden": hidden,
    "groups": groups,
    "use": use,
    "units": units,
    "prompts": prompts,
    "verdicts": verdicts,
    "sizes": sizes,
}
DATA = {"policies-readings.csv": all_readings}

if __name__ == "__main__":
    fill(PAGE, TABLES, DATA)
