"""What a gateway shows of a request to its guards: texts, tools, messages, images."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mondegreen.prompts.guard import PromptGuard
from mondegreen.prompts.rules import RefusedRequestError


def private_inputs(
    guard: PromptGuard,
    inputs: Mapping[str, Any],
    client: str = "",
    *,
    rows_count: bool = True,
) -> dict[str, Any]:
    """Make the private form of the inputs of a guard of LiteLLM, or refuse them.

    Parameters
    ----------
    guard : PromptGuard
        Privatizes.
    inputs : mapping
        ``texts``, ``images``, ``tools``, ``tool_calls`` and ``structured_messages``,
        the chat messages that the texts are of. What is empty may be absent.
    client : str
        Who sends it; see :meth:`PromptGuard.request`.
    rows_count : bool
        Whether the gateway sends the messages that are returned. If it sends the texts
        alone, messages that hold something else are refused.

    Returns
    -------
    dict
        ``texts``, and ``structured_messages`` where there were such.
    """
    texts, rows = inputs.get("texts") or [], inputs.get("structured_messages")
    _check_shown(guard, inputs)
    if not rows:
        return {"texts": guard.texts(texts, client)}
    given = [_list_said(row) for row in rows]
    for i, row in enumerate(given):
        if not rows_count and row.keys() - {"role", "content"}:
            raise RefusedRequestError(
                f"messages[{i}]", "holds more than a text, which is not replaced"
            )
    made = guard.messages(given, client)
    found = [text for row in made for text in _iterate_texts(row)]
    if len(found) != len(texts):  # the texts are of more than these messages
        found = guard.texts(texts, client)
    pairs = zip(made, given, strict=True)
    changed = [_as_parts(row) if row == old else row for row, old in pairs]
    return {"texts": found, "structured_messages": changed}


def _check_shown(guard: PromptGuard, inputs: Mapping[str, Any]) -> None:
    """Refuse what is no text and was not declared."""
    if inputs.get("images"):
        raise RefusedRequestError("images", "cannot be read")
    for i, tool in enumerate(inputs.get("tools") or ()):
        if not guard.is_public(tool):
            raise RefusedRequestError(f"tools[{i}]", "was not declared public")
    if inputs.get("tool_calls") and not inputs.get("structured_messages"):
        raise RefusedRequestError("tool_calls", "are shown without their messages")


def _list_said(row: object) -> dict[str, Any]:
    """A message without the fields that say nothing."""
    if not isinstance(row, Mapping):
        raise RefusedRequestError("messages", "must be objects")
    return {k: v for k, v in row.items() if v is not None or k == "content"}


def _iterate_texts(row: Mapping[str, Any]) -> Iterator[str]:
    content = row.get("content")
    parts: Sequence[Any] = content if isinstance(content, list) else [{"text": content}]
    for part in parts:
        if isinstance(part.get("text"), str):
            yield part["text"]


def _as_parts(row: dict[str, Any]) -> dict[str, Any]:
    """Write a message that did not change in another form.

    The gateway sends its own message where it gets back what it showed, and with it
    the fields that it did not show.
    """
    content = row.get("content")
    if isinstance(content, str):
        return {**row, "content": [{"type": "text", "text": content}]}
    if isinstance(content, list) and len(content) == 1:
        return {**row, "content": content[0].get("text", "")}
    return {**row, "content": [*(content or ()), {"type": "text", "text": ""}]}
