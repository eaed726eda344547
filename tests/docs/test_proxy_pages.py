"""The pages about the proxy name all its paths, metrics and options."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import click
import pytest

pytest.importorskip("httpx")
pytest.importorskip("uvicorn")
pytest.importorskip("prometheus_client")

from mondegreen.cli.main import cli
from mondegreen.prompts.conversation_guard import ConversationGuard
from mondegreen.prompts.store_search import StoreSearch
from mondegreen.serve.answers import Reason
from mondegreen.serve.metrics import Metrics
from mondegreen.serve.proxy import ProxySettings, create_proxy
from mondegreen.serve.ui.paths import PageSettings
from mondegreen.serve.upstream import Upstream

ROOT = Path(__file__).resolve().parents[2]


def page(name):
    return (ROOT / "docs" / name).read_text("utf-8")


def blocks(language, text):
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def test_the_page_of_conversations_has_the_calls_of_that_example():
    example = (ROOT / "examples" / "openai_conversation.py").read_text("utf-8")
    (shown,) = blocks("py", page("how-to/keep-a-conversation.md"))
    for call in ("with_raw_response.create(", ".parse()", "extra_headers={"):
        assert call in shown
        assert call in example


def test_the_sidecar_of_the_page_is_a_proxy_that_starts():
    yaml = pytest.importorskip("yaml")
    (shown,) = blocks("yaml", page("how-to/run-a-service.md"))
    spec = yaml.safe_load(shown)["spec"]["template"]["spec"]
    program, sidecar = spec["containers"]
    group, name = sidecar["command"]
    command = cli.get_command(click.Context(cli), name)
    given = command.make_context(name, list(sidecar["args"])).params
    assert (group, given["host"]) == ("mondegreen", "127.0.0.1")
    assert not given["allow_exposed"]
    assert program["env"][0]["value"] == f"http://127.0.0.1:{given['port']}/v1"
    assert sidecar["env"][0]["name"] == given["key_env"]
    assert given["conversation_file"].startswith(
        sidecar["volumeMounts"][0]["mountPath"]
    )
    for probe, path in (("readinessProbe", "/readyz"), ("livenessProbe", "/healthz")):
        code = sidecar[probe]["exec"]["command"][2]
        compile(code, probe, "exec")
        assert f"127.0.0.1:{given['port']}{path}'" in code


def test_the_page_lists_all_metrics_and_reasons():
    section = page("how-to/watch-a-proxy.md").partition("## Counts for Prometheus")[2]
    metrics = Metrics()
    metrics.watch_conversations(int, int, int)
    families = {
        line.split()[2]
        for line in metrics.lines().decode().splitlines()
        if line.startswith("# TYPE") and not line.split()[2].endswith("_created")
    }
    assert families == set(re.findall(r"`(mondegreen_[a-z_]+)", section))
    named = section.partition("### Reasons")[2]
    assert set(re.findall(r"`([a-z_]+)`", named)) == set(get_args(Reason))


def test_the_page_of_paths_lists_those_of_the_proxy():
    section = (
        page("reference/http.md").partition("## The proxy")[2].partition("\n## ")[0]
    )
    search = StoreSearch(frozenset({"vs_a"}), 10)
    guard = ConversationGuard(search=search)
    shown = PageSettings("x", (), is_dry=False)
    app = create_proxy(ProxySettings(guard, Upstream("https://x/v1"), page=shown))
    paths = {each.path for each in app.routes if not each.path.startswith("/ui/")}
    rows = section.partition("| status |")[0]
    assert paths == set(re.findall(r"`(?:[A-Z]+ )?(/[a-z0-9_/{}]+)`", rows))
