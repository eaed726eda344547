"""Write the tables of the restoring gateway into explanation/private-prompts.md."""

from __future__ import annotations

import json
from typing import Any

from benchmarks import machine
from benchmarks.pages.page import Table, fill

PAGE = "explanation/private-prompts.md"
GUARDS = {
    "names": "`names`, all conversations",
    "names, the first": "`names`",
    "names, Presidio first": "`names`, Presidio first",
    "sensitive": "`sensitive`",
    "sensitive, Presidio first": "`sensitive`, Presidio first",
    "all": "`all`",
    "Presidio": "Presidio, placeholders",
    "LiteLLM": "LiteLLM's guard with Presidio",
}
PROMPT_SETTINGS = {
    "names": "`names`",
    "near": "`names --numbers near`",
    "place": "`names --open place`",
}
"""Settings under which the twenty prompts are judged; see asks_same."""
TRIES = "tries to open a stranger's conversation"
SHOWN_KINDS = 8
"""Kinds of units that leave which are listed; the result file has them all."""


def _found(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(
        (machine.RESULTS / f"{name}.json").read_text("utf-8")
    )
    return found


def _share(value: float) -> str:
    return f"{100 * value:.1f} %"


def conversations() -> Table:
    """What leaves and what returns, for each guard."""
    guards = _found("conversations")["guards"]
    rows = []
    for name, shown in GUARDS.items():
        each = guards[name]
        interval = f"{100 * each['low']:.2f} to {100 * each['high']:.2f}"
        rows.append(
            [
                shown,
                f"{each['conversations']:,}",
                f"{each['answers']:,}",
                f"{100 * each['share of units that leave']:.2f} % ({interval})",
                _share(each["share of facts right"]),
                _share(each["share right"]),
                _share(each["share that asks the same"]),
                _share(each["other words kept"] / each["other words"]),
                str(each["answers with a foreign marker"]),
            ]
        )
    header = [
        "guard",
        "conversations",
        "requests",
        "units left (95 %)",
        "facts right",
        "answer right",
        "asks the same",
        "other words kept",
        "mixed",
    ]
    return Table(header, rows)


def streams() -> str:
    """Say how whole and streamed answers differ, and which units leave."""
    each = _found("conversations")["guards"]["names"]
    shares = {
        form: each[f"answers {form}, right"] / each[f"answers {form}"]
        for form in ("at once", "streamed")
    }
    kinds = sorted(each["units by kind"].items(), key=lambda item: -item[1][0])
    left = [f"{name} {a} of {b}" for name, (a, b) in kinds if a][:SHOWN_KINDS]
    digits, drawn = each["units by kind"]["digit"], each["units"]
    others = (each["units that leave"] - digits[0]) / (drawn - digits[1])
    lost = each.get("requests without an answer", 0)
    tasks = sorted(each["wrong by task"].items(), key=lambda item: -item[1])[:3]
    wrong = ", ".join(f'"{name}" {count}' for name, count in tasks)
    return (
        f"Under `names`, {_share(shares['at once'])} of the answers in one piece are "
        f"right, and {_share(shares['streamed'])} of the streamed answers. "
        f"{lost} requests had no answer. Wrong answers by task: {wrong}. Units that "
        f"leave, by kind: {'; '.join(left)}. Without numbers of one digit, "
        f"{100 * others:.2f} % of the units are left.\n"
    )


def judged() -> str:
    """How many requests ask the same, by each judge; and on how many they agree."""
    found = _found("asks_same")
    judges = found["judges"]
    rows = [
        [
            shown.partition(", all")[0],
            *(f"{each[name].get('y', 0)}" for each in judges),
            *(f"{each[name].get('n', 0)}" for each in judges),
        ]
        for name, shown in GUARDS.items()
        if name in judges[0]
    ]
    numbers = range(1, len(judges) + 1)
    header = ["guard", *(f"same, judge {n}" for n in numbers)]
    table = Table([*header, *(f"nearly, judge {n}" for n in numbers)], rows)
    return (
        f"{table}\nThe numbers are out of {found['conversations']} requests for each "
        f"guard. The judges agree on {found['agreed']} of {found['requests']} "
        "requests.\n"
    )


def prompts() -> str:
    """How many prompts ask the same in most conversations, by setting and judge."""
    rows = []
    for setting, shown in PROMPT_SETTINGS.items():
        found = _found(f"asks_same_prompts_{setting}")
        count, judges = found["conversations"], found["judges"]
        same = [sum(2 * m.get("y", 0) > count for m in j.values()) for j in judges]
        rows.append([shown, *(f"{n} of {len(judges[0])}" for n in same)])
    numbers = range(1, len(rows[0]))
    table = Table(["setting", *(f"same, judge {n}" for n in numbers)], rows)
    return (
        f"The judges also read 20 other prompts, each in {count} conversations. The "
        f"table counts the prompts that ask the same in most of them.\n\n{table}"
    )


def latency() -> Table:
    """Times of each guard beside a plain proxy, with one client and with many."""
    found = _found("gateway_latency")
    one, many = found["one client"], found["64 clients"]
    rows = []
    for name, shown in {"plain": "none: a plain proxy", **GUARDS}.items():
        if name not in many:
            continue
        cells = [shown.partition(", all")[0]]
        for times in (one, many):
            for key in ("p50, ms", "p99, ms"):
                ratio = times[name][key] / times["plain"][key]
                cells.append(f"{times[name][key]:.1f} ({ratio:.1f})")
        rows.append(cells)
    heads = ("1 client: p50", "1 client: p99", "64 clients: p50", "64 clients: p99")
    return Table(["guard", *heads], rows)


def extra() -> str:
    """How much later than a plain proxy ours answers one client."""
    one = _found("gateway_latency")["one client"]
    more = one["names"]["p50, ms"] - one["plain"]["p50, ms"]
    return (
        f"With one client, the p50 of `names` is {more:.1f} ms above that of the plain "
        "proxy.\n"
    )


def soak() -> Table:
    """What became of conversations while a proxy was killed."""
    found = _found("soak")
    rows = []
    for name, shown in (("killed", "killed"), ("steady", "not killed")):
        each = found[name]
        rows.append(
            [
                shown,
                f"{each['conversations']:,}",
                f"{each['answers']:,}",
                str(each["answers with a foreign marker"]),
                str(each["answers that lost the own marker"]),
                str(each.get("requests lost without an error", 0)),
                f"{each.get('of these, opened', 0)} of {each[TRIES]}",
            ]
        )
    header = [
        "proxy",
        "conversations",
        "answers",
        "mixed",
        "without their own word",
        "lost without an error",
        "opened by strangers",
    ]
    return Table(header, rows)


def memory() -> str:
    """Say what the run was, what was in clear, and how memory went."""
    found = _found("soak")
    kills = " and ".join(f"{n} {name}" for name, n in sorted(found["kills"].items()))
    sizes = found["memory of the steady proxy"]["MiB, by tenths of the run"]
    return (
        f"In {found['minutes']:g} minutes the first proxy got {kills}. The model "
        f"received {found['requests at the model']:,} requests. In "
        f"{found['requests with a marker in clear']} of them, the unique word was "
        f"unchanged. The other proxy used {sizes[0]:.0f} MiB in the first tenth of the "
        f"run, {sizes[len(sizes) // 2]:.0f} MiB in the middle and {sizes[-1]:.0f} MiB "
        "in the last tenth.\n"
    )


TABLES = {
    "conversations": conversations,
    "streams": streams,
    "judged": judged,
    "twenty prompts": prompts,
    "gateway latency": latency,
    "extra latency": extra,
    "soak": soak,
    "soak memory": memory,
}

if __name__ == "__main__":
    fill(PAGE, TABLES)
