"""MkDocs hook: the page to try mondegreen without installing it.

The page is one file, which ``clients/js/build.mjs`` makes of ``clients/js/page``.
It holds the client and a policy, and it makes no requests.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

__all__ = ["NAME", "PAGE", "on_files"]

PAGE = Path(__file__).resolve().parents[1] / "clients" / "js" / "page" / "index.html"
NAME = "try.html"


def on_files(files: Files, config: Any) -> Files:
    """Add the page to the site, byte for byte."""
    files.append(File.generated(config, NAME, abs_src_path=str(PAGE)))
    return files
