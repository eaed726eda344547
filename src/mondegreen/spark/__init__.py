"""Apache Spark: privatize columns of data frames; ``python -m mondegreen.spark``."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from mondegreen.errors import OptionalDependencyError

if TYPE_CHECKING:
    from mondegreen.integrations.spark.promises import (
        guarantees,
        report,
        set_table_properties,
        table_properties,
        write_report,
    )
    from mondegreen.integrations.spark.release import foreach_batch, privatize

__all__ = [
    "foreach_batch",
    "guarantees",
    "privatize",
    "report",
    "set_table_properties",
    "table_properties",
    "write_report",
]


def __getattr__(name: str) -> Any:
    """Load Spark when a name is first used, so that its absence can be told."""
    if name not in __all__:
        raise AttributeError(f"module 'mondegreen.spark' has no attribute {name!r}")
    home = "release" if name in ("foreach_batch", "privatize") else "promises"
    try:
        module = import_module(f"mondegreen.integrations.spark.{home}")
    except ModuleNotFoundError as error:
        raise OptionalDependencyError.from_import(error) or error from None
    return getattr(module, name)
