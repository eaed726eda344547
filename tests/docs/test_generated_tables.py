"""Tables in the documentation are those that the results give."""

import importlib

import pytest

from benchmarks.pages import page
from benchmarks.pages.page import DOCS


@pytest.mark.parametrize(
    "name", ["mechanisms_page", "choosing_page", "tutorial_epsilon", "codes_page"]
)
def test_tables_come_from_the_results(name):
    script = importlib.import_module(f"benchmarks.pages.{name}")
    text = (DOCS / script.PAGE).read_text(encoding="utf-8")
    assert page.filled(text, script.TABLES) == text


def test_a_page_without_a_place_for_its_table_is_refused():
    with pytest.raises(ValueError, match="one place"):
        page.filled("no table here", {"missing": lambda: ""})
