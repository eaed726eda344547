"""The proxy under attack by real sockets: everybody else is served, nothing leaks."""

from __future__ import annotations

import contextlib
import functools
import json
import secrets
import socket
import threading
import time
from urllib.parse import urlsplit

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("httpx")
pytest.importorskip("uvicorn")

from language_model import WAIT, Model, running
from requests_to_models import CANARY

from mondegreen.prompts.guard import PromptGuard
from mondegreen.serve import server
from mondegreen.serve.addresses import list_allowed_hosts
from mondegreen.serve.limits import Limits
from mondegreen.serve.proxy import ProxySettings, create_proxy
from mondegreen.serve.server import Listen, PatientProtocol
from mondegreen.serve.upstream import Upstream

CHAT = "/v1/chat/completions"
HALF = (
    f"POST {CHAT} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    "Content-Length: 100\r\n\r\n{"
).encode()


def prompt(*texts):
    messages = [{"role": "user", "content": each} for each in texts]
    return json.dumps({"model": "stub", "messages": messages}).encode()


GOOD = prompt(f"bam {CANARY} dad")


@pytest.fixture
def model():
    return Model()


@pytest.fixture
def proxy(evenly, model):
    """Return what starts a proxy as the command does, with limits of its own."""
    with contextlib.ExitStack() as ends:
        upstream = ends.enter_context(running(model.app))
        ends.callback(model.release.set)

        def start(*, listen=None, upstream_options=None, hosts=(), **limits):
            where = Upstream(upstream, **(upstream_options or {}))
            settings = ProxySettings(
                PromptGuard(evenly), where, Limits(**limits), list_allowed_hosts(hosts)
            )
            http = functools.partial(PatientProtocol, listen=listen or Listen())
            url = ends.enter_context(running(create_proxy(settings), http=http))
            return Proxy(urlsplit(url).port, ends)

        yield start


class Proxy:
    """Who talks to a proxy; every socket is closed at the end of the test."""

    def __init__(self, port, ends):
        self.port, self._ends = port, ends

    def connect(self, data=b"", source="127.0.0.1"):
        address = ("127.0.0.1", self.port)
        found = socket.create_connection(address, WAIT, source_address=(source, 0))
        self._ends.callback(found.close)
        with contextlib.suppress(OSError):
            found.sendall(data)
        return found

    def raw(self, data):
        """Send bytes; return all that comes back until the connection ends."""
        return everything(self.connect(data))

    def ask(self, body=GOOD, path=CHAT, method="POST", **headers):
        """Send one request; return the status, the head and the body."""
        given = {
            "Host": "127.0.0.1",
            "Connection": "close",
            "Content-Type": "application/json",
            "Content-Length": len(body),
            **{name.replace("_", "-"): value for name, value in headers.items()},
        }
        lines = [f"{name}: {value}" for name, value in given.items() if value != ""]
        head = "\r\n".join([f"{method} {path} HTTP/1.1", *lines, "", ""]).encode()
        top, _, rest = self.raw(head + body).partition(b"\r\n\r\n")
        return int(top.split()[1]), top.lower(), rest

    def refusals(self):
        _, _, counts = self.ask(b"", "/metrics", "GET")
        assert CANARY.encode() not in counts
        name = b'mondegreen_refusals_total{reason="'
        lines = [each for each in counts.splitlines() if each.startswith(name)]
        parts = [each.removeprefix(name).decode().split('"} ') for each in lines]
        return {reason: float(count) for reason, count in parts}


def everything(connection):
    """Read until the other side closes."""
    found = b""
    with contextlib.suppress(ConnectionResetError):
        while data := connection.recv(1 << 16):
            found += data
    return found


def is_open(connection):
    """Whether the other side has neither closed nor said anything."""
    connection.settimeout(0.05)
    try:
        return connection.recv(1) != b""
    except TimeoutError:
        return True
    except ConnectionResetError:
        return False


def until(holds):
    """Wait until something holds, for a minute at most."""
    end = time.monotonic() + WAIT
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.02)


# Bodies and heads that do not come


def test_half_sent_bodies_take_no_slots(proxy, model):
    attacked = proxy(concurrent=4, per_address=0)
    for _ in range(40):
        attacked.connect(HALF)
    assert attacked.ask()[0] == 200
    assert len(model.received) == 1


def test_a_body_that_does_not_come_is_refused_after_some_seconds(proxy, model):
    attacked = proxy(seconds=1)
    answer = attacked.raw(HALF)
    assert b" 408 " in answer[:20]
    assert b"connection: close" in answer.lower()
    assert b"did not arrive within 1 s." in answer
    assert attacked.refusals() == {"late": 1}
    assert not model.received


def test_a_body_that_comes_byte_by_byte_has_no_more_time(proxy, model):
    attacked = proxy(seconds=1)
    connection = attacked.connect(HALF)
    begun = time.monotonic()
    with contextlib.suppress(OSError):
        while is_open(connection) and time.monotonic() < begun + WAIT:
            connection.sendall(b" ")
    assert attacked.refusals() == {"late": 1}
    assert not model.received


def test_chunks_without_end_are_cut_off_at_the_limit(proxy, model):
    attacked = proxy(body=100_000)
    head = HALF.replace(b"Content-Length: 100\r\n\r\n{", b"")
    connection = attacked.connect(head + b"Transfer-Encoding: chunked\r\n\r\n")
    sent = 0
    with contextlib.suppress(OSError):
        while sent < 1 << 30:
            connection.sendall(b"10000\r\n" + b" " * 65536 + b"\r\n")
            sent += 65536
    assert sent < 64 << 20  # what is refused is drained for a moment, and then closed
    assert attacked.refusals() == {"bytes": 1}
    assert attacked.ask()[0] == 200


def test_a_request_with_two_lengths_is_refused_and_what_follows_is_not_read(
    proxy, model
):
    smuggled = HALF.replace(b"\r\n\r\n{", b"\r\nTransfer-Encoding: chunked\r\n\r\n")
    smuggled += b"0\r\n\r\nGET /guarantee HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    answer = proxy().raw(smuggled)
    assert b" 400 " in answer[:20]
    assert answer.count(b"HTTP/1.1") == 1
    assert not model.received


@pytest.mark.parametrize("begun", [b"", b"POST /v1/chat", HALF], ids=len)
def test_more_waiting_connections_than_fit_close_those_that_wait_longest(
    proxy, model, begun
):
    attacked = proxy(listen=Listen(waiting=8, waiting_per_address=0))
    waiting = []
    for _ in range(20):
        waiting.append(attacked.connect(begun))
        time.sleep(0.01)  # so that one is the oldest
    assert attacked.ask()[0] == 200
    until(lambda: not any(map(is_open, waiting[:12])))
    assert all(map(is_open, waiting[-6:]))
    assert len(model.received) == 1


def test_one_client_cannot_close_the_connections_of_another(proxy, monkeypatch):
    monkeypatch.setattr(server, "find_client", str)  # else 127.0.0.2 is this client too
    attacked = proxy(listen=Listen(waiting=10, waiting_per_address=4))
    others = [attacked.connect(HALF) for _ in range(3)]
    flood = [attacked.connect(HALF, "127.0.0.2") for _ in range(20)]
    until(lambda: sum(map(is_open, flood)) == 4)
    assert all(map(is_open, others))


def test_of_many_clients_the_one_with_most_connections_loses_one(proxy, monkeypatch):
    monkeypatch.setattr(server, "find_client", str)
    attacked = proxy(listen=Listen(waiting=6, waiting_per_address=6))
    others = [attacked.connect(HALF) for _ in range(2)]
    flood = [attacked.connect(HALF, "127.0.0.2") for _ in range(10)]
    until(lambda: sum(map(is_open, flood)) == 4)
    assert all(map(is_open, others))


def test_a_request_in_work_is_never_closed_for_others(proxy, model):
    model.mode = "slow"
    attacked = proxy(listen=Listen(waiting=4, waiting_per_address=2))
    found = []
    first = threading.Thread(target=lambda: found.append(attacked.ask()))
    first.start()
    assert model.waiting.wait(WAIT)
    for _ in range(20):
        attacked.connect(HALF)
    model.release.set()
    first.join(WAIT)
    assert found[0][0] == 200


def test_headers_without_end_are_refused(proxy, model):
    attacked = proxy()
    head = f"POST {CHAT} HTTP/1.1\r\nHost: 127.0.0.1\r\nX-A: ".encode()
    answer = attacked.raw(head + CANARY.encode() * 20_000)
    assert not answer or b" 400 " in answer[:20]
    assert CANARY.encode() not in answer
    assert attacked.ask()[0] == 200


def test_requests_in_one_connection_are_answered_in_their_order(proxy, model):
    one = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    two = one.replace(b"/healthz", b"/guarantee")
    three = one.replace(b"/healthz", b"/v1/none")
    last = one.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")
    answer = proxy().raw(one + two + three + last)
    assert [each[:3] for each in answer.split(b"HTTP/1.1 ")[1:]] == [
        b"200", b"200", b"404", b"200",
    ]  # fmt: skip


# Prompts that are long


def test_a_prompt_of_too_many_words_is_refused_before_it_is_privatized(
    proxy, model, evenly, monkeypatch
):
    monkeypatch.setattr(evenly, "texts", lambda *given: pytest.fail("privatized"))
    attacked = proxy(words=1000, texts=10)
    long = prompt(*["bam " * 101] * 10)
    status, _, found = attacked.ask(long)
    assert (status, b"more than 1000 words" in found) == (413, True)
    status, _, found = attacked.ask(prompt(*["bam"] * 11))
    assert (status, b"more than 10 texts" in found) == (413, True)
    assert attacked.refusals() == {"words": 1, "texts": 1}
    assert not model.received


def test_a_prompt_of_just_so_many_words_passes(proxy, model):
    assert proxy(words=1000).ask(prompt(*["bam " * 100] * 10))[0] == 200
    assert len(model.received) == 1


class Held:
    """Lets calls of a privatizer wait; keeps the texts of each."""

    def __init__(self, privatizer, monkeypatch):
        self.go, self.is_reached = threading.Event(), threading.Event()
        self.calls = []
        made = type(privatizer).texts

        def texts(one, *given, **more):
            self.is_reached.set()
            assert self.go.wait(WAIT)
            self.calls.append(given[0])
            return made(one, *given, **more)

        monkeypatch.setattr(type(privatizer), "texts", texts)


@pytest.fixture
def held(evenly, monkeypatch):
    found = Held(evenly, monkeypatch)
    yield found
    found.go.set()


def test_a_long_request_ends_soon_after_its_client_has_gone(proxy, model, held):
    attacked = proxy(words=1_000_000)
    body = prompt(*["bam " * 500] * 1000)
    head = HALF.replace(b" 100\r\n\r\n{", f" {len(body)}\r\n\r\n".encode())
    connection = attacked.connect(head + body)
    assert held.is_reached.wait(WAIT)
    connection.close()
    until(lambda: attacked.refusals() == {"disconnected": 1})
    held.go.set()
    assert attacked.ask()[0] == 200
    assert sum(map(len, held.calls)) < 50  # of the 1,000, a piece
    assert len(model.received) == 1


def test_a_request_that_takes_long_to_privatize_is_refused(proxy, model, held):
    attacked = proxy(seconds=1)
    status, _, found = attacked.ask()
    assert (status, b"within 1 s. Nothing was sent." in found) == (503, True)
    assert attacked.refusals() == {"slow": 1}
    held.go.set()
    assert attacked.ask()[0] == 200
    assert len(model.received) == 1


def test_a_short_prompt_does_not_wait_for_long_ones(proxy, model, held):
    attacked, ended = proxy(words=1_000_000), []

    def ask(body):
        ended.append(attacked.ask(body)[0])

    first = threading.Thread(target=ask, args=[prompt("bam")])
    first.start()
    assert held.is_reached.wait(WAIT)
    long = prompt(*["bam " * 4000] * 40)
    rest = [threading.Thread(target=ask, args=[each]) for each in [long] * 4 + [GOOD]]
    for each in rest:
        each.start()
    until(lambda: in_work(attacked) == 6)
    time.sleep(0.5)  # they have been read, and wait
    held.go.set()
    for each in [first, *rest]:
        each.join(WAIT)
    assert ended == [200] * 6
    assert f"bam {CANARY} dad" in held.calls[1]


def in_work(attacked):
    _, _, counts = attacked.ask(b"", "/metrics", "GET")
    (line,) = [
        each
        for each in counts.splitlines()
        if each.startswith(b"mondegreen_requests_in_work ")
    ]
    return float(line.split()[1])


# Requests that hold what others need


def test_one_address_has_so_many_requests_at_a_time(proxy, model):
    model.mode = "slow"
    attacked = proxy(per_address=1)
    found = []
    first = threading.Thread(target=lambda: found.append(attacked.ask()))
    first.start()
    assert model.waiting.wait(WAIT)
    status, head, body = attacked.ask()
    assert (status, b"retry-after: 1" in head) == (429, True)
    assert b"More than 1 requests at a time from one address" in body
    assert attacked.ask(b"", "/healthz", "GET")[0] == 200
    model.release.set()
    first.join(WAIT)
    assert attacked.ask()[0] == 200
    assert len(model.received) == 2


def test_an_answer_that_nobody_takes_ends(proxy, model):
    model.mode = "flood"
    attacked = proxy(concurrent=1, seconds=1, upstream_options={"answer_seconds": 1.0})
    head = HALF.replace(b" 100\r\n\r\n{", f" {len(GOOD)}\r\n\r\n".encode())
    attacked.connect(head + GOOD)
    assert model.waiting.wait(WAIT)
    assert attacked.ask()[0] == 503
    model.mode = "answer"
    until(lambda: attacked.ask()[0] == 200)


def test_an_upstream_that_drips_for_ever_is_cut_off(proxy, model):
    model.mode = "endless"
    attacked = proxy(seconds=1, upstream_options={"answer_seconds": 1.0})
    status, _, found = attacked.ask()
    assert (status, b"still here" in found) == (200, True)
    assert b"--answer-timeout" in found
    assert model.gone.wait(WAIT)
    assert attacked.refusals() == {"upstream": 1}


# Requests of web pages


@pytest.mark.parametrize(
    "host",
    [
        "evil.example", "evil.example:80", "127.0.0.1.evil.example", "localhost@evil",
        "192.0.2.1", "127.0.0.1, evil.example", "[::2]", f"{CANARY}.example", "é",
    ],
)  # fmt: skip
def test_another_host_is_refused(proxy, model, host):
    attacked = proxy(hosts=["proxy.internal"])
    for path, method in ((CHAT, "POST"), ("/guarantee", "GET"), ("/healthz", "GET")):
        status, _, found = attacked.ask(GOOD, path, method, Host=host)
        assert status == 421
        assert CANARY.encode() not in found
        assert b"--allowed-host" in found
    assert not model.received


@pytest.mark.parametrize(
    "host",
    ["localhost", "LOCALHOST:99", "127.0.0.1:8787", "[::1]:1", "proxy.internal."],
)
def test_names_of_this_machine_and_those_that_are_allowed_pass(proxy, host):
    attacked = proxy(hosts=["Proxy.Internal"])
    assert attacked.ask(Host=host)[0] == 200


@pytest.mark.parametrize(
    "kind",
    [
        "", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data",
        "application/jsonp", "text/plain; application/json", CANARY,
    ],
)  # fmt: skip
def test_a_body_must_say_that_it_is_json(proxy, model, kind):
    attacked = proxy()
    status, _, found = attacked.ask(Content_Type=kind)
    assert (status, CANARY.encode() in found) == (415, False)
    assert attacked.refusals() == {"media_type": 1}
    assert not model.received


def test_json_may_have_parameters(proxy):
    assert proxy().ask(Content_Type="Application/JSON; charset=utf-8")[0] == 200


def test_a_browser_is_never_told_that_another_page_may_ask(proxy, model):
    attacked = proxy()
    asked = {"Origin": "https://evil.example", "Access_Control_Request_Method": "POST"}
    for method, status in (("OPTIONS", 405), ("POST", 200)):
        found, head, _ = attacked.ask(GOOD, CHAT, method, **asked)
        assert (found, b"access-control" in head) == (status, False)
    assert len(model.received) == 1


def test_an_unknown_path_and_a_wrong_method_say_what_there_is(proxy, model):
    attacked = proxy()
    status, _, found = attacked.ask(path=f"/v1/{CANARY}")
    assert (status, CANARY.encode() in found) == (404, False)
    said = json.loads(found)["error"]["message"]
    assert said.startswith(
        "mondegreen: Unknown path. Nothing was sent. Paths: /v1/chat"
    )
    status, head, found = attacked.ask(method="DELETE")
    assert (status, b"allow: post" in head) == (405, True)
    assert b"Method not allowed. Use POST." in found
    assert attacked.refusals() == {"path": 1, "method": 1}
    assert not model.received


def test_metrics_hold_no_text_and_no_number_of_words(proxy, model, monkeypatch):
    monkeypatch.setattr(secrets, "randbelow", lambda step: 0)
    attacked = proxy()
    assert attacked.ask(prompt(CANARY))[0] == 200
    attacked.ask(b"{", path=f"/{CANARY}")
    _, _, counts = attacked.ask(b"", "/metrics", "GET")
    assert CANARY.encode() not in counts
    assert (
        b'mondegreen_requests_total{path="/v1/chat/completions",status="200"} 1.0'
        in (counts)
    )
    assert b"mondegreen_words_total 0.0" in counts


def test_a_body_that_is_no_json_is_counted_as_a_body(proxy):
    attacked = proxy()
    half = b'{"model": "stub", "messages": [{"role": "user", "content": "\\ud800"}]}'
    for body in (b"{", b"[]", b"\xff", half):
        assert attacked.ask(body)[0] == 400
    assert attacked.refusals() == {"body": 4.0}
    assert attacked.ask(b'{"model": "stub", "messages": [{}]}')[0] == 400
    assert attacked.refusals() == {"body": 4.0, "field": 1.0}
