"""A log that no text of a request can get into."""

from __future__ import annotations

import logging
from typing import Final, final

_OURS: Final = "mondegreen"
_SERVER: Final = "uvicorn"


@final
class _Wordless(logging.Formatter):
    """Shows whole messages of ours, and of others what no request has a part in.

    Of the server that is its message without what is filled in; of all else, the name.
    Tracebacks are never shown: their last line may quote a text.
    """

    def format(self, record: logging.LogRecord) -> str:
        source = record.name.partition(".")[0]
        says = f"{record.name} says something, which may hold text"
        if source == _OURS:
            says = record.getMessage()
        elif source == _SERVER:
            says = str(record.msg).strip()
        return f"{self.formatTime(record)} {record.levelname.lower()}: {says}"


def set_up_log() -> None:
    """Send warnings and errors to standard error; nothing else is logged."""
    logging.raiseExceptions = False  # it would print what was to be logged
    handler = logging.StreamHandler()
    handler.setFormatter(_Wordless())
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)
