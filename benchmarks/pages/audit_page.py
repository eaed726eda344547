"""Write docs/explanation/audit.md and its data from the stored results.

``python -m benchmarks audit_page``, after benchmarks/measure/mutants.py and
benchmarks/peers/audit_peers.py. tests/audit/test_audit_page.py holds them together.
"""

from __future__ import annotations

import json
import re
import sys
from typing import Any, Final

from benchmarks.machine import RESULTS
from benchmarks.pages.page import Table, fill

PAGE: Final = "explanation/audit.md"
_LONGEST: Final = 220


def mutant_table() -> Table:
    """The table of mutants."""
    rows = []
    for row in _stored("mutants")["mutants"]:
        verdict, alarms = row["sound_verdict"], row["false_alarms"]
        rows.append(
            [
                row["mutant"],
                row["mistake"],
                row["method"].partition(":")[0] if row["caught"] else "not caught",
                _short(row["evidence"]),
                f"{verdict} ({alarms} of {row['sound_audits']} called broken)",
            ]
        )
    header = ["mistake", "what it does", "caught by", "evidence", "sound version"]
    return Table(header, rows, text_columns=range(len(header)))


def peer_table() -> Table:
    """The table of other packages."""
    rows = []
    for row in _stored("peers_audit")["audits"]:
        verdict, evidence = "not run", _short(row.get("error", ""))
        if "report" in row:
            verdict, evidence = row["report"]["verdict"], peer_evidence(row["report"])
        package = f"{row['package']} {row['version']}"
        epsilon = f"{row['epsilon']:g}"
        cells = [package, row["mechanism"], row["space"], epsilon, verdict, evidence]
        rows.append(cells)
    header = ["package", "mechanism", "vocabulary", "epsilon", "verdict", "evidence"]
    return Table(header, rows, text_columns=(1, 2, 4, 5))


def peer_evidence(report: dict[str, Any]) -> str:
    """What convicts a target, in one line."""
    parts = []
    worst = report["worst"]
    if worst and worst["excess"] != "-inf" and float(worst["excess"]) > 0:
        first, second = worst["words"]
        event = ", ".join(f"`{out}`" for out in worst["event"][:2])
        more = f" and {worst['outputs'] - 2} more" if worst["outputs"] > 2 else ""
        hits, misses = worst["counts"]
        parts.append(
            f"`{first}` and `{second}` ({worst['distance']:.2g} apart): output {event}"
            f"{more} {hits:,} and {misses:,} times of {worst['runs']:,}; at least "
            f"{worst['loss']:.2f} nats, {worst['allowed']:.2f} allowed"
        )
    for finding in report["findings"]:
        if finding["is_break"]:
            text = re.sub(r"'([^']*)'", r"`\1`", finding["text"])
            parts.append(f"{finding['kind']}: {text}")
        else:
            parts.append(f"warning: {finding['kind']}")
    if report["verdict"] != "broken":
        seen = f"up to {report['power_nats']:.2g} nats could have been seen"
        parts.insert(0, f"none; {seen}")
    return _escaped("; ".join(parts))


def peer_verdicts() -> Table:
    """The same without the evidence."""
    whole = peer_table()
    return Table(whole.header[:-1], [row[:-1] for row in whole.rows], (1, 2, 4))


TABLES: Final = {"mutants": mutant_table, "peers": peer_verdicts}
DATA: Final = {"audit-of-packages.csv": peer_table}


def _stored(name: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((RESULTS / f"{name}.json").read_text())
    return content


def _short(text: str) -> str:
    return _escaped(text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "...")


def _escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


if __name__ == "__main__":
    fill(PAGE, TABLES, DATA)
    sys.exit(0)
