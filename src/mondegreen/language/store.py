"""Where language models are kept: in the package, in the cache, or in a file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from mondegreen.errors import LanguageError, UnknownNameError
from mondegreen.files import home, whole_file
from mondegreen.language.ngrams import NGrams

SUFFIX: Final = ".lm"
_BUNDLED: Final = Path(__file__).parent / "data"
DEFAULT: Final = _BUNDLED / "english.lm"
"""The model that comes with the package: statistics of openly licensed English."""


def load_language(name_or_path: str | Path | None = None) -> NGrams:
    """Open a language model: the embedded default, one from the cache, or a file.

    Parameters
    ----------
    name_or_path : str or Path, optional
        A name that :func:`language_names` lists, or a path: a ``Path``, or a string
        that holds a separator or ends with ``.lm``. By default ``english``.

    Returns
    -------
    NGrams
        Mapped into memory, read-only.

    Raises
    ------
    UnknownNameError
        If there is no model of this name.
    LanguageError
        If the file cannot be read, is no language model, or was changed.

    Examples
    --------
    >>> load_language().about.space
    'glove-840b-34k'
    """
    return NGrams.open(DEFAULT if name_or_path is None else locate(name_or_path))


def save_language(model: NGrams, path: str | Path, *, force: bool = False) -> None:
    """Write a model to a file, whole or not at all; ``force`` replaces another."""
    path = Path(path)
    refuse_existing(path, force=force)
    try:
        with whole_file(path, 0o666) as stream:
            model.write(stream)
            refuse_existing(path, force=force)  # another may have come first
    except OSError as error:
        raise LanguageError(f"{path}: cannot be written: {error.strerror}") from error


def refuse_existing(path: Path, *, force: bool) -> None:
    """Stop before work starts if the output exists and may not be replaced."""
    if path.exists() and not force:
        raise LanguageError(
            f"{path} already exists. Use another name, or --force (in Python, "
            "force=True)"
        )


def language_names() -> list[str]:
    """The names of the models that can be loaded, sorted."""
    return sorted(_files())


def locate(name_or_path: str | Path) -> Path:
    """The file of a model."""
    name = str(name_or_path)
    is_path = name.endswith(SUFFIX) or bool({os.sep, os.altsep or os.sep} & set(name))
    if is_path or isinstance(name_or_path, Path):
        return Path(name_or_path)
    files = _files()
    if name not in files:
        raise UnknownNameError("language model", name, files)
    return files[name]


def _files() -> dict[str, Path]:
    """The file of every model in the cache and in the package."""
    return {
        path.name.removesuffix(SUFFIX): path
        for folder in (home() / "languages", _BUNDLED)  # the package's own wins
        for path in sorted(folder.glob(f"*{SUFFIX}"))
        if not path.name.startswith(".")
    }
