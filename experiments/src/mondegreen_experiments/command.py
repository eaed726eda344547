"""``mondegreen reproduce``: the experiments of the papers, measured again."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from mondegreen.cli import options
from mondegreen.cli.options import File, argument, command, option
from mondegreen.cli.render import echo_json, echo_table, say, shower
from mondegreen.errors import ConfigurationError, DataError, MondegreenError
from mondegreen.plugins import blame
from mondegreen_experiments.libraries import describe_absent

if TYPE_CHECKING:
    from mondegreen_experiments.bench import Bench
    from mondegreen_experiments.kept import Run
    from mondegreen_experiments.recipe import Recipe, Scale
    from mondegreen_experiments.result import Compared, Judged, Mean, Result
    from mondegreen_experiments.run import Outcome, Shown


@command()
def reproduce(
    names: tuple[str, ...] = argument(nargs=-1, metavar="[NAME|FILE.py]..."),
    scale: Literal["quick", "full"] = option("Size of the grid, and number of runs."),
    data: Path | None = option(
        "Folder with the data sets, as NAME.parquet.",
        "--data FOLDER",
        type=click.Path(exists=True, file_okay=False, path_type=Path),
        default=None,
    ),
    fetch: bool = option("Download missing data sets with the library datasets."),
    runs: Path | None = option(
        "Folder for finished runs.  [default: in the cache]",
        "--runs FOLDER",
        type=click.Path(file_okay=False, path_type=Path),
        default=None,
    ),
    seeds: int | None = option(
        "Number of runs of each point, instead of the recipe's. With 1 there is no "
        "interval, and no verdict.",
        default=None,
    ),
    epsilons: tuple[float, ...] = option(
        "Epsilon, instead of those of the recipe. The verdict on a claim that needs "
        "another epsilon is then: cannot be told. Repeatable.",
        "--epsilon",
        default=(),
    ),
    spaces: tuple[str, ...] = option(
        "Vectors, instead of ours: GloVe or fastText text, word2vec text or binary, or "
        "a space. NAME is glove, w2v or w2v_frequent, or such a name with a dimension: "
        "glove-50. Repeatable.",
        "--space NAME=FILE",
        default=(),
    ),
    words: int = option(
        "Use the first N words of each file of --space. 0: all words.",
        type=click.IntRange(min=0),
        default=0,
    ),
    classifier: str = option(
        "Classifier, instead of the recipe's: tf-idf, lstm, or the folder of a model "
        "of the library transformers.",
        "--classifier NAME|FOLDER",
        default="",
        show_default=False,
    ),
    sentence_model: str = option(
        "Sentence model that compares texts: MODULE:FUNCTION, from texts to vectors, "
        "or the folder of a model of the library transformers.",
        "--sentence-model MODULE:FUNCTION|FOLDER",
        default="",
        show_default=False,
    ),
    steps: tuple[str, ...] = option(
        "Preprocessing of texts, as some papers do. Repeatable.",
        "--preprocess",
        type=click.Choice(("stop-words", "lemmas")),
        default=(),
    ),
    jobs: int = option(
        "Number of processes. Experiments that measure time run alone, at the end.",
        "-j --jobs",
        default=1,
    ),
    output: File | None = option("Write all runs as a Parquet file.", "-o --output"),
    force: bool = options.FORCE,
    peers: bool = option(
        "Run the other tools of the scoreboard too. Those that are missing are "
        "installed, with pinned versions, in separate environments."
    ),
    sets: tuple[str, ...] = option(
        "Texts to add to the scoreboard: a file with a column text. Repeatable.",
        "--set NAME=FILE",
    ),
    spans: str | None = option(
        "Field of these files with annotated spans, as `attack --spans` reads it.",
        "--spans FIELD",
    ),
    only: tuple[str, ...] = option(
        "Run this tool of the scoreboard and no other, such as names, sensitive or "
        "presidio-small. It is installed if it is missing. Repeatable.",
        "--only TOOL",
    ),
    tools: tuple[str, ...] = option(
        'Tool to add to the scoreboard: a command that reads lines {"text": ...} and '
        "prints one such line with the release for each. Repeatable.",
        "--tool NAME=COMMAND",
    ),
    list_all: bool = option("List the experiments.", "--list"),
    as_json: bool = options.JSON,
    quiet: bool = options.QUIET,
) -> None:
    """Reproduce experiments from papers, and report what agrees.

    Without a NAME, the command runs every experiment whose data and libraries are
    installed. It stores finished runs, so the same command continues interrupted work.
    Numbers are means over seeds with 95 % intervals. A published number agrees if our
    whole interval is within a tolerance of it, which the experiment states. It differs
    if our whole interval is outside. A claim holds, or does not, if the interval of its
    test lies above 0, or below. Otherwise, and with one seed, there is no verdict. The
    exit code says whether everything was measured, not whether it agrees.

    \b
    mondegreen reproduce --list
    mondegreen reproduce cmp-words
    mondegreen reproduce --jobs 2 --data FOLDER
    mondegreen reproduce cmp-words --space glove=glove.6B.300d.txt --seeds 5
    mondegreen reproduce my_recipe.py --epsilon 5 --epsilon 10
    mondegreen reproduce scoreboard --set notes=notes.jsonl --only presidio-small
    """  # noqa: D301
    from mondegreen.files import home
    from mondegreen_experiments.adapt import adapted
    from mondegreen_experiments.bench import Bench
    from mondegreen_experiments.choices import Choices, check_choices, given_spaces
    from mondegreen_experiments.papers import BOARD, list_names, recipe_named
    from mondegreen_experiments.scoreboard.board import Asked, build_recipe
    from mondegreen_experiments.takes import check_taken

    asked = Asked(sets, spans or "", tools, peers, only=only)
    if asked and BOARD not in names:
        raise ConfigurationError(
            f"--peers, --only, --set, --spans and --tool go with the name {BOARD}"
        )
    listed = (*list_names(), BOARD) if list_all else list_names()
    recipes = [recipe_named(name) for name in dict.fromkeys(names or listed)]
    if list_all:
        echo_table([_row(each) for each in recipes], as_json=as_json)
        return
    tell: Shown = (lambda message: None) if quiet else say
    kept_in, models = runs or home() / "runs", check_choices(classifier, sentence_model)
    read = given_spaces(spaces, words, kept_in, tell)
    bench = Bench(data, fetch=fetch, choices=Choices(read, *models, steps))
    recipes = [
        build_recipe(asked, bench, scale, tell)
        if each.name == BOARD
        else adapted(each, scale, seeds, epsilons)
        for each in recipes
    ]
    lacks = {} if names else {each.name: _lack(each, bench) for each in recipes}
    skipped = {name: f"no {lack}" for name, lack in lacks.items() if lack}
    recipes = [each for each in recipes if each.name not in skipped]
    _check(recipes, bench, output, force=force)
    check_taken(recipes, scale, bench.choices, tell)
    _introduce(recipes, skipped, bench, tell)
    done, failed = _measured(recipes, scale, bench, kept_in, jobs, tell, shower(quiet))
    if output is not None:
        _write(output, scale, done)
    results = [result for result, _ in done]
    if as_json:
        told = [each.to_dict() for each in results]
        why_not = {"skipped": skipped, "failed": dict(map(_why, failed))}
        every = told[0] if len(names) == 1 else {"results": told, **why_not}
        echo_json({"scale": scale, **every})
    else:
        _print(results, in_full=bool(names))
    for name, why in map(_why, failed):
        say(f"{name} FAILED: {why}")
    if failed:
        raise click.exceptions.Exit(
            max(getattr(error, "exit_code", 1) for _, error in failed)
        )


def _introduce(
    recipes: Sequence[Recipe], skipped: Mapping[str, str], bench: Bench, tell: Shown
) -> None:
    for name, why in skipped.items():
        tell(f"{name} is left out: {why}")
    if len(recipes) == 1:
        tell(f"{recipes[0].paper}: {recipes[0].title}. {recipes[0].differs}")
    if bench.choices:
        tell(f"In place of that: {', '.join(bench.choices.names())}.")


def _measured(
    recipes: Sequence[Recipe],
    scale: Scale,
    bench: Bench,
    runs: Path,
    jobs: int,
    tell: Shown,
    show: Shown,
) -> tuple[list[tuple[Result, list[Run]]], list[tuple[str, Exception]]]:
    """Measure, and report each recipe when it is done; what failed stands apart.

    The error of a recipe that was alone is raised.
    """
    from mondegreen_experiments.result import result_of
    from mondegreen_experiments.run import run_all

    def finished(recipe: Recipe, found: Outcome) -> None:
        each = result_of(recipe, found, bench.choices)
        if len(recipes) > 1 and not isinstance(each, Exception):
            counts = f"claims {each.held}, numbers {each.agreed}"
            tell(f"{recipe.name}: {counts}, {each.seconds:.0f} s")

    folder = runs / ("fetched" if bench.fetches else "")
    try:
        outcomes = run_all(recipes, scale, bench, folder, show, jobs, finished)
    except KeyboardInterrupt:
        _say_kept(folder, recipes)
        raise
    show("")
    done, failed = [], []
    for recipe in recipes:
        found = outcomes[recipe.name]
        result = result_of(recipe, found, bench.choices)
        if isinstance(result, Exception):
            failed.append((recipe.name, result))
        elif not isinstance(found, Exception):
            done.append((result, found))
    if failed and len(recipes) == 1:
        raise failed[0][1]
    return done, failed


def _say_kept(folder: Path, recipes: Sequence[Recipe]) -> None:
    from mondegreen_experiments.kept import kept

    if any(kept(folder, recipe) for recipe in recipes):
        say(
            f"Finished runs are in the folder {folder}. Run the same command again to "
            "continue."
        )


def _write(output: str, scale: Scale, done: Sequence[tuple[Result, list[Run]]]) -> None:
    from mondegreen_experiments.kept import table_of, write_parquet

    found = [(result.recipe, runs) for result, runs in done]
    write_parquet(Path(output).resolve(), table_of(scale, found))  # a link stays one


def _row(recipe: Recipe) -> dict[str, object]:
    return {
        "name": recipe.name,
        "paper": recipe.paper,
        "title": recipe.title,
        "needs": ", ".join([*recipe.data, *recipe.needs]),
    }


def _lack(recipe: Recipe, bench: Bench) -> str:
    """What a recipe needs that is not here, and what to do; nothing if all is."""
    if absent := describe_absent(recipe.needs):
        return absent
    lacks = bench.lacks(recipe.data)
    return f"{', '.join(lacks)} ({bench.remedy(lacks)})" if lacks else ""


def _check(
    recipes: Sequence[Recipe], bench: Bench, output: str | None, *, force: bool
) -> None:
    """Refuse before anything is measured."""
    if not recipes:
        raise ConfigurationError("no experiment can be measured here")
    for recipe in recipes:
        if lack := _lack(recipe, bench):
            raise ConfigurationError(f"{recipe.name} needs {lack}")
    if output is not None:
        _check_output(output, force=force)


def _check_output(output: str, *, force: bool) -> None:
    """Refuse what no table can be written to, as a file beside it shows."""
    from mondegreen.io.target import Target

    path = Path(output)
    if path.suffix in (".csv", ".json", ".jsonl", ".md", ".tex", ".txt"):
        why = "it holds Parquet; end it with .parquet, and print tables with --json"
        raise ConfigurationError(f"--output {output}: {why}")
    if output == "-" or (path.exists() and not (path.is_file() or path.is_dir())):
        why = "is Parquet, never printed nor sent to a device; name a file, such as"
        raise ConfigurationError(f"--output {output}: it {why} runs.parquet")
    try:
        with contextlib.closing(Target(output, force=force)) as target:
            target.open()
    except DataError as error:
        raise ConfigurationError(str(error)) from None


def _why(failed: tuple[str, Exception]) -> tuple[str, str]:
    """What to print of an error; the message of a bug may quote a text."""
    name, error = failed
    if isinstance(error, MondegreenError):
        return name, str(error)
    problem, is_of_plugin = blame(error)
    if is_of_plugin:
        return name, problem
    return name, f"a bug, {type(error).__name__}; reproduce it alone to see where"


def _print(results: Sequence[Result], *, in_full: bool) -> None:
    """Print results in full, where they were asked for by name, and an overview."""
    for result in results if in_full else ():
        _print_one(result)
        if len(results) > 1:
            click.echo()
    overview = [
        {
            "recipe": each.recipe.name,
            "claims that hold": each.held,
            "numbers that agree": each.agreed,
            "seconds": round(each.seconds),
        }
        for each in results
    ]
    if overview and (len(results) > 1 or not in_full):
        echo_table(overview)


def _print_one(result: Result) -> None:
    """Print what was measured, what was published, and the claims."""
    from mondegreen_experiments.papers import BOARD
    from mondegreen_experiments.recipe import place

    if result.recipe.name == BOARD:
        _print_board(result)
        return
    rows: list[dict[str, object]] = [
        {
            **point,
            **{name: _shown(mean) for name, mean in means.items()},
            **result.texts.get(place(point), {}),
        }
        for point, means in result.means
    ]
    columns = dict.fromkeys(name for row in rows for name in row)
    echo_table([{name: row.get(name, "-") for name in columns} for row in rows])
    if result.compared:
        click.echo()
        whys = list(dict.fromkeys(each.why for each in result.compared if each.why))
        echo_table([_compared(each, whys) for each in result.compared])
        for number, why in enumerate(whys, 1):
            click.echo(f"({number}) {why}")
    for judged in result.shapes:
        _print_claim(judged)


def _print_claim(judged: Judged) -> None:
    """Print a claim and its verdict, by how much its test is passed, and why."""
    shape, margin = judged.shape, judged.margin
    click.echo(f"\n{shape.where}: {shape.claim}: {judged.verdict}")
    by = "" if margin is None else f"margin {_shown(margin)}"
    if tested := ", ".join(filter(None, [by, shape.how])):
        click.echo(f"  test: {tested}")
    if judged.why:
        click.echo(f"  why: {judged.why}")


def _print_board(result: Result) -> None:
    from mondegreen_experiments.scoreboard.board import explain_columns, write_board

    for title, rows in write_board(result):
        click.echo(f"\n{title}")
        echo_table(rows)
        click.echo(explain_columns(rows))


def _compared(each: Compared, whys: Sequence[str]) -> dict[str, object]:
    from mondegreen_experiments.recipe import point_key
    from mondegreen_experiments.result import NUMBERS

    return {
        "where": each.published.where,
        "point": point_key(each.published.point),
        "measure": each.published.measure,
        "published": each.published.value,
        "ours": "-" if each.ours is None else _shown(each.ours),
        "verdict": NUMBERS.get(str(each.agrees), each.agrees),
        "why": f"({whys.index(each.why) + 1})" if each.why else "",
    }


def _shown(mean: Mean) -> str:
    value, low, high = (f"{each:.4g}" for each in (mean.value, mean.low, mean.high))
    return value if low == high else f"{value} ({low} to {high})"
