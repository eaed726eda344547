"""``mondegreen language``: build, mix, list and describe public language models."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from mondegreen.cli import options
from mondegreen.cli.options import File, LanguageName, argument, command, option
from mondegreen.cli.render import echo_facts, echo_table, progress, say
from mondegreen.errors import ConfigurationError, SourceError
from mondegreen.io.guess import Format
from mondegreen.settings import Settings

if TYPE_CHECKING:
    from mondegreen.io.base import AbstractSource
    from mondegreen.language.ngrams import NGrams
    from mondegreen.mechanisms.base import State

_OUTPUT: Final = option(
    "Model to write. The name should end with .lm.",
    "-o --output",
    type=click.Path(dir_okay=False, path_type=Path),
)
_PUBLIC: Final = (
    "The texts must be PUBLIC: a model carries what it was built from into whatever is "
    "decoded with it, and no guarantee covers that. Never build one from the texts "
    "that you privatize."
)
_DRAWS: Final = (
    "RELEASE must be released words, and never an original. Read these very draws with "
    "the model (with one key), or the losses of two releases add up."
)


@click.group()
def language() -> None:
    """Manage public language models, which make releases readable.

    A model gives the probability of a word after the two words before it.

    Example: mondegreen language list
    """


@command(name="list")
def list_languages(as_json: bool = options.JSON) -> None:
    """List the installed language models.

    Example: mondegreen language list --json
    """
    from mondegreen.language.store import language_names, load_language

    rows = []
    for name in language_names():
        facts = _facts(load_language(name))
        keys = ("words", "pairs", "triples", "space", "path")
        rows.append({"name": name, **{key: facts[key] for key in keys}})
    echo_table(rows, as_json=as_json)


@command()
def info(
    name: LanguageName = argument(default="english"), as_json: bool = options.JSON
) -> None:
    """Describe a language model and check its digest.

    Example: mondegreen language info english
    """
    from mondegreen.language.store import load_language

    echo_facts(_facts(load_language(name), as_json=as_json), as_json=as_json)


@command(short_help="Build a language model from public text.")
def build(
    public: tuple[File, ...] = argument(nargs=-1, required=True),
    output: Path = _OUTPUT,
    columns: tuple[options.Column, ...] = options.COLUMNS,
    format: Format | None = options.FORMAT,
    least: int = option(
        "Drop words, pairs and triples that occur fewer than N times.", default=1
    ),
    space: options.SpaceName = options.SPACE,
    source: tuple[str, ...] = option("Source of the texts. Repeatable.", "TEXT"),
    licence: tuple[str, ...] = option(
        "License of the texts. Repeatable.", "--license --licence TEXT"
    ),
    force: bool = options.FORCE,
    quiet: bool = options.QUIET,
    as_json: bool = options.JSON,
) -> None:
    """Build a language model from the texts of PUBLIC files.

    The model covers the words of a space. The texts must be public: a model of private
    texts carries them into every release that it reads.

    Example: mondegreen language build news.csv --column text -o news.lm --least 2
    """
    from mondegreen.language.build import build_language
    from mondegreen.language.store import save_language
    from mondegreen.space.store import load_space

    options.check_output(output, public, force=force)
    say(_PUBLIC)
    loaded = load_space(space)
    batches = (
        texts for path in public for texts in _batches(path, format, columns, quiet)
    )
    about = {"sources": source, "licences": licence}
    model = build_language(batches, loaded, least=least, **about)
    save_language(model, output, force=force)
    echo_facts(_facts(model, output, as_json=as_json), as_json=as_json)


@command(short_help="Mix two language models into one.")
def mix(
    first: LanguageName = argument(),
    second: LanguageName = argument(),
    held: File = option(
        "PUBLIC texts that neither model was built from. They choose the weight.",
        "--on HELD",
    ),
    output: Path = _OUTPUT,
    columns: tuple[options.Column, ...] = options.COLUMNS,
    format: Format | None = options.FORMAT,
    space: options.SpaceName = options.SPACE,
    force: bool = options.FORCE,
    quiet: bool = options.QUIET,
    as_json: bool = options.JSON,
) -> None:
    """Mix two language models, given by name or path, over the words of one space.

    The texts of HELD choose the weight: the one that makes them most likely. The
    command prints the perplexities on HELD. Smaller is better.

    Example: mondegreen language mix english news.lm --on held.csv -o mine.lm
    """
    from mondegreen.language.build import read_words
    from mondegreen.language.mix import mix as mixed
    from mondegreen.language.store import load_language, save_language
    from mondegreen.space.store import load_space

    options.check_output(output, [held, first, second], force=force)
    say(_PUBLIC)
    one, other, loaded = load_language(first), load_language(second), load_space(space)
    one.check_space(loaded)
    ids, ends = read_words(_batches(held, format, columns, quiet), loaded)
    found = mixed(one, other, ids, ends)
    save_language(found.model, output, force=force)
    made: dict[str, object]
    if as_json:
        made = {"weight": found.weight, "perplexities": [*found.perplexities]}
    else:
        made = {f"weight of {first}": f"{found.weight:.3f}"}
        for name, each in zip((first, second, "both"), found.perplexities, strict=True):
            made[f"perplexity of {name}"] = f"{each:,.1f}"
    facts = _facts(found.model, output, as_json=as_json)
    echo_facts(made | facts, as_json=as_json)


@command(short_help="Adapt a language model to the texts of a release.")
def adapt(
    release: File = argument(),
    output: Path = _OUTPUT,
    columns: tuple[options.Column, ...] = options.COLUMNS,
    format: Format | None = options.FORMAT,
    settings: Settings = options.settings(*options.LAW, "policy"),
    language: LanguageName | None = option(
        "Public language model to adapt.  [default: the one that comes with the "
        "package]",
        "--language",
    ),
    force: bool = options.FORCE,
    quiet: bool = options.QUIET,
    as_json: bool = options.JSON,
) -> None:
    """Adapt a public language model to the texts of RELEASE.

    RELEASE must come from this setting, with --read none --structure keep. The command
    guesses the originals, counts what it guesses three times or more, and mixes the
    counts into the model. A held-out part of RELEASE chooses the weight. This uses only
    the release and public facts, so it costs no epsilon. Give it a release, never an
    original: the model would carry private words into its output. Files with more than
    1 % unknown words are rejected, and so are files whose guarantee names another
    setting, a reading, or a seed.

    \b
    mondegreen privatize mine.csv -o raw.csv --column text --policy all --epsilon 10
    mondegreen language adapt raw.csv -o my.lm --column text --policy all --epsilon 10
    mondegreen attack mine.csv raw.csv -c text --policy all -e 10 --language my.lm
    """  # noqa: D301
    from mondegreen.decode.adapt import Adapter
    from mondegreen.decode.released import Released
    from mondegreen.io.open import open_source
    from mondegreen.language.build import release_words
    from mondegreen.language.store import load_language, save_language
    from mondegreen.privatizer.build import build_mechanism
    from mondegreen.privatizer.spec import find_space

    options.check_output(output, [release], force=force)
    if (policy := settings.resolve().policy) != "all":
        raise ConfigurationError(
            f"a release under policy {policy!r} needs no language model. Name the "
            "mechanism on a space that made RELEASE, or add --policy all"
        )
    mechanism = build_mechanism(settings)
    options.check_proved(mechanism, allow_unproved=settings.allow_unproved)
    say(_DRAWS)
    loaded = find_space(settings.space)
    model = load_language(language)
    state = mechanism.prepare(loaded)
    with open_source(release, format=format, columns=columns, missing="pass") as source:
        known = _check_known(source, state, allow_unproved=settings.allow_unproved)
        words = release_words(_texts(source, quiet), loaded)
    found = Adapter(state, model).adapt(Released(*words), known)
    save_language(found.model, output, force=force)
    if found.weight == 1:
        say(f"Nothing was learned: {output} is the public model as it was.")
    before, after = found.likelihoods
    made = {"weight": found.weight, "nats_before": -before, "nats_after": -after}
    facts = _facts(found.model, output, as_json=as_json)
    echo_facts(made | facts, as_json=as_json)


for _verb in (list_languages, info, build, mix, adapt):
    language.add_command(_verb)


def _batches(
    path: str, format: Format | None, columns: tuple[str, ...], quiet: bool
) -> Iterator[list[str]]:
    """Read the texts of a file in a stream."""
    from mondegreen.io.open import open_source

    with open_source(path, format=format, columns=columns, missing="pass") as source:
        yield from _texts(source, quiet)


def _texts(source: AbstractSource, quiet: bool) -> Iterator[list[str]]:
    with progress(source, quiet=quiet) as advance:
        for batch in source.batches():
            yield source.texts(batch)
            advance()


def _check_known(release: AbstractSource, state: State, *, allow_unproved: bool) -> str:
    """Say how the setting of a release is known; refuse what its guarantee forbids."""
    from mondegreen.cli.attack import check_stated

    stated = check_stated(release, state)
    made = [each for column in stated for each in column]
    for each in made:
        given = each.guarantee
        is_read = given and any(a.startswith("reading:") for a in given.assumptions)
        is_open = given is None or given.is_proved or not allow_unproved
        if is_read or (is_open and each.is_void):
            why = "it was read by a language model" if is_read else "it is not private"
            problem = f"{why}, as its guarantee says: {each}"
            hint = "give a release made with --read none and without --seed"
            raise SourceError(release.name, problem, hint=hint)
    known = "" if all(stated) else " as was claimed"
    is_void = not state.stated.is_proved or any(each.is_void for each in made)
    return f"{known} (NOT PRIVATE)" if is_void else known


def _facts(
    model: NGrams, path: Path | None = None, *, as_json: bool = False
) -> dict[str, object]:
    """What there is to say about a model."""
    path = path or model.path
    sizes = {"pairs": len(model.pair_words), "triples": len(model.triple_words)}
    facts = {"digest": model.digest, **asdict(model.about), **sizes}
    if not as_json:
        lists = {key: "; ".join(v) for key, v in facts.items() if isinstance(v, tuple)}
        facts |= lists
    return {**facts, "path": str(path), "bytes": path.stat().st_size if path else None}
