"""Audits of somebody else's callable ``word -> word``, in processes of their own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, Final, Self, cast, final

import numpy as np

from mondegreen.audit.statistical import Counts, Input
from mondegreen.errors import ConfigurationError

UNKNOWN_WORDS: Final = ("qzmeisenbacherz", "vrondelfrixia", "4929-1234-5678-9010")
"""Invented words outside any vocabulary: two names, and the number of a card."""

_WORKER: Final = Path(__file__).with_name("worker.py")
_CHUNK: Final = 500
_FORK_SECONDS: Final = 20.0


@final
class Target:
    """A callable ``module:function`` in a process of its own, which ``with`` ends.

    The current folder is on its path; ``python`` may name the interpreter of another
    environment. ``timeout``, in seconds, is for the import, and for each request of at
    most 500 calls.

    Raises
    ------
    ConfigurationError
        If the callable cannot be imported, its process ends, or it takes too long.
    """

    def __init__(
        self, name: str, python: str | None = None, timeout: float = 600.0
    ) -> None:
        module, colon, function = name.partition(":")
        if not (module and colon and function):
            raise ConfigurationError(f"--target must be MODULE:FUNCTION; got {name!r}")
        self._name, self._timeout = name, timeout
        self._codes: dict[str, int] = {}  # outputs, in the order they were seen
        interpreter = python or sys.executable
        try:
            self._process = subprocess.Popen(  # noqa: S603  the user named what to run
                [interpreter, str(_WORKER), name],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                encoding="utf-8",
                start_new_session=True,  # so that what the target starts ends with it
            )
            self._requests = cast("IO[str]", self._process.stdin)
            self._replies = cast("IO[str]", self._process.stdout)
        except OSError as error:
            raise ConfigurationError(
                f"cannot run {interpreter}: {error.strerror}; --python must name the "
                "interpreter of an environment"
            ) from error
        reply = self._receive()
        if "failed" in reply:
            self.close()
            raise ConfigurationError(f"cannot load {name}: {reply['failed']}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def counts(self, given: Input, runs: int) -> Counts:
        """Return how often each output came out of fresh calls with one word."""
        total: Counter[str] = Counter()
        for start in range(0, runs, _CHUNK):
            some = min(_CHUNK, runs - start)
            reply = self._ask({"do": "count", "word": given[1], "runs": some})
            total.update(reply["counts"])
        for output in total:
            self._codes.setdefault(output, len(self._codes))
        found = np.zeros(len(self._codes), dtype=np.int64)
        for output, hits in total.items():
            found[self._codes[output]] = hits
        return found

    def name(self, output: int) -> str:
        """Return the output of that index."""
        return list(self._codes)[output]

    def sequence(self, words: Sequence[str]) -> list[str]:
        """Return the outputs of calls in order."""
        reply = self._ask({"do": "sequence", "words": list(words)})
        found: list[str] = reply["outputs"]
        return found

    def forked(self, words: Sequence[str]) -> list[list[str] | None]:
        """Return what two forked copies draw; None where they do not work."""
        if sys.platform == "win32":
            return [None, None]
        try:
            request = {"do": "fork", "words": list(words)}
            found: list[list[str] | None] = self._ask(
                request, min(self._timeout, _FORK_SECONDS)
            )["workers"]
        except ConfigurationError:  # pools and threads do not survive a fork
            return [None, None]
        return found

    def close(self) -> None:
        """End the process."""
        with suppress(OSError):
            self._requests.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=5)
        self._kill()
        self._process.wait()
        self._replies.close()

    def _kill(self) -> None:
        """End the process, and all that it started."""
        with suppress(OSError):
            if hasattr(os, "killpg"):
                os.killpg(self._process.pid, signal.SIGKILL)
            else:
                self._process.kill()

    def _ask(
        self, request: dict[str, Any], timeout: float | None = None
    ) -> dict[str, Any]:
        with suppress(BrokenPipeError):  # the missing reply says what happened
            self._requests.write(json.dumps(request) + "\n")
            self._requests.flush()
        return self._receive(timeout)

    def _receive(self, timeout: float | None = None) -> dict[str, Any]:
        """Read a reply; a process that hangs is killed, which ends the read."""
        patience, late = timeout or self._timeout, threading.Event()

        def give_up() -> None:
            late.set()
            self._kill()

        timer = threading.Timer(patience, give_up)
        timer.start()
        try:
            line = self._replies.readline()
        finally:
            timer.cancel()
        if not line:
            self.close()
            problem = (
                f"did not answer within {patience:g} s; --timeout allows more"
                if late.is_set()
                else f"ended its process, with exit status {self._process.returncode}"
            )
            raise ConfigurationError(f"{self._name} {problem}")
        reply: dict[str, Any] = json.loads(line)
        return reply
