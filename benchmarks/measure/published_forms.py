"""Audit published forms without metric privacy over all words, exactly, on few words.

Laws in closed form on the 200 most frequent words of the embedded space, literal
Vickrey on 40 words on a line, where quadrature is exact. The claim is one for all
words and outputs; the papers of SanText+ and CusText claim less. Writes
benchmarks/results/published_forms.json.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from benchmarks import machine
from mondegreen import Space, load_space, mechanism
from mondegreen.audit.run import audit_state

TESTS = Path(__file__).resolve().parents[2] / "tests"
FORMS = {
    "vickrey_literal": (2.0, "euclidean"),
    "truncated_gumbel": (12.0, "euclidean"),
    "santext_plus": (2.0, "euclidean"),
    "custext": (2.0, "discrete"),
}


def main() -> None:
    """Audit each form, and write what was found."""
    sys.path[:0] = [str(TESTS), str(TESTS / "audit")]
    from reference import known

    steps = np.random.default_rng(0).uniform(0.5, 2, 40)
    words = [f"w{i}" for i in range(len(steps))]
    line = Space.from_arrays("line", words, np.cumsum(steps)[:, None])
    embedded = load_space()
    names = list(embedded.words[:200])
    frequent = Space.from_arrays("200-words", names, embedded.vectors[:200])
    forms = {}
    for name, (epsilon, metric) in FORMS.items():
        space = line if name == "vickrey_literal" else frequent
        state = mechanism(name, epsilon=epsilon).prepare(space)
        if name == "vickrey_literal":
            state = known(state)
        report = audit_state(state, metric=metric, runs=0)
        forms[name] = report.to_dict()
        print(name, report)
    machine.save("published_forms", {"forms": forms})


if __name__ == "__main__":
    main()
