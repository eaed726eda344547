"""``mondegreen benchmark``: mechanisms side by side on labelled texts of your own."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from mondegreen.cli import options
from mondegreen.cli.options import (
    Column,
    File,
    MechanismName,
    PolicyName,
    SpaceName,
    argument,
    command,
    option,
)
from mondegreen.cli.render import echo_json, echo_table, say, shower
from mondegreen.errors import ConfigurationError, InvalidParameterError
from mondegreen.io.guess import Format, guess_format
from mondegreen.wording import amount
from mondegreen_experiments.libraries import describe_absent

if TYPE_CHECKING:
    from mondegreen_experiments.compare.contenders import Contender
    from mondegreen_experiments.compare.grid import Asked
    from mondegreen_experiments.recipe import Recipe
    from mondegreen_experiments.result import Result

_SUFFIXES: Final = (".csv", ".tex", ".parquet")
_FORMATS: Final = ("csv", "tsv", "jsonl", "parquet")


@command()
def benchmark(
    sample: str = argument(
        metavar="DATA", type=click.Path(exists=True, dir_okay=False, path_type=str)
    ),
    label: Column = option("Column with the label of each text."),
    column: Column = option("Column with the text.", "-c --column", default="text"),
    split: Column | None = option(
        "Column with the values train, valid and test.  [default: 70, 10 and 20 % of "
        "the rows, at random and anew for each seed]",
        default=None,
    ),
    mechanisms: tuple[MechanismName, ...] = option(
        "Mechanism to compare: NAME, or MODULE:CLASS for your own. Add ,NAME=VALUE for "
        "a parameter, ,policy=NAME for a policy, or ,epsilon=NUMBER instead of "
        "--epsilon. Repeatable.",
        "-m --mechanism SPEC",
        default=(),
    ),
    policies: tuple[PolicyName, ...] = option(
        "Policy to compare, with its default mechanism. Add ,epsilon=NUMBER instead of "
        "--epsilon. Repeatable.",
        "--policy NAME|FILE",
        default=(),
    ),
    epsilons: tuple[float, ...] = option(
        "Epsilon of every mechanism that has no epsilon=. Repeatable. The unit of "
        "epsilon differs between mechanisms, so compare settings with an equal share "
        "of recovered words.",
        "-e --epsilon",
        default=(),
    ),
    classifiers: tuple[str, ...] = option(
        "Classifier: tf-idf, lstm, or the folder of a model of the library "
        "transformers. Repeatable.  [default: tf-idf]",
        "--classifier NAME|FOLDER",
        default=(),
    ),
    space: SpaceName | None = option(
        "Space, for mechanisms that work on a space.  [default: the embedded space]",
        default=None,
    ),
    seeds: int = option(
        "Number of runs of each setting, each with its own noise and split.", default=5
    ),
    texts: int = option(
        "Maximum number of rows, with the same share of each part. 0: all rows. With "
        "few rows, the attacker has a small corpus and recovers less.",
        type=click.IntRange(min=0),
        default=0,
    ),
    attacked: int = option(
        "Number of test texts to attack in each run. 0: no attack.",
        type=click.IntRange(min=0),
        default=200,
    ),
    format: str | None = option(
        "Input format.  [default: from the file name]",
        type=click.Choice(_FORMATS),
        default=None,
    ),
    output: tuple[File, ...] = option(
        "Write means and intervals as .csv or as a LaTeX table (.tex, booktabs), or "
        "every run as .parquet. Repeatable.",
        "-o --output",
        default=(),
    ),
    runs: Path | None = option(
        "Folder for finished runs.  [default: in the cache]",
        "--runs FOLDER",
        type=click.Path(file_okay=False, path_type=Path),
        default=None,
    ),
    jobs: int = option("Number of processes.", "-j --jobs", default=1),
    unproved: bool = option("Allow mechanisms without a proof.", "--allow-unproved"),
    force: bool = options.FORCE,
    as_json: bool = options.JSON,
    quiet: bool = options.QUIET,
) -> None:
    """Compare mechanisms and policies on your own labeled texts.

    For each mechanism at each epsilon, the command measures the accuracy of classifiers
    that are trained and tested on releases, the share of words that stay, and the share
    of sensitive words that an attacker recovers. Numbers are means over seeds with 95 %
    intervals. The command outputs no release. It stores finished runs, so the
    same command continues interrupted work.

    \b
    mondegreen benchmark reviews.csv --label stars -m laplace -m tem -e 5 -e 10
    mondegreen benchmark reviews.csv --label stars --policy sensitive -m my_law:MyLaw \\
        -e 8 -o table.csv -o table.tex
    """  # noqa: D301
    from mondegreen_experiments.compare.contenders import read_contenders
    from mondegreen_experiments.compare.data import read_texts
    from mondegreen_experiments.compare.grid import Asked, recipe_of
    from mondegreen_experiments.compare.learners import TF_IDF, check_classifier

    form = _format(sample, format)
    contenders = read_contenders(mechanisms, policies)
    asked = Asked(
        path=str(Path(sample).absolute()),
        text=column,
        label=label,
        split=split,
        format=form,
        space=space,
        texts=texts,
        attacked=attacked,
        classifiers=tuple(map(check_classifier, classifiers or (TF_IDF,))),
        unproved=unproved,
    )
    recipe = recipe_of(asked, contenders, epsilons, seeds)
    _check(recipe, output, force=force)
    read_texts(asked.path, column, label, split, form)
    _check_contenders(asked, contenders, epsilons)
    result = _measured(recipe, runs, jobs, output, quiet=quiet)
    if as_json:
        echo_json(_told(result))
    else:
        _print(result)


def _format(path: str, given: str | None) -> Format:
    found = given or guess_format(path)
    if found not in _FORMATS:
        allowed = "a CSV, TSV, JSON Lines or Parquet file with a column of labels"
        raise InvalidParameterError("DATA", path, allowed)
    return found  # type: ignore[return-value]


def _check(recipe: Recipe, outputs: tuple[File, ...], *, force: bool) -> None:
    """Refuse before anything is measured."""
    if absent := describe_absent(recipe.needs):
        raise ConfigurationError(f"--classifier needs {absent}")
    for path in outputs:
        if Path(path).suffix not in _SUFFIXES:
            allowed = f"a file that ends with {', '.join(_SUFFIXES)}"
            raise InvalidParameterError("--output", path, allowed)
        if Path(path).exists() and not force:
            raise ConfigurationError(
                f"{path} already exists. Use another name, or --force."
            )


def _check_contenders(
    asked: Asked, contenders: tuple[Contender, ...], epsilons: tuple[float, ...]
) -> None:
    """Build each privatizer once, so that no run fails for a setting."""
    from mondegreen.privatizer.build import build_privatizer

    for each in contenders:
        for epsilon in each.epsilons or epsilons:
            chosen = each.settings(epsilon, asked.space, allow_unproved=asked.unproved)
            build_privatizer(chosen)


def _measured(
    recipe: Recipe,
    runs: Path | None,
    jobs: int,
    outputs: tuple[File, ...],
    *,
    quiet: bool,
) -> Result:
    from mondegreen.files import home, whole_file
    from mondegreen_experiments.bench import Bench
    from mondegreen_experiments.compare.report import to_csv, to_latex, to_table
    from mondegreen_experiments.kept import write_parquet
    from mondegreen_experiments.result import Result
    from mondegreen_experiments.run import run_all

    folder, show = runs or home() / "runs", shower(quiet)
    try:
        found = run_all([recipe], "full", Bench(), folder, show, jobs)[recipe.name]
    except KeyboardInterrupt:
        say(
            f"Finished runs are in the folder {folder}. Run the same command again to "
            "continue."
        )
        raise
    show("")
    if isinstance(found, Exception):
        raise found
    result = Result.of(recipe, found)
    for path in map(Path, outputs):
        if path.suffix == ".parquet":
            write_parquet(path.resolve(), to_table(recipe, found))
            continue
        text = to_csv(result) if path.suffix == ".csv" else to_latex(result)
        with whole_file(path.resolve(), 0o644) as file:
            file.write(text.encode())
    return result


def _print(result: Result) -> None:
    from mondegreen_experiments.compare.measure import FULL_CORPUS
    from mondegreen_experiments.compare.report import corpus_size, rows

    found = rows(result)
    echo_table(found)
    chance = next(means["chance"].value for _, means in result.means)
    equal = "sensitive recovered"
    advice = f"compare at equal {equal!r}" if equal in found[0] else "see --attacked"
    say(
        f"Chance: {chance:.3f}. Intervals of 95 % over seeds. The unit of epsilon "
        f"differs between mechanisms: {advice}."
    )
    if any("law_known" in m and m["law_known"].value < 1 for _, m in result.means):
        say("≥: the attacker estimated the probabilities. A better one recovers more.")
    size = corpus_size(result)
    if size is not None:
        say(f"Corpus of the attacker: {amount(size, 'text')}, the training texts.")
    if size is not None and size < FULL_CORPUS:
        say(
            "Warning: ≥: this corpus is small. An attacker with more texts of the "
            f"domain recovers more. With {FULL_CORPUS:,} training texts, there is no "
            "such mark: give more rows, or a larger --texts."
        )


def _told(result: Result) -> dict[str, object]:
    from dataclasses import asdict

    return {
        "results": [
            {
                "mechanism": point["mechanism"],
                "epsilon": point["epsilon"],
                "measures": {name: asdict(mean) for name, mean in means.items()},
            }
            for point, means in result.means
        ]
    }
