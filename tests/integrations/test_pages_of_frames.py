"""Pages and scripts on data frames, DuckDB and datasets run, as a reader runs them."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = {
    "guide/data-frames-and-spark": ("narwhals", "pandas"),
    "data-frames": ("narwhals", "pandas", "polars"),
    "duckdb": ("duckdb",),
    "datasets": ("datasets",),
}
SCRIPTS = {  # what they need, and something that they print
    "frames": ("pandas", '"noise_is_secret": true'),
    "duckdb_query": ("duckdb", "('mondegreen',)"),
    "hf_dataset": ("datasets", "mondegreen: ["),
}


def run(script, folder, library):
    pytest.importorskip(library)
    environment = {**os.environ, "HF_HOME": str(folder), "HF_HUB_OFFLINE": "1"}
    done = subprocess.run(
        [sys.executable, script],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def read(page):
    folder = "docs" if page.startswith("guide/") else "docs/reference/libraries"
    return (ROOT / folder / f"{page}.md").read_text("utf-8")


def test_the_guide_shows_the_code_of_the_page_on_spark_which_is_tested():
    guide = read("guide/data-frames-and-spark")
    (code,) = re.findall(r"^```py\n(.*?)^```", guide, re.DOTALL | re.MULTILINE)
    tested = {line.strip() for line in read("spark").splitlines()}
    lines = [line.strip() for line in code.splitlines() if line.strip()]
    assert len(lines) > 8
    assert [line for line in lines if line not in tested] == []


@pytest.mark.slow("starts a process")
@pytest.mark.parametrize("page", PAGES)
def test_the_blocks_of_a_page_run_one_after_another(page, tmp_path):
    text = read(page)
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    assert len(blocks) == text.count("```python") > 2
    for library in PAGES[page]:
        pytest.importorskip(library)
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    script = tmp_path / "page.py"
    script.write_text("\n".join(blocks), "utf-8")
    run(script, tmp_path, PAGES[page][0])


@pytest.mark.slow("starts a process")
@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_runs_and_prints_no_review(name, tmp_path):
    library, expected = SCRIPTS[name]
    shown = run(ROOT / f"examples/{name}.py", tmp_path, library)
    assert expected in shown
    assert "Abernathy" not in shown
