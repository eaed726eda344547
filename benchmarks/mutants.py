"""Audit every mutant and its sound version; write mutants.json and fill the page.

Run by hand (a minute): ``python benchmarks/mutants.py``. With ``--page`` only the
tables of docs/explanation/audit.md are filled again, from the stored results of this
script and of benchmarks/peers/audit_peers.py.
"""

from __future__ import annotations

import json
import re
import sys
import time
from pathlib import Path
from typing import Final

from machine import RESULTS, save

ROOT: Final = Path(__file__).resolve().parent.parent
PAGE: Final = ROOT / "docs" / "explanation" / "audit.md"
SOUND_SEEDS: Final = range(20)

_TABLE = r"<!-- {name} -->\n.*?<!-- end of {name} -->"


def main() -> int:
    """Audit, save, and fill the page."""
    if "--page" not in sys.argv:
        measure()
    fill()
    return 0


def measure() -> None:
    """Audit all mutants."""
    sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests" / "audit")]
    from mutants import ALPHA, MUTANTS, evidence_of

    rows = []
    for mutant in MUTANTS:
        started = time.perf_counter()
        report = mutant.broken(0)
        seconds = time.perf_counter() - started
        alarms = sum(mutant.sound(seed).is_broken for seed in SOUND_SEEDS)
        sound = mutant.sound(0)
        rows.append(
            {
                "mutant": mutant.name,
                "mistake": mutant.mistake,
                "caught": report.is_broken,
                "method": report.method,
                "evidence": evidence_of(report),
                "seconds": round(seconds, 2),
                "sound_verdict": sound.verdict,
                "sound_found": sound.to_dict()["found"],
                "sound_claimed": sound.claimed,
                "sound_audits": len(SOUND_SEEDS),
                "false_alarms": alarms,
                "report": report.to_dict(),
            }
        )
    save("mutants", {"false_alarm_rate_of_one_audit": ALPHA, "mutants": rows})


def fill() -> None:
    """Put the tables into the page."""
    text = PAGE.read_text("utf-8")
    tables = {"mutants": mutant_table(), "peers": peer_table()}
    for name, table in tables.items():
        block = f"<!-- {name} -->\n{table}\n<!-- end of {name} -->"
        pattern = re.compile(_TABLE.format(name=name), re.DOTALL)
        text = pattern.sub(lambda _, block=block: block, text)
    PAGE.write_text(text, "utf-8")


def mutant_table() -> str:
    """Return the table of mutants."""
    content = json.loads((RESULTS / "mutants.json").read_text())
    lines = [
        "| mistake | what it does | caught by | evidence | sound version |",
        "|---|---|---|---|---|",
    ]
    for row in content["mutants"]:
        how = row["method"].partition(":")[0]
        sound = f"{row['sound_verdict']} ({row['false_alarms']} of "
        sound += f"{row['sound_audits']} called broken)"
        caught = how if row["caught"] else "not caught"
        evidence = _short(row["evidence"])
        lines.append(
            f"| {row['mutant']} | {row['mistake']} | {caught} | {evidence} | {sound} |"
        )
    return "\n".join(lines)


def peer_table() -> str:
    """Return the table of other packages."""
    path = RESULTS / "peers_audit.json"
    if not path.exists():
        return "Not measured yet."
    lines = [
        "| package | mechanism | vocabulary | epsilon | verdict | evidence |",
        "|---|---|---|---|---|---|",
    ]
    for row in json.loads(path.read_text())["audits"]:
        cells = [f"{row['package']} {row['version']}", row["mechanism"], row["space"]]
        cells.append(f"{row['epsilon']:g}")
        if "error" in row:
            cells += ["not run", _short(row["error"])]
        else:
            cells += [row["report"]["verdict"], _peer_evidence(row["report"])]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _peer_evidence(report: dict) -> str:
    """Return what convicts a target, in one line."""
    parts = []
    worst = report["worst"]
    if worst and worst["excess"] != "inf" and float(worst["excess"]) > 0:
        first, second = worst["words"]
        event = ", ".join(f"`{out}`" for out in worst["event"][:2])
        more = f" and {worst['outputs'] - 2} more" if worst["outputs"] > 2 else ""
        counts = worst["counts"]
        parts.append(
            f"`{first}` and `{second}` ({worst['distance']:.2g} apart): output {event}"
            f"{more} {counts[0]:,} and {counts[1]:,} times of {worst['runs']:,}; at "
            f"least {worst['loss']:.2f} nats, {worst['allowed']:.2f} allowed"
        )
    for finding in report["findings"]:
        kind = finding["kind"]
        if not finding["is_break"]:
            parts.append(f"warning: {kind}")
            continue
        text = re.sub(r"'([^']*)'", r"`\1`", finding["text"])
        parts.append(f"{kind}: {text}")
    if not parts:
        return f"none found; up to {report['power_nats']:.2g} nats could have been seen"
    return "; ".join(parts).replace("|", "\\|")


def _short(text: str) -> str:
    return (text if len(text) <= 220 else text[:217] + "...").replace("|", "\\|")


if __name__ == "__main__":
    sys.exit(main())
