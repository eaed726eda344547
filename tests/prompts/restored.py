"""Checks that an answer comes back, however it arrives."""

from __future__ import annotations


def assert_restored(c, answer, wanted):
    """An answer comes back so, whole and cut in two at every place."""
    assert c.restore(answer) == wanted
    assert "".join(c.restore_stream(answer)) == wanted
    for at in range(len(answer)):
        restorer = c.restorer()
        pieces = [restorer.feed(answer[:at]), restorer.feed(answer[at:])]
        assert "".join(pieces) + restorer.end() == wanted
