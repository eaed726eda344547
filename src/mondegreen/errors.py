"""All errors of the package, and the exit codes of the command.

::

    MondegreenError                                  exit code
    ├── ConfigurationError                           2
    │   ├── InvalidParameterError (ValueError)
    │   ├── PluginError
    │   └── UnknownNameError (LookupError)
    ├── OptionalDependencyError (ImportError)        2
    ├── DataError                                    3
    │   ├── SourceError
    │   ├── MissingColumnError (LookupError)
    │   └── DecodeError
    ├── SpaceError                                   3
    │   ├── EmbeddingFormatError (ValueError)
    │   ├── SpaceIntegrityError
    │   └── FetchError
    ├── LanguageError                                3
    ├── LawUnknownError                              2
    ├── DetectorError                                3
    └── PrivacyError                                 4
        ├── BudgetExceededError
        ├── UnprovedGuaranteeError
        └── OutOfVocabularyError

Messages say what was given, what is allowed and what to do. They name files, rows,
columns and options, and never quote the text of a record: a message ends up in logs.
"""

from __future__ import annotations

import copyreg
import difflib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from mondegreen.wording import amount

__all__ = [
    "BudgetExceededError",
    "ConfigurationError",
    "DataError",
    "DecodeError",
    "DetectorError",
    "EmbeddingFormatError",
    "FetchError",
    "InvalidParameterError",
    "LanguageError",
    "LawUnknownError",
    "MissingColumnError",
    "MondegreenError",
    "OptionalDependencyError",
    "OutOfVocabularyError",
    "PluginError",
    "PrivacyError",
    "SourceError",
    "SpaceError",
    "SpaceIntegrityError",
    "UnknownNameError",
    "UnprovedGuaranteeError",
]


class MondegreenError(Exception):
    """Base of all errors of the package; ``exit_code`` is the command line's."""

    exit_code = 1

    def __reduce__(self) -> tuple[Any, ...]:
        # Constructors take fields, not the message: without this an error could not
        # cross from a worker process.
        return copyreg.__newobj__, (type(self), *self.args), self.__dict__  # type: ignore[attr-defined]


class ConfigurationError(MondegreenError):
    """Raised when what was asked for cannot be done by anyone."""

    exit_code = 2


class InvalidParameterError(ConfigurationError, ValueError):
    """Raised when a parameter is outside its range."""

    def __init__(self, parameter: str, given: object, allowed: str) -> None:
        self.parameter = parameter
        super().__init__(f"{parameter} must be {allowed}; got {_show(given)}")


def _show(given: object) -> str:
    """Write what was given. Many texts describe it, so none is in quotation marks."""
    shown = repr(given)
    is_text = isinstance(given, str) and given and given == given.strip()
    return shown[1:-1] if is_text else shown


class PluginError(ConfigurationError):
    """Raised when what another package adds is broken; names that package."""


class UnknownNameError(ConfigurationError, LookupError):
    """Raised when a name is not in a registry; lists what exists, nearest first."""

    def __init__(
        self, kind: str, given: str, available: Iterable[str], *, hint: str = ""
    ) -> None:
        self.kind, self.given, self.available = kind, given, sorted(available)
        near = difflib.get_close_matches(given, self.available, n=3, cutoff=0.5)
        rest = [name for name in self.available if name not in near]
        super().__init__(
            f"there is no {kind} named {given!r}{hint and f' ({hint})'}; choose one "
            f"of: {', '.join(near + rest)}"
        )


class OptionalDependencyError(MondegreenError, ImportError):
    """Raised when a library is needed and absent; prints the line that installs it."""

    exit_code = 2

    def __init__(self, library: str, extra: str = "", *, feature: str = "this") -> None:
        self.library, self.extra, self.feature = library, extra, feature
        wanted = _FOLDERS.get(library, library)
        if extra:
            # The package is on no index: its name there may be somebody else's.
            wanted = f"'.[{extra}]', in the folder with pyproject.toml"
            if needed := _list_needed(extra):
                wanted += f". In any other folder: pip install {needed}"
        super().__init__(
            f"{feature} needs {library}, which is not installed: pip install {wanted}"
        )

    @classmethod
    def from_import(cls, error: ModuleNotFoundError) -> OptionalDependencyError | None:
        """Name the library whose import failed; None where it is a module of ours."""
        module = (error.name or "mondegreen").partition(".")[0]
        if module == "mondegreen":
            return None
        return cls(_DISTRIBUTIONS.get(module, module), _EXTRAS.get(module, ""))


def _list_needed(extra: str) -> str:
    """List what an extra needs, as pip takes it in any shell; "" if unknown."""
    from importlib.metadata import PackageNotFoundError, requires

    try:
        stated = requires("mondegreen") or []
    except PackageNotFoundError:
        return ""
    split = (each.replace("'", '"').partition(";") for each in stated)
    found = {name.strip(): marker.strip() for name, _, marker in split}
    own = f'extra == "{extra}"'
    needed = {name: marker for name, marker in found.items() if own in marker}
    # This package is on no index, and pip takes no conditions in a list.
    if any(n.startswith("mondegreen") or m != own for n, m in needed.items()):
        return ""
    return " ".join(f'"{name}"' for name in needed)


_DISTRIBUTIONS = {  # of modules with another name
    "faiss": "faiss-cpu",
    "mondegreen_experiments": "mondegreen-experiments",
    "presidio_analyzer": "presidio-analyzer",
    "presidio_anonymizer": "presidio-anonymizer",
    "prometheus_client": "prometheus-client",
    "sklearn": "scikit-learn",
}
_FOLDERS = {"mondegreen-experiments": "./experiments"}  # of the repository
_EXTRAS = {
    "anyio": "serve",
    "datasets": "datasets",
    "duckdb": "duckdb",
    "fastapi": "serve",
    "httpx": "serve",
    "litellm": "litellm",
    "matplotlib": "report",
    "narwhals": "frames",
    "openpyxl": "xlsx",
    "pooch": "fetch",
    "presidio_anonymizer": "presidio",
    "prometheus_client": "serve",
    "pydantic": "serve",
    "pyspark": "spark",
    "sklearn": "sklearn",
    "spacy": "spacy",
    "starlette": "serve",
    "torch": "torch",
    "transformers": "transformers",
    "uvicorn": "serve",
}


class DataError(MondegreenError):
    """Raised when an input cannot be read or an output cannot be written."""

    exit_code = 3


class SourceError(DataError):
    """Raised when a file or a row of it is not what its format requires."""

    def __init__(
        self, path: str | Path, problem: str, *, row: int | None = None, hint: str = ""
    ) -> None:
        self.path, self.row, self.hint = str(path), row, hint
        self._problem = problem
        super().__init__(_locate(path, "row", row, problem, hint))

    def advise(self, hint: str) -> None:
        """Give another hint, where that of the format cannot be followed."""
        self.hint = hint
        self.args = (_locate(self.path, "row", self.row, self._problem, hint),)


_LISTED = 20
"""Columns of a file that a message names, at most: all, or the nearest ones."""


class MissingColumnError(DataError, LookupError):
    """Raised when a named column is absent; says which columns exist."""

    def __init__(
        self,
        path: str | Path,
        column: str,
        available: Iterable[str],
        *,
        count: int | None = None,
        row: int | None = None,
        hint: str = "",
    ) -> None:
        self.path, self.column, self.row = str(path), column, row
        self.available = list(available)
        some = self.available[:_LISTED]
        has = "Columns: " + (", ".join(map(repr, some)) or "none")
        if len(some) < len(self.available):
            near = difflib.get_close_matches(column, self.available, n=3, cutoff=0.5)
            listed = f"; the nearest are {', '.join(map(repr, near))}" if near else ""
            has = f"There are {amount(len(self.available), 'column')}{listed}"
        if count is not None:  # names that may be private text are not listed
            has = f"There {'is' if count == 1 else 'are'} {amount(count, 'column')}"
        self.hint, self._problem = hint, f"column {column!r} not found. {has}"
        super().__init__(_locate(path, "row", row, self._problem, hint))

    def advise(self, hint: str) -> None:
        """Give another hint."""
        self.hint = hint
        self.args = (_locate(self.path, "row", self.row, self._problem, hint),)


class DecodeError(SourceError):
    """Raised when bytes are no text in the encoding of the file."""

    def __init__(
        self,
        path: str | Path,
        *,
        row: int | None = None,
        offset: int | None = None,
        encoding: str | None = None,
        hint: str = "name the encoding, such as --encoding cp1252",
    ) -> None:
        self.offset = offset
        at = f" at byte {offset}" if offset is not None else ""
        problem = f"not valid {encoding or 'UTF-8'}{at}"
        super().__init__(path, problem, row=row, hint=hint)


class SpaceError(MondegreenError):
    """Raised when a space cannot be read, built or used."""

    exit_code = 3


class EmbeddingFormatError(SpaceError, ValueError):
    """Raised when a file of word vectors breaks its format; names the line."""

    def __init__(
        self, path: str | Path, problem: str, *, line: int | None = None, hint: str = ""
    ) -> None:
        self.path, self.line, self.problem = str(path), line, problem
        super().__init__(_locate(path, "line", line, problem, hint))


class SpaceIntegrityError(SpaceError):
    """Raised when a file is not the one its digest promises."""


class FetchError(SpaceError):
    """Raised when a download did not complete or was refused."""


class LanguageError(MondegreenError):
    """Raised when a language model cannot be read, built or used."""

    exit_code = 3


class LawUnknownError(ConfigurationError):
    """Raised when the law of a mechanism has no closed form to evaluate."""


class DetectorError(MondegreenError):
    """Raised when a detector fails, or returns no spans of the text.

    Nothing is released then. The message holds nothing that the detector said, since
    that may quote the text.
    """

    exit_code = 3


class PrivacyError(MondegreenError):
    """Raised when going on would break a promise; never caught in the package."""

    exit_code = 4


class UnprovedGuaranteeError(PrivacyError):
    """Raised when a mechanism without a proof is used without saying so."""


class BudgetExceededError(PrivacyError):
    """Raised when the releases of a record add up to more than a limit."""


class OutOfVocabularyError(PrivacyError):
    """Raised under ``unknown="fail"`` when a record holds an unknown word."""


def __getattr__(name: str) -> Any:
    if name == "MissingExtraError":  # as OptionalDependencyError was called in 0.1
        return OptionalDependencyError
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _locate(
    path: str | Path, unit: str, number: int | None, problem: str, hint: str
) -> str:
    # A name may hold line ends, or commands for a terminal.
    name = "".join(
        c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in str(path)
    )
    where = f"{name}, {unit} {number}" if number is not None else name
    return f"{where}: {problem}" + (f" ({hint})" if hint else "")
