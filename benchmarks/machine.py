"""What every result file says about the machine it comes from."""

from __future__ import annotations

import datetime
import importlib.metadata
import json
import os
import platform
from pathlib import Path

from mondegreen import __version__

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results"
SHARED = ROOT.parent / "shared" / "data"
LIBRARIES = ("numpy", "pyarrow", "faiss-cpu", "randomgen", "regex")


def describe() -> dict[str, object]:
    """Date, processor, cores and versions."""
    models = [
        line.partition(":")[2].strip()
        for line in Path("/proc/cpuinfo").read_text().splitlines()
        if line.startswith("model name")
    ]
    return {
        "date": datetime.date.today().isoformat(),
        "processor": models[0] if models else platform.processor(),
        "cores": os.cpu_count(),
        "load_at_start": os.getloadavg()[0],
        "python": platform.python_version(),
        "versions": {
            "mondegreen": __version__,  # also where it is not installed
            **{name: _find_version(name) for name in LIBRARIES},
        },
    }


def _find_version(name: str) -> str | None:
    """Find the version of a library; None where it is not installed."""
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def save(name: str, result: dict[str, object]) -> None:
    """Write one result file and print it."""
    RESULTS.mkdir(exist_ok=True)
    text = json.dumps({"machine": describe(), **result}, indent=2) + "\n"
    (RESULTS / f"{name}.json").write_text(text)
    print(text)
