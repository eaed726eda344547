"""Finished runs in files: a line each as soon as it is done, and all as a table."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

from mondegreen.errors import ConfigurationError
from mondegreen_experiments.recipe import Found, Point, Recipe, Scale

if TYPE_CHECKING:
    import pyarrow as pa


@final
@dataclass(frozen=True, slots=True)
class Run:
    """What one seed gave at one point, and how long it took."""

    point: Point
    seed: int
    measured: Found
    seconds: float


def keep(folder: Path, recipe: Recipe, key: str, run: Run) -> None:
    """Add a line to ``folder/NAME.jsonl``, behind the end of one that was cut short."""
    line = json.dumps({"key": key, **asdict(run), "point": dict(run.point)})
    with (folder / f"{recipe.name}.jsonl").open("a+b") as file:
        if file.tell():
            file.seek(-1, 2)
            if file.read(1) != b"\n":
                line = "\n" + line
        file.write(line.encode() + b"\n")


def check(folder: Path, recipe: Recipe) -> None:
    """Refuse a folder where no run can be kept, before any is made."""
    path = folder / f"{recipe.name}.jsonl"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        path.open("ab").close()
    except OSError as error:
        raise _refused(path, error) from None


def kept(folder: Path, recipe: Recipe) -> dict[str, Run]:
    """Read the runs of a recipe by their keys; a line that was cut short is no run."""
    return dict(_lines(folder / f"{recipe.name}.jsonl"))


def _lines(path: Path) -> Iterator[tuple[str, Run]]:
    try:
        text = path.read_text("utf-8") if path.exists() else ""
    except (OSError, UnicodeDecodeError) as error:
        raise _refused(path, error) from None
    for line in text.splitlines():
        try:
            said: dict[str, Any] = json.loads(line)
            run = Run(said["point"], said["seed"], said["measured"], said["seconds"])
            if _is_whole(run):
                yield str(said["key"]), run
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            continue  # such as the last line of a killed process


def _refused(path: Path, error: OSError | UnicodeDecodeError) -> ConfigurationError:
    why = error.strerror if isinstance(error, OSError) else "it is no text"
    advice = "name another folder by --runs, or move the file away"
    return ConfigurationError(f"{path}: runs cannot be kept there: {why} ({advice})")


def _is_whole(run: Run) -> bool:
    """Whether a line held all that a run gives; else it is measured again."""
    given = [each for each in run.measured.values() if not isinstance(each, str)]
    numbers, most = [run.seconds, *given], sys.float_info.max
    is_line = type(run.seed) is int and type(run.point) is dict and run.measured != {}
    are_finite = (type(n) in (int, float) and abs(n) <= most for n in numbers)
    return is_line and all(are_finite)


def table_of(scale: Scale, found: Sequence[tuple[Recipe, Sequence[Run]]]) -> pa.Table:
    """A row for each measure of each run: ``value`` is a number, or ``text``."""
    import pyarrow as pa

    rows = [
        {
            "recipe": recipe.name,
            "paper": recipe.paper,
            "scale": scale,
            "point": json.dumps(dict(run.point)),
            "seed": run.seed,
            "measure": name,
            "value": None if isinstance(value, str) else value,
            "text": value if isinstance(value, str) else None,
            "seconds": run.seconds,
        }
        for recipe, runs in found
        for run in runs
        for name, value in run.measured.items()
    ]
    names = ("recipe", "paper", "scale", "point", "measure", "text")
    kinds = {
        **dict.fromkeys(names, pa.string()),
        "seed": pa.int64(),
        "value": pa.float64(),
        "seconds": pa.float64(),
    }
    return pa.Table.from_pylist(rows, pa.schema(kinds))


def write_parquet(path: Path, table: pa.Table) -> None:
    """Write a table; the file appears whole or not at all."""
    import pyarrow.parquet as pq

    from mondegreen.files import whole_file

    with whole_file(path, 0o644) as file:
        pq.write_table(table, file, compression="zstd")
