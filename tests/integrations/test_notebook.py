"""The notebook runs from its first cell to its last, and is stored without outputs."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOK = ROOT / "examples" / "choose_epsilon.ipynb"


def cells(path):
    return json.loads(path.read_text("utf-8"))["cells"]


def test_it_has_ten_cells_and_is_stored_without_outputs():
    found = cells(NOTEBOOK)
    assert len(found) == 10
    assert not any(cell.get("outputs") for cell in found)


@pytest.mark.slow("runs a notebook, which starts processes", seconds=40)
def test_it_runs_and_shows_what_it_says(tmp_path):
    pytest.importorskip("nbconvert")
    pytest.importorskip("ipykernel")
    for name in (NOTEBOOK.name, "reviews.csv"):
        shutil.copy(ROOT / "examples" / name, tmp_path)
    kernels = tmp_path / "jupyter" / "kernels" / "python3"
    kernels.mkdir(parents=True)
    # This Python, wherever a kernel may be registered besides.
    command = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    described = {"argv": command, "display_name": "Python 3", "language": "python"}
    (kernels / "kernel.json").write_text(json.dumps(described))
    homes = ("JUPYTER_DATA_DIR", "JUPYTER_CONFIG_DIR", "IPYTHONDIR")
    home = {name: str(tmp_path / "jupyter") for name in homes}
    done = subprocess.run(
        [
            *(sys.executable, "-m", "nbconvert", "--to", "notebook", "--execute"),
            *("--output", "done.ipynb", NOTEBOOK.name),
        ],
        cwd=tmp_path,
        env={**os.environ, **home},
        capture_output=True,
        text=True,
        timeout=550,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    shown = [
        "".join(text for out in cell["outputs"] for text in out.get("text", []))
        for cell in cells(tmp_path / "done.ipynb")
        if cell["cell_type"] == "code"
    ]
    assert shown[0].startswith("12 texts")
    assert shown[1].count("drawn:") == shown[1].count("read:") == 3
    assert len(shown[2].splitlines()) == 4
    assert 1 < float(shown[3].split()[-1]) < 2
    assert "Privacy guarantee: calibrated" in shown[4]
