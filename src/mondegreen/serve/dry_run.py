"""A dry run: what would leave, beside the original, on a terminal."""

from __future__ import annotations

import itertools
import json
import shutil
from collections.abc import Callable
from typing import Any, Final, final

from mondegreen.errors import ConfigurationError

_NARROW: Final = 60
_BETWEEN: Final = " | "


@final
class DryRun:
    """Shows requests and what would leave of them. Both are printed nowhere else.

    Parameters
    ----------
    show : callable
        Prints a text on a terminal.
    is_terminal : bool
        Whether it does: a file or a pipe would keep the originals.
    width : callable
        The width of the terminal, in characters.

    Raises
    ------
    ConfigurationError
        If it is no terminal.
    """

    def __init__(
        self,
        show: Callable[[str], None],
        *,
        is_terminal: bool,
        width: Callable[[], int] = lambda: shutil.get_terminal_size().columns,
    ) -> None:
        if not is_terminal:
            raise ConfigurationError(
                "--dry-run shows originals on a terminal only. Do not redirect "
                "standard error"
            )
        self._show, self._width = show, width

    def __call__(self, original: bytes, private: bytes) -> None:
        """Show one request; both sides are JSON."""
        self._show(
            "\n".join(side_by_side(_parse(original), _parse(private), self._width()))
        )


def side_by_side(original: Any, private: Any, width: int) -> list[str]:
    """Set two JSON values in two columns, or below each other where it is narrow."""
    if width < _NARROW:
        below = ["YOU SENT", *_write(original), "WOULD LEAVE", *_write(private)]
        return below
    half = (width - len(_BETWEEN)) // 2
    rows = [("YOU SENT", "WOULD LEAVE"), ("-" * half, "-" * half)]
    pairs = itertools.zip_longest(_write(original), _write(private), fillvalue="")
    for left, right in pairs:
        cells = _wrap(left, half), _wrap(right, half)
        rows += itertools.zip_longest(*cells, fillvalue="")
    return [f"{left:<{half}}{_BETWEEN}{right}".rstrip() for left, right in rows]


def _parse(data: bytes) -> Any:
    return json.loads(data)


def _write(value: Any) -> list[str]:
    """Write JSON with sorted keys, one value a line, for a terminal."""
    text = json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False)
    return ["".join(map(_show, line)) for line in text.split("\n")]


def _show(sign: str) -> str:
    """Escape what could command a terminal or turn the line around."""
    return sign if sign.isprintable() else f"\\u{ord(sign):04x}"


def _wrap(line: str, width: int) -> list[str]:
    return [line[i : i + width] for i in range(0, len(line), width)] or [""]
