"""``mondegreen space build | fetch | binarize | tree``: the verbs that make a space."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from mondegreen.cli import options
from mondegreen.cli.options import argument, command, option
from mondegreen.cli.render import echo_facts, say, shower
from mondegreen.errors import SpaceError
from mondegreen.files import read_lines

if TYPE_CHECKING:
    from mondegreen.space.file import SpaceHeader
    from mondegreen.space.space import Space
    from mondegreen.space.vectors.readers import BadRows
    from mondegreen.space.vectors.source import VectorSource

Dtype = Literal["float16", "float32"]
Form = Literal["glove", "word2vec", "word2vec-binary", "fasttext", "npy"]

_FEWEST = click.IntRange(1, 10_000)

_OUTPUT = option(
    "Space to write. The name should end with .safetensors.",
    "-o --output",
    type=click.Path(dir_okay=False, path_type=Path),
)
_DTYPE = option(
    "Type of the coordinates.  [default: that of the input, float16 or float32]"
)


@command(short_help="Build a space from a file of word vectors.")
def build(
    vectors: Path = argument(),
    output: Path = _OUTPUT,
    name: str | None = option("[default: the name of OUTPUT without its suffix]"),
    form: Form | None = option("[default: found in the file]", "--format"),
    words: Path | None = option(
        "Keep only the words of this file, one per line. For .npy without "
        "--word-list: the word of each row."
    ),
    word_list: Path | None = option(
        "For .npy: file with the word of each row.  [default: X.words.txt beside X.npy]"
    ),
    limit: int | None = option("Keep the first N words."),
    about: tuple[str, ...] = option(
        "Fact to store with the space, such as licence=CC0-1.0. Repeatable.",
        "KEY=VALUE",
    ),
    metric: Literal["euclidean", "poincare"] = option(
        "Distance between vectors. poincare: points of the Poincaré ball."
    ),
    dtype: Dtype | None = _DTYPE,
    skip_bad: bool = option("Drop and count bad rows instead of stopping."),
    allow_nbsp: bool = option("Keep words with a no-break space."),
    force: bool = options.FORCE,
    quiet: bool = options.QUIET,
    as_json: bool = options.JSON,
) -> None:
    """Build a space from VECTORS: GloVe, word2vec, fastText .vec or .npy.

    Example: mondegreen space build glove.6B.50d.txt --limit 20000 -o small.safetensors
    """
    from mondegreen.space.vectors.readers import BadRows
    from mondegreen.space.vectors.source import open_vectors

    options.check_output(output, [vectors, words, word_list], force=force)
    if (form == "npy" or vectors.suffix == ".npy") and word_list is None:
        word_list, words = words, None
    if not all("=" in pair for pair in about):
        raise click.BadParameter("must be KEY=VALUE", param_hint="--about")
    facts = dict(pair.split("=", 1) for pair in about)
    name = name or output.name.removesuffix(".safetensors")
    bad = BadRows(skip=skip_bad)
    how: dict[str, Any] = {"force": force, "quiet": quiet, "as_json": as_json}
    how |= {"metric": metric, "limit": limit, "dtype": dtype, "about": facts}
    with open_vectors(vectors, bad, form=form, word_list=word_list) as source:
        _build(source, name, output, bad, words, allow_nbsp=allow_nbsp, **how)


@command()
def fetch(
    name: str = argument(),
    limit: int = option(
        "Keep the N most frequent words. 0: all. Time grows with the square of N.",
        default=100_000,
        type=click.IntRange(0),
    ),
    words: Path | None = option("Keep only the words of this file."),
    dtype: Dtype | None = _DTYPE,
    force: bool = options.FORCE,
    quiet: bool = options.QUIET,
    as_json: bool = options.JSON,
) -> None:
    """Download a public space by NAME, and build it into the cache.

    Bad rows of the published file are dropped and counted. An interrupted download
    continues where it stopped.

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

    def progress(done: int, total: int | None) -> None:
        of = f" of {total / 1e6:,.1f}" if total else ""
        show(f"downloaded {done / 1e6:,.1f}{of} MB")

    where, sha256 = public.address, public.sha256
    archive = download(where, sha256=sha256, progress=progress, note=say)
    output.parent.mkdir(parents=True, exist_ok=True)
    bad = BadRows(skip=True)
    about = {"licence": public.licence, "source": where}
    how: dict[str, Any] = {"force": force, "quiet": quiet, "as_json": as_json}
    how |= {"limit": limit or None, "dtype": dtype, "about": about}
    with open_member(archive, public.member, bad) as source:
        _build(source, public.name, output, bad, words, **how)
    say(f"{archive} is kept for other spaces; it can be deleted")


def _save(
    space: Space, output: Path, *, force: bool, as_json: bool, **more: object
) -> None:
    """Write a space, and print what it is, and more of how it was made."""
    from mondegreen.space.file import read_header
    from mondegreen.space.store import save_space

    save_space(space, output, force=force)
    echo_facts({**collect_facts(read_header(output)), **more}, as_json=as_json)


def _build(
    source: VectorSource,
    name: str,
    output: Path,
    bad: BadRows,
    words: Path | None,
    *,
    force: bool,
    quiet: bool,
    as_json: bool,
    **more: Any,
) -> None:
    """Build, save, and say what was left out, and what is never looked up."""
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
        scratch=output.parent,
        progress=lambda stage, done: show(f"{stage}: {done:,} words"),
        **more,
    )
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
    _save(built.space, output, force=force, as_json=as_json, **dropped)


def collect_facts(header: SpaceHeader) -> dict[str, object]:
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


@command(short_help="Make a binary code for every word of a space.")
def binarize(
    space: options.SpaceName = argument(),
    output: Path = _OUTPUT,
    bits: int = option(
        "Length of a code in bits, a multiple of 8.",
        default=256,
        type=click.IntRange(8, 4096),
    ),
    method: Literal["tissier", "hyperplane"] = option(
        "tissier: trained, near-lossless. hyperplane: random hyperplanes.",
        default="tissier",
    ),
    codes_only: bool = option(
        "Omit the vectors. Only binary mechanisms accept this smaller file."
    ),
    force: bool = options.FORCE,
    quiet: bool = options.QUIET,
    as_json: bool = options.JSON,
) -> None:
    """Make a binary code for every word of SPACE, given by name or path.

    The codes are learned from the public vectors of the space only.

    Example: mondegreen space binarize glove-840b-34k -o small.safetensors --codes-only
    """
    from mondegreen.space.binarize import with_codes
    from mondegreen.space.codes import check_bits
    from mondegreen.space.space import Space
    from mondegreen.space.store import load_space

    options.check_output(output, [space], force=force)
    loaded, show = load_space(space), shower(quiet)
    made = with_codes(
        loaded,
        bits=check_bits(bits),
        method=method,
        progress=lambda done: show(f"binarize: {done}%"),
    )
    if codes_only and made.codes is not None:
        about = {**loaded.about, "vectors": loaded.digest}
        made = Space.from_codes(made.name, made.words, made.codes, about)
    _save(made, output, force=force, as_json=as_json)


@command(short_help="Build a word tree for a space.")
def tree(
    space: options.SpaceName = argument(),
    output: Path = _OUTPUT,
    leaf: int = option("Minimum number of words in a group.", default=22, type=_FEWEST),
    branch: int = option(
        "Minimum number of groups in a branch.", default=16, type=_FEWEST
    ),
    wordnet: Path | None = option(
        "Folder of a WordNet 3 database. Groups then keep part of speech and "
        "inflection.",
        type=click.Path(exists=True, file_okay=False, path_type=Path),
    ),
    opposites: Path | None = option(
        "Pairs of words that should not share a group, one pair per line."
    ),
    frequency: float = option(
        "Weight of frequency. Above 0, the words of SPACE must be sorted by a public "
        "frequency, most frequent first.",
        default=0.0,
        type=click.FloatRange(0, 100),
    ),
    contrast: float = option(
        "Weight of the directions that separate opposites.",
        default=0.7,
        type=click.FloatRange(0, 100),
    ),
    force: bool = options.FORCE,
    quiet: bool = options.QUIET,
    as_json: bool = options.JSON,
) -> None:
    """Build a word tree for SPACE, given by name or path, and save both.

    The command uses only the vectors of the space and the lists that you give, which
    must be public. WordNet gives opposites too.

    Example: mondegreen space tree vectors.safetensors -o tree.safetensors --leaf 22
    """
    from mondegreen.space.store import load_space, with_tree
    from mondegreen.space.tree_build import build_tree
    from mondegreen.space.word_classes import FUNCTION_CLASSES, WordNet, word_classes

    options.check_output(output, [space, opposites], force=force)
    loaded, show = load_space(space), shower(quiet)
    pairs = _pairs(loaded, opposites) if opposites is not None else []
    classes, about = None, {}
    if wordnet is not None:
        show("tree: part of speech")
        database = WordNet(wordnet)
        classes = word_classes(loaded.words, loaded.vectors, database)
        about["classes"] = "WordNet 3.0"
        pairs += [(loaded.get_id(a), loaded.get_id(b)) for a, b in database.antonyms()]
    built = build_tree(
        loaded,
        leaf=leaf,
        branch=branch,
        classes=classes,
        joined=FUNCTION_CLASSES,
        opposites=[pair for pair in pairs if max(pair) < loaded.vocab_size],
        frequency=frequency,
        contrast=contrast,
        about=about,
        progress=lambda name: show(f"tree: {name}"),
    )
    show("")
    nodes = " > ".join(f"{len(bound) - 1:,}" for bound in built.bounds)
    made, more = with_tree(loaded, built), {"tree": built.digest, "nodes": nodes}
    _save(made, output, force=force, as_json=as_json, **more)


def _pairs(space: Space, path: Path) -> list[tuple[int, int]]:
    """Read two words per line; pairs that the space lacks are left out later."""
    pairs = []
    for number, line in enumerate(read_lines(path), start=1):
        words = line.split()
        if len(words) not in (0, 2):
            raise SpaceError(f"{path}, line {number}: two words per line are needed")
        if words:
            pairs.append((space.get_id(words[0]), space.get_id(words[1])))
    return pairs
