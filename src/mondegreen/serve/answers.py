"""Answers of the service, and its refusals: JSON, and never a text of a request."""

from __future__ import annotations

import json
import logging
import traceback
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final, final

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from mondegreen.errors import MondegreenError, OutOfVocabularyError

LOG: Final = logging.getLogger("mondegreen.serve")

_SAYS: Final = {
    400: "the request cannot be read: its body must be JSON, in UTF-8",
    404: "there is no such address; GET /openapi.json lists those there are",
    405: "this address takes another method; GET /openapi.json says which",
    422: "the body is not what this address takes; GET /openapi.json says what is",
}


@final
class Refused(HTTPException):
    """A request that is not answered; ``says`` is ours and holds nothing of it."""

    def __init__(self, status: int, says: str, **headers: str) -> None:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        super().__init__(status, says, named)


def answer(value: dict[str, Any], status: int = 200) -> Response:
    """Make an answer of JSON values, in ASCII."""
    return as_json(json.dumps(value), status)


def as_json(body: str, status: int = 200) -> Response:
    """Make an answer of what is JSON already."""
    return Response(body, status, media_type="application/json")


def refusal(error: Exception) -> Response:
    """Say what is wrong, in words of ours alone."""
    if isinstance(error, Refused):
        found = answer({"error": error.detail}, error.status_code)
        found.headers.update(error.headers or {})
        return found
    if isinstance(error, HTTPException):
        status = error.status_code
        says = _SAYS.get(status) or HTTPStatus(status).phrase.lower()
        return answer({"error": says}, status)
    if isinstance(error, RequestValidationError):
        return answer({"error": _SAYS[422]}, 422)
    if isinstance(error, OutOfVocabularyError):
        says = "a text holds a word outside the vocabulary; none was released"
        return answer({"error": says}, 422)
    if isinstance(error, MondegreenError) and error.exit_code in (2, 3):
        return answer({"error": str(error)}, 422)
    if isinstance(error, ClientDisconnect):  # nobody reads this; it is counted
        return answer({"error": "the body did not arrive"}, 400)
    return _bug(error)


def _bug(error: Exception) -> Response:
    """Log where an error is, but not what it says: that may quote a text."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f"{frames[-1].name}, {Path(frames[-1].filename).name}:{frames[-1].lineno}"
    LOG.error("this is a bug: %s in %s; 500", type(error).__name__, where)
    return answer({"error": "an error of the service; nothing was released"}, 500)


async def on_error(request: Request, error: Exception) -> Response:
    """Handle what a framework raises, such as for an address that there is not."""
    return refusal(error)
