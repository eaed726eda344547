"""Searches of vector stores: what of them is sent, and how their answers are ordered.

The server gets a released question and a fixed number. All passages that it returns are
ordered on this machine, by the true question.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, final

from mondegreen.errors import DataError, InvalidParameterError
from mondegreen.prompts.messages import REQUESTS
from mondegreen.prompts.private_search import order_passages
from mondegreen.prompts.rules import (
    LEFT_OUT,
    Number,
    RefusedRequestError,
    Rule,
    Walk,
    allow_object,
    allow_one,
    flag,
    text,
    texts,
    unread,
)

SEARCH: Final = "vector_stores/search"
"""The kind of a request that searches a vector store."""

FETCH: Final = 50
"""Passages that are fetched by default: the most that OpenAI returns."""

NOTICE: Final = (
    "Sorted on this machine by your true question. The server got a release of "
    "it, and does not know this order. Opening some of these results, sending some of "
    "them on, and a follow-up question that depends on them are second releases: they "
    "disclose your true question, without a bound. Send all results, or none."
)
"""What an answer says of the next step."""

_SHOWN: Final = 10
"""Results that a client gets where it asks for no number, as from OpenAI."""

_LARGEST: Final = 1000
_STORE: Final = re.compile(r"[A-Za-z0-9_-]{1,100}")
_COUNT: Final = Number(1, _LARGEST)


def _check_count(value: Any, at: str, walk: Walk) -> Any:
    """Check how many results a client wants: it is told nobody else."""
    _COUNT(value, at, walk)
    return LEFT_OUT


_REQUEST: Final = allow_object(
    {
        "query": texts(text),
        "max_num_results": _check_count,
        "rewrite_query": flag,
        "ranking_options": allow_object(
            {
                "ranker": allow_one("none", "auto", "default-2024-11-15"),
                "score_threshold": unread(
                    "the server's scores are of the released question; compare the "
                    "scores of the answer"
                ),
            }
        ),
        "filters": unread("filters can hold text that would be sent as it is"),
    }
)


@final
@dataclass(frozen=True, slots=True)
class StoreSearch:
    """The vector stores that clients may search.

    Parameters
    ----------
    stores : frozenset of str
        Their PUBLIC names.
    fetch : int
        Passages that each search fetches. Choose it before you see a question.

    Raises
    ------
    InvalidParameterError
        If a name has other characters than letters, digits, ``_`` and ``-``, or
        ``fetch`` is not from 1 to 1,000.

    Examples
    --------
    >>> search = StoreSearch(frozenset({"vs_1"}), fetch=50)
    >>> search.rule({"query": ["gout"], "max_num_results": 3}, "", Walk())
    {'query': [Slot(number=0)], 'max_num_results': 50}
    """

    stores: frozenset[str]
    fetch: int = FETCH

    def __post_init__(self) -> None:
        for name in self.stores:
            if not _STORE.fullmatch(name):
                allowed = "up to 100 letters, digits, _ and -"
                raise InvalidParameterError("vector store", name, allowed)
        if not 1 <= self.fetch <= _LARGEST:
            allowed = f"a whole number from 1 to {_LARGEST}"
            raise InvalidParameterError("fetch", self.fetch, allowed)

    @property
    def disclosed(self) -> str:
        """What a search discloses besides the release of its question."""
        count = len(self.stores)
        which = ""
        if count > 1:
            bits = math.ceil(math.log2(count))
            which = f", which of {count} vector stores is searched ({bits} bits)"
        return (
            f"searches: how many texts a question has, switches{which}; {self.fetch} "
            "passages are fetched every time. Their order by the true question stays "
            "on this machine. A choice among them that is sent to anybody is a second "
            "release, with no bound on the loss"
        )

    def rule(self, value: Any, at: str, walk: Walk) -> Any:
        """Read a search as a :data:`Rule`; what is sent has a fixed number."""
        made = _REQUEST(value, at, walk)
        if made.get("query") is None:
            raise RefusedRequestError(f"{at}.query".lstrip("."), "must be a string")
        return {**made, "max_num_results": self.fetch}

    def order(
        self, body: Mapping[str, Any], answer: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Order an answer by the true question, and keep as many as were asked for.

        ``score`` becomes the cosine of TF-IDF with the true question.

        Parameters
        ----------
        body : mapping
            The request of the client, which :meth:`rule` has read.
        answer : mapping
            The answer of the server.

        Returns
        -------
        dict of str to object
            The answer for the client. ``mondegreen`` says what was fetched, and that a
            choice is a second release.

        Raises
        ------
        DataError
            If the answer is no list of results, or a longer one than was asked for.
        """
        values = answer.get("data")
        if not isinstance(values, list) or len(values) > self.fetch:
            raise DataError(f"the answer is no list of at most {self.fetch} results")
        query = body["query"]
        asked = query if isinstance(query, str) else "\n".join(query)
        found = order_passages(asked, values, [_find_text(each) for each in values])
        shown = body.get("max_num_results") or _SHOWN
        return {
            "object": "vector_store.search_results.page",
            "search_query": [query] if isinstance(query, str) else query,
            "data": [{**each.value, "score": each.score} for each in found[:shown]],
            "has_more": False,
            "next_page": None,
            "mondegreen": {"fetched": len(values), "notice": NOTICE},
        }


def find_rule(kind: str, search: StoreSearch | None) -> Rule:
    """Return the rule of a kind of request.

    Raises
    ------
    RefusedRequestError
        If there is none.
    """
    if kind == SEARCH and search is not None:
        return search.rule
    if kind not in REQUESTS:
        raise RefusedRequestError("", "requests of this type cannot be privatized")
    return REQUESTS[kind]


def _find_text(value: Any) -> str:
    """Find the text of one result: its parts of type text, line by line."""
    content = value.get("content") if isinstance(value, dict) else None
    if not isinstance(content, list):
        raise DataError("a result of the answer has no content")
    parts = [part.get("text") for part in content if isinstance(part, dict)]
    return "\n".join(part for part in parts if isinstance(part, str))
