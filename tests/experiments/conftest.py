"""The commands that experiments/pyproject.toml gives are there, installed or not."""

import tomllib
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from mondegreen.cli import plugins

PROJECT = Path(__file__).parents[2] / "experiments" / "pyproject.toml"


@pytest.fixture(autouse=True)
def commands(monkeypatch):
    """Give the command line the entry points that an installation would register."""
    project = tomllib.loads(PROJECT.read_text("utf-8"))["project"]
    given = project["entry-points"][plugins.GROUP]
    entries = [EntryPoint(name, to, plugins.GROUP) for name, to in given.items()]
    monkeypatch.setattr(plugins, "_list_installed", lambda: entries)
