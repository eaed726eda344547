"""``mondegreen attack`` on a release of any tool: what it reads and what it shows."""

from __future__ import annotations

import contextlib
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from itertools import repeat
from typing import TYPE_CHECKING, Any, Final, final

import click

from mondegreen.errors import ConfigurationError, SourceError
from mondegreen.settings import Settings
from mondegreen.wording import DEFAULT_SPACE

if TYPE_CHECKING:
    from mondegreen.attacks.any_tool.rows import Given
    from mondegreen.attacks.any_tool.run import Found
    from mondegreen.attacks.attack import Attack
    from mondegreen.attacks.related_rows import Beside
    from mondegreen.cli.attack import Files, Made
    from mondegreen.language.ngrams import NGrams
    from mondegreen.report.sarif import Finding
    from mondegreen.space.space import Space

_SHOWN: Final = 5
_MOST_LISTED: Final = 1000
_DISPLACED: Final = 0.5
_HINT: Final = (
    "If mondegreen made RELEASE, run this again with its setting, such as --epsilon 12 "
    "(and --policy and --same, if they were given). Other attackers then know the "
    "mechanism."
)
"""Printed for releases that replace words more often than they mask them."""


@final
@dataclass(frozen=True, slots=True)
class Asked:
    """What was asked for besides the files."""

    texts: int
    seed: int
    corpus: tuple[str, ...]
    spans: str | None = None
    label: str | None = None
    time: str | None = None
    language: str | None = None
    shows_text: bool = False
    lists_left: bool = False


def check_any_tool(
    settings: Settings,
    release: str | None,
    more: tuple[str, ...],
    *,
    has_places: bool,
) -> None:
    """Refuse what needs a law."""
    if release is None:
        raise ConfigurationError(
            "Missing option '--epsilon': without it, name a RELEASE of any tool"
        )
    if settings != Settings(space=settings.space) or more or has_places:
        raise ConfigurationError(
            "Missing option '--epsilon': options of a mechanism or of a policy, "
            "--attack and --places need it. "
            "To attack a release of any tool, leave them out"
        )


def attack_any_tool(
    settings: Settings, files: Files, asked: Asked, tell: Callable[[str], object]
) -> Made:
    """Attack a release without a mechanism."""
    from mondegreen.attacks.any_tool.run import attack_release
    from mondegreen.cli.attack import Made
    from mondegreen.space.store import load_space

    if asked.shows_text and not sys.stdout.isatty():
        raise ConfigurationError("--show prints private text on a terminal only")
    space = load_space(settings.space or DEFAULT_SPACE)
    language, known = _language(files, asked, space, tells=True)
    found = attack_release(
        _iterate_given(files, asked),
        language,
        space,
        known=known,
        known_beside=_read_beside_known(files, asked, known),
        has_spans=asked.spans is not None,
        sample=asked.texts,
        seed=asked.seed,
        tell=tell,
    )
    tell("")
    if not found.words:
        raise SourceError(files.sample, "it has no words in these columns")
    if found.displaced > _DISPLACED:
        problem = "most of its texts are those of other rows of SAMPLE"
        hint = "give both files in the same order, row by row"
        raise SourceError(str(files.release), problem, hint=hint)
    about: dict[str, Any] = {
        **{"texts": found.texts, "words": found.words, "sampled": found.sampled},
        **_hint(found),
        **({"corpus": {"texts": len(known)}} if known else {}),
    }
    if asked.shows_text:
        _show_riskiest(files, found, asked)
    findings = list(_iterate_left(files, asked)) if asked.lists_left else []
    return Made(found.attacks, about, "a release of any tool", findings)


def read_at_face_value(
    files: Files, texts: int, seed: int, corpus: tuple[str, ...]
) -> dict[str, Attack]:
    """Read a release of ours as one of any tool: what is left, and a public reader."""
    from mondegreen.attacks.any_tool.run import read_release
    from mondegreen.space.store import load_space

    asked = Asked(texts=texts, seed=seed, corpus=corpus)
    space = load_space(DEFAULT_SPACE)
    language, known = _language(files, asked, space, tells=False)
    rows = _iterate_given(files, asked)
    return read_release(
        rows,
        language,
        space,
        known=known,
        known_beside=_read_beside_known(files, asked, known),
        sample=texts,
        seed=seed,
    )


def _hint(found: Found) -> dict[str, str]:
    """Say how to attack with the law, where a release replaces words as we do."""
    fates = found.attacks["survivors"].details["words"]
    return {"hint": _HINT} if fates["replaced"] > fates["masked"] else {}


def _language(
    files: Files, asked: Asked, space: Space, *, tells: bool
) -> tuple[NGrams, Sequence[str]]:
    """Load the public model, or build an in-domain one from other texts: these, too."""
    from mondegreen.attacks.sensitive import in_domain_language
    from mondegreen.cli.attack import read_corpus, say_known_texts
    from mondegreen.language.store import load_language

    if not asked.corpus:
        return load_language(asked.language), ()
    if asked.language is not None:
        raise ConfigurationError("--language and --corpus cannot be combined")
    attacked = frozenset(files.texts(files.sample))
    known = read_corpus(files, asked.corpus, attacked)
    if tells:
        say_known_texts(known, attacked)
    return in_domain_language(known, space), known


def _iterate_given(files: Files, asked: Asked) -> Iterator[Given]:
    """Pair texts, releases, annotations and labels, row by row."""
    from mondegreen.attacks.any_tool.rows import Given
    from mondegreen.attacks.any_tool.spans import SpanError, read_spans
    from mondegreen.attacks.related_rows import Beside
    from mondegreen.cli.related_rows import iterate_signs, iterate_values
    from mondegreen.cli.score import row_pairs

    named = {"--spans": asked.spans, "--label": asked.label, "--time": asked.time}
    fields = [option for option, name in named.items() if name is not None]
    if fields and len(files.columns) > 1:
        raise ConfigurationError(
            f"{fields[0]} works with one text column. Run the command once for each "
            "--column"
        )
    release = str(files.release)  # check_any_tool has seen to it
    names = _iterate_names(files) if asked.spans is None else repeat(())
    beside = zip(
        _field(files, files.sample, asked.spans),
        _field(files, files.sample, asked.label),
        _field(files, files.sample, asked.time),
        _field(files, release, asked.time),
        strict=False,
    )
    has_spans = asked.spans is None
    with (
        files.open(files.sample) as mine,
        files.open(release) as theirs,
        files.open(release) as again,
    ):
        rows = zip(row_pairs(mine, theirs), names, iterate_values(again), strict=False)
        for (number, texts, released), stated, values in rows:
            spans, label, *times = next(beside, (None, None, None, None))
            has_spans |= spans is not None
            if fields and len(texts) > 1:
                problem = f"several texts in a row, where {fields[0]} needs one"
                raise SourceError(files.sample, problem, row=number)
            time, released_time = (
                _read_time(value, path, asked.time, number)
                for value, path in zip(times, (files.sample, release), strict=True)
            )
            signs = iterate_signs(released)
            for text, found, own in zip(texts, released, signs, strict=True):
                if text is None:
                    continue
                try:
                    annotations = (
                        None if asked.spans is None else read_spans(spans, text)
                    )
                except SpanError as error:
                    problem = f"field {asked.spans!r}: {error}"
                    raise SourceError(files.sample, problem, row=number) from None
                shown = None if label is None else str(label)
                yield Given(
                    number,
                    text,
                    found or "",
                    annotations,
                    shown,
                    time,
                    released_time,
                    stated,
                    Beside(number, values, own),
                )
    if not has_spans:
        hint = "name the field of annotations with --spans"
        raise SourceError(files.sample, f"no spans at {asked.spans!r}", hint=hint)


def _read_beside_known(
    files: Files, asked: Asked, known: Sequence[str]
) -> list[Beside]:
    """Read what is beside the texts that the attacker knows, in the same columns."""
    from mondegreen.cli.related_rows import read_beside_corpus

    return read_beside_corpus(files, asked.corpus, known, with_words=True)


def _iterate_names(files: Files) -> Iterator[Sequence[str]]:
    """Yield the names that columns of SAMPLE state, row by row."""
    from mondegreen.cli.other_columns import find_name_columns

    columns: list[str] | None = None
    with files.open(files.sample) as source:
        for batch in source.batches():
            if columns is None:
                columns = find_name_columns(source, batch)
            if not columns:
                yield from repeat(())
            for row in source.iterate_other_texts(batch):
                yield [row[name] for name in columns if name in row]


def _read_time(value: Any, path: str, name: str | None, row: int) -> float | None:
    """Read a time as seconds: a number, an ISO 8601 text, or what Parquet holds."""
    if value is None or value == "":
        return None
    found = float("nan")
    with contextlib.suppress(ValueError, OverflowError, TypeError):
        found = float(value) if not isinstance(value, date) else _seconds(value)
    if math.isnan(found) and isinstance(value, str):
        with contextlib.suppress(ValueError, OverflowError):
            found = _seconds(datetime.fromisoformat(value))
    if not math.isfinite(found):
        problem = f"field {name!r}: no number and no time such as 2026-11-25T16:00:00"
        raise SourceError(path, problem, row=row)
    return found


def _seconds(when: date) -> float:
    """Count seconds from a fixed day; a time without a zone is one of UTC."""
    if not isinstance(when, datetime):
        when = datetime(when.year, when.month, when.day, tzinfo=UTC)
    if when.tzinfo is None:
        when = when.replace(tzinfo=UTC)
    return when.timestamp()


def _field(files: Files, path: str, name: str | None) -> Iterator[Any]:
    return repeat(None) if name is None else files.field(path, name)


def _iterate_left(files: Files, asked: Asked) -> Iterator[Finding]:
    """Find the units that are left, the first thousand of them, without their text."""
    from mondegreen.attacks.any_tool.rows import read_rows
    from mondegreen.report.sarif import Finding

    count = 0
    for row in read_rows(_iterate_given(files, asked)):
        for unit in filter(row.is_left, row.units):
            if count == _MOST_LISTED:
                return
            count += 1
            said = f"A unit ({unit.kind}) is unchanged in row {row.number}."
            yield Finding("survivors", said, row.number, unit.first + 1, unit.kind)


def _show_riskiest(files: Files, found: Found, asked: Asked) -> None:
    """Print what is left in the riskiest rows: private text, for its owner."""
    from mondegreen.attacks.any_tool.rows import read_rows

    listed = found.attacks["survivors"].details["riskiest_rows"][:_SHOWN]
    wanted = {each["row"] for each in listed}
    chosen = (each for each in _iterate_given(files, asked) if each.number in wanted)
    click.echo(f"Units left in the riskiest rows, {_SHOWN} rows at most:")
    for row in sorted(read_rows(chosen), key=lambda row: -row.left_count()):
        left = [
            f"{unit.kind}: {' '.join(row.words[unit.first : unit.last])}"
            for unit in row.units
            if row.is_left(unit)
        ]
        click.echo(f"row {row.number}: " + "; ".join(left))
    click.echo()
