"""Answers of a language model: what of them is text, restored whole or in events."""

from __future__ import annotations

import copy
from collections.abc import Collection, Iterator
from typing import Any, Final, final

from mondegreen.prompts.conversation import Conversation
from mondegreen.prompts.restore import JsonRestorer, Restorer
from mondegreen.prompts.shared_links import (
    Field,
    OtherTexts,
    SharedLinks,
    iterate_texts,
)
from mondegreen.prompts.turns import Place, Turns

_TEXTS: Final = ("reasoning_content", "reasoning", "refusal", "content")
"""Programs may show all of them as one text, in this order. The first two are what some
models say to themselves: it is restored, and never sent back."""

_CALLS: Final = "tool_calls"
_DELTA: Final = ".delta"
_DONE: Final = ".done"
_STREAMED: Final = {
    "response.output_text": "text",
    "response.refusal": "refusal",
    "response.function_call_arguments": "arguments",
    "response.reasoning_summary_text": "text",
    "response.reasoning_text": "text",
}
"""Events of responses that come in pieces, and where the last one holds all of it."""

_PARTS: Final = ("output_text", "refusal", "summary_text", "reasoning_text")
_SHOWN: Final = (
    "content", "completion", "text", "output_text", "response.output_text"
)  # fmt: skip
"""Texts that all programs show. Of the others, such as thoughts, some show only one."""
_GROUPS: Final = 32


@final
class _Piecewise:
    """One text that comes in pieces: what was said and what was shown so far."""

    def __init__(self, restorer: Restorer | JsonRestorer | None) -> None:
        self._restorer = restorer
        self.said, self.shown = "", ""

    def feed(self, text: str) -> str:
        self.said += text
        return self._show(self._restorer.feed(text) if self._restorer else text)

    def leave(self) -> None:
        """Say that another text comes next, which may be shown behind this one."""
        if self._restorer:
            self._restorer.leave()

    def keep(self) -> None:
        """Restore nothing of it."""
        if self._restorer:
            self._restorer.keep()

    def end(self) -> str:
        rest = self._restorer.end() if self._restorer else ""
        self._restorer = None
        return self._show(rest)

    def _show(self, text: str) -> str:
        self.shown += text
        return text


@final
class AnswerRestorer:
    """Restores the answer to one request, and notes what the model said.

    Use :meth:`whole` for an answer that comes at once; :meth:`event` for each event of
    a stream, and then :meth:`end`. Programs may show its texts as one, so each is also
    read behind all that came before it, and behind what is not restored.

    Parameters
    ----------
    conversation : Conversation
        Whose surrogates the answer holds.
    turns : Turns
        Notes what was said and what was shown.
    place : Place
        Where in the conversation the answer stands.
    is_json : bool
        Whether the answer is JSON.
    in_links, in_tools : bool
        Restore in links and images, and in arguments of calls.
    """

    def __init__(
        self,
        conversation: Conversation,
        turns: Turns,
        place: Place,
        *,
        is_json: bool = False,
        in_links: bool = False,
        in_tools: bool = False,
    ) -> None:
        self._conversation, self._turns, self._place = conversation, turns, place
        self._is_json = is_json
        self._in_links, self._in_tools = in_links, in_tools
        self._pieces: dict[tuple[Any, ...], _Piecewise] = {}
        self._shared: dict[str, SharedLinks] = {}
        self._others = OtherTexts()
        self._current: _Piecewise | None = None  # the text of the stream that goes on
        self._ended = set[Any]()  # choices of the stream
        self._seen: dict[Any, int] = {}  # how many outputs, or parts of each, have come
        self._kind = ""  # of the event that is read
        self._noted: list[tuple[str, _Piecewise]] = []
        self._last: dict[str, Any] = {}

    def whole(self, answer: dict[str, Any]) -> dict[str, Any]:
        """Restore an answer that came at once."""
        shown = copy.deepcopy(answer)
        noted: list[tuple[str, _Piecewise]] = []
        choices = _dicts(shown.get("choices"))
        order = [choice.get("index", i) for i, choice in enumerate(choices)]
        if order != [*range(len(choices))]:
            self._share(self._kind).keep()  # programs may show them in either order
        for choice in choices:
            if isinstance(choice.get("text"), str):
                choice["text"] = self._text(choice["text"], "text")
            self._message(choice.get("message"))
            noted, self._noted = self._noted + noted, []
        # The first choice is noted last: it is the one that a client goes on with.
        self._noted = noted
        self._output(shown)
        self._note()
        return shown

    def _message(self, message: Any) -> None:
        if not isinstance(message, dict):
            return
        self._look(message, (*_list_texts(message, _TEXTS), _CALLS))
        for name in _list_texts(message, _TEXTS):
            message[name] = self._text(message[name], name)
        self._look({_CALLS: message.get(_CALLS)})  # they are shown behind the text
        for call in _dicts(message.get(_CALLS)):
            self._arguments(call.get("function"))

    def _output(self, answer: Any) -> None:
        """Restore the items of a response."""
        if not isinstance(answer, dict):
            return
        for item in _dicts(answer.get("output")):
            self._item(item)
        if isinstance(answer.get("output_text"), str):
            self._kind += ".output_text"  # all of them once more
            answer["output_text"] = self._text(answer["output_text"], "output_text")

    def _item(self, item: Any) -> None:
        if not isinstance(item, dict):
            return
        lists = [n for n in ("content", "summary") if isinstance(item.get(n), list)]
        self._look(item, lists)
        for name in lists:
            for part in item[name]:
                self._part(part)
        if item.get("type") == "function_call":
            self._arguments(item)

    def _part(self, part: Any) -> None:
        if not isinstance(part, dict) or part.get("type") not in _PARTS:
            self._look(part)
            return
        names = _list_texts(part, ("text", "refusal"))
        self._look(part, names)
        for name in names:
            part[name] = self._text(part[name], part["type"])

    def _look(self, value: Any, without: Collection[str] = (), index: Any = 0) -> None:
        """Read texts that are not restored: a program may show them before others."""
        if self._in_links:
            return
        if isinstance(value, dict):
            value = {k: v for k, v in value.items() if k not in without}
        for field, text in iterate_texts(value, (self._kind, str(index))):
            self._others.feed(field, text)

    def _arguments(self, call: Any) -> None:
        if isinstance(call, dict) and isinstance(call.get("arguments"), str):
            call["arguments"] = self._run("arguments", call["arguments"], "")

    def _text(self, said: str, name: str) -> str:
        return self._run("text", said, name)

    def _run(self, form: str, said: str, name: str) -> str:
        piece = self._begin(form, self._kind, name)
        piece.feed(said)
        piece.end()
        self._noted.append((form, piece))
        return piece.shown

    def _begin(self, form: str, group: str, name: str) -> _Piecewise:
        if form == "arguments" and not self._in_tools:
            return _Piecewise(None)
        is_json = self._is_json or form == "arguments"
        restorer = self._conversation.restorer(is_json=is_json, in_links=self._in_links)
        if form == "text":
            shared = self._share(group)
            field: Field = (group, name, "said")
            restorer.share(shared if name in _SHOWN else shared.as_field(field))
        return _Piecewise(restorer)

    def _share(self, group: str) -> SharedLinks:
        """Return what reads all texts of a group, which are shown as one."""
        if group not in self._shared and len(self._shared) == _GROUPS:
            group = next(iter(self._shared))
        return self._shared.setdefault(group, SharedLinks(self._others))

    def _note(self) -> None:
        for form, piece in self._noted:
            self._turns.note(self._place, form, piece.shown, piece.said)
        self._noted = []

    # --- streams

    def event(self, event: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Restore an event of a stream: it comes back, after others that it needs."""
        shown = copy.deepcopy(event)
        kind = shown.get("type")
        if isinstance(kind, str) and kind.startswith("response."):
            self._kind = kind
            yield from self._response_event(kind, shown)
            self._note()
            return
        self._last = {k: v for k, v in event.items() if k not in ("choices", "usage")}
        for choice in _dicts(shown.get("choices")):
            self._chunk(choice)
        yield shown

    def end(self) -> Iterator[dict[str, Any]]:
        """End the stream: what was held back comes, and what was said is noted."""
        for key in list(self._pieces):
            rest = self._close(key)
            if rest and key[0] == "chat":
                _, index, place, name = key
                delta: dict[str, Any] = {name: rest}
                if name == "arguments":
                    delta = {_CALLS: [{"index": place, "function": delta}]}
                choice = {"index": index, "delta": delta, "finish_reason": None}
                if name == "completion":
                    choice = {"index": index, "text": rest, "finish_reason": None}
                yield {**self._last, "choices": [choice]}
            elif rest:
                _, kind, item, output, content = key
                where = {"item_id": item, "output_index": output}
                event = {"type": kind + _DELTA, **where, "content_index": content}
                yield {**event, "delta": rest}

    def _chunk(self, choice: dict[str, Any]) -> None:
        """Restore a piece of a choice; the last one takes what was held back."""
        index = choice.get("index", 0)
        is_last = choice.get("finish_reason") is not None
        if isinstance(choice.get("text"), str):
            choice["text"] = self._feed(
                ("chat", index, 0, "completion"), choice["text"]
            )
            if is_last:
                self._ended.add(index)
                choice["text"] += self._close(("chat", index, 0, "completion"))
            return
        delta = choice.get("delta")
        if not isinstance(delta, dict):
            delta = choice["delta"] = {}
        self._delta(index, delta)
        if is_last:
            self._close_choice(index, delta)

    def _delta(self, index: Any, delta: dict[str, Any]) -> None:
        self._look(delta, (*_list_texts(delta, _TEXTS), _CALLS), index)
        for name in _list_texts(delta, _TEXTS):
            delta[name] = self._feed(("chat", index, 0, name), delta[name])
        self._look({_CALLS: delta.get(_CALLS)}, (), index)
        for call in _dicts(delta.get(_CALLS)):
            function = call.get("function")
            key = ("chat", index, call.get("index", 0), "arguments")
            if isinstance(function, dict) and isinstance(
                function.get("arguments"), str
            ):
                function["arguments"] = self._feed(key, function["arguments"])

    def _close_choice(self, index: Any, delta: dict[str, Any]) -> None:
        self._ended.add(index)
        for key in [each for each in self._pieces if each[:2] == ("chat", index)]:
            rest, (_, _, place, name) = self._close(key), key
            if rest and name == "arguments":
                calls = delta.setdefault(_CALLS, [])
                calls.append({"index": place, "function": {"arguments": rest}})
            elif rest:
                delta[name] = (delta.get(name) or "") + rest

    def _response_event(
        self, kind: str, shown: dict[str, Any]
    ) -> Iterator[dict[str, Any]]:
        stem = kind.removesuffix(_DELTA).removesuffix(_DONE)
        where = ("item_id", "output_index", "content_index")
        key = ("response", stem, *(shown.get(name) for name in where))
        if stem in _STREAMED or "output_index" in shown:  # not every event is of one
            self._comes_next("outputs", shown.get("output_index"))
        self._look(shown, _list_read(kind, stem, shown))
        if stem in _STREAMED and kind.endswith(_DELTA):
            if isinstance(shown.get("delta"), str):
                shown["delta"] = self._feed(key, shown["delta"])
        elif stem in _STREAMED and kind.endswith(_DONE):
            if key in self._pieces and (rest := self._close(key)):
                yield {**_without_text(shown), "type": stem + _DELTA, "delta": rest}
            name = _STREAMED[stem]
            if isinstance(shown.get(name), str):
                form = "arguments" if name == "arguments" else "text"
                self._kind = _DONE
                shown[name] = self._run(form, shown[name], stem)
        self._part(shown.get("part"))
        self._item(shown.get("item"))
        self._output(shown.get("response"))
        yield shown

    def _feed(self, key: tuple[Any, ...], text: str) -> str:
        if key not in self._pieces:
            name = key[-1] if key[0] == "chat" else key[1]
            self._pieces[key] = self._begin(_find_form(key), _DELTA, name)
            if not self._is_in_order(key):
                self._pieces[key].keep()
        piece = self._pieces[key]
        if _find_form(key) == "text" and self._current is not piece:
            if self._current is not None:
                self._current.leave()
            self._current = piece
        return piece.feed(text)

    def _is_in_order(self, key: tuple[Any, ...]) -> bool:
        """Whether all that is shown before a text of a stream has come before it.

        If not, a link that begins in what is still to come may end in this text.
        """
        if key[0] == "chat":
            index = key[1]
            is_count = isinstance(index, int) and 0 <= index <= len(self._ended)
            return is_count and self._ended >= {*range(index)}
        _, stem, _, output, part = key
        return self._has_come("outputs", output) and self._comes_next(
            (stem, output), part
        )

    def _comes_next(self, group: Any, index: Any) -> bool:
        """Count an index of a group; tell whether those below it have come."""
        count, number = self._seen.get(group, 0), index or 0
        if number == count:
            self._seen[group] = count + 1
        return self._has_come(group, index)

    def _has_come(self, group: Any, index: Any) -> bool:
        number = index or 0
        return isinstance(number, int) and 0 <= number < self._seen.get(group, 0)

    def _close(self, key: tuple[Any, ...]) -> str:
        piece = self._pieces.pop(key, None)
        if piece is None:
            return ""
        rest = piece.end()
        self._noted.append((_find_form(key), piece))
        self._note()
        return rest


def _find_form(key: tuple[Any, ...]) -> str:
    return "arguments" if "arguments" in str(key[1]) + str(key[-1]) else "text"


def _list_texts(value: dict[str, Any], names: Collection[str]) -> list[str]:
    """List the names that have a text."""
    return [name for name in names if isinstance(value.get(name), str)]


def _list_read(kind: str, stem: str, event: dict[str, Any]) -> list[str]:
    """List the fields of an event of responses that are restored, or read later."""
    names = [n for n in ("item", "part", "response") if isinstance(event.get(n), dict)]
    text = _STREAMED.get(stem, "arguments")
    is_text = text != "arguments" and kind != stem
    name = "delta" if kind.endswith(_DELTA) else text
    return ["type", *names, *(_list_texts(event, [name]) if is_text else ())]


def _without_text(event: dict[str, Any]) -> dict[str, Any]:
    return {
        k: v for k, v in event.items() if k not in (*_STREAMED.values(), "logprobs")
    }


def _dicts(value: Any) -> list[dict[str, Any]]:
    return [x for x in value if isinstance(x, dict)] if isinstance(value, list) else []
