"""Let judges say which requests still ask the same, without knowing which guard it was.

    python -m benchmarks asks_same SHEET [--prompts SETTING]
    python -m benchmarks asks_same SHEET VERDICTS... [--prompts SETTING]

The first writes the opening requests of forty conversations behind each guard, as they
were said (A) and as they left (B), in random order and without the guards: SHEET for
the judges, and SHEET.key beside it. Both hold annotated texts that do not ship. A judge
writes a line for each: y asks the same, n nearly, and a dot something else. The second
joins the verdicts with the guards, and writes results/asks_same.json. With
``--prompts`` the requests are twenty prompts, in five conversations each, behind a
setting of SETTINGS, and the results are those of asks_same_prompts_SETTING.json.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
from collections import Counter
from pathlib import Path
from typing import Any, Final

import mondegreen as mg
from benchmarks import machine
from benchmarks.measure.gateway.conversations import PROXIES, beside, through_proxy
from benchmarks.measure.private_prompts import PROMPTS

CONVERSATIONS: Final = 40
DRAWS: Final = 5
SEED: Final = 27
SETTINGS: Final[dict[str, dict[str, Any]]] = {
    "names": {},
    "near": {"numbers": "near"},
    "place": {"opened": ("place",)},
}
"""Settings beside the policy ``names``, under which the twenty prompts are judged."""


def build_sheet(path: Path) -> None:
    """Ask through every guard, and write what left."""
    guards = {
        **{name: through_proxy(CONVERSATIONS, each) for name, each in PROXIES.items()},
        "Presidio": beside(CONVERSATIONS, is_litellm=False),
        "LiteLLM": beside(CONVERSATIONS, is_litellm=True),
    }
    rows = [
        (name, *opening)
        for name, tally in guards.items()
        for _, opening in sorted(tally.openings.items())
    ]
    write_sheet(path, rows)


def build_prompts(path: Path, setting: str) -> None:
    """Hide every prompt in conversations of its own, and write what left."""
    more = SETTINGS[setting]
    rows = [
        (prompt, prompt, mg.conversation(policy="names", **more).hide(prompt))
        for prompt in PROMPTS
        for _ in range(DRAWS)
    ]
    write_sheet(path, rows)


def write_sheet(path: Path, rows: list[tuple[str, str, str]]) -> None:
    """Write pairs in random order, and beside them what they are of."""
    random.Random(SEED).shuffle(rows)
    path.write_text(
        "".join(
            f"=== {number}\nA: {said}\nB: {sent}\n\n"
            for number, (_, said, sent) in enumerate(rows, 1)
        ),
        "utf-8",
    )
    key_path(path).write_text(json.dumps([name for name, *_ in rows]), "utf-8")


def key_path(sheet: Path) -> Path:
    """Where the guards or prompts of a sheet stand."""
    return sheet.with_name(f"{sheet.name}.key")


def join(sheet: Path, verdicts: list[Path], conversations: int) -> dict[str, Any]:
    """Count what each judge said of each guard or prompt, and where they agree."""
    guards = json.loads(key_path(sheet).read_text("utf-8"))
    marks = [path.read_text("utf-8").split() for path in verdicts]
    judges = [
        {
            name: dict(
                Counter(m for g, m in zip(guards, each, strict=True) if g == name)
            )
            for name in dict.fromkeys(sorted(guards))
        }
        for each in marks
    ]
    agreed = sum(
        len({mark == "y" for mark in row}) == 1 for row in zip(*marks, strict=True)
    )
    digest = hashlib.sha256(sheet.read_bytes()).hexdigest()[:16]
    return {
        "conversations": conversations,
        "sheet": digest,
        "requests": len(guards),
        "judges": judges,
        "agreed": agreed,
    }


def main() -> None:
    """Write a sheet, or what was judged."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sheet", type=Path)
    parser.add_argument("verdicts", type=Path, nargs="*")
    parser.add_argument("--prompts", choices=SETTINGS, metavar="SETTING")
    given = parser.parse_args()
    if not given.verdicts:
        if given.prompts:
            build_prompts(given.sheet, given.prompts)
        else:
            build_sheet(given.sheet)
        return
    name, count = "asks_same", CONVERSATIONS
    if given.prompts:
        name, count = f"asks_same_prompts_{given.prompts}", DRAWS
    machine.save(name, join(given.sheet, given.verdicts, count))


if __name__ == "__main__":
    main()
