"""The address that LiteLLM asks about every request, its generic guardrail API."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Mapping
from typing import Any, Final

from fastapi import FastAPI, Request, Response

from mondegreen.errors import MondegreenError
from mondegreen.plugins import blame
from mondegreen.prompts.guard import PromptGuard
from mondegreen.prompts.rules import RefusedRequestError
from mondegreen.prompts.shown import private_inputs
from mondegreen.serve.answers import Refused
from mondegreen.serve.prompt_batcher import PromptBatcher

PATH: Final = "/beta/litellm_basic_guardrail_api"

_LOG: Final = logging.getLogger("mondegreen.serve")
_SENDS_ROWS: Final = (1, 106)
"""The version of LiteLLM that was seen to send the messages that a guard returns."""

_VERSION: Final = re.compile(r"(\d{1,4})\.(\d{1,6})\.")
_HIDDEN: Final = "[present]"  # what it shows of most headers


def add_guardrail(app: FastAPI, prompts: PromptBatcher) -> None:
    """Add the address; every failure is an answer that blocks the request.

    An error of HTTP would be another thing: told to ``fail_open``, LiteLLM sends the
    request as it came.

    Parameters
    ----------
    app : FastAPI
        The service.
    prompts : PromptBatcher
        Privatizes requests; answers pass.
    """

    @app.post(PATH, response_class=Response)
    async def guardrail(request: Request) -> Response:
        """Privatize what LiteLLM shows of a request; let answers pass."""
        try:
            shown = json.loads(await request.body())
            made = await prompts.run(lambda guard: _judge(guard, shown))
        except Refused as error:
            made = _block(error.detail)
        except MondegreenError as error:
            made = _block(str(error))
        except Exception as error:  # its message may quote a text
            _LOG.error("%s, in the guardrail", blame(error)[0])
            made = _block("the request could not be privatized")
        return Response(json.dumps(made), media_type="application/json")


def _judge(guard: PromptGuard, shown: Any) -> dict[str, Any]:
    if not isinstance(shown, dict):
        raise RefusedRequestError("", "must be an object")
    if shown.get("input_type") == "response":
        return {"action": "NONE"}
    if shown.get("input_type") != "request":
        raise RefusedRequestError("input_type", "must be request or response")
    version = _VERSION.match(str(shown.get("litellm_version")))
    rows_count = version is not None and (
        tuple(map(int, version.groups())) >= _SENDS_ROWS
    )
    made = private_inputs(guard, shown, _client(shown), rows_count=rows_count)
    return {"action": "GUARDRAIL_INTERVENED", **made}


def _client(shown: Mapping[str, Any]) -> str:
    """Who sends a request, as far as it is shown."""
    who, headers = shown.get("request_data") or {}, shown.get("request_headers") or {}
    conversation = headers.get("x-mondegreen-conversation")
    named = None if conversation == _HIDDEN else conversation
    fields = ("user_api_key_hash", "user_api_key_end_user_id")
    return json.dumps([*(who.get(name) for name in fields), named])


def _block(why: str) -> dict[str, Any]:
    return {"action": "BLOCKED", "blocked_reason": f"mondegreen: {why}"}
