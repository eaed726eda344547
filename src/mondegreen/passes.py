"""The guarantees that travel with a file: one for each pass over each column.

A later pass over another column promises nothing about the first, and noise that
somebody can repeat stays repeatable. So the list only ever grows, and a file has the
least protection of its passes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, final

from mondegreen.guarantee import Guarantee
from mondegreen.protection import Protection, worst

METADATA_KEY: Final = "mondegreen"
"""Under which name Parquet files and Arrow schemas carry the list."""

_PANDAS: Final = b"PANDAS_ATTRS"
"""Where Parquet files carry the ``attrs`` of a data frame, as a JSON object."""

_LONGEST: Final = 1 << 20  # characters that are read: some thousand passes


@final
@dataclass(frozen=True, slots=True)
class Pass:
    """One run over one column."""

    column: str | None  # None where an old file does not say
    guarantee: Guarantee | None  # None where what the file says cannot be read

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
        return {
            "column": self.column,
            "noise_is_secret": self.noise_is_secret,
            "protection": self.protection,
            "guarantee": stated,
        }

    def __str__(self) -> str:
        where = "an unnamed column" if self.column is None else f"column {self.column}"
        if self.guarantee is None:
            return f"{where}: a guarantee that cannot be read, so NOT PRIVATE"
        shown = f"{where}: {self.guarantee.setting}"
        if self.guarantee.conditions:
            shown += f", for words that {', and '.join(self.guarantee.conditions)}"
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
            return Pass(column, Guarantee.from_dict(stated))
    except (KeyError, TypeError, ValueError, AttributeError):
        pass
    return Pass(None, None)
