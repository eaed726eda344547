"""``--sheet`` in the commands that read workbooks, and errors of those without it."""

import openpyxl
import pytest

from commands import run_command

TEXTS = ["I met Ann in Oslo.", "My doctor called Ben.", "We live in Rome."] * 4


@pytest.fixture(autouse=True)
def books(folder):
    for name in ("a", "b"):
        book = openpyxl.Workbook()
        book.active.append(["other"])
        notes = book.create_sheet("Notes")
        for text in ["text", *TEXTS]:
            notes.append([text])
        book.save(folder / f"{name}.xlsx")


@pytest.mark.parametrize(
    "arguments",
    [
        ("score", "a.xlsx", "b.xlsx"),
        ("attack", "a.xlsx", "b.xlsx"),
        ("explain", "a.xlsx", "-e", "12"),
        ("calibrate", "a.xlsx", "-e", "12", "-m", "urr"),
    ],
    ids=lambda arguments: arguments[0],
)
def test_a_sheet_is_named_in_each_command_that_compares_texts(arguments):
    told = run_command(*arguments, expect=3).stderr
    assert "--sheet names another: 'Notes'" in told
    run_command(*arguments, "--sheet", "Notes")


def test_a_command_without_the_option_does_not_name_it():
    told = run_command("language", "build", "a.xlsx", "-o", "my.lm", expect=3).stderr
    assert "'text' not found" in told
    assert "--sheet" not in told
    assert "this command reads the first sheet only; others: 'Notes'" in told
