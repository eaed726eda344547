"""What stands before a language model: requests in, their private forms out."""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, final

from mondegreen.errors import ConfigurationError, InvalidParameterError, PrivacyError
from mondegreen.prompts.messages import chat_message, find_disclosed_form
from mondegreen.prompts.rules import RefusedRequestError, Walk, canonical, fill
from mondegreen.prompts.store_search import StoreSearch, find_rule
from mondegreen.sampling.noise import KeyedNoise, OSNoise

if TYPE_CHECKING:
    from mondegreen.guarantee import Guarantee
    from mondegreen.privatizer.privatizer import Privatizer

PUBLIC_ROLES: Final = ("system", "developer", "assistant")
"""Roles whose messages somebody may declare public; users and tools never are."""

_WHO: Final = ("user", "safety_identifier", "prompt_cache_key")
_REPEATS: Final = (
    "repeats: whether two messages of one client, user and conversation are the same "
    "text, which has one release. Anyone who can send as this client can test guesses "
    "of a whole message"
)
_FRESH: Final = (
    "no text is sent twice: a request that repeats the history of a conversation "
    "releases it again, and losses add up"
)


@final
class PromptGuard:
    """Privatizes requests to a language model; what it cannot read it refuses.

    Parameters
    ----------
    privatizer : Privatizer
        Its keyed noise is used if it has such. With noise of the operating system the
        guard makes a key that lives as long as it does.
    public_roles : iterable of {"system", "developer", "assistant"}
        Roles whose messages pass unchanged, which the guarantee says.
    public : iterable of str and dict
        What passes unchanged where a request holds exactly that: texts of system and
        developer messages, definitions of tools, and response formats.
    models : iterable of str
        Names of models that may be asked for; any name without spaces if not given.
    fresh : bool
        Draw new noise in every request: a message that is sent again in each turn of
        a conversation is released again, and each time more is lost.
    search : StoreSearch, optional
        Vector stores that may be searched.

    Raises
    ------
    PrivacyError
        If the privatizer promises nothing: seeded noise, or no proof.

    Notes
    -----
    *Privacy.* A request repeats the history of its conversation. A text that a client
    sends again has the same release again, so that it is released once. What belongs
    together follows from ``client`` and from the fields ``user``, ``safety_identifier``
    and ``prompt_cache_key``, which are not sent. The second of two equal texts of one
    request has other noise than the first.

    Examples
    --------
    >>> import mondegreen as mg
    >>> words = ["i", "met", "saw", "in"]
    >>> space = mg.Space.from_arrays("line", words, [[0], [9], [8], [20]])
    >>> guard = PromptGuard(mg.Privatizer(mg.mechanism("tem", epsilon=1.0), space))
    >>> said = {"role": "user", "content": "I met Ann."}
    >>> one = guard.request("chat/completions", {"messages": [said]})
    >>> one == guard.request("chat/completions", {"messages": [said]})
    True
    """

    def __init__(
        self,
        privatizer: Privatizer,
        *,
        public_roles: Iterable[str] = (),
        public: Iterable[str | Mapping[str, Any]] = (),
        models: Iterable[str] = (),
        fresh: bool = False,
        search: StoreSearch | None = None,
    ) -> None:
        if privatizer.guarantee.is_void:
            why = privatizer.guarantee.reason_not_private
            raise PrivacyError(f"a guard needs a guarantee, and there is none: {why}")
        self.search = search
        self._models, self._roles = frozenset(models), frozenset(public_roles)
        if unknown := self._roles - set(PUBLIC_ROLES):
            allowed = f"of {', '.join(PUBLIC_ROLES)}"
            raise InvalidParameterError("public role", sorted(unknown)[0], allowed)
        self._texts, self._objects, self._tools = public_values(public)
        privatizer.check_noise()
        is_keyed = isinstance(privatizer.noise, KeyedNoise)
        if fresh and is_keyed:
            raise ConfigurationError("keyed noise and fresh noise cannot be combined")
        self._is_fresh = fresh
        noise = OSNoise() if fresh else KeyedNoise(os.urandom(32))
        self.privatizer = privatizer if is_keyed else privatizer.with_noise(noise)
        self.guarantee: Guarantee = self.privatizer.guarantee.with_text(
            tuple(self._iterate_disclosed()), assumptions=(_FRESH,) if fresh else ()
        )

    @property
    def digest(self) -> str:
        """SHA-256 of the guarantee as JSON, with sorted keys and no spaces."""
        data = canonical(self.guarantee.to_dict()).encode()
        return hashlib.sha256(data).hexdigest()

    @property
    def short(self) -> str:
        """The guarantee in a line of ASCII, for a header."""
        given = self.guarantee
        space = given.space.encode("ascii", "replace").decode()
        return (
            f"{given.mechanism}; epsilon={given.epsilon:.6g}; "
            f"certified={given.effective_epsilon:.6g}; space={space}; "
            f"digest={self.digest[:16]}"
        )

    def request(
        self, kind: str, body: Mapping[str, Any], client: str = ""
    ) -> dict[str, Any]:
        """Make the private form of a request.

        Parameters
        ----------
        kind : str
            ``chat/completions``, ``completions``, ``embeddings``, ``responses``, or
            :data:`SEARCH <mondegreen.prompts.store_search.SEARCH>`.
        body : mapping
            The JSON object of the request.
        client : str
            Who sends it, and in which conversation: texts repeat their release within.

        Raises
        ------
        RefusedRequestError
            If a field is not known, or cannot be read. It names the field.
        """
        rule = find_rule(kind, self.search)
        walk = self._walk()
        made: dict[str, Any] = self._fill(
            rule(body, "", walk), walk, _identity(client, body)
        )
        return made

    def messages(
        self, messages: Sequence[Mapping[str, Any]], client: str = ""
    ) -> list[dict[str, Any]]:
        """Make the private form of chat messages alone."""
        walk = self._walk()
        rows = [
            chat_message(row, f"messages[{i}]", walk) for i, row in enumerate(messages)
        ]
        made: list[dict[str, Any]] = self._fill(rows, walk, _identity(client, {}))
        return made

    def texts(self, texts: Sequence[str], client: str = "") -> list[str]:
        """Privatize texts that stand alone."""
        walk = self._walk()
        slots = [walk.text(each, f"texts[{i}]") for i, each in enumerate(texts)]
        made: list[str] = self._fill(slots, walk, _identity(client, {}))
        return made

    def is_public(self, definition: object) -> bool:
        """Whether a tool or a response format was declared public."""
        return canonical(definition) in self._objects

    def _walk(self) -> Walk:
        public = self._roles, self._texts, self._objects, self._tools
        return Walk(self._models, *public)

    def _fill(self, value: Any, walk: Walk, identity: str) -> Any:
        seen: Counter[str] = Counter()
        ids = []
        for text in walk.texts:
            ids.append(f"{identity}:{seen[text]}")
            seen[text] += 1
        named = None if self._is_fresh else ids
        released, _ = self.privatizer.texts(walk.texts, named, "text")
        if len(released) != len(walk.texts) or None in released:
            raise PrivacyError("a text has no release")
        return fill(value, [str(each) for each in released])

    def _iterate_disclosed(self) -> Iterator[str]:
        yield find_disclosed_form(self._models)
        if not self._is_fresh:
            yield _REPEATS
        for role in sorted(self._roles):
            yield f"{role} messages: declared public, they pass unchanged"
        if self.search is not None:
            yield self.search.disclosed
        if self._texts or self._objects:
            yield "declared texts, tools and formats: they pass where they are the same"


def _identity(client: str, body: Mapping[str, Any]) -> str:
    """Digest who speaks and where: it goes into the key of the noise, nowhere else."""
    fields: list[str | None] = [client]
    for name in _WHO:
        value = body.get(name)
        if not isinstance(value, str | None):  # two people would be one
            raise RefusedRequestError(name, "must be a string")
        fields.append(value)
    data = json.dumps(fields)
    return hashlib.blake2b(data.encode(), digest_size=32).hexdigest()


def public_values(
    values: Iterable[str | Mapping[str, Any]],
) -> tuple[frozenset[str], dict[str, Any], dict[str, frozenset[str]]]:
    """Sort what is public into texts, definitions, and the names of tools."""
    texts, objects, tools = set(), {}, dict[str, frozenset[str]]()
    for value in values:
        if isinstance(value, str):
            texts.add(value)
            continue
        if not isinstance(value, Mapping) or not isinstance(value.get("type"), str):
            raise ConfigurationError(
                "public items must be texts, or definitions of tools and response "
                "formats: objects with a type, as in a request"
            )
        objects[canonical(value)] = value
        function = value.get("function", value)
        name = function.get("name") if isinstance(function, Mapping) else None
        if value["type"] == "function" and isinstance(name, str):
            tools[name] = tools.get(name, frozenset()) | frozenset(_names(function))
    return frozenset(texts), objects, tools


def _names(schema: object) -> Iterator[str]:
    """Every name of a property in a JSON schema, however deep."""
    if isinstance(schema, Mapping):
        if isinstance(properties := schema.get("properties"), Mapping):
            yield from map(str, properties)
        for each in schema.values():
            yield from _names(each)
    elif isinstance(schema, list):
        for each in schema:
            yield from _names(each)
