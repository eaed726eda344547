"""Measure what tools leave in texts, side by side; write results/scoreboard.json.

    python -m benchmarks scoreboard [--jobs N] [--runs FOLDER] [--kept]

It is ``mondegreen reproduce scoreboard --peers --data shared/data``, with the machine
beside the numbers. Finished tools are kept, so that a run which was stopped goes on;
``--kept`` writes those alone, and measures nothing.
"""

from __future__ import annotations

import argparse
import inspect
import sys
from pathlib import Path

from benchmarks import machine
from mondegreen.files import home
from mondegreen_experiments.bench import Bench
from mondegreen_experiments.kept import kept
from mondegreen_experiments.result import Result
from mondegreen_experiments.run import run_all
from mondegreen_experiments.scoreboard.board import Asked, build_recipe, list_points
from mondegreen_experiments.scoreboard.measure import measure


def tell(line: object) -> None:
    """Say how far it is."""
    print(line, file=sys.stderr, flush=True)


def main() -> None:
    """Measure all tools on all sets, and write what came out."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--runs", type=Path, default=home() / "runs")
    parser.add_argument("--kept", action="store_true")
    options = parser.parse_args()
    bench = Bench(machine.SHARED)
    asked = Asked(has_peers=True, installs=not options.kept)
    recipe = build_recipe(asked, bench, "quick", tell)
    if options.kept:
        known = kept(options.runs, recipe)
        keys = [recipe.key(point, 0) for point in recipe.points["quick"]]
        found = [known[key] for key in keys if key in known]
    else:
        (ended,) = run_all(
            [recipe], "quick", bench, options.runs, tell, options.jobs
        ).values()
        if isinstance(ended, Exception):
            raise ended
        found = ended
    about = inspect.getdoc(measure)
    result = Result.of(recipe, found)
    told = {"about": about, "seconds": round(result.seconds)}
    machine.save("scoreboard", {**told, "points": list_points(result)})


if __name__ == "__main__":
    main()
