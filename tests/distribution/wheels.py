"""A wheel built from a copy of the repository, and environments to install it into."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

import pytest

__all__ = ["ROOT", "environment", "run", "wheel_in", "wheel_of_experiments_in"]

ROOT = Path(__file__).resolve().parents[2]


def run(command, **options):
    """Run a command to its end; its standard output."""
    done = subprocess.run(
        [str(part) for part in command],
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
        **options,
    )
    if done.returncode and not a_registry_answers():
        pytest.skip("no registry of packages answers")
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


@functools.cache
def a_registry_answers():
    """Whether pip can get itself, which every registry has."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps"]
        command += ["--retries", "0", "--no-cache-dir", "-d", folder, "pip"]
        done = subprocess.run(command, capture_output=True, timeout=120, check=False)
    return done.returncode == 0


def environment(folder):
    """Make a fresh environment; its Python."""
    venv.create(folder, with_pip=True)
    return folder / "bin" / "python"


def wheel_in(folder):
    """Build the wheel of the working tree, caches and other litter included."""
    return _built(ROOT, folder, ("README.md", "LICENSE", "NOTICE"))


def wheel_of_experiments_in(folder):
    """Build the wheel of the recipes."""
    return _built(ROOT / "experiments", folder, ("README.md", "LICENSE"))


def _built(project, folder, pages):
    source = folder / "source"
    source.mkdir()
    for name in ("pyproject.toml", *pages):
        shutil.copy2(project / name, source)
    shutil.copytree(project / "src", source / "src")
    run(
        [sys.executable, "-m", "pip", "wheel", "--no-deps", "-w", folder / "dist", "."],
        cwd=source,
        env={**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1"},
    )
    (wheel,) = (folder / "dist").iterdir()
    return wheel
