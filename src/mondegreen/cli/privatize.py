"""``mondegreen privatize``."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mondegreen.cli import completion
from mondegreen.cli.options import (
    built,
    columns_option,
    epsilon_option,
    mechanism_option,
    reading_options,
    settings_option,
    space_option,
)
from mondegreen.errors import ConfigurationError, InvalidParameterError
from mondegreen.wording import amount

if TYPE_CHECKING:
    import pyarrow as pa

    from mondegreen.io.source import AbstractSource
    from mondegreen.mechanisms.base import AbstractMechanism
    from mondegreen.privatizer.privatizer import Privatizer
    from mondegreen.sampling.noise import NoiseSource
    from mondegreen.space.space import Space


@click.command()
@click.argument("input", type=click.Path(allow_dash=True, path_type=str))
@click.option(
    "-o",
    "--output",
    default="-",
    show_default="standard output",
    type=click.Path(allow_dash=True, path_type=str),
    help="File to write, in the format of the input.",
)
@epsilon_option
@mechanism_option
@settings_option
@space_option
@columns_option
@click.option(
    "--format",
    type=click.Choice(["txt", "csv", "tsv", "jsonl", "parquet"]),
    help="Of input and output.  [default: what the name tells; txt for -]",
)
@reading_options
@click.option(
    "--unknown",
    type=click.Choice(["word", "mask", "drop", "fail"]),
    default="word",
    show_default=True,
    help="Words outside the vocabulary: privatize, print [unk], remove, or stop.",
)
@click.option(
    "--keep",
    type=click.Path(path_type=str),
    metavar="FILE",
    help="PUBLIC words, one a line, that pass in clear, as spelled there.",
)
@click.option(
    "--case",
    type=click.Choice(["lower", "restore"]),
    default="lower",
    show_default=True,
    help="restore copies the case of each word, which then passes in clear.",
)
@click.option(
    "--report",
    type=click.Path(path_type=str),
    metavar="PATH",
    help="Write guarantee, settings and counts as JSON. Holds no text.",
)
@click.option(
    "--earlier",
    type=click.Path(path_type=str),
    metavar="REPORT",
    help="Report of a run that made INPUT: its guarantees go into the new report. "
    "Parquet carries them by itself.",
)
@click.option(
    "--key-file",
    type=click.Path(path_type=str),
    metavar="FILE",
    help="Keyed noise: the same record repeats its release. Needs --id.",
)
@click.option(
    "--key-env",
    metavar="VARIABLE",
    help="As --key-file; the environment variable holds 64 hex digits. Needs --id.",
)
@click.option(
    "--id",
    "id_column",
    metavar="COLUMN",
    shell_complete=completion.columns,
    help="Record id, for a key.",
)
@click.option(
    "--unique-ids",
    is_flag=True,
    help="Stop at an id that has occurred: two records of one id and one text repeat "
    "each other. Some 110 bytes of memory for each record.",
)
@click.option(
    "--as",
    "logical",
    multiple=True,
    metavar="COLUMN=NAME",
    help="The name that COLUMN has for a key: a renamed column repeats its release "
    "under the name that it had. Repeatable.",
)
@click.option(
    "-j",
    "--jobs",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Processes, one core each.",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    help="Repeatable noise for experiments. The output is NOT PRIVATE. A pipe is cut "
    "into batches as its data arrives, so only a file gives the same output again.",
)
@click.option(
    "--allow-unproved", is_flag=True, help="Permit a mechanism without a proof."
)
@click.option("--force", is_flag=True, help="Replace an output that exists.")
@click.option(
    "--in-place",
    is_flag=True,
    help="Replace INPUT itself by its release. The original is gone; a file with "
    "further hard links is refused.",
)
@click.option(
    "-q",
    "--quiet",
    is_flag=True,
    help="No guarantee, progress or summary; warnings stay.",
)
@click.option(
    "-v",
    "--verbose",
    is_flag=True,
    help="Print all of the guarantee, not four lines.",
)
def privatize(
    input: str,
    output: str,
    epsilon: float,
    name: str,
    settings: tuple[str, ...],
    space: str,
    columns: tuple[str, ...],
    format: Any,
    unknown: Any,
    keep: str | None,
    case: Any,
    report: str | None,
    earlier: str | None,
    key_file: str | None,
    key_env: str | None,
    id_column: str | None,
    unique_ids: bool,
    logical: tuple[str, ...],
    jobs: int,
    seed: int | None,
    allow_unproved: bool,
    force: bool,
    in_place: bool,
    quiet: bool,
    verbose: bool,
    **reading: Any,
) -> None:
    """Privatize every word of INPUT.

    INPUT is a file or "-". Its name tells the format: .txt (one text a line), .csv,
    .tsv, .jsonl, .parquet. Only the named columns change. The output appears whole or
    not at all.

    \b
    mondegreen privatize reviews.csv -o safe.csv --column review --epsilon 10
    cat notes.txt | mondegreen privatize - --epsilon 10 > safe.txt
    """  # noqa: D301
    from mondegreen.processes import SPAWN, warm_up

    context = warm_up() if jobs > 1 else SPAWN  # first: it goes on by itself
    from mondegreen.cli.release import announce, earlier_passes, report_of
    from mondegreen.io.sink import open_sink
    from mondegreen.io.source import open_source
    from mondegreen.passes import Pass, to_json
    from mondegreen.privatizer.parallel import privatize_batches
    from mondegreen.privatizer.privatizer import Privatizer
    from mondegreen.space.store import load_space
    from mondegreen.text.policy import read_keep_list

    mechanism = built(name, epsilon, settings)
    noise = _noise(key_file, key_env, id_column, seed)
    if id_column is None and (unique_ids or logical):
        raise ConfigurationError("--unique-ids and --as need --key-file and --id")
    if in_place and output == "-":
        output = input
    with open_source(
        input, format=format, columns=columns, id_column=id_column, **reading
    ) as source:
        _check_reading(source, reading)
        names = _logical(source.text_columns, logical)
        sink = open_sink(output, source, force=force, in_place=in_place)
        before = earlier_passes(source, earlier)
        for note in source.notes:
            click.echo(note, err=True)
        _check_paths(input, output, report, public=keep, key=key_file)
        target = _report_target(report, force=force)
        loaded = load_space(space)
        _calibrate(mechanism, loaded, quiet=quiet)
        privatizer = Privatizer(
            mechanism,
            loaded,
            unknown=unknown,
            keep=read_keep_list(keep) if keep else (),
            case=case,
            noise=noise,
            allow_unproved=allow_unproved,
        )
        _certify(privatizer, quiet=quiet)
        promise = privatizer.guarantee.with_text(source.strata, source.conditions)
        announce(promise, before, quiet=quiet, verbose=verbose)
        started = time.perf_counter()
        with sink:
            released = privatize_batches(
                privatizer,
                source.batches(),
                names,
                id_column=source.id_column,
                unique_ids=unique_ids,
                jobs=jobs,
                context=context,
            )
            with contextlib.closing(released):
                words = _write(released, source, sink, quiet=quiet)
            counts = {"rows": source.rows_read, "words": words}
            if strata := source.strata:
                counts["records_without_a_column"] = source.missing_rows
            promise = privatizer.guarantee.with_text(strata, source.conditions)
            passes = [*before, *(Pass(column, promise) for column in columns)]
            stated = report_of(passes, promise, source, columns, counts)
            with _written(target, stated):
                sink.commit({"mondegreen": to_json(passes)})
    if not quiet:
        seconds = time.perf_counter() - started
        click.echo(
            f"{amount(counts['rows'], 'row')}, {amount(words, 'word')} in "
            f"{seconds:.1f} s "
            f"({amount(round(words / max(seconds, 1e-9)), 'word')} a second)",
            err=True,
        )
    if source.missing_rows:
        click.echo(f"Warning: {source.strata[0]}", err=True)


def _calibrate(mechanism: AbstractMechanism, space: Space, *, quiet: bool) -> None:
    """Show that what a mechanism does once on a space of one's own takes a while."""
    from mondegreen.cli.progress import shower

    show = shower(quiet)
    mechanism.warm_up(space, lambda share: show(f"calibrating {share:.0%}"))
    show("")


def _certify(privatizer: Privatizer, *, quiet: bool) -> None:
    """Show that the first certificate of a law on a large space takes a while."""
    from mondegreen.cli.progress import say, shower

    state = privatizer.state
    if state.certificate_takes_long and not quiet:
        say("Computing the certificate of this law, once; it is kept.")
        show = shower(quiet)
        state.certificate(lambda share: show(f"certificate {share:.0%}"))
        show("")


def _write(
    released: Iterable[tuple[pa.RecordBatch, int]],
    source: AbstractSource,
    sink: Any,
    *,
    quiet: bool,
) -> int:
    """Move all batches to the sink; return the number of words."""
    from mondegreen.cli.progress import progress

    words = 0
    with progress(source, quiet=quiet) as advance:
        for batch, count in released:
            sink.write(batch)
            words += count
            advance()
    return words


def _noise(
    key_file: str | None,
    key_env: str | None,
    id_column: str | None,
    seed: int | None,
) -> NoiseSource | None:
    """Choose the source of randomness; the operating system if nothing is said."""
    from mondegreen.sampling.noise import KeyedNoise, Seeded

    given = {"--key-file": key_file, "--key-env": key_env, "--seed": seed}
    named = [name for name, value in given.items() if value is not None]
    if len(named) > 1:
        raise ConfigurationError(f"{' and '.join(named)} exclude each other")
    if (key_file is key_env is None) != (id_column is None):
        raise ConfigurationError("--key-file, or --key-env, and --id need each other")
    if key_file is not None:
        return KeyedNoise.from_file(key_file)
    if key_env is not None:
        return KeyedNoise.from_env(key_env)
    return None if seed is None else Seeded(seed)


def _check_reading(source: AbstractSource, reading: dict[str, Any]) -> None:
    """Refuse options of another format, which would change nothing."""
    for option, harmless, format in (
        ("missing", "stop", "jsonl"),
        ("metadata", "drop", "parquet"),
    ):
        if reading[option] != harmless and source.format != format:
            allowed = f"{harmless} for {source.format}: only {format} has another"
            raise InvalidParameterError(f"--{option}", reading[option], allowed)


def _logical(columns: tuple[str, ...], named: tuple[str, ...]) -> dict[str, str]:
    """Return the name that each column has for a key: its own, or that of --as."""
    names = {column: column for column in columns}
    for setting in named:
        column = next((c for c in columns if setting.startswith(f"{c}=")), None)
        is_again = column is not None and names[column] != column
        if column is None or setting == f"{column}=" or is_again:
            allowed = "COLUMN=NAME, COLUMN being one of --column, once"
            raise InvalidParameterError("--as", setting, allowed)
        names[column] = setting.removeprefix(f"{column}=")
    return names


def _check_paths(
    input: str, output: str, report: str | None, *, public: str | None, key: str | None
) -> None:
    """Refuse to write one file over another of the same run, --force or not."""
    read = [path for path in (public, key) if path is not None]
    taken = {
        "--output": (output, read),
        "--report": (report, [*read, output, *([input] if input != "-" else [])]),
    }
    for option, (path, others) in taken.items():
        if path is not None and any(_is_same_file(path, other) for other in others):
            raise InvalidParameterError(option, path, "a file of its own")


def _is_same_file(one: str, other: str) -> bool:
    """Whether two paths are one regular file, or both standard output."""
    if "-" in (one, other):
        return one == other
    path, second = Path(one).resolve(), Path(other).resolve()
    if path.is_file() and second.is_file():
        return path.samefile(second)  # a hard link too
    return path == second and not path.exists()


@contextlib.contextmanager
def _written(target: Any, data: bytes) -> Iterator[None]:
    """Write a report beside the output; neither appears if one cannot be written."""
    if target is None:
        yield
        return
    with contextlib.closing(target):
        target.open()
        target.write(data)
        try:
            target.file.flush()  # a full disk shows here, before the output appears
        except OSError as error:
            raise target.failure(error) from None
        yield
        target.commit()


def _report_target(report: str | None, *, force: bool) -> Any:
    """Return where the report goes, refusing now what could not be written later."""
    from mondegreen.io.target import Target

    return None if report is None else Target(str(Path(report)), force=force)
