"""Cases of a slow family that run by default: ``slow(why, but="krr-2.0")``.

The marker names the cases that are not slow, by what stands in brackets in their names;
a tuple names several. The default run sees a defect of the whole family by them, and
CI one of a single case.
"""

from __future__ import annotations

from collections.abc import Iterable

import pytest

__all__ = ["check_families", "run_by_default"]


def run_by_default(item: pytest.Item) -> None:
    """Take the marker off a case that it names."""
    item.own_markers[:] = [
        mark for mark in item.own_markers if _case_of(item) not in _named_by(mark)
    ]


def check_families(items: Iterable[pytest.Function]) -> None:
    """Refuse a marker that names a case which is not there: none would run."""
    found: dict[str, set[str]] = {}
    named: dict[str, set[str]] = {}
    for item in items:
        family = item.nodeid.partition("[")[0]
        found.setdefault(family, set()).add(_case_of(item))
        for mark in getattr(item.obj, "pytestmark", []):
            named.setdefault(family, set()).update(_named_by(mark))
    for family, cases in named.items():
        if absent := cases - found[family]:
            raise pytest.UsageError(f"{family} has no cases {sorted(absent)}")


def _named_by(mark: pytest.Mark) -> tuple[str, ...]:
    cases = mark.kwargs.get("but", ()) if mark.name == "slow" else ()
    return (cases,) if isinstance(cases, str) else cases


def _case_of(item: pytest.Item) -> str | None:
    return item.callspec.id if hasattr(item, "callspec") else None
