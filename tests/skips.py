"""Fails a run in which tests were skipped for a reason that no list allows.

The variable ALLOWED_SKIPS names lists, with spaces between them. A line of a list is
a reason, in which * stands for anything; lines that begin with # say why.
"""

from __future__ import annotations

import fnmatch
from pathlib import Path

import pytest

__all__ = ["AllowedSkips"]

NOT_ALLOWED = 6
"""Exit code: beyond those of pytest, so that CI does not take it for failed tests."""


class AllowedSkips:
    """Collects the reasons of skips, and compares them with lists at the end."""

    def __init__(self, lists: str) -> None:
        lines = [line for path in lists.split() for line in _lines(Path(path))]
        self._allowed = [line for line in lines if not line.startswith("#")]
        self._others: dict[str, list[str]] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._note(report)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        self._note(report)

    def _note(self, report: pytest.TestReport | pytest.CollectReport) -> None:
        if not report.skipped or hasattr(report, "wasxfail"):
            return
        told = report.longrepr
        reason = str(told[2] if isinstance(told, tuple) else told)
        reason = reason.removeprefix("Skipped: ").strip()
        if not any(fnmatch.fnmatchcase(reason, each) for each in self._allowed):
            self._others.setdefault(reason, []).append(report.nodeid)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self._others:
            session.exitstatus = NOT_ALLOWED

    def pytest_terminal_summary(
        self, terminalreporter: pytest.TerminalReporter
    ) -> None:
        for reason, tests in self._others.items():
            terminalreporter.write_line(
                f"SKIPPED, and no list allows it: {reason} ({len(tests)}: {tests[0]})"
            )


def _lines(path: Path) -> list[str]:
    return [line for line in path.read_text("utf-8").splitlines() if line.strip()]
