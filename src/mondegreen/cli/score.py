"""``mondegreen score``."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from mondegreen.cli import completion
from mondegreen.cli.options import columns_option
from mondegreen.errors import ConfigurationError, DecodeError, SourceError
from mondegreen.wording import amount

if TYPE_CHECKING:
    from mondegreen.io.base import AbstractSource
    from mondegreen.passes import Pass
    from mondegreen.scores.corpus import CorpusScores
    from mondegreen.scores.similarity import SentenceModel
    from mondegreen.space.space import Space


_NOT_PRIVATE: Final = (
    "These numbers are computed from the private text. They are NOT PRIVATE: "
    "do not publish them with the release."
)
_NOT_SHOWN: Final = (
    "A release cannot show its epsilon: `mondegreen audit` checks the mechanism."
)


@click.command()
@click.argument("original", type=click.Path(path_type=str))
@click.argument("release", type=click.Path(path_type=str))
@columns_option
@click.option(
    "--format",
    type=click.Choice(["txt", "csv", "tsv", "jsonl", "parquet"]),
    help="Of both files.  [default: what their names tell]",
)
@click.option(
    "--space",
    default="glove-840b-34k",
    show_default=True,
    metavar="NAME|PATH",
    shell_complete=completion.spaces,
    help="Words and vectors of the release. See: mondegreen space list.",
)
@click.option(
    "--rare",
    type=click.IntRange(min=1),
    default=1000,
    show_default=True,
    metavar="N",
    help="How many of the rarest words to look for in the release (LOW).",
)
@click.option(
    "--english",
    type=click.Path(path_type=str),
    metavar="FILE",
    help="Words that count as English, one a line; their share is a score then.",
)
@click.option(
    "--sentence-model",
    "model",
    metavar="MODULE:FUNCTION",
    help="Compare whole texts too (CS), by any callable from a list of texts to an "
    "array, one row each.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the scores as JSON.")
@click.option("-q", "--quiet", is_flag=True, help="No progress.")
def score(
    original: str,
    release: str,
    columns: tuple[str, ...],
    format: Any,
    space: str,
    rare: int,
    english: str | None,
    model: str | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Judge a finished RELEASE by its ORIGINAL.

    Pairs the rows of two files of one format, and the words of each pair, and counts
    what changed. The result is computed from the private text and is not private
    itself. It says what became of this text, not what the mechanism promises.

    \b
    mondegreen score reviews.csv safe.csv --column review
    mondegreen score notes.txt safe.txt --json
    """  # noqa: D301
    from mondegreen.cli.render import echo_json
    from mondegreen.io.open import open_source
    from mondegreen.passes import from_json
    from mondegreen.space.store import load_space

    if original == release:
        raise ConfigurationError("ORIGINAL and RELEASE must be two files")
    encode = _loaded(model) if model else None
    listed = _word_list(english) if english else None
    loaded = load_space(space)
    with (
        open_source(original, format=format, columns=columns, missing="pass") as mine,
        open_source(release, format=format, columns=columns, missing="pass") as theirs,
    ):
        passes = from_json(theirs.earlier)
        scores, cs = _scored(mine, theirs, loaded, rare, listed, encode, quiet=quiet)
        rows = mine.rows_read
    checks = _checks(scores, passes, columns, loaded)
    if as_json:
        found = {"private": False, "note": _NOT_PRIVATE, "rows": rows}
        echo_json({**found, **scores.to_dict(), "cs": cs, "checks": checks})
        return
    click.echo("\n".join([_NOT_PRIVATE, "", *_lines(rows, scores, cs), "", "checks"]))
    click.echo(
        "\n".join(f"  {check['result']:<4}  {check['check']}" for check in checks)
    )
    click.echo(f"\n{_NOT_SHOWN}")


def _scored(
    original: AbstractSource,
    release: AbstractSource,
    space: Any,
    rare: int,
    english: set[str] | None,
    encode: SentenceModel | None,
    *,
    quiet: bool,
) -> tuple[CorpusScores, float | None]:
    """Read both files once; return the scores, and CS where there is a model."""
    from mondegreen.cli.progress import shower
    from mondegreen.scores.corpus import CorpusScorer
    from mondegreen.scores.release import text_pairs
    from mondegreen.scores.similarity import sentence_cosines

    scorer = CorpusScorer(space, rare=rare, english=english)
    show = shower(quiet)
    total, count = 0.0, 0

    def advance() -> None:
        if original.total:
            show(f"scoring {min(1.0, original.position / original.total):.0%}")

    for texts, released in text_pairs(original, release, advance):
        scorer.add(texts, released)
        if encode is not None:
            both = [
                (text, found)
                for text, found in zip(texts, released, strict=True)
                if text is not None and found is not None
            ]
            if both:
                firsts, seconds = [a for a, _ in both], [b for _, b in both]
                cosines = sentence_cosines(firsts, seconds, encode)
                known = cosines[cosines == cosines]  # a zero vector has no direction
                total, count = total + float(known.sum()), count + len(known)
    show("")
    return scorer.scores(), 100 * total / count if count else None


def _lines(rows: int, scores: CorpusScores, cs: float | None) -> list[str]:
    """Return what is printed, one score a line."""
    facts: list[tuple[str, str, str]] = [
        (
            "rows",
            f"{rows:,}",
            f"{amount(scores.texts, 'text')}, {scores.withheld:,} withheld",
        ),
        (
            "words",
            f"{scores.words:,}",
            f"{scores.paired:,} paired with a released word",
        ),
        ("words changed (PP)", _percent(scores.pp), amount(scores.changed, "word")),
        ("rare types left (LOW)", _percent(scores.low), _rare_types(scores)),
        (
            "rare words unchanged",
            _percent(scores.rare_unchanged),
            "of the occurrences of these types: what LOW means to measure",
        ),
        ("word distance", _number(scores.distance), "mean, in units of the space"),
        ("word cosine", _number(scores.word_cosine), "mean"),
        ("text cosine", _number(scores.text_cosine), "mean, of texts as mean vectors"),
    ]
    if cs is not None:
        facts.append(("sentence cosine (CS)", _percent(cs), "mean, under the model"))
    if scores.english_release is not None:
        before = f"original {_percent(scores.english_original)}"
        facts.append(("English words", _percent(scores.english_release), before))
    first, second = (max(len(fact[i]) for fact in facts) for i in (0, 1))
    return [f"{a:{first}}  {b:>{second}}  {c}".rstrip() for a, b, c in facts]


def _rare_types(scores: CorpusScores) -> str:
    return f"of the {scores.rare_types:,} rarest types, whatever they replaced"


def _checks(
    scores: CorpusScores, passes: list[Pass], columns: tuple[str, ...], space: Space
) -> list[dict[str, str]]:
    """Return what two files can show about a release, and whether it is so."""
    from mondegreen.text.tokenizer import tokenize

    several = sum(count != 1 for count in tokenize(space.words).counts())
    found = [
        (
            scores.unaligned == 0,
            "every text has as many words as its original"
            + _but(scores.unaligned, "text has not", "texts have not")
            + (
                f" ({amount(several, 'word')} of the space read as several)"
                if several
                else ""
            ),
        ),
        (
            scores.foreign == 0,
            "every released word is in the vocabulary of the space"
            + _but(scores.foreign, "word is not", "words are not"),
        ),
        (
            scores.unknown_unchanged == 0,
            "no word outside the vocabulary is released as it is"
            + _but(scores.unknown_unchanged, "word is", "words are"),
        ),
    ]
    for each in passes:
        found.append((each.is_private, f"a promise was made for {each}"))
        if each.guarantee is not None and each.column in (None, *columns):
            same = each.guarantee.space_digest == space.digest
            found.append((same, f"this is the space of {each}"))
    return [
        {"result": "ok" if holds else "NOT", "check": check} for holds, check in found
    ]


def _but(count: int, one: str, many: str) -> str:
    return f"; {count:,} {one if count == 1 else many}" if count else ""


def _word_list(path: str) -> set[str]:
    """Return the words of a file, one a line."""
    try:
        text = Path(path).read_bytes().decode("utf-8-sig")
    except OSError as error:
        problem = error.strerror or type(error).__name__
        raise SourceError(path, f"cannot be read: {problem}") from None
    except UnicodeDecodeError as error:
        raise DecodeError(path, offset=error.start) from None
    return {line.strip() for line in text.splitlines() if line.strip()}


def _loaded(name: str) -> SentenceModel:
    """Import the sentence model; modules of the current folder are found."""
    module, colon, path = name.partition(":")
    if not (module and colon and path):
        raise ConfigurationError("--sentence-model must be MODULE:FUNCTION")
    if (here := str(Path.cwd())) not in sys.path:
        sys.path.insert(0, here)
    try:
        found: Any = importlib.import_module(module)
        for part in path.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError):
        raise ConfigurationError(
            f"--sentence-model {name}: cannot be imported; is it installed here?"
        ) from None
    if not callable(found):
        raise ConfigurationError(f"--sentence-model {name}: is not callable")
    return found  # type: ignore[no-any-return]


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f} %"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
