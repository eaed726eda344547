"""Leaves out tests that passed in another environment, so that CI runs each once.

``RECORD_PASSED`` names a file to which the names of passed tests are added;
``LEAVE_OUT_PASSED`` a file whose tests are left out. What was skipped there for want of
a library, and what exists only beside a library, is in no such file.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

__all__ = ["RecordPassed", "leave_out_passed"]


class RecordPassed:
    """Adds the names of passed tests to a file, once the run is over."""

    def __init__(self, path: str) -> None:
        self._path = Path(path)
        self._passed: set[str] = set()
        self._others: set[str] = set()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" and report.passed:
            self._passed.add(report.nodeid)
        elif not report.passed:  # skipped, or failed in any of its three parts
            self._others.add(report.nodeid)

    def pytest_sessionfinish(self) -> None:
        with self._path.open("a", encoding="utf-8") as file:
            file.writelines(f"{name}\n" for name in sorted(self._passed - self._others))


def leave_out_passed(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect the tests that passed before."""
    path = os.environ.get("LEAVE_OUT_PASSED")
    if not path:
        return
    passed = set(Path(path).read_text("utf-8").split("\n"))
    again = [item for item in items if item.nodeid in passed]
    config.hook.pytest_deselected(items=again)
    items[:] = [item for item in items if item.nodeid not in passed]
