"""Refusals: a status, a reason to count, and words that hold no text of a request."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final, Literal, final

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from mondegreen.errors import DetectorError, MondegreenError, OutOfVocabularyError
from mondegreen.plugins import blame
from mondegreen.prompts.conversation_file import ConversationFileError
from mondegreen.prompts.conversations import UnknownConversationError
from mondegreen.prompts.rules import RefusedRequestError

LOG: Final = logging.getLogger("mondegreen.serve")

Reason = Literal[
    "address", "audit", "body", "bug", "busy", "bytes", "conversation",
    "detector", "disconnected", "dry_run", "field", "host", "key",
    "late", "media_type", "method", "path", "rate", "slow", "texts", "upstream",
    "words",
]  # fmt: skip
"""Why a request is refused, as metrics count it."""

_NO_FILE: Final = (
    "The file of conversations cannot be read or written. Nothing was sent."
)
HALF: Final = (
    "The body holds half of a surrogate pair, an escape from \\ud800 to \\udfff: a "
    "character needs both halves."
)
NOT_JSON: Final = "The body must be JSON, in UTF-8."


@final
class Refused(HTTPException):
    """A request that is not answered; ``says`` is ours and holds nothing of it.

    ``codes`` are fields that clients of a language model read beside the message.
    """

    def __init__(
        self,
        status: int,
        reason: Reason,
        says: str,
        headers: Mapping[str, str] | None = None,
        **codes: str,
    ) -> None:
        super().__init__(status, says, dict(headers or {}))
        self.reason, self.codes = reason, codes


def answer(value: dict[str, Any], status: int = 200) -> Response:
    """Make an answer of JSON values, in ASCII."""
    return as_json(json.dumps(value), status)


def as_json(body: str, status: int = 200) -> Response:
    """Make an answer of what is JSON already."""
    return Response(body, status, media_type="application/json")


def error_answer(refused: Refused) -> Response:
    """Write a refusal as the service does."""
    found = answer({"error": refused.detail}, refused.status_code)
    found.headers.update(refused.headers or {})
    return found


def find_refusal(error: Exception) -> Refused:
    """Say what is wrong, in words of ours alone."""
    if isinstance(error, Refused):
        return error
    if isinstance(error, RefusedRequestError):
        return Refused(400, error.reason, str(error), param=error.path)
    if isinstance(error, UnknownConversationError):
        return Refused(404, "conversation", str(error), code="unknown_conversation")
    if isinstance(error, ConversationFileError):
        LOG.error("%s; 503", error)
        return Refused(503, "conversation", _NO_FILE)
    if isinstance(error, ClientDisconnect):  # nobody reads this; it is counted
        return Refused(400, "disconnected", "The client closed the connection.")
    if isinstance(error, HTTPException):
        status = error.status_code
        says = NOT_JSON if status == 400 else HTTPStatus(status).phrase
        return Refused(status, "body", says)
    if isinstance(error, MondegreenError):
        return _refuse_own(error)
    return _bug(error)


def _refuse_own(error: MondegreenError) -> Refused:
    """Say what is wrong by an error of this package."""
    if isinstance(error, OutOfVocabularyError):
        says = "a text has a word outside the vocabulary. Nothing was released"
        return Refused(422, "field", says)
    if isinstance(error, DetectorError):
        LOG.error("%s; 500", error)
        return Refused(500, "detector", str(error))
    if error.exit_code in (2, 3):
        return Refused(422, "field", str(error))
    return _bug(error)


def _bug(error: Exception) -> Refused:
    """Log where an error is, but not what it says: that may quote a text."""
    LOG.error("%s; 500", blame(error)[0])
    return Refused(500, "bug", "An internal error occurred. Nothing was released.")


async def raise_again(request: Request, error: Exception) -> Response:
    """Hand what a framework raises to the gate, which answers and counts it."""
    raise error
