"""Measure the papers' experiments again, all or those that are named.

``python -m benchmarks reproductions [NAME]... [--scale full] [--jobs N] [--data FOLDER]
[--runs FOLDER]`` writes results/reproductions.json, what the runs say together beside
what was published, and results/reproductions.parquet, every run. What is measured again
takes the place of the same recipe at the same scale, as soon as it is done; all other
results stay. Runs are kept, so that interrupted work goes on where it was. With
``--from-runs`` nothing is measured: results are those of the runs that
reproductions.parquet holds, by the claims of today.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import os
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks import machine
from mondegreen.files import home
from mondegreen_experiments.bench import Bench
from mondegreen_experiments.kept import Run, table_of, write_parquet
from mondegreen_experiments.papers import NAMES, recipe_named
from mondegreen_experiments.recipe import Recipe, Scale
from mondegreen_experiments.result import Result, result_of
from mondegreen_experiments.run import Outcome, run_all

RESULT: Final = machine.RESULTS / "reproductions.json"
RUNS: Final = machine.RESULTS / "reproductions.parquet"
OF_PAPERS: Final = ("paper", "printed", "tolerance")
"""What holds numbers of the papers, which are kept as they are."""

LIBRARIES: Final = ("torch", "scikit-learn")
Found = list[tuple[Recipe, Sequence[Run]]]


def main() -> int:
    """Measure, and write what was found; 1 where a recipe could not be measured."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("names", nargs="*", metavar="NAME")
    options.add_argument("--scale", choices=("quick", "full"), default="quick")
    options.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options.add_argument("--data", type=Path, default=machine.SHARED)
    options.add_argument("--runs", type=Path, default=home() / "runs")
    options.add_argument("--from-runs", action="store_true")
    said = options.parse_args()
    if said.from_runs:
        judge_again(said.names or NAMES)
        return 0
    recipes = [recipe_named(name) for name in said.names or NAMES]
    absent = {n for each in recipes for n in each.needs if find_spec(n) is None}
    if absent:
        print(f"install first: {', '.join(sorted(absent))}", file=sys.stderr)
        return 1
    about, failed = about_machine(), []

    def finished(recipe: Recipe, outcome: Outcome) -> None:
        each = result_of(recipe, outcome)
        if isinstance(each, Exception) or isinstance(outcome, Exception):
            print(f"{recipe.name} FAILED: {each!r}", file=sys.stderr, flush=True)
            failed.append(recipe.name)
            return
        keep_results(said.scale, [(recipe, outcome)], about)
        keep_runs(said.scale, [(recipe, outcome)])
        told = f"claims {each.held}, numbers {each.agreed}, {each.seconds:.0f} s"
        print(f"{recipe.name}: {told}", file=sys.stderr, flush=True)

    bench = Bench(said.data)
    run_all(recipes, said.scale, bench, said.runs, _show, said.jobs, finished)
    return int(bool(failed))


def judge_again(names: Sequence[str]) -> None:
    """Compare the kept runs with the claims of today; what measured them stays said."""
    for row in json.loads(RESULT.read_text("utf-8"))["results"]:
        if row["recipe"] in names:
            recipe, scale = recipe_named(row["recipe"]), row["scale"]
            found = [(recipe, runs_in(RUNS, recipe, scale))]
            keep_results(scale, found, row["machine"])


def runs_in(path: Path, recipe: Recipe, scale: Scale) -> list[Run]:
    """Read the runs of a recipe at a scale from the table of all runs."""
    runs: dict[tuple[str, int], Run] = {}
    own = [("recipe", "=", recipe.name), ("scale", "=", scale)]
    for each in pq.read_table(path, filters=own).to_pylist():
        run = Run(json.loads(each["point"]), each["seed"], {}, each["seconds"])
        run = runs.setdefault((each["point"], each["seed"]), run)
        value = each["text"] if each["value"] is None else each["value"]
        run.measured[each["measure"]] = value  # type: ignore[index]
    return list(runs.values())


def about_machine() -> dict[str, Any]:
    """As the other results, and the libraries of the experiments."""
    described: dict[str, Any] = dict(machine.describe())
    versions = {name: importlib.metadata.version(name) for name in LIBRARIES}
    return {**described, "versions": {**described["versions"], **versions}}


def _show(message: str) -> None:
    if message and sys.stderr.isatty():
        print(f"\r\x1b[K{message}", end="", file=sys.stderr, flush=True)


def keep_results(scale: Scale, found: Found, about: dict[str, Any]) -> None:
    """Put results into the file, one a line, in the order of the recipes."""
    stored = json.loads(RESULT.read_text("utf-8"))["results"] if RESULT.exists() else []
    known = {(each["recipe"], each["scale"]): each for each in stored}
    for recipe, runs in found:
        told = rounded(Result.of(recipe, runs).to_dict())
        known[recipe.name, scale] = {"scale": scale, **told, "machine": about}
    order = {name: place for place, name in enumerate(NAMES)}
    rows = [
        json.dumps(known[key])
        for key in sorted(known, key=lambda key: (order.get(key[0], 0), key[1]))
        if key[0] in order
    ]
    whole = f'{{"machine": {json.dumps(about)}, "results": [\n'
    RESULT.write_text(whole + ",\n".join(rows) + "\n]}\n", encoding="utf-8")


def rounded(value: Any) -> Any:
    """The same with every number to six digits, but for those of the papers."""
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, dict):
        return {
            name: each if name in OF_PAPERS else rounded(each)
            for name, each in value.items()
        }
    if isinstance(value, list | tuple):
        return [rounded(each) for each in value]
    return value


def keep_runs(scale: Scale, found: Found) -> None:
    """Put runs into the table, in place of those of the same recipes and scale."""
    table = table_of(scale, found)
    if RUNS.exists():
        old = pq.read_table(RUNS)
        names = {recipe.name for recipe, _ in found}
        stays = [
            row["recipe"] in NAMES
            and (row["recipe"] not in names or row["scale"] != scale)
            for row in old.select(["recipe", "scale"]).to_pylist()
        ]
        table = pa.concat_tables([old.filter(pa.array(stays, pa.bool_())), table])
    order = [NAMES.index(name) for name in table["recipe"].to_pylist()]
    rows = sorted(range(len(order)), key=order.__getitem__)
    write_parquet(RUNS, table.take(pa.array(rows, pa.int64())))


if __name__ == "__main__":
    sys.exit(main())
