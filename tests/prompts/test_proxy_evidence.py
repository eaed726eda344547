"""What a proxy shows of itself: a dry run, an audit log, counts of conversations."""

from __future__ import annotations

import json
import os

import pytest

httpx = pytest.importorskip("httpx")
pytest.importorskip("uvicorn")

from click.testing import CliRunner  # noqa: E402
from echo_model import EchoModel  # noqa: E402
from language_model import WAIT, running  # noqa: E402

import mondegreen as mg  # noqa: E402
from mondegreen.cli.main import cli  # noqa: E402
from mondegreen.prompts.conversation_guard import ConversationGuard  # noqa: E402
from mondegreen.prompts.guard import PromptGuard  # noqa: E402
from mondegreen.serve.audit_log import AuditLog, verify  # noqa: E402
from mondegreen.serve.dry_run import DryRun  # noqa: E402
from mondegreen.serve.proxy import ProxySettings, create_proxy  # noqa: E402
from mondegreen.serve.upstream import Upstream  # noqa: E402

HEADER = "x-mondegreen-conversation"
SAID = {"messages": [{"role": "user", "content": "I am Okonkwo."}], "model": "m"}


@pytest.fixture(params=["restore", "replace"])
def guard(request):
    if request.param == "restore":
        return ConversationGuard()
    law = mg.mechanism("urr", epsilon=12.0)
    return PromptGuard(mg.Privatizer(law, policy="names"))


def ask(address, path="chat/completions", method="POST", token=None):
    headers = {"authorization": "Bearer sk-one"} | ({HEADER: token} if token else {})
    body = {"json": SAID} if method == "POST" else {}
    with httpx.Client(timeout=WAIT) as client:
        return client.request(method, f"{address}/{path}", headers=headers, **body)


def test_a_dry_run_sends_nothing_and_shows_both_sides(guard):
    model, shown = EchoModel(), []
    dry = DryRun(shown.append, is_terminal=True, width=lambda: 120)
    with running(model.app) as upstream:
        proxied = ProxySettings(guard, Upstream(upstream), dry_run=dry)
        with running(create_proxy(proxied)) as address:
            answers = [ask(address), ask(address, "models", "GET")]
    assert model.bodies == []
    for answer in answers:
        assert answer.status_code == 400  # no client tries that again
        assert "Nothing was sent" in answer.text
        assert "Okonkwo" not in answer.text
    assert len(shown) == 1
    (line,) = [x for x in shown[0].split("\n") if "Okonkwo" in x]
    assert "Okonkwo" not in line.split(" | ")[1]


def test_each_request_that_leaves_has_a_line_before_it_leaves(guard, tmp_path):
    model, path = EchoModel(), tmp_path / "audit.log"
    lines_at_model = []

    def answer(body):
        lines_at_model.append(len(path.read_text().splitlines()))
        return {"content": "Yes."}

    model.answer = answer
    log = AuditLog(path)
    with running(model.app) as upstream:
        proxied = ProxySettings(guard, Upstream(upstream), audit_log=log)
        with running(create_proxy(proxied)) as address:
            first = ask(address)
            ask(address, token=first.headers.get(HEADER))
            refused = ask(address, token="x" * 32)
    log.close()
    entries = [json.loads(line) for line in path.read_text().splitlines()]
    assert lines_at_model == list(range(1, len(model.bodies) + 1))
    assert verify(path).lines == len(model.bodies)
    assert {each["guarantee"] for each in entries} == {guard.digest}
    text = path.read_text()
    for secret in ("Okonkwo", "sk-one", first.headers.get(HEADER, "Okonkwo")):
        assert secret not in text
    if isinstance(guard, ConversationGuard):
        assert refused.status_code == 404
        assert entries[0]["conversation"] == entries[1]["conversation"]


def test_a_request_whose_line_cannot_be_written_does_not_leave(guard, tmp_path):
    model, log = EchoModel(), AuditLog(tmp_path / "audit.log")
    log.close()
    with running(model.app) as upstream:
        proxied = ProxySettings(guard, Upstream(upstream), audit_log=log)
        with running(create_proxy(proxied)) as address:
            answer = ask(address)
    assert answer.status_code == 503
    assert "audit log cannot be written. Nothing was sent" in answer.text
    assert model.bodies == []


def test_a_proxy_is_ready_again_when_its_audit_log_can_be_written(
    guard, tmp_path, monkeypatch
):
    model, path = EchoModel(), tmp_path / "audit.log"
    log = AuditLog(path)

    def ready(address):
        with httpx.Client(timeout=WAIT) as client:
            return client.get(f"{address.removesuffix('/v1')}/readyz").status_code

    def fail(file, data):
        if file == log._file:
            raise OSError(28, "No space left on device")
        return write(file, data)

    write = os.write
    with running(model.app) as upstream:
        proxied = ProxySettings(guard, Upstream(upstream), audit_log=log)
        with running(create_proxy(proxied)) as address:
            assert ready(address) == 200
            with monkeypatch.context() as full:
                full.setattr(os, "write", fail)
                assert ask(address).status_code == 503
                assert ready(address) == 503
            assert ready(address) == 200
            assert ask(address).status_code == 200
    log.close()
    events = [json.loads(line)["event"] for line in path.read_text().splitlines()]
    assert events == ["recovered", "request"]
    assert verify(path).lines == 2
    assert len(model.bodies) == 1


def test_prometheus_counts_conversations():
    model = EchoModel()

    def counts(address):
        with httpx.Client(timeout=WAIT) as client:
            text = client.get(f"{address.removesuffix('/v1')}/metrics").text
        assert "Okonkwo" not in text
        lines = (line.split() for line in text.splitlines())
        return {
            name.removeprefix("mondegreen_conversations_"): float(value)
            for name, value in (line for line in lines if len(line) == 2)
            if name.startswith("mondegreen_conversations_")
        }

    with running(model.app) as upstream:
        proxied = ProxySettings(ConversationGuard(), Upstream(upstream))
        with running(create_proxy(proxied)) as address:
            token = ask(address).headers[HEADER]
            ask(address)
            ask(address, token=token)
            assert counts(address) == {
                "begun_total": 2.0,
                "forgotten_total": 0.0,
                "kept": 2.0,
            }
            assert ask(address, f"conversations/{token}", "DELETE").status_code == 204
            assert counts(address)["kept"] == 1.0
            assert counts(address)["forgotten_total"] == 1.0


def test_the_command_refuses_a_dry_run_that_a_file_would_keep():
    args = ["proxy", "--upstream", "http://127.0.0.1:1/v1", "--restore", "--dry-run"]
    done = CliRunner().invoke(cli, args)
    assert done.exit_code == 2
    assert "on a terminal only" in done.stderr


def test_the_command_refuses_an_audit_log_that_is_broken(tmp_path):
    path = tmp_path / "audit.log"
    path.write_text("{}\n")
    args = ["proxy", "--upstream", "http://127.0.0.1:1/v1", "--restore", "-q"]
    done = CliRunner().invoke(cli, [*args, "--audit-log", os.fspath(path)])
    assert done.exit_code == 3
    assert "not a line of an audit log" in done.stderr
