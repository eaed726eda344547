"""``mondegreen privatize``: a file in, its release out, and what is said of both."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, final

import click

from mondegreen.cli import options
from mondegreen.cli.before_after import MOST_SHOWN, FirstTexts
from mondegreen.cli.options import Column, File, InputPath, argument, command, option
from mondegreen.errors import ConfigurationError, InvalidParameterError, SourceError
from mondegreen.files import read_bytes
from mondegreen.io.guess import Format, guess_format
from mondegreen.settings import Settings

if TYPE_CHECKING:
    from mondegreen.cli.folder import Plan
    from mondegreen.cli.releaser import Releaser
    from mondegreen.io.base import AbstractSource
    from mondegreen.io.target import Target
    from mondegreen.passes import Pass
    from mondegreen.privatizer.ledger import LedgerWriter
    from mondegreen.privatizer.privatizer import Privatizer
    from mondegreen.sampling.noise import NoiseSource

_ABOUT_MAP: Final = (
    "The map and the key undo this release: keep both apart from it. If the key is "
    "lost, nobody can restore."
)
_NO_ID: Final = "A key needs --id NAME: a column that has a different value in each row"
_NO_KEY: Final = (
    "--id needs a key. Add --key-file FILE. To make one: (umask 077; head -c 32 "
    "/dev/urandom > release.key)"
)
_LONGEST: Final = 16 << 20  # bytes of an earlier report
_ADVICE: Final = {
    "--unique-ids": ": ids in two files are not compared. Leave it out; --ledger "
    "FILE counts the releases of each id"
}
"""What to do instead of an option that needs a single file."""


@command()
def privatize(
    inputs: tuple[File, ...] = argument(
        nargs=-1, required=True, metavar="INPUT...", type=InputPath(path_type=str)
    ),
    output: File = option(
        "File to write, in the format of INPUT. For several inputs, or a folder: a "
        "new folder.",
        "-o --output",
        default="-",
        show_default="standard output",
    ),
    settings: Settings = options.settings(),
    columns: tuple[Column, ...] = options.COLUMNS,
    drop: tuple[Column, ...] = options.DROP,
    format: Format | None = options.FORMAT,
    delimiter: str | None = option(
        "Delimiter of a CSV file, such as ';' or '\\t'.  [default: a comma, or the "
        "one in the header]",
        "CHAR",
        callback=lambda context, option, given: "\t" if given == "\\t" else given,
    ),
    encoding: str | None = option(
        "Encoding of INPUT, such as cp1252. The output is UTF-8.  [default: UTF-8]",
        "NAME",
    ),
    sheet: str | None = option(
        "Sheet of an Excel workbook. The release holds only this sheet.  [default: "
        "the first]",
        "NAME",
    ),
    missing: Literal["stop", "pass"] = option(
        "What to do with JSON records that lack a column. stop: write nothing. pass: "
        "print them UNCHANGED."
    ),
    metadata: Literal["drop", "keep"] = option(
        "Whether to keep the metadata of a Parquet file, which may hold text."
    ),
    report: File | None = option(
        "Write guarantee, settings and counts as JSON. The report holds no text."
    ),
    earlier: File | None = option(
        "Report of the run that made INPUT. The new report repeats its guarantees. "
        "Parquet files carry them already."
    ),
    key_file: File | None = option(
        "Key file for keyed noise: the same record gets the same release. Needs --id. "
        "With --map and no --id, the key only encrypts the map."
    ),
    key_env: str | None = option(
        "Environment variable with the key, as 64 hex digits, instead of --key-file.",
        "VARIABLE",
    ),
    id_column: Column | None = option(
        "Column that identifies a record, for a key.", "--id COLUMN"
    ),
    unique_ids: bool = option(
        "Stop at an id that occurs twice: two records with one id and one text get "
        "the same release. Needs about 110 bytes of memory per record. For a single "
        "file only: it does not compare the ids of two files, but --ledger does."
    ),
    ledger: File | None = option(
        "File that counts the releases of each record. It holds no id and no text. "
        "Needs --id and a key. See: mondegreen budget."
    ),
    ledger_key_file: File | None = option(
        "Key of the ledger, if it is not --key-file. "
        "Without --key-file, the noise is fresh, and each release is a new draw."
    ),
    detect: Literal["none", "presidio"] = options.DETECT,
    detect_model: str | None = options.DETECT_MODEL,
    map_path: File | None = option(
        "Write an encrypted map back to the originals, under --key-file. Needs --same "
        "record. Anyone with MAP and its key can UNDO the release. Without the key, "
        "nobody can read the map. With --id, mondegreen restore finds records by "
        "their id, otherwise by their place in the file.",
        "--map MAP",
    ),
    logical: tuple[str, ...] = option(
        "The old name of COLUMN, if you renamed it. With this name, the key repeats "
        "the old release. Repeatable.",
        "--as COLUMN=NAME",
    ),
    seed: options.Seed | None = option(
        "Repeatable noise for experiments: the same file gives the same output; a "
        "pipe may not. The output is NOT PRIVATE."
    ),
    jobs: int = option("Number of processes, one core each.", "-j --jobs", default=1),
    show: int = option(
        "Print the first N texts before and after: this shows ORIGINALS. Standard "
        "error must be a terminal.",
        "--show N",
        default=0,
        type=click.IntRange(0, MOST_SHOWN),
    ),
    spans: str | None = option(
        "Field with marked places of the text, for a single --column: [[start, end, "
        "kind], ...], or what Presidio or spaCy write. The release gets the spans with "
        "new offsets. They disclose which words are annotated, and with which label.",
        "--spans FIELD",
    ),
    certify: int = option(
        "Count the hidden words that the context gives away, in the first N texts. "
        "The report states the counts too. They are private: do not publish them with "
        "the release. See: mondegreen explain FILE.",
        "--certify N",
        default=0,
        type=click.IntRange(0),
    ),
    force: bool = options.FORCE,
    in_place: bool = option(
        "Replace INPUT itself by its release. The original is then gone. A file with "
        "several hard links is rejected."
    ),
    quiet: bool = option("Print warnings only.", "-q --quiet"),
    verbose: bool = option("Print the whole guarantee.", "-v --verbose"),
) -> None:
    """Privatize the text of files.

    The command replaces each sensitive word by another word of the same group.
    Sensitive words are names, places, numbers, words about health, family, work,
    belief, money and crime, and rare words. Ordinary words of a public list stay, and
    so does the story. To replace every word, use --policy all.

    INPUT is a file or "-". Its name gives the format: .txt (one text per line), .csv,
    .tsv, .json (an array of objects), .jsonl, .parquet, .xlsx. Only the named columns
    change. The command writes the whole output, or no output at all. For several files,
    or folders, --output is a new folder with one release per file.

    \b
    mondegreen privatize reviews.csv -o safe.csv --column review --epsilon 12
    cat notes.txt | mondegreen privatize - --epsilon 12 > safe.txt
    mondegreen privatize notes.txt -o safe.txt --policy all --epsilon 10
    """  # noqa: D301
    from mondegreen.processes import SPAWN, warm_up

    context = warm_up() if jobs > 1 else SPAWN  # first: it goes on by itself
    from mondegreen.cli import folder
    from mondegreen.cli.releaser import Releaser
    from mondegreen.integrations.detectors import check_detector
    from mondegreen.io.open import open_source
    from mondegreen.privatizer.parallel import privatize_batches, start_workers

    noise = _noise(
        key_file,
        key_env,
        id_column,
        seed,
        has_map=map_path is not None,
        has_ledger_key=ledger_key_file is not None,
    )
    check_detector(detect, detect_model, settings.resolve().policy, processes=jobs)
    carried = _check_spans(
        spans,
        columns,
        {
            "--jobs": jobs > 1,
            "--map": map_path is not None,
            "--missing pass": missing == "pass",
            "--unique-ids": unique_ids,
        },
    )
    _check_certify(certify, settings)
    map_key = _map_key(map_path, key_file, key_env, settings, jobs)
    if map_path is not None and id_column in drop:
        raise ConfigurationError(
            "--map finds records by --id: do not drop that column, or leave --id out"
        )
    if id_column is None and (unique_ids or logical):
        raise ConfigurationError("--unique-ids and --as need --key-file and --id")
    if folder.has_many(inputs):
        _refuse_many(
            {
                "--map": map_path is not None,
                "--in-place": in_place,
                "--earlier": earlier is not None,
                "--unique-ids": unique_ids,
            }
        )
    check_earlier(earlier, inputs[0])
    open_input = functools.partial(
        open_source,
        format=format,
        columns=columns,
        id_column=id_column,
        delimiter=delimiter,
        encoding=encoding,
        missing=missing,
        metadata=metadata,
        structure=settings.structure,
        sheet=sheet,
        raw_field=spans,
        drop=drop,
    )

    writer = _open_ledger(ledger, ledger_key_file, noise, id_column)
    releaser = Releaser(
        first=FirstTexts(show, quiet=quiet),
        certified=FirstTexts(certify, is_shown=False),
        earlier=report_pass(earlier),
        earlier_rows=report_rows(earlier),
        carried=carried,
        counts_ids=report is not None,
        key_id=_identify_key(noise),
        ledger=writer,
        quiet=quiet,
        verbose=verbose,
    )
    run = _Run(
        releaser=releaser,
        open=open_input,
        check=functools.partial(
            _check_source, missing, metadata, bool(earlier and not report)
        ),
        prepare=functools.partial(
            _prepare, settings, noise, detect, detect_model, quiet=quiet
        ),
        privatize=functools.partial(
            privatize_batches, unique_ids=unique_ids, jobs=jobs, context=context
        ),
        workers=functools.partial(start_workers, jobs=jobs, context=context)
        if jobs > 1
        else None,
        logical=logical,
        spans=spans,
        report=report,
        read=(*options.word_files(), key_file, ledger, ledger_key_file),
        ledger=contextlib.nullcontext() if writer is None else writer,
        force=force,
    )
    if folder.has_many(inputs):
        plan = folder.plan_releases(inputs, output, has_format=format is not None)
        if format is None and folder.has_columns(plan):
            run = replace(run, open=functools.partial(_open_one_of_many, open_input))
        run.release_many(plan, output)
    else:
        run.release_one(inputs[0], output, map_path, map_key, in_place=in_place)
    if map_path is not None and not quiet:
        click.echo(_ABOUT_MAP, err=True)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class _Run:
    """What a run does with each of its files, and what it writes beside them."""

    releaser: Releaser
    open: Callable[[str], AbstractSource]
    check: Callable[[AbstractSource], None]
    prepare: Callable[[], Privatizer]
    privatize: Callable[..., Any]
    workers: Callable[[Privatizer], contextlib.AbstractContextManager[Any]] | None
    logical: tuple[str, ...]
    spans: str | None
    report: str | None
    read: tuple[str | None, ...]
    ledger: contextlib.AbstractContextManager[object]
    force: bool

    def release_one(
        self,
        input: str,
        output: str,
        map_path: str | None,
        map_key: bytes,
        *,
        in_place: bool,
    ) -> None:
        """Release a file or standard input, with a map beside if one is named."""
        from mondegreen.io.open import open_sink

        if in_place and output == "-":
            output = input
        with self.open(input) as source:
            names = self._survey(source)
            sink = open_sink(output, source, force=self.force, in_place=in_place)
            beside = {"--report": self.report, "--map": map_path}
            options.check_separate(input, output, beside, self.read)
            target = _target(self.report, force=self.force)
            is_hashed = target is not None and sink.target.hash_bytes()
            self.releaser.begin(self.prepare())
            map_target = _target(map_path, force=self.force)
            with (
                self.ledger,
                sink,
                _map_beside(map_target, map_key, self.privatize) as privatize,
            ):
                privatize = self._with_spans(privatize, source)
                with self.releaser.progress():
                    self.releaser.release(source, sink, privatize, names)
                stated = self.releaser.finish(source, names)
                if is_hashed:  # before the report, which appears with the release
                    name = Path(output).name
                    self.releaser.note_output(name, sink.end(stated))
                with _beside(target, self.releaser.report()), _commit(map_target):
                    sink.commit(stated)
        self.releaser.say_done(output)

    def release_many(self, plan: Plan, output: str) -> None:
        """Release several files into a new folder; it appears whole or not at all."""
        from mondegreen.cli.folder import (
            FILE_NAMES,
            NewFolder,
            advise_on_columns,
            say_left_out,
        )
        from mondegreen.io.open import open_sink

        folder = NewFolder(
            output, [each.output for each in plan.files], force=self.force
        )
        for each in plan.files:  # all are looked at before one is released
            options.check_separate(
                each.input, "-", {"--report": self.report}, self.read
            )
            with advise_on_columns(), self.open(each.input) as source:
                self._survey(source)
        target = _target(self.report, force=self.force)
        self.releaser.begin(self.prepare(), FILE_NAMES)
        with (
            self.ledger,
            folder,
            self._start_workers() as submit,
            self.releaser.progress(),
        ):
            for each in plan.files:
                with advise_on_columns(), self.open(each.input) as source:
                    names = _logical(source.text_columns, self.logical)
                    sink = open_sink(folder.file(each.output), source)
                    if target is not None:
                        sink.target.hash_bytes()
                    with sink:
                        privatize = self._with_spans(submit, source)
                        self.releaser.release(source, sink, privatize, names)
                        digest = sink.end(self.releaser.finish(source, names))
                        sink.commit()
                    if digest:
                        name = Path(each.output).as_posix()
                        self.releaser.note_output(name, digest)
            with _beside(target, self.releaser.report()):
                folder.commit()
        if left_out := say_left_out(plan):
            click.echo(left_out, err=True)
        self.releaser.say_done(output)

    @contextlib.contextmanager
    def _start_workers(self) -> Iterator[Callable[..., Any]]:
        """Yield what releases batches; its processes serve all files of the run."""
        if self.workers is None:
            yield self.privatize
            return
        with self.workers(self.releaser.privatizer) as submit:
            yield functools.partial(self.privatize, submit=submit)

    def _with_spans(
        self, privatize: Callable[..., Any], source: AbstractSource
    ) -> Callable[..., Any]:
        """Move annotated spans onto the release, if a field of them is named."""
        if self.spans is None:
            return privatize
        from mondegreen.cli.annotated import privatize_annotated

        return functools.partial(privatize_annotated, source=source, field=self.spans)

    def _survey(self, source: AbstractSource) -> dict[str, str]:
        """Check a source that is open, and name its columns for a key."""
        self.check(source)
        for note in source.notes:
            click.echo(note, err=True)
        self.releaser.survey(source)
        return _logical(source.text_columns, self.logical)


def _open_one_of_many(open_input: functools.partial[Any], path: str) -> AbstractSource:
    """Open a file beside tables; lines of text have no columns to name or to drop."""
    if guess_format(path) != "txt":
        source: AbstractSource = open_input(path)
        return source
    source = open_input(path, columns=("text",), drop=())
    if open_input.keywords["drop"]:
        note = "lines of text have no columns. --drop does not apply to it."
        source.notes = (*source.notes, f"{source.name}: {note}")
    return source


def _refuse_many(alone: Mapping[str, bool]) -> None:
    """Refuse options that go with a single file."""
    for name in (name for name, is_given in alone.items() if is_given):
        raise ConfigurationError(
            f"{name} needs a single file as INPUT{_ADVICE.get(name, '')}"
        )


def _check_spans(
    field: str | None, columns: Sequence[str], excluded: Mapping[str, bool]
) -> tuple[str, ...]:
    """Refuse options that do not go with spans; return what these disclose."""
    if field is None:
        return ()
    from mondegreen.cli.annotated import DISCLOSED, check_spans

    check_spans(field, columns, excluded)
    return DISCLOSED


def _check_certify(count: int, settings: Settings) -> None:
    """Refuse a certificate of releases whose sampled words are not at hand."""
    if count and settings.read != "none":
        raise ConfigurationError("--certify needs --read none")
    if count and settings.unknown == "drop":
        raise ConfigurationError("--certify needs all words: leave --unknown drop out")


def _prepare(
    settings: Settings,
    noise: NoiseSource | None,
    detect: str,
    detect_model: str | None,
    *,
    quiet: bool,
) -> Privatizer:
    """Build the privatizer of a run."""
    from mondegreen.cli.render import prepare_privatizer
    from mondegreen.integrations.detectors import add_detector, choose_detector

    privatizer = prepare_privatizer(settings, noise, quiet=quiet)
    privatizer.check_noise()
    policy = settings.resolve().policy
    return add_detector(privatizer, choose_detector(detect, detect_model, policy))


def _check_source(
    missing: str, metadata: str, loses_earlier: bool, source: AbstractSource
) -> None:
    """Refuse options that this format does not have."""
    _check_format("missing", missing, "stop", source, "json", "jsonl")
    _check_format("metadata", metadata, "drop", source, "parquet")
    if loses_earlier and source.format != "parquet":
        raise ConfigurationError(
            f"--earlier needs --report: {source.format} has no place for a guarantee"
        )


def _noise(
    key_file: str | None,
    key_env: str | None,
    id_column: str | None,
    seed: int | None,
    *,
    has_map: bool,
    has_ledger_key: bool,
) -> NoiseSource | None:
    """Choose the source of randomness; None is the operating system."""
    from mondegreen.sampling.noise import Seeded

    given = {"--key-file": key_file, "--key-env": key_env, "--seed": seed}
    named = [name for name, value in given.items() if value is not None]
    if len(named) > 1:
        raise ConfigurationError(f"{' and '.join(named)} cannot be combined")
    has_key = not key_file is key_env is None
    if has_map and has_key and id_column is None:
        return None  # the key seals the map
    if has_key != (id_column is not None) and not has_ledger_key:
        raise ConfigurationError(_NO_ID if has_key else _NO_KEY)
    if seed is not None:
        return Seeded(seed)
    return options.build_keyed_noise(key_file, key_env)


def _identify_key(noise: NoiseSource | None) -> str | None:
    """Tell keys apart in reports: no key can be found by this, nor be tested faster."""
    from mondegreen.sampling.noise import KeyedNoise

    return noise.subkey(b"report")[:8].hex() if isinstance(noise, KeyedNoise) else None


def _open_ledger(
    path: str | None,
    key_file: str | None,
    noise: NoiseSource | None,
    id_column: str | None,
) -> LedgerWriter | None:
    """Make what counts the releases of a run."""
    if path is None and key_file is None:
        return None
    from mondegreen.privatizer.ledger import LEDGER_PURPOSE, LedgerWriter
    from mondegreen.sampling.noise import KeyedNoise, Seeded

    keyed = noise if isinstance(noise, KeyedNoise) else None
    own = keyed if key_file is None else KeyedNoise.from_file(key_file)
    if path is None or own is None or id_column is None or isinstance(noise, Seeded):
        raise ConfigurationError(
            "a ledger needs --ledger FILE, --id COLUMN and a key: --key-file, or "
            "--ledger-key-file for fresh noise. With --seed nothing is protected"
        )
    noise_key = None if keyed is None else keyed.subkey(LEDGER_PURPOSE)
    return LedgerWriter(path, own.subkey(LEDGER_PURPOSE), noise_key)


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


def _target(path: str | None, *, force: bool) -> Target | None:
    from mondegreen.io.target import Target

    return None if path is None else Target(path, force=force)


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
        raise ConfigurationError("--map needs --key-file: the key encrypts the map")
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


def report_pass(report: str | None) -> list[Pass]:
    """The passes that a report lists."""
    from mondegreen.passes import from_json

    if report is None:
        return []
    found = _read_report(report)
    passes = from_json(json.dumps(found["passes"]))
    counts = found.get("counts")
    copied = counts.get("records_without_a_column") if isinstance(counts, dict) else 0
    if all(each.missing_rows is None for each in passes) and isinstance(copied, int):
        passes[-1] = replace(passes[-1], missing_rows=copied)  # of an older version
    return passes


def check_earlier(report: str | None, input: str) -> None:
    """Refuse an earlier report of another file than the input, by its SHA-256.

    A report of a release that went to a pipe names no file: then rows are compared.
    """
    outputs = [] if report is None else _read_report(report).get("outputs", [])
    known = {each["sha256"] for each in outputs}
    if not known:
        return
    if not Path(input).is_file():
        raise ConfigurationError(
            "--earlier compares INPUT with the release of the report: give INPUT as a "
            "file"
        )
    with Path(input).open("rb") as file:
        if hashlib.file_digest(file, "sha256").hexdigest() in known:
            return
    problem = f"is not the release that {report} describes: its SHA-256 differs"
    hint = "name the report of this file, and change a file only after its last run"
    raise SourceError(input, problem, hint=hint)


def report_rows(report: str | None) -> int | None:
    """Count the rows of the one file that a report is about; None if it says none."""
    if report is None:
        return None
    counts = _read_report(report).get("counts")
    if not isinstance(counts, dict) or counts.get("files", 1) != 1:
        return None
    rows = counts.get("rows")
    return rows if isinstance(rows, int) else None


def _read_report(report: str) -> dict[str, Any]:
    """Read a report as JSON; it has a list of passes, and of outputs if of any."""
    try:
        found = dict(json.loads(read_bytes(report, _LONGEST)))
        found["passes"]
        for each in found.get("outputs", []):
            bytes.fromhex(each["sha256"])
    except (ValueError, KeyError, TypeError, RecursionError):
        problem = "not a report of mondegreen privatize"
        raise SourceError(report, problem, hint="see --report") from None
    return found


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
