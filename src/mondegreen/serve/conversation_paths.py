"""Conversations of the service: hide texts, restore answers, forget."""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar, final

from anyio import CapacityLimiter, to_thread
from fastapi import FastAPI, Request, Response

from mondegreen.prompts.conversation_file import ConversationFile
from mondegreen.prompts.conversation_guard import ConversationGuard
from mondegreen.prompts.conversations import Conversations, UnknownConversationError
from mondegreen.serve.answers import LOG, Refused, answer
from mondegreen.serve.batcher import count_words
from mondegreen.serve.forms import PrivatizeRequest, RestoreAnswer, RestoreRequest, read
from mondegreen.serve.gate import key_in
from mondegreen.serve.limits import Limits
from mondegreen.serve.prompt_batcher import check_texts

PATH: Final = "/v1/conversations/{token}"

_ADVICE: Final = (
    "Nothing was released. Begin another one: POST /v1/privatize with scope: "
    "conversation and without the field conversation. Its token is in the answer."
)
_NONE: Final = "Conversations need a service with one worker: use --workers 1."
_Value = TypeVar("_Value")


@final
class ServiceConversations:
    """Answers requests of conversations; without a guard, refuses them.

    Parameters
    ----------
    guard : ConversationGuard, optional
        Begins conversations.
    limits : Limits
        Of one request.
    file : ConversationFile, optional
        Keeps conversations over restarts.
    count : callable, optional
        Told the texts and words that were hidden.

    Attributes
    ----------
    kept : Conversations or None
        None without a guard.
    """

    def __init__(
        self,
        guard: ConversationGuard | None,
        limits: Limits,
        file: ConversationFile | None = None,
        count: Callable[[int, int], None] = lambda texts, words: None,
    ) -> None:
        self._guard, self._limits, self._count = guard, limits, count
        self.kept = (
            None
            if guard is None
            else Conversations(guard.begin, advice=_ADVICE, file=file)
        )
        if file is not None and file.lost:
            LOG.warning("%d conversations of the file are unreadable", file.lost)
        self._threads = CapacityLimiter(limits.concurrent)

    def takes(self, form: PrivatizeRequest) -> bool:
        """Whether texts belong to a conversation."""
        if form.scope == "conversation":
            return True
        if form.conversation is not None:
            raise Refused(422, "field", "conversation needs scope: conversation")
        return False

    async def hide(self, form: PrivatizeRequest, request: Request) -> Response:
        """Hide texts in a new conversation, or in that of the request."""
        kept, owner = self._conversations(), _owner(request)
        if form.ids is not None:
            raise Refused(
                422, "field", "ids cannot be combined with scope conversation"
            )
        texts = [each for each in form.texts if each is not None]
        await self._run(lambda: check_texts(texts, self._limits))
        token, dialog = kept.open(form.conversation, owner)
        conversation = dialog.conversation

        def hide() -> list[str | None]:
            found = [
                None if each is None else conversation.hide(each) for each in form.texts
            ]
            kept.keep(token)
            self._count(len(texts), count_words(texts))
            return found

        try:
            hidden = await self._run(hide)
        except BaseException:  # a time limit too; nobody learns the token then
            if form.conversation is None:
                with contextlib.suppress(UnknownConversationError):
                    kept.delete(token, owner)
            raise
        stated = {"mechanism": "surrogates", "lines": conversation.guarantee}
        return answer({"texts": hidden, "guarantee": stated, "conversation": token})

    async def restore(self, request: Request) -> Response:
        """Put the originals of a conversation back."""
        form = read(RestoreRequest, await request.body())
        kept = self._conversations()
        texts = [each for each in form.texts if each is not None]
        await self._run(lambda: check_texts(texts, self._limits))
        token, dialog = kept.open(form.conversation, _owner(request))

        def show(text: str | None) -> str | None:
            if text is None:
                return None
            return dialog.conversation.restore(text, is_json=form.json_texts)

        def restore() -> list[str | None]:
            kept.keep(token)  # the time of its last request
            return list(map(show, form.texts))

        return answer({"texts": await self._run(restore)})

    async def delete(self, token: str, request: Request) -> Response:
        """Forget a conversation."""
        self._conversations().delete(token, _owner(request))
        return Response(status_code=204)

    def _conversations(self) -> Conversations:
        if self.kept is None:
            raise Refused(422, "conversation", _NONE)
        return self.kept

    async def _run(self, work: Callable[[], _Value]) -> _Value:
        # A detector may hang: the answer is that of the gate then.
        made: _Value = await to_thread.run_sync(
            work, limiter=self._threads, abandon_on_cancel=True
        )
        return made


def add_conversations(
    app: FastAPI,
    found: ServiceConversations,
    takes: Callable[[type[Any], type[Any]], Mapping[str, Any]],
) -> None:
    """Add the paths that restore and forget."""

    @app.post("/v1/restore", **takes(RestoreRequest, RestoreAnswer))
    async def restore(request: Request) -> Response:
        """Put the originals of a conversation back into texts."""
        return await found.restore(request)

    @app.delete(PATH, status_code=204, response_class=Response)
    async def delete(token: str, request: Request) -> Response:
        """Forget a conversation."""
        return await found.delete(token, request)


def _owner(request: Request) -> str:
    """Digest the API key: nobody else may use its conversations."""
    data = json.dumps(key_in(request.scope).decode("latin-1")).encode()
    return hashlib.blake2b(data, digest_size=32).hexdigest()
