"""How worker processes start. Light to import: it runs before anything is loaded."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from multiprocessing import resource_tracker
from multiprocessing.context import BaseContext
from typing import Final

from mondegreen.threads import THREADS

# Not forked from here: a fork would copy threads of faiss and BLAS half-way.
SPAWN: Final = multiprocessing.get_context("spawn")

# What a server of forks loads; none of them starts a thread by that.
_LOADED: Final = [
    "faiss",
    "pyarrow.compute",
    "randomgen",
    "mondegreen.privatizer.parallel",
]


def warm_up() -> BaseContext:
    """Begin to start workers while the caller still prepares; return their context.

    On Linux a server loads the libraries, on a core that has nothing to do yet, and
    workers are forked from it: it never computes, so that it has no threads, no
    generator and no text. That halves the time of a short run with two jobs. For
    programs whose environment stays as it is from here on; elsewhere, and where its
    socket cannot be made, workers are spawned when they are needed.
    """
    if sys.platform != "linux":
        return SPAWN
    from multiprocessing import forkserver

    try:
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(_LOADED)
        with without_interrupts():
            forkserver.ensure_running()
    except (OSError, ValueError):  # no sockets, or a name too long for one
        return SPAWN
    return context


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Let a process that starts here compute with one thread, its core.

    Threads of several processes that wait for each other on fewer cores take many
    times as long as one thread each.
    """
    before = {name: os.environ.get(name) for name in THREADS}
    os.environ.update(dict.fromkeys(THREADS, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextlib.contextmanager
def without_interrupts() -> Iterator[None]:
    """Let a process that starts here begin life deaf to Ctrl-C; the parent ends it."""
    if os.name != "posix":
        yield
        return
    # Python starts its resource tracker with the first process, and unblocks the signal
    # when it has. So the tracker starts before the signal is blocked.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def end_with_parent(end: Callable[[], None]) -> None:
    """Call ``end``, in a thread of its own, when the parent of this process is killed.

    A worker that waits for a task notices that by itself only if no other worker holds
    the other end of its pipe; one that computes goes on to the end.
    """
    parent = multiprocessing.parent_process()
    if parent is not None:
        given = parent.sentinel, end
        threading.Thread(target=_wait_for, args=given, daemon=True).start()


def _wait_for(sentinel: int, end: Callable[[], None]) -> None:
    from multiprocessing.connection import wait

    wait([sentinel])
    end()
