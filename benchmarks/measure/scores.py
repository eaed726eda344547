"""Exact scores of closed laws over the embedded space: how long, how much memory.

Correctness first: for an even sample of words the scores are compared with those of
the integer law that is sampled, row by row. Then one law is timed alone, and several
in one pass. Writes benchmarks/results/scores.json. Run it on an idle machine.
"""

from __future__ import annotations

import os

# As the command line: a thread for each core, none of them with threads of its own.
os.environ["OMP_NUM_THREADS"] = "1"

import resource
import time

import numpy as np

from benchmarks import machine
from mondegreen import load_space, mechanism
from mondegreen.scores import deniability
from mondegreen.scores.law import LawScores, law_scores

SPACE = load_space()
CASES = [("tem", 2.5), ("tight", 2.0)]
SAMPLE = 200
ETA = 0.05


def check(state, scores: LawScores) -> dict[str, float]:
    """The largest differences from the integer law; raise if they are large."""
    words = np.unique(np.linspace(0, SPACE.vocab_size - 1, SAMPLE).astype(np.int32))
    law = np.exp(state.log_prob(words))
    stay = law[np.arange(len(words)), words]
    support = deniability.effective_support(law, ETA)
    entropy = deniability.renyi_entropy(law, 1.0)
    gaps = {
        "n_w_relative": float(np.abs(scores.stay[words] / stay - 1).max()),
        "s_w_words": int(np.abs(scores.support[words] - support).max()),
        "entropy_1_nats": float(np.abs(scores.entropies[1.0][words] - entropy).max()),
    }
    assert gaps["n_w_relative"] < 2e-4, gaps
    assert gaps["s_w_words"] <= 2e-4 * SPACE.vocab_size, gaps
    return gaps


def timed(states) -> tuple[list[LawScores], dict[str, float]]:
    """The scores, and wall and processor seconds."""
    before = resource.getrusage(resource.RUSAGE_SELF)
    start = time.perf_counter()
    found = law_scores(states, eta=ETA)
    wall = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_SELF)
    spent = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return found, {"seconds": wall, "processor_seconds": spent}


def main() -> None:
    """Check, time and write."""
    states = [mechanism(name, epsilon=e).prepare(SPACE) for name, e in CASES]
    (alone,), one = timed(states[:1])
    one["peak_megabytes"] = (
        resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    )  # of the whole process, the space included
    one["differences"] = check(states[0], alone)
    together, all_of_them = timed(states)
    rows = []
    for (name, epsilon), state, scores in zip(CASES, states, together, strict=True):
        differences = check(state, scores)
        row = {"mechanism": name, "epsilon": epsilon, **scores.summary()}
        rows.append({**row, "differences": differences})
    result = {
        "space": SPACE.name,
        "words": SPACE.vocab_size,
        "one_law": one,
        "all_laws": {"laws": len(CASES), **all_of_them},
        "rows": rows,
    }
    machine.save("scores", result)


if __name__ == "__main__":
    main()
