"""Measure what tools leave in texts, side by side; write results/scoreboard.json.

    python -m benchmarks scoreboard [--jobs N] [--runs FOLDER]

It is ``mondegreen reproduce scoreboard --peers --data shared/data``, with the machine
beside the numbers. Finished tools are kept, so that a run which was stopped goes on.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from benchmarks import machine
from mondegreen.files import home
from mondegreen_experiments.bench import Bench
from mondegreen_experiments.result import Result
from mondegreen_experiments.run import run_all
from mondegreen_experiments.scoreboard.board import Asked, build_recipe


def tell(line: object) -> None:
    """Say how far it is."""
    print(line, file=sys.stderr, flush=True)


def main() -> None:
    """Measure all tools on all sets, and write what came out."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--runs", type=Path, default=home() / "runs")
    options = parser.parse_args()
    bench = Bench(machine.SHARED)
    recipe = build_recipe(Asked(has_peers=True), bench, "quick", tell)
    (found,) = run_all(
        [recipe], "quick", bench, options.runs, tell, options.jobs
    ).values()
    if isinstance(found, Exception):
        raise found
    machine.save("scoreboard", Result.of(recipe, found).to_dict())


if __name__ == "__main__":
    main()
