"""The script that changes a room: what it changes, and which changes it reports."""

import ast

import pytest
from mutate import chosen, mutants, survivors

SOURCE = '''
"""A docstring with 7 words."""

def grade(points: "int | 5", *, most: int = 10) -> "list[3]":
    """Another: 1 < 2."""
    if not points:
        raise ValueError("none")
    found = []
    for place in range(points):
        if place > 3 and place % 2 == 0:
            break
        found.append(place)
    total = sum(found) + 0.5
    total += 1
    return min(total, most), True
'''


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "source.py"
    path.write_text(SOURCE)
    return path


def test_every_mutant_is_another_program_and_differs_in_one_place(file):
    whole = ast.unparse(ast.parse(SOURCE))
    found = [mutant.source for mutant in mutants(file)]
    assert len(set(found)) == len(found)
    assert whole not in found
    for each in found:
        lines, own = whole.split("\n"), ast.unparse(ast.parse(each)).split("\n")
        assert sum(a != b for a, b in zip(lines, own, strict=True)) == 1


def test_every_kind_of_change_is_made(file):
    after = {mutant.after for mutant in mutants(file)}
    assert {
        "if not not points:",
        "pass",
        "if place >= 3 and place % 2 == 0:",
        "if place > 3 or place % 2 == 0:",
        "if place > 3 and place // 2 == 0:",
        "if place > 3 and place % 2 != 0:",
        "if place > 4 and place % 2 == 0:",
        "if not (place > 3 and place % 2 == 0):",
        "continue",
        "total = sum(found) - 0.5",
        "total = sum(found) + 1.5",
        "total -= 1",
        "return (max(total, most), True)",
        "return (min(total, most), False)",
        "def grade(points: 'int | 5', *, most: int=11) -> 'list[3]':",
    } <= after


def test_text_and_annotations_stay(file):
    for mutant in mutants(file):
        assert '"""A docstring with 7 words."""' in mutant.source
        assert "'int | 5'" in mutant.source
        assert "'list[3]'" in mutant.source


def test_a_seed_chooses_the_same_ones(file):
    first, again = chosen([file], 5, seed=1), chosen([file], 5, seed=1)
    assert first == again != chosen([file], 5, seed=2)
    assert len(chosen([file], 10_000, seed=0)) == len(list(mutants(file)))


@pytest.mark.slow("runs pytest on mutants")
def test_survivors_are_what_the_tests_miss(tmp_path):
    package = tmp_path / "src" / "tiny"
    (package / "room").mkdir(parents=True)
    for folder in (package, package / "room"):
        (folder / "__init__.py").touch()
    source = package / "room" / "limit.py"
    source.write_text("def is_small(n):\n    return n < 10\n")
    test = tmp_path / "test_limit.py"
    said = []

    def missed(*checks):
        body = "".join(f"    assert {each}\n" for each in checks)
        test.write_text(
            f"from tiny.room.limit import is_small\ndef test():\n{body}", "utf-8"
        )
        found = survivors(package, "room", [str(test)], 10, 0, said.append)
        return {mutant.after for mutant in found}

    assert missed("is_small(1)") == {"return n <= 10", "return n < 11"}
    assert missed("is_small(9)", "not is_small(10)") == set()
    assert source.read_text() == "def is_small(n):\n    return n < 10\n"
    assert sum("SURVIVED" in each for each in said) == 2
    with pytest.raises(SystemExit, match="as they are"):
        missed("is_small(10)")
