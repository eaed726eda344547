"""``mondegreen space build | fetch | binarize | tree``: the verbs that make a space."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mondegreen.cli.options import force_option, grouped, json_option, quiet_option
from mondegreen.cli.render import echo_facts, say, shower
from mondegreen.errors import SpaceError

if TYPE_CHECKING:
    from mondegreen.space.file import SpaceHeader
    from mondegreen.space.rows import BadRows, VectorSource
    from mondegreen.space.space import Space


_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_FORMATS = click.Choice(["glove", "word2vec", "word2vec-binary", "fasttext", "npy"])

_output_option = click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(dir_okay=False, path_type=Path),
    help="Space to write; by custom its name ends with .safetensors.",
)
_dtype_option = click.option(
    "--dtype",
    type=click.Choice(["float16", "float32"]),
    help="Type of the coordinates.  [default: float32; float16 where the input is]",
)
_run_options = grouped(force_option(), quiet_option(), json_option())


@click.command(short_help="Build a space from a file of word vectors.")
@click.argument("vectors", type=_FILE)
@_output_option
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
@_dtype_option
@click.option(
    "--skip-bad", is_flag=True, help="Drop and count bad rows instead of stopping."
)
@click.option(
    "--allow-nbsp", is_flag=True, help="Keep words that hold a no-break space."
)
@_run_options
def build(
    vectors: Path,
    output: Path,
    name: str | None,
    form: str | None,
    words: Path | None,
    word_list: Path | None,
    about: tuple[str, ...],
    skip_bad: bool,
    force: bool,
    **more: Any,
) -> None:
    """Build a space from VECTORS: GloVe, word2vec, fastText .vec or .npy.

    Example: mondegreen space build glove.6B.50d.txt --limit 20000 -o small.safetensors
    """
    from mondegreen.space.formats import open_vectors
    from mondegreen.space.rows import BadRows
    from mondegreen.space.store import refuse_existing

    refuse_existing(output, force=force)
    if (form == "npy" or vectors.suffix == ".npy") and word_list is None:
        word_list, words = words, None
    if not all("=" in pair for pair in about):
        raise click.BadParameter("must be KEY=VALUE", param_hint="--about")
    facts = dict(pair.split("=", 1) for pair in about)
    name = name or output.name.removesuffix(".safetensors")
    bad = BadRows(skip=skip_bad)
    with open_vectors(vectors, bad, form=form, word_list=word_list) as source:
        _build(source, output, name, bad, words, force=force, about=facts, **more)


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
@_dtype_option
@_run_options
def fetch(
    name: str,
    limit: int,
    words: Path | None,
    force: bool,
    quiet: bool,
    **more: Any,
) -> None:
    """Download a public space by NAME, and build it into the cache.

    Bad rows of the published file are dropped and counted. An interrupted download
    goes on where it stopped.

    Example: mondegreen space fetch glove-6b-50d
    """
    from mondegreen.files import home
    from mondegreen.space.fetch import download, open_member, public_space
    from mondegreen.space.rows import BadRows
    from mondegreen.space.store import refuse_existing

    public = public_space(name)
    output = home() / "spaces" / f"{public.name}.safetensors"
    refuse_existing(output, force=force)
    show = shower(quiet)
    archive = download(
        public.address,
        sha256=public.sha256,
        progress=lambda done, total: show(
            f"downloaded {done / 1e6:,.1f}"
            + (f" of {total / 1e6:,.1f} MB" if total else " MB")
        ),
        note=say,
    )
    output.parent.mkdir(parents=True, exist_ok=True)
    bad = BadRows(skip=True)
    about = {"licence": public.licence, "source": public.address}
    more |= {"about": about, "limit": limit or None, "force": force, "quiet": quiet}
    with open_member(archive, public.member, bad) as source:
        _build(source, output, public.name, bad, words, **more)
    say(f"{archive} is kept for other spaces; it can be deleted")


def _build(
    source: VectorSource,
    output: Path,
    name: str,
    bad: BadRows,
    words: Path | None,
    *,
    force: bool,
    quiet: bool,
    as_json: bool,
    **more: Any,
) -> None:
    """Build, save, and say what was made, what was left out, what is never found."""
    from mondegreen.space.build import build_space
    from mondegreen.space.formats import read_words
    from mondegreen.space.store import save_space

    only = None
    if words is not None:
        only = {word for word in read_words(words, bad) if word}
    show = shower(quiet)
    built = build_space(
        source,
        name,
        bad=bad,
        only=only,
        scratch=output.parent,
        progress=lambda stage, done: show(f"{stage}: {done:,} words"),
        **more,
    )
    save_space(built.space, output, force=force)
    for problem, count in built.dropped.items():
        say(f"dropped {count:,}: {problem}")
    if built.missing:
        say(f"{built.missing:,} of the words asked for are not in the file")
    if built.upper_case:
        say(
            f"warning: words with an upper case letter: {built.upper_case:,}; text is "
            "looked up in lower case, so they can be drawn but never looked up"
        )
    dropped = {"dropped": dict(built.dropped)} if as_json else {}
    _show(output, dropped, as_json=as_json)


def _show(output: Path, more: Mapping[str, object], *, as_json: bool) -> None:
    from mondegreen.space.file import read_header

    echo_facts({**facts_of(read_header(output)), **more}, as_json=as_json)


def facts_of(header: SpaceHeader) -> dict[str, object]:
    """Flatten what a header says."""
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


@click.command(short_help="Make a binary code for every word of a space.")
@click.argument("space")
@_output_option
@click.option(
    "--bits",
    type=click.IntRange(8, 4096),
    default=256,
    show_default=True,
    help="Length of a code, a multiple of 8.",
)
@click.option(
    "--method",
    type=click.Choice(["tissier", "hyperplane"]),
    default="tissier",
    show_default=True,
    help="Near-lossless binarization, trained; or random hyperplanes.",
)
@click.option(
    "--codes-only",
    is_flag=True,
    help="Leave the vectors out: a small file that binary mechanisms alone accept.",
)
@_run_options
def binarize(
    space: str,
    output: Path,
    bits: int,
    method: str,
    codes_only: bool,
    force: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Make a binary code for every word of SPACE, given by name or path.

    Codes are learned from the vectors of the space, which are public, and from
    nothing else.

    Example: mondegreen space binarize glove-840b-34k -o small.safetensors --codes-only
    """
    from mondegreen.space.binarize import with_codes
    from mondegreen.space.codes import check_bits
    from mondegreen.space.space import Space
    from mondegreen.space.store import load_space, refuse_existing, save_space

    refuse_existing(output, force=force)
    loaded = load_space(space)
    show = shower(quiet)
    made = with_codes(
        loaded,
        bits=check_bits(bits),
        method=method,
        progress=lambda done: show(f"binarize: {done}%"),
    )
    if codes_only and made.codes is not None:
        about = {**loaded.about, "vectors": loaded.digest}
        made = Space.from_codes(made.name, made.words, made.codes, about)
    save_space(made, output, force=force)
    _show(output, {}, as_json=as_json)


@click.command(short_help="Build a word tree for a space.")
@click.argument("space")
@_output_option
@click.option(
    "--leaf",
    type=click.IntRange(1, 10_000),
    default=22,
    show_default=True,
    help="Fewest words of a group.",
)
@click.option(
    "--branch",
    type=click.IntRange(1, 10_000),
    default=16,
    show_default=True,
    help="Fewest groups of a branch.",
)
@click.option(
    "--wordnet",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder of a WordNet 3 database: groups keep part of speech and inflection.",
)
@click.option(
    "--opposites",
    type=_FILE,
    help="Pairs of words, two a line, that should not share a group.",
)
@click.option(
    "--frequency",
    type=click.FloatRange(0, 100),
    default=0.0,
    show_default=True,
    help="Weight of frequency; above 0 only where the words of SPACE are in falling "
    "order of a public frequency.",
)
@click.option(
    "--contrast",
    type=click.FloatRange(0, 100),
    default=0.7,
    show_default=True,
    help="Weight of the directions in which opposites differ most.",
)
@_run_options
def tree(
    space: str,
    output: Path,
    leaf: int,
    branch: int,
    wordnet: Path | None,
    opposites: Path | None,
    frequency: float,
    contrast: float,
    force: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Build a word tree for SPACE, given by name or path, and save both.

    Groups, branches and classes are made from the vectors of the space and the lists
    given here, all of them public, and from nothing else. WordNet gives opposites too.

    Example: mondegreen space tree vectors.safetensors -o tree.safetensors --leaf 22
    """
    from mondegreen.space.store import (
        load_space,
        refuse_existing,
        save_space,
        with_tree,
    )
    from mondegreen.space.tree_build import build_tree
    from mondegreen.space.word_classes import FUNCTION_CLASSES, WordNet, word_classes

    refuse_existing(output, force=force)
    loaded = load_space(space)
    show = shower(quiet)
    pairs = _pairs(loaded, opposites) if opposites is not None else []
    classes = None
    if wordnet is not None:
        show("tree: part of speech")
        database = WordNet(wordnet)
        classes = word_classes(loaded.words, loaded.vectors, database)
        pairs += [(loaded.id_of(a), loaded.id_of(b)) for a, b in database.antonyms()]
    pairs = [pair for pair in pairs if max(pair) < loaded.vocab_size]
    built = build_tree(
        loaded,
        leaf=leaf,
        branch=branch,
        classes=classes,
        joined=FUNCTION_CLASSES,
        opposites=pairs,
        frequency=frequency,
        contrast=contrast,
        about={"classes": "WordNet 3.0"} if wordnet is not None else {},
        progress=lambda name: show(f"tree: {name}"),
    )
    show("")
    save_space(with_tree(loaded, built), output, force=force)
    nodes = " > ".join(f"{len(bound) - 1:,}" for bound in built.bounds)
    _show(output, {"tree": built.digest, "nodes": nodes}, as_json=as_json)


def _pairs(space: Space, path: Path) -> list[tuple[int, int]]:
    """Read two words a line; pairs that the space lacks are left out later."""
    pairs = []
    for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1):
        fields = line.split()
        if len(fields) != 2:
            raise SpaceError(f"{path}, line {number}: two words a line are needed")
        pairs.append((space.id_of(fields[0]), space.id_of(fields[1])))
    return pairs
