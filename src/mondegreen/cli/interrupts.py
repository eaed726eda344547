"""Ctrl-C ends the command once, wherever in the program it lands."""

from __future__ import annotations

import os
import signal
import sys
import time
from types import FrameType
from typing import Final

INTERRUPTED: Final = 130
"""Exit code."""

MESSAGE: Final = (
    "Interrupted; no file was left half written, and standard output may end early."
)

_AGAIN: Final = 0.1
"""Seconds until an interrupt that nobody has handled is raised again."""


def exit_at_an_interrupt() -> None:
    """Say the line and exit at once, for as long as nothing is open and modules load.

    An exception would not do: Python drops it where a module's lock is released.
    """
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, _exit)


def raise_interrupts() -> None:
    """Raise ``KeyboardInterrupt`` for signals that end the command, until one arrives.

    Python drops an exception that a signal raises in a ``__del__`` or in the callback
    of a weak reference: it prints a traceback, and the program goes on. Libraries in C
    drop exceptions without a word. A signal can also come just before a read that waits
    for ever. So a timer raises the interrupt again. It does not disturb code that
    handles one already, such as a ``finally``. Signals that the caller of the command
    ignores stay ignored (nohup).
    """
    for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGALRM"):
        number = getattr(signal, name, None)  # Windows lacks some
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _interrupt)
    sys.unraisablehook = _report_unless_interrupted


def await_interrupt(error: BaseException) -> None:
    """Raise ``KeyboardInterrupt`` if an error only follows from one.

    A terminal interrupts all processes of a command. So a process that this one starts
    may end, and leave a broken pipe behind, before Python tells this one.
    """
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, KeyboardInterrupt):
            raise KeyboardInterrupt from None
        seen = seen.__context__
    time.sleep(_AGAIN)


def ignore_interrupts() -> None:
    """Let no signal disturb the end of the process: its exit code stands."""
    _set_timer(0)
    for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGALRM"):
        number = getattr(signal, name, None)
        if number is not None:
            signal.signal(number, signal.SIG_IGN)


def _exit(signum: int, frame: FrameType | None) -> None:
    try:
        os.write(2, f"{MESSAGE}\n".encode())
    finally:
        os._exit(INTERRUPTED)


def _interrupt(signum: int, frame: FrameType | None) -> None:
    if not _is_handled():
        _set_timer(_AGAIN)
        raise KeyboardInterrupt


def _is_handled() -> bool:
    """Whether an interrupt has reached an ``except``, a ``finally`` or a ``with``."""
    error = sys.exception()
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__context__
    return error is not None


def _set_timer(seconds: float) -> None:
    if hasattr(signal, "setitimer"):  # absent on Windows
        signal.setitimer(signal.ITIMER_REAL, seconds, seconds)


def _report_unless_interrupted(dropped: sys.UnraisableHookArgs) -> None:
    if not isinstance(dropped.exc_value, KeyboardInterrupt):
        sys.__unraisablehook__(dropped)
