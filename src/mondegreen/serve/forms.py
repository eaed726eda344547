"""Bodies of requests and answers, as OpenAPI shows them."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Final, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, FailFast, Field, ValidationError

from mondegreen.serve.answers import HALF, NOT_JSON, Refused

_LONGEST_NAME: Final = 200


class _First(FailFast):
    """Stop at the first item that is wrong: there may be a million."""

    __hash__ = object.__hash__  # without one it fits into no union


class _Form(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", hide_input_in_errors=True)

    allowed: ClassVar[dict[str, str]] = {}


class PrivatizeRequest(_Form):
    """Texts to be privatized."""

    texts: Annotated[list[str | None], _First()] = Field(
        description="Texts. A null stays null.", examples=[["I met Ann in Oslo."]]
    )
    ids: Annotated[list[str | int], _First()] | None = Field(
        None,
        description="Id of the record of each text. Required if the service has a "
        "key: the same id, column and text then get the same release. Without a key, "
        "ids have no effect: every request is a new release, as the guarantee says.",
    )
    column: str = Field(
        "text",
        max_length=_LONGEST_NAME,
        description="Logical column of the texts, for keyed noise.",
    )

    scope: Literal["record", "conversation"] = Field(
        "record",
        description="conversation: each sensitive word has one surrogate in the "
        "conversation. POST /v1/restore puts the originals back. Ordinary words pass "
        "unchanged.",
    )
    conversation: str | None = Field(
        None,
        max_length=_LONGEST_NAME,
        description="Token of an earlier answer, to continue its conversation.",
    )

    allowed: ClassVar[dict[str, str]] = {
        "texts": "a list of strings and nulls",
        "ids": "a list of strings and integers, or null",
        "column": f"a string of at most {_LONGEST_NAME} characters",
        "scope": "record or conversation",
        "conversation": f"a string of at most {_LONGEST_NAME} characters, or null",
    }


class PrivatizeAnswer(BaseModel):
    """The released texts and their guarantee."""

    texts: list[str | None] = Field(description="Texts in the order of the request.")
    guarantee: dict[str, Any] = Field(
        description="Guarantee of the release. With scope conversation, it has only "
        "`mechanism` and `lines`, its sentences."
    )
    conversation: str | None = Field(
        None, description="With scope conversation: the token of the conversation."
    )


class RestoreRequest(_Form):
    """Texts with surrogates, such as answers of a language model."""

    texts: Annotated[list[str | None], _First()] = Field(
        description="Texts, each read by itself. Send an answer as one text: a link "
        "that begins in one text and ends in the next is not seen. A null stays null."
    )
    conversation: str = Field(
        max_length=_LONGEST_NAME, description="The token of the conversation."
    )
    json_texts: bool = Field(
        False, description="Whether each text is JSON. It is then still valid JSON."
    )

    allowed: ClassVar[dict[str, str]] = {
        "texts": "a list of strings and nulls",
        "conversation": f"a string of at most {_LONGEST_NAME} characters",
        "json_texts": "true or false",
    }


class RestoreAnswer(BaseModel):
    """The texts with the original words."""

    texts: list[str | None] = Field(description="Texts in the order of the request.")


class ExplainRequest(_Form):
    """A public word. Do not send a word of a private text: the answer depends on it."""

    word: str = Field(max_length=_LONGEST_NAME, examples=["doctor"])

    allowed: ClassVar[dict[str, str]] = {
        "word": f"one word of at most {_LONGEST_NAME} characters"
    }


class Interval(BaseModel):
    """An estimate from samples, and its interval."""

    estimate: float | None
    low: float
    high: float
    confidence: float


class ExplainAnswer(BaseModel):
    """What ``mondegreen explain --json`` prints, without the word itself.

    A word on the keep-list has ``is_kept``, ``guarantee`` and ``stay`` only. With a
    policy, the answer also has the fields from ``class`` on. Without one, it also has
    the fields from ``runs`` to ``rank``.
    """

    model_config = ConfigDict(extra="forbid")

    is_kept: bool = Field(description="Whether the word is on the keep-list.")
    guarantee: dict[str, Any] | None = Field(
        description="The guarantee, as in the answer of POST /v1/privatize; null for "
        "a word that is kept."
    )
    stay: float | Interval = Field(
        description="Probability that the word is printed unchanged. An interval if it "
        "was estimated: estimate, low, high, confidence."
    )
    is_known: bool | None = Field(
        None, description="Whether the vocabulary or a word list has the word."
    )
    document: dict[str, Any] | None = Field(
        None,
        description="Bound on the loss of a text of so many words: for any other text, "
        "and, without a policy, for texts of near or average words.",
    )
    outputs: list[dict[str, Any]] | None = Field(
        None,
        description="The most likely outputs: word, probability and, without a policy, "
        "distance.",
    )
    odds: list[dict[str, Any]] | None = Field(
        None,
        description="Loss against other words, in nats: the guarantee and the exact "
        "value. With a policy, also what is hidden.",
    )
    runs: int | None = Field(
        None, description="Outputs that were sampled; null if all values are exact."
    )
    eta: float | None = Field(None, description="Probability that support leaves out.")
    support: float | Interval | None = Field(
        None, description="Number of outputs that have the probability 1 - eta."
    )
    distinct: int | None = Field(None, description="Different outputs in the runs.")
    entropies: dict[str, Any] | None = Field(
        None, description="Entropies of the output, in nats, by order."
    )
    distance: float | Interval | None = Field(
        None, description="Mean distance from the word to its output."
    )
    rank: float | Interval | None = Field(
        None, description="Mean rank of the output among the neighbors of the word."
    )
    class_: str | None = Field(
        None, alias="class", description="Class of the word in the policy."
    )
    group: str | None = Field(
        None, description="Group of the word; empty for an ordinary word."
    )
    hides_among: int | None = Field(
        None, description="Words of its group; null for an ordinary word."
    )
    known_words: int | None = Field(
        None, description="Words of the policy that have this group as their own."
    )
    examples: list[str] | None = Field(None, description="Words of the group.")
    at_start: dict[str, Any] | None = Field(
        None,
        description="What differs at the start of a sentence: class, group, "
        "hides_among, known_words, outputs. Null if nothing does.",
    )
    behind_stop: dict[str, Any] | None = Field(
        None, description="What differs behind a full stop."
    )
    behind_sign: dict[str, Any] | None = Field(
        None, description="What differs behind a sign such as a colon."
    )
    capitalized: dict[str, Any] | None = Field(
        None, description="What differs with a capital letter."
    )
    in_capitals: dict[str, Any] | None = Field(
        None, description="What differs in a line in capitals."
    )
    become: dict[str, float] | None = Field(
        None,
        description="Probabilities of another word: of the group, of another group or "
        "format (sensitive), or an ordinary one.",
    )
    printed: dict[str, Any] | None = Field(
        None,
        description="Probability that the word is printed at its place, and at least "
        "once if a text repeats it.",
    )


class Failure(BaseModel):
    """Reason for the error. It repeats nothing of the request."""

    error: str


_Read = TypeVar("_Read", bound=_Form)


def read(form: type[_Read], body: bytes) -> _Read:
    """Read the body of a request.

    Raises
    ------
    Refused
        If it is not of the form: status 400 if it is no JSON, else 422, with what is
        allowed, and nothing of what was given.
    """
    try:
        found: _Read = form.model_validate_json(body)
        return found
    except ValidationError as error:
        wrong = error.errors(
            include_url=False, include_context=False, include_input=False
        )[0]
    if wrong["type"] == "json_invalid":
        # The parser's own words hold a place and none of the text.
        is_half = "hex escape" in wrong["msg"]
        raise Refused(400, "body", HALF if is_half else NOT_JSON)
    fields = form.allowed
    name = wrong["loc"][0] if wrong["loc"] else None
    if name not in fields:
        raise Refused(
            422, "field", f"The body must be an object of: {', '.join(fields)}"
        )
    raise Refused(422, "field", f"{name} must be {fields[str(name)]}")
