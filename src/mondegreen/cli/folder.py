"""Several inputs, or folders of them: where each release goes, in one new folder."""

from __future__ import annotations

import contextlib
import os
import stat
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, final, get_args

from mondegreen.errors import (
    ConfigurationError,
    DataError,
    MissingColumnError,
    SourceError,
)
from mondegreen.files import sync_folder, temporary_folder
from mondegreen.io.guess import Format, guess_format
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
    left_out: tuple[tuple[str, int], ...]  # why, and how many


def has_many(inputs: Sequence[str]) -> bool:
    """Whether a run has several inputs, or a folder."""
    return len(inputs) > 1 or Path(inputs[0]).is_dir()


def plan_releases(inputs: Sequence[str], output: str, *, has_format: bool) -> Plan:
    """List the files of all inputs, folders with all that is below them.

    In folders, these are left out and counted: names that begin with a dot, names that
    tell no format, links, and what is neither a file nor a folder (a pipe would wait
    for ever). A link may lead to a private file that somebody else wants to see: its
    file is released only if the command names it. ``has_format`` says that --format
    names the format, so that no name must.

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
    left_out: Counter[str] = Counter()
    for given in inputs:
        path = Path(given)
        if given == "-":
            raise ConfigurationError("standard input (-) must be the only INPUT")
        if not path.is_dir():
            _add(found, path.name, given)
            continue
        _check_apart(output, given)
        for below in _list_entries(path):
            if why := _why_left_out(below, has_format=has_format):
                left_out[why] += 1
            else:
                _add(found, str(below.relative_to(path)), str(below))
    if not found:
        hint = f"file names must end in {', '.join(f'.{f}' for f in get_args(Format))}"
        raise SourceError(inputs[0], "no file here can be read", hint=hint)
    files = tuple(Planned(path, name) for name, path in found.items())
    return Plan(files, tuple(left_out.items()))


def _check_apart(output: str, folder: str) -> None:
    """Refuse to write into a folder that is read."""
    if Path(os.path.realpath(output)).is_relative_to(os.path.realpath(folder)):
        raise ConfigurationError(
            f"{output}: is in the input folder {folder}. Name a folder elsewhere with "
            "--output"
        )


def _list_entries(folder: Path) -> Iterator[Path]:
    """List what is below a folder, in the order of names; hidden folders as one."""

    def fail(error: OSError) -> None:
        problem = f"cannot be listed: {error.strerror or 'unknown error'}"
        raise SourceError(str(error.filename or folder), problem) from None

    for top, folders, names in os.walk(folder, onerror=fail):
        closed = [each for each in folders if _is_closed(Path(top, each))]
        folders[:] = sorted(set(folders) - set(closed))
        yield from (Path(top, name) for name in sorted([*names, *closed]))


def _is_closed(folder: Path) -> bool:
    """Whether a folder is not entered; links could lead round in a circle."""
    return folder.name.startswith(".") or folder.is_symlink()


def _why_left_out(path: Path, *, has_format: bool) -> str:
    """Say why an entry of a folder is not released; empty if it is."""
    if path.name.startswith("."):
        return "hidden"
    mode = path.lstat().st_mode
    if stat.S_ISLNK(mode):
        return "a link"
    if not stat.S_ISREG(mode):
        return "no file"
    is_known = has_format or guess_format(path.name) is not None
    return "" if is_known else "of another format"


def _add(found: dict[str, str], name: str, path: str) -> None:
    if name in found:
        raise ConfigurationError(
            f"{found[name]} and {path} would both be released as {name}. Rename one, "
            "or release them in two runs"
        )
    found[name] = path


def has_columns(plan: Plan) -> bool:
    """Whether a file of the run has columns, as lines of text have not."""
    return any(guess_format(each.input) != "txt" for each in plan.files)


@contextlib.contextmanager
def advise_on_columns() -> Iterator[None]:
    """Say, where a file of several lacks a column, that all files need it."""
    try:
        yield
    except MissingColumnError as error:
        advice = (
            "all files of one run need the column under one name: rename it, or run "
            "the files with other names by themselves"
        )
        error.advise(f"{error.hint}; {advice}" if error.hint else advice)
        raise


def say_left_out(plan: Plan) -> str:
    """Say what of the folders is not released, and why; empty if all is.

    >>> say_left_out(Plan((), (("hidden", 1), ("of another format", 2))))
    'Skipped: 1 hidden, 2 of another format.'
    """
    if not plan.left_out:
        return ""
    reasons = ", ".join(f"{count:,} {why}" for why, count in plan.left_out)
    return f"Skipped: {reasons}."


@final
class NewFolder:
    """A folder that appears whole or not at all; a context manager.

    Files are written below :attr:`path`, a hidden folder beside the final one, which
    ``commit`` gives its name. Leaving the block without ``commit`` removes all.

    Parameters
    ----------
    path : str
        Of the folder that appears.
    names : collection of str
        The files that will be in it.
    force : bool
        Whether it may replace a folder. That folder may hold no other files than
        ``names``: what no release replaces is never removed.
    """

    def __init__(self, path: str, names: Collection[str], *, force: bool) -> None:
        self._final = Path.cwd() / path
        self._names, self._force = frozenset(names), force
        if not self._final.parent.is_dir():
            raise DataError(
                f"{path}: the folder around it does not exist; create it first"
            )
        self._check()
        self.path = Path()

    def _check(self) -> None:
        """Refuse what is there already, unless all of it will be replaced."""
        if not os.path.lexists(self._final):
            return
        name = self._final.name
        if not self._force:
            raise DataError(
                f"{name} already exists. Name a new folder, or use --force to "
                "replace an earlier release"
            )
        if self._final.is_symlink() or not self._final.is_dir():
            raise DataError(f"{name}: is no folder; several releases need one")
        others = sum(
            str(each.relative_to(self._final)) not in self._names
            for each in _list_all_files(self._final)
        )
        if others:
            raise DataError(
                f"{name}: holds {amount(others, 'file')} that this run does not "
                "write. --force replaces a folder only if nothing else is in it"
            )

    def file(self, name: str) -> str:
        """Return the path of a file to write, and make the folders around it."""
        path = self.path / name
        with self._named():
            path.parent.mkdir(parents=True, exist_ok=True)
        return str(path)

    def commit(self) -> None:
        """Give the folder its name; a folder that it replaces is removed after that."""
        with self._named():
            mask = os.umask(0)
            os.umask(mask)
            self.path.chmod(0o777 & ~mask)
            self._check()
            with temporary_folder(self._final.parent) as aside:
                old = aside / "old"
                if os.path.lexists(self._final):
                    self._final.rename(old)
                try:
                    self.path.rename(self._final)
                except BaseException:
                    if old.exists() and not os.path.lexists(self._final):
                        old.rename(self._final)
                    raise
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
        self._stack = contextlib.ExitStack()
        with self._named():
            made = temporary_folder(self._final.parent)
            self.path = self._stack.enter_context(made)
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()


def _list_all_files(folder: Path) -> Iterator[Path]:
    for top, folders, names in os.walk(folder):
        links = [each for each in folders if Path(top, each).is_symlink()]
        yield from (Path(top, name) for name in [*names, *links])
