"""The proxy as a process, and a client that keeps a conversation with it."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import httpx

from benchmarks.measure.gateway.asked import TOOLS, Asked, Said, Turn
from benchmarks.measure.gateway.model_forms import Message

HEADER: Final = "x-mondegreen-conversation"
PATIENCE: Final = 60.0


class Gateway:
    """``mondegreen proxy`` in a process of its own, which can be killed and started."""

    def __init__(self, upstream: str, options: Sequence[str], port: int = 0) -> None:
        self._upstream, self._options = upstream, tuple(options)
        self._port = port
        self.lines: list[str] = []
        self.process: subprocess.Popen[str] | None = None
        self._reader = threading.Thread()

    def start(self) -> None:
        """Start it and wait until it listens. After a first start, the port stays."""
        with tempfile.TemporaryDirectory() as folder:
            public = Path(folder) / "public.json"
            public.write_text(json.dumps([*TOOLS.values()]))
            command = [sys.executable, "-m", "mondegreen", "proxy"]
            command += ["--upstream", self._upstream, "--port", str(self._port)]
            command += ["--public", os.fspath(public), *self._options]
            self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
            assert self.process.stderr is not None
            address = ""
            for line in self.process.stderr:
                self.lines.append(line)
                if "Listening on" in line:
                    address = line.split()[-1]
                    break
        if not address:
            raise RuntimeError("the proxy did not start: " + "".join(self.lines[-5:]))
        self._port = int(address.rpartition(":")[2])
        stderr = self.process.stderr
        self._reader = threading.Thread(
            target=lambda: self.lines.extend(stderr), daemon=True
        )
        self._reader.start()

    @property
    def address(self) -> str:
        """Its base address."""
        return f"http://127.0.0.1:{self._port}/v1"

    def stop(self, number: int = signal.SIGTERM) -> bool:
        """Send a signal and wait for the end; returns whether it came in time."""
        if self.process is None:
            return True
        self.process.send_signal(number)
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            return False
        finally:
            if self._reader.is_alive():
                self._reader.join(PATIENCE)
            if self.process.stderr is not None:
                self.process.stderr.close()
        return True

    def bytes_in_memory(self) -> int:
        """Resident memory of the process."""
        assert self.process is not None
        text = Path(f"/proc/{self.process.pid}/statm").read_text()
        return int(text.split()[1]) * os.sysconf("SC_PAGE_SIZE")


@contextlib.contextmanager
def gateway(upstream: str, options: Sequence[str]) -> Iterator[Gateway]:
    """Start a proxy, and stop it at the end."""
    found = Gateway(upstream, options)
    found.start()
    try:
        yield found
    finally:
        found.stop()


@dataclass
class Shown:
    """What a client got: the id of the answer, its text, and calls of tools."""

    key: str = ""
    text: str = ""
    calls: list[Message] = field(default_factory=list)
    token: str | None = None


@dataclass
class Client:
    """Asks through an interface and keeps the history, as clients do."""

    http: httpx.AsyncClient
    address: str
    kind: str
    api_key: str
    has_header: bool = True
    token: str | None = None
    history: list[Message] = field(default_factory=list)

    def body(self, turn: Turn, history: list[Message]) -> Message:
        """Write a request."""
        body: Message = {"model": "stub", "stream": turn.is_stream}
        tools = [TOOLS[self.kind]] if turn.result is not None else []
        body |= {"tools": tools} if tools else {}
        chosen = {"type": "json_object"}
        if self.kind == "responses":
            body |= {"input": history}
            return body | ({"text": {"format": chosen}} if turn.is_json else {})
        body |= {"messages": history}
        return body | ({"response_format": chosen} if turn.is_json else {})

    def say(self, said: Said) -> None:
        """Add a text of the user to the history."""
        self.history.append({"role": "user", "content": said.text})

    def hear(self, shown: Shown) -> None:
        """Add an answer to the history."""
        if self.kind == "responses":
            self.history += [{"type": "function_call", **each} for each in shown.calls]
            if shown.text:
                self.history.append({"role": "assistant", "content": shown.text})
            return
        message: Message = {"role": "assistant", "content": shown.text or None}
        if shown.calls:
            message["tool_calls"] = [
                {
                    "id": each["call_id"],
                    "type": "function",
                    "function": {k: each[k] for k in ("name", "arguments")},
                }
                for each in shown.calls
            ]
        self.history.append(message)

    def return_result(self, call: Message, result: Said) -> None:
        """Add what a tool returned to the history."""
        if self.kind == "responses":
            output = {"call_id": call["call_id"], "output": result.text}
            self.history.append({"type": "function_call_output", **output})
        else:
            named = {"tool_call_id": call["call_id"], "content": result.text}
            self.history.append({"role": "tool", **named})

    async def ask(self, turn: Turn) -> Shown:
        """Send the history; returns what is shown.

        Raises
        ------
        httpx.HTTPError
            If no whole answer came.
        """
        headers = {"authorization": f"Bearer {self.api_key}"}
        if self.token is not None and self.has_header:
            headers[HEADER] = self.token
        answer = await self.http.post(
            f"{self.address}/{self.kind}",
            json=self.body(turn, self.history),
            headers=headers,
        )
        answer.raise_for_status()
        shown = read(self.kind, answer.text, is_stream=turn.is_stream)
        shown.token = self.token = answer.headers.get(HEADER)
        return shown


def read(kind: str, text: str, *, is_stream: bool) -> Shown:
    """Read an answer, whole or of events, in one of two interfaces."""
    if not is_stream:
        return _whole(kind, json.loads(text))
    events = [
        json.loads(line.removeprefix("data: "))
        for line in text.splitlines()
        if line.startswith("data: {")
    ]
    for each in events:
        if "error" in each:
            raise httpx.ReadError("the answer ended in an error")
    return _events(events) if kind == "responses" else _chunks(text, events)


def _whole(kind: str, answer: Message) -> Shown:
    shown = Shown(answer["id"])
    if kind == "responses":
        for item in answer["output"]:
            if item["type"] == "function_call":
                shown.calls.append(_call(item["call_id"], item))
            else:
                shown.text += "".join(part["text"] for part in item["content"])
        return shown
    message = answer["choices"][0]["message"]
    shown.text = message["content"] or ""
    for each in message.get("tool_calls") or ():
        shown.calls.append(_call(each["id"], each["function"]))
    return shown


def _chunks(text: str, events: list[Message]) -> Shown:
    if not text.endswith("data: [DONE]\n\n"):
        raise httpx.ReadError("the stream was cut off")
    shown = Shown(events[0]["id"])
    for each in events:
        for choice in each["choices"]:
            shown.text += choice["delta"].get("content") or ""
            for call in choice["delta"].get("tool_calls") or ():
                if "id" in call:
                    shown.calls.append(_call(call["id"], call["function"]))
                else:
                    given = call["function"]["arguments"]
                    shown.calls[call["index"]]["arguments"] += given
    return shown


def _events(events: list[Message]) -> Shown:
    """Read a stream of responses; its pieces must be what the last event holds."""
    last = events[-1]
    if last["type"] != "response.completed":
        raise httpx.ReadError("the stream was cut off")
    shown = _whole("responses", last["response"])
    for name, whole in (
        ("output_text", shown.text),
        ("function_call_arguments", "".join(c["arguments"] for c in shown.calls)),
    ):
        deltas = (e["delta"] for e in events if e["type"] == f"response.{name}.delta")
        pieces = "".join(deltas)
        if pieces != whole:
            raise ValueError("the pieces of a stream are not its whole")
    return shown


def _call(key: str, function: Message) -> Message:
    named = {name: function[name] for name in ("name", "arguments")}
    return {"call_id": key, **named}


def expected(kind: str, history: list[Message], turn: Turn) -> dict[str, Any]:
    """Write the request as it is, for the rules of the model."""
    tools = [TOOLS[kind]] if turn.result is not None else []
    name = "input" if kind == "responses" else "messages"
    return {name: history, "tools": tools}


def parts_of(asked: Asked) -> Iterator[Said]:
    """Every text of a conversation that its user or the user's tools wrote."""
    for turn in asked.turns:
        yield turn.said
        if turn.result is not None:
            yield turn.result
