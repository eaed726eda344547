"""What of a request to a language model leaves: releases, and what was declared."""

from __future__ import annotations

import copy
import json
import math
import re
from itertools import pairwise

import numpy as np
import pytest
from requests_to_models import (
    CANARY,
    FLAT_TOOL,
    PUBLIC,
    SYSTEM,
    TOOL,
    mutants,
    rich,
)

import mondegreen as mg
from mondegreen.errors import ConfigurationError, InvalidParameterError, PrivacyError
from mondegreen.prompts.guard import PromptGuard
from mondegreen.prompts.messages import NUMBER_BITS
from mondegreen.prompts.rules import STOP_BITS, Number, RefusedRequestError, Walk
from mondegreen.prompts.shown import private_inputs

WORDS = tuple(f"{a}{b}{c}" for a in "bdfgklmn" for b in "aeiou" for c in "dgkm")


@pytest.fixture(scope="module")
def privatizer():
    vectors = np.random.default_rng(5).normal(size=(len(WORDS), 6))
    space = mg.Space.from_arrays("prompts", WORDS, vectors)
    return mg.Privatizer(mg.mechanism("tem", epsilon=0.1), space)


@pytest.fixture(scope="module")
def guard(privatizer):
    return PromptGuard(privatizer, public=PUBLIC, models=["gpt-4o-mini", "stub"])


def chat(*texts, role="user", **more):
    said = [{"role": role, "content": each} for each in texts]
    return {"model": "stub", "messages": said, **more}


def contents(request):
    return [each["content"] for each in request["messages"]]


@pytest.mark.parametrize("kind", rich)
def test_a_request_with_everything_passes_and_no_private_word_of_it_does(guard, kind):
    sent = json.dumps(guard.request(kind, rich[kind], CANARY))
    assert CANARY not in sent
    assert "47" not in sent  # a number in the arguments of a call
    assert "called" not in sent
    assert "weather" in sent or kind in ("completions", "embeddings")


@pytest.mark.parametrize("kind", rich)
def test_nothing_strange_at_any_place_gets_a_private_word_through(
    guard, kind, monkeypatch
):
    rote = lambda texts, ids, column: (["released"] * len(texts), 0)  # noqa: E731
    monkeypatch.setattr(guard.privatizer, "texts", rote)
    refused = passed = 0
    for path, body in mutants(kind):
        try:
            said = json.dumps(guard.request(kind, body))
            passed += 1
        except RefusedRequestError as error:
            said = str(error)
            refused += 1
        assert CANARY not in said, path
    assert refused > 100
    assert passed > 10


@pytest.mark.parametrize(
    ("body", "path"),
    [
        (chat([{"type": "image_url", "image_url": {}}]), "messages[0].content[0]"),
        (chat([{"type": "input_audio", "input_audio": {}}]), "messages[0].content[0]"),
        (chat([{"type": "file", "file": {"file_id": "f"}}]), "messages[0].content[0]"),
        (chat("bam", role="function"), "messages[0].role"),
        (chat("bam", tools=[TOOL | {"strict": True}]), "tools[0]"),
        (chat("bam", functions=[{"name": "x"}]), "functions"),
        (chat("bam", logit_bias={"5": 1}), "logit_bias"),
        (chat("bam", stop="Ann:"), "stop"),
        (chat("bam", response_format={"type": "json_schema"}), "response_format"),
        (chat("bam", web_search_options={}), "web_search_options"),
        (chat("bam", model="my name is Ann"), "model"),
        (chat("bam", seed=float("inf")), "seed"),
        (chat("bam", audio={"voice": "x"}), "audio"),
        ({"messages": "bam"}, "messages"),
        ({"messages": [["bam"]]}, "messages[0].role"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_refused_by_its_name(guard, body, path):
    with pytest.raises(RefusedRequestError) as caught:
        guard.request("chat/completions", {"model": "stub", **body})
    assert str(caught.value).startswith(f"{path}: ")
    assert "Nothing was sent" in str(caught.value)


def test_tokens_as_numbers_are_refused(guard):
    for kind, name in (("embeddings", "input"), ("completions", "prompt")):
        for tokens in ([1, 2], [[1, 2]], ["bam", 3]):
            with pytest.raises(RefusedRequestError):
                guard.request(kind, {"model": "stub", name: tokens})


def test_an_unknown_field_is_named_only_where_the_interface_has_it(guard):
    with pytest.raises(RefusedRequestError, match=r"^voice: "):
        guard.request("chat/completions", chat("bam", voice=CANARY))
    with pytest.raises(RefusedRequestError) as caught:
        guard.request("embeddings", {"model": "stub", "input": "bam", CANARY: 1})
    assert str(caught.value) == (
        "the request: an unknown field. Known fields: dimensions, encoding_format, "
        "input, model, user. Nothing was sent."
    )
    message = {"role": "user", "content": "bam", CANARY: 1}
    with pytest.raises(
        RefusedRequestError, match=r"^messages\[0\]: .*content"
    ) as caught:
        guard.request("chat/completions", {"model": "stub", "messages": [message]})
    assert CANARY not in str(caught.value)


def test_a_kind_of_request_that_is_not_known_is_refused(guard):
    with pytest.raises(RefusedRequestError):
        guard.request("images/generations", {"prompt": "bam"})


def test_without_a_list_any_name_of_a_model_passes(privatizer):
    guard = PromptGuard(privatizer)
    for name in ("gpt-4o", "meta-llama/Llama-3.1-8B", "llama3:8b"):
        body = chat("bam", model=name)
        assert guard.request("chat/completions", body)["model"] == name
    with pytest.raises(RefusedRequestError, match="model: must be"):
        guard.request("chat/completions", chat("bam", model="I am ill"))


# What repeats


def test_each_turn_of_a_conversation_sends_the_history_as_it_was_sent(guard):
    said = [f"bam {word} dad mek." for word in WORDS[:12]]
    sent = [
        contents(guard.request("chat/completions", chat(*said[: n + 1]), "a"))
        for n in range(12)
    ]
    for earlier, later in pairwise(sent):
        assert later[:-1] == earlier
    assert len({*sent[-1]}) == 12


@pytest.mark.slow("reads by the embedded language model")
def test_what_is_read_as_sentences_repeats_with_the_history_too():
    law = mg.mechanism("tree", epsilon=10.0)
    guard = PromptGuard(mg.Privatizer(law, read="sentence", case="truecase"))
    said = ["My doctor knows.", "The dog barks. It is late", "I met Ann, in Oslo."]
    sent = [
        contents(guard.request("chat/completions", chat(*said[: n + 1])))
        for n in range(3)
    ]
    assert sent[0] == sent[1][:1] == sent[2][:1]
    assert sent[1] == sent[2][:2]


@pytest.mark.parametrize("text", ["", " ", "\ud800 bam", "\x00", "💥", "a" * 10_000])
def test_texts_of_every_kind_have_a_release_that_is_json(guard, text):
    body = json.loads(json.dumps(chat(text, text)))
    sent = guard.request("chat/completions", body, "\udcff")
    assert json.loads(json.dumps(sent)) == sent


def test_a_history_that_is_cut_at_its_head_repeats_its_releases_too(guard):
    said = [f"bam {word} dad mek." for word in WORDS[:6]]
    whole = contents(guard.request("chat/completions", chat(*said), "a"))
    tail = contents(guard.request("chat/completions", chat(*said[3:]), "a"))
    assert tail == whole[3:]


def test_equal_texts_of_one_request_have_noise_of_their_own(guard):
    sent = contents(guard.request("chat/completions", chat(*["bam dad mek gid"] * 30)))
    assert len({*sent}) > 20
    again = contents(guard.request("chat/completions", chat(*["bam dad mek gid"] * 30)))
    assert sent == again


@pytest.mark.parametrize("field", ["user", "safety_identifier", "prompt_cache_key"])
def test_other_people_have_other_noise(guard, field):
    body = chat("bam dad mek gid dag kod", "nem nod gud lag")
    one, two, three = (
        contents(guard.request("chat/completions", body | more, client))
        for client, more in (("a", {}), ("b", {}), ("a", {field: "x"}))
    )
    assert one != two != three != one


@pytest.mark.parametrize("field", ["user", "safety_identifier", "prompt_cache_key"])
@pytest.mark.parametrize("value", [1, True, {"id": CANARY}, [CANARY]])
def test_who_is_named_otherwise_than_by_a_string_is_refused(guard, field, value):
    with pytest.raises(RefusedRequestError, match=f"{field}: must be a st") as caught:
        guard.request("chat/completions", chat("bam", **{field: value}))
    assert CANARY not in str(caught.value)
    assert guard.request("chat/completions", chat("bam", **{field: None}))


def test_a_key_repeats_releases_where_there_is_another_guard(privatizer):
    keyed = [
        PromptGuard(privatizer.with_noise(mg.KeyedNoise(bytes(range(at, at + 32)))))
        for at in (0, 0, 9)
    ]
    one, two, three = (
        contents(each.request("chat/completions", chat("bam dad mek gid")))
        for each in keyed
    )
    assert one == two != three


def test_without_a_key_two_guards_share_nothing(privatizer):
    made = {
        contents(PromptGuard(privatizer).request("chat/completions", chat(text)))[0]
        for text in ["bam dad mek gid dag"] * 5
    }
    assert len(made) == 5


def test_fresh_noise_differs_each_time_and_the_guarantee_says_that_it_adds_up(
    privatizer,
):
    guard = PromptGuard(privatizer, fresh=True)
    sent = {
        contents(guard.request("chat/completions", chat("bam dad mek gid dag")))[0]
        for _ in range(5)
    }
    assert len(sent) == 5
    assert any("add up" in each for each in guard.guarantee.assumptions)
    assert not any("repeats" in each for each in guard.guarantee.disclosed)
    keyed = privatizer.with_noise(mg.KeyedNoise(bytes(range(32))))
    with pytest.raises(ConfigurationError):
        PromptGuard(keyed, fresh=True)


# What is public


def test_messages_of_no_role_pass_in_clear_unless_it_was_declared(guard, privatizer):
    roles = ["system", "developer", "user", "assistant"]
    for role in roles:
        (sent,) = contents(
            guard.request("chat/completions", chat(f"{CANARY} bam", role=role))
        )
        assert CANARY not in sent
    for role in ("system", "developer", "assistant"):
        open_guard = PromptGuard(privatizer, public_roles=[role])
        for other in roles:
            (sent,) = contents(
                open_guard.request("chat/completions", chat(CANARY, role=other))
            )
            assert (sent == CANARY) == (other == role)
        assert f"{role} messages" in " ".join(open_guard.guarantee.disclosed)


@pytest.mark.parametrize("role", ["user", "tool", "robot"])
def test_nobody_can_declare_users_or_tools_public(privatizer, role):
    with pytest.raises(InvalidParameterError):
        PromptGuard(privatizer, public_roles=[role])


def test_a_public_text_passes_whole_as_an_instruction_and_never_as_a_message(guard):
    for role, passes in (("system", True), ("developer", True), ("user", False)):
        (sent,) = contents(guard.request("chat/completions", chat(SYSTEM, role=role)))
        assert (sent == SYSTEM) == passes
    (sent,) = contents(
        guard.request("chat/completions", chat(SYSTEM + " Ann.", role="system"))
    )
    assert "public" not in sent


def test_what_is_public_must_be_a_text_or_a_definition(privatizer):
    for strange in ([5], [["x"]], [{"name": "weather"}]):
        with pytest.raises(ConfigurationError):
            PromptGuard(privatizer, public=strange)


def test_a_call_keeps_its_form_and_its_result_its_call(guard):
    body = copy.deepcopy(rich["chat/completions"])
    sent = guard.request("chat/completions", body)["messages"]
    (call,) = sent[5]["tool_calls"]
    arguments = json.loads(call["function"]["arguments"])
    assert call["id"] == sent[6]["tool_call_id"] == "call_0"
    assert arguments.keys() == {"city", "when"}
    assert arguments["when"][0].keys() == {"day"}


def test_a_guard_that_could_promise_nothing_does_not_start(privatizer):
    with pytest.raises(PrivacyError):
        PromptGuard(privatizer.with_noise(mg.Seeded(1)))


def test_the_header_names_what_the_guarantee_says(guard):
    assert guard.short.isascii()
    assert "tem; epsilon=0.1; certified=" in guard.short
    assert guard.digest[:16] in guard.short


def test_an_unknown_word_can_be_refused_and_is_not_shown(privatizer):
    strict = mg.Privatizer(privatizer.mechanism, privatizer.space, unknown="fail")
    with pytest.raises(PrivacyError) as caught:
        PromptGuard(strict).request("chat/completions", chat(CANARY))
    assert CANARY not in str(caught.value)


# What a client can choose besides texts


@pytest.mark.parametrize("number", [4155550123, -4155550123, 2**62, 10**400])
def test_no_number_of_a_request_is_a_telephone_number(guard, number):
    names = """seed n top_k max_tokens max_completion_tokens top_logprobs temperature
        top_p min_p presence_penalty frequency_penalty repetition_penalty"""
    for name in names.split():
        with pytest.raises(RefusedRequestError, match=f"^{name}: must be a") as caught:
            guard.request("chat/completions", chat("bam", **{name: number}))
        assert str(number) not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "given", "sent"),
    [
        ("temperature", 0.7, 0.7), ("temperature", 0.41555501, 0.42),
        ("temperature", 1, 1.0), ("top_p", 0.9999, 1.0), ("min_p", 0.0551234, 0.06),
        ("presence_penalty", -0.0, 0.0), ("frequency_penalty", -1.23456, -1.23),
        ("max_tokens", 99, 99), ("max_tokens", 4155, 4100), ("max_tokens", 1024, 1000),
        ("max_completion_tokens", 415_555, 410_000), ("seed", 42, 42), ("n", 2, 2),
    ],
)  # fmt: skip
def test_numbers_are_rounded(guard, name, given, sent):
    made = guard.request("chat/completions", chat("bam", **{name: given}))
    assert repr(made[name]) == repr(sent)  # so that -0.0 is not 0.0


@pytest.mark.parametrize("strange", ["5", True, [5], 0.5, 1e3, float("nan")])
def test_an_integer_is_no_other_number(guard, strange):
    for name in ("seed", "n", "max_tokens", "top_logprobs"):
        with pytest.raises(RefusedRequestError, match="must be an integer from"):
            guard.request("chat/completions", chat("bam", **{name: strange}))


@pytest.mark.slow("a million numbers")
def test_as_many_numbers_pass_as_the_bits_say():
    for rule in (Number(0, 2, decimals=2), Number(-2, 2, decimals=2), Number(0, 999)):
        step = 10**-rule.decimals
        steps = range(round((rule.high - rule.low) / step) + 1)
        tried = [round(rule.low + i * step, rule.decimals) for i in steps]
        tried = [x if rule.decimals else int(x) for x in tried]
        passed = {rule(x, "", Walk()) for x in tried}
        assert rule.bits == math.log2(len(passed) + 2)  # absent, and null
    tokens = Number(0, 1_000_000, digits=2)
    passed = {tokens(x, "", Walk()) for x in range(1_000_001)}
    assert math.log2(len(passed) + 2) <= tokens.bits < math.log2(len(passed)) + 1


@pytest.mark.parametrize(
    "stop", ["\u2003", "\u00a0", "\x0b", "\u2028", "\x85", "a", "7", "é", "-" * 9]
)
def test_stop_texts_are_ascii_and_short(guard, stop):
    for value in (stop, ["\n", stop]):
        with pytest.raises(RefusedRequestError, match=r"stop.*such as ###"):
            guard.request("chat/completions", chat("bam", stop=value))


def test_an_undeclared_tool_says_where_to_declare_it(guard):
    tool = {"type": "function", "function": {"name": "weather"}}
    with pytest.raises(RefusedRequestError, match="Add it to the file of --public"):
        guard.request("chat/completions", chat("bam", tools=[tool]))


def test_at_most_four_stop_texts_pass(guard):
    four = ["\n\n", "###", " \t\r", "```"]
    assert guard.request("chat/completions", chat("bam", stop=four))["stop"] == four
    with pytest.raises(RefusedRequestError, match="at most 4 stop texts"):
        guard.request("chat/completions", chat("bam", stop=[*four, "-"]))


def test_the_id_of_a_response_has_the_form_of_the_interface(guard):
    for digits in (32, 48, 50):
        body = {"model": "stub", "previous_response_id": "resp_" + "a1" * (digits // 2)}
        assert guard.request("responses", body) == body
    for wrong in ("", "a" * 8, "a" * 49, "a" * 51, "a" * 128, "A" * 48, "g" * 48):
        body = {"model": "stub", "previous_response_id": f"resp_{wrong}"}
        with pytest.raises(RefusedRequestError, match="previous_response_id: must be"):
            guard.request("responses", body)


def test_order_and_repeats_say_nothing(guard):
    body = {**rich["chat/completions"], "tools": [TOOL, FLAT_TOOL]}
    other = dict(reversed(body.items())) | {"tools": [FLAT_TOOL, TOOL, FLAT_TOOL]}
    one, two = (guard.request("chat/completions", each) for each in (body, other))
    assert json.dumps(one) == json.dumps(two)
    logprobs = ["message.output_text.logprobs"]
    response = {"model": "stub", "input": "bam", "include": logprobs * 9}
    assert guard.request("responses", response)["include"] == logprobs
    call = copy.deepcopy(body["messages"][5]["tool_calls"][0])
    arguments = call["function"]
    sent = []
    for said in ('{"city": "bam", "when": []}', '{"when": [], "city": "bam"}'):
        arguments["arguments"] = said
        message = {"role": "assistant", "content": None, "tool_calls": [call]}
        request = {"model": "stub", "messages": [{**message}]}
        made = guard.request("chat/completions", request)
        sent.append(made["messages"][0]["tool_calls"][0]["function"]["arguments"])
    assert sent[0] == sent[1]


def test_the_number_of_a_call_is_not_sent(guard):
    body = copy.deepcopy(rich["chat/completions"])
    body["messages"][5]["tool_calls"][0]["index"] = 4155550123
    assert "4155550123" not in json.dumps(guard.request("chat/completions", body))


def test_the_guarantee_states_how_much_passes_besides_texts(privatizer):
    (form,) = (
        each
        for each in PromptGuard(privatizer, models=["a", "b"]).guarantee.disclosed
        if "form of requests" in each
    )
    stated = re.findall(r"at most (\d+) bits", form)
    assert stated == [str(NUMBER_BITS), str(STOP_BITS), "200", "768", "1"]
    assert 100 > NUMBER_BITS > 80
    assert STOP_BITS == 166
    assert "(at most 611 bits)" in " ".join(PromptGuard(privatizer).guarantee.disclosed)


# What a gateway shows


class Losing:
    """A guard that loses a message on the way, or finds one too many."""

    def __init__(self, change):
        self.change = change

    def messages(self, rows, client):
        return self.change(list(rows))

    def texts(self, texts, client):
        return list(texts)


@pytest.mark.parametrize("change", [lambda x: x[:1], lambda x: [*x, x[0]]])
def test_messages_that_are_lost_on_the_way_are_an_error(change):
    rows = [{"role": "user", "content": each} for each in ("bam", "dad")]
    shown = {"texts": ["bam", "dad"], "structured_messages": rows}
    with pytest.raises(ValueError, match="zip"):
        private_inputs(Losing(change), shown)
