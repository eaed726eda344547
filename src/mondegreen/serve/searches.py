"""Searches of the proxy: where they go, and the order in which answers come back."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, final

from anyio import to_thread
from starlette.requests import Request

from mondegreen.errors import DataError
from mondegreen.prompts.store_search import StoreSearch
from mondegreen.serve.answers import Refused
from mondegreen.serve.talks import read_object, read_whole

PATH: Final = "/v1/vector_stores/{store}/search"
HEADER: Final = "x-mondegreen-search"
SENT_HEADERS: Final[Mapping[str, str]] = {"openai-beta": "assistants=v2"}
"""What OpenAI asks for on this path: the same for all."""


@final
@dataclass(frozen=True, slots=True, repr=False)
class StoreAnswer:
    """The answer to one search.

    Parameters
    ----------
    search : StoreSearch
        Says what is fetched.
    body : mapping
        The request of the client, with the true question.
    """

    search: StoreSearch
    body: Mapping[str, Any]

    @property
    def headers(self) -> dict[str, str]:
        """Say of an answer what was fetched, and that a choice is a second release."""
        says = f"fetched={self.search.fetch}; sorted=here; choosing=second-release"
        return {HEADER: says}

    async def order(
        self, parts: AsyncIterator[bytes], content_type: str
    ) -> AsyncIterator[bytes]:
        """Read all that was fetched, and order it in a thread."""
        data = await read_whole(parts)

        def work() -> bytes:
            try:
                ordered = self.search.order(self.body, read_object(data))
            except DataError as error:
                says = f"The upstream is no search of a vector store: {error}."
                raise Refused(502, "upstream", says) from None
            return json.dumps(ordered).encode()

        yield await to_thread.run_sync(work)


def find_place(search: StoreSearch, request: Request) -> str:
    """Find where a search goes behind the base of the upstream.

    Raises
    ------
    Refused
        If the store was not declared: any other name may hold private text.
    """
    store = str(request.path_params["store"])
    if store not in search.stores:
        says = "An unknown vector store. Nothing was sent. See --vector-store."
        raise Refused(404, "path", says)
    return f"vector_stores/{store}/search"
