"""Every door gives the same release of the same settings, and has the same defaults."""

from __future__ import annotations

import json

import pytest

import doors
from vectors.doors import FILE

FOUND = json.loads(FILE.read_text("utf-8"))
TEXT = FOUND["text"]


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv(doors.VARIABLE, doors.KEY.hex())


@pytest.mark.parametrize("vector", FOUND["releases"], ids=lambda v: str(v["settings"]))
@pytest.mark.parametrize("door", doors.DOORS)
def test_every_door_gives_the_release_of_the_vector(door, vector, tmp_path):
    release = doors.DOORS[door](vector["settings"], TEXT, tmp_path)
    assert release == vector["guarded" if door == "guard" else "release"]


@pytest.mark.parametrize("door", doors.DOORS)
def test_every_door_releases_the_same_without_a_setting(door, tmp_path):
    """``epsilon`` alone: the default, which the vectors of policies name in full."""
    default = {"policy": "sensitive", "mechanism": "urr", "epsilon": 12.0}
    expected = doors.guard if door == "guard" else doors.privatizer
    release = doors.DOORS[door]({"epsilon": 12.0}, TEXT, tmp_path)
    assert release == expected(default, TEXT, tmp_path)


@pytest.mark.parametrize("vector", FOUND["releases"], ids=lambda v: str(v["settings"]))
def test_the_digest_of_settings_stays_what_it_was(vector):
    assert doors.made(vector["settings"])._scope("text").hex() == vector["scope"]
