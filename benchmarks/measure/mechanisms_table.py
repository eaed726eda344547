"""Compare every mechanism on the embedded space, at several epsilons.

For closed laws all numbers are exact, over all 33,860 words and all pairs: the
certificate, the chance that a word stays (N_w), the expected distance of the output,
and the risk of the best guess of the input from the output (Bayes risk), under a
uniform prior and under word frequencies. For the others N_w and the distance are
estimated from draws, and the risks are bounds. ``(mammals)`` marks a space of 1,182
words in the Poincaré ball, since the embedded one is Euclidean. The verdict is that of
``mondegreen audit`` on the same mechanism and space.

Writes benchmarks/results/mechanisms.json; docs/explanation/which-mechanism.md shows it
(benchmarks/pages/mechanisms_page.py).
"""

from __future__ import annotations

import argparse
import json

import numpy as np

from benchmarks import machine
from mondegreen import Space, load_space, mechanism
from mondegreen.audit.run import audit_state
from mondegreen.calibration.monte_carlo import prior_scores, sample_outputs
from mondegreen.errors import ConfigurationError
from mondegreen.mechanisms.base import State
from mondegreen.mechanisms.selection.base import SelectionState
from mondegreen.mechanisms.selection.tree import TreeState
from mondegreen.scores.law import law_scores

SPACE = load_space()
DRAWS, SAMPLE, RISK_DRAWS = 40, 500, 40_000
KEYS = (
    ("n_w_mean", "n_w_mean"),
    ("n_w_95", "n_w_95"),
    ("distance_mean", "distance"),
    ("bayes_risk_uniform", "risk_uniform"),
    ("bayes_risk_frequency", "risk_frequency"),
)
AUDIT = {"runs": 4000, "pairs": 8, "seed": 0}
CASES = {
    "tree": [{"epsilon": e} for e in (6.0, 8.0, 10.0, 12.0, 14.0)],
    "exponential": [{"epsilon": e} for e in (1.0, 2.0, 2.5, 3.0, 4.0)],
    "tem": [{"epsilon": e} for e in (1.0, 2.0, 2.5, 3.0, 4.0)],
    "calibrated": [{"epsilon": e, "beta": 0.001} for e in (1.0, 1.5, 2.0, 2.5, 3.0)],
    "calibrated (plain)": [
        {"epsilon": e, "beta": None} for e in (1.0, 1.5, 2.0, 2.5, 3.0)
    ],
    "tight": [{"epsilon": e} for e in (1.5, 2.0, 2.5)],
    "laplace": [{"epsilon": e} for e in (6.0, 10.0, 14.0, 18.0)],
    "mahalanobis": [{"epsilon": e} for e in (6.0, 10.0, 14.0, 18.0)],
    "vickrey": [{"epsilon": e} for e in (6.0, 10.0, 14.0, 18.0)],
    "brr": [{"epsilon": e} for e in (0.25, 0.5, 0.75, 1.0)],
    "syntf": [{"epsilon": e} for e in (20.0, 25.0, 30.0)],
    "exponential (mammals)": [{"epsilon": e} for e in (1.0, 4.0)],
    "hyperbolic (mammals)": [{"epsilon": e} for e in (10.0, 12.0)],
    "vickrey_literal": [{"epsilon": e} for e in (10.0, 14.0, 18.0)],
    "truncated_gumbel": [{"epsilon": e} for e in (36.0, 50.0)],
    "santext_plus": [{"epsilon": e} for e in (2.0, 2.5)],
    "custext": [{"epsilon": e} for e in (2.0, 4.0, 10.0)],
}


def frequencies() -> np.ndarray:
    """A public prior: occurrences in 21.8 million tokens of review and news."""
    folder = machine.SHARED / "vectors"
    words = (folder / "w2v_imdb.words.txt").read_text(encoding="utf-8").split("\n")
    counts = dict(zip(words, np.load(folder / "w2v_imdb.counts.npy"), strict=False))
    found = np.array([counts.get(word, 0) + 1.0 for word in SPACE.words])
    return found / found.sum()


def priors(space: Space) -> dict[str, np.ndarray]:
    """What an adversary may expect of the words of a space, none unknown."""
    found = {"uniform": np.full(space.vocab_size, 1 / space.vocab_size)}
    if space is SPACE:
        found["frequency"] = frequencies()
    return {name: np.append(prior, 0.0) for name, prior in found.items()}


def exact(states: list[State]) -> list[dict[str, float]]:
    """The exact numbers of closed laws on one space, in one pass."""
    found = law_scores(states, priors(states[0].space), eta=None)
    return [
        {new: scores.summary()[old] for old, new in KEYS if old in scores.summary()}
        for scores in found
    ]


def estimates(state: State) -> dict[str, object]:
    """Estimates from draws."""
    rng, space = np.random.default_rng(0), state.space
    words = np.linspace(0, space.vocab_size - 1, SAMPLE).astype(np.int32)
    outputs = sample_outputs(state, np.repeat(words, DRAWS), rng).reshape(
        len(words), DRAWS
    )
    stays = (outputs == words[:, None]).mean(axis=1)
    found = {
        "n_w_mean": float(stays.mean()),
        "n_w_95": float(np.quantile(stays, 0.95)),
        "risk_uniform_at_most": 1 - float(stays.mean()),
    }
    for name, prior in priors(space).items():
        scores = prior_scores(state, prior, RISK_DRAWS, rng)
        if name == "uniform":
            found["distance"] = sum(scores["utility_loss"]) / 2
        else:
            found[f"risk_{name}_between"] = list(scores["bayes_risk"])
    return found


def mammals() -> Space:
    """The space of 1,182 mammals in the Poincaré ball."""
    folder = machine.SHARED / "wordnet"
    words = (folder / "mammal_poincare_10d.words.txt").read_text(encoding="utf-8")
    vectors = np.load(folder / "mammal_poincare_10d.npy")
    return Space.from_arrays("mammals", words.split(), vectors, metric="poincare")


def verdict(state) -> dict[str, object]:
    """What the audit says of a mechanism as it is prepared here."""
    report = audit_state(state, **AUDIT)
    return {
        "method": report.method,
        "verdict": report.verdict,
        "found_is": report.found_is,
        "found": report.found,
    }


def main() -> None:
    """Compute the table and write the result file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*", choices=CASES, help="repeat these alone")
    only = parser.parse_args().only or list(CASES)
    known = stored()
    rows, closed = [], []
    for label, cases in CASES.items():
        if label not in only:
            rows += [row for row in known if row["mechanism"] == label]
            continue
        for parameters in cases:
            row = {"mechanism": label, **parameters}
            rows.append(row)
            space = SPACE if "(mammals)" not in label else mammals()
            try:
                state = mechanism(label.split()[0], **parameters).prepare(space)
            except ConfigurationError as error:
                row["refused"] = str(error)
                continue
            row |= promise(state)
            if isinstance(state, SelectionState | TreeState):
                closed.append((row, state))
            else:
                row |= estimates(state)
            print(row, flush=True)
    for digest in {state.space.digest for _, state in closed}:
        here = [(row, state) for row, state in closed if state.space.digest == digest]
        numbers = exact([state for _, state in here])
        for (row, _), found in zip(here, numbers, strict=True):
            row |= found
    machine.save("mechanisms", {"space": SPACE.name, "rows": rows})


def stored() -> list[dict]:
    """The rows of an earlier run."""
    path = machine.RESULTS / "mechanisms.json"
    return json.loads(path.read_text())["rows"] if path.exists() else []


def promise(state: State) -> dict[str, object]:
    """What a state promises, and what the audit says of that."""
    guarantee = state.guarantee
    return {
        "proved": guarantee.is_proved,
        "certified": guarantee.certified,
        "metric": guarantee.metric,
        "nats_nearest": guarantee.loss(guarantee.scale["nearest"]),
        "nats_any": guarantee.loss(guarantee.scale["diameter"]),
        "verdict": verdict(state),
    }


if __name__ == "__main__":
    main()
