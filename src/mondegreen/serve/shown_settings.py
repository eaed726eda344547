"""The address that shows what shapes a release of a service."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from fastapi import FastAPI, Response

from mondegreen.privatizer.privatizer import Privatizer
from mondegreen.serve.answers import answer
from mondegreen.settings import Settings, list_options

_PATHS: Final = ("space", "language")
_DETECTOR: Final = {
    "type": "string",
    "description": "Name and version of the detector that reads each text first. "
    "Absent without a detector.",
}


def add_settings(app: FastAPI, privatizer: Privatizer) -> None:
    """Add ``/v1/settings``; it shows the name of a file and not where it lies."""
    known = Settings.json_schema()
    properties = {**known["properties"], "detector": _DETECTOR}
    schema = {**known, "properties": properties, "required": list(list_options())}
    content = {"application/json": {"schema": schema}}
    responses: dict[int | str, dict[str, Any]] = {200: {"content": content}}

    @app.get("/v1/settings", response_class=Response, responses=responses)
    async def settings() -> Response:
        """Show the settings of every release, with all defaults filled in."""
        found = privatizer.settings.to_dict()
        named = {name: Path(found[name]).stem for name in _PATHS if found[name]}
        if privatizer.detector is not None:  # else these are settings, and build one
            named["detector"] = privatizer.detector
        return answer({**found, **named})
