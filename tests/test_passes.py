"""The guarantees of all passes over a file: a list that grows and never forgets."""

from __future__ import annotations

import dataclasses
import json

import pytest

import mondegreen as mg
from mondegreen.passes import (
    Pass,
    RunLoss,
    add_losses,
    build_report,
    find_stated,
    for_pandas,
    from_json,
    to_json,
)

SPACE = mg.Space.from_arrays("line", ["a", "b", "c"], [[0], [1], [2]])


def stated(epsilon=1.0, **options):
    return mg.Privatizer(
        mg.mechanism("tem", epsilon=epsilon), SPACE, **options
    ).guarantee


def test_a_list_survives_json():
    passes = [Pass("a", stated(5.0)), Pass("b", stated(unknown="mask"))]
    assert from_json(to_json(passes)) == passes
    assert from_json(to_json(passes).encode()) == passes
    assert build_report(passes, "1")["protection"] == "weak"


def test_a_file_has_the_least_protection_of_its_passes():
    strong = Pass("a", stated(0.5))
    vacuous = Pass("a", dataclasses.replace(stated(), epsilon=1e6, certified=None))
    assert [each.protection for each in (strong, vacuous)] == ["strong", "vacuous"]
    for passes in ([strong, vacuous], [vacuous, strong]):
        assert build_report(passes, "1")["protection"] == "vacuous"
        assert build_report(passes, "1")["noise_is_secret"] is True
        assert build_report(passes, "1")["guarantee"] == passes[-1].guarantee.to_dict()


def test_one_pass_with_a_seed_leaves_the_file_without_protection():
    passes = [Pass("a", stated(noise=mg.Seeded(1))), Pass("a", stated())]
    found = build_report(passes, "1")
    assert (found["protection"], found["noise_is_secret"]) == ("none", False)
    assert "NOT PRIVATE: seed 1" in str(from_json(to_json(passes))[0])


def test_a_release_of_before_there_was_a_list_is_read():
    one = stated()
    assert from_json(one.to_json()) == [Pass(None, one)]


def test_nothing_is_no_pass():
    assert from_json(None) == []


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
        '[{"column": 3, "guarantee": {"noise_is_secret": true}}]',
        "[" * 100_000,
        " " * (1 << 21),
        json.dumps({**stated().to_dict(), "scale": None}),
        json.dumps({**stated().to_dict(), "more": 1}),
    ],
)
def test_what_cannot_be_read_has_no_protection(text):
    found = from_json(text)
    assert len(found) == 1
    assert found[0].is_void
    assert (found[0].protection, found[0].noise_is_secret) == ("none", False)
    assert "NOT PRIVATE" in str(found[0])
    assert from_json(to_json(found)) == found


def test_what_a_file_says_cannot_move_the_cursor():
    found = from_json(to_json([Pass("x\n\x1b[2JPrivacy guarantee", stated())]))
    assert "\\n\\x1b[2J" in str(found[0])
    assert str(found[0]).isprintable()


@pytest.mark.parametrize(
    "change", [{"scale": {"nearest": "text"}}, {"disclosed": [["text"]]}]
)
def test_what_has_the_form_of_a_guarantee_alone_is_none(change):
    (found,) = from_json(json.dumps({**stated().to_dict(), **change}))
    assert found.is_void


def test_what_a_frame_of_pandas_says_is_found_and_damage_is_no_promise():
    kept = {b"PANDAS_ATTRS": b'{"mondegreen": "[]", "x": 1}'}
    assert find_stated(kept) == "[]"
    assert find_stated({b"pandas": b'{"attributes": {"mondegreen": "[]"}}'}) == "[]"
    assert find_stated({**kept, b"mondegreen": b"own"}) == b"own"
    for none in (None, {}, {b"PANDAS_ATTRS": b"{"}, {b"pandas": b"7"}, {b"x": b"y"}):
        assert find_stated(none) is None
    for damaged in (b'{"mondegreen": 7}', b'{"mondegreen": ', b'["mondegreen"]'):
        (found,) = from_json(find_stated({b"PANDAS_ATTRS": damaged}))
        assert found.is_void
    assert json.loads(for_pandas("[7]", kept)["PANDAS_ATTRS"]) == {
        "mondegreen": "[7]",
        "x": 1,
    }


ROW, BOTH = RunLoss(("a",), 24.0), RunLoss(("a", "b"), 36.0, 72.0, "id")


def test_the_losses_of_all_runs_add_up_and_a_run_of_two_columns_counts_once():
    one, two = Pass("a", stated(), ROW), [Pass(name, stated(), BOTH) for name in "ab"]
    assert from_json(to_json([one, *two])) == [one, *two]
    assert add_losses([one]).per_row == 24.0
    assert add_losses(two) == BOTH
    assert add_losses([one, one, *two, *two]) == RunLoss(("a", "b"), 120.0)
    assert add_losses([*two, *two]) == RunLoss(("a", "b"), 72.0, 144.0, "id")
    other = Pass("a", stated(), RunLoss(("a",), 12.0, 12.0, "other"))
    assert add_losses([*two, other]) == RunLoss(("a", "b"), 48.0)


def test_a_pass_without_its_loss_has_no_total():
    known = Pass("a", stated(), ROW)
    assert add_losses([known, Pass("a", stated())]) is None
    assert add_losses([Pass(None, None), known]) is None
    assert "loss" not in Pass("a", stated()).to_dict()
    assert "at most 24 nats per row" in str(known)
    assert "2 records without" in str(Pass("a", stated(), None, 2))


@pytest.mark.parametrize(
    "change",
    [
        {"per_row": value}
        for value in (-1, True, "6", None, float("nan"), float("inf"), [6])
    ]
    + [{"columns": value} for value in ("a", [], [1], None)],
)
def test_a_damaged_loss_is_not_known(change):
    entry = Pass("a", stated(), ROW).to_dict()
    entry["loss"] |= change
    (found,) = from_json(json.dumps([entry]))
    assert found == Pass("a", stated())
    for damaged in (7, [7], "x"):
        (found,) = from_json(json.dumps([{**entry, "loss": damaged}]))
        assert found == Pass("a", stated())
