"""The pages and examples on scikit-learn, spaCy and Presidio run as they stand."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import mondegreen as mg

ROOT = Path(__file__).parents[2]
PAGES = {
    "scikit-learn": ("sklearn", "pandas"),
    "spacy": ("spacy",),
    "presidio": ("presidio_anonymizer",),
}
EXAMPLES = {
    "sklearn_pipeline": ("sklearn",),
    "spacy_pipeline": ("spacy",),
    "presidio_operator": ("presidio_analyzer", "presidio_anonymizer"),
}


def run(arguments, folder, points=""):
    path = os.pathsep.join([points, str(Path(mg.__file__).parents[1])])
    return subprocess.run(
        [sys.executable, *map(str, arguments)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.mark.slow("starts a Python with a large library")
@pytest.mark.parametrize("page", PAGES)
def test_the_examples_of_a_page_run_one_after_another(page, tmp_path):
    for library in PAGES[page]:
        pytest.importorskip(library)
    text = (ROOT / "docs" / "reference" / "libraries" / f"{page}.md").read_text("utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert len(blocks) >= 3
    script = tmp_path / "page.py"
    script.write_text("\n".join(blocks), "utf-8")
    done = run([script], tmp_path, entry_points(tmp_path))
    assert done.returncode == 0, done.stderr
    if page == "scikit-learn":
        assert "released 5 times" in done.stdout
        assert "sums to epsilon 60 (urr) per word" in done.stdout


@pytest.mark.slow("starts a Python with a large library")
@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_runs_and_prints_its_guarantee(name, tmp_path):
    for library in EXAMPLES[name]:
        pytest.importorskip(library)
    done = run([ROOT / "examples" / f"{name}.py"], tmp_path, entry_points(tmp_path))
    assert done.returncode == 0, done.stderr
    assert "Privacy guarantee" in done.stdout
    if name == "presidio_operator":
        assert "<PERSON>" in done.stdout
        assert "Ann Smith" not in done.stdout
        assert "555" not in done.stdout.partition("both together")[2].splitlines()[0]


def entry_points(folder):
    """Stand in for an installation, where the sources are only on the path."""
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    info = folder / "points" / "mondegreen_points-1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Name: mondegreen-points\nVersion: 1\n")
    lines = [
        f"{name} = {value}\n"
        for name, value in project["entry-points"]["spacy_factories"].items()
    ]
    (info / "entry_points.txt").write_text("[spacy_factories]\n" + "".join(lines))
    return str(info.parent)
