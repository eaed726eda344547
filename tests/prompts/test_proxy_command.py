"""The command: it starts, says what it promises, serves, and ends by a signal."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading

import pytest
from click.testing import CliRunner

from mondegreen.cli.main import cli
from mondegreen.cli.services import proxy as proxy_command

httpx = pytest.importorskip("httpx")
pytest.importorskip("uvicorn")

from echo_model import EchoModel  # noqa: E402
from language_model import WAIT, Model, running  # noqa: E402
from requests_to_models import CANARY, PUBLIC, rich  # noqa: E402


@contextlib.contextmanager
def started(*options, env=None, is_plain=False):
    """Start ``mondegreen proxy`` on a free port; yields process, address, lines."""
    command = [sys.executable, "-m", "mondegreen", "proxy", "--port", "0", *options]
    if not (is_plain or "--restore" in options):
        command += ["--epsilon", "10", "--read", "none"]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, **(env or {})},
    )  # fmt: skip
    lines: list[str] = []
    up = threading.Event()

    def read():
        for line in process.stderr:
            lines.append(line)
            if "Listening on" in line:
                up.set()
        up.set()

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    try:
        assert up.wait(WAIT)
        address = next(x for x in lines if "Listening on" in x).split()[-1]
        yield process, f"{address}/v1", lines
    finally:
        if process.poll() is None:
            process.kill()
        process.wait(WAIT)
        reader.join(WAIT)
        process.stdout.close()
        process.stderr.close()


@pytest.mark.slow("two processes of the command start")
def test_it_serves_until_it_is_told_to_end_and_prints_no_text(tmp_path):
    public = tmp_path / "public.json"
    public.write_text(json.dumps(PUBLIC))
    model = Model()
    options = ["--public", str(public), "--key-env", "PROXY_KEY"]
    options += ["--model", "gpt-4o-mini"]
    key = {"PROXY_KEY": bytes(range(32)).hex()}
    sent = []
    with running(model.app) as upstream:
        for _ in range(2):  # a restart repeats the releases, for who has the key
            with started("--upstream", upstream, *options, env=key) as (
                process,
                address,
                lines,
            ):
                with httpx.Client(timeout=WAIT) as client:
                    body = rich["chat/completions"]
                    found = client.post(f"{address}/chat/completions", json=body)
                    assert found.status_code == 200
                    refused = client.post(f"{address}/chat/completions", json={"a": 1})
                    assert refused.status_code == 400
                process.send_signal(signal.SIGTERM)
                assert process.wait(WAIT) == 0
                out = process.stdout.read()
            sent.append(model.bodies[-1])
            assert "Privacy guarantee: urr (epsilon 10)" in "".join(lines)
            assert CANARY not in "".join(lines) + out + model.everything
    assert len(model.received) == 2
    assert sent[0] == sent[1]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--upstream", "http://example.org/v1"], "plain HTTP"),
        (["--upstream", "https://me:secret@x/v1"], "upstream must be"),
        (
            ["--upstream", "https://x/v1", "--fresh", "--key-env", "X"],
            "cannot be combined",
        ),
        (["--upstream", "https://x/v1", "--public-role", "user"], "public-role"),
        (["--upstream", "https://x/v1", "--mechanism", "santext_plus"], "no proof"),
        ([], "--upstream"),
    ],
)
def test_what_would_not_be_safe_does_not_start(options, says):
    done = CliRunner().invoke(cli, ["proxy", "--epsilon", "10", *options])
    assert done.exit_code in (2, 4)
    assert says in done.output
    assert "secret" not in done.output


@pytest.mark.parametrize("text", ["{}", "nothing", "[5]"])
def test_a_file_of_what_is_public_must_be_a_list(tmp_path, text):
    path = tmp_path / "public.json"
    path.write_text(text)
    options = ["--upstream", "https://x/v1", "--read", "none", "--public", str(path)]
    done = CliRunner().invoke(cli, ["proxy", "--epsilon", "10", *options])
    assert done.exit_code == 2


@pytest.mark.parametrize(
    "options",
    [
        ["--public-role", "system"],
        ["--guardrail", "--workers", "2"],
        ["--guardrail", "--public-role", "user"],
    ],
)
def test_the_service_guards_only_as_it_can_keep_its_promise(options):
    done = CliRunner().invoke(cli, ["serve", "--epsilon", "10", *options])
    assert done.exit_code == 2


@pytest.mark.slow("two processes of the command start")
def test_it_restores_by_a_flag_and_needs_no_epsilon_then():
    said = "I am Okonkwo of Ibadan."
    body = {"messages": [{"role": "user", "content": said}]}
    model = EchoModel()
    with running(model.app) as upstream:
        options = ("--upstream", upstream, "--restore", "--verbose")
        with started(*options) as (process, address, lines):
            asked = f"{address}/chat/completions"
            answer = httpx.post(asked, json=body, timeout=WAIT)
            process.send_signal(signal.SIGTERM)
            process.wait(WAIT)
    choice = answer.json()["choices"][0]
    assert choice["message"]["content"] == said
    assert answer.headers["x-mondegreen-conversation"]
    assert "Okonkwo" not in json.dumps(model.bodies) + "".join(lines)
    assert "which sensitive words of the conversation are the same" in "".join(lines)


@pytest.mark.slow("two processes of the command start")
@pytest.mark.parametrize(
    ("public", "line"),
    [
        ('["You are a nurse."]', "the texts that --public declares pass unchanged"),
        ('[{"type": "function"}]', "system prompts are treated as all other messages"),
    ],
)
def test_the_start_says_that_public_texts_pass(tmp_path, monkeypatch, public, line):
    monkeypatch.setattr("mondegreen.serve.server.run", lambda *_: None)
    (tmp_path / "public.json").write_text(public)
    told = ["proxy", "--upstream", "http://127.0.0.1:9/v1"]
    done = CliRunner().invoke(cli, [*told, "--public", f"{tmp_path}/public.json"])
    assert f"System:    {line}" in done.stderr


def test_help_prints_the_defaults_of_the_proxy():
    said = CliRunner().invoke(cli, ["proxy", "--help"]).stdout
    policy = " ".join(said.partition("--policy NAME|FILE")[2].split())
    default = policy.partition("[default: ")[2].partition("]")[0]
    assert default.startswith("names. With --epsilon and without --restore: sensitive;")


def test_the_upstream_alone_is_enough_and_tells_a_newcomer_what_happens():
    with (
        running(EchoModel().app) as upstream,
        started("--upstream", upstream, is_plain=True) as (process, address, lines),
    ):
        system = {"role": "system", "content": "You serve Malacca Bank."}
        body = {"messages": [system, {"role": "user", "content": "I am Okonkwo."}]}
        answer = httpx.post(f"{address}/chat/completions", json=body, timeout=WAIT)
        page = httpx.get(f"{address.removesuffix('/v1')}/ui", timeout=WAIT)
        process.send_signal(signal.SIGTERM)
        process.wait(WAIT)
    said = "".join(lines)
    assert answer.json()["choices"][0]["message"]["content"] == "I am Okonkwo."
    assert page.status_code == 200
    for each in ("Replaced:", "Unchanged:", "--system pass", "/ui", "OPENAI_BASE_URL"):
        assert each in said
    assert len(said.splitlines()) < 12


@pytest.mark.slow("two processes of the command start")
@pytest.mark.parametrize(("choice", "passes"), [("pass", True), ("hide", False)])
def test_system_prompts_pass_where_they_are_declared_public(choice, passes):
    model = EchoModel()
    said = "You serve the Okonkwo family."
    system = {"role": "system", "content": said}
    body = {"messages": [system, {"role": "user", "content": "I am Ebikeme."}]}
    with (
        running(model.app) as upstream,
        started("--upstream", upstream, "--system", choice, is_plain=True) as found,
    ):
        httpx.post(f"{found[1]}/chat/completions", json=body, timeout=WAIT)
    sent = model.bodies[0]["messages"]
    assert (sent[0]["content"] == said) == passes
    assert "Ebikeme" not in sent[1]["content"]


@pytest.mark.parametrize(("given", "roles"), [("y", 2), ("n", 0), ("", 0)])
def test_a_terminal_is_asked_about_system_prompts(monkeypatch, given, roles):
    monkeypatch.setattr(proxy_command, "_can_ask", lambda: True)
    asked = []
    monkeypatch.setattr(
        "click.confirm", lambda says, **how: asked.append(says) or given == "y"
    )
    find = proxy_command._find_public_roles
    assert len(find(None, (), is_asked=True)) == roles
    assert "System prompts" in asked[0]
    assert find(None, ("developer",), is_asked=True) == ("developer",)
    assert find(None, (), is_asked=False) == ()
    monkeypatch.setattr(proxy_command, "_can_ask", lambda: False)
    assert find(None, (), is_asked=True) == ()
    assert len(asked) == 1


@pytest.mark.slow("two processes of the command start")
@pytest.mark.parametrize("options", [["--no-ui"], ["--host", "0.0.0.0"]])
def test_no_page_where_it_is_not_wanted_or_others_reach_the_proxy(options):
    given = ["--upstream", "http://127.0.0.1:9/v1", *options, "--allow-exposed"]
    with started(*given, is_plain=True) as (_, address, lines):
        port = address.rpartition(":")[2].removesuffix("/v1")
        found = httpx.get(f"http://127.0.0.1:{port}/ui", timeout=WAIT)
    assert found.status_code == 404
    assert "/ui" not in "".join(lines)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--fresh",), "--epsilon"),
        (("--policy", "all"), "--epsilon"),
        (("--mechanism", "urr"), "--epsilon"),
        (("--key-env", "X"), "--epsilon"),
        (("--detect-model", "m"), "--detect presidio"),
        (("--detect", "presidio", "-e", "9", "--policy", "all"), "needs a policy"),
        (("--system", "hide", "--public-role", "system"), "exclude"),
        (("--epsilon", "9", "--restore-in-links"), "need --restore"),
        (("--epsilon", "9", "--restore-in-tools"), "need --restore"),
        (("--restore", "--fresh"), "--fresh"),
        (("--restore", "--key-env", "X"), "--key-env"),
        (("--restore", "--mechanism", "tree"), "urr"),
        (("--restore", "--policy", "all"), "names or sensitive"),
        (("--restore", "--case", "lower"), "case"),
        (("--restore", "--public-role", "assistant"), "assistant"),
        (("--restore", "--conversation-ttl", "0", "--port", "0"), "ttl"),
        (("--restore", "--conversation-ttl", "nan", "--port", "0"), "ttl"),
        (("--conversation-ttl", "-5", "--port", "0"), "ttl"),
    ],
)
def test_restoring_refuses_what_does_not_go_together(options, says, signals_of_pytest):
    upstream = ("--upstream", "http://127.0.0.1:9")
    done = CliRunner().invoke(cli, ["proxy", *upstream, *options])
    assert done.exit_code == 2
    assert says in done.output
    assert "istening" not in done.output


@pytest.mark.parametrize(
    "options",
    [
        ("--fresh",),
        ("--policy", "all"),
        ("--mechanism", "urr"),
        ("--key-env", "X"),
        ("--key-file", "key"),
    ],
)
def test_an_option_of_noise_alone_names_both_ways_to_go_on(options):
    upstream = ("--upstream", "http://127.0.0.1:9")
    done = CliRunner().invoke(cli, ["proxy", *upstream, *options])
    said = " ".join(done.stderr.split())
    assert done.exit_code == 2
    assert "add --epsilon NUMBER" in said
    assert "use --restore" in said
    assert "Missing option" not in said
