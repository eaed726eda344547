"""Cases of slow families that run by default: those named, and no name is wrong."""

from types import SimpleNamespace

import pytest

from families import check_families, run_by_default

FAMILY = pytest.mark.slow("many", seconds=2, but="a-1").mark
TWO = pytest.mark.slow("many", but=("a-1", "b")).mark
PLAIN = [pytest.mark.slow("seconds").mark, pytest.mark.parametrize("x", [1]).mark]


def case(name, *marks):
    found = SimpleNamespace(nodeid="t.py::test", own_markers=list(marks))
    found.obj = SimpleNamespace(pytestmark=list(marks))
    if name is not None:
        found.nodeid += f"[{name}]"
        found.callspec = SimpleNamespace(id=name)
    return found


@pytest.mark.parametrize("mark", [FAMILY, TWO])
def test_the_named_cases_are_not_slow_and_all_others_are(mark):
    named, other = case("a-1", mark, *PLAIN), case("a-10", mark, *PLAIN)
    for item in (named, other):
        run_by_default(item)
    assert named.own_markers == PLAIN
    assert other.own_markers == [mark, *PLAIN]


@pytest.mark.parametrize("name", ["a-1", "", None])
def test_markers_without_named_cases_stay(name):
    item = case(name, *PLAIN)
    run_by_default(item)
    assert item.own_markers == PLAIN


def test_a_name_without_a_case_is_refused():
    check_families([case("a-1", FAMILY), case("c", FAMILY), case(None, *PLAIN)])
    with pytest.raises(pytest.UsageError, match=r"t\.py::test has no cases \['b'\]"):
        check_families([case("a-1", TWO), case("c", TWO)])
    with pytest.raises(pytest.UsageError, match="has no cases"):
        check_families([case(None, FAMILY)])
