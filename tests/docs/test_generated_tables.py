"""Tables in the documentation are those that the results give."""

import importlib
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    "name", ["mechanisms_page", "choosing_page", "tutorial_epsilon"]
)
def test_tables_come_from_the_results(name, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    script, page = importlib.import_module(name), importlib.import_module("page")
    text = (ROOT / "docs" / script.PAGE).read_text(encoding="utf-8")
    assert page.filled(text, script.TABLES) == text
    sys.modules.pop(name)


def test_a_page_without_a_place_for_its_table_is_refused(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    page = importlib.import_module("page")
    with pytest.raises(ValueError, match="one place"):
        page.filled("no table here", {"missing": lambda: ""})
