"""The other packages: how to install them, and the files that they read."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from mondegreen_experiments.scoreboard.peer_files import (
    DIFFRACTOR_MODEL,
    make_diffractor_home,
    make_nltk_data,
    write_vectors,
)

__all__ = [
    "DIFFRACTOR_MODEL",
    "ENVIRONMENTS",
    "install",
    "make_diffractor_home",
    "make_nltk_data",
    "write_vectors",
]

ENVIRONMENTS: Final = {
    "mldp-text": ("0.1.2", [["numpy==1.26.4", "mldp-text==0.1.2", "faiss-cpu"]]),
    "pypantera": (
        "1.0.2",
        [
            ["--no-deps", "pypantera==1.0.2"],
            ["numpy==1.26.4", "pandas", "scipy", "scikit-learn", "tqdm"],
        ],
    ),
    "dp-diffractor": ("0.2.1", [["dp-diffractor==0.2.1"]]),
}
"""Package: its version, and the arguments of ``pip install``, call by call."""


def install(
    envs: Path, packages: Sequence[str] = tuple(ENVIRONMENTS)
) -> tuple[dict[str, str], dict[str, str]]:
    """Make an environment for each package; return interpreters, and what failed."""
    pythons, problems = {}, {}
    for package in packages:
        version, steps = ENVIRONMENTS[package]
        folder = envs / package
        python = folder / "bin" / "python"
        try:
            if not python.exists():
                subprocess.run([sys.executable, "-m", "venv", folder], check=True)
                for step in steps:
                    command = [python, "-m", "pip", "install", "--quiet", *step]
                    subprocess.run(command, check=True)
            pythons[package] = str(python)
        except subprocess.CalledProcessError as error:
            problems[package] = f"{package} {version} could not be installed: {error}"
    return pythons, problems
