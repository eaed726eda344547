"""What each setting prints under a key, on the default space; one release per door.

``python tests/vectors/doors.py`` writes ``doors.json`` beside it. As those of
``keyed.py``, these vectors change only where a release changes its meaning on purpose.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

import doors

FILE = Path(__file__).with_suffix(".json")
TEXT = "I met Ann in Oslo; didn't I? Zyxwq saw 4711, and the damn storm took the ROOF."
TREE = {"mechanism": "tree", "epsilon": 10.0}
DRAWN = {**TREE, "read": "none"}
SETTINGS = (
    DRAWN,
    {**DRAWN, "unknown": "mask", "keep": ["Oslo"], "case": "restore"},
    {**DRAWN, "case": "truecase", "structure": "plain"},
    {**DRAWN, "epsilon": 2.0, "unknown": "drop", "print_all": True},
    {**DRAWN, "parameters": {"losses": [0.5, 1.0, 1.5, 2.5]}},
    {**DRAWN, "mechanism": "brr", "epsilon": 0.25},
    {**TREE, "read": "words", "case": "lower"},
    {**TREE, "read": "sentence", "case": "truecase", "structure": "plain"},
)


def vectors() -> list[dict]:
    """Return each setting with its digest and releases."""
    folder = Path()
    return [
        {
            "settings": settings,
            "scope": doors.made(settings)._scope("text").hex(),
            "release": doors.privatizer(settings, TEXT, folder),
            "guarded": doors.guard(settings, TEXT, folder),
        }
        for settings in SETTINGS
    ]


if __name__ == "__main__":
    found = {"text": TEXT, "releases": vectors()}
    text = json.dumps(found, indent=1, ensure_ascii=False) + "\n"
    FILE.write_text(text, "utf-8")
