"""Conversations with --numbers near: amounts go out near their value and come back."""

from __future__ import annotations

import itertools
import json
from collections import Counter

import numpy as np
import pytest
from scipy import stats

import mondegreen as mg
from mondegreen.errors import ConfigurationError
from mondegreen.policy.policy import GRID, load_policy
from mondegreen.policy.scope import Surrogates
from mondegreen.prompts.conversation import conversation_settings, settings_of_policy
from mondegreen.prompts.conversation_guard import ConversationGuard
from mondegreen.settings import Settings

KEY = bytes(range(32))
SAID = (
    "I owe 12,000 dollars, $12,500.50 and 13000; I am 47, with 3 children, 2 cats and "
    "4 dogs. 4711 parts on 12/03/2020, call 415-555-0142. 1 1 2 3 and 1.5 million."
)


def keyed(key, **options):
    c = mg.conversation(numbers="near", **options)
    c._surrogates = Surrogates(c.policy, key, sample=c._sample)
    return c


@pytest.mark.parametrize("epsilon", [None, 12.0])
def test_amounts_are_near_and_all_comes_back(epsilon):
    for number in range(20):
        c = keyed(bytes([number]) * 32, epsilon=epsilon)
        sent = c.hide(SAID)
        assert c.restore(sent) == SAID
        assert "".join(c.restore_stream(sent)) == SAID
        assert c.hide(SAID) == sent
        again = mg.Conversation.from_bytes(c.to_bytes(KEY), KEY)
        assert again.hide(SAID) == sent
        assert again.restore(sent) == SAID


def test_two_amounts_never_share_a_surrogate():
    amounts = [str(each) for each in range(1, 40)] + [f"{n},000" for n in range(10, 60)]
    for number in range(5):
        c = keyed(bytes([number]) * 32)
        sent = [c.hide(f"It is {each} now.").split()[2] for each in amounts]
        assert len(set(sent)) == len(amounts)
        assert not [each for each in sent if "xx" in each]
        assert [c.restore(f"It is {each} now.").split()[2] for each in sent] == amounts


def test_a_surrogate_has_the_law_of_the_noise():
    """That of the first amount of a conversation. False alarms: 1e-6."""
    near = load_policy("names", numbers="near", near=0.5).alphabet.near
    data = np.random.default_rng(3)
    for amount in ("30", "12,000"):
        cell = GRID.find_cell(amount)
        c = mg.conversation(numbers="near", near=0.5)
        found = Counter()
        for _ in range(2_000):
            c._surrogates = Surrogates(c.policy, data.bytes(32))
            found[c.hide(f"It is {amount} now.").split()[2]] += 1
        law = near.weights[cell] / 2.0**62
        cells = [j for j in range(GRID.cells) if law[j] * 2_000 > 5]
        seen = [found.pop(GRID.print(j), 0) for j in cells]
        rest = 1 - law[cells].sum()
        expected = [*(law[cells] * 2_000), rest * 2_000]
        assert stats.chisquare([*seen, found.total()], expected).pvalue > 1e-6


def test_amounts_come_back_in_other_forms():
    for number in range(10):
        c = keyed(bytes([number]) * 32)
        amount = c.hide("You owe $12,500 now.").split("$")[1].split()[0]
        plain = amount.replace(",", "")
        answer = f"${plain}, {amount}.00 or {plain}.0!"
        first = "12500" if "," in amount else "12,500"  # it is what was sent
        assert c.restore(answer) == f"${first}, 12,500.00 or 12500.0!"
        given = json.dumps({"amount": float(plain)})
        assert json.loads(c.restore(given, is_json=True)) == {"amount": 12500.0}
        cents = c.hide("Or $12,345.67 now.").split("$")[1].split()[0].replace(",", "")
        given = json.dumps({"amount": float(cents)})
        assert json.loads(c.restore(given, is_json=True)) == {"amount": 12345.67}


def test_the_guarantee_states_the_loss_of_amounts():
    (line,) = [x for x in mg.conversation(numbers="near").guarantee if "amounts" in x]
    assert "0.5 nats for a factor of 1.259" in line
    assert "at most 30 nats" in line
    (line,) = [
        x
        for x in mg.conversation(numbers="near", near=0.25).guarantee
        if "amounts" in x
    ]
    assert "0.25 nats" in line
    assert not [x for x in mg.conversation().guarantee if "amounts" in x]


def test_doors_offer_it():
    chosen = conversation_settings(Settings(numbers="near", near=0.4))
    assert (chosen["numbers"], chosen["near"]) == ("near", 0.4)
    guard = ConversationGuard(chosen)
    assert "0.4 nats" in " ".join(guard.guarantee)
    said = [{"role": "user", "content": SAID}]
    sent, answers = guard.request("chat/completions", {"messages": said}, guard.begin())
    shown = answers.whole({"choices": [{"message": sent["messages"][0]}]})
    assert shown["choices"][0]["message"]["content"] == SAID
    assert "12,500.50" not in sent["messages"][0]["content"]
    service = settings_of_policy(Settings(epsilon=12.0, numbers="near"))
    assert service["numbers"] == "near"
    # Amounts that pass could not be told from surrogates.
    hidden = settings_of_policy(Settings(epsilon=12.0, numbers="plain"))
    assert hidden["numbers"] == "hide"
    with pytest.raises(ConfigurationError, match="numbers plain"):
        mg.conversation(numbers="plain")


def test_amounts_of_a_changed_turn_are_apart():
    c = keyed(KEY)
    sent = c.hide_apart("It is 30, 30 or 30 now.", "x")
    assert len(set(sent.rstrip(" now.").replace(" or", ",").split()[2:])) == 3
    assert c.restore(sent) == "It is 30, 30 or 30 now."


def test_amounts_beside_a_cell_are_all_different():
    for cell in range(0, GRID.cells, 7):
        some = [GRID.print(cell, beside) for beside in range(200)]
        assert len(set(some)) == 200
        values = [float(each.replace(",", "")) for each in some]
        assert min(values) > 0
        assert [GRID.print(cell)] == some[:1]
        far = [abs(value - values[0]) for value in values]
        assert all(b >= a - 1e-9 for a, b in itertools.pairwise(far))
