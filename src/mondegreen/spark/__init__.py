"""Apache Spark: privatize columns of data frames; ``python -m mondegreen.spark``."""

from mondegreen.errors import OptionalDependencyError

try:
    from mondegreen.integrations.spark import foreach_batch, privatize
    from mondegreen.integrations.spark_promises import (
        guarantees,
        report,
        set_table_properties,
        table_properties,
        write_report,
    )
except ModuleNotFoundError as error:
    raise OptionalDependencyError.from_import(error) or error from None

__all__ = [
    "foreach_batch",
    "guarantees",
    "privatize",
    "report",
    "set_table_properties",
    "table_properties",
    "write_report",
]
