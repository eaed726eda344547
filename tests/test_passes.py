"""The guarantees of all passes over a file: a list that grows and never forgets."""

from __future__ import annotations

import json

import pytest

import mondegreen as mg
from mondegreen.passes import Pass, all_private, from_json, to_json

SPACE = mg.Space.from_arrays("line", ["a", "b", "c"], [[0], [1], [2]])


def stated(epsilon=1.0, **options):
    return mg.Privatizer(
        mg.mechanism("tem", epsilon=epsilon), SPACE, **options
    ).guarantee


def test_a_list_survives_json():
    passes = [Pass("a", stated(5.0)), Pass("b", stated(unknown="mask"))]
    assert from_json(to_json(passes)) == passes
    assert from_json(to_json(passes).encode()) == passes
    assert all_private(passes)


def test_one_pass_that_is_not_private_makes_the_file_not_private():
    passes = [Pass("a", stated(noise=mg.Seeded(1))), Pass("a", stated())]
    assert not all_private(passes)
    assert "NOT PRIVATE: seed 1" in str(from_json(to_json(passes))[0])


def test_a_release_of_before_there_was_a_list_is_read():
    one = stated()
    assert from_json(one.to_json()) == [Pass(None, one)]


def test_nothing_is_no_pass():
    assert from_json(None) == []
    assert all_private([])


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"\xff",
        "null",
        "[]",
        "{}",
        "7",
        "[7]",
        '[{"column": "a"}]',
        '[{"column": 3, "guarantee": {"is_private": true}}]',
        "[" * 100_000,
        " " * (1 << 21),
        json.dumps({**stated().to_dict(), "scale": None}),
        json.dumps({**stated().to_dict(), "more": 1}),
    ],
)
def test_what_cannot_be_read_counts_as_not_private(text):
    found = from_json(text)
    assert len(found) == 1
    assert not all_private(found)
    assert "NOT PRIVATE" in str(found[0])
    assert from_json(to_json(found)) == found


def test_what_a_file_says_cannot_move_the_cursor():
    found = from_json(to_json([Pass("x\n\x1b[2JPrivacy guarantee", stated())]))
    assert "\\n\\x1b[2J" in str(found[0])
    assert str(found[0]).isprintable()


@pytest.mark.parametrize(
    "change", [{"scale": {"nearest": "text"}}, {"strata": [["text"]]}]
)
def test_what_has_the_form_of_a_guarantee_alone_is_none(change):
    assert not all_private(from_json(json.dumps({**stated().to_dict(), **change})))
