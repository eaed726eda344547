"""Every score has a function that says its direction, and a row on its page."""

import importlib
import inspect
import re
from dataclasses import fields
from pathlib import Path

import pytest

from mondegreen.scores.definitions import SCORES

PAGE = Path(__file__).resolve().parents[2] / "docs" / "explanation" / "scores.md"


@pytest.mark.parametrize("score", SCORES, ids=lambda score: score.name)
def test_a_score_is_computed_by_what_its_definition_names(score):
    module, name = score.function.split(".")
    found = getattr(importlib.import_module(f"mondegreen.scores.{module}"), name)
    text = inspect.getdoc(found)
    if inspect.isclass(found):
        assert any(score.name in field.name for field in fields(found))
        return
    # The words of a docstring and the table must not contradict each other.
    said = re.search(r"Larger\s+is\s+(.*?)[.,;:]", text, re.DOTALL).group(1)
    plain = " ".join(said.split())
    if score.more_private == "larger":
        assert plain.startswith("more private")
    elif score.more_private == "smaller":
        assert plain.startswith(("less private", "closer"))
    else:
        assert "private" not in plain


@pytest.mark.parametrize("score", SCORES, ids=lambda score: score.name)
def test_a_score_is_on_its_page_with_its_direction(score):
    row = next(
        line
        for line in PAGE.read_text("utf-8").splitlines()
        if line.startswith(f"| `{score.name}` |")
    )
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    assert cells[2] == score.range
    assert cells[3] == score.more_private


def test_names_are_distinct():
    assert len({score.name for score in SCORES}) == len(SCORES)
