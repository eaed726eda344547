"""Where spaces are kept: in the package, in the cache, or in a file of yours."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path
from typing import Final

from mondegreen.errors import SpaceError, SpaceIntegrityError, UnknownNameError
from mondegreen.files import home, whole_file
from mondegreen.space.codes import Codes
from mondegreen.space.file import read_space, write_space
from mondegreen.space.space import Space
from mondegreen.space.tree import WordTree
from mondegreen.wording import DEFAULT_SPACE

_SUFFIX = ".safetensors"
_BUNDLED = Path(__file__).parent / "data"
# For the digest of a space: the file of its codes, and their digest; and the same for
# its trees, the default one first. None is ever taken out, or keyed releases made
# with it could not be repeated.
_BUNDLED_CODES: Final = {
    "02ecad8b7461565077a158cc5f0300ecfb09e0af64b7eee8a73599c57f5ba4fc": (
        "codes/glove-840b-34k.codes-256.safetensors",
        "1d741b496544718ef5af81740b45e658b97c83f9991f6666527677b74b3be284",
    ),
}
_BUNDLED_TREES: Final = {
    "02ecad8b7461565077a158cc5f0300ecfb09e0af64b7eee8a73599c57f5ba4fc": {
        "trees/glove-840b-34k.tree": (
            "d6538cb1373fef1c69b24f55a1326372bf8b4ea083969de6174bf4b6a45d68e8"
        ),
        "trees/glove-840b-34k.families.tree": (
            "e60f5a811bca13a9cd044d9e6e22efc3f2a9a1a06a305cfeb34c0ec3348f4416"
        ),
    },
}

_SMALL: Final = 4096
"""Words of the largest space whose tree is built where it is needed."""


def load_space(name_or_path: str | Path = DEFAULT_SPACE) -> Space:
    """Load a space: the embedded default, one from the cache, or a file.

    The vectors are memory-mapped, and the content is checked against its digest.

    Parameters
    ----------
    name_or_path : str or Path
        A name that :func:`space_names` lists, or a path: a ``Path``, or a string that
        holds a separator or ends with ``.safetensors``.

    Returns
    -------
    Space
        Read-only.

    Raises
    ------
    UnknownNameError
        If there is no space of this name.
    SpaceError
        If the file cannot be read or is not a space file.
    SpaceIntegrityError
        If the file is not the one its digest promises.

    Examples
    --------
    >>> space = load_space()
    >>> space.name, space.vocab_size, space.dim
    ('glove-840b-34k', 33860, 300)
    """
    return read_space(locate(name_or_path))


def save_space(space: Space, path: str | Path, *, force: bool = False) -> None:
    """Write a space to a file, whole or not at all; ``force`` replaces another."""
    path = Path(path)
    refuse_existing(path, force=force)
    try:
        with whole_file(path, 0o666) as stream:
            write_space(stream, space)
            refuse_existing(path, force=force)  # another may have come first
    except OSError as error:
        raise SpaceError(f"{path}: cannot be written: {error.strerror}") from error


def load_codes(space: Space) -> Codes:
    """The codes of a space: its own, or those that come with the package."""
    if space.codes is not None:
        return space.codes
    if space.digest not in _BUNDLED_CODES:
        raise SpaceError(
            f"space {space.name!r} has no codes. Make them: mondegreen space binarize "
            f"{space.name} -o {space.name}.coded.safetensors, or with_codes(space) of "
            "mondegreen.space.binarize"
        )
    name, digest = _BUNDLED_CODES[space.digest]
    found = read_space(_BUNDLED / name)
    if (codes := found.codes) is None or codes.digest != digest:
        raise SpaceIntegrityError(f"{_BUNDLED / name}: the codes have another digest")
    if found.words != space.words:
        raise SpaceIntegrityError(f"{_BUNDLED / name}: the codes of other words")
    return codes


def load_tree(space: Space, digest: str = "") -> WordTree | None:
    """The word tree of a space: its own, or one of the package, if any.

    Of several of the package, the one whose digest begins with ``digest``; the default
    one if that is empty.
    """
    known = {} if space.tree else _BUNDLED_TREES.get(space.digest, {})
    for name, whole in known.items():
        if whole.startswith(digest):
            return _load_bundled_tree(space, name, whole)
    if known or (space.tree and not space.tree.digest.startswith(digest)):
        names = known.values() if space.tree is None else [space.tree.digest]
        raise UnknownNameError("tree", digest, {each[:12] for each in names})
    return space.tree


def tree_for(space: Space, digest: str = "") -> WordTree:
    """The tree of a space; a small one gets a tree when it has none."""
    found = load_tree(space, digest)
    if found is not None:
        return found
    if space.vocab_size > _SMALL:
        raise SpaceError(
            f"space {space.name!r} has no word tree. Build one: mondegreen space tree "
            f"{space.path or space.name} -o {space.name}.tree.safetensors; or use a "
            "mechanism without a tree, such as calibrated"
        )
    from mondegreen.space.tree_build import build_tree

    built = build_tree(space)
    if not built.digest.startswith(digest):
        raise UnknownNameError("tree", digest, {built.digest[:12]})
    return built


def _load_bundled_tree(space: Space, name: str, digest: str) -> WordTree:
    """A tree of the package, if it is the one promised."""
    try:
        tree = WordTree.from_bytes((_BUNDLED / name).read_bytes())
    except OSError as error:
        raise SpaceError(f"{_BUNDLED / name}: {error.strerror}") from error
    if tree.digest != digest or tree.vocab_size != space.vocab_size:
        raise SpaceIntegrityError(f"{_BUNDLED / name}: the tree has another digest")
    return tree


def with_tree(space: Space, tree: WordTree) -> Space:
    """The same space with a word tree of its words; its digest becomes another."""
    return dataclasses.replace(space, tree=tree, path=None)


def space_names() -> list[str]:
    """The names of the spaces that can be loaded, sorted."""
    return sorted(_files())


def locate(name_or_path: str | Path) -> Path:
    """The file of a space; says how to get a public one that was not fetched yet."""
    name = str(name_or_path)
    is_path = name.endswith(_SUFFIX) or bool({os.sep, os.altsep or os.sep} & set(name))
    if is_path or isinstance(name_or_path, Path):
        return Path(name_or_path)
    own = _BUNDLED / f"{name}{_SUFFIX}"
    if own.is_file():  # without a look at the cache: this is asked for every warm call
        return own
    if name in (files := _files()):
        return files[name]
    from mondegreen.space.vectors.fetch import PUBLIC_SPACES

    if name in PUBLIC_SPACES:
        raise SpaceError(
            f"space {name!r} is not on this machine. Download it: mondegreen space "
            f"fetch {name}"
        )
    if Path(name).is_file():
        return Path(name)  # of word vectors, perhaps: reading it says what to do
    raise UnknownNameError("space", name, {*files, *PUBLIC_SPACES})


def refuse_existing(path: Path, *, force: bool) -> None:
    """Stop before work starts if the output exists and may not be replaced."""
    if path.exists() and not force:
        raise SpaceError(f"{path} already exists. Use another name, or --force")


def _files() -> dict[str, Path]:
    """The file of every space in the cache and in the package."""
    return {
        path.name.removesuffix(_SUFFIX): path
        for folder in (home() / "spaces", _BUNDLED)  # the package's own wins
        for path in sorted(folder.glob(f"*{_SUFFIX}"))
        if not path.name.startswith(".")
    }
