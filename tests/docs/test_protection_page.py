"""The page on protection: its table is that of the code."""

import re
from pathlib import Path

from mondegreen.protection import LEVELS

PAGE = Path(__file__).resolve().parents[2] / "docs" / "explanation" / "protection.md"


def test_the_limits_are_those_of_the_code():
    rows = re.findall(r"^\| `(\w+)` \| (\d+) nats? .*$", PAGE.read_text("utf-8"), re.M)
    assert rows == [(level.name, f"{level.loss:g}") for level in LEVELS]
    for level in LEVELS:
        (row,) = re.findall(rf"^\| `{level.name}` .*$", PAGE.read_text("utf-8"), re.M)
        shares = [int(each) for each in re.findall(r"(\d+) of 100 words", row)]
        assert shares == [100 * level.recovered, 100 * level.near]


def test_levels_are_in_order():
    for name in ("loss", "recovered", "near"):
        limits = [getattr(level, name) for level in LEVELS]
        assert limits == sorted(set(limits))
