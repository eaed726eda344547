"""The page of the scoreboard says what its results say, and holds no text."""

import json
import re

import pytest

from benchmarks import machine
from benchmarks.pages import scoreboard_page as page
from benchmarks.pages.page import DOCS, filled
from mondegreen_experiments.scoreboard.table import COLUMNS, compute_cell, sort_points

TEXT = (DOCS / page.PAGE).read_text("utf-8")


@pytest.mark.slow("draws")
def test_the_picture_is_that_of_the_results():
    pytest.importorskip("matplotlib")
    drawn = page.draw().decode()
    assert page.PICTURE.read_text("utf-8").count("<use") == drawn.count("<use")
    for line in page.describe().split("; "):
        assert line in page.PICTURE.read_text("utf-8").replace("&#x27;", "'")


def test_the_readme_shows_what_was_measured():
    text = (DOCS.parent / "README.md").read_text("utf-8")
    assert filled(text, {"scoreboard": page.readme_board}) == text


def test_controls_come_out_where_they_must():
    found = sort_points(page.load())
    values = {
        (name, column.title): compute_cell(column, found[name]).value
        for name in ("nothing", "everything")
        for column in COLUMNS
        if compute_cell(column, found[name])
    }
    assert values["nothing", "units left"] == values["nothing", "reader"] == 1
    assert values["everything", "units left"] == 0
    assert values["nothing", "other words kept"] == 1
    assert values["everything", "other words kept"] == 0
    assert values["everything", "linkage"] < 0.02
    assert values["everything", "retrieval"] == 0
    assert values["nothing", "retrieval"] == 1


def test_every_column_is_explained():
    for column in COLUMNS:
        assert f"\n| {column.title} |" in TEXT


def test_results_hold_numbers_alone():
    points = json.loads((machine.RESULTS / "scoreboard.json").read_text("utf-8"))[
        "points"
    ]
    for each in points:
        assert set(each["texts"]) == {"nats"}
        assert set(each["point"]) <= {"tool", "pinned", "lists", "times", "lacks"}
        assert all(re.fullmatch(r"[\w' :-]+", name) for name in each["values"])
