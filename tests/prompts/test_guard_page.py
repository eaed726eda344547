"""The page and the examples of the guards run, and say what is so."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("httpx")
pytest.importorskip("uvicorn")

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "how-to" / "guard-prompts.md").read_text("utf-8")
GUIDE = (ROOT / "docs" / "guide" / "service-and-prompts.md").read_text("utf-8")
EXAMPLES = ROOT / "examples"


def blocks(language, page=PAGE):
    return re.findall(rf"^```{language}\n(.*?)^```", page, re.MULTILINE | re.DOTALL)


def run(*command, **how):
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=300, check=False, **how
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow("starts two proxies, and a service")
@pytest.mark.skipif(shutil.which("curl") is None, reason="asks with curl")
@pytest.mark.parametrize("page", [PAGE, GUIDE], ids=["detail", "guide"])
def test_the_commands_of_the_page_run(tmp_path, page):
    command = tmp_path / "mondegreen"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m mondegreen "$@"\n')
    command.chmod(0o700)
    path = os.pathsep.join([str(tmp_path), os.environ["PATH"]])
    end = "trap 'kill $(jobs -p) 2>/dev/null; wait' EXIT"
    script = "\n".join([end, "set -e", *blocks("sh", page)])
    run("bash", "-c", script, cwd=tmp_path, env={**os.environ, "PATH": path})
    stated = json.loads((tmp_path / "guarantee.json").read_text())
    expected = "urr" if page is PAGE else "surrogates"
    assert stated["guarantee"]["mechanism"] == expected


@pytest.mark.slow("starts a process")
def test_the_python_of_the_guide_runs():
    said = run(sys.executable, "-c", "\n".join(blocks("python", GUIDE)))
    assert "Okonkwo" in said


@pytest.mark.slow("LiteLLM takes long to import")
def test_the_python_of_the_page_and_the_example_of_litellm_run():
    pytest.importorskip("litellm")
    pytest.importorskip("fastapi")
    run(sys.executable, "-c", "\n".join(blocks("python")))
    said = run(sys.executable, str(EXAMPLES / "litellm_guardrail.py"))
    assert "You are a nurse." in said
    assert "I am Ann" not in said
    assert "ann@example.org" not in said
    assert '"name"' not in said
    assert said.count("othing was sent") == 2


@pytest.mark.slow("starts a proxy")
def test_the_example_of_the_proxy_runs():
    said = run(sys.executable, str(EXAMPLES / "prompt_proxy.py"))
    assert "exit code:    0" in said
    assert "my doctor says" not in said


@pytest.mark.slow("starts a proxy")
def test_the_example_with_the_client_of_openai_runs():
    pytest.importorskip("openai")
    said = run(sys.executable, str(EXAMPLES / "openai_conversation.py"))
    assert "exit code:    0" in said
    assert "and then:     You wrote: Write to Okonkwo." in said
    assert said.count("Okonkwo") == 2


@pytest.mark.slow("LiteLLM takes long to import")
def test_the_configuration_of_litellm_builds_the_guard(monkeypatch):
    yaml = pytest.importorskip("yaml")
    pytest.importorskip("litellm")
    pytest.importorskip("fastapi")
    from mondegreen.integrations.litellm import MondegreenGuardrail

    config = yaml.safe_load((EXAMPLES / "litellm_config.yaml").read_text("utf-8"))
    (guard,) = config["guardrails"]
    options = dict(guard["litellm_params"])
    named = options.pop("guardrail")
    assert named == f"{MondegreenGuardrail.__module__}.MondegreenGuardrail"
    monkeypatch.setenv("MONDEGREEN_KEY", bytes(range(32)).hex())
    options["event_hook"] = options.pop("mode")
    assert MondegreenGuardrail(guardrail_name="m", **options)


def test_what_was_measured_is_what_must_be():
    path = ROOT / "benchmarks" / "results" / "proxy_load.json"
    found = json.loads(path.read_text("utf-8"))
    assert (found["clients"], found["seconds"]) == (64, 60)
    for name in ("texts_in_clear", "changed_history", "equal_noise", "lost"):
        assert found[name] == 0


def test_the_page_states_the_bits_that_the_guarantee_states():
    from mondegreen.prompts.messages import DISCLOSED, MODEL_BITS

    rows = [line for line in PAGE.splitlines() if line.startswith("| ")]
    bits = [row.split("|")[-2].strip() for row in rows]
    for stated in (*re.findall(r"at most (\d+) bits", DISCLOSED), str(MODEL_BITS)):
        assert stated in bits
