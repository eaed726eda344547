"""A canary in every field that OpenAI and Anthropic accept: none passes the proxy."""

from __future__ import annotations

import typing

import pytest

openai = pytest.importorskip("openai")
pytest.importorskip("httpx")
pytest.importorskip("uvicorn")

from language_model import Model, running  # noqa: E402
from openai.types import completion_create_params, embedding_create_params  # noqa: E402
from openai.types.chat import completion_create_params as chat_create_params  # noqa: E402
from openai.types.responses import response_create_params  # noqa: E402
from requests_to_models import CANARY, PUBLIC  # noqa: E402
from starlette.testclient import TestClient  # noqa: E402

from mondegreen.prompts.guard import PromptGuard  # noqa: E402
from mondegreen.serve.proxy import ProxySettings, create_proxy  # noqa: E402
from mondegreen.serve.upstream import Upstream  # noqa: E402

TELEPHONE = 4155550123
OPENAI = {
    "chat/completions": chat_create_params.CompletionCreateParamsNonStreaming,
    "completions": completion_create_params.CompletionCreateParamsNonStreaming,
    "embeddings": embedding_create_params.EmbeddingCreateParams,
    "responses": response_create_params.ResponseCreateParamsNonStreaming,
}
ANTHROPIC = """model max_tokens messages container context_management mcp_servers
    metadata service_tier stop_sequences stream system temperature thinking
    tool_choice tools top_k top_p output_config output_format speed
    inference_geo betas""".split()
BLOCKS = [
    {"type": "text", "text": CANARY, "cache_control": {"type": CANARY}},
    {"type": "text", "text": CANARY, "citations": [{"cited_text": CANARY}]},
    {"type": "image", "source": {"type": "base64", "data": CANARY}},
    {"type": "document", "source": {"type": "text", "data": CANARY}, "title": CANARY},
    {"type": "tool_use", "id": CANARY, "name": "weather", "input": {"city": CANARY}},
    {"type": "tool_use", "id": CANARY, "name": CANARY, "input": {}},
    {"type": "tool_result", "tool_use_id": CANARY, "content": CANARY},
    {"type": "thinking", "thinking": CANARY, "signature": CANARY},
    {"type": "redacted_thinking", "data": CANARY},
    {"type": "search_result", "source": CANARY, "title": CANARY, "content": []},
    {"type": "file", "file": {"file_data": CANARY, "filename": CANARY}},
    {"type": "input_audio", "input_audio": {"data": CANARY, "format": "wav"}},
    {"type": "refusal", "refusal": CANARY},
]
VALUES = [
    CANARY, TELEPHONE, -TELEPHONE, TELEPHONE / 1e10, [CANARY], [[CANARY]], [TELEPHONE],
    {CANARY: CANARY}, {CANARY: TELEPHONE}, {"user_id": CANARY}, {"type": CANARY},
    {"type": "function", "function": {"name": CANARY}}, {"type": "tool", "a": CANARY},
    {"type": "enabled", "budget_tokens": TELEPHONE}, {"effort": CANARY},
    {"type": "json_schema", "name": CANARY, "schema": {"title": CANARY}},
    {"format": {"type": "json_schema", "schema": {"title": CANARY}}},
    {"type": "approximate", "city": CANARY}, {"id": CANARY, "variables": {"a": CANARY}},
    [{"type": "mcp", "server_label": CANARY, "server_url": f"https://{CANARY}/"}],
    [{"type": "web_search", "user_location": {"city": CANARY}}],
    [{"role": "user", "content": CANARY, "name": CANARY, CANARY: CANARY}],
    [{"name": "weather", "description": CANARY, "input_schema": {"title": CANARY}}],
    f'{{"user_id": "{CANARY}"}}', f"resp_{CANARY}", [f"{CANARY}.logprobs"] * 3,
    *([{"role": role, "content": [block]}]
      for role in ("user", "assistant", "system", "tool") for block in BLOCKS),
]  # fmt: skip


# Blocks mean something in fields that hold messages; in all others one role shows them.
MESSAGES = {"messages", "input", "system", "prompt", "instructions"}


def values_for(name):
    return VALUES if name in MESSAGES else VALUES[: -3 * len(BLOCKS)]


def fields(kind):
    """The names of this interface, then those of the other company."""
    found = typing.get_type_hints(OPENAI[kind], include_extras=False)
    return sorted({*found, *ANTHROPIC} - {"model"})


@pytest.fixture(scope="module")
def proxy(evenly):
    """A model, and a client of the proxy before it."""
    model = Model()
    guard = PromptGuard(evenly, public=PUBLIC, models=["stub"])
    with running(model.app) as upstream:
        app = create_proxy(ProxySettings(guard, Upstream(upstream)))
        with TestClient(app, base_url="http://127.0.0.1") as client:
            yield model, client


@pytest.mark.slow("thousands of requests", seconds=10)
@pytest.mark.parametrize("kind", OPENAI)
def test_no_field_of_any_interface_carries_a_canary(proxy, kind):
    model, client = proxy
    model.start_anew()
    least = {"embeddings": {"input": "bam"}, "responses": {"input": "bam"}}
    body = {"model": "stub", **least.get(kind, {})}
    answered = 0
    for name in fields(kind):
        for value in values_for(name):
            found = client.post(f"/v1/{kind}", json={**body, name: value})
            answered += found.status_code == 200
            assert CANARY not in found.text, (name, value)
            assert str(TELEPHONE) not in found.text, (name, value)
    assert len(model.received) == answered > 0
    assert CANARY not in model.everything
    assert str(TELEPHONE) not in model.everything
    assert str(TELEPHONE / 1e10) not in model.everything


@pytest.mark.parametrize("kind", OPENAI)
def test_a_model_that_is_not_listed_is_not_named(proxy, kind):
    model, client = proxy
    model.start_anew()
    for value in (CANARY, f"stub/{CANARY}", [CANARY], {"id": CANARY}, TELEPHONE):
        found = client.post(f"/v1/{kind}", json={"model": value, "input": "bam"})
        assert (found.status_code, CANARY in found.text) == (400, False)
    assert not model.received


@pytest.mark.parametrize(
    "path", ["messages", "messages/count_tokens", "messages/batches"]
)
def test_the_interface_of_anthropic_is_not_there(proxy, path):
    model, client = proxy
    model.start_anew()
    for name in ANTHROPIC:  # no field is read where there is no interface
        body = {"model": "stub", "max_tokens": 5, name: CANARY}
        found = client.post(f"/v1/{path}", json=body)
        assert (found.status_code, CANARY in found.text) == (404, False)
    assert not model.received
