"""What other packages add to this one: found by entry points, or registered."""

from __future__ import annotations

import contextlib
import functools
import re
import sys
import traceback
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar, final

from mondegreen.errors import (
    ConfigurationError,
    MondegreenError,
    PluginError,
    UnknownNameError,
)

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint
    from types import FrameType

Item = TypeVar("Item")
Result = TypeVar("Result")
Tell = Callable[[str], object]

_NAME: Final = re.compile(r"[a-z][a-z0-9_]*")

_OURS: Final = ("mondegreen", "mondegreen_experiments")

_origins: dict[str, str] = {}
"""What each plug-in is that this process has asked for, by the package of its code."""


@final
class Plugins(Generic[Item]):
    """The plug-ins of one kind, by name. They are loaded when they are asked for.

    A package offers one with an entry point in the group ``mondegreen.mechanisms``, or
    that of another kind; a notebook registers one. Names of this package are ``taken``.
    ``find_problem(name, value)`` says what is wrong with a plug-in; empty if nothing.
    """

    def __init__(
        self,
        kind: str,
        taken: Collection[str],
        find_problem: Callable[[str, Any], str],
    ) -> None:
        self._kind, self._taken = kind, taken
        self._find_problem = find_problem
        self._registered: dict[str, Item] = {}
        self._loaded: dict[str, Item] = {}

    def names(self) -> list[str]:
        """List the names that can be asked for; no plug-in is loaded for it."""
        offered = {each.name for each in self._entry_points()}
        return sorted((offered - set(self._taken)) | self._registered.keys())

    def register(self, value: Item, *names: str) -> None:
        """Add a plug-in for this process.

        The same class or function may be registered again, such as when a cell of a
        notebook runs again. Any other use of a name that exists is refused.
        """
        offered = {
            each.name for each in self._entry_points() if not _leads_to(each, value)
        }
        for name in names:
            if problem := self._problem(name, value):
                raise ConfigurationError(f"cannot register {name!r}: {problem}")
            known = self._registered.get(name)
            if name in offered or (known is not None and not _is_same(known, value)):
                raise ConfigurationError(
                    f"cannot register {name!r}: another {self._kind} has that name; "
                    "choose a name of its own"
                )
        for name in names:
            module = str(getattr(value, "__module__", ""))
            what = f"{self._kind} {name!r} of the module {module}"
            remember_plugin(module, f"the {what}")
        self._registered.update(dict.fromkeys(names, value))

    def load(self, name: str) -> Item | None:
        """Load a plug-in; None where there is none, PluginError where it is broken."""
        if name in self._taken:
            return None
        if name in self._registered:
            return self._registered[name]
        if name not in self._loaded:
            found = [each for each in self._entry_points() if each.name == name]
            if not found:
                return None
            self._loaded[name] = self._load(found)
        return self._loaded[name]

    def get(self, name: str) -> Item:
        """Load a plug-in; an error lists what there is."""
        found = self.load(name)
        if found is None:
            raise UnknownNameError(self._kind, name, self.names())
        return found

    def load_all(self, tell: Tell) -> Iterator[tuple[str, Item]]:
        """Yield all that load, by name; ``tell`` is told why the others do not."""
        for each in self._entry_points():
            if each.name in self._taken:
                tell(
                    f"{_origin(each)} offers the {self._kind} {each.name!r}. "
                    "mondegreen has that name, so the plug-in is ignored."
                )
        for name in self.names():
            try:
                found = self.load(name)
            except PluginError as error:
                tell(str(error))
            else:
                if found is not None:
                    yield name, found

    def _load(self, found: list[EntryPoint]) -> Item:
        name = found[0].name
        what = f"the {self._kind} {name!r} of {' and of '.join(map(_origin, found))}"
        if len(found) > 1:
            raise PluginError(f"{what} have one name: uninstall all but one of them")
        remember_plugin(found[0].module, what)
        try:
            value: Item = found[0].load()
        except (Exception, SystemExit) as error:
            # Nothing private is known while a module is imported.
            said = f"{type(error).__name__}: {error}".partition("\n")[0]
            raise PluginError(
                f"{what} cannot be loaded: {said}; update or uninstall that package"
            ) from error
        if problem := self._problem(name, value):
            raise PluginError(
                f"{what} cannot be used: {problem}; update or uninstall that package"
            )
        return value

    def _problem(self, name: str, value: Any) -> str:
        if not _NAME.fullmatch(name):
            return "a name has lower-case letters, digits and _ only"
        if name in self._taken:
            article = "an" if self._kind[0] in "aeiou" else "a"
            return f"mondegreen has {article} {self._kind} of that name"
        return self._find_problem(name, value)

    def _entry_points(self) -> tuple[EntryPoint, ...]:
        return _list_entry_points(f"mondegreen.{self._kind}s", _date_folders())


def _date_folders() -> tuple[tuple[str, float], ...]:
    """List the folders of installed packages, and when each changed last."""
    found = []
    for folder in sys.path:
        with contextlib.suppress(OSError):
            found.append((folder, Path(folder or ".").stat().st_mtime))
    return tuple(found)


@functools.lru_cache(maxsize=16)
def _list_entry_points(
    group: str, folders: tuple[tuple[str, float], ...]
) -> tuple[EntryPoint, ...]:
    """List what packages offer. Reading the files of all of them takes milliseconds."""
    from importlib.metadata import entry_points  # milliseconds too, rarely needed

    found = entry_points(group=group)
    return tuple(sorted(found, key=lambda each: (each.name, each.value)))


def remember_plugin(module: str, what: str) -> None:
    """Remember whose code a module is, so that its errors name it.

    >>> remember_plugin("mondegreen.mechanisms", "nothing: this code is ours")
    >>> "mondegreen" in _origins
    False
    """
    package = module.partition(".")[0]
    if package and package not in _OURS:
        _origins.setdefault(package, what)


def blame(error: BaseException) -> tuple[str, bool]:
    """Say where an error was raised, and whether that is code of a plug-in.

    The message of the error may quote a text, so it is not repeated. Of the code of
    this package and of plug-ins the innermost counts, and not that of libraries.
    """
    kind = type(error).__name__
    steps = list(traceback.walk_tb(error.__traceback__))
    packages = [
        str(frame.f_globals.get("__name__")).partition(".")[0] for frame, _ in steps
    ]
    known = [i for i, each in enumerate(packages) if each in (*_OURS, *_origins)]
    if known and packages[known[-1]] in _origins:
        what = _origins[packages[known[-1]]]
        return f"{what} failed: {kind} in {_say_where(*steps[known[-1]])}", True
    maybe = f", of mondegreen or of {' or of '.join(_origins.values())}"
    where = f" in {_say_where(*steps[-1])}" if steps else ""
    return f"this is a bug{maybe if _origins else ''}: {kind}{where}", False


def _say_where(frame: FrameType, line: int) -> str:
    return f"{frame.f_code.co_name}, {Path(frame.f_code.co_filename).name}:{line}"


def find_function_problem(name: str, value: object) -> str:
    """Say what is wrong with a plug-in that must be a function."""
    return "" if callable(value) else "it is no function"


def call_plugin(what: str, function: Callable[..., Result], *given: Any) -> Result:
    """Call a function that somebody else wrote, with texts of records.

    Its own error may quote a text, so that its message is not repeated.
    """
    try:
        return function(*given)
    except MondegreenError:
        raise
    except Exception as error:
        *_, last = traceback.walk_tb(error.__traceback__)
        where = f"{type(error).__name__} in {_say_where(*last)}"
        raise PluginError(f"{what} failed: {where}; ask its author") from None


def _is_same(known: object, value: object) -> bool:
    """Whether two classes or functions were made by the same lines."""
    keys = [
        (getattr(each, "__module__", None), getattr(each, "__qualname__", id(each)))
        for each in (known, value)
    ]
    return keys[0] == keys[1]


def _leads_to(found: EntryPoint, value: object) -> bool:
    at = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
    return (found.module, found.attr) == at


def _origin(found: EntryPoint) -> str:
    if found.dist is None:
        return f"the module {found.module}"
    return f"the package {found.dist.name} {found.dist.version}"
