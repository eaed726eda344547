"""Tables and files of data in the documentation are those that the results give."""

import csv
import importlib

import pytest

from benchmarks.pages import page
from benchmarks.pages.page import DATA, DOCS, Table

SCRIPTS = {
    name: importlib.import_module(f"benchmarks.pages.{name}")
    for name in (
        "attack_rows_page",
        "audit_page",
        "choosing_page",
        "citing_page",
        "codes_page",
        "context_page",
        "decoders_page",
        "environment_page",
        "examples_page",
        "gateway_page",
        "hand_counts_page",
        "language_page",
        "linkage_page",
        "mechanisms_page",
        "policy_page",
        "policies_page",
        "private_search_page",
        "prompts_page",
        "conversation_page",
        "proxy_page",
        "reading_page",
        "reproductions_page",
        "scoreboard_page",
        "sentences_page",
        "service_page",
        "spark_page",
        "speed_page",
        "tree_evidence_page",
        "tree_shares_page",
        "tutorial_epsilon",
        "urr_page",
    )
}
FILES = {
    file: table
    for script in SCRIPTS.values()
    for file, table in getattr(script, "DATA", {}).items()
}


@pytest.mark.slow("privatizes a text of the page", but=SCRIPTS.keys() - {"policy_page"})
@pytest.mark.parametrize("name", SCRIPTS)
def test_tables_come_from_the_results(name):
    text = (DOCS / SCRIPTS[name].PAGE).read_text(encoding="utf-8")
    assert page.filled(text, SCRIPTS[name].TABLES) == text, f"benchmarks {name}"


@pytest.mark.parametrize("name", FILES)
def test_data_comes_from_the_results(name):
    assert (DATA / name).read_text(encoding="utf-8") == FILES[name]().csv()


def test_every_file_of_data_has_a_script_and_is_described():
    assert {path.name for path in DATA.glob("*.csv")} == set(FILES)
    index = (DATA / "index.md").read_text(encoding="utf-8")
    assert all(f"]({name})" in index for name in FILES)


def test_a_page_without_a_place_for_its_table_is_refused():
    with pytest.raises(ValueError, match="one place"):
        page.filled("no table here", {"missing": lambda: ""})


def test_data_is_for_programs_and_a_page_for_people():
    table = Table(["mechanism", "a second"], [["`tem`", "1,234"], ["a, b", "–"]])
    assert str(table).splitlines()[2] == "| `tem` | 1,234 |"
    rows = list(csv.reader(table.csv().splitlines()))
    assert rows == [["mechanism", "a second"], ["tem", "1234"], ["a, b", ""]]
    assert (table + table).under("x", "y").rows[3] == ["y", "a, b", "–"]
    with pytest.raises(ValueError, match="other columns"):
        table + table.under("x", "y")
