"""The address that shows what shapes a release of a service."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from fastapi import FastAPI, Response

from mondegreen.privatizer.privatizer import Privatizer
from mondegreen.serve.answers import answer
from mondegreen.settings import Settings, list_options

_PATHS: Final = ("space", "language")


def add_settings(app: FastAPI, privatizer: Privatizer) -> None:
    """Add ``/v1/settings``; it shows the name of a file and not where it lies."""
    schema = {**Settings.json_schema(), "required": list(list_options())}
    content = {"application/json": {"schema": schema}}
    responses: dict[int | str, dict[str, Any]] = {200: {"content": content}}

    @app.get("/v1/settings", response_class=Response, responses=responses)
    async def settings() -> Response:
        """Show the settings of every release, with all defaults filled in."""
        found = privatizer.settings.to_dict()
        named = {name: Path(found[name]).stem for name in _PATHS if found[name]}
        return answer({**found, **named})
