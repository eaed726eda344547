"""Waiting for a state of the system: a deadline, not a chance."""

import time

__all__ = ["wait_until"]


def wait_until(condition, seconds=120):
    """Wait until a condition holds; return what it gave."""
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, f"it did not happen within {seconds} seconds"
        time.sleep(0.02)
    return found
