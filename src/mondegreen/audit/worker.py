"""Runs a callable ``word -> word`` in a process of its own, for an audit.

Started as ``PYTHON worker.py MODULE:FUNCTION``, where PYTHON may be the interpreter of
another environment: this file imports the standard library alone. Requests and replies
are lines of JSON; whatever the target prints goes to standard error.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any


def call(function: Callable[[str], object], word: str) -> str:
    """Return the output as a string; an exception is an output too: it can be seen."""
    try:
        out = function(word)
    except Exception as error:
        return f"<raises {type(error).__name__}>"
    if isinstance(out, str):  # lone surrogates could not be printed
        return out.encode("utf-8", "backslashreplace").decode("utf-8")
    return f"<{type(out).__name__}: {out!r}>"[:200]


def answer(
    function: Callable[[str], object], request: dict[str, Any]
) -> dict[str, Any]:
    if request["do"] == "count":
        counts: dict[str, int] = {}
        for _ in range(request["runs"]):
            out = call(function, request["word"])
            counts[out] = counts.get(out, 0) + 1
        return {"counts": counts}
    if request["do"] == "sequence":
        return {"outputs": [call(function, word) for word in request["words"]]}
    return {"workers": [run_in_fork(function, request["words"]) for _ in range(2)]}


def run_in_fork(function: Callable[[str], object], words: list[str]) -> Any:
    """Return what a forked copy of this process draws."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            text = json.dumps([call(function, word) for word in words])
            with os.fdopen(write, "w", encoding="utf-8") as pipe:
                pipe.write(text)
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read, encoding="utf-8") as pipe:
        text = pipe.read()
    os.waitpid(child, 0)
    return json.loads(text) if text else None


def load(name: str) -> Callable[[str], object]:
    module, _, path = name.partition(":")
    found: Any = importlib.import_module(module)
    for part in path.split("."):
        found = getattr(found, part)
    if not callable(found):
        raise TypeError(f"{name} is not callable")
    return found  # type: ignore[no-any-return]


def main() -> None:
    """Answer requests until standard input ends."""
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    # The folder of this file, in front, would shadow modules of the target.
    sys.path[0] = str(Path.cwd())
    function: Callable[[str], object] | None = None
    reply: dict[str, Any] = {"ready": True}
    try:
        function = load(sys.argv[1])
    except Exception as error:
        reply = {"failed": f"{type(error).__name__}: {error}"}
    while True:
        replies.write(json.dumps(reply) + "\n")
        replies.flush()
        line = sys.stdin.readline()
        if not line or function is None:
            return
        reply = answer(function, json.loads(line))


if __name__ == "__main__":
    main()
