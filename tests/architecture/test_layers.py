"""The structure of the package, read from its files."""

import ast
import subprocess
import sys
import time
from pathlib import Path

import pytest

import mondegreen

ROOT = Path(mondegreen.__file__).parent
LAYERS = [
    {"arrays", "errors", "files", "guarantee", "passes", "processes", "threads"}
    | {"tensors", "wording"},
    {"sampling", "text", "space"},
    {"language", "mechanisms"},
    {"decode", "io", "privatizer", "scores"},
    {"attacks", "audit", "calibration"},
    {"device", "experiments", "integrations", "prompts", "report"},
    {"cli", "serve", "vectors", "__main__"} | {"frames", "spark"},
]
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}
FILES = sorted(path for path in ROOT.rglob("*.py") if path != ROOT / "__init__.py")


def part(path):
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def imported_parts(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        for name in names:
            head, *rest = name.split(".")
            if head == "mondegreen" and rest and rest[0] in LEVEL:
                yield rest[0]


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_a_file_imports_only_from_layers_to_its_left(path):
    own = part(path)
    assert own in LEVEL, f"{own} has no layer"
    for other in imported_parts(path):
        assert LEVEL[other] <= LEVEL[own], f"{own} must not import {other}"


def test_mechanisms_see_no_strings_and_io_sees_no_probability():
    for path in FILES:
        others = set(imported_parts(path))
        if part(path) == "mechanisms":
            assert "text" not in others
        if part(path) == "io":
            assert not others & {"mechanisms", "sampling", "space"}


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_a_file_holds_one_idea(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 430
    banned = {"util", "utils", "common", "misc", "shared", "manager", "helpers"}
    assert not banned & {piece.removesuffix(".py") for piece in path.parts}


def test_public_names_are_sorted_and_exist():
    assert mondegreen.__all__ == sorted(mondegreen.__all__)
    for name in mondegreen.__all__:
        assert getattr(mondegreen, name) is not None


def loaded_by(statement):
    code = f"import sys; {statement}; print(' '.join(sys.modules))"
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    return {name.partition(".")[0] for name in run.stdout.split()}


def test_import_loads_nothing_heavy():
    heavy = {"scipy", "pyarrow", "faiss", "click", "rich", "regex", "torch", "pandas"}
    assert not heavy & loaded_by("import mondegreen")
    assert not (heavy | {"randomgen"}) & loaded_by(
        "import mondegreen; mondegreen.mechanism"
    )


def test_help_loads_neither_numpy_nor_arrow():
    assert not {"numpy", "pyarrow", "faiss"} & loaded_by("import mondegreen.cli.main")


@pytest.mark.alone
def test_import_takes_under_300_milliseconds():
    def seconds(code):
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True)
        return time.perf_counter() - start

    extra = [
        seconds("import mondegreen; mondegreen.mechanisms") - seconds("pass")
        for _ in range(5)
    ]
    assert min(extra) < 0.3
