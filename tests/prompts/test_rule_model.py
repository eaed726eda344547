"""The model that answers by rule, and what judges conversations with it."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

httpx = pytest.importorskip("httpx")
pytest.importorskip("uvicorn")
pytest.importorskip("sklearn")

from language_model import running  # noqa: E402

from benchmarks.measure.gateway import soak  # noqa: E402
from benchmarks.measure.gateway.asked import MARKER, Asked, Said, Turn  # noqa: E402
from benchmarks.measure.gateway.conversations import Tally  # noqa: E402
from benchmarks.measure.gateway.gateways import Client, read  # noqa: E402
from benchmarks.measure.gateway.model_forms import events, whole  # noqa: E402
from benchmarks.measure.gateway.model_rules import answer  # noqa: E402
from benchmarks.measure.gateway.rule_model import RuleModel  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
TEXT = (
    "Ann Lee of Bergen paid $1,234.50 on 07/05/1961. Write to ann@x.example. "
    "Call 415-555-0142. Thank you."
)
TOOL = {
    "type": "function",
    "function": {"name": "find", "parameters": {"properties": {"name": {}}}},
}


def say(*texts, **more):
    rows = [
        {"role": "assistant" if i % 2 else "user", "content": text}
        for i, text in enumerate(texts)
    ]
    return answer({"messages": rows, **more})


@pytest.mark.parametrize(
    ("task", "expected"),
    [
        ("Repeat this.", TEXT),
        ("Summarize this.", "In short: " + TEXT.partition(" Write")[0] + " Thank you."),
        ("Nothing that is known.", TEXT),
    ],
)
def test_it_answers_what_it_is_asked(task, expected):
    assert say(f"{task}\n\n{TEXT}")["content"] == expected


def test_it_translates_words_of_its_table_alone():
    assert say("Translate.\n\nMy name is Lee, OF12.")["content"] == (
        "Mein Name ist Lee, OF12."
    )


def test_it_drafts_lists_and_extracts():
    draft = say(f"Draft it.\n\n{TEXT}")["content"]
    assert draft.startswith("Dear Ann Lee,")
    assert "RE: ANN LEE" in draft
    assert say(f"List it.\n\n{TEXT}")["content"].startswith("1. Ann Lee of Bergen")
    text = f"Owner: Ann\n{TEXT}"
    assert json.loads(say(f"Extract it.\n\n{text}")["content"]) == {
        "mail": "ann@x.example",
        "phone": "415-555-0142",
        "amount": 1234.5,
        "date": "07/05/1961",
        "name": "Ann Lee",
        "labels": {"Owner": "Ann"},
    }


def test_it_remembers_what_was_said():
    talk = [f"Repeat it.\n\n{TEXT}", "I said so.", "Say that again in capitals."]
    assert say(*talk)["content"] == "I SAID SO."
    asked = [*talk[:2], "What is the mail address?"]
    assert say(*asked)["content"] == "The mail is ann@x.example."
    assert say(*talk[:2], "Repeat it.")["content"] == TEXT


def test_it_calls_a_tool_with_what_it_has_parameters_for():
    (call,) = say(f"Look it up.\n\n{TEXT}", tools=[TOOL])["tool_calls"]
    assert call["function"] == {"name": "find", "arguments": '{"name": "Ann Lee"}'}
    result = {"role": "tool", "tool_call_id": "call_0", "content": "Ann has 7."}
    assert answer({"messages": [result]})["content"] == "I looked it up. Ann has 7."


def test_it_understands_placeholders_as_well():
    text = "<PERSON_0> wrote to <EMAIL_ADDRESS_1>."
    found = json.loads(say(f"Extract it.\n\n{text}")["content"])
    assert (found["name"], found["mail"]) == ("<PERSON_0>", "<EMAIL_ADDRESS_1>")


@pytest.mark.parametrize("kind", ["chat/completions", "responses"])
@pytest.mark.parametrize("message", [{"content": TEXT}, {"tool_calls": [1]}])
def test_a_client_reads_answers_whole_and_in_pieces(kind, message):
    if "tool_calls" in message:
        message = say(f"Look it up.\n\n{TEXT}", tools=[TOOL])
    model = RuleModel(5)
    data = b"".join(events(kind, [message], model.cut, "resp_1"))
    pieces = list(model.cut_bytes(data))
    assert b"".join(pieces) == data
    assert len(pieces) > 1
    streamed = read(kind, data.decode(), is_stream=True)
    shown = read(kind, json.dumps(whole(kind, [message], "resp_1")), is_stream=False)
    assert streamed == shown
    assert shown.key == "resp_1"
    assert shown.text == message.get("content", "")
    assert len(shown.calls) == len(message.get("tool_calls", ()))


@pytest.mark.parametrize("kind", ["chat/completions", "responses"])
def test_a_client_does_not_take_half_an_answer_for_one(kind):
    data = b"".join(events(kind, [{"content": TEXT}], lambda text: [text])).decode()
    half = data[: data.rindex("data: ")] if kind != "responses" else data[:-400]
    with pytest.raises((httpx.ReadError, ValueError)):
        read(kind, half, is_stream=True)


def turn(text="Repeat this.", **more):
    return Turn(Said(text), is_stream=False, **more)


def asked(marker="Kwobab", *texts):
    return Asked(1, "chat/completions", "x", marker, tuple(map(turn, texts)))


def test_a_tally_counts_units_that_leave_and_words_that_do_not():
    text = "Ann Lee wrote to Kwobab."
    said = Said(text, ((0, 7, "person"), (17, 23, MARKER)))
    tally = Tally()
    assert tally.leave(said, "Bob Poe wrote to Zed.")
    assert not tally.leave(said, "Bob Lee spoke to Zed.")
    assert tally.leave(said, "Ann Lee wrote to Zed.")
    assert tally.leave(said, "<PERSON_0> wrote to Kwobab.")  # other numbers of words
    assert tally.count["units"] == 4
    assert tally.count["units that leave"] == 1
    assert tally.count["other words"] == 8
    assert tally.count["other words kept"] == 7


def test_a_tally_tells_wrong_answers_facts_and_foreign_markers():
    tally, said = Tally(), Said("Ann is 7.", ((0, 3, "person"), (7, 8, "age")))
    talk = Asked(1, "x", "y", "Kwobab", (Turn(said, is_stream=True),))
    tally.running = {"Kwobab", "Kwodod"}
    for shown in ("Ann is 7.", "ANN is 7.", "Ann is 17.", "Ann is 7, KWODOD."):
        tally.judge(talk, talk.turns[0], shown, "Ann is 7.", is_kept=True)
    assert tally.count["answers"] == tally.count["answers streamed"] == 4
    assert tally.count["answers, right"] == 1
    assert tally.count["answers, facts right"] == 3
    assert tally.count["answers with a foreign marker"] == 1
    assert tally.count["asks the same"] == 1


def test_a_soak_hears_markers_and_sees_mixed_conversations():
    ears = soak.Ears()
    ears.watch(asked())
    ears("x", b'{"content": "KWOBAB"}')
    ears.forget(asked())
    ears("x", b"Kwobab")
    assert (ears.requests, ears.in_clear) == (2, 1)
    found = soak.Soak(ears, 1, None)
    found.running = {"Kwobab": 1, "Kwodod": 2}
    found._judge("for Kwobab", {"content": "for Kwobab"}, asked())
    found._judge("for kwodod", {"content": "for Kwobab"}, asked())
    assert found.count["answers"] == 2
    assert found.count["right answers"] == 1
    assert found.count["answers with a foreign marker"] == 1
    assert found.count["answers that lost the own marker"] == 1


def test_a_soak_counts_what_a_proxy_that_only_forwards_lets_through():
    """With the model in the place of the proxy, every marker is in clear."""
    ears = soak.Ears()
    model = RuleModel(1, ears)
    talk = asked("Kwobab", "Repeat this.\n\nKwobab is here. Yes.")
    ears.watch(talk)

    async def run(address):
        async with httpx.AsyncClient(timeout=60) as http:
            client = Client(http, address, talk.kind, "sk-x")
            client.say(talk.turns[0].said)
            return await client.ask(talk.turns[0])

    with running(model.app) as address:
        assert asyncio.run(run(address)).text == "Kwobab is here. Yes."
    assert ears.in_clear == 1


def test_it_starts_as_a_command():
    command = [sys.executable, "-m", "benchmarks", "rule_model", "--help"]
    env = {**os.environ, "COLUMNS": "80"}
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=True, env=env
    )
    assert re.search(r"--port PORT", done.stdout)


@pytest.mark.slow("two processes of the command, and kills", seconds=18)
def test_nothing_is_mixed_or_in_clear_when_a_proxy_is_killed(monkeypatch):
    monkeypatch.setattr(soak, "LONGEST_LIFE", 4.0)
    given = soak.argparse.Namespace(minutes=0.25, clients=2, seed=3)
    found = soak.measure(given)
    assert found["requests at the model"] > 20
    assert found["requests with a marker in clear"] == 0
    assert found["markers in what the proxies print"] == 0
    assert sum(found["kills"].values()) > 0
    for name in ("killed", "steady"):
        part = found[name]
        assert part["answers"] > 10
        assert part["answers with a foreign marker"] == 0
        assert part["answers that lost the own marker"] == 0
        assert "requests lost without an error" not in part
        assert not part.get("of these, opened")
