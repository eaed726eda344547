"""The README as a newcomer follows it: its set-up, then every command under "Use"."""

from __future__ import annotations

import os
import re
import shutil
import subprocess

import pytest
from wheels import ROOT, run

pytestmark = pytest.mark.slow("installs packages, then calibrates")

README = (ROOT / "README.md").read_text(encoding="utf-8")
COPIED = ("pyproject.toml", "README.md", "LICENSE", "NOTICE")


def commands_of(section):
    """The commands of a section, as they stand."""
    text = README.split(f"## {section}\n")[1].split("\n## ")[0]
    return re.findall(r"```sh\n(.*?)\n```", text, re.DOTALL)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A copy of the repository, in which the first set-up command was run."""
    made = tmp_path_factory.mktemp("readme") / "mondegreen"
    made.mkdir()
    for name in COPIED:
        shutil.copy2(ROOT / name, made)
    for name in ("src", "examples"):
        shutil.copytree(ROOT / name, made / name)
    first, _ = commands_of("Set up")
    shown = run(["bash", "-euc", first], cwd=made, env=clean(made))
    assert "\nid,stars,review\n" in shown
    return made


def clean(folder):
    """An environment without what this one has installed or cached."""
    kept = {name: os.environ[name] for name in ("PATH",)}
    pip = {name: value for name, value in os.environ.items() if name.startswith("PIP_")}
    return {**kept, **pip, "HOME": str(folder.parent)}


def test_every_command_under_use_runs_after_the_set_up(folder):
    (script,) = commands_of("Use")
    lines = script.splitlines()
    assert len([line for line in lines if line.startswith("mondegreen ")]) >= 5
    done = subprocess.run(
        ["bash", "-euxc", script],
        cwd=folder,
        env=clean(folder),
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    originals = (folder / "examples" / "reviews.csv").read_text("utf-8").splitlines()
    for name in ("safe.csv", "every.csv"):
        released = (folder / "examples" / name).read_text("utf-8").splitlines()
        assert len(released) == len(originals)
        unchanged = set(released[1:]) & set(originals[1:])
        # A review of ordinary words alone stays under a policy that shows them.
        assert len(unchanged) <= (0 if name == "every.csv" else len(originals) / 3)
    page = (folder / "examples" / "left.html").read_text("utf-8")
    assert page.lower().startswith("<!doctype html>")
