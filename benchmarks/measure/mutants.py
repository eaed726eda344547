"""Audit every mutant and its sound version; write mutants.json.

Run by hand (some minutes): ``python -m benchmarks mutants``; then
``python -m benchmarks audit_page`` writes the table of docs/explanation/audit.md.
``python -m benchmarks mutants new`` audits those alone that have no stored result.
"""

from __future__ import annotations

import json
import sys
import time
from datetime import UTC, datetime
from typing import Final

from benchmarks.machine import RESULTS, ROOT, save

TESTS: Final = ROOT / "tests"
SOUND_SEEDS: Final = range(20)


def main() -> int:
    """Audit all mutants."""
    sys.path[:0] = [str(TESTS), str(TESTS / "audit")]
    from mutants import ALPHA, MUTANTS, evidence_of

    stored = {}
    if sys.argv[1:] == ["new"]:
        content = json.loads((RESULTS / "mutants.json").read_text())
        date = content["machine"]["date"]
        stored = {row["mutant"]: {"date": date, **row} for row in content["mutants"]}
    rows = []
    for mutant in MUTANTS:
        if mutant.name in stored:
            rows.append(stored[mutant.name])
            continue
        started = time.perf_counter()
        report = mutant.broken(0)
        seconds = time.perf_counter() - started
        sound = [mutant.sound(seed) for seed in SOUND_SEEDS]
        rows.append(
            {
                "date": datetime.now(UTC).date().isoformat(),
                "mutant": mutant.name,
                "mistake": mutant.mistake,
                "caught": report.is_broken,
                "method": report.method,
                "evidence": evidence_of(report),
                "seconds": round(seconds, 2),
                "sound_verdict": sound[0].verdict,
                "sound_found": sound[0].to_dict()["found"],
                "sound_claimed": sound[0].claimed,
                "sound_audits": len(sound),
                "false_alarms": sum(each.is_broken for each in sound),
                "report": report.to_dict(),
            }
        )
    save("mutants", {"false_alarm_rate_of_one_audit": ALPHA, "mutants": rows})
    return 0


if __name__ == "__main__":
    sys.exit(main())
