r"""Does permute-and-flip earn a place beside the exponential mechanism?

Permute-and-flip (McKenna and Sheldon, NeurIPS 2020) visits the words in random order
and takes word y with probability :math:`a_y = e^{-c d(w, y)}`, until one is taken; here
the best score is always 0, at the word itself. Its law is

.. math:: P(y | w) = a_y \int_0^1 \prod_{z \ne y} (1 - t a_z) \, dt,

against :math:`a_y / \sum_z a_z` of the exponential mechanism. Both are run at the
largest c whose exact epsilon (all pairs of inputs, all outputs) is the one asked
for, on every 34th word of the embedded space, and compared at equal certified epsilon
and at equal Bayes risk. Writes benchmarks/results/permute_and_flip.json.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from benchmarks import machine
from mondegreen import load_space
from mondegreen.space.metric import distances

STEP, NODES = 34, 96
EPSILONS = (1.0, 1.5, 2.0, 2.5, 3.0, 4.0)

Law = Callable[[np.ndarray, float], np.ndarray]


def exponential(gaps: np.ndarray, rate: float) -> np.ndarray:
    """The law of every input, (V, V)."""
    weights = np.exp(-rate * gaps)
    return weights / weights.sum(axis=1, keepdims=True)


def permute_and_flip(gaps: np.ndarray, rate: float) -> np.ndarray:
    """The law of every input, by Gauss-Legendre quadrature over t."""
    weights = np.exp(-rate * gaps)
    np.fill_diagonal(weights, 0.0)  # the word itself is treated apart: its a is 1
    law = np.zeros_like(weights)
    x, steps = np.polynomial.legendre.leggauss(NODES)
    for word, others in enumerate(weights):
        # The product is below exp(-t sum): beyond 50 / sum nothing is left.
        end = min(1.0, 50 / max(others.sum(), 1e-300))
        t = (x + 1) / 2 * end
        factors = 1 - t[:, None] * others
        rest = np.exp(np.log(factors).sum(axis=1)) * steps * end / 2
        law[word] = others * (((1 - t) * rest)[:, None] / factors).sum(axis=0)
        law[word, word] = rest.sum()
    return law


def exact_epsilon(law: np.ndarray, gaps: np.ndarray) -> float:
    """The largest log-ratio per unit of distance, over everything."""
    logs = np.log(law)
    worst = 0.0
    for word in range(1, len(law)):
        loss = np.abs(logs[:word] - logs[word]).max(axis=1)
        worst = max(worst, float((loss / gaps[word, :word]).max()))
    return worst


def calibrated(law: Law, gaps: np.ndarray, epsilon: float) -> tuple[float, np.ndarray]:
    """The largest rate whose exact epsilon is at most the one asked for."""
    low, high = epsilon / 2, epsilon
    for _ in range(9):
        rate = (low + high) / 2
        if exact_epsilon(law(gaps, rate), gaps) <= epsilon:
            low = rate
        else:
            high = rate
    return low, law(gaps, low)


def scores(law: np.ndarray, gaps: np.ndarray) -> dict[str, float]:
    """Chance to stay, expected distance and Bayes risk (uniform prior)."""
    return {
        "n_w_mean": float(np.diag(law).mean()),
        "distance": float((law * gaps).sum(axis=1).mean()),
        "risk_uniform": 1 - float(law.max(axis=0).mean()),
    }


def main() -> None:
    """Compare, and write the result."""
    space = load_space()
    points = space.points(np.arange(0, space.vocab_size, STEP, dtype=np.int32))
    gaps = distances("euclidean", points, points)
    for law in (exponential, permute_and_flip):
        sums = law(gaps, 1.5).sum(axis=1)
        assert np.abs(sums - 1).max() < 1e-8, sums
    rows = []
    for epsilon in EPSILONS:
        for law in (exponential, permute_and_flip):
            rate, table = calibrated(law, gaps, epsilon)
            row = {"law": law.__name__, "epsilon": epsilon, "rate": rate}
            rows.append(row | scores(table, gaps))
            print(rows[-1], flush=True)
    # At equal Bayes risk: the frontier of both, by the rate.
    frontier = [
        {"law": law.__name__, "rate": rate} | scores(law(gaps, rate), gaps)
        for law in (exponential, permute_and_flip)
        for rate in np.arange(0.4, 3.0, 0.1).tolist()
    ]
    machine.save(
        "permute_and_flip", {"words": len(gaps), "rows": rows, "frontier": frontier}
    )


if __name__ == "__main__":
    main()
