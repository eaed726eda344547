"""A wheel built from a copy of the repository, and environments to install it into."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
import venv
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

__all__ = [
    "ROOT",
    "copy_declared",
    "environment",
    "run",
    "wheel_in",
    "wheel_of_experiments_in",
]

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


def copy_declared(extra, python):
    """Copy what an extra of this package declares, and what that declares, no more.

    From this environment into that of ``python``; what is not here is left out.
    """
    (to,) = python.parent.parent.glob("lib/python*/site-packages")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    lines = [*project["dependencies"], *project["optional-dependencies"][extra]]
    for found in _closure(lines):
        # Folders whole, for the bytecode in them; no programs, which are outside.
        for top in {file.parts[0] for file in found.files} - {"..", "__pycache__"}:
            here, there = Path(found.locate_file(top)), to / top
            if here.is_dir():
                shutil.copytree(here, there, copy_function=_link, dirs_exist_ok=True)
            else:
                _link(here, there)


def _link(here, there):
    """Link a file, which nobody changes in place, or copy it to another disk."""
    try:
        os.link(here, there)
    except OSError:
        shutil.copy2(here, there)


def _closure(lines):
    """Yield the distributions here that requirements ask for, and those ask for."""
    open_, seen = [Requirement(line) for line in lines], set()
    while open_:
        asked = open_.pop()
        name = canonicalize_name(asked.name)
        new = {(name, extra) for extra in ("", *asked.extras)} - seen
        seen |= new
        try:
            found = distribution(name)
        except PackageNotFoundError:
            continue
        if (name, "") in new:
            yield found
        for needed in map(Requirement, found.requires or ()):
            marker = needed.marker
            if any(not marker or marker.evaluate({"extra": one}) for _, one in new):
                open_.append(needed)


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
