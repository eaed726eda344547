"""A detector stands before every door alike; one that fails lets nothing out."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import random
import threading
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

pytest.importorskip("fastapi")
pytest.importorskip("uvicorn")
httpx = pytest.importorskip("httpx")

import doors  # noqa: E402
import mondegreen as mg  # noqa: E402
from mondegreen.cli.main import cli  # noqa: E402
from mondegreen.errors import ConfigurationError, DetectorError  # noqa: E402
from mondegreen.integrations import detectors  # noqa: E402
from mondegreen.integrations.detectors import NamedDetector  # noqa: E402
from mondegreen.policy.scope import Surrogates  # noqa: E402
from mondegreen.prompts.conversation_guard import ConversationGuard  # noqa: E402
from mondegreen.prompts.guard import PromptGuard  # noqa: E402
from mondegreen.serve import server  # noqa: E402
from mondegreen.serve.app import create_app  # noqa: E402
from mondegreen.serve.limits import Limits  # noqa: E402
from mondegreen.serve.proxy import ProxySettings, create_proxy  # noqa: E402
from mondegreen.serve.service_settings import ServiceSettings  # noqa: E402
from mondegreen.serve.upstream import Upstream  # noqa: E402

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # no look-up at import

CANARY = "zyxwoldemorth"
SAID = f"Ask mrs hope or mrs hope rain. I hope {CANARY} is well on 07/05/1961."
EPSILON = 12.0
LAYERS = ("first layer: the detector hope 1", "second layer: every word goes through")


def span(start, end, kind="PERSON", score=0.9):
    return SimpleNamespace(start=start, end=end, entity_type=kind, score=score)


def find_hope(text):
    """Find "hope" after "mrs", which the policy shows, in spans that overlap."""
    found, start = [], text.find("mrs hope")
    while start >= 0:
        first = start + 4
        found.append(span(first, first + 4))
        found.append(span(first, min(first + 9, len(text)), "LOCATION", 0.5))
        start = text.find("mrs hope", first)
    random.Random(len(text)).shuffle(found)
    return found


HOPE = NamedDetector(find_hope, "hope 1")


@pytest.fixture
def hope(monkeypatch):
    """Let every command and configuration that asks for Presidio find hope."""
    monkeypatch.setattr(detectors, "load_presidio", lambda model=None: HOPE)


@pytest.fixture
def one_key(monkeypatch):
    """Draw the surrogates of every conversation under one key."""
    new = classmethod(lambda cls, policy, **more: cls(policy, bytes(32), **more))
    monkeypatch.setattr(Surrogates, "new", new)


@pytest.fixture
def starts(monkeypatch):
    """Return what runs a server's command, and gives the settings of what it serves."""
    served = []
    monkeypatch.setattr(server, "run", lambda *given: served.append(given[0].args[0]))

    def start(*args):
        done = CliRunner().invoke(cli, [str(each) for each in args])
        assert done.exit_code == 0, done.output
        return served[-1], done

    return start


def ask(app, *bodies, path="/v1/privatize"):
    """Send requests to an application, one after the other."""

    async def run():
        transport = httpx.ASGITransport(app=app)
        base = "http://127.0.0.1"
        async with httpx.AsyncClient(transport=transport, base_url=base) as client:
            return [await client.post(path, json=body) for body in bodies]

    return asyncio.run(run())


def serve(settings, *bodies, path="/v1/privatize"):
    app = create_app(settings)
    try:
        return ask(app, *bodies, path=path)
    finally:
        app.state.batcher.close()


def litellm_guard(settings):
    pytest.importorskip("litellm")
    from mondegreen.integrations.litellm import MondegreenGuardrail

    return MondegreenGuardrail(settings)


def made():
    law = mg.mechanism("urr", epsilon=EPSILON)
    noise = mg.KeyedNoise(doors.KEY)
    return mg.Privatizer(law, policy="names", noise=noise)


# Every door gives the same release


def test_texts_have_one_release_with_a_detector_at_every_door(hope, starts, tmp_path):
    expected = made().with_detector(*HOPE)(SAID, id=doors.ID).text
    assert expected != made()(SAID, id=doors.ID).text
    assert "mrs hope" not in expected
    key = doors.key_file(tmp_path)
    flags = ["--policy", "names", "-e", EPSILON, "--key-file", key]
    flags += ["--detect", "presidio"]
    records = tmp_path / "in.jsonl"
    records.write_text(json.dumps({"id": doors.ID, "text": SAID}) + "\n")
    target = tmp_path / "out.jsonl"
    more = ["-o", target, "--id", "id", "--column", "text"]
    args = ["privatize", records, *flags, *more]
    done = CliRunner().invoke(cli, list(map(str, args)))
    assert done.exit_code == 0, done.output
    assert json.loads(target.read_text())["text"] == expected
    settings, done = starts("serve", *flags, "--verbose")
    assert all(each in done.stderr for each in LAYERS)
    assert "Detector: hope 1. It reads each text first." in done.stderr
    body = {"texts": [SAID], "ids": [doors.ID]}
    found = serve(settings, body)[0].json()
    assert found["texts"] == [expected]
    stated = json.dumps(found["guarantee"])
    assert all(each in stated for each in LAYERS)


@pytest.mark.slow("LiteLLM takes long to import")
@pytest.mark.filterwarnings("ignore")
def test_guards_have_one_release_with_a_detector(hope, starts, tmp_path):
    expected = PromptGuard(made().with_detector(*HOPE)).texts([SAID], "me")
    assert expected != PromptGuard(made()).texts([SAID], "me")
    key = doors.key_file(tmp_path)
    flags = ["--policy", "names", "-e", EPSILON, "--key-file", key]
    flags += ["--detect", "presidio"]
    upstream = ["--upstream", "https://x/v1"]
    guards = [
        starts("proxy", *upstream, *flags)[0].guard,
        starts("serve", "--guardrail", *flags)[0].guardrail,
        litellm_guard(
            {
                "policy": "names",
                "epsilon": EPSILON,
                "key_file": str(key),
                "detect": "presidio",
            }
        )._guard,
    ]
    for guard in guards:
        assert guard.texts([SAID], "me") == expected
        assert all(each in str(guard.guarantee.to_dict()) for each in LAYERS)


@pytest.mark.slow("LiteLLM takes long to import")
@pytest.mark.filterwarnings("ignore")
def test_conversations_hide_alike_with_a_detector_at_every_door(hope, one_key, starts):
    with mg.conversation(detector=HOPE) as c, mg.conversation() as plain:
        expected = c.hide(SAID)
        assert expected != plain.hide(SAID)
        assert expected.endswith("1961.") is False
    flags = ["--policy", "names", "--detect", "presidio"]
    body = {"messages": [{"role": "user", "content": SAID}]}
    proxied = starts("proxy", "--upstream", "https://x/v1", *flags)[0].guard
    settings, _ = starts("serve", "-e", EPSILON, "-m", "krr", *flags)
    inside = litellm_guard({"restore": True, "policy": "names", "detect": "presidio"})
    for guard in (proxied, inside._guard):
        sent, _ = guard.request("chat/completions", body, guard.begin())
        assert sent["messages"][0]["content"] == expected
        assert all(each in str(guard.guarantee) for each in LAYERS)
    scope = {"texts": [SAID, None], "scope": "conversation"}
    found = serve(settings, scope)[0].json()
    assert found["texts"] == [expected, None]
    assert all(each in str(found["guarantee"]) for each in LAYERS)


def test_what_the_service_hides_with_a_detector_comes_back(hope, one_key, starts):
    settings, _ = starts("serve", "-e", EPSILON, "--detect", "presidio")
    app = create_app(settings)
    try:
        scope = {"texts": [SAID], "scope": "conversation"}
        found = ask(app, scope)[0].json()
        body = {"texts": found["texts"], "conversation": found["conversation"]}
        (shown,) = ask(app, body, path="/v1/restore")
    finally:
        app.state.batcher.close()
    assert CANARY not in str(found)
    assert "mrs hope" not in str(found)
    assert shown.json() == {"texts": [SAID]}


def test_the_settings_of_a_service_name_its_detector(hope, starts):
    for flags in (["--detect", "presidio"], []):
        settings, _ = starts("serve", "-e", EPSILON, *flags)
        app = create_app(settings)

        async def get(app=app):
            transport = httpx.ASGITransport(app=app)
            base = "http://service"
            async with httpx.AsyncClient(transport=transport, base_url=base) as client:
                return await client.get("/v1/settings")

        try:
            found = asyncio.run(get()).json()
        finally:
            app.state.batcher.close()
        assert found.get("detector") == ("hope 1" if flags else None)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--detect", "presidio", "--policy", "all", "-m", "tree"], "needs a policy"),
        (["--detect", "presidio", "--workers", "2"], "one process"),
        (["--detect-model", "en_core_web_sm"], "--detect presidio"),
        (["--detect", "presidio", "--detect-model", "en_absent"], "no spaCy model"),
    ],
)
def test_a_service_that_cannot_have_its_detector_does_not_start(
    monkeypatch, options, says
):
    pytest.importorskip("presidio_analyzer")
    pytest.importorskip("spacy")
    monkeypatch.setattr(server, "run", lambda *given: pytest.fail("it serves"))
    done = CliRunner().invoke(cli, ["serve", "-e", "12", *options])
    assert done.exit_code == 2, done.output
    assert says in done.stderr


@pytest.mark.slow("LiteLLM takes long to import")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "more",
    [
        {"detect": "spacy"},
        {"detect_model": "en_core_web_sm"},
        {"detect": "presidio", "policy": "all", "mechanism": "tree"},
    ],
    ids=str,
)
def test_settings_of_litellm_without_a_detector_that_fits_are_refused(hope, more):
    with pytest.raises(ConfigurationError, match="detect"):
        litellm_guard({"epsilon": EPSILON, **more})


# A detector that fails


class QuotingError(mg.errors.MondegreenError):
    """An error that quotes a text, as none of this package does."""


class Quoting:
    """A span that fails when it is read."""

    def __init__(self, text):
        self._text = text

    @property
    def start(self):
        raise ValueError(self._text)


def fails(text):
    raise ValueError(text)


def fails_as_if_it_were_ours(text):
    raise QuotingError(text)


def ends_the_process(text):
    raise SystemExit(text)


def fails_at_the_canary(text):
    """Fail at the second text, when the first one has its release."""
    return fails(text) if CANARY in text else []


def fails_on_the_way(text):
    yield span(0, 1)
    raise ValueError(text)


BROKEN = [
    fails,
    fails_as_if_it_were_ours,
    ends_the_process,
    fails_at_the_canary,
    fails_on_the_way,
    lambda text: [Quoting(text)],
    lambda text: [span(0, 10**9)],
    lambda text: [span(-3, 2)],
    lambda text: [span(2, 2)],
    lambda text: [span(0, 1, None)],
    lambda text: None,
]


@pytest.fixture(params=BROKEN, ids=lambda each: each.__name__)
def broken(request):
    return NamedDetector(request.param, "broken 1")


@pytest.fixture
def over():
    """Set when a detector that hangs may end."""
    event = threading.Event()
    yield event
    event.set()


@pytest.fixture
def stuck(over):
    """A detector that hangs until the test is over."""

    def hang(text):
        over.wait(60)
        return []

    return NamedDetector(hang, "stuck 1")


FIRST = "I hope it is well."


def messages(*texts):
    return {"messages": [{"role": "user", "content": each} for each in texts]}


def service(detector, **limits):
    return ServiceSettings(
        mg.Privatizer(mg.mechanism("urr", epsilon=EPSILON), policy="names")
        .with_detector(*detector),
        limits=Limits(**limits),
        conversations=ConversationGuard(detector=detector),
    )  # fmt: skip


def guards(detector):
    """The guard with noise and the one that restores."""
    law = mg.mechanism("urr", epsilon=EPSILON)
    noisy = mg.Privatizer(law, policy="names").with_detector(*detector)
    return PromptGuard(noisy), ConversationGuard(detector=detector)


def through_proxy(guard, body, **limits):
    """Send a request through a proxy; return the answer, and what went up."""
    went = []

    def upstream(request):
        went.append(request)
        return httpx.Response(200, json={"choices": []})

    settings = ProxySettings(guard, Upstream("https://x/v1"), Limits(**limits))
    transport = httpx.MockTransport(upstream)
    client = httpx.AsyncClient(transport=transport)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Upstream, "client", lambda self: client)
        app = create_proxy(settings)
    (answer,) = ask(app, body, path="/v1/chat/completions")
    return answer, went


def test_the_service_answers_an_error_and_no_text(broken, caplog):
    caplog.set_level(logging.DEBUG)
    texts = [FIRST, SAID]
    plain, talk = serve(
        service(broken), {"texts": texts}, {"texts": texts, "scope": "conversation"}
    )
    for answer in (plain, talk):
        assert answer.status_code == 500
        assert answer.json().keys() == {"error"}
        assert "the detector " in answer.json()["error"]
        assert "nothing was released" in answer.json()["error"]
        assert CANARY not in answer.text
    assert CANARY not in caplog.text


@pytest.mark.parametrize("restores", [False, True])
def test_the_proxy_sends_nothing(broken, restores, caplog):
    caplog.set_level(logging.DEBUG)
    guard = guards(broken)[restores]
    answer, went = through_proxy(guard, messages(FIRST, SAID))
    assert answer.status_code == 500
    assert "the detector " in answer.json()["error"]["message"]
    assert not went
    assert CANARY not in answer.text + caplog.text


def test_the_guardrail_blocks(broken, caplog):
    settings = ServiceSettings(made().with_noise(None), guardrail=guards(broken)[0])
    body = {"input_type": "request", "texts": [FIRST, SAID]}
    (answer,) = serve(settings, body, path="/beta/litellm_basic_guardrail_api")
    assert answer.json()["action"] == "BLOCKED"
    assert "the detector " in answer.json()["blocked_reason"]
    assert CANARY not in answer.text + caplog.text


def pass_litellm(guard, *texts):
    data = {"model": "stub", **messages(*texts)}
    return asyncio.run(guard.async_pre_call_hook(None, None, data, "acompletion"))


@pytest.mark.slow("LiteLLM takes long to import")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("restores", [False, True])
def test_litellm_sends_nothing(broken, restores):
    from fastapi import HTTPException

    guard = litellm_guard(guards(broken)[restores])
    with pytest.raises(HTTPException) as caught:
        pass_litellm(guard, FIRST, SAID)
    assert caught.value.status_code == 500
    assert "the detector " in str(caught.value.detail)
    assert CANARY not in str(caught.value.detail)


def test_a_conversation_in_python_hides_nothing(broken):
    with mg.conversation(detector=broken) as c, pytest.raises(DetectorError) as error:
        c.hide(SAID)
    assert error.value.__cause__ is None
    assert CANARY not in str(error.value)


def test_other_requests_pass_while_a_text_makes_the_detector_fail():
    """Requests that wait are privatized in one call; one of them fails."""
    app = create_app(service(NamedDetector(fails_at_the_canary, "moody 1")))

    async def run():
        transport = httpx.ASGITransport(app=app)
        base = "http://service"
        async with httpx.AsyncClient(transport=transport, base_url=base) as client:
            texts = [FIRST, SAID] * 6
            sent = [client.post("/v1/privatize", json={"texts": [x]}) for x in texts]
            return await asyncio.gather(*sent)

    try:
        found = [each.status_code for each in asyncio.run(run())]
    finally:
        app.state.batcher.close()
    assert found == [200, 500] * 6


# A detector that hangs


def test_a_detector_that_hangs_ends_in_an_error_of_the_service(stuck):
    (answer,) = serve_once(service(stuck, seconds=1), {"texts": [SAID]})
    (talk,) = serve_once(
        service(stuck, seconds=1), {"texts": [SAID], "scope": "conversation"}
    )
    for each in (answer, talk):
        assert each.status_code == 503
        assert CANARY not in each.text


def serve_once(settings, body):
    """As :func:`serve`, but the thread of the batcher may hang."""
    return ask(create_app(settings), body)


@pytest.mark.parametrize("restores", [False, True])
def test_a_detector_that_hangs_ends_in_an_error_of_the_proxy(stuck, restores):
    guard = guards(stuck)[restores]
    answer, went = through_proxy(guard, messages(SAID), seconds=1)
    assert answer.status_code == 503
    assert "Nothing was sent" in answer.json()["error"]["message"]
    assert not went
    assert CANARY not in answer.text


@pytest.mark.slow("LiteLLM takes long to import")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("restores", [False, True])
def test_a_detector_that_hangs_blocks_in_litellm_and_so_does_the_next(
    stuck, over, restores, monkeypatch
):
    from fastapi import HTTPException

    from mondegreen.integrations import litellm

    monkeypatch.setattr(litellm, "_SECONDS", 0.3)
    guard = litellm_guard(guards(stuck)[restores])

    async def run():
        data = [{"model": "stub", **messages(SAID)} for _ in range(3)]
        calls = [guard.async_pre_call_hook(None, None, x, "acompletion") for x in data]
        found = asyncio.gather(*calls, return_exceptions=True)
        done = await asyncio.wait_for(found, 30)
        over.set()  # the loop waits for its threads before it closes
        return done

    for error in asyncio.run(run()):
        assert isinstance(error, HTTPException)
        assert error.status_code == 503
        assert CANARY not in str(error.detail)
