"""A detector in front of a conversation: it adds, never removes, and fails closed."""

from __future__ import annotations

import re
from types import SimpleNamespace

import pytest

import mondegreen as mg
from mondegreen.errors import ConfigurationError, MondegreenError
from mondegreen.prompts.conversation_guard import ConversationGuard
from mondegreen.prompts.guard import PromptGuard

KEY = bytes(range(32))


def find_hope(text):
    """Find the ordinary word "hope" where it is a person."""
    found = re.finditer(r"mrs (hope)", text)
    return [
        SimpleNamespace(start=m.start(1), end=m.end(1), entity_type="PERSON", score=0.9)
        for m in found
    ]


def fail(text):
    raise ValueError(f"cannot read {text}")


HOPE = (find_hope, "hope 1")
SAID = "Ask mrs hope. I hope Okonkwo is well."


def test_what_the_detector_finds_has_a_surrogate_and_the_policy_hides_the_rest():
    plain, both = mg.conversation(), mg.conversation(detector=HOPE)
    assert "mrs hope" in plain.hide(SAID)
    sent = both.hide(SAID)
    assert "mrs hope" not in sent
    assert "Okonkwo" not in sent
    assert sent.startswith("Ask mrs ")
    assert ". I hope " in sent
    surrogate = sent.split()[2].rstrip(".")
    symbol = both.policy.symbols[surrogate.lower()]
    assert both.policy.describe(symbol)[0] in ("surname", "first_name")
    assert both.restore(f"mrs {surrogate}'s answer") == "mrs hope's answer"


def test_one_guarantee_states_both_layers():
    lines = "\n".join(mg.conversation(detector=HOPE).guarantee)
    assert "first layer: the detector hope 1" in lines
    assert "second layer: every word goes through the policy" in lines
    assert "first layer" not in "\n".join(mg.conversation().guarantee)
    guards = [ConversationGuard(detector=each) for each in (None, HOPE)]
    assert guards[0].digest != guards[1].digest


@pytest.mark.parametrize(
    "broken",
    [
        fail,
        lambda text: [SimpleNamespace(start=0, end=10**6, entity_type="X", score=1.0)],
        lambda text: None,
    ],
)
def test_a_detector_that_fails_lets_nothing_out(broken):
    c = mg.conversation(detector=(broken, "broken 1"))
    with pytest.raises(MondegreenError) as error:
        c.hide(SAID)
    assert "Okonkwo" not in str(error.value)
    assert len(c) == 0
    guard = ConversationGuard(detector=(broken, "broken 1"))
    body = {"messages": [{"role": "user", "content": SAID}]}
    with pytest.raises(MondegreenError):
        guard.request("chat/completions", body, guard.begin())


def test_a_kept_conversation_asks_for_the_same_detector():
    with mg.conversation(detector=HOPE) as c:
        sent, data = c.hide(SAID), c.to_bytes(KEY)
    for other in (None, (find_hope, "hope 2")):
        with pytest.raises(ConfigurationError, match="hidden with hope 1"):
            mg.Conversation.from_bytes(data, KEY, detector=other)
    again = mg.Conversation.from_bytes(data, KEY, detector=HOPE)
    assert again.hide(SAID) == sent
    assert again.restore(sent) == SAID


def test_a_guard_with_noise_takes_a_detector_too():
    law = mg.mechanism("urr", epsilon=14.0)
    private = mg.Privatizer(law, policy="names").with_detector(*HOPE)
    guard = PromptGuard(private)
    body = {"messages": [{"role": "user", "content": SAID}]}
    sent = guard.request("chat/completions", body)["messages"][0]["content"]
    assert "mrs hope" not in sent
    assert "hope 1" in str(guard.guarantee)


def test_presidio_finds_in_a_conversation_what_the_policy_alone_shows():
    pytest.importorskip("presidio_analyzer")
    pytest.importorskip("spacy")
    from mondegreen.integrations.detectors import load_presidio

    detector = load_presidio()
    c = mg.conversation(detector=detector)
    said = "Write to ann@example.org, IBAN GB29NWBK60161331926819."
    sent = c.hide(said)
    assert "GB29" not in sent
    assert c.restore(sent) == said
    assert "presidio-analyzer" in "\n".join(c.guarantee)
