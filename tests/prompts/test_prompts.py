"""What of a request to a language model leaves: releases, and what was declared."""

from __future__ import annotations

import copy
import json
from itertools import pairwise

import numpy as np
import pytest
from requests_to_models import (
    CANARY,
    PUBLIC,
    SYSTEM,
    TOOL,
    mutants,
    rich,
)

import mondegreen as mg
from mondegreen.errors import ConfigurationError, InvalidParameterError, PrivacyError
from mondegreen.prompts.guard import PromptGuard
from mondegreen.prompts.rules import RefusedRequestError

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
    with pytest.raises(
        RefusedRequestError, match="known are: messages, model"
    ) as caught:
        guard.request("chat/completions", chat("bam", **{CANARY: 1}))
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
