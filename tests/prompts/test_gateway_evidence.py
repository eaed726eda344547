"""What the page on the restoring gateway claims was measured."""

import json
from pathlib import Path

import pytest

RESULTS = Path(__file__).resolve().parents[2] / "benchmarks" / "results"


def found(name):
    return json.loads((RESULTS / f"{name}.json").read_text("utf-8"))


@pytest.fixture(scope="module")
def guards():
    return found("conversations")["guards"]


def test_answers_come_back_right_at_once_and_in_streams(guards):
    names = guards["names"]
    assert names["conversations"] == 2_000
    assert names["share right"] >= 0.99
    for form in ("at once", "streamed"):
        assert names[f"answers {form}"] > 4_000
        assert names[f"answers {form}, right"] >= 0.99 * names[f"answers {form}"]


def test_no_conversation_is_mixed_or_lost(guards):
    for each in guards.values():
        assert each["answers with a foreign marker"] == 0
        assert each.get("requests without an answer", 0) == 0


def test_fewer_than_one_unit_in_a_hundred_leaves(guards):
    assert guards["sensitive"]["share of units that leave"] <= 0.01
    names = guards["names"]
    assert names["high"] < 0.01
    same, digits = names["units by kind"]["digit"]
    assert same / digits == pytest.approx(0.1, abs=0.05)  # themselves, by chance
    assert names["units that leave"] - same <= 0.006 * (names["units"] - digits)


def test_guards_have_the_same_prompts(guards):
    beside = [each for name, each in guards.items() if name != "names"]
    assert len(beside) == 7
    assert len({each["conversations"] for each in beside}) == 1
    # Under "all" no tool is called, so no result of a tool goes up.
    restoring = [each for name, each in guards.items() if name not in ("names", "all")]
    assert len({each["units"] for each in restoring}) == 1


def test_the_proxy_answers_as_soon_as_a_plain_one_but_for_ten_milliseconds():
    one = found("gateway_latency")["one client"]
    assert one["names"]["p50, ms"] - one["plain"]["p50, ms"] < 10.0


def test_every_guard_was_timed_in_the_same_run(guards):
    timed = found("gateway_latency")
    for key in ("one client", "64 clients"):
        assert set(timed[key]) >= {"plain", "names", "sensitive", "all"}
        assert set(timed[key]) >= guards.keys() - {"names, the first"}


def test_a_detector_first_leaves_no_more_units_than_the_policy_alone(guards):
    for policy, alone in (("names", "names, the first"), ("sensitive", "sensitive")):
        both = guards[f"{policy}, Presidio first"]
        assert both["units that leave"] <= guards[alone]["units that leave"] + 5
        assert both["units that leave"] < 0.1 * guards["Presidio"]["units that leave"]


def test_nothing_is_mixed_or_in_clear_under_kills():
    soak = found("soak")
    assert soak["minutes"] >= 30
    assert set(soak["kills"]) >= {"SIGKILL", "SIGTERM"}
    assert soak["requests with a marker in clear"] == 0
    assert soak["markers in what the proxies print"] == 0
    for name in ("killed", "steady"):
        part = soak[name]
        assert part["answers"] > 1_000
        assert part["answers with a foreign marker"] == 0
        assert part["answers that lost the own marker"] == 0
        assert part.get("requests lost without an error", 0) == 0
        assert part.get("of these, opened", 0) == 0
        assert part["tries to open a stranger's conversation"] > 50


def test_memory_is_bounded():
    """The second half of the run needs no more than a tenth more than its begin."""
    sizes = found("soak")["memory of the steady proxy"]["MiB, by tenths of the run"]
    assert max(sizes[5:]) < 1.1 * max(sizes[2:5])


def test_blind_judges_find_that_names_asks_the_same_more_often_than_others():
    asked = found("asks_same")
    assert len(asked["judges"]) == 3
    for judge in asked["judges"]:
        assert {sum(marks.values()) for marks in judge.values()} == {40}
        same = {name: marks.get("y", 0) for name, marks in judge.items()}
        assert same["names"] >= 36
        assert same["names"] > same["sensitive"] > same["all"]
        assert same["names"] > max(same["Presidio"], same["LiteLLM"])
