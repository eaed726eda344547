"""What a service is started with: a privatizer, who may call, and how much at once."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, final

from mondegreen.errors import ConfigurationError, InvalidParameterError
from mondegreen.privatizer.privatizer import Privatizer
from mondegreen.serve.api_keys import ApiKeys
from mondegreen.serve.limits import Limits

if TYPE_CHECKING:
    from mondegreen.prompts.conversation_file import ConversationFile
    from mondegreen.prompts.conversation_guard import ConversationGuard
    from mondegreen.prompts.guard import PromptGuard


@final
@dataclass(frozen=True, slots=True)
class ServiceSettings:
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
    conversations : ConversationGuard, optional
        Hides and restores texts of conversations, which one process keeps in memory.
    conversation_file : ConversationFile, optional
        Keeps them over restarts.
    """

    privatizer: Privatizer
    api_keys: ApiKeys = field(default_factory=ApiKeys)
    limits: Limits = field(default_factory=Limits)
    guardrail: PromptGuard | None = None
    conversations: ConversationGuard | None = None
    conversation_file: ConversationFile | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.privatizer, Privatizer):
            kind = type(self.privatizer).__name__
            raise InvalidParameterError("privatizer", kind, "a Privatizer")
        noise = self.privatizer.noise
        if not noise.is_secret:
            raise ConfigurationError(
                "A service cannot use seeded noise: anyone who knows the seed can "
                "undo the release."
            )
