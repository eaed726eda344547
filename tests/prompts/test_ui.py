"""The page of the proxy: what it answers, and to whom."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest

httpx = pytest.importorskip("httpx")
pytest.importorskip("uvicorn")

from echo_model import EchoModel  # noqa: E402
from language_model import WAIT, running  # noqa: E402
from starlette.requests import Request  # noqa: E402

from mondegreen.errors import ConfigurationError  # noqa: E402
from mondegreen.prompts.conversation_guard import ConversationGuard  # noqa: E402
from mondegreen.prompts.guard import PromptGuard  # noqa: E402
from mondegreen.serve.answers import Refused  # noqa: E402
from mondegreen.serve.dry_run import DryRun  # noqa: E402
from mondegreen.serve.limits import Limits  # noqa: E402
from mondegreen.serve.proxy import ProxySettings, create_proxy  # noqa: E402
from mondegreen.serve.ui import paths  # noqa: E402
from mondegreen.serve.upstream import Upstream  # noqa: E402

SAID = "I am Okonkwo. I was born in New York in the United States of America."
CLIENT = Path(__file__).parents[2] / "clients" / "js"
NAMES = ("chromium", "chromium-browser", "google-chrome")
CHROMIUM = os.environ.get("CHROMIUM") or next(
    filter(None, map(shutil.which, NAMES)), None
)
STYLE = (Path(paths.__file__).parent / "style.css").read_text("utf-8")


def answer_kindly(body):
    return {"content": "You wrote: " + body["messages"][-1]["content"]}


@pytest.fixture(scope="module")
def started():
    model = EchoModel(answer_kindly)
    with running(model.app) as upstream:
        page = paths.PageSettings("model.example", ["stub"])
        settings = ProxySettings(ConversationGuard(), Upstream(upstream), page=page)
        with running(create_proxy(settings)) as address:
            yield model, address.removesuffix("/v1")


@pytest.fixture
def ask(started):
    model, address = started
    model.bodies.clear()

    def post(path, body=None, method="POST", **headers):
        own = {
            "origin": address,
            **{k.replace("_", "-"): v for k, v in headers.items()},
        }
        given = {k: v for k, v in own.items() if v is not None}
        with httpx.Client(timeout=WAIT, trust_env=False) as client:
            if body is not None:
                given["content-type"] = "application/json"
            data = None if body is None else json.dumps(body)
            return client.request(method, address + path, content=data, headers=given)

    return post


def test_a_prompt_is_shown_as_it_leaves_and_as_the_context_gives_it_away(ask):
    found = ask("/ui/hide", {"text": SAID}).json()
    rows = {old: (new, kind, given) for old, new, kind, given in found["pieces"]}
    assert "".join(old for old, *_ in found["pieces"]) == SAID
    assert rows["born"] == ("born", None, False)
    assert rows["Okonkwo"][0] != "Okonkwo"
    assert rows["Okonkwo"][2] is False
    for word in ("United", "States", "America"):
        assert rows[word][1:] == ("place", True)


def test_what_is_shown_is_what_leaves_and_the_answer_is_restored(ask, started):
    hidden = ask("/ui/hide", {"text": SAID}).json()
    token = {"x-mondegreen-conversation": hidden["conversation"]}
    body = {"messages": [{"role": "user", "content": SAID}]}
    answer = ask("/v1/chat/completions", body, **token)
    (sent,) = started[0].bodies
    leaves = "".join(new for _, new, *_ in hidden["pieces"])
    assert sent["messages"][0]["content"] == leaves
    said = answer.json()["choices"][0]["message"]["content"]
    assert said == f"You wrote: {SAID}"
    pasted = {"text": f"So: {leaves}", "conversation": hidden["conversation"]}
    assert ask("/ui/restore", pasted).json() == {"text": f"So: {SAID}"}


def test_the_page_asks_a_certificate_of_its_own(started):
    seen = []

    def find(policy, hidden):
        seen.append((policy.name, str(hidden)))
        return np.full(len(hidden.symbols), 0.51)

    page = paths.PageSettings("model.example", find_beliefs=find)
    settings = ProxySettings(
        ConversationGuard(), Upstream("http://127.0.0.1:9/v1"), page=page
    )
    with running(create_proxy(settings)) as address:
        base = address.removesuffix("/v1")
        found = httpx.post(
            f"{base}/ui/hide", json={"text": SAID}, headers={"origin": base}
        )
    pieces = found.json()["pieces"]
    assert all(given == (kind is not None) for *_, kind, given in pieces)
    assert "Okonkwo" not in seen[0][1]


def test_a_text_that_takes_too_long_is_given_up():
    def find(policy, hidden):
        time.sleep(3)
        return np.zeros(len(hidden.symbols))

    settings = ProxySettings(
        ConversationGuard(),
        Upstream("http://127.0.0.1:9/v1"),
        Limits(seconds=1),
        page=paths.PageSettings("model.example", find_beliefs=find),
    )
    with running(create_proxy(settings)) as address:
        base = address.removesuffix("/v1")
        found = httpx.post(
            f"{base}/ui/hide", json={"text": SAID}, headers={"origin": base}
        )
    assert found.status_code == 503
    assert "shorter" in found.text
    assert "Okonkwo" not in found.text


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": None},
        {"origin": "http://localhost:1"},
        {"sec_fetch_site": "cross-site"},
        {"sec_fetch_site": "same-site"},
        {"x_forwarded_for": "192.0.2.1"},
        {"forwarded": "for=192.0.2.1"},
        {"via": "1.1 proxy.example"},
        {"cf_connecting_ip": "192.0.2.1"},
        {"true_client_ip": "192.0.2.1"},
        {"x_client_ip": "192.0.2.1"},
        {"x_forwarded_proto": "https"},
        {"x_forwarded_server": "proxy.example"},
        {"cdn_loop": "cloudflare"},
        {"host": "evil.example"},
    ],
)
def test_other_pages_and_other_machines_are_refused(ask, headers):
    answer = ask("/ui/hide", {"text": SAID}, **headers)
    assert answer.status_code in (403, 421)
    assert "Okonkwo" not in answer.text


@pytest.mark.parametrize("path", ["/ui", "/ui/page.js", "/ui/style.css", "/ui/about"])
def test_files_are_for_the_page_alone_and_load_nothing_else(ask, path):
    good = ask(path, method="GET", origin=None, sec_fetch_site="none")
    assert good.status_code == 200
    assert ask(path, method="GET", origin="https://evil.example").status_code == 403
    crossed = ask(path, method="GET", origin=None, sec_fetch_site="cross-site")
    assert crossed.status_code == 403
    if path == "/ui":
        rule = good.headers["content-security-policy"]
        assert "default-src 'none'" in rule
        assert "unsafe" not in rule
        assert "frame-ancestors 'none'" in rule
        assert "access-control-allow-origin" not in good.headers
        assert set(re.findall(r'(?:src|href)="([^"]+)"', good.text)) == {
            "/ui/page.js",
            "/ui/style.css",
        }


@pytest.mark.parametrize(
    ("client", "server", "host"),
    [
        ("192.0.2.7", "127.0.0.1", "127.0.0.1:8787"),
        ("127.0.0.1", "192.0.2.7", "127.0.0.1:8787"),
        ("127.0.0.1", "127.0.0.1", "llm.internal"),
        ("127.0.0.1", "127.0.0.1", ""),
        ("", "127.0.0.1", "127.0.0.1:8787"),
    ],
)
def test_the_connection_itself_must_be_of_this_machine(client, server, host):
    def request(client, server, host):
        head = [(b"host", host.encode()), (b"origin", f"http://{host}".encode())]
        ends = {"client": (client, 5), "server": (server, 8787)}
        scope = {"type": "http", "method": "POST", "scheme": "http", **ends}
        return Request({**scope, "path": "/ui/hide", "headers": head})

    with pytest.raises(Refused, match="this machine alone"):
        paths.check_caller(request(client, server, host))
    paths.check_caller(request("127.0.0.1", "127.0.0.1", "127.0.0.1:8787"))
    paths.check_caller(request("::1", "::1", "[::1]:8787"))


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/ui/hide", ["x"], 400),
        ("/ui/hide", {"text": 7}, 400),
        ("/ui/hide", {"text": "x", "conversation": 7}, 400),
        ("/ui/hide", {"text": "x", "conversation": "unknown"}, 404),
        ("/ui/hide", {"text": "Okonkwo " * 60_000}, 413),
        ("/ui/restore", {"text": "x"}, 400),
        ("/ui/restore", {"text": "x", "conversation": "unknown"}, 404),
        ("/ui/hide", {"text": "\ud800 \0 😀 Okonkwo"}, 200),
        ("/ui/hide", {"text": ""}, 200),
    ],
)
def test_odd_requests_get_an_answer_without_their_text(ask, path, body, status):
    answer = ask(path, body)
    assert answer.status_code == status
    assert status == 200 or "Okonkwo" not in answer.text


@pytest.mark.parametrize("path", ["/ui/hide", "/ui/restore"])
def test_an_unknown_token_of_the_page_is_not_blamed_on_a_header(ask, path):
    said = ask(path, {"text": "x", "conversation": "unknown"}).json()["error"]
    assert "header" not in said["message"]
    assert "Unknown or expired conversation" in said["message"]
    assert said["code"] == "unknown_conversation"


def test_a_conversation_of_the_page_is_of_its_key(ask):
    token = ask("/ui/hide", {"text": SAID}, authorization="Bearer one").json()
    body = {"text": SAID, "conversation": token["conversation"]}
    assert ask("/ui/hide", body, authorization="Bearer two").status_code == 404
    assert ask("/ui/hide", body, authorization="Bearer one").status_code == 200


def test_without_the_setting_there_is_no_page_and_without_restoring_none(evenly):
    settings = ProxySettings(ConversationGuard(), Upstream("http://127.0.0.1:9/v1"))
    with running(create_proxy(settings)) as address:
        found = httpx.get(address.removesuffix("/v1") + "/ui")
    assert found.status_code == 404
    noisy = ProxySettings(
        PromptGuard(evenly),
        Upstream("http://127.0.0.1:9/v1"),
        page=paths.PageSettings("x"),
    )
    with pytest.raises(ConfigurationError, match="--restore"):
        create_proxy(noisy)


def test_every_text_has_the_contrast_of_level_aa():
    light, dark = re.findall(r":root \{([^}]+)\}", STYLE)
    for block in (light, dark):
        colors = dict(re.findall(r"--(\w+): (#[0-9a-f]+)", block))
        pairs = [("ink", on) for on in ("paper", "card", "mark", "hot")]
        pairs += [("soft", on) for on in ("paper", "card", "mark", "hot")]
        pairs += [("on", "own"), ("own", "card"), ("warm", "card"), ("warm", "paper")]
        for front, back in pairs:
            assert contrast(colors[front], colors[back]) >= 4.5, (front, back)
        for edge, back in [("line", "card"), ("own", "paper"), ("warm", "hot")]:
            assert contrast(colors[edge], colors[back]) >= 3, (edge, back)


def contrast(one, other):
    """The ratio of WCAG 2.2."""

    def luminance(color):
        digits = color[1:] if len(color) == 7 else "".join(c * 2 for c in color[1:])
        parts = [int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4)]
        linear = [
            p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts
        ]
        return float(np.dot(linear, [0.2126, 0.7152, 0.0722]))

    low, high = sorted([luminance(one), luminance(other)])
    return (high + 0.05) / (low + 0.05)


@pytest.mark.slow("Chromium")
@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
@pytest.mark.skipif(
    not (CLIENT / "node_modules").is_dir(),
    reason="the packages of clients/js are not here",
)
@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here")
def test_it_works_in_chromium(started):
    model, address = started
    model.bodies.clear()
    dry = ProxySettings(
        ConversationGuard(),
        Upstream("http://127.0.0.1:9/v1"),
        dry_run=DryRun(lambda text: None, is_terminal=True),
        page=paths.PageSettings("model.example", is_dry=True),
    )
    script = Path(__file__).with_name("page_in_chromium.mjs")
    launcher = CLIENT / "test" / "chromium.mjs"
    with running(create_proxy(dry)) as other:
        given = [launcher.as_uri(), address, other.removesuffix("/v1")]
        done = subprocess.run(
            ["node", str(script), *given],
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
            env={**os.environ, "CHROMIUM": CHROMIUM},
        )
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout)
    assert found["shown"] == f"You wrote: {found['text']}"
    assert found["second"] == "You wrote: And where does Okonkwo live?"
    assert found["pasted"] == "Dear Okonkwo."
    assert found["marked"] > 3
    assert found["guessed"] >= 3
    assert found["stored"] == [0, 0, ""]
    assert found["outside"] == []
    assert found["problems"] == []
    assert found["widths"] == {"400": 400, "1200": 1200}
    assert found["focused"] == ["text", "hide", "anew", "sent", "ask", "model", "key"]
    assert found["blocked"] == ["connect-src", "img-src"]
    assert found["crossed"] == "refused"
    assert found["dry"] == [True, "Dear Okonkwo."]
    first, second = (body["messages"] for body in model.bodies)
    assert [row["role"] for row in second] == ["user", "assistant", "user"]
    assert second[0] == first[0]
    assert "Okonkwo" not in json.dumps(model.bodies)
