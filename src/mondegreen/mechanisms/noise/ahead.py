"""Draw the noise of the next words while the present ones are searched."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

__all__ = ["drawn_ahead"]

Item = TypeVar("Item")


def drawn_ahead(items: Iterator[Item]) -> Generator[Item]:
    """Yield the items in order, each made in a thread while the last one is used.

    One thread makes one item after the other: whatever they consume, such as a random
    generator, is consumed in the same order as without it. Close the result, so
    that nothing is consumed any more once the caller goes on.

    Examples
    --------
    >>> list(drawn_ahead(iter([3, 1, 2])))
    [3, 1, 2]
    """
    with ThreadPoolExecutor(1, thread_name_prefix="mondegreen-noise") as thread:
        waiting = thread.submit(_one, items)
        while made := waiting.result():
            waiting = thread.submit(_one, items)
            yield made[0]


def _one(items: Iterator[Item]) -> tuple[Item, ...]:
    """Return the next item, or nothing after the last one."""
    for item in items:
        return (item,)
    return ()
