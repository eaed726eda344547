"""Conversations of the proxy: tokens, time and room."""

from __future__ import annotations

import pytest

pytest.importorskip("starlette")

from mondegreen.errors import InvalidParameterError
from mondegreen.prompts.conversation_guard import ConversationGuard
from mondegreen.prompts.conversations import Conversations, UnknownConversationError
from mondegreen.serve.event_stream import EventReader, write


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def kept(clock):
    return Conversations(ConversationGuard().begin, 10.0, 3, clock)


def ask(kept, token=None, owner="me"):
    """Send a request that is accepted."""
    token, dialog = kept.open(token, owner)
    kept.keep(token)
    return token, dialog


def come_back(kept, owner="me"):
    """Begin a conversation, and send a second request."""
    token, _ = ask(kept, owner=owner)
    ask(kept, token, owner)
    return token


def is_open(kept, token, owner="me"):
    try:
        kept.open(token, owner)
    except UnknownConversationError:
        return False
    return True


def test_a_conversation_lives_for_its_time_after_the_last_request(kept, clock):
    token, dialog = kept.open(None, "me")
    clock.now = 9.0
    assert kept.open(token, "me")[1] is dialog
    clock.now = 18.9
    assert is_open(kept, token)
    clock.now = 29.0
    assert not is_open(kept, token)
    assert len(kept) == 0


def test_a_sweep_forgets_what_nobody_asks_for_any_more(kept, clock):
    for _ in range(2):
        kept.open(None, "me")
    clock.now = 9.0
    token, _ = kept.open(None, "me")
    clock.now = 10.0
    kept.sweep()
    assert (len(kept), kept.forgotten) == (1, 2)
    assert is_open(kept, token)
    assert 0 < kept.period <= 5.0


def test_nobody_else_opens_or_deletes_it(kept):
    token, _ = kept.open(None, "me")
    with pytest.raises(UnknownConversationError, match="header"):
        kept.open(token, "you")
    with pytest.raises(UnknownConversationError):
        kept.delete(token, "you")
    kept.delete(token, "me")
    assert not is_open(kept, token)


def test_conversations_of_one_request_go_first(kept):
    token = come_back(kept)
    for _ in range(20):
        last, _ = ask(kept, owner="you")
    assert len(kept) == 3
    assert is_open(kept, token)
    assert is_open(kept, last, "you")


def test_a_new_conversation_lives_until_its_second_request_in_full_rooms(clock):
    """However many old ones wait for their time to end, and others begin."""
    kept = Conversations(ConversationGuard().begin, 10.0, 16, clock)
    old = [come_back(kept) for _ in range(4)]
    for _ in range(20):
        ask(kept, owner="a client that never comes back")
    assert all(is_open(kept, token) for token in old)
    for _ in range(20):
        come_back(kept)
    assert len(kept) == 16
    first, second = (ask(kept)[0] for _ in range(2))
    assert is_open(kept, first)
    assert is_open(kept, second)


def test_room_is_bounded_when_all_come_back(kept):
    tokens = [come_back(kept) for _ in range(5)]
    assert len(kept) == 3
    assert [is_open(kept, each) for each in tokens] == [False] * 2 + [True] * 3


def test_refused_requests_push_out_no_conversation(clock):
    kept = Conversations(ConversationGuard().begin, 10.0, 16, clock)
    token = come_back(kept)
    for _ in range(100):  # each is sent again with its token, and refused again
        other, _ = kept.open(None, "you")
        kept.open(other, "you")
    assert is_open(kept, token)


def test_a_client_with_many_conversations_pushes_out_its_own(clock):
    kept = Conversations(ConversationGuard().begin, 10.0, 16, clock)
    mine = [come_back(kept) for _ in range(4)]
    for _ in range(100):
        token = come_back(kept, "you")
    assert all(is_open(kept, each) for each in mine)
    assert is_open(kept, token, "you")
    assert len(kept) == 16


def test_words_of_all_conversations_are_bounded_and_the_largest_goes(clock):
    kept = Conversations(ConversationGuard().begin, 10.0, 16, clock, most_words=30)
    small, dialog = ask(kept)
    dialog.conversation.hide("Okonkwo")
    ask(kept, small)
    large, dialog = ask(kept, owner="you")
    dialog.conversation.hide(" ".join(f"Zyx{a}{b}" for a in "abcdef" for b in "abcdef"))
    kept.keep(large)
    assert not is_open(kept, large, "you")
    assert is_open(kept, small)


@pytest.mark.parametrize(("seconds", "most"), [(0, 1), (float("nan"), 1), (1, 0)])
def test_limits_must_be_possible(seconds, most):
    with pytest.raises(InvalidParameterError):
        Conversations(ConversationGuard().begin, seconds, most)


def test_tokens_are_not_shown(kept):
    token, _ = kept.open(None, "me")
    assert token not in repr(kept)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_events_are_the_same_wherever_bytes_are_cut(end):
    lines = [
        "data: {é",
        "data: 1}",
        "",
        ": hello",
        "",
        "event: x",
        "data:y",
        "",
        "data: z",
    ]
    data = end.join(lines).encode()
    for size in range(1, len(data) + 1):
        reader, found = EventReader(), []
        for i in range(0, len(data), size):
            found += reader.feed(data[i : i + size])
        found += reader.end()
        assert found == ["{é\n1}", "", "y", "z"]
    again = EventReader()
    assert list(again.feed(b"".join(map(write, found)))) == found
