"""Whatever is sent, no answer, log or count holds anything of it."""

import gzip
import json
import re

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("httpx")
pytest.importorskip("prometheus_client")

from clients import CANARY, JSON, Process

import mondegreen as mg
from mondegreen.errors import MondegreenError
from waiting import wait_until

C = CANARY.encode()
QUOTED = json.dumps(CANARY).encode()
GOOD = b'{"texts": [' + QUOTED + b"]}"
ZIP = gzip.compress(b'{"texts": ["' + C * 3_000_000 + b'"]}')

BODIES = {
    "empty": (b"", 400),
    "no JSON": (C, 400),
    "cut": (b'{"texts": ["' + C, 400),
    "a comma too many": (b'{"texts": [' + QUOTED + b",]}", 400),
    "NUL": (b'{"texts": ["\0' + C + b'"]}', 400),
    "half a surrogate pair": (b'{"texts": ["\\ud800 ' + C + b'"]}', 400),
    "the other half": (b'{"texts": ["\\udc00 ' + C + b'"]}', 400),
    "no UTF-8": (b'{"texts": ["\xff ' + C + b'"]}', 400),
    "UTF-16": (GOOD.decode().encode("utf-16"), 400),
    "a byte order mark": (b"\xef\xbb\xbf" + GOOD, 400),
    "deep": (b"[" * 100_000 + QUOTED, 400),
    "deep objects": (b'{"texts":' * 50_000 + QUOTED, 400),
    "a number of 5,000 digits": (b'{"texts": [' + b"7" * 5000 + b"]}", (400, 422)),
    "not a number": (b'{"texts": [NaN], "x": ' + QUOTED + b"}", (400, 422)),
    "a string": (QUOTED, 422),
    "a list": (b"[" + QUOTED + b"]", 422),
    "null": (b"null", 422),
    "nothing in it": (b"{}", 422),
    "one text": (b'{"texts": ' + QUOTED + b"}", 422),
    "texts null": (b'{"texts": null}', 422),
    "texts an object": (b'{"texts": {' + QUOTED + b": 1}}", 422),
    "a text that is a number": (b'{"texts": [' + QUOTED + b", 7]}", 422),
    "a text that is a list": (b'{"texts": [[' + QUOTED + b"]]}", 422),
    "a text that is an object": (b'{"texts": [{' + QUOTED + b":1}]}", 422),
    "another field": (b'{"texts": [], ' + QUOTED + b": 1}", 422),
    "a field of settings": (b'{"texts": [], "epsilon": ' + QUOTED + b"}", 422),
    "a name of three lines": (b'{"texts": [], "a\\n\\r' + C + b'": 1}', 422),
    "ids a string": (b'{"texts": [], "ids": ' + QUOTED + b"}", 422),
    "an id that is a float": (b'{"texts": ["a"], "ids": [7.0]}', 422),
    "an id that is true": (b'{"texts": ["a"], "ids": [true]}', 422),
    "an id that is a list": (b'{"texts": ["a"], "ids": [[' + QUOTED + b"]]}", 422),
    "an id that is empty": (b'{"texts": ["a"], "ids": [""]}', 422),
    "too few ids": (b'{"texts": ["a", "b"], "ids": [' + QUOTED + b"]}", 422),
    "a column that is a list": (b'{"texts": [], "column": [' + QUOTED + b"]}", 422),
    "a long column": (b'{"texts": [], "column": "' + C * 100 + b'"}', 422),
    "a million lists": (b'{"texts": [' + b"[]," * 1_000_000 + QUOTED + b"]}", 422),
    "a million ids": (b'{"texts": [], "ids": [' + b"[]," * 999_999 + b"[]]}", 422),
    "too many texts": (b'{"texts": [' + b'"",' * 10_000 + QUOTED + b"]}", 413),
    "a long body": (b'{"texts": ["' + C * 400_000 + b'"]}', 413),
}
WORD_BODIES = {
    "two words": (b'{"word": "' + C + b" " + C + b'"}', 422),
    "a list of words": (b'{"word": [' + QUOTED + b"]}", 422),
    "a long word": (b'{"word": "' + C * 100 + b'"}', 422),
    "half a pair": (b'{"word": "\\ud800' + C + b'"}', 400),
    "unknown": (b'{"word": ' + QUOTED + b"}", 200),
}
REQUESTS = {
    "path": ("GET", f"/{CANARY}", (), 404),
    "path of ours and more": ("GET", f"/healthz/{CANARY}", (), 404),
    "path with a slash": ("POST", f"/v1/privatize/?{CANARY}", (), 404),
    "path in another spelling": ("GET", f"/%7a%00%0d%0a{CANARY}", (), 404),
    "path that climbs": ("GET", f"/v1/../../{CANARY}", (), 404),
    "whole address": ("GET", f"http://{CANARY}/healthz", (), (200, 404)),
    "query": ("GET", f"/healthz?texts={CANARY}", (), 200),
    "query of a post": ("POST", f"/v1/privatize?texts={CANARY}", (JSON,), 400),
    "method": (CANARY.upper(), "/v1/privatize", (), 405),
    "method of another address": ("POST", "/healthz", (), 405),
    "header": ("GET", "/healthz", (b"X-Text: " + C,), 200),
    "name of a header": ("GET", "/healthz", (C + b": 1",), 200),
    "cookie": ("GET", "/healthz", (b"Cookie: a=" + C,), 200),
    "user agent": ("GET", f"/{CANARY}", (b"User-Agent: " + C,), 404),
    "type": ("POST", "/v1/privatize", (b"Content-Type: " + C,), 415),
    "no type": ("POST", "/v1/privatize", (), 415),
    "form": ("POST", "/v1/privatize", (b"Content-Type: text/plain",), 415),
    "encoding": ("POST", "/v1/privatize", (JSON, b"Content-Encoding: " + C), 415),
    "zip": ("POST", "/v1/privatize", (JSON, b"Content-Encoding: gzip"), 415),
    "length": ("POST", "/v1/privatize", (JSON, b"Content-Length: " + C), 400),
    "negative": ("POST", "/v1/privatize", (JSON, b"Content-Length: -1"), 400),
    "endless": ("POST", "/v1/privatize", (JSON, b"Content-Length: " + b"9" * 30), 400),
    "transfer": ("POST", "/x", (b"Transfer-Encoding: " + C,), (400, 501)),
    "upgrade": ("GET", "/healthz", (b"Upgrade: " + C, b"Connection: Upgrade"), 200),
    "socket": (
        *("GET", f"/{CANARY}"),
        (b"Upgrade: websocket", b"Connection: Upgrade", b"Sec-WebSocket-Key: " + C),
        404,
    ),
    "range": ("GET", "/openapi.json", (b"Range: " + C,), 200),
    "cors": ("OPTIONS", "/v1/privatize", (b"Origin: http://" + C,), 405),
}
RAW = {
    "a line": C + b"\r\n\r\n",
    "no version": b"GET /" + C + b"\r\n\r\n",
    "another version": b"GET /" + C + b" HTTP/9.9\r\nHost: x\r\n\r\n",
    "bytes": bytes(range(256)) + C + b"\r\n\r\n",
    "a broken header": b"GET / HTTP/1.1\r\nHost: x\r\n" + C + b"\r\n\r\n",
    "a long head": b"GET / HTTP/1.1\r\nX: " + C * 20_000 + b"\r\n\r\n",
    "no host": b"GET /" + C + b" HTTP/1.1\r\n\r\n",
    "two lengths": b"POST /v1/privatize HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n"
    b"Content-Length: 4\r\n\r\n" + C,
    "broken chunks": b"POST /v1/privatize HTTP/1.1\r\nHost: x\r\n" + JSON + b"\r\n"
    b"Transfer-Encoding: chunked\r\n\r\n" + C + b"\r\n",
    "TLS": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + C,
}


@pytest.fixture(scope="module")
def service(start) -> Process:
    return start()


@pytest.fixture(autouse=True)
def nothing_is_told(request):
    """After each test: the log and the counts of the service hold no canary."""
    yield
    if "service" not in request.fixturenames:
        return
    service = request.getfixturevalue("service")
    assert service.process.poll() is None
    assert CANARY not in service.log().lower()
    status, counts = service.ask("GET", "/metrics")
    assert status == 200
    assert C not in counts.lower()


def is_refused(status, answer, expected):
    allowed = expected if isinstance(expected, tuple) else (expected,)
    assert status in allowed, answer[:500]
    assert C not in answer.lower()
    if status >= 400 and answer.startswith(b"{"):
        assert set(json.loads(answer)) == {"error"}
    return True


@pytest.mark.parametrize("half", ["\\ud800", "\\udc00", "\\ud83d\\u0041"])
def test_half_of_a_surrogate_pair_is_called_so(service, half):
    body = f'{{"texts": ["{CANARY} {half} {CANARY}"]}}'.encode()
    status, answer = service.ask("POST", "/v1/privatize", body, JSON)
    assert is_refused(status, answer, 400)
    assert b"half of a surrogate pair" in answer
    assert b"d83d" not in answer


@pytest.mark.parametrize("name", BODIES)
def test_a_bad_body_is_refused_without_being_repeated(service, name):
    body, expected = BODIES[name]
    status, answer = service.ask("POST", "/v1/privatize", body, JSON)
    assert is_refused(status, answer, expected)
    assert answer.startswith(b'{"error"')


@pytest.mark.parametrize("name", WORD_BODIES)
def test_a_word_is_not_repeated(service, name):
    body, expected = WORD_BODIES[name]
    assert is_refused(*service.ask("POST", "/v1/explain", body, JSON), expected)


@pytest.mark.parametrize("name", REQUESTS)
def test_no_part_of_a_request_is_repeated(service, name):
    method, path, headers, expected = REQUESTS[name]
    assert is_refused(*service.ask(method, path, b"", *headers), expected)


@pytest.mark.parametrize("name", RAW)
def test_what_is_no_request_is_refused(service, name):
    answer = service.raw(RAW[name])
    assert C not in answer.lower()
    assert not answer or b" 400 " in answer[:20] or b" 404 " in answer[:20]
    assert not answer or b'{"error": ' in answer


def test_who_leaves_in_the_middle_is_no_bug(service):
    before = counted(service)
    for _ in range(3):
        with service.connect() as connection:
            head = b"POST /v1/privatize HTTP/1.1\r\nHost: x\r\n" + JSON
            connection.sendall(head + b"\r\nContent-Length: 100\r\n\r\n" + C)
    wait_until(lambda: counted(service) >= before + 3)
    assert "bug" not in service.log()


def counted(service):
    """How many requests have come to an end, as the service counts them."""
    _, counts = service.ask("GET", "/metrics")
    name = rb'mondegreen_request_seconds_count{path="/v1/privatize"} (\d+)'
    found = re.search(name, counts)
    return int(found[1]) if found else 0


def test_http_1_0_is_answered(service):
    status, answer = service.ask("POST", "/v1/privatize", GOOD, JSON, version="1.0")
    assert status == 200
    assert C not in answer


def test_a_good_request_among_garbage_is_answered(service):
    (text,) = service.privatize(f"{CANARY} {CANARY}!")
    assert CANARY not in text


def test_a_bomb_is_not_unpacked(service):
    head = (JSON, b"Content-Encoding: gzip")
    assert is_refused(*service.ask("POST", "/v1/privatize", ZIP, *head), 415)


def test_a_body_of_100_megabytes_is_refused_before_it_is_sent(service):
    head = (JSON, b"Content-Length: 100000000", b"Expect: 100-continue")
    assert is_refused(*service.ask("POST", "/v1/privatize", b"", *head), 413)


def test_chunks_without_a_length_end_at_the_limit(service):
    chunk = b"10000\r\n" + C * 5041 + b"abc" + b"\r\n"
    head = b"POST /v1/privatize HTTP/1.1\r\nHost: x\r\n" + JSON + b"\r\n"
    head += b"Transfer-Encoding: chunked\r\n\r\n"
    answer = service.raw(head + chunk * 100 + b"0\r\n\r\n", ends=False)
    assert b" 413 " in answer[:20]
    assert C not in answer


@pytest.mark.parametrize("name", ["a_bug", "an_error", "what_holds_a_text"])
def test_an_error_inside_tells_nothing(
    serve, privatizer, monkeypatch, caplog, capfd, name
):
    wrong = {
        "a_bug": RuntimeError(CANARY),
        "an_error": MondegreenError(CANARY),
        "what_holds_a_text": UnicodeEncodeError("utf-8", CANARY, 0, 1, CANARY),
    }[name]

    def fail(self, *arguments, **options):
        raise wrong

    client = serve()
    monkeypatch.setattr(mg.Privatizer, "texts", fail)
    found = client.privatize(CANARY)
    assert found.status_code == 500
    assert found.json() == {
        "error": "An internal error occurred. Nothing was released."
    }
    assert type(wrong).__name__ in caplog.text
    shown = caplog.text + "".join(capfd.readouterr())
    assert CANARY not in shown


def test_unknown_words_that_are_refused_are_not_named(serve, space_file):
    law = mg.mechanism("tem", epsilon=0.01)
    strict = mg.Privatizer(law, mg.load_space(space_file), unknown="fail")
    found = serve(strict).privatize("bad", f"bad {CANARY}")
    assert found.status_code == 422
    assert CANARY not in found.text


def test_a_body_that_does_not_arrive_is_the_fault_of_the_client():
    from starlette.requests import ClientDisconnect

    from mondegreen.serve.answers import find_refusal

    found = find_refusal(ClientDisconnect())
    assert (found.status_code, found.reason) == (400, "disconnected")
