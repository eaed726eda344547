"""Draw the house on one page: its rooms, floor by floor, and what each may use.

Writes the figure of CONTRIBUTING.md from the files and imports of the package, and
``--check`` fails where the page shows something else. A room is a folder; it stands
above all that it imports.
"""

from __future__ import annotations

import ast
import functools
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

REPOSITORY = Path(__file__).parents[1]
PACKAGE = REPOSITORY / "src" / "mondegreen"
PAGE = REPOSITORY / "CONTRIBUTING.md"
BEGIN, END = "<!-- the house -->\n", "<!-- end of the house -->"
WIDTH = 96


@functools.cache
def modules() -> dict[str, Path]:
    """Every module of the package by its dotted name."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        found[name] = path
    return found


def imports(path: Path, known: dict[str, Path]) -> Iterator[str]:
    """Modules of the package that a file imports, anywhere in it."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                if (name := full if full in known else node.module) in known:
                    yield name
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)


def graph() -> dict[str, set[str]]:
    """Which module imports which; the face of the package is left out."""
    known = modules()
    others = ("__main__", "frames", "spark", "vectors")  # names for what is elsewhere
    faces = {"mondegreen", *(f"mondegreen.{name}" for name in others)}
    return {
        name: set(imports(path, known)) - faces - {name}
        for name, path in known.items()
        if name not in faces
    }


def circles(edges: dict[str, set[str]]) -> list[set[str]]:
    """Sets of modules that import each other, directly or through others."""
    reached = {name: set(others) for name, others in edges.items()}
    for middle in edges:
        for others in reached.values():
            if middle in others:
                others |= reached[middle]
    inside = {name for name, others in reached.items() if name in others}
    found = []
    while inside:
        name = min(inside)
        group = {n for n in inside if n in reached[name] and name in reached[n]}
        found.append(group)
        inside -= group
    return found


def room_of(name: str) -> str:
    """The folder right under the package that holds a module, or the package itself."""
    is_file = modules()[name].parent == PACKAGE
    return "mondegreen" if is_file else name.split(".")[1]


def rooms(edges: dict[str, set[str]]) -> dict[str, set[str]]:
    """Which room imports from which."""
    found: dict[str, set[str]] = {}
    for name, others in edges.items():
        own = room_of(name)
        found.setdefault(own, set()).update(room_of(other) for other in others)
    return {own: others - {own} for own, others in found.items()}


def floors(edges: dict[str, set[str]]) -> list[list[str]]:
    """Rooms from the ground up: each stands above all that it imports."""
    left, found = dict(edges), []
    while left:
        free = sorted(room for room, others in left.items() if not others & set(left))
        if not free:
            raise SystemExit(f"rooms import each other: {sorted(left)}")
        found.append(free)
        left = {room: others for room, others in left.items() if room not in free}
    return found


def lines(path: Path) -> int:
    """How many lines a file has."""
    return path.read_text("utf-8").count("\n")


def describe(room: str, below: set[str]) -> Iterator[str]:
    """A room: what it is about, its files, and what it uses."""
    folder = PACKAGE if room == "mondegreen" else PACKAGE / room
    files = sorted(folder.glob("*.py") if folder == PACKAGE else folder.rglob("*.py"))
    about = ast.get_docstring(ast.parse((folder / "__init__.py").read_text("utf-8")))
    if folder == PACKAGE:
        about = "What every room may use: errors, guarantees, files, wording."
    yield f"{room.upper()}  {len(files)} files"
    yield from textwrap.wrap((about or "").split("\n")[0], WIDTH - 4)
    for place in sorted({path.parent for path in files}):
        names = [p.stem for p in files if p.parent == place and p.stem[:2] != "__"]
        head = "" if place == folder else f"{place.name}/ "
        if names:
            yield from textwrap.wrap(
                head + " · ".join(names), WIDTH - 4, subsequent_indent="  "
            )
    if below:
        yield f"uses {', '.join(sorted(below - {'mondegreen'})) or 'only the ground'}"


def figure() -> str:
    """The whole house, top floor first."""
    by_room = rooms(graph())
    drawn = ["```text"]
    for height, floor in reversed(list(enumerate(floors(by_room)))):
        drawn.append(f"floor {height} ".ljust(WIDTH, "─"))
        for room in floor:
            head, *rest = describe(room, by_room[room])
            drawn += [f"  {head}", *(f"    {line}" for line in rest)]
    return "\n".join([*drawn, "```", ""])


def main() -> None:
    page = PAGE.read_text("utf-8")
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    made = before + BEGIN + figure() + END + after
    if "--check" in sys.argv:
        if made != page:
            raise SystemExit("CONTRIBUTING.md is stale: run docs/generate_house.py")
    else:
        PAGE.write_text(made, "utf-8")


if __name__ == "__main__":
    main()
