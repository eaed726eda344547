"""Run one script: ``python -m benchmarks NAME [options]``; without a name, list them.

measure/ writes results/*.json, pages/ makes pages and pictures of the documentation
from these, ship/ makes files that the package carries, peers/ runs other packages.
"""

from __future__ import annotations

import ast
import runpy
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
FOLDERS = ("measure", "pages", "ship", "peers")
# What other scripts start, in processes of their own.
WORKERS = {"growth_point", "speed_worker"}


def scripts() -> dict[str, Path]:
    """Every module that can be run, by its name, in the order of the folders."""
    return {
        path.stem: path
        for folder in FOLDERS
        for path in sorted((HERE / folder).rglob("*.py"), key=lambda path: path.stem)
        if path.stem not in WORKERS and 'if __name__ == "__main__":' in path.read_text()
    }


def summary(path: Path) -> str:
    """The first line of the docstring."""
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return text.partition("\n")[0]


def main() -> int:
    """Run the script that is named, or list what there is."""
    known = scripts()
    if len(sys.argv) < 2 or sys.argv[1] in ("-h", "--help"):
        for folder in FOLDERS:
            print(f"{folder}/")
            for name, path in known.items():
                if path.relative_to(HERE).parts[0] == folder:
                    print(f"  {name:24}{summary(path)}")
        return 0
    name = sys.argv.pop(1)
    if name not in known:
        print(f"no script {name!r}; see them by: python -m benchmarks", file=sys.stderr)
        return 2
    place = known[name].relative_to(HERE.parent).with_suffix("")
    runpy.run_module(".".join(place.parts), run_name="__main__", alter_sys=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
