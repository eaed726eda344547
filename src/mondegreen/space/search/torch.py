"""Exact nearest words by exhaustive products in float32, with torch: on a GPU too."""

from __future__ import annotations

import contextlib
import importlib
import threading
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, final

import numpy as np

from mondegreen.arrays import Ids, Vectors, slices
from mondegreen.errors import (
    ConfigurationError,
    MondegreenError,
    OptionalDependencyError,
)

_THREADS: Final = threading.Lock()
_CELLS: Final = {"cpu": 1 << 24, "cuda": 1 << 28}  # scores held at once


@final
class TorchSearch:
    """The search of FaissSearch, on a GPU where there is one."""

    def __init__(self, vectors: Vectors) -> None:
        torch = self._torch = import_torch("the torch decoder")
        self._device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        wide = np.asarray(vectors, dtype=np.float64)
        shift = -np.einsum("ij,ij->i", wide, wide) / 2
        narrow = np.asarray(vectors, dtype=np.float32)
        self._columns = torch.tensor(narrow, device=self._device).t()
        self._shift = torch.tensor(shift, dtype=torch.float32, device=self._device)

    def nearest(self, points: Vectors, k: int) -> Ids:
        torch = self._torch
        narrow = check_points(torch, points)
        count = len(self._shift)
        k = min(k, count)
        out = np.empty((len(narrow), k), dtype=np.int32)
        step = max(1, _CELLS.get(self._device.type, 1 << 24) // count)
        for rows in slices(len(narrow), step):
            block = torch.tensor(narrow[rows], device=self._device)
            scores = torch.addmm(self._shift, block, self._columns)
            found = scores.argmax(1, keepdim=True) if k == 1 else scores.topk(k).indices
            out[rows] = found.cpu().numpy()
        return out

    def describe(self) -> str:
        kind = self._device.type
        how = f"exhaustive float32 search (torch on {kind})"
        return f"{how}, which sees the noisy point only"


def import_torch(feature: str) -> Any:
    """Import torch where it is used: it is optional, and takes seconds."""
    try:
        return importlib.import_module("torch")
    except ImportError:
        raise OptionalDependencyError("torch", "torch", feature=feature) from None


def check_points(torch: Any, points: Vectors) -> Vectors:
    """Points in float32; refuses infinite ones, and products in fewer bits."""
    if torch.get_float32_matmul_precision() != "highest":
        raise ConfigurationError(
            "torch is set to multiply float32 numbers with less precision; call "
            "torch.set_float32_matmul_precision('highest')"
        )
    narrow = np.ascontiguousarray(points, dtype=np.float32)
    if not np.isfinite(narrow).all():
        raise MondegreenError("a noisy point is not finite; nothing was released")
    return narrow


@contextlib.contextmanager
def single_threads(torch: Any, count: int) -> Generator[ThreadPoolExecutor]:
    """Make threads in which torch works alone: one thread for each operation.

    Threads that take whole blocks of work meet once, at the end. Threads inside of each
    operation meet thousands of times a second, and every time wait for other users of
    the processor.
    """
    # The setting of torch belongs to a thread; one that has none yet takes, when it
    # first asks, the last one that any thread made. So ours ask, then make theirs, and
    # then the caller makes its own again. The lock keeps callers from reading each
    # other's.
    with ThreadPoolExecutor(count, thread_name_prefix="mondegreen-torch") as pool:
        with _THREADS:
            before = torch.get_num_threads()
            ready = threading.Barrier(count + 1)

            def alone() -> None:
                torch.get_num_threads()
                torch.set_num_threads(1)
                ready.wait()

            for _ in range(count):
                pool.submit(alone)
            ready.wait()
            torch.set_num_threads(before)
        yield pool
