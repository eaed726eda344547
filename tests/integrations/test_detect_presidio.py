"""Presidio in front of a policy: its patterns, and the command."""

from __future__ import annotations

import re
import socket
from pathlib import Path

import pytest
from click.testing import CliRunner

import mondegreen as mg
from mondegreen.cli.main import cli
from mondegreen.errors import ConfigurationError

pytest.importorskip("presidio_analyzer")
pytest.importorskip("spacy")

from mondegreen.integrations.detectors import load_presidio

TEXT = "Write to ann@example.org, IBAN GB29NWBK60161331926819, or ask Zork."


@pytest.fixture(scope="module")
def detector():
    return load_presidio()


def test_patterns_are_found_without_a_model_and_without_the_network(
    detector, monkeypatch
):
    def forbidden(*args, **kwargs):
        raise AssertionError("the network was used")

    monkeypatch.setattr(socket, "getaddrinfo", forbidden)
    monkeypatch.setattr(socket.socket, "connect", forbidden)
    types = {span.entity_type for span in detector.find(TEXT)}
    assert {"EMAIL_ADDRESS", "IBAN_CODE"} <= types
    assert "PERSON" not in types
    assert detector.name.endswith("patterns alone")


def test_both_layers_hide_and_the_rest_stays_readable(detector):
    law = mg.mechanism("urr", epsilon=14.0)
    private = mg.Privatizer(law, policy="names").with_detector(*detector)
    release = private(TEXT)
    for word in ("example", "GB29", "Zork"):
        assert word not in release.text
    assert release.text.startswith("Write to ")
    assert "presidio-analyzer" in str(release.guarantee)


def test_a_model_that_is_absent_is_not_downloaded():
    with pytest.raises(ConfigurationError, match="no spaCy model 'en_absent'"):
        load_presidio("en_absent")


def test_the_command_states_both_layers(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("in.txt").write_text(TEXT + "\n")

    def run(*args):
        given = ["privatize", "in.txt", "-o", "out.txt", "-e", "12", "--force"]
        return CliRunner().invoke(cli, [*given, *args])

    done = run("--policy", "names", "--detect", "presidio", "--verbose")
    assert done.exit_code == 0, done.stderr
    assert "first layer: the detector presidio-analyzer" in done.stderr
    assert "second layer: every word goes through the policy" in done.stderr
    assert "GB29" not in Path("out.txt").read_text()
    for args, says in (
        (["--detect", "presidio", "--policy", "all"], "--detect needs a policy"),
        (["--detect-model", "en_core_web_sm", "--policy", "names"], "needs --detect"),
        (["--detect", "presidio", "--policy", "names", "-j", "2"], "--jobs 1"),
    ):
        done = run(*args)
        assert done.exit_code == 2
        assert says in done.stderr


def test_the_code_of_the_page_runs(capsys):
    page = (
        Path(__file__).parents[2] / "docs" / "reference" / "libraries" / "presidio.md"
    )
    blocks = re.findall(r"```python\n(.*?)```", page.read_text("utf-8"), re.DOTALL)
    (block,) = [each for each in blocks if "load_presidio" in each]
    exec(block, {})
    assert "ann@" not in capsys.readouterr().out
