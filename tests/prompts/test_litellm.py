"""LiteLLM's own code, before a model that keeps what it receives."""

from __future__ import annotations

import asyncio
import copy
import gc
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from mondegreen.errors import ConfigurationError, PrivacyError

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # no look-up at import
pytest.importorskip("litellm")
pytest.importorskip("fastapi")
pytestmark = [
    pytest.mark.slow("LiteLLM takes long to import"),
    pytest.mark.filterwarnings("ignore"),  # those of LiteLLM are its own
]

from language_model import running  # noqa: E402
from requests_to_models import CANARY, PUBLIC, SYSTEM, rich  # noqa: E402

from mondegreen.prompts.guard import PromptGuard  # noqa: E402

CHAT = "chat/completions"


@pytest.fixture(autouse=True)
def sockets_that_litellm_leaves():
    """Find them here, where its warnings are ignored."""
    yield
    gc.collect()


def said(*texts, **more):
    messages = [{"role": "user", "content": each} for each in texts or [CANARY]]
    return {"model": "stub", "messages": messages, **more}


@pytest.fixture(scope="module")
def guard(evenly):
    return PromptGuard(evenly, public=PUBLIC)


@pytest.fixture(scope="module")
def service(evenly, guard):
    from mondegreen.serve.app import create_app
    from mondegreen.serve.service_settings import ServiceSettings

    app = create_app(ServiceSettings(evenly, guardrail=guard))
    with running(app) as address:
        yield address.removesuffix("/v1")
    app.state.batcher.close()


@pytest.fixture
def beside(service):
    """LiteLLM's own client of the guardrail address."""
    from litellm.proxy.guardrails.guardrail_hooks.generic_guardrail_api import (
        GenericGuardrailAPI,
    )

    return GenericGuardrailAPI(api_base=service, guardrail_name="m", timeout=60)


@pytest.fixture(scope="module")
def inside(guard):
    from mondegreen.integrations.litellm import MondegreenGuardrail

    return MondegreenGuardrail(guard, guardrail_name="m", event_hook="pre_call")


def translated(kind, guardrail, body):
    """What LiteLLM makes of a request after a guardrail, by its own translation."""
    from litellm.llms.openai.chat.guardrail_translation import handler as chat
    from litellm.llms.openai.completion.guardrail_translation import handler as old
    from litellm.llms.openai.embeddings.guardrail_translation import handler as vectors
    from litellm.llms.openai.responses.guardrail_translation import handler as new

    translation = {
        CHAT: chat.OpenAIChatCompletionsHandler,
        "completions": old.OpenAITextCompletionHandler,
        "embeddings": vectors.OpenAIEmbeddingsHandler,
        "responses": new.OpenAIResponsesHandler,
    }[kind]()

    async def run():
        return await translation.process_input_messages(copy.deepcopy(body), guardrail)

    return asyncio.run(run())


def shown(kind):
    """The fields of a rich request that LiteLLM shows to an address beside it."""
    names = {
        CHAT: ("messages", "tools"),
        "completions": ("prompt",),
        "embeddings": ("input",),
        "responses": ("input", "instructions"),
    }[kind]
    body = copy.deepcopy(rich[kind])
    for message in body.get("messages", ()):
        message.pop("annotations", None)
    return {"model": "stub", **{name: body[name] for name in names}}


# Beside LiteLLM


@pytest.mark.parametrize("kind", rich)
def test_what_litellm_shows_leaves_it_without_a_private_word(beside, kind):
    body = shown(kind)
    if kind == "responses":
        body["input"] = body["input"][:2]  # nor does it show ids
        del body["input"][1]["id"]
    sent = json.dumps(translated(kind, beside, body))
    assert CANARY in json.dumps(body)
    assert CANARY not in sent
    assert (SYSTEM in sent) == (kind == CHAT)


@pytest.mark.parametrize(
    "body",
    [
        said([{"type": "text", "text": "bam"},
              {"type": "image_url", "image_url": {"url": "https://x/y.png"}}]),
        said(tools=[{"type": "function", "function": {"name": CANARY}}]),
    ],
)  # fmt: skip
def test_what_the_address_cannot_read_is_blocked(beside, body):
    with pytest.raises(Exception) as caught:  # noqa: PT011
        translated(CHAT, beside, body)
    assert CANARY not in str(caught.value)
    assert type(caught.value).__name__ in ("GuardrailRaisedException", "Exception")


def test_a_failure_of_the_address_blocks_even_where_failures_are_forgiven(
    service, guard, monkeypatch
):
    from litellm.proxy.guardrails.guardrail_hooks.generic_guardrail_api import (
        GenericGuardrailAPI,
    )

    def fails(*parts):
        raise MemoryError(CANARY)

    forgiving = GenericGuardrailAPI(
        api_base=service, unreachable_fallback="fail_open", fail_on_error=False
    )
    monkeypatch.setattr(guard.privatizer, "texts", fails)
    with pytest.raises(Exception, match="could not be privatized") as caught:
        translated(CHAT, forgiving, said())
    assert CANARY not in str(caught.value)


def test_an_address_that_is_down_blocks(evenly):
    from litellm.proxy.guardrails.guardrail_hooks.generic_guardrail_api import (
        GenericGuardrailAPI,
    )

    down = GenericGuardrailAPI(api_base="http://127.0.0.1:9", guardrail_name="m")
    with pytest.raises(Exception, match="Generic Guardrail API failed"):
        translated(CHAT, down, said())


def test_a_field_that_is_not_shown_does_not_pass_with_a_message_that_did_not_change(
    beside,
):
    said = [
        ("system", SYSTEM),
        ("user", "?!"),
        ("user", [{"type": "text", "text": "?"}]),
    ]
    rows = [{"role": role, "content": each, "hidden": CANARY} for role, each in said]
    sent = translated(CHAT, beside, {"model": "stub", "messages": rows})
    assert CANARY not in json.dumps(sent)
    assert SYSTEM in json.dumps(sent)


def test_an_answer_passes(service):
    import httpx

    shown = {"input_type": "response", "texts": ["An answer."], "request_data": {}}
    path = "/beta/litellm_basic_guardrail_api"
    found = httpx.post(service + path, json=shown).json()
    assert found == {"action": "NONE"}
    for strange in (
        [],
        {},
        {"input_type": CANARY},
        {"input_type": "request", "texts": [5]},
    ):
        found = httpx.post(service + path, json=strange).json()
        assert found["action"] == "BLOCKED"
        assert CANARY not in str(found)


def test_requests_of_the_address_are_counted_as_all_others(service):
    import httpx

    path = "/beta/litellm_basic_guardrail_api"
    httpx.post(service + path, json={"input_type": "response"})
    lines = httpx.get(f"{service}/metrics").text.splitlines()
    (count,) = (
        x for x in lines if f'path="{path}",status="200"' in x and "_total" in x
    )
    assert float(count.split()[-1]) >= 1


def test_an_older_litellm_that_sends_texts_alone_has_more_blocked(service):
    import httpx

    row = {"role": "user", "content": "bam", "name": CANARY}
    body = {"input_type": "request", "texts": ["bam"], "structured_messages": [row]}
    path = "/beta/litellm_basic_guardrail_api"
    for version, action in (("1.106.2", "GUARDRAIL_INTERVENED"), ("1.80.0", "BLOCKED")):
        sent = {**body, "litellm_version": version}
        found = httpx.post(service + path, json=sent).json()
        assert found["action"] == action
        assert CANARY not in str(found)


def test_the_second_turn_repeats_the_first(beside):
    one = translated(CHAT, beside, said("bam dad mek gid dag"))["messages"]
    two = translated(CHAT, beside, said("bam dad mek gid dag", "kod nem nod"))
    assert two["messages"][0] == one[0]


# In LiteLLM


def before_call(guardrail, data, call_type):
    async def run():
        return await guardrail.async_pre_call_hook(None, None, data, call_type)

    return asyncio.run(run())


@pytest.mark.parametrize(
    ("kind", "call_type"),
    [(CHAT, "acompletion"), ("completions", "atext_completion"),
     ("embeddings", "aembedding"), ("responses", "aresponses")],
)  # fmt: skip
def test_a_whole_request_is_privatized_where_it_stands(inside, kind, call_type):
    body = copy.deepcopy(rich[kind])
    data = {
        **body,
        "proxy_server_request": {"body": copy.deepcopy(rich[kind]), "headers": {}},
        "metadata": {"topic": CANARY, "requester_metadata": {"topic": CANARY}},
    }
    made = before_call(inside, data, call_type)
    assert made is data
    assert CANARY not in json.dumps(made)


@pytest.mark.parametrize(
    ("data", "call_type"),
    [
        ({"model": "stub", "prompt": CANARY}, "image_generation"),
        ({"model": "stub", "messages": said()["messages"]}, "anthropic_messages"),
        ({"model": "stub", "input": CANARY}, "pass_through_endpoint"),
        ({"model": "stub", "input": [[1, 2]]}, "aembedding"),
        (said(extra_body={"x": CANARY}), "acompletion"),
        (said(mock_response=CANARY), "acompletion"),
        (said([{"type": "image_url", "image_url": {"url": CANARY}}]), "acompletion"),
    ],
)
def test_what_litellm_would_not_ask_about_is_blocked(inside, data, call_type):
    from fastapi import HTTPException

    with pytest.raises(HTTPException) as caught:
        before_call(inside, data, call_type)
    assert caught.value.status_code == 400
    assert CANARY not in f"{caught.value.detail} {caught.value.__cause__}"


def test_no_request_and_no_mode_turns_it_off(inside, guard):
    from litellm.types.guardrails import GuardrailEventHooks as Hook

    from mondegreen.integrations.litellm import MondegreenGuardrail

    off = {"metadata": {"disable_global_guardrails": True, "guardrails": []}}
    assert inside.should_run_guardrail(off, Hook.pre_call)
    assert not inside.should_run_guardrail(off, Hook.post_call)
    other = MondegreenGuardrail(guard, event_hook="post_call", default_on=False)
    assert other.should_run_guardrail({}, Hook.pre_call)
    for option in ("run_in_parallel", "scan_raw_request", "only_scan_new_messages"):
        with pytest.raises(ConfigurationError):
            MondegreenGuardrail(guard, **{option: True})


def test_a_guard_is_built_from_a_configuration_or_not_at_all(evenly, tmp_path):
    from mondegreen.integrations.litellm import MondegreenGuardrail

    public = tmp_path / "public.json"
    public.write_text(json.dumps(PUBLIC))
    made = MondegreenGuardrail({"epsilon": 10, "public": str(public)})
    sent = before_call(made, said(messages=[{"role": "system", "content": SYSTEM}]),
                       "acompletion")  # fmt: skip
    assert sent["messages"][0]["content"] == SYSTEM
    for wrong in ({}, {"epsilon": 1, "spec": {}}, {"key_env": "A", "key_file": "b"}):
        with pytest.raises(ConfigurationError):
            MondegreenGuardrail(wrong)
    with pytest.raises(PrivacyError):
        MondegreenGuardrail({"epsilon": 10, "mechanism": "santext_plus"})


def test_the_direct_interface_privatizes_requests_and_passes_answers(inside):
    async def run(inputs, kind):
        return await inside.apply_guardrail(inputs, {}, kind)

    answer = {"texts": ["An answer."]}
    assert asyncio.run(run(answer, "response")) == answer
    made = asyncio.run(run({"texts": [CANARY], "model": "stub"}, "request"))
    assert CANARY not in str(made)
    with pytest.raises(Exception, match="images"):
        asyncio.run(run({"texts": [], "images": ["x"]}, "request"))


ITS_OWN = """litellm_call_id litellm_metadata request_timeout metadata tags guardrails
    litellm_session_id secret_fields _litellm_strip_stream_usage proxy_server_request
    litellm_trace_id litellm_params extra_body extra_headers headers timeout user
    provider_specific_header api_base base_url api_key api_version custom_llm_provider
    model_info fallbacks context_window_fallbacks mock_response drop_params
    allowed_openai_params litellm_credential_name caching ttl num_retries cache
    policies guardrail_config router_settings_override litellm_logging_obj
    thinking system stop_sequences anthropic_beta labels requestMetadata
    response_format_name top_k store service_tier verbosity seed""".split()
# What a client can say in metadata, under names that LiteLLM or a model reads.
SAID = """user_id session_id trace_id tags caller_tags inherited_tags guardrails
    spend_logs_metadata policies headers agent_id requester_metadata user_agent endpoint
    user_api_key_end_user_id user_api_key_auth user_api_key_alias generation_name
    completion_window hidden_params model_group model_info prompt_name anything
    requester_ip_address proxy_server_request queue_time_seconds""".split()
HEADERS = """x-litellm-session-id x-litellm-trace-id x-litellm-call-id x-litellm-tags
    x-litellm-agent-id x-litellm-end-user-id x-litellm-spend-logs-metadata baggage
    x-litellm-customer-id x-session-id session_id anthropic-beta anthropic-version
    x-litellm-timeout x-litellm-stream-timeout x-litellm-num-retries user-agent
    openai-organization x-title referer traceparent x-litellm-enable-message-redaction
    x-stainless-helper x-amz-meta x-claude-code-session-id""".split()
ALWAYS = {"x-mondegreen-conversation": CANARY, "x-title": CANARY}


def gateway(folder, requests):
    """Send requests to LiteLLM's whole proxy with the guard in its configuration."""
    for needed in ("backoff", "websockets", "apscheduler"):
        pytest.importorskip(needed, reason="needs litellm[proxy]")
    (folder / "public.json").write_text(json.dumps(PUBLIC))
    options = {
        "guardrail": "mondegreen.integrations.litellm.MondegreenGuardrail",
        "mode": "pre_call",
        "mondegreen": {"epsilon": 10, "public": str(folder / "public.json")},
    }
    given = {
        "guardrails": [{"guardrail_name": "private", "litellm_params": options}],
        "requests": [
            (address, body, {**ALWAYS, **dict(*more)})
            for address, body, *more in requests
        ],
    }
    (folder / "given.json").write_text(json.dumps(given))
    script = Path(__file__).with_name("litellm_gateway.py")
    paths = [str(folder / "given.json"), str(folder / "done.json")]
    run = [sys.executable, str(script), *paths]
    subprocess.run(run, check=True, capture_output=True, timeout=600)
    done = json.loads((folder / "done.json").read_text())
    return done["answers"], done["received"], done["kept"]


def asked(**more):
    """One request to each interface that reaches a model, and to each of the models."""
    for model in ("stub", "claude", "fireworks"):
        yield f"/v1/{CHAT}", {**said("bam"), "model": model, **more}
        yield "/v1/responses", {"model": model, "input": "bam", **more}


def test_what_litellm_sends_without_asking_a_guard_finds_no_model(tmp_path):
    message = {"max_tokens": 5, **said()}
    contents = {"contents": [{"role": "user", "parts": [{"text": CANARY}]}]}
    requests = [
        (address, {**body, "model": model})
        for model in ("stub", "claude")
        for address, body in (
            ("/v1/messages/count_tokens", message),
            ("/v1/responses/input_tokens", {"input": CANARY}),
            (f"/v1beta/models/{model}:countTokens", contents),
            ("/utils/token_counter?call_endpoint=true", said()),
            ("/v1/messages", message),
            ("/v1/rerank", {"query": CANARY, "documents": [CANARY]}),
            ("/v1/audio/speech", {"input": CANARY, "voice": "alloy"}),
            (f"/v1beta/models/{model}:generateContent", contents),
        )
    ]
    answers, received, _ = gateway(tmp_path, requests)
    assert [(path, sent) for path, _, sent, _ in answers if sent] == []
    assert received == ""


def test_nothing_that_a_client_says_in_metadata_reaches_a_model(tmp_path):
    from mondegreen.integrations.litellm import _ITS_METADATA

    many = {name: f"{CANARY} {name}" for name in SAID}
    forms = [{name: value} for name, value in many.items()]
    forms += [{"user_id": {"session_id": CANARY}}, {"spend_logs_metadata": many}]
    forms += [{"guardrails": [CANARY, {CANARY: {"extra_body": many}}]}, many]
    forms += [dict.fromkeys(_ITS_METADATA, CANARY)]
    as_text = [json.dumps(form) for form in (many, {"user_id": CANARY})]
    requests = [
        request
        for value in [*forms, *as_text]
        for field in ("litellm_metadata", "metadata")
        for request in asked(**{field: value})
    ]
    answers, received, kept = gateway(tmp_path, requests)
    assert CANARY not in received
    assert CANARY not in kept
    assert "mondegreen_guard" in kept
    assert "mondegreen_guard" not in received
    assert sum(sent for _, _, sent, _ in answers) > len(requests) / 2


def test_nothing_that_a_client_says_in_headers_reaches_a_model(tmp_path):
    number = "4155550123"  # a telephone number is no canary of letters
    values = [CANARY, f"session.id={CANARY}"]
    headers = [(name, value) for name in HEADERS for value in values]
    headers += [(x, number) for x in HEADERS if "timeout" in x or "retries" in x]
    requests = [
        (*request, {name: value}) for name, value in headers for request in asked()
    ]
    answers, received, kept = gateway(tmp_path, requests)
    assert CANARY not in received + kept
    assert number not in received
    assert sum(sent for _, _, sent, _ in answers) > len(requests) / 2


def test_the_whole_of_litellm_sends_no_private_word(tmp_path):
    passes = [(f"/v1/{kind}", body) for kind, body in rich.items()]
    passes.append((f"/v1/{CHAT}", said(stream=True)))
    passes.append((f"/v1/{CHAT}", said(metadata={"disable_global_guardrails": True})))
    refused = [
        (f"/v1/{CHAT}", said(extra=CANARY)),
        ("/v1/embeddings", {"model": "stub", "input": [[5, 6]]}),
        ("/v1/messages", {"max_tokens": 5, **said()}),
        ("/v1/images/generations", {"model": "stub", "prompt": CANARY}),
        ("/v1/moderations", {"model": "stub", "input": CANARY}),
    ]
    either = [
        (f"/v1/{kind}", {**body, name: value})
        for kind, body in rich.items()
        for name in ITS_OWN
        for value in (CANARY, {"headers": CANARY, CANARY: [CANARY]}, 4155550123)
    ]
    answers, received, _ = gateway(tmp_path, [*passes, *refused, *either])
    assert CANARY not in received
    assert "4155550123" not in received
    for path, status, sent, text in answers[: len(passes)]:
        assert (status, sent) == (200, 1), (path, text)
    for path, status, sent, _ in answers[len(passes) :][: len(refused)]:
        assert (status >= 400, sent) == (True, 0), path
    streamed = answers[len(rich)][-1]
    assert "answer" in streamed
    assert "[DONE]" in streamed
