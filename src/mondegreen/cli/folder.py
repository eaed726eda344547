"""Several inputs, or folders of them: where each release goes, in one new folder."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, final

from mondegreen.errors import ConfigurationError, DataError, SourceError
from mondegreen.files import sync_folder
from mondegreen.io.guess import guess_format
from mondegreen.wording import amount

FILE_NAMES: Final = "names of files and folders"
"""What the releases of several files disclose besides what each file does."""


@final
@dataclass(frozen=True, slots=True)
class Planned:
    """A file to release, and the path of its release within the new folder."""

    input: str
    output: str


@final
@dataclass(frozen=True, slots=True)
class Plan:
    """The files of a run, and how many others stay where they are."""

    files: tuple[Planned, ...]
    left_out: int  # files in folders whose names tell no format


def has_many(inputs: Sequence[str]) -> bool:
    """Whether a run has several inputs, or a folder."""
    return len(inputs) > 1 or Path(inputs[0]).is_dir()


def plan_releases(inputs: Sequence[str], output: str, *, has_format: bool) -> Plan:
    """List the files of all inputs, folders with all that is below them.

    Files in folders whose names begin with a dot, or tell no format, are left out:
    nothing of them is written. ``has_format`` says that --format names the format, so
    that no name must. Links to folders are not followed.

    Raises
    ------
    ConfigurationError
        If the output is no folder, or in an input, or two files would have one release.
    SourceError
        If no file is left.
    """
    if output == "-":
        raise ConfigurationError(
            "several inputs, or a folder, need a new folder: --output FOLDER"
        )
    found: dict[str, str] = {}
    left_out = 0
    for given in inputs:
        path = Path(given)
        if given == "-":
            raise ConfigurationError("standard input (-) must be the only INPUT")
        if not path.is_dir():
            _add(found, path.name, given)
            continue
        _check_apart(output, given)
        for below in _list_files(path):
            if has_format or guess_format(below.name) is not None:
                _add(found, str(below.relative_to(path)), str(below))
            else:
                left_out += 1
    if not found:
        hint = "file names must end in .txt, .csv, .tsv, .json, .jsonl or .parquet"
        raise SourceError(inputs[0], "no file here can be read", hint=hint)
    return Plan(tuple(Planned(path, name) for name, path in found.items()), left_out)


def _check_apart(output: str, folder: str) -> None:
    """Refuse to write into a folder that is read."""
    if Path(os.path.realpath(output)).is_relative_to(os.path.realpath(folder)):
        raise ConfigurationError(
            f"{output}: is in the folder {folder}, which is read. Name a folder "
            "elsewhere with --output"
        )


def _list_files(folder: Path) -> Iterator[Path]:
    """List the files below a folder, in the order of their names."""

    def fail(error: OSError) -> None:
        problem = f"cannot be listed: {error.strerror or 'unknown error'}"
        raise SourceError(str(error.filename or folder), problem) from None

    for top, folders, names in os.walk(folder, onerror=fail):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        shown = sorted(name for name in names if not name.startswith("."))
        yield from (Path(top, name) for name in shown)


def _add(found: dict[str, str], name: str, path: str) -> None:
    if name in found:
        raise ConfigurationError(
            f"{found[name]} and {path} would both be released as {name}. Rename one, "
            "or release them in two runs"
        )
    found[name] = path


def say_left_out(plan: Plan) -> str:
    """Say how many files are not released; empty if all are."""
    if not plan.left_out:
        return ""
    many = amount(plan.left_out, "file")
    return f"Left out: {many} whose names tell no format. Nothing of them is written."


@final
class NewFolder:
    """A folder that appears whole or not at all; a context manager.

    Files are written below :attr:`path`, a hidden folder beside the final one, which
    ``commit`` gives its name. Leaving the block without ``commit`` removes all.
    """

    def __init__(self, path: str) -> None:
        self._final = Path.cwd() / path
        if not self._final.parent.is_dir():
            raise DataError(
                f"{path}: the folder around it does not exist; create it first"
            )
        self._check()
        self.path = Path()

    def _check(self) -> None:
        """Refuse what is there already: a release is never mixed with other files."""
        if os.path.lexists(self._final):
            raise DataError(
                f"{self._final.name}: exists already. Name a new folder with --output; "
                "--force replaces single files only"
            )

    def file(self, name: str) -> str:
        """Return the path of a file to write, and make the folders around it."""
        path = self.path / name
        with self._named():
            path.parent.mkdir(parents=True, exist_ok=True)
        return str(path)

    def commit(self) -> None:
        """Give the folder its name."""
        with self._named():
            mask = os.umask(0)
            os.umask(mask)
            self.path.chmod(0o777 & ~mask)
            self._check()
            self.path.rename(self._final)
            sync_folder(self._final.parent)

    @contextlib.contextmanager
    def _named(self) -> Iterator[None]:
        """Raise errors of the system with the name of the folder."""
        try:
            yield
        except OSError as error:
            reason = error.strerror or "unknown error"
            name = self._final.name
            raise DataError(f"{name}: cannot be written: {reason}") from None

    def __enter__(self) -> NewFolder:
        with self._named():
            parent, start = self._final.parent, f".{self._final.name}."
            self.path = Path(tempfile.mkdtemp(dir=parent, prefix=start))
        return self

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self.path, ignore_errors=True)  # absent after a commit
