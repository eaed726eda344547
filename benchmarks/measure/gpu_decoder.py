"""Measure the decoder ``torch`` on a GPU; write results/gpu_decoder.json.

    python -m benchmarks gpu_decoder

For each size of vocabulary, noisy points of ``laplace`` are decoded by torch on the GPU
and by exhaustive search in float64 with NumPy. Equal words are counted, and among the
others those whose two distances differ by more than float32 can tell. Rates are queries
a second, in turns, the transfers to the GPU and back included. It needs torch and NumPy
alone. Vectors are the embedded ones, and for more words these with Gaussian jitter.
"""

from __future__ import annotations

import json
import time

import numpy as np

from benchmarks import machine
from benchmarks.measure.decoders import EPSILONS, noisy, vocabulary
from mondegreen.space.search.torch import TorchSearch, import_torch

PARTS = {"34k": 8192, "400k": 4096}
"""Sizes of vocabulary, and how many points are decoded at each epsilon."""

COMPARED = 1024
"""Of these, how many are decoded in float64 too."""

ROUNDS = 5
CLOSE = 1e-5
"""Relative; two distances that differ by less are a tie in float32."""


def exact(points: np.ndarray, vectors: np.ndarray, block: int = 64) -> np.ndarray:
    """Find the nearest words in float64."""
    squares = np.einsum("ij,ij->i", vectors, vectors)
    found = np.empty(len(points), dtype=np.int64)
    for start in range(0, len(points), block):
        some = points[start : start + block]
        found[start : start + block] = (squares - 2 * some @ vectors.T).argmin(axis=1)
    return found


def measure(part: str, count: int) -> list[dict[str, object]]:
    """Compare words and rates of one vocabulary at each epsilon."""
    torch = import_torch("the torch decoder")
    vectors = vocabulary(part)
    wide = np.asarray(vectors, dtype=np.float64)
    search = TorchSearch(vectors)
    rows = []
    for epsilon in EPSILONS:
        points, _ = noisy(vectors, epsilon, count)
        search.nearest(points[:64], 1)
        seconds = []
        for _ in range(ROUNDS):
            torch.cuda.synchronize()
            begun = time.perf_counter()
            words = search.nearest(points, 1)[:, 0]
            seconds.append(time.perf_counter() - begun)
        begun = time.perf_counter()
        truth = exact(points[:COMPARED], wide)
        slow = time.perf_counter() - begun
        other = np.flatnonzero(truth != words[:COMPARED])
        gaps = [
            np.linalg.norm(points[i] - wide[words[i]])
            / np.linalg.norm(points[i] - wide[truth[i]])
            - 1
            for i in other.tolist()
        ]
        row = {
            "part": part,
            "words": len(vectors),
            "epsilon": epsilon,
            "points": count,
            "compared": COMPARED,
            "other_words": len(other),
            "other_words_beyond_rounding": sum(gap > CLOSE for gap in gaps),
            "queries_a_second": count / min(seconds),
            "float64_queries_a_second": COMPARED / slow,
        }
        print(json.dumps(row), flush=True)
        rows.append(row)
    return rows


def main() -> None:
    """Measure all vocabularies."""
    torch = import_torch("the torch decoder")
    if not torch.cuda.is_available():
        raise SystemExit("gpu_decoder: torch finds no GPU here")
    rows = [row for part, count in PARTS.items() for row in measure(part, count)]
    about = {"gpu": torch.cuda.get_device_name(), "torch": torch.__version__}
    machine.save("gpu_decoder", {"machine": machine.describe(), **about, "rows": rows})


if __name__ == "__main__":
    main()
