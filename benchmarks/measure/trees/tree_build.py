"""How long a word tree takes for 102,179 words; writes results/tree_build.json.

    python -m benchmarks tree_build

Without classes, so that one balanced k-means holds all words: the slowest case.
"""

from __future__ import annotations

import time

import numpy as np

import mondegreen as mg
from benchmarks import machine
from mondegreen.space.tree_build import build_tree


def main() -> None:
    """Build once and report."""
    folder = machine.SHARED / "vectors"
    vectors = np.load(folder / "w2v_imdb_300d.npy")
    words = (folder / "w2v_imdb.words.txt").read_text("utf-8").split("\n")
    words = words[: len(vectors)]
    space = mg.Space.from_arrays("w2v_imdb_300d", words, vectors)
    start = time.perf_counter()
    tree = build_tree(space, leaf=24, frequency=0.3)
    seconds = time.perf_counter() - start
    machine.save(
        "tree_build",
        {
            "words": space.vocab_size,
            "dim": space.dim,
            "nodes": [len(bound) - 1 for bound in tree.bounds],
            "tree": tree.digest,
            "bytes": len(tree.to_bytes()),
            "seconds": round(seconds, 1),
        },
    )


if __name__ == "__main__":
    main()
