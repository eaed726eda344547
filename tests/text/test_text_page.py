"""The page on text says what the code does: the list, its size, its bits."""

import math
import re
from pathlib import Path

import numpy as np

from mondegreen.space.space import Space
from mondegreen.text import structure
from mondegreen.text.lookup import Lookup

PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "text.md"


def rows() -> list[tuple[int, str]]:
    """Return the number and the characters of each row of the table."""
    table = re.findall(r"^\| [^|]+ \| (\d+) \| (.*) \|$", PAGE.read_text("utf-8"), re.M)
    return [(int(number), shown) for number, shown in table]


def test_the_page_lists_what_passes_in_clear_and_nothing_else() -> None:
    blanks, *others = rows()
    assert blanks[0] == len(structure.BLANKS)
    assert len(blanks[1].split(", ")) == len(structure.BLANKS)
    groups = [shown.strip("`").split() for _, shown in others]
    groups[0].append("`")  # stripped with its frame
    groups[0].sort()
    assert [len(set(group) - {""}) for group in groups] == [n for n, _ in others]
    assert {c for group in groups for c in group} == set(
        structure.SIGNS + structure.CURRENCY
    )
    assert set(groups[-1]) == set(structure.CURRENCY)


def test_the_numbers_of_the_page_and_of_the_guarantee_are_those_of_the_code() -> None:
    page = " ".join(PAGE.read_text("utf-8").split())
    size, bits = len(structure.LISTED), math.log2(len(structure.LISTED))
    kinds = 2 ** (structure.GAP_BITS / structure.GAP)
    assert f"These {size} characters, {bits:.1f} bits each" in page
    assert f"at most {structure.GAP} units pass" in page
    assert f"of at most {structure.SAME}:" in page
    assert f"There are {int(kinds)} units" in page
    assert f"at most {structure.GAP_BITS:.1f} bits" in page
    assert f"{math.log2(3):.1f} bits for each word" in page
    space = Space.from_arrays("tiny", ["warm"], np.zeros((1, 1)))
    assert all(sentence in page for sentence in Lookup(space).disclosed)
