"""Runs of a recipe: each is kept as soon as it is done, so that work goes on."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, final

from mondegreen.experiments.bench import Bench
from mondegreen.experiments.recipe import Found, Point, Recipe, Scale, point_key

Shown = Callable[[str], None]


@final
@dataclass(frozen=True, slots=True)
class Run:
    """What one seed gave at one point, and how long it took."""

    point: Point
    seed: int
    measured: Found
    seconds: float


def runs_of(
    recipe: Recipe, scale: Scale, bench: Bench, folder: Path, show: Shown
) -> list[Run]:
    """Run a recipe, but for what the folder holds already.

    Each finished run is a line of ``folder/NAME.jsonl``; a line that was cut short is
    no run. Interrupted work goes on where it was; quick and full share their runs.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{recipe.name}.jsonl"
    kept = dict(_kept(path))
    wanted = [
        (point, seed)
        for point in recipe.points[scale]
        for seed in range(recipe.seeds[scale])
    ]
    found = []
    for turn, (point, seed) in enumerate(wanted):
        key = recipe.key(point, seed)
        if key not in kept:
            show(f"{recipe.name} {turn + 1}/{len(wanted)}: {point_key(point)}")
            kept[key] = _run(recipe, bench, point, seed)
            _keep(path, key, kept[key])
        found.append(kept[key])
    return found


def _run(recipe: Recipe, bench: Bench, point: Point, seed: int) -> Run:
    begun = time.perf_counter()
    measured = {
        name: value if isinstance(value, str) else float(value)
        for name, value in recipe.measure(bench, point, seed).items()
    }
    return Run(point, seed, measured, round(time.perf_counter() - begun, 3))


def _keep(path: Path, key: str, run: Run) -> None:
    """Add a line, behind the end of one that was cut short."""
    line = json.dumps({"key": key, **asdict(run), "point": dict(run.point)})
    with path.open("a+b") as file:
        if file.tell():
            file.seek(-1, 2)
            if file.read(1) != b"\n":
                line = "\n" + line
        file.write(line.encode() + b"\n")


def _kept(path: Path) -> Iterator[tuple[str, Run]]:
    if not path.is_file():
        return
    for line in path.read_text("utf-8").splitlines():
        try:
            said: dict[str, Any] = json.loads(line)
            values = said["point"], said["seed"], said["measured"], said["seconds"]
            yield said["key"], Run(*values)
        except (ValueError, KeyError, TypeError):  # the last line of a killed process
            continue


def write_parquet(path: Path, recipe: Recipe, runs: Sequence[Run]) -> None:
    """Write a row for each measure of each run: ``value`` is a number, or ``text``."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from mondegreen.files import whole_file

    rows = [
        {
            "recipe": recipe.name,
            "paper": recipe.paper,
            "point": json.dumps(dict(run.point)),
            "seed": run.seed,
            "measure": name,
            "value": None if isinstance(value, str) else value,
            "text": value if isinstance(value, str) else None,
            "seconds": run.seconds,
        }
        for run in runs
        for name, value in run.measured.items()
    ]
    names = ("recipe", "paper", "point", "measure", "text")
    kinds = {
        **dict.fromkeys(names, pa.string()),
        "seed": pa.int64(),
        "value": pa.float64(),
        "seconds": pa.float64(),
    }
    with whole_file(path, 0o644) as file:
        pq.write_table(pa.Table.from_pylist(rows, pa.schema(kinds)), file)
