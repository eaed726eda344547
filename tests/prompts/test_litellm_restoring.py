"""The guard in LiteLLM restores answers, whole and streamed."""

from __future__ import annotations

import asyncio
import os

import pytest

from mondegreen.errors import ConfigurationError

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # no look-up at import
pytest.importorskip("litellm")
pytest.importorskip("fastapi")
pytestmark = [
    pytest.mark.slow("LiteLLM takes long to import"),
    pytest.mark.filterwarnings("ignore"),  # those of LiteLLM are its own
]

SAID = "I am Okonkwo of Ibadan, phone 415-555-0142."
HEADER = "x-mondegreen-conversation"


@pytest.fixture
def guard():
    from mondegreen.integrations.litellm import MondegreenGuardrail

    return MondegreenGuardrail({"restore": True, "policy": "names"})


def call(guard, *rows, token=None, **more):
    """Let a request pass the guard; return what goes on."""
    messages = [{"role": r, "content": text} for r, text in rows]
    headers = {HEADER: token} if token else {}
    data = {"model": "stub", "messages": messages, **more}
    data["proxy_server_request"] = {"headers": headers}
    return asyncio.run(guard.async_pre_call_hook(None, None, data, "acompletion"))


def whole(guard, data, text):
    from litellm.types.utils import ModelResponse

    message = {"role": "assistant", "content": text}
    made = ModelResponse(choices=[{"index": 0, "message": message}])
    shown = asyncio.run(guard.async_post_call_success_hook(data, None, made))
    return shown.choices[0].message.content


def streamed(guard, data, text, size):
    from litellm.types.utils import ModelResponseStream

    async def chunks():
        for i in range(0, len(text), size):
            delta = {"content": text[i : i + size], "role": "assistant"}
            yield ModelResponseStream(choices=[{"index": 0, "delta": delta}])
        end = {"index": 0, "delta": {}, "finish_reason": "stop"}
        yield ModelResponseStream(choices=[end])

    async def run():
        found = guard.async_post_call_streaming_iterator_hook(None, chunks(), data)
        return [c.choices[0].delta.content or "" async for c in found]

    return "".join(asyncio.run(run()))


def token_of(guard, data):
    found = asyncio.run(guard.async_post_call_response_headers_hook(data, None, None))
    return found[HEADER]


@pytest.mark.parametrize("size", [1, 3, 1000])
def test_answers_get_the_originals_back(guard, size):
    data = call(guard, ("user", SAID))
    sent = data["messages"][0]["content"]
    assert not [x for x in ("Okonkwo", "Ibadan", "0142") if x in sent]
    assert whole(guard, data, sent) == SAID
    assert streamed(guard, data, sent, size) == SAID


def test_turns_go_back_as_they_came(guard):
    data = call(guard, ("user", SAID))
    name = data["messages"][0]["content"].split()[2]
    planted = f"Are you {name}, Smith, Okonkwo or Jones?"
    shown = streamed(guard, data, planted, 4)
    token = token_of(guard, data)
    rows = ("user", SAID), ("assistant", shown), ("user", "Yes.")
    more = call(guard, *rows, token=token)
    assert more["messages"][1]["content"] == planted
    assert more["messages"][0] == data["messages"][0]
    assert token_of(guard, more) == token


def test_an_answer_that_fails_names_its_conversation(guard):
    """LiteLLM asks for the headers of an error with no response."""
    data = call(guard, ("user", SAID))
    hook = guard.async_post_call_response_headers_hook
    more = {"user_api_key_dict": None, "response": None, "request_headers": {}}
    token = asyncio.run(hook(data=data, **more))[HEADER]
    again = call(guard, ("user", SAID), token=token)
    assert again["messages"] == data["messages"]


def test_a_token_of_somebody_else_is_blocked(guard):
    from fastapi import HTTPException

    with pytest.raises(HTTPException) as caught:
        call(guard, ("user", SAID), token="mine")
    assert "Okonkwo" not in str(caught.value.detail)


def test_answers_of_other_calls_pass(guard):
    assert whole(guard, {"metadata": {}}, "Malacca") == "Malacca"
    assert streamed(guard, {}, "Malacca", 2) == "Malacca"


@pytest.mark.parametrize("name", ["key_env", "fresh", "mechanism"])
def test_settings_that_do_not_go_with_restoring_are_refused(name):
    from mondegreen.integrations.litellm import MondegreenGuardrail

    value = "tree" if name == "mechanism" else "X"
    with pytest.raises(ConfigurationError, match="restor"):
        MondegreenGuardrail({"restore": True, name: value})
