"""Compare every mechanism on the embedded space, at several epsilons.

For laws in a distance all numbers are exact, over all 33,860 words and all pairs: the
certificate, the chance that a word stays (N_w), the expected distance of the output,
and the risk of the best guess of the input from the output (Bayes risk), under a
uniform prior and under word frequencies. For the others N_w and the distance are
estimated from draws of 500 words, and the risk is at most one minus the mean N_w.

Writes benchmarks/results/mechanisms.json; docs/explanation/which-mechanism.md shows it
(benchmarks/mechanisms_page.py).
"""

from __future__ import annotations

import threading

import machine
import numpy as np

from mondegreen import Space, load_space, mechanism
from mondegreen.audit.run import audit_state
from mondegreen.errors import ConfigurationError
from mondegreen.mechanisms.selection.certificate import log_normalisers
from mondegreen.mechanisms.selection.law import ExponentialLaw
from mondegreen.mechanisms.selection.tight import TightLaw
from mondegreen.space.metric import distances
from mondegreen.space.pairs import PairTiles, stripes

SPACE = load_space()
DRAWS, SAMPLE = 40, 500
AUDIT = {"runs": 4000, "pairs": 8, "seed": 0}
CASES = {
    "exponential": [{"epsilon": e} for e in (1.0, 2.0, 2.5, 3.0, 4.0)],
    "tem": [{"epsilon": e} for e in (1.0, 2.0, 2.5, 3.0, 4.0)],
    "calibrated": [{"epsilon": e} for e in (1.0, 1.5, 2.0, 2.5, 3.0)],
    "calibrated (TEM)": [{"epsilon": e, "beta": 0.001} for e in (1.5, 2.0, 2.5, 3.0)],
    "tight": [{"epsilon": e} for e in (1.5, 2.0, 2.5)],
    "laplace": [{"epsilon": e} for e in (6.0, 10.0, 14.0, 18.0)],
    "mahalanobis": [{"epsilon": e} for e in (6.0, 10.0, 14.0, 18.0)],
    "vickrey": [{"epsilon": e} for e in (6.0, 10.0, 14.0, 18.0)],
    "brr": [{"epsilon": e} for e in (0.25, 0.5, 0.75, 1.0)],
    "syntf": [{"epsilon": e} for e in (10.0, 20.0, 25.0, 30.0)],
    "hyperbolic": [{"epsilon": e} for e in (1.0, 4.0, 12.0)],
    "vickrey_literal": [{"epsilon": e} for e in (10.0, 14.0, 18.0)],
    "truncated_gumbel": [{"epsilon": e} for e in (36.0, 50.0)],
    "santext_plus": [{"epsilon": e} for e in (2.0, 2.5)],
    "custext": [{"epsilon": e} for e in (2.0, 4.0, 10.0)],
}


def frequencies() -> np.ndarray:
    """Return a public prior: occurrences in 21.8 million tokens of review and news."""
    folder = machine.SHARED / "vectors"
    words = (folder / "w2v_imdb.words.txt").read_text(encoding="utf-8").split("\n")
    counts = dict(zip(words, np.load(folder / "w2v_imdb.counts.npy"), strict=False))
    found = np.array([counts.get(word, 0) + 1.0 for word in SPACE.words])
    return found / found.sum()


COUNT = SPACE.vocab_size
PRIORS = [np.full(COUNT, 1 / COUNT), frequencies()]


def exact(laws: list[ExponentialLaw | TightLaw]) -> list[dict[str, float]]:
    """Return the exact numbers of laws in a distance."""
    tiles = PairTiles(SPACE)
    tables = [Table(law) for law in laws]
    plain = [table for table in tables if isinstance(table.law, ExponentialLaw)]
    sums = log_normalisers(tiles, [table.law for table in plain])
    for table, log_sums in zip(plain, sums, strict=True):
        table.inputs = -log_sums[:-1]

    def work(i: int, j: int, distances: np.ndarray) -> None:
        words = distances[: max(0, COUNT - i), : max(0, COUNT - j)]
        rows, columns = words.shape
        for stripe in stripes(rows):
            a, b = np.arange(i, i + rows)[stripe], np.arange(j, j + columns)
            for table in tables:
                table.add(a, b, words[stripe])
                if i != j:
                    table.add(b, a, words[stripe].T)

    tiles.each(work)
    return [table.numbers() for table in tables]


class Table:
    """What is known of one law after all pairs have been added."""

    def __init__(self, law: ExponentialLaw | TightLaw) -> None:
        self.law = law
        # logarithms of the factors of input and output beside the exponential
        self.inputs = np.zeros(COUNT)
        self.outputs = (
            np.log(law.mu[:-1]) if isinstance(law, TightLaw) else np.zeros(COUNT)
        )
        self.best = np.zeros((len(PRIORS), COUNT))
        self.length = 0.0
        self.lock = threading.Lock()

    def add(self, inputs: np.ndarray, outputs: np.ndarray, gaps: np.ndarray) -> None:
        """Account for some inputs (rows) and outputs (columns)."""
        if not gaps.size:
            return
        logs = -self.law.rate * np.minimum(gaps, self.law.cutoff)
        logs += self.inputs[inputs][:, None]
        logs += self.outputs[outputs]
        law = np.exp(logs, out=logs)
        peaks = [(law * prior[inputs][:, None]).max(axis=0) for prior in PRIORS]
        moved = float((law * gaps).sum()) / COUNT
        with self.lock:
            self.length += moved
            self.best[:, outputs] = np.maximum(self.best[:, outputs], peaks)

    def numbers(self) -> dict[str, float]:
        """Return the scores."""
        stays = np.exp(self.inputs + self.outputs)
        return {
            "n_w_mean": float(stays.mean()),
            "n_w_95": float(np.quantile(stays, 0.95)),
            "distance": self.length,
            "risk_uniform": 1 - float(self.best[0].sum()),
            "risk_frequency": 1 - float(self.best[1].sum()),
        }


def sampled(state) -> dict[str, float]:
    """Return estimates from draws of an even sample of the words."""
    rng, space = np.random.default_rng(0), state.space
    words = np.linspace(0, space.vocab_size - 1, SAMPLE).astype(np.int32)
    ids = np.repeat(words, DRAWS)
    out = state.sample(ids, rng)
    stays = (out == ids).reshape(SAMPLE, DRAWS).mean(axis=1)
    gaps = np.array(
        [
            distances(space.metric, space.points(ids[i : i + 1]), space.points(seen))
            for i, seen in zip(
                range(0, len(ids), DRAWS), out.reshape(-1, DRAWS), strict=True
            )
        ]
    )
    return {
        "n_w_mean": float(stays.mean()),
        "n_w_95": float(np.quantile(stays, 0.95)),
        "distance": float(gaps.mean()),
        "risk_uniform_at_most": 1 - float(stays.mean()),
    }


def mammals() -> Space:
    """Return the space of 1,182 mammals in the Poincaré ball."""
    folder = machine.SHARED / "wordnet"
    words = (folder / "mammal_poincare_10d.words.txt").read_text(encoding="utf-8")
    vectors = np.load(folder / "mammal_poincare_10d.npy")
    return Space.from_arrays("mammals", words.split(), vectors, metric="poincare")


def verdict(state) -> dict[str, object]:
    """Return what the audit says of a mechanism as it is prepared here."""
    report = audit_state(state, **AUDIT)
    return {
        "method": report.method,
        "verdict": report.verdict,
        "found_is": report.found_is,
        "found": report.found,
    }


def main() -> None:
    """Compute the table and write the result file."""
    rows, laws = [], []
    for label, cases in CASES.items():
        for parameters in cases:
            row = {"mechanism": label, **parameters}
            rows.append(row)
            chosen = mechanism(label.split()[0], **parameters)
            try:
                state = chosen.prepare(mammals() if label == "hyperbolic" else SPACE)
            except ConfigurationError as error:
                row["refused"] = str(error)
                print(row, flush=True)
                continue
            promise = state.guarantee
            row |= {
                "proved": promise.is_proved,
                "certified": promise.certified,
                "metric": promise.metric,
                "nats_nearest": promise.loss(promise.scale["nearest"]),
                "nats_any": promise.loss(promise.scale["diameter"]),
                "verdict": verdict(state),
            }
            law = getattr(state, "law", None)
            if isinstance(law, ExponentialLaw | TightLaw):
                laws.append((row, law))
            else:
                row |= sampled(state)
            print(row, flush=True)
    for (row, _), numbers in zip(laws, exact([law for _, law in laws]), strict=True):
        row.update(numbers)
    machine.save("mechanisms", {"space": SPACE.name, "rows": rows})


if __name__ == "__main__":
    main()
