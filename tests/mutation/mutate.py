"""Change a room of the package at random, and print the changes that its tests miss.

    python tests/mutation/mutate.py decode                  # tests/decode
    python tests/mutation/mutate.py calibration/evaluate.py --count 40 --seed 7
    python tests/mutation/mutate.py privatizer --tests tests/test_privatizer.py

Each mutant is one small change to one file: another comparison, a dropped statement, a
number plus one. Tests run on a copy of the sources: the working tree is not touched.
A survivor is a missing test, or a change that changes nothing.
"""

from __future__ import annotations

import argparse
import ast
import functools
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DEFAULT_RUN = "not slow and not long and not alone"

COMPARISONS = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
ARITHMETIC = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
LOGIC = {ast.And: ast.Or, ast.Or: ast.And}
CALLS = {"min": "max", "any": "all", "floor": "ceil", "maximum": "minimum"}
CALLS |= {new: old for old, new in CALLS.items()}
STATEMENTS = {ast.Break: ast.Continue, ast.Continue: ast.Break}
DROPPED = (ast.Raise, ast.AugAssign, ast.Expr)

Change = tuple[ast.AST, Callable[[], None]]
"""The node to show, and what changes it in place."""


@dataclass(frozen=True)
class Mutant:
    """One change to one file."""

    path: Path
    line: int
    before: str
    after: str
    source: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.before}  ->  {self.after}"


def code_of(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes that run: no annotations, and no imports for type checkers."""
    yield tree
    for name, value in ast.iter_fields(tree):
        for child in value if isinstance(value, list) else [value]:
            is_for_types = isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(
                child.test
            )
            is_code = isinstance(child, ast.AST) and not is_for_types
            if is_code and name not in ("annotation", "returns"):
                yield from code_of(child)


def changes(node: ast.AST) -> Iterator[Change]:
    """Yield what can be changed at one node."""
    yield from operators(node)
    yield from values(node)
    yield from statements(node)


def operators(node: ast.AST) -> Iterator[Change]:
    """Replace a comparison, a sum, an ``and``, or a call by its counterpart."""
    if isinstance(node, ast.Compare):
        for place, each in enumerate(node.ops):
            new = COMPARISONS[type(each)]()
            yield node, lambda p=place, n=new: node.ops.__setitem__(p, n)
    if isinstance(node, ast.BinOp | ast.AugAssign) and type(node.op) in ARITHMETIC:
        yield node, lambda: setattr(node, "op", ARITHMETIC[type(node.op)]())
    if isinstance(node, ast.BoolOp):
        yield node, lambda: setattr(node, "op", LOGIC[type(node.op)]())
    if isinstance(node, ast.Call):
        called, name = node.func, {ast.Name: "id", ast.Attribute: "attr"}
        field = name.get(type(called))
        if field and getattr(called, field) in CALLS:
            yield node, lambda: setattr(called, field, CALLS[getattr(called, field)])


def values(node: ast.AST) -> Iterator[Change]:
    """Change a number or a truth, or negate a condition."""
    if isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield node, lambda: setattr(node, "value", not node.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        yield node, lambda: setattr(node, "value", node.value + 1)
    if isinstance(node, ast.If | ast.IfExp | ast.While):
        negated = ast.UnaryOp(ast.Not(), node.test)
        yield node.test, lambda: setattr(node, "test", negated)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield node, lambda: setattr(node, "operand", ast.UnaryOp(node.op, node.operand))


def statements(node: ast.AST) -> Iterator[Change]:
    """Drop a statement, or leave a loop where it goes on."""
    for field in ("body", "orelse", "finalbody"):
        block = getattr(node, field, None)
        for place, each in enumerate(block if isinstance(block, list) else []):
            new: ast.stmt | None = None
            is_text = isinstance(each, ast.Expr) and isinstance(
                each.value, ast.Constant
            )
            if isinstance(each, DROPPED) and not is_text:
                new = ast.Pass()
            elif type(each) in STATEMENTS:
                new = STATEMENTS[type(each)]()
            if new is not None:
                yield each, lambda b=block, p=place, n=new: b.__setitem__(p, n)


def mutants(path: Path) -> Iterator[Mutant]:
    """Yield every mutant of a file, in the order of its code."""
    source = path.read_text("utf-8")
    places = [
        (number, which)
        for number, node in enumerate(code_of(ast.parse(source)))
        for which, _ in enumerate(changes(node))
    ]
    seen: set[str] = set()
    for number, which in places:
        tree = ast.parse(source)
        node = list(code_of(tree))[number]
        shown, change = list(changes(node))[which]
        line = getattr(shown, "lineno", 1)
        before, had = first_line(shown), ast.unparse(tree)
        seen.add(had)
        change()
        ast.fix_missing_locations(tree)
        after = ast.unparse(tree)
        if after not in seen:
            seen.add(after)
            yield Mutant(path, line, before, changed_line(had, after), after)


def first_line(node: ast.AST) -> str:
    return ast.unparse(node).partition("\n")[0]


def changed_line(before: str, after: str) -> str:
    """The first line that differs."""
    pairs = zip(before.split("\n"), after.split("\n"), strict=False)
    return next((new.strip() for old, new in pairs if old != new), "")


def chosen(files: list[Path], count: int, seed: int) -> list[Mutant]:
    """Choose mutants of some files by a seed; every file is as likely as it is long."""
    found = [mutant for path in files for mutant in mutants(path)]
    rng = random.Random(seed)
    return rng.sample(found, min(count, len(found)))


def survivors(
    package: Path,
    room: str,
    tests: list[str],
    count: int,
    seed: int,
    tell: Callable[[str], None],
) -> list[Mutant]:
    """Run tests on mutants of a room; return those that no test rejects."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / package.name
        skip = shutil.ignore_patterns("__pycache__")
        shutil.copytree(package, copy, ignore=skip)
        place = copy / room
        files = sorted(place.rglob("*.py")) if place.is_dir() else [place]
        picked = chosen(files, count, seed)
        began = time.monotonic()
        if not passes(tests, Path(folder), timeout=None):
            raise SystemExit("the tests fail on the sources as they are")
        limit = 30 + 5 * (time.monotonic() - began)
        found = []
        for number, mutant in enumerate(picked, 1):
            original = mutant.path.read_bytes()
            mutant.path.write_text(mutant.source, "utf-8")
            try:
                survived = passes(tests, Path(folder), timeout=limit)
            finally:
                mutant.path.write_bytes(original)
            shown = str(mutant).removeprefix(f"{folder}{os.sep}")
            tell(f"{number:3} {'SURVIVED' if survived else 'killed'} {shown}")
            if survived:
                found.append(mutant)
    return found


def passes(tests: list[str], sources: Path, timeout: float | None) -> bool:
    """Whether tests pass on the package in a folder; one that hangs does not."""
    # Bytecode of a mutant could be taken for that of the next: equal time and size.
    more = {"PYTHONPATH": str(sources), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "pytest", "-n", "0", "-x", "-q", "-m", DEFAULT_RUN]
    try:
        done = subprocess.run(
            [*command, "-p", "no:cacheprovider", *tests],
            env={**os.environ, **more}, capture_output=True, timeout=timeout,
            check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("room", help="folder or file below src/mondegreen")
    parser.add_argument("--count", type=int, default=20, help="mutants (default: 20)")
    parser.add_argument("--seed", type=int, default=0, help="which ones (default: 0)")
    parser.add_argument("--tests", nargs="+", help="default: tests/ROOM")
    given = parser.parse_args()
    os.chdir(ROOT)
    package = ROOT / "src" / "mondegreen"
    if not (package / given.room).exists():
        parser.error(f"there is no src/mondegreen/{given.room}")
    tests = given.tests or [f"tests/{Path(given.room).parts[0].removesuffix('.py')}"]
    if absent := [each for each in tests if not Path(each.split("::")[0]).exists()]:
        parser.error(f"there is no {absent[0]}; name tests with --tests")
    tell = functools.partial(print, flush=True)
    found = survivors(package, given.room, tests, given.count, given.seed, tell)
    tell(f"{len(found)} survived; each is a missing test, or changes nothing")


if __name__ == "__main__":
    main()
