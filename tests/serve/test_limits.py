"""How much may be asked, how often, and by whom."""

import asyncio
import json
import threading

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("httpx")
pytest.importorskip("prometheus_client")

from clients import CANARY, JSON

import mondegreen as mg
from mondegreen.errors import ConfigurationError
from mondegreen.serve.api_keys import ApiKeys
from mondegreen.serve.limits import Limits

FIRST, SECOND = "first-key-of-thirty-letters-xx", "b" * 40


def bearer(key):
    return {"authorization": f"Bearer {key}"}


@pytest.fixture
def held(monkeypatch):
    """Let no call of a privatizer end until the event that is returned is set."""
    let_go, texts = threading.Event(), mg.Privatizer.texts

    def wait(self, *arguments, **options):
        assert let_go.wait(60)
        return texts(self, *arguments, **options)

    monkeypatch.setattr(mg.Privatizer, "texts", wait)
    yield let_go
    let_go.set()


def test_a_body_has_so_many_bytes(serve):
    client = serve(limits=Limits(body=100))
    body = json.dumps({"texts": ["a" * 75]}).encode()
    assert client.post("/v1/privatize", body + b" " * (100 - len(body))).is_success
    found = client.post("/v1/privatize", body + b" " * (101 - len(body)))
    assert found.status_code == 413
    assert "100 bytes" in found.json()["error"]


def test_chunks_are_counted_where_no_length_is_given(serve):
    async def chunks():
        for _ in range(20):
            yield b" " * 10

    client = serve(limits=Limits(body=100))
    sent = {"content": chunks(), "headers": {"content-type": "application/json"}}
    (found,) = client.many(("POST", "/v1/privatize", sent))
    assert found.status_code == 413


def test_a_request_has_so_many_texts_and_a_text_so_many_words(serve):
    client = serve(limits=Limits(texts=3, words=4))
    assert client.privatize("a b c d", "", None).is_success
    assert client.privatize("a", "", None, None).status_code == 413
    found = client.privatize("a b c d", f"a b c d {CANARY}")
    assert found.status_code == 422
    assert found.json()["error"].startswith("texts[1] has more than 4 words")


def test_a_request_takes_so_many_seconds(serve, held):
    found = serve(limits=Limits(seconds=1)).privatize(CANARY)
    assert found.status_code == 503
    assert found.json()["error"] == "The request was not done within 1 s."


@pytest.mark.slow("starts a service")
def test_a_body_that_does_not_come_is_not_waited_for(start):
    service = start("--timeout", 1)
    head = b"POST /v1/privatize HTTP/1.1\r\nHost: x\r\n" + JSON
    head += b"\r\nContent-Length: 100\r\n\r\n{"
    answer = service.raw(head, ends=False)
    assert b" 408 " in answer[:20]
    assert b'"error"' in answer
    assert b"connection: close" in answer
    assert service.privatize("bad") != ["bad bad"]


def test_so_many_requests_are_in_work_at_a_time(serve, held):
    client = serve(limits=Limits(concurrent=2))

    ask = ("POST", "/v1/privatize", {"json": {"texts": ["bad"]}})

    async def together():
        import httpx

        transport = httpx.ASGITransport(app=client.app)
        base = "http://service"
        async with httpx.AsyncClient(transport=transport, base_url=base) as sender:
            running = [
                asyncio.ensure_future(sender.request(*ask[:2], **ask[2]))
                for _ in range(3)
            ]
            done, _ = await asyncio.wait(
                running, timeout=60, return_when=asyncio.FIRST_COMPLETED
            )
            lives = await sender.get("/healthz")
            held.set()
            return done.pop().result(), lives, await asyncio.gather(*running)

    refused, lives, answers = asyncio.run(together())
    assert refused.status_code == 503
    assert refused.headers["retry-after"] == "1"
    assert lives.is_success
    assert sorted(each.status_code for each in answers) == [200, 200, 503]
    assert client.privatize("bad").is_success


def test_each_key_has_a_rate_of_its_own(serve):
    keys = ApiKeys([FIRST.encode(), SECOND.encode()])
    client = serve(api_keys=keys, limits=Limits(rate=1e-9))
    assert client.get("/metrics", headers=bearer(FIRST)).is_success
    found = client.get("/metrics", headers=bearer(FIRST))
    assert found.status_code == 429
    assert found.headers["retry-after"] == "1"
    assert client.get("/metrics", headers=bearer(SECOND)).is_success
    assert client.get("/healthz").is_success
    assert client.get("/metrics").status_code == 401


def test_without_keys_there_is_one_rate(serve):
    client = serve(limits=Limits(rate=1e-9))
    assert client.privatize("bad").is_success
    assert client.privatize("bad").status_code == 429


@pytest.mark.parametrize("path", ["/v1/privatize", "/v1/explain", "/metrics"])
@pytest.mark.parametrize(
    "headers",
    [
        {},
        bearer(CANARY * 3),
        bearer(""),
        {"authorization": f"Basic {FIRST}"},
        {"authorization": FIRST},
        {"x-api-key": FIRST[:-1]},
        {"x-api-key": FIRST.upper()},
        {"cookie": f"key={FIRST}"},
    ],
    ids=str,
)
def test_without_a_key_nothing_is_answered(serve, path, headers, caplog):
    client = serve(api_keys=ApiKeys([FIRST.encode()]))
    found = client.post(path, {"texts": [CANARY]}, headers=headers)
    assert found.status_code == 401
    assert found.headers["www-authenticate"] == "Bearer"
    is_sent = headers == bearer(CANARY * 3) or "x-api-key" in headers
    says = "The API key is not valid." if is_sent else "An API key is needed"
    assert found.json()["error"].startswith(says)
    assert CANARY not in found.text + caplog.text
    assert FIRST not in found.text + caplog.text


def test_a_key_opens_in_either_header(serve):
    client = serve(api_keys=ApiKeys([FIRST.encode(), SECOND.encode()]))
    body = {"texts": ["bad"]}
    for headers in (bearer(FIRST), bearer(SECOND), {"x-api-key": SECOND}):
        assert client.post("/v1/privatize", body, headers=headers).is_success


def test_every_key_is_compared_whichever_is_given(monkeypatch):
    import hmac

    compared = []
    compare = lambda a, b: compared.append((a, b)) or a == b  # noqa: E731
    monkeypatch.setattr(hmac, "compare_digest", compare)
    keys = ApiKeys([FIRST.encode(), SECOND.encode()])
    found = [keys.number(key) for key in (FIRST.encode(), SECOND.encode(), b"x", b"")]
    assert found == [0, 1, None, None]
    assert len(compared) == 8
    assert {len(digest) for pair in compared for digest in pair} == {32}


def test_keys_are_read_from_a_file_and_never_shown(api_keys):
    keys = ApiKeys.from_file(api_keys)
    assert [keys.number(key) for key in (FIRST.encode(), SECOND.encode())] == [0, 1]
    assert repr(keys) == "ApiKeys(<2 keys>)"
    assert FIRST not in str(vars(type(keys)))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "holds none"),
        ("# none\n", "holds none"),
        ("short\n", "line 1"),
        (f"{FIRST}\n{FIRST} {CANARY}\n", "line 2"),
        ("é" * 30, "line 1"),
        ("x" * (2 << 20), "longer"),
    ],
)
def test_a_file_of_keys_that_is_none_is_refused(tmp_path, text, says):
    path = tmp_path / "keys"
    path.write_text(text)
    path.chmod(0o600)
    with pytest.raises(ConfigurationError, match=says) as caught:
        ApiKeys.from_file(path)
    assert CANARY not in str(caught.value)
    assert FIRST not in str(caught.value)


def test_a_file_of_keys_that_others_can_read_is_refused(api_keys):
    api_keys.chmod(0o644)
    with pytest.raises(ConfigurationError, match="chmod 600"):
        ApiKeys.from_file(api_keys)
    with pytest.raises(ConfigurationError, match="No such file"):
        ApiKeys.from_file(api_keys.parent / "absent")
