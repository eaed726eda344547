"""Certificates of the embedded space against brute force over all pairs of inputs.

Straight from the formula of the law, in double precision and in numpy alone: for each
pair of words the log-ratio at both of them, for each word and the unknown word the
largest over all outputs, either way round; then, for some inputs and for the steepest
pairs, every output whatever. Nothing of mondegreen is used but the numbers that make
up a law. Takes about two minutes on two cores.

    python -m benchmarks brute_force

Writes benchmarks/results/certificates.json.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from benchmarks import machine

Floats = NDArray[np.float64]

ROWS = 512

LAWS = {
    # What was stated while the unknown word was charged as if it could come out.
    ("calibrated", 1.7): 1.6900,
    ("calibrated", 3.0): 2.9477,
    ("calibrated", 8.0): 7.9614,
    ("exponential", 2.5): 1.6763,
    ("exponential", 8.0): 7.1044,
    ("tem", 2.0): 1.4385,
    ("tem", 8.0): 6.0497,
}
"""At the rates that ``calibrated`` had then: what it spends has changed since."""

RATES = {1.7: 1.26145, 3.0: 2.24014, 8.0: 5.68176}


def squared_gaps(points: Floats, vectors: Floats) -> Floats:
    """Squared distances; a point is at 0 from itself."""
    table: Floats = -2 * points @ vectors.T
    table += (points**2).sum(axis=1)[:, None]
    table += (vectors**2).sum(axis=1)
    table[table < 1e-9] = 0.0
    return table


def log_laws(
    points: Floats, vectors: Floats, rate: float, cutoff: float
) -> tuple[Floats, Floats]:
    """Ln P(y | x) of some points for all words, and min(d, g)."""
    gaps = np.minimum(np.sqrt(squared_gaps(points, vectors)), cutoff)
    log = -rate * gaps
    log -= np.log(np.exp(log).sum(axis=1, keepdims=True))
    return log, gaps


def brute_force(
    vectors: Floats, unknown: Floats, laws: list[tuple[float, float]]
) -> list[dict[str, float]]:
    """The largest loss per unit of distance of each law, and its pair.

    ``words`` is over all pairs of words, ``unknown`` over words and the unknown word,
    ``pair`` the two words, or a word and V, that lose most.
    """
    count = len(vectors)
    found = [{"words": 0.0, "unknown": 0.0, "pair": (0, count)} for _ in laws]
    diagonals = [np.empty(count) for _ in laws]  # ln P(w | w)
    of_unknown = [log_laws(unknown[None], vectors, *law) for law in laws]
    for turn in (0, 1):
        for start in range(0, count, ROWS):
            rows = np.arange(start, min(start + ROWS, count))
            squares = squared_gaps(vectors[rows], vectors)
            squares[np.arange(len(rows)), rows] = 0.0
            distances = np.sqrt(squares)
            for k, (rate, cutoff) in enumerate(laws):
                gaps = np.minimum(distances, cutoff)
                log = -rate * gaps
                if turn == 0:
                    diagonals[k][rows] = -np.log(np.exp(log).sum(axis=1))
                    continue
                log += diagonals[k][rows, None]
                _compare(found[k], rows, log, gaps, diagonals[k], of_unknown[k])
    return found


def _compare(
    found: dict[str, float],
    rows: NDArray[np.intp],
    log: Floats,
    gaps: Floats,
    diagonal: Floats,
    of_unknown: tuple[Floats, Floats],
) -> None:
    """Take in the pairs of some words with all words and with the unknown word."""
    before = max(found["words"], found["unknown"])
    log_unknown, gaps_unknown = of_unknown
    ratios = log - log_unknown
    loss = np.maximum(ratios.max(axis=1), -ratios.min(axis=1)) / gaps_unknown[0, rows]
    worst = int(loss.argmax())
    found["unknown"] = max(found["unknown"], float(loss[worst]))
    if loss[worst] > before:
        found["pair"] = (int(rows[worst]), log.shape[1])
        before = float(loss[worst])
    loss = diagonal - log  # at y = w': ln P(w' | w') - ln P(w' | w)
    with np.errstate(divide="ignore", invalid="ignore"):
        loss /= gaps
    loss[gaps == 0] = 0.0
    row, column = np.unravel_index(int(loss.argmax()), loss.shape)
    found["words"] = max(found["words"], float(loss[row, column]))
    if loss[row, column] > before:
        found["pair"] = (int(rows[row]), int(column))


def triples(
    points: Floats, vectors: Floats, rate: float, cutoff: float
) -> tuple[float, Floats]:
    """The largest loss per unit of distance of some points, over all outputs."""
    log, _ = log_laws(points, vectors, rate, cutoff)
    gaps = np.minimum(np.sqrt(squared_gaps(points, points)), cutoff)
    most = 0.0
    for i in range(1, len(points)):
        loss = np.abs(log[:i] - log[i]).max(axis=1)
        apart = gaps[i, :i] > 0
        most = max(most, float((loss[apart] / gaps[i, :i][apart]).max(initial=0.0)))
    return most, gaps


def main() -> None:
    """Compare, and save."""
    import mondegreen as mg
    from mondegreen.mechanisms.laws.certificate import exact_epsilons
    from mondegreen.mechanisms.selection.exponential import ExponentialLaw

    space = mg.load_space()
    vectors, rng = space.vectors.astype(np.float64), np.random.default_rng(0)
    laws = []
    for name, epsilon in LAWS:
        law = mg.mechanism(name, epsilon=epsilon).prepare(space).law
        if name == "calibrated":
            cutoff = mg.mechanism(name, epsilon=epsilon).cutoff(
                RATES[epsilon], space.vocab_size
            )
            law = ExponentialLaw(space, RATES[epsilon], cutoff)
        laws.append(law)
    exact = brute_force(
        vectors, space.unknown, [(law.rate, law.cutoff) for law in laws]
    )
    certificates = exact_epsilons(laws)
    rows = []
    for (key, before), law, found, now in zip(
        LAWS.items(), laws, exact, certificates, strict=True
    ):
        some = rng.choice(space.vocab_size, 150, replace=False)
        inputs = np.unique([*some, *found["pair"], space.vocab_size])
        points = space.points(inputs.astype(np.int32))
        sampled, _ = triples(points, vectors, law.rate, law.cutoff)
        rows.append(
            {
                "mechanism": key[0],
                "epsilon": key[1],
                "rate": law.rate,
                "cutoff": law.cutoff,
                "stated_before": before,
                "certificate": round(now, 6),
                "brute_force": round(max(found["words"], found["unknown"]), 6),
                "words_alone": round(found["words"], 6),
                "with_the_unknown_word": round(found["unknown"], 6),
                "worst_pair_and_150_inputs_over_all_outputs": round(sampled, 6),
            }
        )
    machine.save("certificates", {"space": space.digest, "laws": rows})


if __name__ == "__main__":
    main()
