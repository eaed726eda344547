"""``mondegreen privatize``: a file in, its release out, and what is said of both."""

from __future__ import annotations

import contextlib
import functools
import itertools
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal

import click

from mondegreen.cli import options
from mondegreen.cli.before_after import MOST_SHOWN, FirstTexts
from mondegreen.cli.options import Column, File, argument, command, option
from mondegreen.cli.other_columns import warn_of_other_columns
from mondegreen.errors import ConfigurationError, InvalidParameterError, SourceError
from mondegreen.files import read_bytes
from mondegreen.io.guess import Format
from mondegreen.settings import Settings
from mondegreen.wording import amount

if TYPE_CHECKING:
    import pyarrow as pa

    from mondegreen.guarantee import Guarantee
    from mondegreen.io.base import AbstractSource
    from mondegreen.io.target import Target
    from mondegreen.passes import Pass
    from mondegreen.privatizer.privatizer import Privatizer
    from mondegreen.sampling.noise import NoiseSource
    from mondegreen.scores.preview import Preview

_ABOUT_MAP: Final = (
    "The map and the key undo this release: keep both apart from it. If the key is "
    "lost, nobody can restore."
)
_LONGEST: Final = 16 << 20  # bytes of an earlier report


@command()
def privatize(
    input: File = argument(),
    output: File = option(
        "In the format of INPUT.",
        "-o --output",
        default="-",
        show_default="standard output",
    ),
    settings: Settings = options.settings(),
    columns: tuple[Column, ...] = options.COLUMNS,
    format: Format | None = options.FORMAT,
    delimiter: str | None = option(
        "Between the values of CSV, such as ';' or '\\t'.  [default: a comma, or what "
        "the header tells]",
        "CHAR",
        callback=lambda context, option, given: "\t" if given == "\\t" else given,
    ),
    encoding: str | None = option(
        "Of INPUT, such as latin-1; the output is UTF-8.  [default: UTF-8]", "NAME"
    ),
    missing: Literal["stop", "pass"] = option(
        "Records of JSON that lack a column: stop, or let them PASS IN CLEAR."
    ),
    metadata: Literal["drop", "keep"] = option(
        "Notes that a Parquet file carries besides its rows: they may hold text."
    ),
    report: File | None = option(
        "Write guarantee, settings and counts as JSON. Holds no text."
    ),
    earlier: File | None = option(
        "Report of a run that made INPUT, whose guarantees go into the new report. "
        "Parquet carries them by itself."
    ),
    key_file: File | None = option(
        "Keyed noise: the same record repeats its release. Needs --id. With --map "
        "and no --id, the key seals the map and nothing else."
    ),
    key_env: str | None = option(
        "As --key-file; the environment variable holds 64 hex digits.", "VARIABLE"
    ),
    id_column: Column | None = option("Record id, for a key.", "--id COLUMN"),
    unique_ids: bool = option(
        "Stop at an id that has occurred: two records of one id and one text repeat "
        "each other. Some 110 bytes of memory for each record."
    ),
    detect: Literal["none", "presidio"] = option(
        "Let a detector read each text first; what it finds hides among words of its "
        "type, and everything goes through the policy all the same. Needs --policy."
    ),
    detect_model: str | None = option(
        "Installed spaCy model for --detect presidio, such as en_core_web_sm.  "
        "[default: none; patterns alone, which find no names]",
        "NAME",
    ),
    map_path: File | None = option(
        "Write the way back, sealed under --key-file; needs --same record. MAP with "
        "its key UNDOES the release; without the key nobody can read it. With --id, "
        "texts are found by the id of their record, else by their place. See: "
        "mondegreen restore.",
        "--map MAP",
    ),
    logical: tuple[str, ...] = option(
        "The name that COLUMN has for a key: a renamed column repeats its release "
        "under the name that it had. Repeatable.",
        "--as COLUMN=NAME",
    ),
    seed: options.Seed | None = option(
        "For experiments: the same file gives the same output again, a pipe may not. "
        "The output is NOT PRIVATE."
    ),
    jobs: int = option("Processes, one core each.", "-j --jobs", default=1),
    show: int = option(
        "Print the first N texts before and after, on a terminal only: it shows "
        "ORIGINALS. It prints on standard error, which must be the terminal.",
        "--show N",
        default=0,
        type=click.IntRange(0, MOST_SHOWN),
    ),
    force: bool = options.FORCE,
    in_place: bool = option(
        "Replace INPUT itself by its release. The original is gone; a file with "
        "further hard links is refused."
    ),
    quiet: bool = option("Print warnings alone.", "-q --quiet"),
    verbose: bool = option("Print the whole guarantee.", "-v --verbose"),
) -> None:
    """Privatize the text of INPUT.

    Sensitive words (names, places, numbers, health, family, work, belief, money, crime,
    rare words) are replaced by others of their kind. Ordinary words of a public list
    stay, and so does the story that they tell: use --policy all to replace every word.

    INPUT is a file or "-". Its name tells the format: .txt (one text a line), .csv,
    .tsv, .json (an array of objects), .jsonl, .parquet. Only the named columns change.
    The output appears whole or not at all.

    \b
    mondegreen privatize reviews.csv -o safe.csv --column review --epsilon 12
    cat notes.txt | mondegreen privatize - --epsilon 12 > safe.txt
    mondegreen privatize notes.txt -o safe.txt --policy all --epsilon 10
    """  # noqa: D301
    from mondegreen.processes import SPAWN, warm_up

    context = warm_up() if jobs > 1 else SPAWN  # first: it goes on by itself
    from mondegreen import __version__
    from mondegreen.cli.render import prepare_privatizer, progress
    from mondegreen.io.open import open_sink, open_source
    from mondegreen.passes import METADATA_KEY, Pass, build_report, from_json, to_json
    from mondegreen.privatizer.parallel import privatize_batches
    from mondegreen.protection import worst
    from mondegreen.scores.text_loss import TextLosses

    noise = _noise(key_file, key_env, id_column, seed, has_map=map_path is not None)
    _check_detector(detect, detect_model, settings, jobs)
    map_key = _map_key(map_path, key_file, key_env, settings, jobs)
    first = FirstTexts(show)
    if id_column is None and (unique_ids or logical):
        raise ConfigurationError("--unique-ids and --as need --key-file and --id")
    if in_place and output == "-":
        output = input
    with open_source(
        input,
        format=format,
        columns=columns,
        id_column=id_column,
        delimiter=delimiter,
        encoding=encoding,
        missing=missing,
        metadata=metadata,
        structure=settings.structure,
    ) as source:
        _check_format("missing", missing, "stop", source, "json", "jsonl")
        _check_format("metadata", metadata, "drop", source, "parquet")
        _check_earlier(earlier, report, source)
        names = _logical(source.text_columns, logical)
        sink = open_sink(output, source, force=force, in_place=in_place)
        before = [*report_pass(earlier), *from_json(source.earlier)]
        for note in source.notes:
            click.echo(note, err=True)
        read = [*options.word_files(), key_file]
        _check_paths(input, output, {"--report": report, "--map": map_path}, read)
        target = _target(report, force=force)
        privatizer = prepare_privatizer(settings, noise, quiet=quiet)
        privatizer.check_noise()
        privatizer = _with_detector(privatizer, detect, detect_model)
        promise = privatizer.guarantee.with_text(source.disclosed, source.conditions)
        preview, notice = privatizer.preview(), _what_is_read(privatizer)
        _announce(promise, preview, before, notice, quiet=quiet, verbose=verbose)
        batches = warn_of_other_columns(source, first.take_originals(source))
        counted_by = None if report is None else source.id_column
        started, words, losses = time.perf_counter(), 0, TextLosses()
        in_parts = functools.partial(
            privatize_batches, unique_ids=unique_ids, jobs=jobs, context=context
        )
        map_target = _target(map_path, force=force)
        with (
            sink,
            _map_beside(map_target, map_key, in_parts) as release,
            progress(source, quiet=quiet) as advance,
        ):
            by_id = source.id_column
            released = release(privatizer, batches, names, id_column=by_id)
            with contextlib.closing(released):
                for batch, counts in released:
                    sink.write(batch)
                    first.take_release(source, batch)
                    words += int(counts.sum())
                    losses.add(counts, _ids(batch, counted_by))
                    advance()
            # The end of the file tells more: how many records were passed over.
            disclosed = source.disclosed
            promise = privatizer.guarantee.with_text(disclosed, source.conditions)
            passes = [*before, *(Pass(column, promise) for column in names)]
            # Counts of unknown or changed words are not in the report: they are
            # functions of the private words. Those of rows and words pass in clear.
            totals = {"rows": source.rows_read, "words": words}
            if disclosed:
                totals["records_without_a_column"] = source.missing_rows
            told = build_report(passes, __version__)
            told |= {
                "protection": worst((told["protection"], preview.level)),
                "preview": preview.to_dict(),
                "loss": losses.to_dict(promise.word_loss),
                "input": {"format": source.format, "columns": list(names)},
                "counts": totals,
            }
            with _beside(target, _as_bytes(told)), _commit(map_target):
                sink.commit({METADATA_KEY: to_json(passes)})
    first.show(privatizer, output)
    if not quiet:
        _say_about_map(map_path)
        seconds = time.perf_counter() - started
        speed = amount(round(words / max(seconds, 1e-9)), "word")
        done = f"{amount(source.rows_read, 'row')}, {amount(words, 'word')}"
        click.echo(f"{done} in {seconds:.1f} s ({speed} a second)", err=True)
    if source.missing_rows:
        click.echo(f"Warning: {source.disclosed[0]}", err=True)


def _noise(
    key_file: str | None,
    key_env: str | None,
    id_column: str | None,
    seed: int | None,
    *,
    has_map: bool,
) -> NoiseSource | None:
    """Choose the source of randomness; None is the operating system."""
    from mondegreen.sampling.noise import Seeded

    given = {"--key-file": key_file, "--key-env": key_env, "--seed": seed}
    named = [name for name, value in given.items() if value is not None]
    if len(named) > 1:
        raise ConfigurationError(f"{' and '.join(named)} exclude each other")
    has_key = not key_file is key_env is None
    if has_map and has_key and id_column is None:
        return None  # the key seals the map
    if has_key != (id_column is not None):
        raise ConfigurationError("--key-file, or --key-env, and --id need each other")
    if seed is not None:
        return Seeded(seed)
    return options.build_keyed_noise(key_file, key_env)


def _logical(columns: tuple[str, ...], named: tuple[str, ...]) -> dict[str, str]:
    """The name that each column has for a key: its own, or that of --as."""
    names = {column: column for column in columns}
    for setting in named:
        column = next((c for c in columns if setting.startswith(f"{c}=")), None)
        is_again = column is not None and names[column] != column
        if column is None or setting == f"{column}=" or is_again:
            allowed = "COLUMN=NAME, COLUMN being one of --column, once"
            raise InvalidParameterError("--as", setting, allowed)
        names[column] = setting.removeprefix(f"{column}=")
    return names


def _check_format(
    name: str, given: str, harmless: str, source: AbstractSource, *formats: str
) -> None:
    """Refuse an option of another format, which would change nothing."""
    if given != harmless and source.format not in formats:
        others = f"only {' and '.join(formats)} can have another"
        allowed = f"{harmless} for {source.format}: {others}"
        raise InvalidParameterError(f"--{name}", given, allowed)


def _check_earlier(
    earlier: str | None, report: str | None, source: AbstractSource
) -> None:
    """Refuse guarantees of earlier runs where nothing would carry them on."""
    if earlier and not report and source.format != "parquet":
        raise ConfigurationError(
            f"--earlier needs --report: {source.format} has no place for a guarantee"
        )


def _check_paths(
    input: str,
    output: str,
    beside: Mapping[str, str | None],
    read: Sequence[str | None],
) -> None:
    """Refuse to write one file over another of the same run, --force or not."""
    from mondegreen.io.target import is_same_file

    written = {name: path for name, path in beside.items() if path}
    clashes = [("--output", output, path) for path in read]
    clashes += [(n, path, each) for n, path in written.items() for each in read]
    clashes += [(name, path, input) for name, path in written.items()]
    if output != "-":
        clashes += [(name, path, output) for name, path in written.items()]
    named = list(written.items())
    clashes += [(*one, other) for one, (_, other) in itertools.combinations(named, 2)]
    for name, path, other in clashes:
        if path and other and is_same_file(other, path):
            raise InvalidParameterError(name, path, "a file of its own")
    for name, path in named:
        if path == "-" and (output == "-" or name == "--map"):
            raise InvalidParameterError(name, path, "a file of its own")


def _check_detector(
    detect: str, model: str | None, settings: Settings, jobs: int
) -> None:
    """Refuse a detector without a policy, or in several processes."""
    if detect == "none" and model is not None:
        raise ConfigurationError("--detect-model needs --detect presidio")
    if detect == "none":
        return
    if settings.resolve().policy == "all":
        raise ConfigurationError(
            "--detect needs a policy for all other words: add --policy names or "
            "--policy sensitive"
        )
    if jobs > 1:
        raise ConfigurationError("--detect needs --jobs 1")


def _with_detector(
    privatizer: Privatizer, detect: str, model: str | None
) -> Privatizer:
    """Put the detector in front that is named."""
    if detect == "none":
        return privatizer
    from mondegreen.integrations.detectors import load_presidio

    return privatizer.with_detector(*load_presidio(model))


def _target(path: str | None, *, force: bool) -> Target | None:
    from mondegreen.io.target import Target

    return None if path is None else Target(path, force=force)


def _say_about_map(map_path: str | None) -> None:
    if map_path is not None:
        click.echo(_ABOUT_MAP, err=True)


def _map_key(
    map_path: str | None,
    key_file: str | None,
    key_env: str | None,
    settings: Settings,
    jobs: int,
) -> bytes:
    """The key that seals a map; empty without one."""
    if map_path is None:
        return b""
    from mondegreen.privatizer.release_map import KEY_PURPOSE

    if settings.same != "record" or settings.resolve().policy == "all":
        raise ConfigurationError(
            "--map needs surrogates: add --policy names (or sensitive) and "
            "--same record"
        )
    if jobs > 1:
        raise ConfigurationError("--map needs --jobs 1: one process writes the map")
    key = options.build_keyed_noise(key_file, key_env)
    if key is None:
        raise ConfigurationError("--map needs --key-file, whose key seals the map")
    return key.subkey(KEY_PURPOSE)


@contextlib.contextmanager
def _map_beside(
    target: Target | None, key: bytes, otherwise: Callable[..., Any]
) -> Iterator[Callable[..., Any]]:
    """Yield what releases batches: with a map that is written beside, or without."""
    if target is None:
        yield otherwise
        return
    from mondegreen.privatizer.release_map import privatize_with_map

    with contextlib.closing(target):
        target.open()
        yield functools.partial(privatize_with_map, write=target.write, key=key)


@contextlib.contextmanager
def _commit(target: Target | None) -> Iterator[None]:
    """Give a map its name behind the release; a full disk shows before."""
    if target is not None:
        try:
            target.file.flush()
        except OSError as error:
            raise target.failure(error) from None
    yield
    if target is not None:
        target.commit()


def _announce(
    guarantee: Guarantee,
    preview: Preview,
    earlier: Sequence[Pass],
    notice: str,
    *,
    quiet: bool,
    verbose: bool,
) -> None:
    """Print the promise before work starts; where it is quiet, its warnings alone."""
    from mondegreen.cli.render import show_promise

    show_promise(guarantee, preview, quiet=quiet, verbose=verbose)
    if notice and not quiet:
        click.echo(notice, err=True)
    for each in earlier:
        if not quiet or each.is_void:
            click.echo(f"Privatized before: {each}", err=True)


def _what_is_read(privatizer: Privatizer) -> str:
    """Say that what is printed is a guess, where it is one."""
    notice = privatizer.reading.notice
    return f"{notice} --read none prints the sampled words." if notice else ""


def report_pass(report: str | None) -> list[Pass]:
    """The passes that a report tells of."""
    from mondegreen.passes import from_json

    if report is None:
        return []
    try:
        passes = json.loads(read_bytes(report, _LONGEST))["passes"]
    except (ValueError, KeyError, TypeError, RecursionError):
        problem = "not a report of mondegreen privatize"
        raise SourceError(report, problem, hint="see --report") from None
    return from_json(json.dumps(passes))


def _ids(batch: pa.RecordBatch, id_column: str | None) -> list[str] | None:
    from mondegreen.text.columns import read_ids

    return None if id_column is None else read_ids(batch.column(id_column))


def _as_bytes(report: dict[str, Any]) -> bytes:
    return (json.dumps(report, indent=2, ensure_ascii=False) + "\n").encode()


@contextlib.contextmanager
def _beside(target: Any, data: bytes) -> Iterator[None]:
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
