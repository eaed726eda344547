"""Clients of OpenAI and LiteLLM, unchanged but for the base address.

The model answers by rule (benchmarks/measure/gateway): what a client reads through the
proxy must be what the rule answers to the request as it is.
"""

from __future__ import annotations

import json
import os

import pytest

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # no look-up at import
openai = pytest.importorskip("openai")
pytest.importorskip("uvicorn")

from language_model import WAIT, running  # noqa: E402

from benchmarks.measure.gateway.model_rules import answer  # noqa: E402
from benchmarks.measure.gateway.rule_model import RuleModel  # noqa: E402
from mondegreen.prompts.conversation_guard import ConversationGuard  # noqa: E402
from mondegreen.serve.proxy import ProxySettings, create_proxy  # noqa: E402
from mondegreen.serve.upstream import Upstream  # noqa: E402

FUNCTION = {
    "name": "find_customer",
    "parameters": {
        "type": "object",
        "properties": {"name": {"type": "string"}, "mail": {"type": "string"}},
    },
}
TOOL = {"type": "function", "function": FUNCTION}
FLAT_TOOL = {"type": "function", **FUNCTION}
TEXT = (
    "Chukwudi Okonkwo of Ibadan owes $12,345.67. Write to okonkwo@uni-ibadan.ng "
    "or call 415-555-0142. He was born on 07/05/1961. Thank you."
)
SECRETS = ("Okonkwo", "Chukwudi", "Ibadan", "12,345.67", "okonkwo@", "555-0142")
TASKS = ("Repeat this.", "Translate this.", "Summarize this.", "List this.", "Draft.")


def ask(task):
    return {"role": "user", "content": f"{task}\n\n{TEXT}"}


def rule(*messages, **more):
    """What the model answers to the messages as they are."""
    return answer({"messages": list(messages), **more})


@pytest.fixture(scope="module")
def heard():
    return []


@pytest.fixture(scope="module")
def address(heard):
    model = RuleModel(seed=3, heard=lambda key, raw: heard.append(raw.decode()))
    guard = ConversationGuard(public=[TOOL, FLAT_TOOL], in_tools=True)
    with running(model.app) as upstream:
        settings = ProxySettings(guard, Upstream(upstream))
        with running(create_proxy(settings)) as found:
            yield found


@pytest.fixture(autouse=True)
def nothing_in_clear(heard):
    """No original reaches the model in any test.

    A name is its own surrogate once in some thousand draws, rightly so. All of them
    are not.
    """
    heard.clear()
    yield
    assert heard
    for raw in heard:
        assert sum(each in raw for each in SECRETS) < 2, raw


@pytest.fixture
def client(address):
    with openai.OpenAI(
        base_url=address, api_key="sk-x", max_retries=0, timeout=WAIT
    ) as found:
        yield found


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("is_stream", [False, True])
def test_openai_chats(client, task, is_stream):
    made = client.chat.completions.create(
        model="stub", messages=[ask(task)], stream=is_stream
    )
    if is_stream:
        said = "".join(c.choices[0].delta.content or "" for c in made if c.choices)
    else:
        said = made.choices[0].message.content
    assert said == rule(ask(task))["content"]
    assert "Okonkwo" in said


@pytest.mark.parametrize("is_stream", [False, True])
def test_openai_answers_in_json(client, is_stream):
    messages = [ask("Extract the fields.")]
    kind = {"type": "json_object"}
    made = client.chat.completions.create(
        model="stub", messages=messages, response_format=kind, stream=is_stream
    )
    if is_stream:
        said = "".join(c.choices[0].delta.content or "" for c in made if c.choices)
    else:
        said = made.choices[0].message.content
    found = json.loads(said)
    assert found == json.loads(rule(*messages)["content"])
    assert found["amount"] == 12345.67
    assert found["mail"] == "okonkwo@uni-ibadan.ng"


@pytest.mark.parametrize("is_stream", [False, True])
def test_openai_calls_tools_and_returns_their_results(client, is_stream):
    messages = [ask("Look up the customer.")]
    made = client.chat.completions.create(
        model="stub", messages=messages, tools=[TOOL], stream=is_stream
    )
    if is_stream:
        deltas = [c.choices[0].delta for c in made if c.choices]
        calls = [call for delta in deltas for call in delta.tool_calls or ()]
        given = "".join(call.function.arguments or "" for call in calls)
    else:
        given = made.choices[0].message.tool_calls[0].function.arguments
    (call,) = rule(*messages, tools=[TOOL])["tool_calls"]
    assert json.loads(given) == json.loads(call["function"]["arguments"])
    assert json.loads(given)["name"] == "Chukwudi Okonkwo"
    call = {**call, "function": {**call["function"], "arguments": given}}
    messages += [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": call["id"], "content": f"Found. {TEXT}"},
    ]
    made = client.chat.completions.create(model="stub", messages=messages, tools=[TOOL])
    assert made.choices[0].message.content == f"I looked it up. Found. {TEXT}"


@pytest.mark.parametrize("is_stream", [False, True])
def test_openai_responses(client, is_stream):
    messages = [ask("Summarize this.")]
    made = client.responses.create(model="stub", input=messages, stream=is_stream)
    if is_stream:
        events = list(made)
        kind = "response.output_text.delta"
        said = "".join(each.delta for each in events if each.type == kind)
        assert events[-1].response.output_text == said
    else:
        said = made.output_text
    assert said == rule(*messages)["content"]
    look = [ask("Look up the customer.")]
    made = client.responses.create(model="stub", input=look, tools=[FLAT_TOOL])
    (call,) = made.output
    assert json.loads(call.arguments)["mail"] == "okonkwo@uni-ibadan.ng"
    items = [call.to_dict()]
    output = {"type": "function_call_output", "call_id": call.call_id}
    items.append({**output, "output": f"Found. {TEXT}"})
    made = client.responses.create(
        model="stub", input=[*look, *items], tools=[FLAT_TOOL]
    )
    assert made.output_text == f"I looked it up. Found. {TEXT}"


def test_openai_keeps_a_conversation_without_a_header(client):
    """Each request is a conversation of its own; its answer is right all the same."""
    messages = []
    for turn in (ask("Repeat this."), {"role": "user", "content": "Say that again."}):
        messages.append(turn)
        made = client.chat.completions.create(model="stub", messages=messages)
        said = made.choices[0].message.content
        assert said == TEXT
        messages.append({"role": "assistant", "content": said})


@pytest.fixture
def litellm():
    return pytest.importorskip("litellm")


slow = pytest.mark.slow("LiteLLM takes long to import")
quiet = pytest.mark.filterwarnings("ignore")  # those of LiteLLM are its own


@slow
@quiet
@pytest.mark.parametrize("is_stream", [False, True])
def test_litellm_completes(litellm, address, is_stream):
    more = {"model": "openai/stub", "api_base": address, "api_key": "sk-x"}
    for task in TASKS:
        made = litellm.completion(messages=[ask(task)], stream=is_stream, **more)
        if is_stream:
            said = "".join(c.choices[0].delta.content or "" for c in made)
        else:
            said = made.choices[0].message.content
        assert said == rule(ask(task))["content"]


@slow
@quiet
def test_litellm_calls_tools_and_answers_in_json(litellm, address):
    more = {"model": "openai/stub", "api_base": address, "api_key": "sk-x"}
    messages = [ask("Look up the customer.")]
    made = litellm.completion(messages=messages, tools=[TOOL], **more)
    message = made.choices[0].message
    given = json.loads(message.tool_calls[0].function.arguments)
    assert given == {"name": "Chukwudi Okonkwo", "mail": "okonkwo@uni-ibadan.ng"}
    result = {"tool_call_id": message.tool_calls[0].id, "content": f"Found. {TEXT}"}
    messages += [message.model_dump(exclude_none=True), {"role": "tool", **result}]
    made = litellm.completion(messages=messages, tools=[TOOL], **more)
    assert made.choices[0].message.content == f"I looked it up. Found. {TEXT}"
    kind = {"type": "json_object"}
    messages = [ask("Extract the fields.")]
    made = litellm.completion(messages=messages, response_format=kind, **more)
    found = json.loads(made.choices[0].message.content)
    assert found == json.loads(rule(*messages)["content"])


@slow
@quiet
def test_litellm_responses(litellm, address):
    made = litellm.responses(
        model="openai/stub",
        input=[ask("Summarize this.")],
        api_base=address,
        api_key="sk-x",
    )
    said = made.output[0].content[0].text
    assert said == rule(ask("Summarize this."))["content"]
