"""The page, the example and the load test of the service run, and say what is so."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("prometheus_client")
pytest.importorskip("uvicorn")

from benchmarks.measure import service_load
from benchmarks.pages import service_page

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / service_page.PAGE
RESULT = ROOT / "benchmarks" / "results" / "service_load.json"
SCRIPTS = re.findall(r"^```sh\n(.*?)^```", PAGE.read_text("utf-8"), re.M | re.S)


@pytest.mark.slow("starts two services")
@pytest.mark.skipif(shutil.which("curl") is None, reason="asks with curl")
def test_the_commands_of_the_page_run(tmp_path):
    command = tmp_path / "mondegreen"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m mondegreen "$@"\n')
    command.chmod(0o700)
    path = os.pathsep.join([str(tmp_path), os.environ["PATH"]])
    end = "trap 'kill $(jobs -p) 2>/dev/null || true' EXIT"
    script = f"set -e\n{end}\n" + "\necho\n".join(SCRIPTS)
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=tmp_path,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    answers = [json.loads(line) for line in done.stdout.splitlines() if "texts" in line]
    assert [len(answer["texts"]) for answer in answers] == [2, 1]
    assert "Oslo" not in done.stdout


def test_the_page_names_every_address():
    import mondegreen as mg
    from mondegreen.serve.app import create_app
    from mondegreen.serve.service_settings import ServiceSettings

    app = create_app(ServiceSettings(mg.Privatizer(mg.mechanism("tree", epsilon=10.0))))
    page = PAGE.read_text("utf-8")
    for path in app.openapi()["paths"]:
        assert path in page


@pytest.mark.slow("starts a service")
def test_the_example_runs():
    example = [sys.executable, str(ROOT / "examples" / "service.py")]
    done = subprocess.run(example, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "Oslo" not in done.stdout
    assert "refused:  texts must be a list of strings and nulls" in done.stdout
    assert "exit code: 0" in done.stdout


@pytest.mark.slow("loads a service for five seconds")
def test_under_load_nothing_passes_in_clear_and_nothing_is_lost():
    found = service_load.measured(["mondegreen"], clients=16, seconds=5, rounds=1)
    check(found["services"]["mondegreen"])


@pytest.mark.parametrize("name", ["mondegreen", "mondegreen, two workers"])
def test_the_result_of_a_minute_is_what_the_page_says(name):
    check(json.loads(RESULT.read_text())["services"][name])


def check(found):
    assert found["texts_in_clear"] == 0
    assert found["equal_releases"] == 0
    assert found["lost_without_an_error"] == 0
    assert found["exit_code"] == 0
    assert found["words_in_place_unchanged"] < 0.1
    errors = {"200", "503", "ConnectionRefusedError", "ConnectionResetError"}
    assert set(found["ends"]) <= {*errors, "IncompleteReadError"}
    before = {
        end: count - found["after_the_signal"].get(end, 0)
        for end, count in found["ends"].items()
    }
    assert {end for end, count in before.items() if count} == {"200"}
