"""``python -m mondegreen.spark``: a table in, its release out, on a cluster or here."""

from __future__ import annotations

import contextlib
import os
import re
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final, Literal

import click

from mondegreen import errors, spark
from mondegreen.cli import options
from mondegreen.cli.main import main as run
from mondegreen.cli.options import Column, File, argument, command, option
from mondegreen.cli.render import prepare_privatizer
from mondegreen.passes import METADATA_KEY, from_json, to_json
from mondegreen.settings import Settings

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


_BROKEN: Final = "_mondegreen_broken"

# As the command reads and writes it: nothing is trimmed, and no value is a null.
_CSV: Final = {
    "header": True,
    "multiLine": True,
    "escape": '"',
    "enforceSchema": False,  # a file with columns in another order would mix them up
    "ignoreLeadingWhiteSpace": False,
    "ignoreTrailingWhiteSpace": False,
    "emptyValue": "",
}

# How an error of an executor shows in what Spark tells of it.
_TOLD: Final = re.compile(r"mondegreen\.errors\.(\w+): ([^\n]*)")
_ROW: Final = "a row has another number of values than the header"


@command(context_settings={"help_option_names": ["-h", "--help"], "show_default": True})
def privatize(
    input: str = argument(metavar="IN"),
    output: str = argument(metavar="OUT"),
    settings: Settings = options.settings(),
    columns: tuple[Column, ...] = options.COLUMNS,
    format: Literal["parquet", "csv", "delta"] | None = option(
        "Of IN and OUT.  [default: csv if IN says so, else parquet]"
    ),
    id_column: Column | None = option(
        "Record id: a record repeats its release however Spark computes it.",
        "--id COLUMN",
    ),
    key_env: str | None = option(
        "The environment variable of the executors that holds the key: 64 hex digits.",
        "VARIABLE",
    ),
    unkeyed: Literal["write-once"] | None = option(
        "Fresh noise, without --id and --key-env: OUT is written once, here."
    ),
    drop: tuple[Column, ...] = options.DROP,
    earlier: File | None = option(
        "Report of a run that made IN, whose guarantees go on. Columns that Spark "
        "privatized carry theirs by themselves."
    ),
    force: bool = options.FORCE,
    quiet: bool = options.QUIET,
) -> None:
    """Privatize text columns of the table IN with Apache Spark; write it to OUT.

    IN and OUT are folders on any storage that Spark reads. All other columns pass
    unchanged. The guarantee is in the columns of OUT, and as JSON in OUT/_mondegreen.

    \b
    python -m mondegreen.spark reviews private -c text --id id --key-env RELEASE_SECRET -e 12
    """  # noqa: D301, E501
    from mondegreen.cli.render import show_promise

    with _tell():
        privatizer = prepare_privatizer(settings, quiet=quiet)
        form = format or ("csv" if ".csv" in input else "parquet")
        how: Any = {"id_column": id_column, "key_env": key_env, "unkeyed": unkeyed}
        table = _state(_read(_session(), input, form), columns[0], earlier)
        released = spark.privatize(table, columns, spec=privatizer, drop=drop, **how)
        show_promise(privatizer.guarantee, privatizer.preview(), quiet=quiet)
        mode = "overwrite" if force else "errorifexists"
        writer = released.write.format(form).mode(mode)
        writer.options(**(_CSV if form == "csv" else {})).save(output)
        spark.write_report(released, output)


def _session() -> Any:
    """The session of spark-submit, or one of its own."""
    from pyspark.sql import SparkSession

    if "PYSPARK_GATEWAY_PORT" not in os.environ:  # executors on this machine
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    return SparkSession.builder.appName("mondegreen").getOrCreate()


def _read(session: Any, path: str, form: str) -> DataFrame:
    """Read a table; of CSV all is text, and a row that is cut otherwise is an error."""
    reader = session.read.format(form)
    if form != "csv":
        return reader.load(path)
    import pyspark.sql.functions as f

    reader = reader.options(**_CSV)
    schema = reader.load(path).schema.add(_BROKEN, "string")
    # In place of what Spark says, which would be the row itself.
    reader = reader.schema(schema).option("columnNameOfCorruptRecord", _BROKEN)
    stop = f.raise_error(f"mondegreen.errors.DataError: {_ROW}").cast("boolean")
    whole = f.when(f.col(_BROKEN).isNotNull(), stop).otherwise(True)
    return reader.load(path).where(whole).drop(_BROKEN)


def _state(table: DataFrame, path: str, earlier: str | None) -> DataFrame:
    """Let a column state what a report says of earlier runs."""
    from mondegreen.cli.privatize import report_pass

    names = [n for n in table.columns if path == n or path.startswith(f"{n}.")]
    if earlier is None or not names:
        return table
    given = table.schema[names[0]].metadata or {}
    passes = [*from_json(given.get(METADATA_KEY)), *report_pass(earlier)]
    return table.withMetadata(names[0], {**given, METADATA_KEY: to_json(passes)})


@contextlib.contextmanager
def _tell() -> Iterator[None]:
    """Turn what goes wrong into a message that holds no text."""
    try:
        yield
    except Exception as error:
        problem = _problem(error)
        if problem is None:
            raise
    else:
        return
    failure = click.ClickException(str(problem))
    failure.exit_code = problem.exit_code  # type: ignore[misc]
    raise failure


def _problem(error: Exception) -> errors.MondegreenError | None:
    """Say what Spark says only where it cannot hold text: before it reads a row."""
    if isinstance(error, errors.MondegreenError):
        return error
    if isinstance(error, ModuleNotFoundError):
        return errors.OptionalDependencyError.from_import(error)
    if not type(error).__module__.startswith(("pyspark.", "py4j.")):
        return None
    text, name = str(error), type(error).__name__
    if name == "AnalysisException":
        return errors.DataError(text.partition("\n")[0])
    if found := _TOLD.findall(text):
        kind, message = found[-1]
        problem = errors.MondegreenError(f"on an executor: {message}")
        problem.exit_code = getattr(errors, kind, errors.DataError).exit_code
        return problem
    return errors.DataError(
        f"Spark stopped ({name}); its log, which may hold text of records, says why"
    )


def main() -> None:
    """Run the command and exit."""
    run(privatize)


if __name__ == "__main__":
    main()
