"""Forgets conversations when their time is over, also where no request comes."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

from mondegreen.prompts.conversation_file import ConversationFileError
from mondegreen.prompts.conversations import Conversations
from mondegreen.serve.answers import LOG


@contextlib.asynccontextmanager
async def forget_in_time(kept: Conversations | None) -> AsyncIterator[None]:
    """Sweep conversations while an application runs."""
    if kept is None:
        yield
        return
    task = asyncio.create_task(_sweep(kept))
    try:
        yield
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


async def _sweep(kept: Conversations) -> None:
    has_failed = False
    while True:
        await asyncio.sleep(kept.period)
        try:
            # A disk may be slow: requests go on.
            await asyncio.to_thread(kept.sweep)
            has_failed = False
        except ConversationFileError as error:
            if not has_failed:  # one line, not one for each try
                LOG.error("%s", error)
            has_failed = True
