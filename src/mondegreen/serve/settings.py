"""What a service is started with: a privatizer, who may call, and how much at once."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, final

from mondegreen.errors import ConfigurationError, InvalidParameterError
from mondegreen.privatizer.privatizer import Privatizer
from mondegreen.serve.api_keys import ApiKeys

if TYPE_CHECKING:
    from mondegreen.prompts.guard import PromptGuard


@final
@dataclass(frozen=True, slots=True)
class Limits:
    """How much one request may ask for, and all of them together.

    Parameters
    ----------
    body : int
        Bytes of the body of a request, however it is sent.
    texts, words : int
        Texts of a request, and words of a text.
    seconds : float
        From the head of a request to the end of its answer.
    rate : float
        Requests a second for each API key, and for all callers where there are none;
        twice as many may come at once. 0: no limit. Each worker counts for itself.
    concurrent : int
        Requests in work at a time, in each worker; more are refused with status 503.
    """

    body: int = 4 << 20
    texts: int = 10_000
    words: int = 100_000
    seconds: float = 30.0
    rate: float = 0.0
    concurrent: int = 256

    def __post_init__(self) -> None:
        for each in fields(self):
            value = getattr(self, each.name)
            least = 0 if each.name == "rate" else 1
            if isinstance(value, bool) or not least <= value < math.inf:
                allowed = f"a number, at least {least}"
                raise InvalidParameterError(f"limit {each.name}", value, allowed)


@final
@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that a service needs to start; can be sent to another process.

    Parameters
    ----------
    privatizer : Privatizer
        Its noise is that of the service: fresh for every request, or keyed.
    api_keys : ApiKeys
        Who may call; with none, everybody who reaches the port.
    limits : Limits
        See there.
    guardrail : PromptGuard, optional
        Answers LiteLLM too, at ``/beta/litellm_basic_guardrail_api``.
    """

    privatizer: Privatizer
    api_keys: ApiKeys = field(default_factory=ApiKeys)
    limits: Limits = field(default_factory=Limits)
    guardrail: PromptGuard | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.privatizer, Privatizer):
            kind = type(self.privatizer).__name__
            raise InvalidParameterError("privatizer", kind, "a Privatizer")
        noise = self.privatizer.noise
        if not noise.is_secret:
            raise ConfigurationError(
                "a service takes no seeded noise: whoever knows the seed could undo "
                "what it released"
            )
