"""A guard in the process of LiteLLM's proxy, which sees whole requests."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar, Final, Literal, NoReturn, TypeVar, final

import mondegreen as mg
from mondegreen.errors import (
    ConfigurationError,
    MondegreenError,
    OptionalDependencyError,
)
from mondegreen.integrations.options import build_with_options
from mondegreen.prompts.guard import PromptGuard
from mondegreen.prompts.shown import private_inputs

try:
    from fastapi import HTTPException
    from litellm.integrations.custom_guardrail import CustomGuardrail
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
# Fields that LiteLLM itself adds, of which it sends none; ``metadata`` is one unless
# there is the other one.
_ITS_OWN: Final = frozenset(
    "litellm_call_id litellm_logging_obj litellm_metadata "
    "proxy_server_request request_timeout secret_fields".split()
)
_ITS_FLAGS: Final = frozenset({"_litellm_strip_stream_usage"})
_GUARD: Final = ("public_roles", "models", "fresh")
_NOT_POSSIBLE: Final = ("run_in_parallel", "scan_raw_request", "only_scan_new_messages")
_Value = TypeVar("_Value")


@final
class MondegreenGuardrail(CustomGuardrail):
    """Privatizes every request to a language model, and lets answers pass.

    Parameters
    ----------
    mondegreen : mapping or PromptGuard
        Settings, as under ``litellm_params`` of a configuration: ``epsilon``, and if
        wanted other fields of ``mondegreen.settings.Settings``; ``spec``, what
        ``Privatizer.to_dict`` returns, instead of these; ``key_env`` or
        ``key_file`` for keyed noise, which several processes of LiteLLM need;
        ``public`` (a list or a file of one), ``public_roles``, ``models`` and ``fresh``
        of :class:`PromptGuard`.
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
    a client cannot turn it off. A kind of call that cannot be read is refused.
    """

    # Else LiteLLM shows it texts alone, and does not ask about images and tokens.
    use_native_lifecycle_hooks: ClassVar[bool] = True

    def __init__(
        self, mondegreen: Mapping[str, Any] | PromptGuard, **options: Any
    ) -> None:
        if not hasattr(CustomGuardrail, "use_native_lifecycle_hooks"):
            raise ConfigurationError(
                "this version of LiteLLM asks guards about texts alone, and lets other "
                "requests pass: take 1.106 or later"
            )
        for name in _NOT_POSSIBLE:
            if options.get(name):
                raise ConfigurationError(f"{name}: such a guard changes no request")
        self._guard = (
            mondegreen if isinstance(mondegreen, PromptGuard) else _guard_of(mondegreen)
        )
        self._lock = threading.Lock()
        before = GuardrailEventHooks.pre_call
        always = {"default_on": True, "supported_event_hooks": [before]}
        super().__init__(**{**options, **always, "event_hook": before})

    def should_run_guardrail(self, data: Any, event_type: Any) -> bool:
        return bool(event_type == GuardrailEventHooks.pre_call)

    async def async_pre_call_hook(
        self, user_api_key_dict: Any, cache: Any, data: dict[str, Any], call_type: str
    ) -> dict[str, Any]:
        """Put the private form of a request in its place."""
        kind = _KINDS.get(str(getattr(call_type, "value", call_type)))
        if kind is None:
            _block("calls of this kind cannot be read; nothing was sent")
        own = _ITS_OWN | ({"metadata"} if "litellm_metadata" not in data else set())
        own |= {name for name in _ITS_FLAGS if isinstance(data.get(name), bool)}
        body = {name: each for name, each in data.items() if name not in own}
        request = data.get("proxy_server_request") or {}
        client = json.dumps(
            [
                getattr(user_api_key_dict, "api_key", None),
                (request.get("headers") or {}).get("x-mondegreen-conversation"),
            ]
        )
        made = await self._run(lambda: self._guard.request(str(kind), body, client))
        for name in body:
            del data[name]
        data.update(made)
        _forget(data, made)
        return data

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
        made = await self._run(lambda: private_inputs(self._guard, inputs))
        return {**inputs, **made}

    async def _run(self, work: Callable[[], _Value]) -> _Value:
        """Work in another thread, one at a time; every error blocks the request."""

        def alone() -> _Value:
            with self._lock:
                return work()

        try:
            return await asyncio.to_thread(alone)
        except MondegreenError as error:
            _block(str(error))
        except Exception as error:  # its message may quote a text
            kind = type(error).__name__
            _block(f"the request could not be privatized ({kind})", 500)


def _block(why: str, status: int = 400) -> NoReturn:
    raise HTTPException(status, {"error": f"mondegreen: {why}"}) from None


def _forget(data: dict[str, Any], made: Mapping[str, Any]) -> None:
    """Take the texts out of the copies of the request that LiteLLM keeps for logs."""
    request = data.get("proxy_server_request")
    if isinstance(request, dict):
        request["body"] = dict(made)
    for name in ("metadata", "litellm_metadata"):
        kept = data.get(name)
        if not isinstance(kept, dict):
            continue
        sent = kept.get("requester_metadata")
        if isinstance(sent, dict):
            for each in sent.keys() - {"headers"}:
                kept.pop(each, None)
            kept["requester_metadata"] = {}


def _guard_of(settings: Mapping[str, Any]) -> PromptGuard:
    """Build a guard from settings as a configuration holds them."""
    given = dict(settings)
    key_env, key_file = given.pop("key_env", None), given.pop("key_file", None)
    if key_env and key_file:
        raise ConfigurationError("key_env and key_file exclude each other")
    noise = mg.KeyedNoise.from_env(key_env) if key_env else None
    noise = mg.KeyedNoise.from_file(key_file) if key_file else noise
    public = given.pop("public", ())
    if isinstance(public, str):
        public = json.loads(Path(public).read_text(encoding="utf-8"))
    for_guard = {name: given.pop(name) for name in _GUARD if name in given}
    return PromptGuard(build_with_options(given, noise), public=public, **for_guard)
