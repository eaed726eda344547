"""The structure of the package, read from its files."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

import mondegreen

REPOSITORY = Path(__file__).parents[2]


def lint_imports(config):
    """Run import-linter, whose contracts stand in pyproject.toml."""
    code = "import sys; from importlinter.cli import lint_imports as run; "
    code += f"sys.exit(run(config_filename={str(config)!r}, no_cache=True))"
    return subprocess.run(
        [sys.executable, "-c", code], cwd=REPOSITORY, capture_output=True, text=True
    )


def test_imports_point_one_way():
    run = lint_imports(REPOSITORY / "pyproject.toml")
    assert run.returncode == 0, run.stdout


@pytest.mark.slow("a copy of the source; by default imports are checked")
def test_an_import_that_points_upwards_is_found(tmp_path):
    contracts = (REPOSITORY / "pyproject.toml").read_text(encoding="utf-8")
    upside_down = contracts.replace('"language : mechanisms"', '"TOP"')
    upside_down = upside_down.replace('"__main__ : cli', '"language : mechanisms : cli')
    upside_down = upside_down.replace('    "TOP",\n', "")
    config = tmp_path / "pyproject.toml"
    config.write_text(upside_down, encoding="utf-8")
    run = lint_imports(config)
    assert run.returncode == 1
    assert "is not allowed to import" in run.stdout


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
