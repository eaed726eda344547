"""The page about audits shows the stored results, and nothing else."""

from __future__ import annotations

import json
import re
from pathlib import Path

from mutants import ALPHA, MUTANTS

from benchmarks.pages import audit_page

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "explanation" / "audit.md"
RESULTS = ROOT / "benchmarks" / "results"


def test_every_mutant_is_in_the_results_caught_and_without_false_alarms():
    content = json.loads((RESULTS / "mutants.json").read_text())
    rows = {row["mutant"]: row for row in content["mutants"]}
    assert list(rows) == [mutant.name for mutant in MUTANTS]
    assert content["false_alarm_rate_of_one_audit"] == ALPHA
    for mutant in MUTANTS:
        row = rows[mutant.name]
        assert row["mistake"] == mutant.mistake
        assert row["caught"]
        assert row["false_alarms"] == 0
        assert row["sound_audits"] >= 20
        pattern = rf"^\| {re.escape(mutant.name)} \|"
        assert re.search(pattern, PAGE.read_text("utf-8"), re.MULTILINE)


def test_every_audit_of_a_package_is_in_the_page():
    audits = json.loads((RESULTS / "peers_audit.json").read_text())["audits"]
    found = audit_page.peer_table().rows
    assert len(found) == len(audits)
    for row, cells in zip(audits, found, strict=True):
        assert row["package"] in cells[0]
        assert row.get("report", {}).get("verdict", "not run") == cells[4]


def test_evidence_names_the_pair_or_says_that_there_is_none():
    worst = {
        "words": ["a", "b"], "event": ["y|z"], "outputs": 1, "counts": [90, 0],
        "runs": 100, "distance": 0.0, "loss": 2.5, "allowed": 0.0, "excess": 2.5,
    }  # fmt: skip
    report = {"worst": worst, "findings": [], "verdict": "broken", "power_nats": 5.0}
    text = audit_page.peer_evidence(report)
    assert "`a` and `b` (0 apart): output `y\\|z` 90 and 0 times of 100" in text
    quiet = {**report, "worst": {**worst, "excess": -1.0}, "verdict": "not rejected"}
    assert audit_page.peer_evidence(quiet).startswith("none; up to 5 nats")
