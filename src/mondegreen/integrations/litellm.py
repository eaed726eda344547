"""A guard in the process of LiteLLM's proxy, which sees whole requests."""

from __future__ import annotations

import asyncio
import json
import math
import re
import secrets
import threading
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Final, Literal, NoReturn, TypeVar, final

import mondegreen as mg
from mondegreen.errors import (
    ConfigurationError,
    DetectorError,
    MondegreenError,
    OptionalDependencyError,
)
from mondegreen.integrations.detectors import (
    add_detector,
    choose_detector,
)
from mondegreen.integrations.options import build_with_options
from mondegreen.prompts.answers import AnswerRestorer
from mondegreen.prompts.conversation import conversation_settings
from mondegreen.prompts.conversation_guard import ConversationGuard
from mondegreen.prompts.conversations import HEADER, Conversations
from mondegreen.prompts.guard import PromptGuard
from mondegreen.prompts.shown import private_inputs
from mondegreen.settings import Settings

try:
    import litellm
    from fastapi import HTTPException
    from litellm.integrations.custom_guardrail import CustomGuardrail
    from litellm.litellm_core_utils.litellm_logging import Logging
    from litellm.proxy._types import UserAPIKeyAuth
    from litellm.types.guardrails import GuardrailEventHooks
except ModuleNotFoundError as error:
    raise OptionalDependencyError.from_import(error) or error from None

# What LiteLLM calls the requests that can be read.
_KINDS: Final = {
    f"{a}{name}": kind
    for a in ("", "a")
    for name, kind in {
        "completion": "chat/completions",
        "text_completion": "completions",
        "embedding": "embeddings",
        "responses": "responses",
    }.items()
}
# Fields that LiteLLM adds to a request. It reads them itself and sends none, but some
# models receive what stands in them: a session id, a call id, a time limit.
_ITS_OWN: Final = frozenset(
    "litellm_call_id litellm_logging_obj litellm_metadata litellm_session_id "
    "litellm_trace_id proxy_server_request request_timeout secret_fields "
    "_litellm_strip_stream_usage".split()
)
_ITS_REQUEST: Final = ("method", "arrival_time", "credential_fields")
# What LiteLLM writes into its metadata from its own settings and keys, over what a
# client has put there. All else may be a client's, and is deleted: models receive
# user_id (Anthropic), session_id (Fireworks), requester_metadata (Vertex, OpenAI),
# and spend_logs_metadata (Bedrock).
_ITS_METADATA: Final = frozenset(
    "_guardrail_pipelines _pipeline_managed_guardrails _pre_call_executed_guardrails "
    "actor_agent_id agent_execution_mode applied_guardrails applied_policies "
    "billing_agent_id global_max_parallel_requests inherited_tags litellm_api_version "
    "litellm_parent_otel_span litellm_received_at litellm_roi_estimator "
    "llm_api_timing_windows policy_sources queue_time_seconds target_agent_id "
    "used_client_oauth_token user_api_end_user_max_budget user_api_key "
    "user_api_key_alias user_api_key_auth user_api_key_auth_metadata "
    "user_api_key_budget_reservation user_api_key_budget_reset_at "
    "user_api_key_end_user_model_max_budget user_api_key_hash user_api_key_max_budget "
    "user_api_key_metadata user_api_key_model_max_budget "
    "user_api_key_object_permission_id user_api_key_org_alias user_api_key_org_id "
    "user_api_key_project_alias user_api_key_project_id user_api_key_request_route "
    "user_api_key_spend user_api_key_team_alias user_api_key_team_id "
    "user_api_key_team_max_budget user_api_key_team_metadata "
    "user_api_key_team_model_max_budget user_api_key_team_object_permission_id "
    "user_api_key_team_spend user_api_key_user_email user_api_key_user_id "
    "user_api_key_user_max_budget user_api_key_user_model_max_budget "
    "user_api_key_user_spend verified_human_user_id".split()
)
# It tells a call that a guard of this process has seen from others.
_MARK: Final = {"mondegreen_guard": secrets.token_hex(16)}
_CALL_ID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_LONGEST_SECONDS: Final = 86_400
_GUARD: Final = ("public_roles", "models", "fresh")
_NOT_POSSIBLE: Final = ("run_in_parallel", "scan_raw_request", "only_scan_new_messages")
_ANSWER: Final = "mondegreen_answer"
"""Under which the metadata of a call names what restores its answer."""

_MOST_ANSWERS: Final = 10_000
_SECONDS: Final = 30.0
"""For the texts of a request to be privatized, as in the proxy."""

_Value = TypeVar("_Value")


@final
@dataclass(frozen=True, slots=True, repr=False)
class _Answer:
    """What restores the answer to one call, and the token of its conversation."""

    token: str
    restorer: AnswerRestorer


@final
class MondegreenGuardrail(CustomGuardrail):
    """Privatizes every request to a language model, and lets answers pass.

    With ``restore: true`` it hides sensitive words behind surrogates instead, and puts
    the originals back into answers, whole and streamed. The header
    ``x-mondegreen-conversation`` of an answer names the conversation: clients send it
    back with the next request. One process keeps the words in memory, for an hour after
    the last request. They leave it with the first request after that time, so an idle
    process keeps them longer. The maps of the last 10,000 answers stay too.

    Parameters
    ----------
    mondegreen : mapping or PromptGuard
        Settings, as under ``litellm_params`` of a configuration: ``epsilon``, and if
        wanted other fields of ``mondegreen.settings.Settings``; ``spec``, what
        ``Privatizer.to_dict`` returns, instead of these; ``key_env`` or
        ``key_file`` for keyed noise, which several processes of LiteLLM need;
        ``public`` (a list or a file of one), ``public_roles``, ``models`` and ``fresh``
        of :class:`PromptGuard`; ``detect: presidio`` and ``detect_model``, as of
        ``mondegreen proxy``. With ``restore``, no key and no ``fresh``, but
        ``restore_in_links`` and ``restore_in_tools``; ``epsilon`` may be absent.
    **options
        What LiteLLM passes to every guard.

    Raises
    ------
    ConfigurationError
        If LiteLLM is told to run it beside the request, where a guard can change
        nothing.

    Notes
    -----
    It runs before every call, whatever a request or a configuration says of the mode:
    a client cannot turn it off. A kind of call that cannot be read is refused. A call
    that LiteLLM does not show to guards finds no model, unless the client names one
    deployment by its id.
    """

    # Else LiteLLM shows it texts alone, and does not ask about images and tokens.
    use_native_lifecycle_hooks: ClassVar[bool] = True

    def __init__(
        self,
        mondegreen: Mapping[str, Any] | PromptGuard | ConversationGuard,
        **options: Any,
    ) -> None:
        if not hasattr(CustomGuardrail, "use_native_lifecycle_hooks"):
            raise ConfigurationError(
                "this version of LiteLLM shows guards only texts and lets other "
                "requests pass. Install 1.106 or later"
            )
        for name in _NOT_POSSIBLE:
            if options.get(name):
                raise ConfigurationError(
                    f"{name}: with this option, a guard cannot change requests"
                )
        guard = mondegreen
        if isinstance(guard, Mapping):
            build = _build_restoring_guard if guard.get("restore") else _build_guard
            guard = build(guard)
        self._guard = guard
        self._kept: Conversations | None = None
        self._answers: OrderedDict[str, _Answer] = OrderedDict()
        self._lock = threading.Lock()  # of threads; the loop never waits for it
        self._events = [GuardrailEventHooks.pre_call]
        if isinstance(guard, ConversationGuard):
            self._kept = Conversations(guard.begin)
            self._events.append(GuardrailEventHooks.post_call)
        always = {"default_on": True, "supported_event_hooks": self._events}
        super().__init__(**{**options, **always, "event_hook": self._events})

    def should_run_guardrail(self, data: Any, event_type: Any) -> bool:
        return event_type in self._events

    async def async_pre_call_hook(
        self, user_api_key_dict: Any, cache: Any, data: dict[str, Any], call_type: str
    ) -> dict[str, Any]:
        """Put the private form of a request in its place."""
        kind = _KINDS.get(str(getattr(call_type, "value", call_type)))
        if kind is None:
            _block("calls of this kind cannot be read; nothing was sent")
        where = "litellm_metadata" if "litellm_metadata" in data else "metadata"
        own = {name: data[name] for name in _ITS_OWN | {where} if name in data}
        body = {name: each for name, each in data.items() if name not in own}
        request = data.get("proxy_server_request") or {}
        token = (request.get("headers") or {}).get(HEADER)
        owner = getattr(user_api_key_dict, "api_key", None)

        def make() -> tuple[dict[str, Any], _Answer | None]:
            guard = self._guard
            if isinstance(guard, PromptGuard):
                return guard.request(str(kind), body, json.dumps([owner, token])), None
            return self._hide(guard, str(kind), body, token, json.dumps(owner))

        made, answer = await self._privatize(make)
        kept = _keep({where: {}, **own}, made)
        kept[where] |= _MARK
        if answer is not None:
            kept[where][_ANSWER] = self._expect(answer)
        data.clear()
        data.update(made | kept)
        return data

    def _hide(
        self,
        guard: ConversationGuard,
        kind: str,
        body: Mapping[str, Any],
        token: str | None,
        owner: str,
    ) -> tuple[dict[str, Any], _Answer | None]:
        if self._kept is None:
            raise ConfigurationError("this guard does not keep conversations")
        token, dialog = self._kept.open(token, owner)
        made, restorer = guard.request(kind, body, dialog)
        self._kept.keep(token)
        return made, _Answer(token, restorer)

    def _expect(self, answer: _Answer) -> str:
        """Keep what restores an answer, under a random name."""
        name = secrets.token_hex(16)
        self._answers[name] = answer
        while len(self._answers) > _MOST_ANSWERS:
            self._answers.popitem(last=False)
        return name

    def _answer_to(self, data: Mapping[str, Any] | None) -> _Answer | None:
        """Find what restores the answer to a call."""
        given = data or {}
        for where in ("metadata", "litellm_metadata"):
            found = given.get(where)
            if isinstance(found, Mapping) and _ANSWER in found:
                return self._answers.get(str(found[_ANSWER]))
        return None

    async def async_post_call_success_hook(
        self, data: dict[str, Any], user_api_key_dict: Any, response: Any
    ) -> Any:
        """Put the originals back into an answer."""
        answer = self._answer_to(data)
        if answer is None or not hasattr(response, "model_dump"):
            return response

        def restore() -> Any:
            said = response.model_dump()
            return _with_texts(response, said, answer.restorer.whole(said))

        return await _run(restore)

    async def async_post_call_streaming_iterator_hook(
        self, user_api_key_dict: Any, response: Any, request_data: dict[str, Any]
    ) -> AsyncIterator[Any]:
        """Put the originals back into the events of an answer, as they come."""
        answer = self._answer_to(request_data)
        last: Any = None
        async for chunk in response:
            if answer is None or not hasattr(chunk, "model_dump"):
                yield chunk
                continue
            last, said = chunk, chunk.model_dump()
            *before, shown = answer.restorer.event(said)
            for each in before:
                yield type(chunk)(**each)
            yield _with_texts(chunk, said, shown)
        if answer is not None:
            for each in answer.restorer.end():
                yield type(last)(**each)

    async def async_post_call_response_headers_hook(
        self, data: dict[str, Any], *given: Any, **more: Any
    ) -> dict[str, str] | None:
        """Name the conversation, which a client sends back."""
        answer = self._answer_to(data)
        return None if answer is None else {HEADER: answer.token}

    async def async_filter_deployments(
        self,
        model: str,
        healthy_deployments: list[Any],
        messages: Any,
        request_kwargs: dict[str, Any] | None = None,
        parent_otel_span: Any = None,
    ) -> list[Any]:
        """Find no model for a call that this guard has not seen.

        LiteLLM counts tokens at the model that a client names, with the text of the
        client, and asks no guard.
        """
        given = request_kwargs or {}
        found = (given.get(name) for name in ("metadata", "litellm_metadata"))
        if any(isinstance(x, dict) and _MARK.items() <= x.items() for x in found):
            return healthy_deployments
        _block("calls of this kind ask no guard; nothing was sent")

    async def apply_guardrail(
        self,
        inputs: Mapping[str, Any],
        request_data: Mapping[str, Any],
        input_type: Literal["request", "response"],
        logging_obj: Any = None,
    ) -> dict[str, Any]:
        """Privatize what is shown of a request; let an answer pass."""
        if input_type == "response":
            return dict(inputs)
        guard = self._guard
        if not isinstance(guard, PromptGuard):
            _block("calls of this kind are not restored; nothing was sent")
        made = await self._privatize(lambda: private_inputs(guard, inputs))
        return {**inputs, **made}

    async def _privatize(self, work: Callable[[], _Value]) -> _Value:
        """Work in another thread, one at a time, within the time of a request.

        A detector may hang. Requests behind it are blocked in time, and their threads
        end.
        """

        def alone() -> _Value:
            if not self._lock.acquire(timeout=_SECONDS):
                raise TimeoutError
            try:
                return work()
            finally:
                self._lock.release()

        try:
            async with asyncio.timeout(_SECONDS):
                return await _run(alone)
        except TimeoutError:
            says = f"the request could not be privatized within {_SECONDS:g} s"
            _block(f"{says}; nothing was sent", 503)


async def _run(work: Callable[[], _Value]) -> _Value:
    """Work in another thread; every error blocks the request."""
    try:
        return await asyncio.to_thread(work)
    except TimeoutError:
        raise
    except DetectorError as error:
        _block(str(error), 500)
    except MondegreenError as error:
        _block(str(error))
    except Exception as error:  # its message may quote a text
        kind = type(error).__name__
        _block(f"the request could not be privatized ({kind})", 500)


def _block(why: str, status: int = 400) -> NoReturn:
    raise HTTPException(status, {"error": f"mondegreen: {why}"}) from None


def _keep(own: Mapping[str, Any], made: Mapping[str, Any]) -> dict[str, Any]:
    """What LiteLLM itself needs for a call, and no word of the client."""
    keep: dict[str, Callable[[Any], Any]] = {
        "metadata": _its_metadata,
        "litellm_metadata": _its_metadata,
        "litellm_call_id": _call_id,
        "litellm_logging_obj": lambda each: each if isinstance(each, Logging) else None,
        "proxy_server_request": lambda each: _its_request(each, made),
        "request_timeout": _seconds,
        "_litellm_strip_stream_usage": lambda each: each is True,
    }
    return {name: keep[name](each) for name, each in own.items() if name in keep}


def _call_id(value: object) -> str:
    if not isinstance(value, str) or not _CALL_ID.fullmatch(value):
        _block("header x-litellm-call-id: must be a UUID; nothing was sent")
    return value


def _seconds(value: object) -> int:
    if not isinstance(value, int | float) or not 0 < value <= _LONGEST_SECONDS:
        _block("request_timeout: must be seconds, at most a day; nothing was sent")
    return math.ceil(value)


def _its_request(given: object, made: Mapping[str, Any]) -> dict[str, Any]:
    """What LiteLLM keeps of the request for logs, in its private form."""
    known = given if isinstance(given, Mapping) else {}
    kept = {name: known[name] for name in _ITS_REQUEST if name in known}
    url = str(known.get("url", "")).partition("?")[0]
    return {**kept, "url": url, "headers": {}, "body": dict(made)}


def _its_metadata(given: object) -> dict[str, Any]:
    """Keep what LiteLLM wrote: also the tags of its keys, the names of its guards."""
    known = given if isinstance(given, Mapping) else {}
    kept = {name: value for name, value in known.items() if name in _ITS_METADATA}
    if isinstance(auth := kept.get("user_api_key_auth"), UserAPIKeyAuth):
        kept["user_api_key_auth"] = auth.model_copy(update={"end_user_id": None})
    guards = (each for each in litellm.callbacks if isinstance(each, CustomGuardrail))
    names = [each.guardrail_name for each in guards]
    kept["guardrails"] = [x for x in names if _is_named(x, known.get("guardrails"))]
    kept["tags"] = list(known.get("inherited_tags") or ())
    kept["requester_metadata"] = {}
    return kept


def _is_named(name: str | None, guards: object) -> bool:
    """Whether a list of guards has this one: as a name, or an object with its name."""
    many = guards if name and isinstance(guards, list) else []
    return any(name in x if isinstance(x, Mapping) else name == x for x in many)


def _with_texts(value: Any, said: Any, shown: Any) -> Any:
    """Put what changed from ``said`` to ``shown`` into an object of LiteLLM."""
    if said == shown:
        return value
    if isinstance(shown, dict) and isinstance(said, dict):
        for name, each in shown.items():
            mine = value[name] if isinstance(value, dict) else getattr(value, name)
            found = _with_texts(mine, said.get(name), each)
            if isinstance(value, dict):
                value[name] = found
            else:
                setattr(value, name, found)
        return value
    if isinstance(shown, list) and isinstance(said, list) and len(said) == len(shown):
        return list(map(_with_texts, value, said, shown))
    return shown


def _build_restoring_guard(settings: Mapping[str, Any]) -> ConversationGuard:
    """Build a guard that restores from settings as a configuration holds them."""
    given = {name: value for name, value in settings.items() if name != "restore"}
    in_links = bool(given.pop("restore_in_links", False))
    in_tools = bool(given.pop("restore_in_tools", False))
    for name in ("key_env", "key_file", "fresh", "spec"):
        if given.pop(name, None):
            raise ConfigurationError(
                f"{name} cannot be combined with restore: leave it out"
            )
    public = _read_public(given.pop("public", ()))
    names = ("public_roles", "models")
    for_guard = {name: given.pop(name) for name in names if name in given}
    detect, model = _take_detector(given)
    chosen = conversation_settings(Settings.from_dict(given))
    return ConversationGuard(
        chosen,
        public=public,
        in_links=in_links,
        in_tools=in_tools,
        detector=choose_detector(detect, model, chosen["policy"]),
        **for_guard,
    )


def _take_detector(given: dict[str, Any]) -> tuple[str, str | None]:
    """Take the detector out of settings: its name, and that of a model."""
    return given.pop("detect", None) or "none", given.pop("detect_model", None)


def _read_public(public: Any) -> Any:
    if isinstance(public, str):
        return json.loads(Path(public).read_text(encoding="utf-8"))
    return public


def _build_guard(settings: Mapping[str, Any]) -> PromptGuard:
    """Build a guard from settings as a configuration holds them."""
    given = {name: value for name, value in settings.items() if name != "restore"}
    key_env, key_file = given.pop("key_env", None), given.pop("key_file", None)
    if key_env and key_file:
        raise ConfigurationError("key_env and key_file cannot be combined")
    noise = mg.KeyedNoise.from_env(key_env) if key_env else None
    noise = mg.KeyedNoise.from_file(key_file) if key_file else noise
    public = _read_public(given.pop("public", ()))
    for_guard = {name: given.pop(name) for name in _GUARD if name in given}
    detect, model = _take_detector(given)
    privatizer = build_with_options(given, noise)
    detector = choose_detector(detect, model, privatizer.settings.policy)
    privatizer = add_detector(privatizer, detector)
    return PromptGuard(privatizer, public=public, **for_guard)
