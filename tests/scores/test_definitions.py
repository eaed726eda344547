"""The page of scores names what results hold, and says a direction of each."""

from dataclasses import fields
from pathlib import Path

import pytest

from mondegreen.attacks.run import ORDER
from mondegreen.scores import corpus, law, word
from mondegreen.scores.definitions import COLUMNS

PAGE = Path(__file__).resolve().parents[2] / "docs" / "explanation" / "scores.md"
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in PAGE.read_text("utf-8").splitlines()
    if line.startswith("| `")
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0].strip("`"))
def test_a_score_of_the_page_is_a_name_of_a_result(row):
    name, _, _, direction, _ = row
    records = (word.WordScores, corpus.CorpusScores, law.Risk)
    known = {field.name for record in records for field in fields(record)}
    known |= {"entropy", "english", "cs", "puc", "posterior_support"}
    known |= set(ORDER)
    assert name.strip("`") in known
    assert direction in ("larger", "smaller", "neither")


def test_scores_are_on_the_page_once():
    assert len(ROWS) == len({row[0] for row in ROWS}) >= 15


def test_columns_are_distinct_and_say_what_they_mean():
    assert all(name == each.name for name, each in COLUMNS.items())
    assert len({each.title for each in COLUMNS.values()}) == len(COLUMNS)
    assert all(each.says.endswith(".") for each in COLUMNS.values())
