"""``python -m benchmarks NAME``: one entry, and no page names a script that is not."""

import ast
import importlib
import re
import sys
from pathlib import Path

import pytest

from benchmarks import __main__ as entry

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = entry.scripts()
FILES = sorted((ROOT / "benchmarks").rglob("*.py"))


def test_every_script_is_listed_with_a_line_on_what_it_does(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["benchmarks"])
    assert entry.main() == 0
    listed = capsys.readouterr().out
    assert len(SCRIPTS) > 25
    for name, path in SCRIPTS.items():
        assert entry.summary(path).endswith((".", "?", ":")), name
        assert re.search(rf"^  {name} +\S", listed, re.MULTILINE)


def test_names_are_unique_over_the_folders():
    names = [path.stem for path in FILES]
    assert len(names) == len(set(names))


def test_a_name_that_does_not_exist_is_an_error_of_usage(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["benchmarks", "nothing"])
    assert entry.main() == 2
    assert "nothing" in capsys.readouterr().err


@pytest.mark.parametrize("folder", ["docs", "benchmarks", "justfile", "README.md"])
def test_what_is_named_exists(folder):
    place = ROOT / folder
    files = [place] if place.is_file() else [*place.rglob("*.md"), *place.rglob("*.py")]
    for file in files:
        text = file.read_text(encoding="utf-8")
        for name in re.findall(r"-m benchmarks ([a-z]\w+)", text):
            assert name in SCRIPTS, f"{file}: {name}"


def imports(path):
    """Yield what a script takes from our modules, at its top and inside functions."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            if node.module.partition(".")[0] in ("mondegreen", "benchmarks"):
                yield from ((node.module, each.name) for each in node.names)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_what_a_script_imports_exists(path):
    for module, name in imports(path):
        try:
            if not hasattr(importlib.import_module(module), name):
                importlib.import_module(f"{module}.{name}")
        except ModuleNotFoundError as error:
            if (error.name or "").partition(".")[0] in ("mondegreen", "benchmarks"):
                raise
            pytest.skip(f"could not import '{error.name}'")
