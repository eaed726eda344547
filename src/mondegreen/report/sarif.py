"""SARIF 2.1.0: what attacks found, as code hosts and editors read it; no text.

References
----------
OASIS. "Static Analysis Results Interchange Format (SARIF) Version 2.1.0." 2020.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import quote

from mondegreen import __version__
from mondegreen.io.guess import Format
from mondegreen.io.target import Target

if TYPE_CHECKING:
    from mondegreen.attacks.attack import Attack

_SCHEMA: Final = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/"
    "sarif-schema-2.1.0.json"
)
_FIRST_LINES: Final[Mapping[Format, int]] = {
    "csv": 2, "tsv": 2, "jsonl": 1, "txt": 1,
}  # fmt: skip
"""The line of the first row. A value with a line break moves all rows behind it."""


class Finding(NamedTuple):
    """A place of a release that an attack is about; rows and words count from 1.

    A finding about a whole row has no word.
    """

    attack: str
    message: str
    row: int
    word: int | None
    kind: str


def write_sarif(
    path: str,
    attacks: Mapping[str, Attack],
    findings: Iterable[Finding],
    limits: Mapping[str, float],
    *,
    names: Mapping[str, str],
    release: str,
    format: Format | None,
    force: bool = False,
) -> None:
    """Write attacks as one SARIF file, whole or not at all.

    Parameters
    ----------
    path : str
    attacks : mapping of str to Attack
        Each becomes a rule.
    findings : iterable of Finding
        Each becomes a warning at its row.
    limits : mapping of str to float
        Each attack above its limit becomes an error.
    names : mapping of str to str
        How each attack is called.
    release : str
        Path of the release, which results point to.
    format : str or None
        Of the release: it tells on which line a row is.
    force : bool
        Whether a file that exists is replaced.
    """
    uri = quote(Path(release).as_posix())
    rules = [
        {
            "id": name,
            "shortDescription": {"text": names[name]},
            "fullDescription": {"text": f"The attacker {each.adversary}."},
        }
        for name, each in attacks.items()
    ]
    index = {name: place for place, name in enumerate(attacks)}
    results = [_error(name, attacks[name], limits[name], uri) for name in limits]
    made = [result for result in results if result is not None]
    made += [_warning(each, uri, format) for each in findings]
    for result in made:
        result["ruleIndex"] = index[result["ruleId"]]
    driver = {"name": "mondegreen", "version": __version__, "rules": rules}
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints"}
    log = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [{**run, "results": made}]}
    data = json.dumps(log, indent=2, ensure_ascii=False) + "\n"
    Target(path, force=force).write_whole(data.encode())


def _error(name: str, attack: Attack, limit: float, uri: str) -> dict[str, Any] | None:
    """Describe an attack that may reach more than its limit."""
    reached = attack.say_excess(limit)
    if reached is None:
        return None
    said = f"{name} {reached}; the limit is {limit:g}."
    return _result(name, "error", said, {"artifactLocation": {"uri": uri}})


def _warning(finding: Finding, uri: str, format: Format | None) -> dict[str, Any]:
    place: dict[str, Any] = {"artifactLocation": {"uri": uri}}
    first = None if format is None else _FIRST_LINES.get(format)
    if first is not None:
        place["region"] = {"startLine": first + finding.row - 1}
    result = _result(finding.attack, "warning", finding.message, place)
    told = {"row": finding.row, "word": finding.word, "kind": finding.kind}
    known = {name: value for name, value in told.items() if value is not None}
    return {**result, "properties": known}


def _result(
    rule: str, level: str, message: str, place: Mapping[str, Any]
) -> dict[str, Any]:
    return {
        "ruleId": rule,
        "level": level,
        "message": {"text": message},
        "locations": [{"physicalLocation": place}],
    }
