"""``mondegreen reproduce``: the experiments of the papers, measured again."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from mondegreen.cli import options
from mondegreen.cli.options import File, argument, command, option
from mondegreen.cli.render import echo_json, echo_table, say, shower
from mondegreen.errors import ConfigurationError, OptionalDependencyError

if TYPE_CHECKING:
    from mondegreen.experiments.recipe import Recipe
    from mondegreen.experiments.result import Compared, Mean, Result


@command()
def reproduce(
    name: str | None = argument(required=False),
    scale: Literal["quick", "full"] = option(
        "How much of the grid, and how many runs."
    ),
    data: Path | None = option(
        "Folder with the data sets, NAME.parquet each.",
        "--data FOLDER",
        type=click.Path(exists=True, file_okay=False, path_type=Path),
        default=None,
    ),
    fetch: bool = option("Let the library datasets fetch what the folder lacks."),
    runs: Path | None = option(
        "Folder where finished runs are kept.  [default: in the cache]",
        "--runs FOLDER",
        type=click.Path(file_okay=False, path_type=Path),
        default=None,
    ),
    output: File | None = option("Write every run as Parquet.", "-o --output"),
    force: bool = options.FORCE,
    list_all: bool = option("List the experiments.", "--list"),
    as_json: bool = options.JSON,
    quiet: bool = options.QUIET,
) -> None:
    """Measure an experiment of a paper again, and say what agrees.

    Finished runs are kept: work that was interrupted goes on where it was. Numbers are
    means over seeds with intervals of 95 %; what a paper prints agrees where it is
    within the interval, widened by a tolerance that the experiment states.

    \b
    mondegreen reproduce --list
    mondegreen reproduce cmp-deniability --data shared/data
    """  # noqa: D301
    from mondegreen.experiments.bench import Bench
    from mondegreen.experiments.papers import NAMES, recipe_named
    from mondegreen.experiments.result import Result
    from mondegreen.experiments.run import runs_of, write_parquet
    from mondegreen.files import home

    if list_all:
        echo_table([_row(recipe_named(each)) for each in NAMES], as_json=as_json)
        return
    if name is None:
        raise ConfigurationError("name an experiment; --list shows them")
    recipe = recipe_named(name)
    _check(recipe, output, force=force)
    if not quiet:
        say(f"{recipe.paper}: {recipe.title}. {recipe.differs}")
    show = shower(quiet)
    bench = Bench(data, fetch=fetch)
    folder = runs or home() / "runs"
    try:
        found = runs_of(recipe, scale, bench, folder, show)
    except KeyboardInterrupt:
        say(f"Finished runs are kept in {folder}; call it again to go on.")
        raise
    show("")
    if output is not None:
        write_parquet(Path(output), recipe, found)
    result = Result.of(recipe, found)
    if as_json:
        echo_json({"scale": scale, **result.to_dict()})
    else:
        _print(result)


def _row(recipe: Recipe) -> dict[str, object]:
    return {
        "name": recipe.name,
        "paper": recipe.paper,
        "title": recipe.title,
        "needs": ", ".join([*recipe.data, *recipe.needs]),
    }


def _check(recipe: Recipe, output: str | None, *, force: bool) -> None:
    """Refuse before anything is measured."""
    for library in recipe.needs:
        if find_spec(library) is None:
            raise OptionalDependencyError(library, "experiments", feature=recipe.name)
    if output is not None and Path(output).exists() and not force:
        raise ConfigurationError(f"{output} exists; pass --force to replace it")


def _print(result: Result) -> None:
    """Print what was measured, what was published, and the claims."""
    from mondegreen.experiments.recipe import point_key

    rows = [
        {
            **point,
            **{name: _shown(mean) for name, mean in means.items()},
            **result.texts.get(point_key(point), {}),
        }
        for point, means in result.means
    ]
    # Not every point has every measure: some were not reached.
    names = dict.fromkeys(name for row in rows for name in row)
    echo_table([{name: row.get(name, "-") for name in names} for row in rows])
    if result.compared:
        click.echo()
        echo_table([_compared(each) for each in result.compared])
    for where, claim, holds in result.shapes:
        click.echo(f"\n{where}: {claim}: {'holds' if holds else 'does NOT hold'}")


def _compared(each: Compared) -> dict[str, object]:
    from mondegreen.experiments.recipe import point_key

    return {
        "where": each.published.where,
        "point": point_key(each.published.point),
        "measure": each.published.measure,
        "published": each.published.value,
        "ours": "-" if each.ours is None else _shown(each.ours),
        "agrees": each.agrees,
    }


def _shown(mean: Mean) -> str:
    if mean.runs == 1:
        return f"{mean.value:.4g}"
    return f"{mean.value:.4g} ({mean.low:.4g} to {mean.high:.4g})"
