"""Griffe extension: show fields declared with ``parameter(...)`` by their defaults."""

from __future__ import annotations

import dataclasses
import re
from importlib import import_module
from typing import Any, Final

import griffe

__all__ = ["Parameters"]

_DECLARED: Final = re.compile(r"[\w.]*parameter\(")


class Parameters(griffe.Extension):
    """Puts the default of a field in place of the call that declares it."""

    def on_package(self, *, pkg: griffe.Module, **kwargs: Any) -> None:
        """Mend the fields of every class, and what ``__init__`` takes."""
        _mend_all(pkg)


def _mend_all(scope: griffe.Module | griffe.Class) -> None:
    for member in scope.members.values():
        if isinstance(member, griffe.Module | griffe.Class):
            _mend_all(member)
        if isinstance(member, griffe.Class):
            _mend(member)


def _mend(cls: griffe.Class) -> None:
    fields = [each for each in cls.attributes.values() if _is_declared(each.value)]
    if not fields:
        return
    found = getattr(import_module(cls.module.path), cls.name)
    defaults = {
        each.name: None if each.default is dataclasses.MISSING else repr(each.default)
        for each in dataclasses.fields(found)
    }
    for field in fields:
        field.value = defaults[field.name]
    if "__init__" in cls.members:
        for parameter in cls.parameters:
            if _is_declared(parameter.default):
                parameter.default = defaults[parameter.name]


def _is_declared(value: Any) -> bool:
    return bool(_DECLARED.match(str(value or "")))
