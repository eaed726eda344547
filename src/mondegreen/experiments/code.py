"""The code that a run depends on, so that runs of other code are not taken for it."""

from __future__ import annotations

import ast
import functools
import inspect
import sys
from collections.abc import Callable, Iterator
from typing import Any


@functools.cache
def code_of(function: Callable[..., Any]) -> str:
    """Write a function and all that it uses of its own file, as plain code.

    Comments, docstrings and layout are no part of it, nor is what other files hold. Of
    a function that stands in no file, or within another, it is what Python runs.
    """
    defined = {
        name: node
        for node in ast.parse(_source(function)).body
        for name in _defines(node)
    }
    if function.__name__ not in defined:
        code = function.__code__
        return repr((code.co_code, code.co_names, code.co_consts))
    used: dict[str, ast.stmt] = {}
    waiting = [function.__name__]
    while waiting:
        name = waiting.pop()
        if name in defined and name not in used:
            node = used[name] = defined[name]
            waiting += [n.id for n in ast.walk(node) if isinstance(n, ast.Name)]
    return "\n".join(ast.unparse(_bare(used[name])) for name in sorted(used))


def _source(function: Callable[..., Any]) -> str:
    try:
        return inspect.getsource(sys.modules[function.__module__])
    except (OSError, TypeError):  # typed in, or loaded from what has no files
        return ""


def _defines(node: ast.stmt) -> Iterator[str]:
    """Yield the names that a statement of a file gives a meaning."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.Assign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        names = (n for target in targets for n in ast.walk(target))
        yield from (n.id for n in names if isinstance(n, ast.Name))


def _bare(node: ast.stmt) -> ast.stmt:
    """Take the docstrings out."""
    for part in ast.walk(node):
        if isinstance(part, ast.FunctionDef | ast.ClassDef):
            part.body = [each for each in part.body if not _is_text(each)]
    return node


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
