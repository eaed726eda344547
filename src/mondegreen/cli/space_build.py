"""The commands that make a space: ``space build`` and ``space fetch``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mondegreen.cli.progress import say, shower
from mondegreen.cli.render import echo_facts

if TYPE_CHECKING:
    from mondegreen.space.file import SpaceHeader
    from mondegreen.space.vectors.build import Built
    from mondegreen.space.vectors.readers import BadRows
    from mondegreen.space.vectors.source import VectorSource


_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
_FORCE = click.option("--force", is_flag=True, help="Replace an existing output.")
_SKIP = click.option(
    "--skip-bad", is_flag=True, help="Drop and count bad rows instead of stopping."
)
_NBSP = click.option(
    "--allow-nbsp", is_flag=True, help="Keep words that hold a no-break space."
)
_DTYPE = click.option(
    "--dtype",
    type=click.Choice(["float16", "float32"]),
    help="Type of the coordinates.  [default: float32; float16 where the input is]",
)
_QUIET = click.option("--quiet", is_flag=True, help="Show no progress.")
_FORMATS = click.Choice(["glove", "word2vec", "word2vec-binary", "fasttext", "npy"])


@click.command(short_help="Build a space from a file of word vectors.")
@click.argument("vectors", type=_FILE)
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(dir_okay=False, path_type=Path),
    help="Space to write; by custom its name ends with .safetensors.",
)
@click.option("--name", help="Name of the space.  [default: OUTPUT without its suffix]")
@click.option("--format", "form", type=_FORMATS, help="[default: found in the file]")
@click.option(
    "--words",
    type=_FILE,
    help="Keep only the words of this file, one a line. For .npy without "
    "--word-list: the word of every row.",
)
@click.option(
    "--word-list",
    type=_FILE,
    help="For .npy: the word of every row.  [default: X.words.txt beside X.npy]",
)
@click.option("--limit", type=click.IntRange(1), help="Keep the first so many words.")
@click.option(
    "--about",
    multiple=True,
    metavar="KEY=VALUE",
    help="A fact to store with the space, such as licence=CC0-1.0. Repeatable.",
)
@click.option(
    "--metric",
    type=click.Choice(["euclidean", "poincare"]),
    default="euclidean",
    show_default=True,
    help="Distance between vectors; poincare for points of the Poincaré ball.",
)
@_DTYPE
@_SKIP
@_NBSP
@_FORCE
@_QUIET
@_JSON
def build(
    vectors: Path,
    output: Path,
    name: str | None,
    form: str | None,
    words: Path | None,
    word_list: Path | None,
    limit: int | None,
    about: tuple[str, ...],
    metric: str,
    dtype: str | None,
    skip_bad: bool,
    allow_nbsp: bool,
    force: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Build a space from VECTORS: GloVe, word2vec, fastText .vec or .npy.

    Example: mondegreen space build glove.6B.50d.txt --limit 20000 -o small.safetensors
    """
    from mondegreen.space.store import refuse_existing
    from mondegreen.space.vectors.readers import BadRows
    from mondegreen.space.vectors.source import open_vectors

    refuse_existing(output, force=force)
    if (form == "npy" or vectors.suffix == ".npy") and word_list is None:
        word_list, words = words, None
    facts = _key_values(about)
    bad = BadRows(skip=skip_bad)
    with open_vectors(vectors, bad, form=form, word_list=word_list) as source:
        _build_and_save(
            source,
            output,
            name or output.name.removesuffix(".safetensors"),
            bad,
            words=words,
            limit=limit,
            about=facts,
            metric=metric,
            dtype=dtype,
            allow_nbsp=allow_nbsp,
            force=force,
            quiet=quiet,
            as_json=as_json,
        )


@click.command()
@click.argument("name")
@click.option(
    "--limit",
    type=click.IntRange(0),
    default=100_000,
    show_default=True,
    help="Keep the first, most frequent, so many words; 0 keeps all. Time grows "
    "with the square.",
)
@click.option("--words", type=_FILE, help="Keep only the words of this file.")
@_DTYPE
@_FORCE
@_QUIET
@_JSON
def fetch(
    name: str,
    limit: int,
    words: Path | None,
    dtype: str | None,
    force: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Download a public space by NAME, and build it into the cache.

    Bad rows of the published file are dropped and counted. An interrupted download
    goes on where it stopped.

    Example: mondegreen space fetch glove-6b-50d
    """
    from mondegreen.files import home
    from mondegreen.space.store import refuse_existing
    from mondegreen.space.vectors.fetch import download, open_member, public_space
    from mondegreen.space.vectors.readers import BadRows

    public = public_space(name)
    output = home() / "spaces" / f"{public.name}.safetensors"
    refuse_existing(output, force=force)
    show = shower(quiet)
    archive = download(
        public.address,
        sha256=public.sha256,
        progress=lambda done, total: show(f"downloaded {_megabytes(done, total)}"),
        note=say,
    )
    output.parent.mkdir(parents=True, exist_ok=True)
    bad = BadRows(skip=True)
    with open_member(archive, public.member, bad) as source:
        _build_and_save(
            source,
            output,
            public.name,
            bad,
            words=words,
            limit=limit or None,
            about={"licence": public.licence, "source": public.address},
            dtype=dtype,
            allow_nbsp=False,
            force=force,
            quiet=quiet,
            as_json=as_json,
        )
    say(f"{archive} is kept for other spaces; it can be deleted")


def _build_and_save(
    source: VectorSource,
    output: Path,
    name: str,
    bad: BadRows,
    *,
    words: Path | None,
    limit: int | None,
    about: dict[str, str],
    metric: str = "euclidean",
    dtype: str | None,
    allow_nbsp: bool,
    force: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Build, save, and say what was made and what was left out."""
    from mondegreen.space.file import read_header
    from mondegreen.space.store import save_space
    from mondegreen.space.vectors.build import build_space
    from mondegreen.space.vectors.readers import read_words

    only = None
    if words is not None:
        only = {word for word in read_words(words, bad) if word}
    show = shower(quiet)
    built = build_space(
        source,
        name,
        bad=bad,
        only=only,
        limit=limit,
        dtype=dtype,
        allow_nbsp=allow_nbsp,
        about=about,
        metric=metric,
        scratch=output.parent,
        progress=lambda stage, done: show(f"{stage}: {done:,} words"),
    )
    save_space(built.space, output, force=force)
    _report(built)
    facts = facts_of(read_header(output))
    if as_json:
        click.echo(json.dumps(facts | {"dropped": dict(built.dropped)}, indent=2))
    else:
        echo_facts(facts)


def _report(built: Built) -> None:
    """Say on stderr what was left out, and what will never be looked up."""
    for problem, count in built.dropped.items():
        say(f"dropped {count:,}: {problem}")
    if built.missing:
        say(f"{built.missing:,} of the words asked for are not in the file")
    if built.upper_case:
        say(
            f"warning: words with an upper case letter: {built.upper_case:,}; text is "
            "looked up in lower case, so they can be drawn but never looked up"
        )


def facts_of(header: SpaceHeader) -> dict[str, object]:
    """Return what a header says, flat."""
    return {
        "name": header.name,
        "digest": header.digest,
        "words": header.vocab_size,
        "dim": header.dim,
        "dtype": header.dtype,
        "metric": header.metric,
        **header.geometry.to_dict(),
        **{f"about.{key}": value for key, value in header.about.items()},
        "path": str(header.path),
        "bytes": header.path.stat().st_size,
    }


def _key_values(pairs: tuple[str, ...]) -> dict[str, str]:
    """Read KEY=VALUE pairs."""
    for pair in pairs:
        if "=" not in pair:
            raise click.BadParameter("must be KEY=VALUE", param_hint="--about")
    return dict(pair.split("=", 1) for pair in pairs)


def _megabytes(done: int, total: int | None) -> str:
    """Say how much of a download is there."""
    of = f" of {total / 1e6:,.1f}" if total else ""
    return f"{done / 1e6:,.1f}{of} MB"
