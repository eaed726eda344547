"""Text that is hardly English is noticed before a release is written."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from mondegreen.cli.main import cli

GERMAN = "Die Sitzung beginnt morgen um zehn, und mein Nachbar kommt auch mit.\n"
ENGLISH = "The meeting starts tomorrow at ten, and Anna Okonkwo comes from Oslo too.\n"
CHAT = "lol im at the store rn, u want smth or nah? gonna b back l8r bro\n"


@pytest.mark.parametrize("law", [[], ["--policy", "all"]])
@pytest.mark.parametrize(
    ("text", "is_noticed"), [(GERMAN, True), (ENGLISH, False), (CHAT, False)]
)
def test_another_language_is_noticed(law, text, is_noticed):
    arguments = ["privatize", "-", "--epsilon", "12", "-q", *law]
    said = CliRunner().invoke(cli, arguments, input=text * 3).stderr
    assert ("is English unless" in said) == is_noticed
    assert "Sitzung" not in said


def test_few_words_tell_nothing():
    arguments = ["privatize", "-", "--epsilon", "12", "-q"]
    assert CliRunner().invoke(cli, arguments, input="Guten Tag!\n").stderr == ""


def test_the_share_is_in_no_report(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("de.txt").write_text(GERMAN)
    arguments = ["privatize", "de.txt", "-o", "out.txt", "--report", "r.json"]
    said = CliRunner().invoke(cli, [*arguments, "--epsilon", "12"])
    assert "Warning: only" in said.stderr
    assert "of 100 words of the first" not in Path("r.json").read_text()
