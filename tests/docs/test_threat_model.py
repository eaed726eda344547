"""What the threat model says was attacked is held by tests that exist."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/explanation/threat-model.md").read_text(encoding="utf-8")


def test_every_attack_names_a_test_that_exists():
    rows = re.findall(r"^\| .* \|$", PAGE, re.MULTILINE)[1:]
    assert len(rows) > 20
    known = {
        name
        for path in (ROOT / "tests").rglob("*.py")
        for name in re.findall(r"def (test_\w+)", path.read_text(encoding="utf-8"))
    }
    for row in rows:
        named = re.findall(r"`(test_\w+|tests/[\w/.]+)`", row.rpartition(" | ")[2])
        assert named, row
        for name in named:
            assert name in known or (ROOT / name).exists(), name
