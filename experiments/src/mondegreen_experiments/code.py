"""The code that a run depends on, so that runs of other code are not taken for it."""

from __future__ import annotations

import ast
import functools
import inspect
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, TypeAlias, final

_ROOM: Final = "mondegreen_experiments."
_APART: Final = (f"{_ROOM}recipe", f"{_ROOM}bench")
"""What every recipe uses, and what does not decide its numbers."""

_Name: TypeAlias = tuple[str, str]  # of a file, and of what it defines


@final
@dataclass(frozen=True, slots=True)
class _File:
    """What a file defines, and what it takes from other files of the experiments."""

    defines: Mapping[str, ast.stmt]
    takes: Mapping[str, _Name]


@functools.cache
def code_of(function: Callable[..., Any]) -> str:
    """Write a function and all that it uses of its file, and of the experiments.

    Comments, docstrings and layout are no part of it, nor is the rest of the package.
    Of a function that stands in no file, or within another, it is what Python runs.
    """
    first = function.__module__, function.__name__
    if first[1] not in _file(first[0]).defines:
        code = function.__code__
        return repr((code.co_code, code.co_names, code.co_consts))
    used: dict[_Name, str] = {}
    waiting = [first]
    while waiting:
        module, name = waiting.pop()
        file = _file(module)
        if name in file.takes:
            waiting.append(file.takes[name])
        elif name in file.defines and (module, name) not in used:
            node = file.defines[name]
            used[module, name] = ast.unparse(node)
            names = (n.id for n in ast.walk(node) if isinstance(n, ast.Name))
            waiting += [(module, each) for each in names]
    return "\n".join(used[each] for each in sorted(used))


@functools.cache
def _file(module: str) -> _File:
    tree = ast.parse(_source(module))
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            node.body = [each for each in node.body if not _is_text(each)]
    return _File(
        {name: node for node in tree.body for name in _defines(node)},
        {
            each.asname or each.name: (node.module, each.name)
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom) and node.module
            if node.module.startswith(_ROOM) and node.module not in _APART
            for each in node.names
        },
    )


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
