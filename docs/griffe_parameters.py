"""Griffe extension: show fields declared with ``parameter(...)`` by their defaults."""

from __future__ import annotations

import ast
from typing import Any

import griffe

__all__ = ["Parameters"]


class Parameters(griffe.Extension):
    """Puts the default of ``parameter(default, range=...)`` in place of the call."""

    def on_class(self, *, cls: griffe.Class, **kwargs: Any) -> None:
        """Mend attributes; the parameters of ``__init__`` are made from them."""
        for attribute in cls.attributes.values():
            value = str(attribute.value or "")
            if value.startswith("parameter("):
                call = ast.parse(value, mode="eval").body
                assert isinstance(call, ast.Call)
                attribute.value = ast.unparse(call.args[0]) if call.args else None
