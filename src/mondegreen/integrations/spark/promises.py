"""What a Spark frame promises: in its columns, in its table, and beside its files."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from pyspark.sql.types import ArrayType, MapType, StructField, StructType

from mondegreen.errors import ConfigurationError, DataError
from mondegreen.passes import METADATA_KEY, Pass, build_report, from_json, to_json

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

REPORT_FOLDER: Final = "_mondegreen"
"""Beside the data; readers of tables pass over names that begin with ``_``."""

_COMMENT: Final = 255  # characters that every metastore has room for

# Spark answers "(redacted)" for a property whose value holds one of these.
_HIDDEN: Final = re.compile(
    r"(\\.)|(secret|password|token|credential|access[.]?key|url)", re.IGNORECASE
)


def guarantees(df: DataFrame) -> list[dict[str, Any]]:
    """List what is promised for the columns of a frame: one entry for each pass.

    It is in the metadata of the columns, which Spark keeps in tables and in Parquet
    files; a column that is computed from others has none.
    """
    return [each.to_dict() for each in _passes(df)]


def table_properties(df: DataFrame) -> dict[str, str]:
    """The guarantees of a frame as a table property, to be set where it is created.

    Examples
    --------
    ::

        writer = private.writeTo("private.reviews")
        for name, value in table_properties(private).items():
            writer = writer.tableProperty(name, value)
        writer.create()
    """
    return {METADATA_KEY: _format_value(_passes(df))}


def set_table_properties(table: str, df: DataFrame) -> None:
    """Add the guarantees of a frame to the properties of a table that holds its rows.

    Passes that the table states are extended, never replaced; rows that were appended
    after the same passes add nothing.

    Raises
    ------
    DataError
        If the table does not state them afterwards.
    """
    stated = from_json(_property(table, df))
    wanted = Counter(map(_as_json, _passes(df))) - Counter(map(_as_json, stated))
    passes = [*stated, *(from_json(f"[{each}]")[0] for each in wanted.elements())]
    value = _format_value(passes)
    literal = value.replace("\\", "\\\\").replace("'", "\\'")
    how = f"SET TBLPROPERTIES ('{METADATA_KEY}' = '{literal}')"
    df.sparkSession.sql(f"ALTER TABLE {table} {how}")
    if _property(table, df) != value:
        raise DataError(f"table {table} did not store the properties")


def report(df: DataFrame) -> dict[str, Any]:
    """The guarantees of a frame, as ``mondegreen privatize --report`` writes them."""
    from mondegreen import __version__

    passes = _passes(df)
    if not passes:
        raise ConfigurationError("this frame states no guarantee: privatize it first")
    return build_report(passes, __version__)


def write_report(df: DataFrame, path: str) -> None:
    """Write the guarantees of a frame beside its files, as JSON.

    They become the one file of the folder ``_mondegreen`` in the folder ``path``, by
    Spark, so that it works on every storage. Readers of tables pass over that folder.
    """
    text = json.dumps(report(df), ensure_ascii=False)
    lines = df.sparkSession.createDataFrame([(text,)], "value string").coalesce(1)
    folder = f"{path.rstrip('/')}/{REPORT_FOLDER}"
    lines.write.mode("overwrite").text(folder)


def _passes(df: DataFrame) -> list[Pass]:
    found = [field.metadata.get(METADATA_KEY) for field in df.schema]
    return [each for stated in found for each in from_json(stated)]


def _property(table: str, df: DataFrame) -> str | None:
    """Read what a table states, or stop: what is hidden cannot be extended."""
    rows = df.sparkSession.sql(f"SHOW TBLPROPERTIES {table}").collect()
    value: str | None = {row.key: row.value for row in rows}.get(METADATA_KEY)
    if value is not None and "(redacted)" in value:
        raise DataError(
            f"Spark hides the property {METADATA_KEY} of table {table}: see "
            "spark.sql.redaction.options.regex"
        )
    return value


def _format_value(passes: Sequence[Pass]) -> str:
    """Write the same JSON, without words for which Spark would hide it."""

    def shown(found: re.Match[str]) -> str:
        text = found[0]
        return text if found[1] else f"\\u{ord(text[0]):04x}{text[1:]}"

    return _HIDDEN.sub(shown, to_json(passes))


def _as_json(one: Pass) -> str:
    return json.dumps(one.to_dict(), sort_keys=True)


def describe_field(field: StructField, made: Sequence[Pass]) -> StructField:
    """Describe a column of the result.

    Metadata may hold text, as the labels of an index do, and goes; but for the comment
    of a column that passes unchanged, and for what was promised before.
    """
    given = field.metadata or {}
    passes = [*from_json(given.get(METADATA_KEY)), *made]
    kept = {"comment": given["comment"]} if "comment" in given else {}
    if passes:
        kept = {"comment": _comment(passes), METADATA_KEY: to_json(passes)}
    return StructField(field.name, _bare(field.dataType), field.nullable, kept)


def _bare(kind: Any) -> Any:
    """Make the type without the metadata of fields inside."""
    if isinstance(kind, StructType):
        return StructType(
            [StructField(f.name, _bare(f.dataType), f.nullable) for f in kind]
        )
    if isinstance(kind, ArrayType):
        return ArrayType(_bare(kind.elementType), kind.containsNull)
    if isinstance(kind, MapType):
        key, value = _bare(kind.keyType), _bare(kind.valueType)
        return MapType(key, value, kind.valueContainsNull)
    return kind


def _comment(passes: Sequence[Pass]) -> str:
    head = "NOT PRIVATE. " if any(each.is_void for each in passes) else ""
    text = f"{head}Privatized by mondegreen: {'; '.join(map(str, passes))}"
    return text if len(text) <= _COMMENT else f"{text[: _COMMENT - 3]}..."
