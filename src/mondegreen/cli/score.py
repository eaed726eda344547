"""``mondegreen score``."""

from __future__ import annotations

import pkgutil
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import islice, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from mondegreen.cli import options
from mondegreen.cli.options import File, argument, command, option
from mondegreen.cli.render import echo_json, shower, table
from mondegreen.errors import ConfigurationError, PluginError, SourceError
from mondegreen.io.guess import Format
from mondegreen.plugins import call_plugin
from mondegreen.wording import amount

if TYPE_CHECKING:
    from mondegreen.arrays import Floats
    from mondegreen.io.base import AbstractSource
    from mondegreen.passes import Pass
    from mondegreen.scores import Score
    from mondegreen.scores.corpus import CorpusScorer, CorpusScores, SentenceModel
    from mondegreen.space.space import Space

    Measure = Callable[[list[str], list[str]], Floats]

Pairs = tuple[list[str | None], list[str | None]]

_ROWS: Final = 1024

_NOT_PRIVATE: Final = (
    "These numbers are computed from the private text. They are NOT PRIVATE: "
    "do not publish them with the release."
)
_MEANING: Final = (
    "PP: share of the words that are replaced by another word.",
    "LOW: share of the rarest words of the original that occur in the release.",
)
_NOT_SHOWN: Final = (
    "A release cannot show its epsilon: `mondegreen audit` checks the mechanism."
)


@command()
def score(
    original: File = argument(),
    release: File = argument(),
    columns: tuple[options.Column, ...] = options.COLUMNS,
    format: Format | None = options.FORMAT,
    sheet: str | None = options.SHEET,
    encoding: str | None = options.ENCODING,
    space: options.SpaceName = options.SPACE,
    rare: int = option(
        "Number of the rarest words to look for in the release (LOW).", default=1000
    ),
    english: File | None = option(
        "List of English words, one per line. Adds their share as a score."
    ),
    model: str | None = option(
        "Compare whole texts too (CS), with any callable from a list of texts to an "
        "array with one row per text.",
        "--sentence-model MODULE:FUNCTION",
    ),
    more: tuple[options.ScoreName, ...] = option(
        "Compute a score from a plug-in. Repeatable.", "--score NAME"
    ),
    as_json: bool = options.JSON,
    quiet: bool = options.QUIET,
) -> None:
    """Compare a RELEASE with its ORIGINAL.

    The command pairs the rows of two files of one format, and the words of each pair,
    and counts what changed. The result is computed from the private text, so keep it
    private. It describes this text, not the guarantee of the mechanism.

    \b
    mondegreen score reviews.csv safe.csv --column review
    mondegreen score notes.txt safe.txt --json
    """  # noqa: D301
    from mondegreen.io.open import open_source
    from mondegreen.passes import from_json
    from mondegreen.scores import PLUGINS
    from mondegreen.scores.corpus import CorpusScorer, sentence_cosines
    from mondegreen.space.store import load_space

    if original == release:
        raise ConfigurationError("ORIGINAL and RELEASE must be two files")
    measures: dict[str, Measure] = {
        name: _check(name, PLUGINS.get(name)) for name in more
    }
    if model:
        measures["cs"] = partial(sentence_cosines, model=import_sentence_model(model))
    listed = set(options.read_option_lines(english)) if english else None
    loaded = load_space(space)
    scorer = CorpusScorer(loaded, rare=rare, english=listed)
    open_texts = partial(
        open_source, format=format, columns=columns, missing="pass", sheet=sheet
    )
    with (
        open_texts(original, encoding=encoding) as mine,
        open_texts(release) as theirs,
    ):
        passes = from_json(theirs.earlier)
        means = _compute_scores(mine, theirs, scorer, measures, shower(quiet))
        rows, scores = mine.rows_read, scorer.scores()
    checks = _checks(scores, passes, columns, loaded)
    cosine = means.pop("cs", None)
    cs = None if cosine is None else 100 * cosine
    if as_json:
        found = {"private": False, "note": _NOT_PRIVATE, "rows": rows}
        echo_json({**found, **scores.to_dict(), **means, "cs": cs, "checks": checks})
        return
    scored = _lines(rows, scores, cs, means)
    lines = [_NOT_PRIVATE, "", *scored, *_MEANING, "", "checks"]
    lines += [f"  {check['result']:<4}  {check['check']}" for check in checks]
    click.echo("\n".join([*lines, "", _NOT_SHOWN]))


def _compute_scores(
    original: AbstractSource,
    release: AbstractSource,
    scorer: CorpusScorer,
    measures: Mapping[str, Measure],
    show: Callable[[str], None],
) -> dict[str, float | None]:
    """Read both files once, and count; return the mean of each measure of texts."""
    sums, counts = dict.fromkeys(measures, 0.0), dict.fromkeys(measures, 0)
    for texts, released in text_pairs(original, release):
        if original.total:
            show(f"scoring {min(1.0, original.position / original.total):.0%}")
        scorer.add(texts, released)
        both = [
            (text, found)
            for text, found in zip(texts, released, strict=True)
            if text is not None and found is not None
        ]
        firsts, seconds = map(list, zip(*both, strict=True)) if both else ([], [])
        for name, measure in measures.items() if both else ():
            values = measure(firsts, seconds)
            known = values[values == values]  # a zero vector has no direction
            sums[name] += float(known.sum())
            counts[name] += len(known)
    show("")
    return {
        name: sums[name] / count if count else None for name, count in counts.items()
    }


def _check(name: str, score: Score) -> Measure:
    """Check what a score of a plug-in returns: a number for each text."""

    def measure(originals: list[str], releases: list[str]) -> Floats:
        import numpy as np

        given = call_plugin(f"score {name!r}", score, originals, releases)
        values = call_plugin(f"score {name!r}", np.asarray, given, np.float64)
        if values.shape != (len(originals),) or np.isinf(values).any():
            raise PluginError(f"score {name!r} returned no finite number for each text")
        return values

    return measure


def text_pairs(original: AbstractSource, release: AbstractSource) -> Iterator[Pairs]:
    """Yield chunks of texts and their releases, in constant memory.

    Every text column of a row gives one pair, and a list of texts one for each item.
    A list of another length than that of its original is refused, unless it is empty
    or missing: its texts were not released. Errors quote no text.
    """
    rows = row_pairs(original, release)
    while chunk := list(islice(rows, _ROWS)):
        texts: list[str | None] = []
        released: list[str | None] = []
        for _, left, right in chunk:
            texts += left
            released += right
        yield texts, released


def row_pairs(
    original: AbstractSource, release: AbstractSource
) -> Iterator[tuple[int, list[str | None], list[str | None]]]:
    """Yield the number of each row, its texts and their releases."""
    rows = enumerate(zip_longest(read_cells(original), read_cells(release)), start=1)
    for number, (mine, theirs) in rows:
        if mine is None or theirs is None:
            raise _of_other_length(original, release)
        texts: list[str | None] = []
        released: list[str | None] = []
        for cell, other in zip(mine, theirs, strict=True):
            left, right = _align(cell, other)
            if len(left) != len(right):
                problem = (
                    f"a list of {amount(len(right), 'text')}, where the original has "
                    f"{len(left):,}"
                )
                hint = "leave a text that is not released empty, and add none"
                raise SourceError(release.name, problem, row=number, hint=hint)
            if any(
                not (text or "").strip() and (found or "").strip()
                for text, found in zip(left, right, strict=True)
            ):
                problem = "a text where the original has none"
                hint = "are the two files in one order?"
                raise SourceError(release.name, problem, row=number, hint=hint)
            texts += left
            released += right
        yield number, texts, released


def read_cells(source: AbstractSource) -> Iterator[list[Any]]:
    """Yield the values of the text columns of each row."""
    for batch in source.batches():
        columns = [batch.column(name).to_pylist() for name in source.text_columns]
        yield from map(list, zip(*columns, strict=True))


def _align(cell: Any, other: Any) -> Pairs:
    """The texts of one cell and their releases, whatever the formats of the files.

    JSON has a list of texts at each path, other formats a text in each cell.
    """
    texts, released = (
        each if isinstance(each, list) else [] if each is None else [each]
        for each in (cell, other)
    )
    if not texts or not released:
        count = max(len(texts), len(released), 1)
        return texts or [None] * count, released or [None] * count
    return texts, released


def _of_other_length(original: AbstractSource, release: AbstractSource) -> SourceError:
    """Say which file ends first; the other is not read to its end."""
    shorter, longer = sorted((original, release), key=lambda source: source.rows_read)
    return SourceError(
        shorter.name,
        f"it ends after {amount(shorter.rows_read, 'row')}; {longer.name} has more",
        hint="a release has the rows of its original, in their order",
    )


def _lines(
    rows: int,
    scores: CorpusScores,
    cs: float | None,
    means: Mapping[str, float | None],
) -> list[str]:
    """One score a line, with what it is of."""
    texts = f"{amount(scores.texts, 'text')}, {scores.withheld:,} not released"
    rare = f"of the {scores.rare_types:,} rarest words, anywhere in the release"
    own = "of the occurrences of these words, at their own places"
    paired = f"{scores.paired:,} paired with a released word"
    facts = [
        ("rows", f"{rows:,}", texts),
        ("words", f"{scores.words:,}", paired),
        ("words changed (PP)", _percent(scores.pp), amount(scores.changed, "word")),
        ("rare types left (LOW)", _percent(scores.low), rare),
        ("rare words unchanged", _percent(scores.rare_unchanged), own),
        ("word distance", _number(scores.distance), "mean, in units of the space"),
        ("word cosine", _number(scores.word_cosine), "mean"),
        ("text cosine", _number(scores.text_cosine), "mean, of texts as mean vectors"),
    ]
    if cs is not None:
        facts.append(("sentence cosine (CS)", _percent(cs), "mean, under the model"))
    facts += [
        (name, _number(mean), "mean, by a plug-in") for name, mean in means.items()
    ]
    if scores.english_release is not None:
        before = f"original {_percent(scores.english_original)}"
        facts.append(("English words", _percent(scores.english_release), before))
    return table(facts, align="<><")


def _checks(
    scores: CorpusScores, passes: list[Pass], columns: tuple[str, ...], space: Space
) -> list[dict[str, str]]:
    """What two files can show about a release, and whether it is so."""
    from mondegreen.text.tokenizer import tokenize

    several = sum(count != 1 for count in tokenize(space.words).counts())
    split = f" ({amount(several, 'word')} of the space read as several)"
    split *= bool(several)
    found = [
        (not count, holds if not count else f"{amount(count, noun)} {breaks}")
        for count, holds, noun, breaks in (
            (
                scores.unaligned,
                f"every text has as many words as its original{split}",
                "text",
                f"with another number of words than the original{split}: here an "
                "address counts as several words, in mondegreen attack as one",
            ),
            (
                scores.foreign,
                "every released word is in the vocabulary of the space",
                "released word",
                "outside the vocabulary of the space (normal under a policy: numbers "
                "and addresses)",
            ),
            (
                scores.unknown_unchanged,
                "no word outside the vocabulary is released as it is",
                "word",
                "outside the vocabulary released unchanged",
            ),
        )
    ]
    for each in passes:
        found.append((not each.is_void, f"a promise was made for {each}"))
        if each.guarantee is not None and each.column in (None, *columns):
            same = each.guarantee.space_digest == space.digest
            found.append((same, f"this is the space of {each}"))
    return [
        {"result": "ok" if holds else "NOT", "check": check} for holds, check in found
    ]


def import_sentence_model(name: str) -> SentenceModel:
    """Import the sentence model; modules of the current folder are found."""
    if (here := str(Path.cwd())) not in sys.path:
        sys.path.insert(0, here)
    try:
        found: SentenceModel = pkgutil.resolve_name(name)
    except (ImportError, AttributeError, ValueError):
        problem = "cannot be imported as MODULE:FUNCTION; is it installed here?"
        raise ConfigurationError(f"--sentence-model {name}: {problem}") from None
    if not callable(found):
        raise ConfigurationError(f"--sentence-model {name}: is not callable")
    return found


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f} %"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
