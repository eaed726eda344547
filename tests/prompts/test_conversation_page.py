"""The page on conversations runs, and what it claims was measured."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "how-to" / "keep-a-conversation.md").read_text("utf-8")


@pytest.mark.slow("runs a page")
def test_the_python_of_the_page_runs():
    (block,) = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    done = subprocess.run(
        [sys.executable, "-c", block],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert "Dr. Okonkwo, okonkwo@uni.example, about $12,345.67." in done.stdout


def test_what_was_measured_is_what_must_be():
    path = ROOT / "benchmarks" / "results" / "restoring.json"
    found = json.loads(path.read_text("utf-8"))["restorations"]
    assert found["answers"] >= 10_000
    assert found["wrong of restored"] < 1 / 1000
    assert found["missed of meant"] < 1 / 100
    assert "prompts that do not come back" not in found


def test_most_words_that_an_answer_writes_otherwise_come_back():
    """Those that do not are mostly days at the beginning of a sentence: Sun, Mar."""
    path = ROOT / "benchmarks" / "results" / "reformatting.json"
    found = json.loads(path.read_text("utf-8"))
    assert found["answers"] >= 10_000
    shares = {
        name: (each.get("missed", 0) / each["sentences"],
               each.get("wrong", 0) / each["sentences"])
        for name, each in {**found["forms"], "all": found["all"]}.items()
    }  # fmt: skip
    assert shares["all"][0] < 0.05
    assert shares["all"][1] < 0.005
    assert all(wrong < 0.02 for _, wrong in shares.values())
