"""What stands before a language model in conversations that are restored."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, final

from mondegreen.errors import (
    ConfigurationError,
    DataError,
    InvalidParameterError,
    MondegreenError,
)
from mondegreen.policy.detection import Detector
from mondegreen.policy.sealing import seal, unseal
from mondegreen.prompts.answers import AnswerRestorer
from mondegreen.prompts.conversation import Conversation
from mondegreen.prompts.guard import PUBLIC_ROLES, public_values
from mondegreen.prompts.messages import find_disclosed_form
from mondegreen.prompts.rules import (
    ASSISTANT,
    USER,
    Walk,
    canonical,
    fill,
)
from mondegreen.prompts.store_search import StoreSearch, find_rule
from mondegreen.prompts.turns import Turns

_LENGTH: Final = 8  # bytes of the length of a part
_JSON: Final = ("json_object", "json_schema")


@final
@dataclass(frozen=True, slots=True, repr=False)
class Dialog:
    """One conversation with a language model: its words, and what the model said."""

    conversation: Conversation
    turns: Turns = field(default_factory=Turns)

    def __repr__(self) -> str:
        return f"Dialog({self.conversation!r}, {self.turns!r})"


@final
class ConversationGuard:
    """Hides the sensitive words of requests, and restores them in answers.

    Parameters
    ----------
    settings : mapping, optional
        Parameters of :class:`Conversation` besides ``public`` and ``in_links``.
    public_roles : iterable of {"system", "developer"}
        Roles whose messages pass unchanged.
    public : iterable of str and dict
        What passes unchanged where a request holds exactly that; see
        :class:`PromptGuard <mondegreen.prompts.guard.PromptGuard>`.
    models : iterable of str
        Names of models that may be asked for; any name without spaces if not given.
    in_links, in_tools : bool
        Restore in links and images, and in the arguments of tool calls. Both may send
        the originals to third parties.
    detector : tuple of (callable, str), optional
        See :class:`Conversation`. A request is refused where it fails.
    search : StoreSearch, optional
        Vector stores that may be searched. Passages come back as they are: they were
        not written about the hidden words.

    Raises
    ------
    ConfigurationError
        If turns of the assistant are declared public: they hold restored words.

    Notes
    -----
    *Privacy.* Turns of the assistant go back as the model said them. In a turn that it
    did not say, each sensitive word has a surrogate of its own at each place. Nothing
    shows which words of it are equal to each other, or to words of the user.
    Results of tools share the surrogates of the user: the author of such a text knows
    its words and learns their surrogates.

    Examples
    --------
    >>> guard = ConversationGuard({"policy": "names"})
    >>> dialog = guard.begin()
    >>> said = {"role": "user", "content": "I am Okonkwo."}
    >>> sent, answers = guard.request("chat/completions", {"messages": [said]}, dialog)
    >>> answer = {"choices": [{"message": sent["messages"][0]}]}
    >>> answers.whole(answer)["choices"][0]["message"]["content"]
    'I am Okonkwo.'
    """

    def __init__(
        self,
        settings: Mapping[str, Any] | None = None,
        *,
        public_roles: Iterable[str] = (),
        public: Iterable[str | Mapping[str, Any]] = (),
        models: Iterable[str] = (),
        in_links: bool = False,
        in_tools: bool = False,
        detector: tuple[Detector, str] | None = None,
        search: StoreSearch | None = None,
    ) -> None:
        self._settings = dict(settings or {})
        self._detector = detector
        self.search = search
        self._models, self._roles = frozenset(models), frozenset(public_roles)
        if unknown := self._roles - set(PUBLIC_ROLES):
            allowed = f"of {', '.join(PUBLIC_ROLES)}"
            raise InvalidParameterError("public role", sorted(unknown)[0], allowed)
        if ASSISTANT in self._roles:
            raise ConfigurationError(
                "turns of the assistant hold restored words and cannot be public; "
                "leave out --public-role assistant"
            )
        self._texts, self._objects, self._tools = public_values(public)
        self._public = [*self._texts, *self._objects]
        self._in_links, self._in_tools = in_links, in_tools
        self._own_guarantee = self.begin().conversation.guarantee
        self.guarantee = (*self._own_guarantee, *self._iterate_disclosed())

    @property
    def digest(self) -> str:
        """SHA-256 of the lines of the guarantee as JSON."""
        return hashlib.sha256(canonical(self.guarantee).encode()).hexdigest()

    @property
    def short(self) -> str:
        """The guarantee in a line of ASCII, for a header."""
        policy = self._settings.get("policy", "names")
        return f"surrogates; policy={policy}; digest={self.digest[:16]}"

    @property
    def is_quick(self) -> bool:
        """Whether hiding a short request takes milliseconds: a detector may hang."""
        return self._detector is None

    def begin(self) -> Dialog:
        """Begin a conversation, which has a key and surrogates of its own."""
        return Dialog(
            Conversation(**self._settings, public=self._public, detector=self._detector)
        )

    def write(self, dialog: Dialog, key: bytes) -> bytes:
        """Write a conversation, encrypted under 32 secret bytes.

        Parameters
        ----------
        dialog : Dialog
            The conversation.
        key : bytes, 32
            Secret key of the user.

        Returns
        -------
        bytes
            Encrypted and authenticated, for :meth:`read`.
        """
        words = dialog.conversation.to_bytes(key)
        turns = seal(json.dumps(dialog.turns.to_json()).encode(), key)
        return len(words).to_bytes(_LENGTH, "big") + words + turns

    def read(self, data: bytes, key: bytes) -> Dialog:
        """Read what :meth:`write` wrote, under the settings of this guard alone.

        Raises
        ------
        DataError
            If the key is another one, a byte was changed, or the conversation was
            begun under other settings: its surrogates would not keep this guarantee.
        """
        end = _LENGTH + int.from_bytes(data[:_LENGTH], "big")
        try:
            conversation = Conversation.from_bytes(
                data[_LENGTH:end], key, detector=self._detector
            )
        except MondegreenError:
            says = "the conversation is of another key or other settings"
            raise DataError(says) from None
        if conversation.guarantee != self._own_guarantee:
            raise DataError("the conversation was begun under other settings")
        conversation.bar(self._public)
        try:
            turns = Turns.from_json(json.loads(unseal(data[end:], key)))
        except KeyError:
            raise DataError("the conversation is of another version") from None
        return Dialog(conversation, turns)

    def request(
        self,
        kind: str,
        body: Mapping[str, Any],
        dialog: Dialog,
        check: Callable[[Sequence[str]], None] = lambda texts: None,
    ) -> tuple[dict[str, Any], AnswerRestorer]:
        """Make the hidden form of a request, and what restores its answer.

        Parameters
        ----------
        kind : str
            ``chat/completions``, ``completions``, ``embeddings``, ``responses``, or
            :data:`SEARCH <mondegreen.prompts.store_search.SEARCH>`.
        body : mapping
            The JSON object of the request.
        dialog : Dialog
            The conversation that the request belongs to.
        check : callable
            Raises an error where the texts are too many or too long.

        Raises
        ------
        RefusedRequestError
            If a field is not known, or cannot be read. It names the field.
        """
        rule = find_rule(kind, self.search)
        replay = dialog.turns.replay()
        public = self._roles, self._texts, self._objects, self._tools
        walk = Walk(self._models, *public, replay)
        rows = rule(body, "", walk)
        check(walk.texts)
        hidden = _hide(walk, dialog)
        restorer = AnswerRestorer(
            dialog.conversation,
            dialog.turns,
            replay.place,
            is_json=_is_json(body),
            in_links=self._in_links,
            in_tools=self._in_tools,
        )
        return fill(rows, hidden), restorer

    def _iterate_disclosed(self) -> Iterator[str]:
        yield find_disclosed_form(self._models)
        for role in sorted(self._roles):
            yield f"{role} messages: declared public, they pass unchanged"
        if self.search is not None:
            yield self.search.disclosed
        if self._texts or self._objects:
            yield "declared texts, tools and formats: they pass where they are the same"
        if self._in_links:
            yield "links and images of answers: originals go to the servers they name"
        if self._in_tools:
            yield "arguments of tools: originals go to the tools that are called"


def _hide(walk: Walk, dialog: Dialog) -> list[str]:
    """Hide the texts of a request, each by its role.

    Words of the user come first, so that foreign ones decide nothing for them.
    """
    conversation, turns = dialog.conversation, dialog.turns
    conversation.bar(walk.passed)
    texts = list(zip(walk.texts, walk.roles, walk.places, strict=True))
    hidden = [""] * len(texts)
    for i, (text, role, place) in sorted(enumerate(texts), key=_order):
        if role == USER:
            hidden[i] = conversation.hide(text)
        elif role == ASSISTANT:
            hidden[i] = conversation.hide_apart(text, _name(text, place))
        else:
            find = partial(turns.find_echoes, role, text)
            hidden[i] = conversation.hide_echoes(text, _name(text, place), find)
    return hidden


def _order(numbered: tuple[int, tuple[str, str, str]]) -> bool:
    _, (_, role, _) = numbered
    return role == ASSISTANT


def _name(text: str, place: str) -> str:
    """Name a text that may repeat the model: no other one shares its surrogates."""
    data = text.encode("utf-8", "surrogatepass")
    return f"{place} {hashlib.blake2b(data, digest_size=16).hexdigest()}"


def _is_json(body: Mapping[str, Any]) -> bool:
    """Whether the answer will be JSON."""
    chosen = body.get("response_format")
    if isinstance(text := body.get("text"), Mapping):
        chosen = text.get("format")
    return isinstance(chosen, Mapping) and chosen.get("type") in _JSON
