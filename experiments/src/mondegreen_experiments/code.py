"""The code that a run depends on, so that runs of other code are not taken for it."""

from __future__ import annotations

import ast
import functools
import inspect
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import entry_points
from importlib.util import find_spec, resolve_name
from pathlib import Path
from typing import Any, Final, TypeAlias, final

from mondegreen_experiments.choices import digest_of

_ROOMS: Final = ("mondegreen_experiments.", "mondegreen.attacks.", "mondegreen.scores.")
"""Code that decides what is found: recipes and their data, attacks and scores."""

_APART: Final = "mondegreen_experiments.recipe"
"""What every recipe uses, and what does not decide its numbers."""

_WHOLE: Final = "*"

_Name: TypeAlias = tuple[str, str]  # of a file, and of what it defines


@final
@dataclass(frozen=True, slots=True)
class _File:
    """What a file defines, and what it takes from other files."""

    defines: Mapping[str, ast.stmt]
    takes: Mapping[str, _Name]


@functools.cache
def code_of(function: Callable[..., Any]) -> str:
    """Write a function and what it uses of its package, recipes, attacks and scores.

    Files beside that of the function count as its package. Comments, docstrings and
    layout are no part of it, nor are our mechanisms and the rest. Of a function that
    stands in no file, or within another, it is what Python runs.
    """
    first = function.__module__, function.__name__
    if first[1] not in _file(first[0]).defines:
        code = function.__code__
        return repr((code.co_code, code.co_names, code.co_consts))
    rooms = (*_ROOMS, first[0].partition(".")[0] + ".", *_list_beside(first[0]))
    used: dict[_Name, str] = {}
    waiting = [first]
    while waiting:
        module, name = waiting.pop()
        file = _file(module)
        if name in file.takes:
            waiting += _resolve(file.takes[name], rooms)
        elif name in file.defines and (module, name) not in used:
            node = file.defines[name]
            used[module, name] = ast.unparse(node)
            names = (n.id for n in ast.walk(node) if isinstance(n, ast.Name))
            waiting += [(module, each) for each in names]
    return "\n".join(used[each] for each in sorted(used))


def is_ours(module: str) -> bool:
    """Whether a module is of this package."""
    return f"{module}.".startswith(_ROOMS[0])


def code_of_plugins() -> str:
    """Name the mechanisms, attacks and scores of other packages by what files hold."""
    points = [
        point
        for kind in ("mechanisms", "attacks", "scores")
        for point in entry_points(group=f"mondegreen.{kind}")
    ]
    held = {point.value: _digest_of_package(point.module) for point in points}
    return json.dumps(held, sort_keys=True) if held else ""


def _digest_of_package(module: str) -> str:
    """Digest the file of a module, or all files of its package."""
    spec = find_spec(module.partition(".")[0])
    if spec is None or spec.origin is None:
        return ""
    path = Path(spec.origin)
    return digest_of(path.parent if path.name == "__init__.py" else path)


def _list_beside(module: str) -> tuple[str, ...]:
    """List the modules in the folder of one that is no package, such as a script."""
    spec = find_spec(module)
    if spec is None or spec.parent or not spec.origin:
        return ()
    folder = Path(spec.origin).parent
    if "site-packages" in folder.parts:  # of all packages that are installed
        return ()
    names = {path.stem for path in folder.glob("*.py")}
    names |= {path.parent.name for path in folder.glob("*/__init__.py")}
    return tuple(sorted(f"{name}." for name in names))


@functools.cache
def _file(module: str) -> _File:
    tree = ast.parse(_source(module))
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            node.body = [each for each in node.body if not _is_text(each)]
    return _File(
        {name: node for node in tree.body for name in _defines(node)},
        {
            each.asname or each.name: (
                (_module_of(node, module), each.name)
                if isinstance(node, ast.ImportFrom)
                else (each.name, _WHOLE)
            )
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom | ast.Import)
            for each in node.names
        },
    )


def _resolve(taken: _Name, rooms: tuple[str, ...]) -> list[_Name]:
    """Return what an import gives: one name, all of a file, or nothing of these rooms.

    A module that is imported as a whole, under a name without dots, is used whole.
    """
    module, name = taken
    if not f"{module}.".startswith(rooms) or _APART in (module, f"{module}.{name}"):
        return []
    if name == _WHOLE:
        return [(module, each) for each in _file(module).defines]
    spec = find_spec(module)
    for folder in (spec and spec.submodule_search_locations) or ():
        if Path(folder, f"{name}.py").is_file():
            whole = f"{module}.{name}"
            return [(whole, each) for each in _file(whole).defines]
    return [taken]


def _module_of(node: ast.ImportFrom, module: str) -> str:
    """Name the module that a file imports from, also where that is relative."""
    name = "." * node.level + (node.module or "")
    if not node.level:
        return name
    spec = find_spec(module)
    return resolve_name(name, spec.parent if spec else None)


def _source(module: str) -> str:
    """Read a file of code, which need not be loaded; of no file nothing."""
    try:
        if module in sys.modules:
            return inspect.getsource(sys.modules[module])
    except (OSError, TypeError):  # typed in, or from what has no files
        return ""
    spec = find_spec(module)
    path = Path(spec.origin) if spec and spec.origin else None
    return path.read_text("utf-8") if path and path.is_file() else ""


def _defines(node: ast.stmt) -> Iterator[str]:
    """Yield the names that a statement of a file gives a meaning."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.Assign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        names = (n for target in targets for n in ast.walk(target))
        yield from (n.id for n in names if isinstance(n, ast.Name))


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
