"""Where spaces are kept: in the package, in the cache, or in a file of yours."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final

from mondegreen.errors import (
    SpaceError,
    SpaceIntegrityError,
    UnknownNameError,
)
from mondegreen.files import home, whole_file
from mondegreen.space.codes import Codes
from mondegreen.space.file import read_space, write_space
from mondegreen.space.space import Space
from mondegreen.space.tree import WordTree

DEFAULT_SPACE: Final = "glove-840b-34k"

_SUFFIX = ".safetensors"
_BUNDLED = Path(__file__).parent / "data"
# Digest of a space: the file of its codes, and their digest.
_BUNDLED_CODES: Final = {
    "02ecad8b7461565077a158cc5f0300ecfb09e0af64b7eee8a73599c57f5ba4fc": (
        "codes/glove-840b-34k.codes-256.safetensors",
        "1d741b496544718ef5af81740b45e658b97c83f9991f6666527677b74b3be284",
    ),
}
# Digest of a space: the file of its word tree, and the digest of the tree.
_BUNDLED_TREES: Final = {
    "02ecad8b7461565077a158cc5f0300ecfb09e0af64b7eee8a73599c57f5ba4fc": (
        "trees/glove-840b-34k.tree",
        "d6538cb1373fef1c69b24f55a1326372bf8b4ea083969de6174bf4b6a45d68e8",
    ),
}


def load_space(name_or_path: str | Path = DEFAULT_SPACE) -> Space:
    """Load a space: the embedded default, one from the cache, or a file.

    The vectors are memory-mapped, and the content is checked against its digest.

    Parameters
    ----------
    name_or_path : str or Path
        A name that :func:`space_names` lists, or a path: a ``Path``, or a string that
        holds a separator or ends with ``.safetensors``.

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
    """Write a space to a file, whole or not at all.

    Parameters
    ----------
    space : Space
        The space.
    path : str or Path
        Where to; by custom it ends with ``.safetensors``.
    force : bool
        Whether an existing file is replaced.

    Raises
    ------
    SpaceError
        If the file exists and ``force`` is not given, or it cannot be written.
    """
    with new_file(Path(path), force=force) as stream:
        write_space(stream, space)


def codes_of(space: Space) -> Codes:
    """Return the codes of a space: its own, or those that come with the package.

    Raises
    ------
    SpaceError
        If there are none; says how to make them.
    SpaceIntegrityError
        If the file of the package is not the one its digest promises.
    """
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
    if found.codes is None or found.codes.digest != digest:
        raise SpaceIntegrityError(f"{_BUNDLED / name}: other codes than promised")
    if found.words != space.words:
        raise SpaceIntegrityError(f"{_BUNDLED / name}: the codes of other words")
    return found.codes


def tree_of(space: Space) -> WordTree | None:
    """Return the word tree of a space: its own, or the one of the package, if any.

    Raises
    ------
    SpaceIntegrityError
        If the file of the package is not the one its digest promises.
    """
    if space.tree is not None or space.digest not in _BUNDLED_TREES:
        return space.tree
    name, digest = _BUNDLED_TREES[space.digest]
    try:
        tree = WordTree.from_bytes((_BUNDLED / name).read_bytes())
    except OSError as error:
        raise SpaceError(f"{_BUNDLED / name}: {error.strerror}") from error
    if tree.digest != digest or tree.vocab_size != space.vocab_size:
        raise SpaceIntegrityError(f"{_BUNDLED / name}: another tree than promised")
    return tree


def with_tree(space: Space, tree: WordTree) -> Space:
    """Return the same space with a word tree; its digest becomes another.

    Raises
    ------
    SpaceError
        If the tree does not hold the words of the space.
    """
    return dataclasses.replace(space, tree=tree, path=None)


def space_names() -> list[str]:
    """Return the names of the spaces that can be loaded, sorted."""
    return sorted(_files())


def locate(name_or_path: str | Path) -> Path:
    """Return the file of a space.

    Raises
    ------
    UnknownNameError
        If there is no space of this name.
    SpaceError
        If it is a public one that was not fetched yet; says how to get it.
    """
    if isinstance(name_or_path, Path):
        return name_or_path
    separators = {os.sep, os.altsep or os.sep}
    if name_or_path.endswith(_SUFFIX) or separators & set(name_or_path):
        return Path(name_or_path)
    files = _files()
    if name_or_path not in files:
        raise _absent(name_or_path, files)
    return files[name_or_path]


def refuse_existing(path: Path, *, force: bool) -> None:
    """Stop before work starts if the output exists.

    Raises
    ------
    SpaceError
        If it exists and ``force`` is not given.
    """
    if path.exists() and not force:
        raise SpaceError(f"{path} exists; --force (force=True) replaces it")


@contextmanager
def new_file(path: Path, *, force: bool) -> Iterator[BinaryIO]:
    """Open a file that appears under its name when it is complete, or never.

    Raises
    ------
    SpaceError
        If it exists and ``force`` is not given, or it cannot be written.
    """
    refuse_existing(path, force=force)
    try:
        with whole_file(path, 0o666) as stream:
            yield stream
            refuse_existing(path, force=force)
    except OSError as error:
        raise SpaceError(f"{path}: cannot be written: {error.strerror}") from error


def _absent(name: str, files: Iterable[str]) -> SpaceError | UnknownNameError:
    """Return the error for a space that is not here, though it may be elsewhere."""
    from mondegreen.space.fetch import PUBLIC_SPACES

    if name in PUBLIC_SPACES:
        return SpaceError(
            f"space {name!r} is public, and not on this machine yet; get it with: "
            f"mondegreen space fetch {name}"
        )
    return UnknownNameError("space", name, {*files, *PUBLIC_SPACES})


def _files() -> dict[str, Path]:
    """Return the file of every space in the cache and in the package."""
    return {
        path.name.removesuffix(_SUFFIX): path
        for folder in (home() / "spaces", _BUNDLED)  # the package's own wins
        for path in sorted(folder.glob(f"*{_SUFFIX}"))
        if not path.name.startswith(".")
    }
