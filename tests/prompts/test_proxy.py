"""The proxy with real clients: what the model receives, and what comes back."""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
import threading
import time
from urllib.parse import urlsplit

import numpy as np
import pytest

import mondegreen as mg
from mondegreen.errors import ConfigurationError, InvalidParameterError

openai = pytest.importorskip("openai")
httpx = pytest.importorskip("httpx")
pytest.importorskip("uvicorn")

from language_model import EVENTS, WAIT, Model, running  # noqa: E402
from requests_to_models import CANARY, PUBLIC, rich  # noqa: E402

from mondegreen.prompts.guard import PromptGuard  # noqa: E402
from mondegreen.serve.limits import Limits  # noqa: E402
from mondegreen.serve.proxy import ProxySettings, create_proxy  # noqa: E402
from mondegreen.serve.upstream import Upstream, error_codes  # noqa: E402

WORDS = tuple(f"{a}{b}{c}" for a in "bdfgklmn" for b in "aeiou" for c in "dgkm")
KEY = "sk-secret"


@pytest.fixture(scope="module")
def guard():
    vectors = np.random.default_rng(5).normal(size=(len(WORDS), 6))
    space = mg.Space.from_arrays("proxy", WORDS, vectors)
    privatizer = mg.Privatizer(mg.mechanism("tem", epsilon=0.1), space)
    return PromptGuard(privatizer, public=PUBLIC)


@pytest.fixture(scope="module")
def shared(guard):
    """A model, and a proxy before it."""
    model = Model()
    with (
        running(model.app) as upstream,
        running(create_proxy(ProxySettings(guard, Upstream(upstream)))) as address,
    ):
        yield model, address


@pytest.fixture
def model(shared):
    found, _ = shared
    found.start_anew()
    return found


@pytest.fixture
def address(shared, model):
    return shared[1]


@pytest.fixture
def client(address):
    with openai.OpenAI(base_url=address, api_key=KEY, max_retries=0) as found:
        yield found


def ask(client, *texts, **more):
    messages = [{"role": "user", "content": each} for each in texts or [CANARY]]
    return client.chat.completions.create(model="stub", messages=messages, **more)


def raw(address, body=b"{}", path="/v1/chat/completions", method="POST", **headers):
    """Send bytes; return status, headers and bytes."""
    headers = {"Content-Type": "application/json", **headers}
    connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=WAIT)
    with contextlib.closing(connection):
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        return answer.status, dict(answer.getheaders()), answer.read()


# What passes


def test_the_four_kinds_of_requests_pass_with_the_clients_of_today(client, model):
    said = ask(client, CANARY).choices[0].message.content
    assert said == "An answer."
    completed = client.completions.create(model="stub", prompt=f"I am {CANARY}")
    assert completed.choices[0].text == "An answer."
    vectors = client.embeddings.create(model="stub", input=[CANARY, "bam"])
    assert vectors.data[0].embedding == [0.5, 0.25]
    response = client.responses.create(model="stub", input=f"I am {CANARY}")
    assert response.output_text == "An answer."
    assert client.models.list().data[0].id == "stub"
    assert len(model.received) == 5
    assert CANARY not in model.everything


@pytest.mark.parametrize("kind", rich)
def test_no_private_word_of_a_request_with_everything_arrives(address, model, kind):
    body = json.dumps(rich[kind]).encode()
    status, headers, _ = raw(
        address,
        body,
        f"/v1/{kind}",
        **{
            "Authorization": f"Bearer {KEY}",
            "X-Mondegreen-Conversation": CANARY,
            "X-Title": CANARY,
            "User-Agent": CANARY,
            "Referer": f"https://{CANARY}/",
            "Cookie": CANARY,
            "Accept-Language": CANARY,
            "Idempotency-Key": CANARY,
            "X-Forwarded-For": CANARY,
        },
    )
    assert status == 200
    assert len(model.received) == 1
    assert CANARY not in model.everything
    assert f"authorization: Bearer {KEY}" in model.everything
    assert headers["x-mondegreen-guarantee"].startswith("tem; epsilon=0.1; certified=")


def test_an_answer_is_streamed_and_its_bytes_are_those_of_the_model(address, model):
    body = json.dumps(
        {
            "model": "stub",
            "messages": [{"role": "user", "content": CANARY}],
            "stream": True,
        }
    )
    status, headers, found = raw(address, body.encode())
    assert (status, found) == (200, b"".join(EVENTS))
    assert headers["content-type"].startswith("text/event-stream")
    assert CANARY not in model.everything


def test_a_client_reads_a_streamed_answer(client, model):
    with ask(client, CANARY, stream=True) as stream:
        said = "".join(part.choices[0].delta.content for part in stream)
    assert said == "An answer é."


def test_the_second_turn_repeats_the_first_and_another_client_does_not(
    client, address, model
):
    ask(client, "bam dad mek gid dag")
    ask(client, "bam dad mek gid dag", "kod nem nod gud")
    for other in ({"api_key": "other"}, {"default_headers": {
        "x-mondegreen-conversation": "another"}}):  # fmt: skip
        settings = {"api_key": KEY, "max_retries": 0, **other}
        with openai.OpenAI(base_url=address, **settings) as someone:
            ask(someone, "bam dad mek gid dag")
    sent = [body["messages"][0]["content"] for body in model.bodies]
    assert sent[0] == sent[1]
    assert len({*sent}) == 3


def test_the_guarantee_can_be_read(address, guard):
    status, _, body = raw(address, None, "/guarantee", "GET")
    stated = json.loads(body)
    assert (status, stated["digest"]) == (200, guard.digest)
    assert mg.Guarantee.from_dict(stated["guarantee"]) == guard.guarantee


# What does not


@pytest.mark.parametrize(
    "body",
    [
        b"", b"[]", b"{", b"\xff", b'{"model": "stub", "seed": NaN}',
        f'"{CANARY}"'.encode(),
        b"[" * 100_000, b'{"messages":' * 50_000, f'{{"{CANARY}": 1}}'.encode(),
        f'{{"model": "stub", "messages": [{{"content": "{CANARY}"}}]}}'.encode(),
        b'{"messages": [{"role": "user", "content": "\\ud800 Anna"}], "model": "stub"}',
        b'{"messages": [{"role": "user", "content": "\\udc00"}], "model": "stub"}',
    ],
)  # fmt: skip
def test_what_is_no_request_is_an_error_and_goes_nowhere(address, model, body):
    status, _, found = raw(address, body)
    assert status == 400
    assert json.loads(found)["error"]["type"] == "mondegreen_error"
    assert CANARY.encode() not in found
    assert not model.received


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/v1/images/generations"), ("POST", "/v1/audio/speech"),
        ("POST", "/v1/files"), ("POST", "/v1/moderations"), ("POST", "/v1/messages"),
        ("GET", "/v1/chat/completions"), ("POST", "/v1/models"),
        ("POST", "/v1/chat/completions/"), ("POST", "//v1/chat/completions"),
        ("GET", "/v1/responses/resp_12345678"), ("GET", f"/v1/models/{CANARY}"),
        ("POST", f"/v1/chat/completions?q={CANARY}"), ("GET", f"/v1/models?q={CANARY}"),
        ("PUT", "/v1/chat/completions"), ("DELETE", "/v1/models"),
    ],
)  # fmt: skip
def test_no_other_path_method_or_query_is_passed_on(address, model, method, path):
    body = json.dumps(rich["chat/completions"]).encode()
    status, _, found = raw(address, body, path, method)
    assert 300 <= status < 500
    assert CANARY.encode() not in found
    assert not model.received


@pytest.mark.parametrize("value", [f"Bearer {CANARY} x", f"my key is {CANARY}", "é"])
def test_a_key_of_another_form_is_refused(address, model, value):
    body = json.dumps(rich["embeddings"]).encode()
    encoded = {"Authorization": value.encode("latin-1")}
    status, _, found = raw(address, body, "/v1/embeddings", **encoded)
    assert (status, CANARY.encode() in found) == (400, False)
    assert not model.received


def test_a_compressed_body_is_refused(address, model):
    body = json.dumps(rich["chat/completions"]).encode()  # not compressed at all
    status, _, _ = raw(address, body, **{"Content-Encoding": "gzip"})
    assert (status, model.received) == (415, [])


@pytest.mark.parametrize("chunked", [True, False])
def test_a_long_body_is_refused_before_it_is_read(guard, model, chunked):
    app = create_proxy(
        ProxySettings(guard, Upstream("http://127.0.0.1:9"), limits=Limits(body=1000))
    )
    text = json.dumps(rich["chat/completions"])
    with running(app) as address:
        body = iter([text.encode()]) if chunked else text.encode()
        status, _, found = raw(address, body)
    assert (status, b"more than 1000 bytes" in found) == (413, True)


def test_what_the_client_sees_of_a_refusal_names_the_field(client, model):
    picture = [{"type": "image_url", "image_url": {"url": CANARY}}]
    with pytest.raises(openai.BadRequestError) as caught:
        ask(client, picture)
    assert "messages[0].content[0]: a part that is not text" in str(caught.value)
    assert CANARY not in str(caught.value)
    assert not model.received


@pytest.mark.parametrize("error", [ValueError, MemoryError, RecursionError, OSError])
def test_a_privatizer_that_fails_sends_nothing(
    client, model, guard, monkeypatch, error, capfd
):
    def fails(*parts):
        raise error(CANARY)

    monkeypatch.setattr(guard.privatizer, "texts", fails)
    with pytest.raises(openai.InternalServerError) as caught:
        ask(client, CANARY)
    assert CANARY not in f"{caught.value} {capfd.readouterr()}"
    assert not model.received


@pytest.mark.parametrize("wrong", [[], [None], ["a", "b"]])
def test_a_privatizer_that_loses_a_text_sends_nothing(
    client, model, guard, monkeypatch, wrong
):
    monkeypatch.setattr(guard.privatizer, "texts", lambda *parts: (wrong, 0))
    with pytest.raises(openai.InternalServerError):
        ask(client, CANARY)
    assert not model.received


# The upstream


def test_an_error_of_the_model_is_passed_on_without_the_prompt(client, model):
    model.mode = "error"
    with pytest.raises(openai.BadRequestError) as caught:
        ask(client, "bam dad mek")
    assert caught.value.code == "context_length_exceeded"
    assert caught.value.response.headers["retry-after"] == "3"
    (sent,) = model.bodies
    assert sent["messages"][0]["content"] not in str(caught.value)


def test_codes_of_an_error_are_identifiers():
    error = {"type": "a_type", "code": "two words", "message": "said"}
    assert error_codes(json.dumps({"error": error}).encode()) == {"type": "a_type"}
    for strange in (b"", b"[]", b'{"error": "text"}', b'{"error": {"code": 7}}'):
        assert error_codes(strange) == {}


def test_a_redirect_is_not_followed(client, model):
    model.mode = "redirect"
    with pytest.raises(openai.InternalServerError, match="redirects") as caught:
        ask(client, CANARY)
    assert caught.value.status_code == 502
    assert len(model.received) == 1


def test_a_model_that_is_down_is_an_error(guard):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        upstream = Upstream(f"http://127.0.0.1:{taken.getsockname()[1]}/v1")
        with running(create_proxy(ProxySettings(guard, upstream))) as address:
            status, _, found = raw(
                address, json.dumps(rich["chat/completions"]).encode()
            )
    assert (status, CANARY.encode() in found) == (502, False)


def test_a_model_that_is_silent_is_an_error(guard, model):
    model.mode = "slow"
    with running(model.app) as slow:
        upstream = Upstream(slow, seconds=0.2)
        with running(create_proxy(ProxySettings(guard, upstream))) as address:
            body = json.dumps(rich["embeddings"]).encode()
            status, _, _ = raw(address, body, "/v1/embeddings")
        model.release.set()
    assert status == 504


@pytest.mark.parametrize("mode", ["flood", "endless", "slow"])
def test_an_answer_that_is_never_whole_is_cut_off(guard, model, mode):
    model.mode = mode
    with running(model.app) as slow:
        upstream = Upstream(slow, answer_seconds=0.3)
        with running(create_proxy(ProxySettings(guard, upstream))) as address:
            body = json.dumps(rich["embeddings"]).encode()
            started = time.monotonic()
            try:
                status, _, found = raw(address, body, "/v1/embeddings")
            except http.client.IncompleteRead:
                status, found = 0, b""
            assert time.monotonic() - started < 20
        model.release.set()
    assert status == {"flood": 0, "endless": 200, "slow": 504}[mode]
    assert (b"--answer-timeout" in found) is (mode != "flood")


def test_an_answer_that_is_cut_off_ends_with_an_error(client, model):
    model.mode = "cut"
    with pytest.raises(openai.APIError), ask(client, "bam", stream=True) as stream:
        list(stream)


@pytest.mark.parametrize("mode", ["endless", "slow"])
def test_a_client_that_goes_ends_the_request_to_the_model(address, model, mode):
    model.mode = mode
    body = json.dumps(rich["embeddings"]).encode()
    host = urlsplit(address).netloc
    connection = http.client.HTTPConnection(host, timeout=WAIT)
    kind = {"Content-Type": "application/json"}
    connection.request("POST", "/v1/embeddings", body, kind)
    assert model.waiting.wait(WAIT)
    connection.close()
    assert model.gone.wait(WAIT)


def test_more_requests_than_fit_are_refused(guard, model):
    model.mode = "slow"
    with running(model.app) as slow:
        settings = ProxySettings(guard, Upstream(slow), Limits(concurrent=1))
        with running(create_proxy(settings)) as address:
            body = json.dumps(rich["embeddings"]).encode()
            first = threading.Thread(
                target=raw, args=(address, body, "/v1/embeddings"), daemon=True
            )
            first.start()
            assert model.waiting.wait(WAIT)
            status, _, _ = raw(address, body, "/v1/embeddings")
            model.release.set()
            first.join(WAIT)
    assert status == 503
    assert len(model.received) == 1


@pytest.mark.parametrize(
    "url",
    [
        "", "x.org/v1", "ftp://x/v1", "https://", "https:///v1", "https://:443/v1",
        "https://me:secret@x/v1", "https://:secret@x/v1", "https://secret@x/v1",
        "https://@x/v1", "https://x@secret/v1", "https://x\\@secret/v1",
        "https://x:0/v1", "https://x:65536/v1", "https://x:http/v1", "https://x:-1/v1",
        "https://x:/v1", "https://x/v1?key=secret", "https://x/v1?", "https://x?secret",
        "https://x/v1#secret", "https://x/v1#", "https://x/v1 secret", "https://x\n/v1",
        "https://[::1/v1", "https://x y/v1",
    ],
)  # fmt: skip
def test_a_url_that_is_more_than_a_base_is_refused_and_not_shown(url):
    with pytest.raises(ConfigurationError, match="upstream must be a URL") as caught:
        Upstream(url)
    assert "secret" not in str(caught.value)
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


@pytest.mark.parametrize(
    "url",
    ["https://x", "https://x:1", "https://a-b.c_d:65535/v1/", "https://[::1]:8/v"],
)
def test_a_base_is_scheme_host_port_and_path(url):
    assert Upstream(url).address("models").startswith(url.rstrip("/"))


@pytest.mark.parametrize("name", ["seconds", "answer_seconds"])
@pytest.mark.parametrize("value", [0, -1, float("nan"), float("inf")])
def test_an_upstream_is_waited_for_some_seconds(name, value):
    with pytest.raises(InvalidParameterError, match="seconds above 0"):
        Upstream("https://x", **{name: value})


def test_plain_http_is_for_this_machine():
    for here in ("http://localhost:1/v1", "http://127.0.0.1:1", "http://[::1]/v1"):
        assert Upstream(here)
    for other in ("http://10.0.0.1/v1", "http://localhost.example/v1"):
        with pytest.raises(ConfigurationError):
            Upstream(other)
        assert Upstream(other, plain_http=True)


def test_a_base_without_a_path_means_the_first_version():
    assert Upstream("https://x.org").address("models") == "https://x.org/v1/models"
    assert Upstream("https://x.org/a/").address("models") == "https://x.org/a/models"


@pytest.mark.parametrize("header", ["OpenAI-Organization", "OpenAI-Project"])
def test_who_pays_is_an_id_and_no_sentence(address, model, header):
    body = json.dumps({"model": "stub", "messages": []}).encode()
    for value in (f"{CANARY} is ill", f"{CANARY}@x", "a" * 65):
        status, _, said = raw(address, body, **{header: value})
        assert (status, header.lower() in said.decode()) == (400, True)
        assert CANARY not in said.decode()
    assert not model.received
    assert raw(address, body, **{header: "org-1_a"})[0] == 200
