"""Measure what an installed environment weighs, and what commands need of it.

Installs this repository into a new environment, adds up the files of each library, and
runs commands in which one library cannot be imported, or one part of pyarrow is gone.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

from benchmarks import machine

LIBRARIES = ("pyarrow", "scipy", "faiss", "numpy", "rich", "jinja2")
"""Modules that a run does without, one at a time; some runs then fail."""

PARTS = {
    "headers and tests of pyarrow": ("include", "tests"),
    "pyarrow's Flight and Substrait": (
        "libarrow_flight.*", "libarrow_python_flight.*", "_flight.*",
        "libarrow_substrait.*", "_substrait.*",
    ),
}  # fmt: skip
"""Parts of pyarrow, removed one after the other: paths in its folder."""

EXAMPLES = machine.ROOT / "examples"
COMMANDS = {
    "privatize CSV": ["privatize", EXAMPLES / "reviews.csv", "-o", "out.csv"],
    "privatize Parquet": ["privatize", "in.parquet", "-o", "out.parquet"],
    "privatize --policy all": [
        "privatize", EXAMPLES / "reviews.csv", "-o", "all.csv", "--policy", "all",
    ],
    "attack": ["attack", EXAMPLES / "reviews.csv"],
}  # fmt: skip
_OPTIONS = ("-c", "review", "-e", "12")
_BLOCK = """
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == {name!r}:
            raise ModuleNotFoundError("left out", name=name)
sys.meta_path.insert(0, Absent())
"""


def mebibytes(paths: list[Path]) -> float:
    """The size of files, in MiB."""
    return round(sum(path.stat().st_size for path in paths) / (1 << 20), 1)


def weigh(site: Path) -> dict[str, float]:
    """The size of each folder and file of an environment, in MiB."""
    sizes: dict[str, float] = {}
    for path in site.iterdir():
        name = path.name.partition("-")[0].removesuffix(".libs").removesuffix(".py")
        files = (
            [path] if path.is_file() else [f for f in path.rglob("*") if f.is_file()]
        )
        sizes[name] = round(sizes.get(name, 0) + mebibytes(files), 1)
    return dict(sorted(sizes.items(), key=lambda item: -item[1]))


def works(python: Path, folder: Path, absent: str | None) -> dict[str, bool]:
    """Whether each command ends well where one module cannot be imported."""
    hooks = folder / "hooks"
    hooks.mkdir(exist_ok=True)
    block = "" if absent is None else _BLOCK.format(name=absent)
    (hooks / "sitecustomize.py").write_text(block)
    found = {}
    for name, arguments in COMMANDS.items():
        more = [] if name == "attack" else ["--force", "--quiet"]
        done = subprocess.run(
            [python, "-m", "mondegreen", *arguments, *_OPTIONS, *more],
            cwd=folder,
            env={"PYTHONPATH": str(hooks), "PATH": ""},
            capture_output=True,
            check=False,
        )
        found[name] = done.returncode == 0
    return found


def main() -> None:
    """Measure and write the result file."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        venv.create(folder / "v", with_pip=True)
        python = folder / "v" / "bin" / "python"
        install = [python, "-m", "pip", "install", "-q", "--no-compile", machine.ROOT]
        subprocess.run(install, check=True)
        site = next((folder / "v" / "lib").glob("python3*/site-packages"))
        uninstall = [python, "-m", "pip", "uninstall", "-q", "-y", "pip", "setuptools"]
        subprocess.run(uninstall, check=True, stderr=subprocess.DEVNULL)
        write = (
            "import pyarrow.csv as c, pyarrow.parquet as p, sys;"
            "p.write_table(c.read_csv(sys.argv[1]), 'in.parquet')"
        )
        example = EXAMPLES / "reviews.csv"
        subprocess.run([python, "-c", write, example], cwd=folder, check=True)
        sizes = weigh(site)
        runs = {"nothing left out": works(python, folder, None)}
        assert all(runs["nothing left out"].values()), runs
        for library in LIBRARIES:
            runs[library] = works(python, folder, library)
            print(library, runs[library], file=sys.stderr, flush=True)
        removed = {}
        for part, patterns in PARTS.items():
            found = [f for each in patterns for f in (site / "pyarrow").glob(each)]
            files = [f for p in found for f in (p.rglob("*") if p.is_dir() else [p])]
            removed[part] = mebibytes([f for f in files if f.is_file()])
            for path in found:
                shutil.rmtree(path) if path.is_dir() else path.unlink()
            runs[part] = works(python, folder, None)
            print(part, removed[part], runs[part], file=sys.stderr, flush=True)
    result = {
        "total_mib": round(sum(sizes.values()), 1),
        "mib": {name: size for name, size in sizes.items() if size >= 1},
        "parts_mib": removed,
        "works_without": runs,
    }
    machine.save("environment", json.loads(json.dumps(result)))


if __name__ == "__main__":
    main()
