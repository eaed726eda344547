"""The guarantees that travel with a file: one for each pass over each column.

A later pass over another column promises nothing about the first, and noise that
somebody can repeat stays repeatable. So the list only ever grows, and a file has the
least protection of its passes.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, final

from mondegreen.guarantee import Guarantee
from mondegreen.protection import Protection, worst
from mondegreen.wording import amount

METADATA_KEY: Final = "mondegreen"
"""Under which name Parquet files and Arrow schemas carry the list."""

_PANDAS: Final = b"PANDAS_ATTRS"
"""Where Parquet files carry the ``attrs`` of a data frame, as a JSON object."""

_LONGEST: Final = 1 << 20  # characters that are read: some thousand passes


@final
@dataclass(frozen=True, slots=True)
class RunLoss:
    """The largest losses of one run, in nats. Those of several runs add up.

    A run over several columns has one loss, which each of its passes repeats.
    """

    columns: tuple[str, ...]  # all that the run privatized
    per_row: float
    per_id: float | None = None  # None without ids, or where the release lacks them
    id_column: str | None = None

    def to_dict(self) -> dict[str, Any]:
        return {
            "columns": list(self.columns),
            "per_row": self.per_row,
            "per_id": self.per_id,
            "id_column": self.id_column,
        }

    @classmethod
    def from_dict(cls, stated: object) -> RunLoss | None:
        """Read what :meth:`to_dict` wrote; what is anything else is not known.

        >>> RunLoss.from_dict({"columns": ["text"], "per_row": 24.0}).per_row
        24.0
        >>> RunLoss.from_dict({"columns": ["text"], "per_row": -1.0}) is None
        True
        """
        try:
            columns, row = stated["columns"], stated["per_row"]  # type: ignore[index]
            per_id, id_column = stated.get("per_id"), stated.get("id_column")  # type: ignore[attr-defined]
        except (KeyError, TypeError, AttributeError):
            return None
        if not isinstance(columns, list) or not _is_loss(row):
            return None
        if not columns or not all(isinstance(each, str) for each in columns):
            return None
        if not _is_loss(per_id) or not isinstance(id_column, str):
            per_id = id_column = None
        return cls(tuple(columns), row, per_id, id_column)


def _is_loss(value: object) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and math.isfinite(value) and value >= 0  # type: ignore[arg-type, operator]


def add_losses(passes: Sequence[Pass]) -> RunLoss | None:
    """Add the losses of all runs; None if one stated no loss, or promised nothing.

    The sum is at least what all runs together lose. The sum per id is None if the
    runs did not count by the same column.
    """
    runs = list(_list_runs(passes))
    if any(run is None for run in runs) or any(each.is_void for each in passes):
        return None
    known = [run for run in runs if run is not None]
    ids = {run.id_column for run in known}
    per_ids = [run.per_id for run in known if run.per_id is not None]
    has_ids = len(ids) == 1 and None not in ids and len(per_ids) == len(known)
    return RunLoss(
        tuple(dict.fromkeys(name for run in known for name in run.columns)),
        math.fsum(run.per_row for run in known),
        math.fsum(per_ids) if has_ids else None,
        ids.pop() if has_ids else None,
    )


def _list_runs(passes: Sequence[Pass]) -> Iterator[RunLoss | None]:
    """Find the loss of each run: the passes of one run follow each other."""
    last: RunLoss | None = None
    open_columns: set[str | None] = set()
    for each in passes:
        if each.loss is None or each.loss != last or each.column not in open_columns:
            last = each.loss
            open_columns = set() if last is None else set(last.columns)
            yield last
        open_columns.discard(each.column)


@final
@dataclass(frozen=True, slots=True)
class Pass:
    """One run over one column."""

    column: str | None  # None where an old file does not say
    guarantee: Guarantee | None  # None where what the file says cannot be read
    loss: RunLoss | None = None  # of the run; None where it is not known
    missing_rows: int | None = None  # records that the run copied; None if it cannot

    @property
    def noise_is_secret(self) -> bool:
        return self.guarantee is not None and self.guarantee.noise_is_secret

    @property
    def protection(self) -> Protection:
        return "none" if self.guarantee is None else self.guarantee.protection

    @property
    def is_void(self) -> bool:
        """True where nothing is promised, as far as can be read."""
        return self.guarantee is None or self.guarantee.is_void

    def to_dict(self) -> dict[str, Any]:
        stated = None if self.guarantee is None else self.guarantee.to_dict()
        made: dict[str, Any] = {
            "column": self.column,
            "noise_is_secret": self.noise_is_secret,
            "protection": self.protection,
            "guarantee": stated,
        }
        if self.loss is not None:
            made["loss"] = self.loss.to_dict()
        if self.missing_rows is not None:
            made["records_without_a_column"] = self.missing_rows
        return made

    def __str__(self) -> str:
        where = "an unnamed column" if self.column is None else f"column {self.column}"
        if self.guarantee is None:
            return f"{where}: a guarantee that cannot be read, so NOT PRIVATE"
        shown = f"{where}: {self.guarantee.setting}"
        if self.guarantee.conditions:
            shown += f", for words that {', and '.join(self.guarantee.conditions)}"
        if self.loss is not None:
            shown += f"; at most {self.loss.per_row:,.6g} nats per row"
        if self.missing_rows:
            shown += f"; {amount(self.missing_rows, 'record')} without a column"
        if why := self.guarantee.reason_not_private:
            shown += f"; NOT PRIVATE: {why}"
        return _on_one_line(shown)


def build_report(passes: Sequence[Pass], version: str) -> dict[str, Any]:
    """Make the report of passes: the least that all keep, and the last guarantee."""
    made = [each.to_dict() for each in passes]
    return {
        "format": "mondegreen-report/2",
        "mondegreen": version,
        "noise_is_secret": all(each.noise_is_secret for each in passes),
        "protection": worst(each.protection for each in passes),
        "guarantee": made[-1]["guarantee"],
        "passes": made,
    }


def to_json(passes: Sequence[Pass]) -> str:
    """Write one line of JSON: the list that a file carries."""
    return json.dumps([each.to_dict() for each in passes], ensure_ascii=False)


def from_json(text: str | bytes | None) -> list[Pass]:
    """Read what :func:`to_json` wrote, or the one guarantee of an old release.

    What can be read as neither counts as a pass without protection; none is dropped.
    """
    if text is None:
        return []
    try:
        found = json.loads(text) if len(text) <= _LONGEST else None
    except (ValueError, RecursionError):
        found = None
    if isinstance(found, dict):  # releases of before there was a list
        found = [{"column": None, "guarantee": found}]
    if not isinstance(found, list) or not found:
        return [Pass(None, None)]
    return [_pass(entry) for entry in found]


def find_stated(metadata: Mapping[bytes, bytes] | None) -> str | bytes | None:
    """Find what metadata says of passes, also where a frame of pandas was written.

    Give it to :func:`from_json`.
    """
    found, key = metadata or {}, METADATA_KEY.encode()
    if key in found:
        return found[key]
    stated = _attrs(found).get(METADATA_KEY)
    return stated if isinstance(stated, str | None) else ""


def for_pandas(stated: str, metadata: Mapping[bytes, bytes] | None) -> dict[str, str]:
    """Make the metadata from which pandas reads ``attrs``, with what is stated."""
    attrs = {**_attrs(metadata or {}), METADATA_KEY: stated}
    return {_PANDAS.decode(): json.dumps(attrs, ensure_ascii=False)}


def _attrs(metadata: Mapping[bytes, bytes]) -> dict[str, Any]:
    """Read the ``attrs`` that pandas or Arrow has written; {} where there are none."""
    written = metadata.get(_PANDAS)
    try:
        if written is None:
            found = json.loads(metadata.get(b"pandas", b"{}")).get("attributes", {})
        else:
            found = json.loads(written)
        return dict(found)
    except (ValueError, TypeError, AttributeError, RecursionError):
        return {METADATA_KEY: ""} if METADATA_KEY.encode() in (written or b"") else {}


def _on_one_line(text: str) -> str:
    """Escape what could move the cursor: this text comes from a file."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def _pass(entry: object) -> Pass:
    try:
        column, stated = entry["column"], entry["guarantee"]  # type: ignore[index]
        if column is None or isinstance(column, str):
            loss = RunLoss.from_dict(entry.get("loss"))  # type: ignore[attr-defined]
            return Pass(column, Guarantee.from_dict(stated), loss, _count(entry))
    except (KeyError, TypeError, ValueError, AttributeError):
        pass
    return Pass(None, None)


def _count(entry: object) -> int | None:
    found = entry.get("records_without_a_column")  # type: ignore[attr-defined]
    is_count = isinstance(found, int) and not isinstance(found, bool) and found >= 0
    return found if is_count else None
