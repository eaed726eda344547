"""Every example in the documentation runs: ``>>>`` and ``$ mondegreen``.

The commands of a page run one after another in one folder, as a reader runs them.
"""

from __future__ import annotations

import doctest
import os
import re
import shutil
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest

from mondegreen.threads import THREADS

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
# Pages whose examples need the module that they show: tests/contract/test_plugins.py.
OWN = ("your-own-attack", "your-own-mechanism")
PYTHON = [
    page for page in PAGES if ">>> " in page.read_text("utf-8") and page.stem not in OWN
]
_BLOCK = re.compile(r"^( *)```console\n(.*?)^\1```", re.DOTALL | re.MULTILINE)


def pages():
    """Yield all commands of each page that has some, in order."""
    for page in PAGES:
        found = [commands(each[2]) for each in _BLOCK.finditer(page.read_text("utf-8"))]
        if found:
            assert all(found), "a console block without a command"
            lines = [line for block in found for line in block]
            yield pytest.param(lines, id=page.relative_to(ROOT).as_posix())


def commands(block):
    """Return what follows ``$``, with continued lines joined; the rest is output."""
    joined = block.replace("\\\n", " ")
    lines = (line.strip() for line in joined.splitlines())
    return [line[2:] for line in lines if line.startswith("$ ")]


def threads():
    """Return the variables that hold libraries to a thread, where tests are held."""
    return {name: os.environ[name] for name in THREADS if name in os.environ}


def require_experiments():
    """Skip where nothing registers the command ``reproduce`` for other processes."""
    try:
        distribution("mondegreen-experiments")
    except PackageNotFoundError:
        pytest.skip("mondegreen-experiments is not installed")


@pytest.mark.parametrize("page", PYTHON, ids=lambda p: p.relative_to(ROOT).as_posix())
@pytest.mark.slow("runs every example of the pages")
def test_python_examples_give_what_they_show(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    failed, tried = doctest.testfile(
        str(page), module_relative=False, optionflags=doctest.ELLIPSIS
    )
    assert tried
    assert not failed


@pytest.mark.parametrize("lines", list(pages()))
@pytest.mark.slow("starts a process for every command of every page", seconds=4)
def test_the_commands_of_a_page_succeed_one_after_another(lines, tmp_path):
    if any("mondegreen reproduce" in line for line in lines):
        require_experiments()
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    home = tmp_path / "home"
    home.mkdir()
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        ["/bin/bash", "-euo", "pipefail", "-c", "\n".join(lines)],
        cwd=tmp_path,
        env={"PATH": path, "HOME": str(home), "LC_ALL": "C.UTF-8", **threads()},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
