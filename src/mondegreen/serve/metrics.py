"""Counts for Prometheus. No label is made from anything that a caller sends."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterable
from typing import Final, final

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    generate_latest,
)
from prometheus_client.core import CounterMetricFamily, Metric
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from mondegreen.serve.answers import Reason

_SECONDS: Final = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
_SIZES: Final = (1, 4, 16, 64, 256, 1024, 4096, 16384)
FOLDER: Final = "PROMETHEUS_MULTIPROC_DIR"
"""Where workers leave their counts for each other, if there are several."""


Counts = Callable[[], int]
"""Returns a count that only grows."""


@final
class _ReadCounter(Collector):
    """A counter whose value is counted elsewhere."""

    def __init__(self, name: str, help: str, count: Counts) -> None:
        self._name, self._help, self._count = name, help, count

    def collect(self) -> Iterable[Metric]:
        """Read the count now."""
        yield CounterMetricFamily(self._name, self._help, self._count())


@final
class Metrics:
    """What one service counts. Times and sizes of all requests, and texts of none.

    Parameters
    ----------
    step : int
        Words are counted in steps of so many. Each call is rounded up or down at
        random, so that the count is right on average. A remainder that is kept would
        show the length of one text to a client that sends words until a step is full.
    """

    def __init__(self, step: int = 1) -> None:
        self._step = step
        own = self._registry = CollectorRegistry()
        self._requests = Counter(
            "mondegreen_requests",
            "Requests, by address and status.",
            ("path", "status"),
            registry=own,
        )
        self._refusals = Counter(
            "mondegreen_refusals",
            "Requests that were refused, by reason.",
            ("reason",),
            registry=own,
        )
        self._seconds = Histogram(
            "mondegreen_request_seconds",
            "From the head of a request to the end of its answer.",
            ("path",),
            buckets=_SECONDS,
            registry=own,
        )
        steps = f", rounded at random to {step}" if step > 1 else ""
        self._words = Counter(
            "mondegreen_words", f"Words privatized{steps}.", registry=own
        )
        self._texts = Counter("mondegreen_texts", "Texts privatized.", registry=own)
        self._callers = Histogram(
            "mondegreen_batch_requests",
            "Requests that one call privatized.",
            buckets=_SIZES,
            registry=own,
        )
        self._batch = Histogram(
            "mondegreen_batch_texts",
            "Texts that one call privatized.",
            buckets=_SIZES,
            registry=own,
        )
        self.in_work = Gauge(
            "mondegreen_requests_in_work",
            "Requests that are not answered yet.",
            registry=own,
            multiprocess_mode="livesum",
        )

    def watch_conversations(
        self, begun: Counts, forgotten: Counts, kept_now: Counts
    ) -> None:
        """Count conversations: begun, forgotten, and those that are kept now."""
        for name, help, count in (
            ("begun", "Conversations that began.", begun),
            ("forgotten", "Conversations that expired or were deleted.", forgotten),
        ):
            made = _ReadCounter(f"mondegreen_conversations_{name}", help, count)
            self._registry.register(made)
        kept = Gauge(
            "mondegreen_conversations_kept",
            "Conversations that are kept now.",
            registry=self._registry,
        )
        kept.set_function(kept_now)

    def count_request(self, path: str, status: int, seconds: float) -> None:
        """Count an answer; ``path`` is one of a fixed set."""
        self._requests.labels(path, str(status)).inc()
        self._seconds.labels(path).observe(seconds)

    def count_refusal(self, reason: Reason) -> None:
        """Count a request that was refused."""
        self._refusals.labels(reason).inc()

    def count_batch(self, callers: int, texts: int, words: int) -> None:
        """Count a call."""
        self._callers.observe(callers)
        self._batch.observe(texts)
        self.count_texts(texts, words)

    def count_texts(self, texts: int, words: int) -> None:
        """Count texts that were privatized or hidden, and their words."""
        self._texts.inc(texts)
        rounded_up = words + secrets.randbelow(self._step)
        self._words.inc(rounded_up // self._step * self._step)

    def lines(self) -> bytes:
        """Write all counts, those of other workers too."""
        found = self._registry
        if FOLDER in os.environ:
            found = CollectorRegistry()
            MultiProcessCollector(found)
        return bytes(generate_latest(found))
